"""Direct Assessment against WMT21's published files, and against the formulas word for word."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu.corpus import RatingTable
from deltableu.errors import InputError, InputWarning
from deltableu.rate.direct_assessment import direct_assessment
from deltableu.rate.standardise import rater_scales, standardise
from tests.rate import wmt21

few = settings(max_examples=60, deadline=None)

PAIRS = (("bn", "hi"), ("hi", "bn"), ("xh", "zu"), ("zu", "xh"))


@pytest.fixture(scope="module")
def czech(data) -> RatingTable:
    """Standardised judgements of WMT21 Czech-English, as published."""
    return wmt21.judgements(
        data / wmt21.TO_ENGLISH / "ad-csen-good-stnd-redup.csv.gz", ("cs", "en")
    )


@pytest.fixture(scope="module")
def raw_czech(data, czech) -> RatingTable:
    """The same before standardisation: whole numbers, so that seven digits give them back."""
    scales = wmt21.rater_scales(data / wmt21.TO_ENGLISH / "ad-csen-trk-mean-sd.txt")
    means, deviations = np.array([scales[name] for name in czech.raters]).T
    values = czech.values * deviations[czech.rater] + means[czech.rater]
    assert np.abs(values - values.round()).max() < 1e-3
    return replace(czech, values=values.round())


def place(judgements: RatingTable, system: str, item: str) -> tuple[int, int]:
    return judgements.systems.index(system), judgements.items.index(item)


# --- WMT21 ----------------------------------------------------------------------------------------


def test_czech_standardisation(data, czech, raw_czech):
    scales = rater_scales(raw_czech)
    rater = raw_czech.raters.index("M0013")
    assert scales.means[rater] == 75.96875
    assert scales.deviations[rater] == pytest.approx(38.70712, abs=5e-6)
    made, dropped = standardise(raw_czech)
    assert dropped == ()
    assert len(raw_czech.raters) == 92
    assert np.abs(made.values - czech.values).max() < 5e-6
    own = raw_czech.rater == rater
    first = int(np.argmax(own & (raw_czech.values == 100)))
    second = int(np.argmax(own & (raw_czech.values == 75)))
    assert made.values[first] == pytest.approx(0.6208483, abs=1e-6)
    assert made.values[second] == pytest.approx(-0.0250277, abs=1e-6)


def test_czech_scores_of_published_z(data, czech):
    """From published z all is reproduced to the last digit that the files have."""
    folder = data / wmt21.TO_ENGLISH
    result = direct_assessment(czech, rank_by="raw")
    segments = wmt21.segment_scores(folder / "ad-seg-scores-cs-en.csv.gz")
    assert len(segments) == np.count_nonzero(~np.isnan(result.pooled_raw)) == 8155
    items = {name: number for number, name in enumerate(czech.items)}
    for (system, segment), (_, z, _) in segments.items():
        cell = czech.systems.index(system), items[segment]
        assert result.pooled_raw[cell] == pytest.approx(z, abs=5e-15)
    published = wmt21.system_scores(folder / "ad-sys-scores-cs-en.csv")
    for system, (_, z, count, judgements) in published.items():
        number = czech.systems.index(system)
        assert result.raw[number] == pytest.approx(z, abs=1e-14)
        assert result.segments[number] == count
        assert result.judgements[number] == judgements
    number = czech.systems.index("Facebook-AI.7")
    assert round(result.raw[number], 3) == 0.111
    assert (result.segments[number], result.judgements[number]) == (923, 1275)
    assert round(result.raw[czech.systems.index("Online-G.6")], 3) == -0.039
    p_values = wmt21.rank_sums(folder / "adwilcox-csen.csv")
    assert len(p_values) == np.count_nonzero(result.p_values < 0.05) == 22
    for (better, worse), p_value in p_values.items():
        found = result.p_values[czech.systems.index(better), czech.systems.index(worse)]
        assert found == pytest.approx(p_value, rel=1e-12)


def test_czech_from_raw(data, czech, raw_czech):
    """From raw values: published means and deviations of raters have seven digits only."""
    folder = data / wmt21.TO_ENGLISH
    result = direct_assessment(raw_czech)
    items = {name: number for number, name in enumerate(czech.items)}
    segments = wmt21.segment_scores(folder / "ad-seg-scores-cs-en.csv.gz")
    for (system, segment), (raw, z, _) in segments.items():
        cell = czech.systems.index(system), items[segment]
        assert result.pooled_z[cell] == pytest.approx(z, abs=5e-6)
        assert result.pooled_raw[cell] == pytest.approx(raw, abs=1e-12)
    for system, (raw, z, _, _) in wmt21.system_scores(folder / "ad-sys-scores-cs-en.csv").items():
        number = czech.systems.index(system)
        assert result.z[number] == pytest.approx(z, abs=2e-7)
        assert result.raw[number] == pytest.approx(raw, abs=1e-12)
    for (better, worse), p_value in wmt21.rank_sums(folder / "adwilcox-csen.csv").items():
        found = result.p_values[czech.systems.index(better), czech.systems.index(worse)]
        # Which segments are tied hangs on the last digit.
        assert found == pytest.approx(p_value, rel=5e-3)
    assert [czech.systems[number] for number in result.ranking.order] == [
        "Facebook-AI.7", "Online-A.5", "CUNI-DocTransformer.4", "Online-B.0",
        "CUNI-Transformer2018.1", "Online-W.2", "Online-G.6", "Online-Y.3", "HUMAN.0",
    ]  # fmt: skip
    by_raw = direct_assessment(raw_czech, rank_by="raw").ranking.order
    published = (folder / "ad-sys-ranking-cs-en-raw.csv").read_text().splitlines()
    assert [czech.systems[number] for number in by_raw] == [row.split()[4] for row in published]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_wikipedia(data, pair):
    folder, both = data / wmt21.WIKIPEDIA, "-".join(pair)
    made = wmt21.judgements(folder / "ad-latest.csv.gz", pair)
    result = direct_assessment(made)
    scales = rater_scales(made)
    for name, ends in wmt21.rater_scales(
        folder / f"ad-{both.replace('-', '')}-trk-mean-sd.txt"
    ).items():
        number = made.raters.index(name)
        assert (scales.means[number], scales.deviations[number]) == pytest.approx(ends, rel=1e-6)
    items = {name: number for number, name in enumerate(made.items)}
    segments = wmt21.segment_scores(folder / f"ad-seg-scores-{both}.csv.gz")
    assert len(segments) == np.count_nonzero(~np.isnan(result.pooled_z))
    for (system, segment), (raw, z, count) in segments.items():
        cell = made.systems.index(system), items[segment]
        assert result.pooled_z[cell] == pytest.approx(z, abs=3e-6)
        assert result.pooled_raw[cell] == raw
        assert result.raters[cell] == count
    for system, (raw, z, count, judgements) in wmt21.system_scores(
        folder / f"ad-sys-scores-{both}.csv"
    ).items():
        number = made.systems.index(system)
        assert result.z[number] == pytest.approx(z, abs=3e-7)
        assert result.raw[number] == pytest.approx(raw, abs=1e-12)
        assert (result.segments[number], result.judgements[number]) == (count, judgements)
    p_values = wmt21.rank_sums(folder / f"adwilcox-{both.replace('-', '')}.csv")
    assert len(p_values) == np.count_nonzero(result.p_values < 0.05)
    for (better, worse), p_value in p_values.items():
        found = result.p_values[made.systems.index(better), made.systems.index(worse)]
        assert found == pytest.approx(p_value, rel=1e-12)


@pytest.mark.parametrize("pair", [("cs", "en"), *PAIRS[:1], *PAIRS[2:]], ids="-".join)
def test_clusters(data, czech, pair):
    """WMT's clusters; hi-bn is left out, whose file contradicts its own p-values."""
    if pair == ("cs", "en"):
        folder, result, systems = (
            data / wmt21.TO_ENGLISH,
            direct_assessment(czech, rank_by="raw"),
            czech.systems,
        )
    else:
        folder = data / wmt21.WIKIPEDIA
        made = wmt21.judgements(folder / "ad-latest.csv.gz", pair)
        result, systems = direct_assessment(made), made.systems
    published = wmt21.clusters(folder / "clusters.csv", pair)
    for system, (wins, first, last) in published.items():
        number = systems.index(system)
        assert np.count_nonzero(result.p_values[number] <= 0.05) == wins
        ranks = [
            rank
            for rank, other in enumerate(result.ranking.order, 1)
            if result.ranking.clusters[other] == result.ranking.clusters[number]
        ]
        assert (min(ranks), max(ranks)) == (first, last)
        best, worst = result.ranking.ranks[number]
        assert first <= best <= worst <= last


