"""Groups of items: against a literal cluster bootstrap, and exchanges of whole groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.stats.resampling import bootstrap_counts, stream
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import agreement
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.permutation import permutation_test

LEVELS = ("system", "pooled", "item")
few = settings(max_examples=25, deadline=None)


def study(seed, systems=4, items=18, groups=6):
    """Groups of different sizes, with missing scores."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(groups), rng.integers(groups, size=items - groups)])
    human = rng.normal(size=(systems, items)) + rng.normal(size=groups)[labels]
    x, y = (human + rng.normal(size=human.shape) for _ in range(2))
    gone = rng.random(human.shape) < 0.1
    gone[:, 0] = False
    for side in (x, y, human):
        side[gone] = np.nan
    return x, y, human, [f"g{label}" for label in labels]


def literal_clusters(metric, human, labels, counts, **options):
    """Agreement on whole groups put one after the other, as often as each was drawn."""
    names = list(dict.fromkeys(labels))
    chosen = [
        place
        for name, often in zip(names, counts, strict=True)
        for _ in range(often)
        for place, label in enumerate(labels)
        if label == name
    ]
    return float(agreement(metric[:, chosen], human[:, chosen], **options))


@few
@given(st.integers(0, 2**32), st.sampled_from(LEVELS), st.sampled_from(["pearson", "kendall-b"]))
def test_grouped_bootstrap_is_the_literal_cluster_bootstrap(seed, level, method):
    x, _, human, labels = study(seed)
    options = {"method": method, "level": level}
    found = bootstrap_agreement(x, human, groups=labels, resamples=20, seed=3, **options)
    draws = stream(3, 4, 0, 0).integers(6, size=(20, 6))
    counts = [np.bincount(row, minlength=6) for row in draws]
    expected = [literal_clusters(x, human, labels, row, **options) for row in counts]
    expected = [value for value in expected if not np.isnan(value)]
    np.testing.assert_allclose(found.distribution, expected, atol=1e-9)
    assert found.interval.method.endswith("by group")


@few
@given(st.integers(0, 2**32), st.sampled_from(LEVELS))
def test_grouped_differences_are_literal_too(seed, level):
    x, y, human, labels = study(seed)
    found = bootstrap_difference(
        x, y, human, level=level, resample="items", groups=labels, resamples=20, seed=3
    )
    own = int(stream(3, 3, 0, 1).integers(2**63))
    expected = [
        literal_clusters(x, human, labels, row, level=level)
        - literal_clusters(y, human, labels, row, level=level)
        for row in bootstrap_counts(6, 20, own)
    ]
    np.testing.assert_allclose(
        found.distribution, [one for one in expected if not np.isnan(one)], atol=1e-9
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("swap", ["items", "both", "crossed"])
@pytest.mark.parametrize("method", ["pearson", "kendall-b"])
def test_all_exchanges_of_whole_groups(level, swap, method):
    """Three groups, two systems: the mean over all exchanges, made one by one."""
    rng = np.random.default_rng(4)
    human = rng.normal(size=(3, 7))
    x, y = (human + rng.normal(size=human.shape) for _ in range(2))
    labels = np.array([0, 0, 1, 2, 2, 2, 1])
    options = {"method": method, "level": level}
    found = permutation_test(
        x, y, human, swap=swap, groups=labels.tolist(), resamples=1024, **options
    )
    assert found.exact
    units = {"items": 3, "both": 9, "crossed": 6}[swap]
    assert len(found.distribution) == 2**units
    scale = [(side - side.mean()) / side.std() for side in (x, y)]
    for number in (0, 1, 2, 2**units - 2):
        bits = np.array([number >> bit & 1 for bit in range(units)], bool)
        if swap == "items":
            mask = np.tile(bits[labels], (3, 1))
        elif swap == "both":
            mask = bits.reshape(3, 3)[:, labels]
        else:
            mask = bits[:3, np.newaxis] ^ bits[3:][labels]
        one, two = np.where(mask, scale[1], scale[0]), np.where(mask, scale[0], scale[1])
        expected = agreement(one, human, **options) - agreement(two, human, **options)
        assert found.distribution[number] == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_items_of_their_own_are_no_groups(level):
    x, y, human, labels = study(1)
    own = list(range(len(labels)))
    options = {"level": level, "seed": 5}
    for function, tables, more in (
        (bootstrap_agreement, (x, human), {"interval": "bca", "resamples": 100}),
        (bootstrap_difference, (x, y, human), {"resamples": 100}),
        (permutation_test, (x, y, human), {"resamples": 100, "swap": "both"}),
        (permutation_test, (x, y, human), {"resamples": 100, "swap": "items"}),
    ):
        plain = function(*tables, **options, **more)
        grouped = function(*tables, groups=own, **options, **more)
        np.testing.assert_allclose(plain.distribution, grouped.distribution, rtol=1e-12)


def test_the_jackknife_leaves_whole_groups_out():
    """BCa with two items of equal scores to a group is BCa of the groups, pooled."""
    rng = np.random.default_rng(6)
    human = rng.normal(size=(3, 40))
    metric = human + rng.normal(size=human.shape)
    doubled = np.repeat(np.arange(40), 2)
    options = {"level": "pooled", "interval": "bca", "resamples": 300}
    one = bootstrap_agreement(metric, human, **options).interval
    two = bootstrap_agreement(
        metric[:, doubled], human[:, doubled], groups=doubled.tolist(), **options
    ).interval
    assert (one.low, one.high) == pytest.approx((two.low, two.high))


def test_groups_widen_intervals_and_tests_where_they_matter():
    """Copies of an item tell nothing new: by group they do not count as items of their own."""
    rng = np.random.default_rng(7)
    human = rng.normal(size=(4, 12))
    x = human + rng.normal(size=human.shape)
    copies = np.repeat(np.arange(12), 10)
    tables = x[:, copies], human[:, copies]
    options = {"level": "pooled"}
    by_item = bootstrap_agreement(*tables, **options).standard_error
    by_group = bootstrap_agreement(*tables, groups=copies.tolist(), **options).standard_error
    assert by_group > 2.5 * by_item


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        (["a"] * 3, "groups must name one for each item: 3 for 18 items"),
        (["a"] * 18, "all items belong to one group"),
    ],
)
def test_groups_that_cannot_be(groups, told):
    x, y, human, _ = study(2)
    for function, tables in (
        (bootstrap_agreement, (x, human)),
        (bootstrap_difference, (x, y, human)),
        (permutation_test, (x, y, human)),
    ):
        with pytest.raises(InputError, match=told):
            function(*tables, groups=groups)


def test_williams_knows_no_groups():
    x, y, human, labels = study(3)
    with pytest.raises(InputError, match="Williams' test takes outputs for independent"):
        compare_metrics({"x": x, "y": y}, human, level="pooled", test="williams", groups=labels)
