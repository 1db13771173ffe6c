"""Exchanging and drawing scores: enumeration, nlpstats, and what a user relies on."""

from __future__ import annotations

import gzip
import itertools
import json
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deltableu.errors import InputError
from deltableu.stats import correlate
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import agreement
from deltableu.validate.permutation import permutation_test

SWAPS = ("both", "systems", "items", "crossed")
RESAMPLES = ("items", "systems", "both")
WAYS = [
    ("pearson", "system"),
    ("spearman", "system"),
    ("kendall-b", "system"),
    ("pearson", "pooled"),
    ("kendall-b", "pooled"),
    ("pearson", "item"),
    ("kendall-b", "item"),
]
#: How nlpstats names them.
THEIRS = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall-b": "kendall",
    "system": "system",
    "pooled": "global",
    "item": "input",
    "items": "inputs",
    "systems": "systems",
    "both": "both",
}


def scores(seed, systems, items, missing=0.0, noise=(0.8, 1.4)):
    rng = np.random.default_rng(seed)
    quality = 0.5 * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, items))
    x, y = (quality + one * rng.normal(size=quality.shape) for one in noise)
    human = quality + 0.5 * rng.normal(size=quality.shape)
    gone = rng.random(quality.shape) < missing
    gone[:, 0] = gone[0, :] = False
    return tuple(np.where(gone, np.nan, table) for table in (5 * x + 2, y, 20 * human + 50))


def all_masks(swap, systems, items):
    """Every exchange, written out."""
    size = {
        "systems": systems,
        "items": items,
        "both": systems * items,
        "crossed": systems + items,
    }[swap]
    for bits in itertools.product([False, True], repeat=size):
        mask = np.array(bits)
        if swap == "systems":
            yield np.repeat(mask[:, None], items, axis=1)
        elif swap == "items":
            yield np.repeat(mask[None], systems, axis=0)
        elif swap == "both":
            yield mask.reshape(systems, items)
        else:
            yield mask[:systems, None] ^ mask[None, systems:]


def enumerated(x, y, human, swap, method, level):
    """Differences after every exchange."""
    x, y = ((one - np.nanmean(one)) / np.nanstd(one) for one in (x, y))
    masks = np.stack(list(all_masks(swap, *x.shape)))
    swapped = np.where(masks, y, x), np.where(masks, x, y)
    one, two = (agreement(each, human, method=method, level=level) for each in swapped)
    return one - two


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("method", "level"), WAYS)
@pytest.mark.parametrize("swap", SWAPS)
def test_all_exchanges(swap, method, level, missing):
    shape = (3, 3) if swap == "both" else (4, 3)
    x, y, human = scores(1, *shape, missing)
    expected = enumerated(x, y, human, swap, method, level)
    for alternative in ("greater", "less", "two-sided"):
        result = permutation_test(
            x,
            y,
            human,
            method=method,
            level=level,
            swap=swap,
            alternative=alternative,
            resamples=512,
        )
        assert result.exact
        observed = result.first - result.second
        assert result.difference == pytest.approx(observed)
        extreme = {
            "greater": expected >= observed - 1e-9,
            "less": expected <= observed + 1e-9,
            "two-sided": abs(expected) >= abs(observed) - 1e-9,
        }[alternative]
        # A score that is missing anyway is not exchanged twice.
        assert result.p_value == pytest.approx(extreme.mean(), abs=1e-12)
        assert np.unique(result.distribution.round(9)).tolist() == pytest.approx(
            np.unique(expected.round(9)).tolist(), abs=1e-8
        )


