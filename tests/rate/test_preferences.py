"""Preferences: what counts as a judgement, the ranking that follows, and what is refused."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from deltableu.corpus import Rating, RatingTable, read_ratings
from deltableu.errors import InputError
from deltableu.rate import preferences, rank_by_preference
from deltableu.stats import crossed_variance, stream
from simulations.preferences import Cell, simulate

DEMO = Path(__file__).parents[2] / "examples" / "demo" / "preferences.csv"
DATA = Path(__file__).parents[3] / "shared" / "data"


def judged(*rows, **more):
    """Rows of rater, item, first, value, second, value; the first was shown first."""
    return RatingTable.from_records(
        Rating(rater, item, f"system:{name}", value, pair=f"{a}-{b}", position=place, **more)
        for rater, item, a, won, b, lost in rows
        for place, (name, value) in enumerate(((a, won), (b, lost)), start=1)
    )


def even(number=6, *, tie=True):
    """Two systems that win alternately, judged by three raters."""
    rows = [(f"r{n % 3}", f"i{n}", "A", n % 2, "B", 1 - n % 2) for n in range(number)]
    return judged(*rows, *([("r0", "x", "A", 0.5, "B", 0.5)] if tie else []))


def test_higher_values_win_on_any_scale():
    for low, high, scale in ((0, 1, "0-1"), (2, 4, "1-5"), (10, 90, "0-100")):
        said = preferences(
            judged(("r", "1", "A", high, "B", low), ("r", "2", "A", low, "B", low), scale=scale)
        )
        assert said.judgements.outcome.tolist() == [1, 0]
        assert said.judgements.order.tolist() == [1, 1]
        assert (said.systems, said.criterion, len(said)) == (("A", "B"), "overall", 2)


def test_pairs_are_told_apart_by_label_item_rater_and_repetition():
    rows = [
        ("ann", "1", "A", 1, "B", 0),
        ("bob", "1", "A", 0, "B", 1),
        ("ann", "2", "A", 1, "B", 0),
        ("ann", "1", "A", 0, "B", 1),  # the same once more
    ]
    said = preferences(judged(*rows))
    assert said.judgements.outcome.tolist() == [1, -1, 1, -1]
    assert said.item.tolist() == [0, 0, 1, 0]
    assert said.rater.tolist() == [0, 1, 0, 0]
    rows_of, items = said.by_unit()
    np.testing.assert_array_equal(rows_of, [[1, 1], [-1, np.nan]])
    assert items.tolist() == [0, 1]


def test_the_order_of_rows_does_not_matter():
    table = read_ratings(DEMO)
    said = preferences(table)
    mixed = preferences(table[stream(0).permutation(len(table))])
    one, other = (rank_by_preference(made, resamples=10) for made in (said, mixed))
    assert [(s.system, round(s.strength, 9)) for s in one.systems] == [
        (s.system, round(s.strength, 9)) for s in other.systems
    ]
    assert one.position.effect == pytest.approx(other.position.effect)


def test_what_is_no_judgement_is_left_aside():
    table = RatingTable.from_records(
        [
            *judged(("r", "1", "A", 1, "B", 0)),
            Rating("r", "2", "system:A", 1, pair="A-B", position=1),  # the other is missing
            Rating("r", "3", "system:A", 5, scale="1-5"),  # alone on its page
            Rating("r", "1", "reference:r0", 4, scale="1-5"),
            Rating("r", "1", "system:C", 1, kind="bad-reference", pair="A-B"),
        ]
    )
    said = preferences(table)
    assert (len(said), said.left_out, said.systems) == (1, 1, ("A", "B"))


@pytest.mark.parametrize(
    ("table", "criterion", "message"),
    [
        (RatingTable.of(raters=["r"], items=["1"], systems=["A"], values=[1]), None, "name a pair"),
        (
            RatingTable.from_records([Rating("r", "1", "system:A", 1, pair="p")]),
            None,
            "no rater rated both outputs of a pair",
        ),
        (
            RatingTable.from_records(
                Rating("r", "1", f"system:{name}", 1, pair="p") for name in "ABC"
            ),
            None,
            "rater 'r', item '1', target 'system:A': pair 'p' holds 3 systems, and a pair has two",
        ),
        (
            RatingTable.from_records(
                Rating("r", "1", f"system:{name}", 1, pair="p", position=1) for name in "AB"
            ),
            None,
            "both outputs of pair 'p' have position 1",
        ),
        (judged(("r", "1", "A", 1, "B", 0)), "fluency", "no systems were rated for 'fluency'"),
        (
            RatingTable.from_records(
                [
                    *judged(("r", "1", "A", 1, "B", 0), criterion="one"),
                    *judged(("r", "1", "A", 1, "B", 0), criterion="two"),
                ]
            ),
            None,
            "several criteria, choose one: one, two",
        ),
        (
            RatingTable.from_records(
                [
                    *judged(("r", "1", "A", 1, "B", 0), scale="0-1"),
                    *judged(("r", "2", "A", 1, "B", 2), scale="1-5"),
                ]
            ),
            None,
            "several scales",
        ),
    ],
)
def test_bad_pairs_are_refused_in_a_sentence(table, criterion, message):
    with pytest.raises(InputError, match=message):
        preferences(table, criterion)


def test_counts_and_shares_are_those_of_the_judgements():
    found = rank_by_preference(preferences(read_ratings(DEMO)), resamples=50)
    rows = list(csv.DictReader(DEMO.read_text().splitlines()))
    counted = defaultdict(float)
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        for mine, theirs in ((one, other), (other, one)):
            counted[mine["target"][7:], theirs["target"][7:]] += float(mine["value"])
    for pair in found.pairs:
        assert pair.wins + pair.ties / 2 == counted[pair.first, pair.second]
        assert pair.observed == pytest.approx(counted[pair.first, pair.second] / pair.judgements)
        assert pair.share_interval.low < pair.share < pair.share_interval.high
    assert sum(pair.judgements for pair in found.pairs) == found.judgements == len(rows) / 2
    assert sum(one.wins + one.ties / 2 for one in found.systems) == found.judgements
    assert [one.strength for one in found.systems] == sorted(
        (one.strength for one in found.systems), reverse=True
    )


def test_golden_ranking_of_the_demo():
    """As printed in docs/how-to/rate.md; drawn with one seed."""
    found = rank_by_preference(preferences(read_ratings(DEMO)))
    assert [(one.system, round(one.strength, 2), one.letters) for one in found.systems] == [
        ("human", 3.87, "a"),
        ("careful-neural", 1.52, "b"),
        ("bland-neural", 0.23, "c"),
        ("retrieval", -0.37, "c"),
        ("phrase-smt", -1.67, "d"),
        ("random", -3.59, "e"),
    ]
    assert (found.judgements, found.ties, found.items, found.raters) == (680, 97, 68, 12)
    assert found.position.effect == pytest.approx(0.387, abs=1e-3)
    assert found.position.p_value == pytest.approx(0.043, abs=0.01)
    assert found.resample == "items,raters"


def test_seeds_repeat_and_differ():
    said = preferences(even(20))
    one, same, other = (rank_by_preference(said, resamples=50, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.systems[0].interval != other.systems[0].interval
    assert one.systems[0].strength == other.systems[0].strength


def test_what_is_drawn_anew():
    alone = judged(*((("r", f"i{n}", "A", n % 2, "B", 1 - n % 2)) for n in range(8)))
    assert rank_by_preference(preferences(alone), resamples=10).resample == "items"
    with pytest.raises(InputError, match="to draw raters anew needs at least 2 of them"):
        rank_by_preference(preferences(alone), resample="raters")
    one_item = judged(*((f"r{n}", "i", "A", n % 2, "B", 1 - n % 2) for n in range(8)))
    assert rank_by_preference(preferences(one_item), resamples=10).resample == "raters"
    with pytest.raises(InputError, match="to draw items anew"):
        rank_by_preference(preferences(one_item), resample="items,raters")


def test_raters_who_disagree_widen_the_interval():
    """Two raters prefer A throughout, two B: other raters would have said something else."""
    rows = [(f"r{n % 4}", f"i{n}", "A", n % 4 < 2, "B", n % 4 >= 2) for n in range(80)]
    said = preferences(judged(*rows))
    widths = {}
    for resample in ("items", "raters", "items,raters"):
        interval = rank_by_preference(said, resample=resample, resamples=500).nearest.interval
        widths[resample] = interval.high - interval.low
    assert widths["raters"] > 3 * widths["items"]
    assert widths["items,raters"] == pytest.approx(widths["raters"], rel=0.3)


def test_crossed_variance_has_no_less_than_either_source():
    rng = stream(4)
    items, raters, both = rng.uniform(0.1, 2.0, size=(3, 200))
    variance, degrees = crossed_variance(items, raters, both, (30, 6))
    assert (variance >= np.maximum(items * 30 / 29, raters * 6 / 5) - 1e-12).all()
    assert (degrees >= 1.0).all()
    assert (degrees <= 29 + 5).all()


def test_systems_are_chosen_by_name():
    said = preferences(read_ratings(DEMO)).select(["random", "human", "retrieval"])
    assert said.systems == ("random", "human", "retrieval")
    found = rank_by_preference(said, resamples=20)
    assert [one.system for one in found.systems] == ["human", "retrieval", "random"]
    with pytest.raises(InputError, match="did you mean 'human'"):
        said.select(["humna", "random"])
    with pytest.raises(InputError, match="no two of random were shown in a pair"):
        said.select(["random"])


def test_many_systems_have_no_letters_and_take_seconds():
    rng = stream(9)
    size, number = 120, 3000
    first = rng.integers(size, size=number)
    second = (first + rng.integers(1, size, size=number)) % size
    quality = rng.normal(size=size)
    wins = rng.random(number) < 1 / (1 + np.exp(quality[second] - quality[first]))
    rows = [
        (f"r{n % 20}", f"i{n % 200}", f"s{a}", int(won), f"s{b}", int(not won))
        for n, (a, b, won) in enumerate(
            zip(first.tolist(), second.tolist(), wins.tolist(), strict=True)
        )
    ]
    found = rank_by_preference(preferences(judged(*rows)), prior=0.5, resamples=100)
    assert len(found.systems) == size
    assert {one.letters for one in found.systems} == {""}
    estimates = {one.system: one.strength for one in found.systems}
    known = [estimates[f"s{place}"] for place in range(size)]
    assert np.corrcoef(known, quality)[0, 1] > 0.8


@pytest.mark.skipif(not (DATA / "e2e_nlg").is_dir(), reason="the E2E NLG ratings are not here")
def test_the_winner_of_the_e2e_challenge_may_be_first_here_too():
    """Five outputs were rated at once, which are ten pairs.

    Dusek, Novikova and Rieser 2020, "Evaluating the State-of-the-Art of End-to-End Natural Language
    Generation", name Slug the winner, by TrueSkill of the same ratings.
    """
    units = defaultdict(list)
    with gzip.open(DATA / "e2e_nlg" / "quality.tsv.gz", "rt") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            key = (row["worker"], row["unit"], row["mr_id"])
            units[key].append((row["system"], float(row["rating"])))
    records = (
        Rating(worker, mr, f"system:{name}", value, pair=f"{unit}:{a[0]}-{b[0]}")
        for (worker, unit, mr), shown in units.items()
        for a, b in combinations(dict(shown).items(), 2)
        for name, value in (a, b)
    )
    found = rank_by_preference(preferences(RatingTable.from_records(records)), resamples=200)
    places = {one.system: place for place, one in enumerate(found.systems)}
    slug = found.systems[places["slug"]]
    assert (len(places), found.judgements, found.position) == (21, 29_790, None)
    assert slug.rank[0] == 1
    assert places["slug"] <= 1


@pytest.mark.parametrize(
    ("replications", "few"), [(40, 4), pytest.param(400, 30, marks=pytest.mark.long)]
)
def test_simulated_intervals_hold_and_position_is_not_blamed(replications, few):
    """The full simulation is `python -m simulations preferences`."""
    rows = simulate(replications, 1, chosen=[Cell("12 raters, 2", items=40)], processes=1)
    found = {(row.what, row.method, row.target): row.rate * replications for row in rows}
    assert found["coverage", "items,raters", "A - B"] >= replications - few
    assert found["size", "items,raters", "position"] <= few