# --- The formulas, word for word ------------------------------------------------------------------

KINDS = ("item", "item", "item", "repeat", "reference", "bad-reference")


@st.composite
def rated(draw):
    one = st.tuples(
        st.sampled_from("pqr"),
        st.sampled_from("123"),
        st.sampled_from("AB"),
        st.sampled_from(KINDS),
        st.integers(0, 20),
    )
    return draw(st.lists(one, min_size=4, max_size=40))


def make(rows) -> RatingTable:
    raters, items, systems, kinds, values = map(list, zip(*rows, strict=True))
    return RatingTable.of(
        raters=raters, items=items, systems=systems, kinds=kinds, values=values,
        order=("123", "AB"),
    )  # fmt: skip


@few
@given(rated(), st.integers(1, 3))
def test_against_a_transcription(rows, min_raters):
    said = defaultdict(list)
    for rater, _, _, _, value in rows:
        said[rater].append(value)
    good = {rater for rater, values in said.items() if len(set(values)) > 1}
    scored = [
        (rater, item, system, (value - mean(said[rater])) / stdev(said[rater]), value)
        for rater, item, system, kind, value in rows
        if rater in good and kind in ("item", "repeat")
    ]
    assume(scored)
    if len(good) < len(said):
        with pytest.warns(InputWarning, match="cannot be standardised"):
            result = direct_assessment(make(rows), min_raters=min_raters)
    else:
        result = direct_assessment(make(rows), min_raters=min_raters)
    assert {one.rater for one in result.dropped} == set(said) - good
    for number, system in enumerate("AB"):
        means = []
        for column, item in enumerate("123"):
            cell = [row for row in scored if row[1:3] == (item, system)]
            own = defaultdict(list)
            for rater, _, _, z, raw in cell:
                own[rater].append((z, raw))
            assert result.raters[number, column] == len(own)
            if not cell:
                assert np.isnan(result.pooled_z[number, column])
                assert np.isnan(result.segment_z[number, column])
                continue
            means.append((mean(row[3] for row in cell), mean(row[4] for row in cell)))
            found = result.pooled_z[number, column], result.pooled_raw[number, column]
            assert found == pytest.approx(means[-1], abs=1e-9)
            found = result.segment_z[number, column], result.segment_raw[number, column]
            if len(own) < min_raters:
                assert np.isnan(found).all()
            else:
                strict = [tuple(map(mean, zip(*pairs, strict=True))) for pairs in own.values()]
                expected = tuple(map(mean, zip(*strict, strict=True)))
                assert found == pytest.approx(expected, abs=1e-9)
        assert result.segments[number] == len(means)
        assert result.judgements[number] == sum(row[2] == system for row in scored)
        if means:
            expected = tuple(map(mean, zip(*means, strict=True)))
            assert (result.z[number], result.raw[number]) == pytest.approx(expected, abs=1e-9)
            assert result.ranking.clusters[number] >= 1
        else:
            assert np.isnan(result.z[number])
            assert result.ranking.clusters[number] == 0