@pytest.mark.parametrize(("method", "level"), WAYS)
@pytest.mark.parametrize("swap", SWAPS)
def test_random_exchanges_are_fair(swap, method, level):
    """Against all 1,024 to 4,096 exchanges."""
    shape = {"systems": (11, 3), "items": (3, 11), "both": (3, 4), "crossed": (5, 6)}[swap]
    x, y, human = scores(2, *shape)
    options = {"method": method, "level": level, "swap": swap, "alternative": "greater"}
    exact = permutation_test(x, y, human, resamples=4096, **options)
    drawn = permutation_test(x, y, human, resamples=1000, seed=3, **options)
    assert exact.exact
    assert not drawn.exact
    assert (
        drawn.first
        == exact.first
        == pytest.approx(float(agreement(x, human, method=method, level=level)), abs=1e-12)
    )
    error = np.sqrt(exact.p_value * (1 - exact.p_value) / 1000)
    assert abs(drawn.p_value - exact.p_value) < 4 * error + 0.002
    assert stats.ks_2samp(drawn.distribution, exact.distribution).pvalue > 1e-4


def swap_cells(x, y):
    mask = np.random.random(x.shape) < 0.5  # noqa: NPY002
    return np.where(mask, y, x), np.where(mask, x, y)


def close(ours, size, theirs, their_size):
    """Two shares that differ by chance alone."""
    pooled = (ours * size + theirs * their_size + 1) / (size + their_size + 2)
    return abs(ours - theirs) < 4.5 * np.sqrt(pooled * (1 - pooled) * (1 / size + 1 / their_size))


def same_distribution(ours, theirs):
    return stats.ks_2samp(np.round(ours, 9), np.round(theirs, 9)).pvalue > 1e-4


def check_nlpstats_permutation(tables, swap, method, level, resamples):
    theirs = pytest.importorskip("nlpstats.correlations")
    np.random.seed(resamples)  # noqa: NPY002
    their_swap = {"both": swap_cells, "crossed": "both"}.get(swap) or THEIRS[swap]
    arguments = (THEIRS[level], THEIRS[method], their_swap)
    expected = theirs.permutation_test(*tables, *arguments, n_resamples=resamples)
    result = permutation_test(
        *tables, method=method, level=level, swap=swap, undefined="drop", resamples=3000
    )
    # Their own p-value loses differences that are equal but for rounding.
    extreme = np.abs(expected.samples) >= abs(result.difference) - 1e-9
    assert expected.pvalue <= extreme.mean()
    assert close(result.p_value, len(result.distribution), extreme.mean(), resamples)
    assert same_distribution(result.distribution, expected.samples)


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize(("method", "level"), WAYS)
def test_nlpstats_permutation(method, level, swap):
    place = WAYS.index((method, level)) + SWAPS.index(swap)
    tables = scores(place, 7, 6, missing=0.2 * (place % 2), noise=(0.9, 1.1))
    check_nlpstats_permutation(tables, swap, method, level, 25 if level == "item" else 50)


@pytest.mark.long
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize(("method", "level"), WAYS)
def test_nlpstats_permutation_at_length(method, level, swap, missing):
    for seed in range(2):
        tables = scores(seed, 8, 15, missing, noise=(0.9, 1.1))
        check_nlpstats_permutation(tables, swap, method, level, 80 if level == "item" else 300)


def test_nlpstats_on_real_summaries(data):
    """SummEval, 16 systems and 100 documents: unigram recall against brevity."""
    tables = summaries(data, "SummEval", "relevance")
    for swap in SWAPS:
        check_nlpstats_permutation(tables, swap, "pearson", "system", 50)


@pytest.mark.long
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize(("method", "level"), WAYS)
@pytest.mark.parametrize(
    ("name", "criterion"), [("SummEval", "coherence"), ("REALSumm", "litepyramid_recall")]
)
def test_nlpstats_on_real_summaries_at_length(data, name, criterion, method, level, swap):
    resamples = 25 if level == "item" else 300
    check_nlpstats_permutation(summaries(data, name, criterion), swap, method, level, resamples)


@pytest.mark.parametrize(("method", "level"), WAYS)
@pytest.mark.parametrize("resample", RESAMPLES)
def test_nlpstats_bootstrap(resample, method, level):
    place = WAYS.index((method, level)) + RESAMPLES.index(resample)
    missing = 0.2 * (place % 2) * bearable(level, resample)
    check_nlpstats_bootstrap(
        scores(5, 8, 7, missing), resample, method, level, 30 if level == "item" else 60
    )


