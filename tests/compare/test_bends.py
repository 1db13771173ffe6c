"""Near a bend of the score standard errors say too little, and the comparison says that."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu import BLEU, DeltaBLEU, compare_systems
from deltableu.compare import ComparisonPlan
from deltableu.errors import InputError
from deltableu.score import Statistics
from deltableu.score.engine.chunks import ReferenceInfo

ITEMS = 200
INFO = ReferenceInfo(ITEMS, 1, 1, "x")
LENGTHS = "outputs are about as long as references, and lengths decide"
FEW = "matches of some order are so few that other items may have none"


def statistics(metric, *columns):
    return Statistics(np.column_stack(columns).astype(float), metric, INFO)


def texts(rng, precision, lengths):
    """BLEU-2 rows of outputs of these lengths for references of 20 words."""
    metric = BLEU(order=2)
    bigrams = rng.binomial(lengths - 1, precision**2)
    unigrams = rng.binomial(lengths, precision)
    return statistics(metric, unigrams, bigrams, lengths, lengths - 1, lengths, np.full(ITEMS, 20))


def compared(rows, **plan):
    (found,) = compare_systems(rows, plan=ComparisonPlan(trials=200, **plan), threads=1)
    return found


def test_lengths_that_decide_near_the_brevity_penalty():
    rng = np.random.default_rng(1)
    wild = np.maximum(2, np.rint(20 * rng.lognormal(-0.125, 0.5, ITEMS))).astype(int)
    wild[0] += 20 * ITEMS - int(wild.sum())
    steady = np.full(ITEMS, 20)
    found = compared({"A": texts(rng, 0.92, steady), "B": texts(rng, 0.92, wild)})
    assert any(LENGTHS in one and one.startswith("B:") for one in found.warnings)
    # Lengths do not decide where they hardly vary, or where all outputs are much longer.
    for lengths in (steady, np.maximum(wild, 2) + 10):
        found = compared({"A": texts(rng, 0.5, steady), "B": texts(rng, 0.5, lengths)})
        assert not any(LENGTHS in one for one in found.warnings)


def test_half_of_the_false_claims_at_the_bend_come_with_a_warning():
    """Equal BLEU-2 from exact lengths and from lengths just below the references'."""
    rng = np.random.default_rng(0)
    precise, short = 0.92, 0.97
    other = precise * np.exp((1.0 - 1.0 / short) / 1.5)
    silent = rejected = 0
    for _ in range(100):
        drawn = 20 * short * rng.lognormal(-0.125, 0.5, ITEMS) + rng.random(ITEMS)
        lengths = np.maximum(2, np.floor(drawn)).astype(int)
        found = compared(
            {"A": texts(rng, other, np.full(ITEMS, 20)), "B": texts(rng, precise, lengths)}
        )
        rejected += found.pairs[0].significant
        silent += found.pairs[0].significant and not found.warnings
    assert rejected > 10
    assert silent <= 10


@pytest.mark.parametrize(("mean", "warned"), [(1.0, True), (6.0, False)])
def test_matches_that_other_items_may_not_have(mean, warned):
    rng = np.random.default_rng(2)
    even = np.ones(ITEMS)

    def rows(spread):
        noise = spread * rng.normal(size=ITEMS)
        bigrams = mean / np.sqrt(ITEMS) + noise - noise.mean()
        columns = (2 + rng.normal(size=ITEMS), bigrams, 8 * even, 7 * even, 10 * even, 10 * even)
        return statistics(DeltaBLEU(), *columns)

    found = compared({"A": rows(1.0), "B": rows(0.1)})
    assert any(FEW in one and one.startswith("A:") for one in found.warnings) == warned
    assert not any("B" in one.partition(":")[0] for one in found.warnings if FEW in one)


def test_a_signed_score_has_no_clamp_to_be_near():
    rng = np.random.default_rng(3)
    even = np.ones(ITEMS)
    rows = np.column_stack(
        (rng.normal(size=ITEMS), rng.normal(size=ITEMS), 8 * even, 7 * even, 10 * even, 10 * even)
    )
    assert FEW not in DeltaBLEU(combine="arithmetic").bends(rows)


def test_an_even_difference_is_no_proof():
    found = compared({"A": [2.0, 3.0, 4.0] * 5, "B": [1.0, 2.0, 3.0] * 5})
    assert any("differ by the same on all 15 items" in one for one in found.warnings)
    assert not compared({"A": [2.0, 3.0, 4.0] * 5, "B": [2.0, 3.0, 4.0] * 5}).warnings


def test_an_item_without_a_group_is_named():
    with pytest.raises(InputError, match="item '1' has no group"):
        compare_systems({"A": [1.0, 2.0], "B": [2.0, 1.0]}, groups=["x", None])