@few
@given(rated(), st.randoms(use_true_random=False))
def test_the_order_of_judgements_does_not_matter(rows, random):
    made = make(rows)
    assume(len(standardise(made)[0].scored()) > 0 and not standardise(made)[1])
    shuffled = rows.copy()
    random.shuffle(shuffled)
    first, second = direct_assessment(made), direct_assessment(make(shuffled))
    assert np.allclose(first.z, second.z, equal_nan=True)
    assert np.array_equal(first.pooled_raw, second.pooled_raw, equal_nan=True)


@few
@given(rated(), st.floats(0.5, 20), st.floats(-50, 50))
def test_z_does_not_depend_on_how_a_rater_uses_the_scale(rows, stretch, shift):
    made = make(rows)
    assume(len(standardise(made)[0].scored()) > 0 and not standardise(made)[1])
    own = made.rater == 0
    other = replace(made, values=np.where(own, made.values * stretch + shift, made.values))
    before, after = direct_assessment(made), direct_assessment(other)
    assert np.allclose(before.segment_z, after.segment_z, equal_nan=True)


def test_repeats_count_once_for_a_segment_and_twice_for_a_system():
    """A rater's repeats are averaged before raters are, but all judgements enter the system's."""
    made = make([
        ("p", "1", "A", "item", 10), ("p", "1", "A", "repeat", 14), ("q", "1", "A", "item", 2),
        ("p", "2", "B", "item", 0), ("q", "2", "B", "item", 4),
    ])  # fmt: skip
    result = direct_assessment(made)
    assert result.segment_raw[0, 0] == 7
    assert result.raw[0] == pytest.approx(26 / 3)
    assert result.raters[0, 0] == 2
    assert result.judgements[0] == 3
    assert np.isnan(direct_assessment(made, min_raters=3).segment_z).all()
    assert not np.isnan(direct_assessment(made, min_raters=3).z).any()