@pytest.mark.long
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("method", "level"), WAYS)
@pytest.mark.parametrize("resample", RESAMPLES)
def test_nlpstats_bootstrap_at_length(resample, method, level, missing):
    missing *= bearable(level, resample)
    resamples = 100 if level == "item" else 400
    check_nlpstats_bootstrap(scores(6, 9, 12, missing), resample, method, level, resamples)


def bearable(level, resample):
    """nlpstats cannot leave out an item that keeps less than two systems."""
    return level != "item" or resample == "items"


def check_nlpstats_bootstrap(tables, resample, method, level, resamples):
    theirs = pytest.importorskip("nlpstats.correlations")
    np.random.seed(5)  # noqa: NPY002
    x, y, human = tables
    expected = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a system drawn alone makes an item constant
        for _ in range(resamples):
            one, two, people = theirs.resample((x, y, human), THEIRS[resample])
            drawn = [
                theirs.correlate(each, people, THEIRS[level], THEIRS[method]) for each in (one, two)
            ]
            expected.append(drawn[0] - drawn[1])
    expected = np.array(expected)
    result = bootstrap_difference(
        x, y, human, method=method, level=level, resample=resample, undefined="drop", resamples=1500
    )
    assert same_distribution(result.distribution, expected)
    assert result.standard_error == pytest.approx(np.std(expected), rel=4 / np.sqrt(resamples))
    # Its limits have as many of their resamples beyond them as they should.
    assert close(0.025, 1500, np.mean(expected < result.interval.low - 1e-9), resamples)
    assert close(0.025, 1500, np.mean(expected > result.interval.high + 1e-9), resamples)


def summaries(data, name, criterion):
    """Systems x documents: unigram recall, minus length, and people."""
    documents = []
    with gzip.open(data / f"bartscore_nlg/{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            wanted = Counter(row["refs"][0].split())
            document = []
            for system in sorted(row["systems"]):
                words = Counter(row["systems"][system]["output"].split())
                recall = (words & wanted).total() / wanted.total()
                rating = row["systems"][system]["scores"][criterion]
                document.append((recall, -float(words.total()), rating))
            documents.append(document)
    return tuple(np.array(documents).T)


@pytest.mark.parametrize(("seed", "systems", "items"), [(1, 3, 4), (2, 4, 3)])
def test_bootstrap_of_all_draws(seed, systems, items):
    """Few enough items and systems to draw them in every way."""
    x, y, human = scores(seed, systems, items)
    for resample, size, axis in (("items", items, 1), ("systems", systems, 0)):
        every = []
        for draw in itertools.product(range(size), repeat=size):
            tables = [np.take(table, draw, axis=axis) for table in (x, y, human)]
            one, two = (agreement(each, tables[2], level="pooled") for each in tables[:2])
            every.append(float(one - two))
        found = bootstrap_difference(
            x, y, human, level="pooled", resample=resample, resamples=5000, seed=seed
        )
        every = np.array(every)
        share = np.isnan(every).mean()
        every = every[~np.isnan(every)]
        assert found.undefined / 5000 == pytest.approx(share, abs=0.03)
        assert found.distribution.mean() == pytest.approx(every.mean(), abs=5 * every.std() / 70)
        assert set(found.distribution.round(7)) <= set(every.round(7))


def test_systems_with_equal_means_are_tied_in_every_draw():
    """Means of 0.1 + 0.3 and 0.2 + 0.2 are equal; rounding used to make a correlation of them."""
    x = np.array([[0.1, 0.3, 0.7], [0.2, 0.2, 0.7], [0.4, 0.9, 0.1]])
    human = np.array([[1.0, 2, 3], [2.0, 4, 1], [5.0, 1, 4]])
    found = bootstrap_difference(x, human[:, ::-1], human, resample="systems", resamples=500)
    draws = list(itertools.product(range(3), repeat=3))
    useless = [draw for draw in draws if set(draw) <= {0, 1} or set(draw) == {2}]
    assert found.undefined / 500 == pytest.approx(len(useless) / len(draws), abs=0.08)
    means = [table.mean(axis=1).round(9) for table in (x, human[:, ::-1], human)]
    every = set()
    for draw in draws:
        if draw not in useless:
            one, two, people = (mean[list(draw)] for mean in means)
            every.add(round(float(correlate(one, people) - correlate(two, people)), 7))
    assert set(found.distribution.round(7)) <= every


@pytest.mark.parametrize(("method", "level"), WAYS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_threads_change_nothing(monkeypatch, method, level, missing):
    monkeypatch.setattr("deltableu.validate.paired_scores._LARGEST_BLOCK", 16)
    x, y, human = scores(3, 5, 14, missing)
    options = {"method": method, "level": level, "resamples": 60, "seed": 8}
    for swap in SWAPS:
        results = [
            permutation_test(x, y, human, swap=swap, threads=threads, **options)
            for threads in (1, 3)
        ]
        assert results[0].distribution.tolist() == results[1].distribution.tolist()
    for resample in RESAMPLES:
        results = [
            bootstrap_difference(x, y, human, resample=resample, threads=threads, **options)
            for threads in (1, 3)
        ]
        assert results[0].distribution.tolist() == results[1].distribution.tolist()


def test_seeds():
    x, y, human = scores(3, 6, 40)
    one, same, other = (permutation_test(x, y, human, seed=seed) for seed in (1, 1, 2))
    assert one.distribution.tolist() == same.distribution.tolist()
    assert one.distribution.tolist() != other.distribution.tolist()


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(WAYS),
    st.sampled_from(SWAPS),
    st.floats(0.1, 50),
    st.floats(-100, 100),
)
def test_scales_do_not_matter(seed, way, swap, factor, shift):
    method, level = way
    x, y, human = scores(seed, 5, 8)
    options = {"method": method, "level": level, "swap": swap, "resamples": 99}
    plain = permutation_test(x, y, human, **options)
    scaled = permutation_test(x * factor + shift, y, human * factor - shift, **options)
    assert scaled.distribution == pytest.approx(plain.distribution, abs=1e-9)
    assert scaled.p_value == plain.p_value


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(WAYS), st.sampled_from(SWAPS))
def test_sides(seed, way, swap):
    method, level = way
    x, y, human = scores(seed, 5, 8)
    options = {"method": method, "level": level, "swap": swap, "resamples": 99}
    forth = permutation_test(x, y, human, alternative="greater", **options)
    less = permutation_test(x, y, human, alternative="less", **options)
    assert forth.p_values() == (forth.p_value, less.p_value)
    assert forth.p_value + less.p_value >= 1 - 1e-12
    assert 0 < forth.p_value <= 1
    back = permutation_test(y, x, human, alternative="less", **options)
    assert back.p_value == forth.p_value


def test_a_metric_and_itself():
    x, _, human = scores(3, 6, 10)
    for method, level in WAYS:
        result = permutation_test(x, 3 * x - 1, human, method=method, level=level)
        assert (result.difference, result.p_value) == (pytest.approx(0, abs=1e-12), 1)
        assert result.p_values() == (1, 1)
        result = bootstrap_difference(x, x, human, method=method, level=level)
        assert (result.p_value, result.interval.low, result.interval.high) == (1, 0, 0)


def test_never_zero():
    x, _, human = scores(3, 8, 200)
    noise = np.random.default_rng(0).normal(size=x.shape)
    result = permutation_test(human + noise, noise, human, resamples=999)
    assert result.p_value == 0.001
    result = bootstrap_difference(human + noise, noise, human, resamples=999, resample="items")
    assert result.p_value == 0.002
    assert result.p_values() == (0.001, 1.0)
    assert result.interval.low > 0