def test_controls_enter_the_scale_of_their_rater():
    plain = make([("p", "1", "A", "item", 10), ("p", "2", "A", "item", 20)])
    control = make([
        ("p", "1", "A", "item", 10), ("p", "2", "A", "item", 20), ("p", "1", "A", "reference", 0)
    ])  # fmt: skip
    assert rater_scales(plain).means.tolist() == [15]
    assert rater_scales(control).means.tolist() == [10]
    assert direct_assessment(control).segments.tolist() == [2, 0]


def test_correction_only_raises_p_values(raw_czech):
    plain = direct_assessment(raw_czech)
    for correction in ("holm", "bh"):
        adjusted = direct_assessment(raw_czech, correction=correction)
        tested = ~np.isnan(plain.p_values)
        assert (adjusted.p_values[tested] >= plain.p_values[tested]).all()
        assert np.array_equal(np.isnan(adjusted.p_values), ~tested)


# --- Raters that cannot be standardised, and other mistakes ---------------------------------------


def test_constant_and_lonely_raters_are_dropped_by_name():
    rows = [("p", item, system, "item", value) for item, system, value in
            [("1", "A", 9), ("2", "A", 8), ("1", "B", 4), ("2", "B", 3)]]  # fmt: skip
    rows += [("q", "1", "A", "item", 7), ("q", "2", "B", "item", 7), ("r", "1", "B", "item", 1)]
    with pytest.warns(InputWarning) as caught:
        result = direct_assessment(make(rows))
    assert "'q' (gave the same value always), 'r' (gave a single rating)" in str(caught[0].message)
    assert [(one.rater, one.judgements) for one in result.dropped] == [("q", 2), ("r", 1)]
    assert result.raw.tolist() == [8.5, 3.5]
    assert np.isnan(rater_scales(make(rows)).deviations[2])


def test_many_dropped_raters_are_counted():
    made = RatingTable.of(
        raters=[f"r{number}" for number in range(8)] + ["good"] * 2, items=["1"] * 9 + ["2"],
        systems=["A"] * 10, values=range(10),
    )  # fmt: skip
    with pytest.warns(InputWarning, match="and 3 others"):
        assert len(direct_assessment(made).dropped) == 8


def test_equal_values_that_cannot_be_added_exactly_are_constant():
    made = RatingTable.of(
        raters=["a"] * 3 + ["b"] * 2, items=["1", "2", "3", "1", "2"], systems=["A"] * 5,
        values=[0.1, 0.1, 0.1, 1, 2],
    )  # fmt: skip
    assert [one.rater for one in standardise(made)[1]] == ["a"]


def test_nobody_left():
    with (
        pytest.raises(InputError, match="no rating of a system is left"),
        pytest.warns(InputWarning, match="single rating"),
    ):
        direct_assessment(make([("p", "1", "A", "item", 3)]))
    with pytest.raises(InputError, match="no rating of a system is left"):
        direct_assessment(make([("p", "1", "A", "reference", 3), ("p", "2", "A", "reference", 4)]))


def test_systems_that_nobody_tells_apart():
    rows = [(rater, item, system, "item", value) for rater in "pq" for system in "AB"
            for item, value in (("1", 5), ("2", 7))]  # fmt: skip
    result = direct_assessment(make(rows))
    assert result.ranking.clusters == (1, 1)
    assert result.ranking.ranks == ((1, 2), (1, 2))
    assert result.p_values[0, 1] > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_raters": 0}, "min_raters must be at least 1"),
        ({"rank_by": "rank"}, "rank_by must be one of z, raw"),
        ({"significance": 1.5}, "significance must lie between 0 and 1"),
        ({"correction": "bonferroni"}, "correction must be one of holm, bh, none"),
    ],
)
def test_wrong_options(options, message):
    made = make([("p", "1", "A", "item", 3), ("p", "2", "A", "item", 4)])
    with pytest.raises(InputError, match=message):
        direct_assessment(made, **options)