def test_ties_of_means_survive_sums_in_another_order():
    """Four systems of whole numbers with equal means: no exchange of items may untie them."""
    x = np.array([[1, 2, 3], [3, 2, 1], [2, 2, 2], [1, 2, 3]]) / 10 + 0.1
    y = x[::-1] * 2 + np.array([[0.0], [1], [2], [4]])
    human = np.array([[1.0, 2, 3], [3, 4, 5], [5, 6, 7], [9, 9, 9]])
    with pytest.raises(InputError, match="x has no kendall-b agreement"):
        permutation_test(x, y, human, method="kendall-b")
    result = permutation_test(y, human, human, method="kendall-b", swap="systems")
    assert result.difference == 0


def test_undefined_exchanges_count_against_a_difference():
    """Where all scores of a metric come out equal there is nothing to correlate."""
    x = np.array([[1.0], [2.0], [1.0], [2.0]])
    y = np.array([[2.0], [1.0], [2.0], [1.0]])
    result = permutation_test(x, y, [[1.0], [2], [3], [4]], swap="systems")
    assert (result.exact, len(result.distribution), result.undefined) == (True, 16, 2)
    assert result.p_value >= 2 / 16


def test_kendall_like_keeps_its_threshold():
    x, y, human = scores(4, 6, 12)
    result = permutation_test(x, y, human, method="kendall-like", level="item", threshold=15)
    expected = agreement(x, human, method="kendall-like", level="item", threshold=15)
    assert result.first == pytest.approx(float(expected))
    drawn = bootstrap_difference(
        x, y, human, method="kendall-like", level="item", threshold=15, resample="items"
    )
    assert drawn.first == result.first
    assert drawn.interval.low < drawn.difference < drawn.interval.high


def test_many_resamples_fit_in_memory():
    x, y, human = scores(4, 50, 400)
    result = permutation_test(x, y, human, resamples=20_000)
    assert len(result.distribution) == 20_000


GOOD = np.arange(12.0).reshape(3, 4) % 5
NAN = float("nan")


@pytest.mark.parametrize("test", [permutation_test, bootstrap_difference])
@pytest.mark.parametrize(
    ("x", "y", "human", "options", "told"),
    [
        (GOOD, GOOD[:, :3], GOOD, {}, "one shape; x is .3, 4., y is .3, 3."),
        (GOOD[0], GOOD[0], GOOD[0], {}, "systems x items"),
        (GOOD[:1], GOOD[:1], GOOD[:1], {}, "at least 2 systems"),
        (GOOD, GOOD * 0, GOOD, {}, "y is constant"),
        (GOOD, GOOD, GOOD * 0 + 3, {}, "human is constant"),
        (np.where(GOOD == 2, NAN, GOOD), GOOD, GOOD, {}, "x and human must miss the same scores"),
        (GOOD, GOOD, np.where(GOOD > 3, np.inf, GOOD), {}, "human must be finite"),
        (GOOD, GOOD, GOOD, {"method": "tau"}, "no correlation 'tau'"),
        (GOOD, GOOD, GOOD, {"level": "segment"}, "level must be one of system, pooled, item"),
        (GOOD, GOOD, GOOD, {"undefined": "skip"}, "undefined must be"),
        (GOOD, GOOD, GOOD, {"resamples": 0}, "resamples must be at least 1"),
    ],
)
def test_bad_input(test, x, y, human, options, told):
    with pytest.raises(InputError, match=told):
        test(x, y, human, **options)


def test_bad_choices():
    with pytest.raises(InputError, match="swap must be"):
        permutation_test(GOOD, GOOD, GOOD, swap="cells")
    with pytest.raises(InputError, match="alternative must be"):
        permutation_test(GOOD, GOOD, GOOD, alternative="better")
    with pytest.raises(InputError, match="resample must be"):
        bootstrap_difference(GOOD, GOOD, GOOD, resample="cells")
    with pytest.raises(InputError, match="confidence must lie"):
        bootstrap_difference(GOOD, GOOD, GOOD, confidence=95)
    gone = GOOD.copy()
    gone[1] = NAN
    with pytest.raises(InputError, match="system 1 has no human scores"):
        permutation_test(gone, gone, gone)
