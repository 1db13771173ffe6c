"""What flips a conclusion: planted flips, and every change tried by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from deltableu import (
    BLEU,
    ComparisonPlan,
    DeltaBLEU,
    Discriminative,
    ReferenceSet,
    compare_systems,
    score_systems,
    sensitivity,
)
from deltableu.compare import Sensitivity
from deltableu.errors import InputError
from deltableu.score import make_metrics
from deltableu.stats import numerical_gradient

ONE = DeltaBLEU(order=1, tokenize="none").signed()


def planted(items=200):
    """A earns 1 on nine of ten items and -1 on the others, B .5 on all."""
    texts = [["o", "p", "q"]] * items
    weights = [[1.0, -1.0 if place % 10 == 0 else 1.0, 0.5] for place in range(items)]
    return ReferenceSet(texts, weights), {"A": ["p"] * items, "B": ["q"] * items}


def test_planted_shift_and_power():
    items = 200
    found = sensitivity(*planted(items), ONE, draws=2).pair("A", "B")
    assert (found.better, found.worse) == ("A", "B")
    assert found.difference == pytest.approx(30.0)
    # B has .5 + s, and A .8 + .1 s, since weights of 1 stay there.
    assert found.shift.turned.size == pytest.approx(0.34)
    # Differences are .5 - s on nine of ten items, and -1.5 on the others.
    critical = student.ppf(0.975, items - 1)

    def significant(shift):
        error = 0.3 * (2.0 - shift) / math.sqrt(items - 1)
        return (0.3 - 0.9 * shift) / error > critical

    shift = next(k / 100 for k in range(1, 100) if not significant(k / 100))
    assert found.shift.lost.size == pytest.approx(shift)
    assert found.strength == pytest.approx(0.3 / (0.6 / math.sqrt(items - 1)) / critical)
    # B has .5 ** g; A does not change.
    power = math.log(0.8) / math.log(0.5)
    assert power / 2.0**0.05 < found.power.turned.size < power


def test_planted_share_of_references():
    """A has an extra reference, B the original of a little more than half its weight."""
    items = 200
    references = ReferenceSet([["o", "p"]] * items, [[0.5, 0.9]] * items)
    outputs = {"A": ["p"] * items, "B": ["o"] * items}
    (pair,) = sensitivity(references, outputs, ONE).pairs
    # A has .9 where its reference is kept, B .5 everywhere: turned from 4/9 on.
    assert pair.dropped.turned.size == pair.half_dropped.turned.size == pytest.approx(0.45)
    assert pair.dropped.lost.size <= 0.45
    assert "45% of the extra references" in pair.sentence


def random_study(seed, items=40):
    rng = np.random.default_rng(seed)
    words = [f"w{k}" for k in range(12)]

    def text():
        return " ".join(rng.choice(words, rng.integers(3, 8)))

    texts = [[text() for _ in range(rng.integers(2, 6))] for _ in range(items)]
    weights = [[1.0, *np.round(rng.uniform(-1, 1, len(row) - 1), 2).tolist()] for row in texts]
    # Some items would lose their only positive reference soon.
    weights[0] = [0.2, *[-0.5] * (len(texts[0]) - 1)]

    def outputs(share):
        return [row[0] if rng.random() < share else row[-1] for row in texts]

    systems = {"A": outputs(0.9), "B": outputs(0.5), "C": [text() for _ in texts]}
    return ReferenceSet(texts, weights), systems


def literal_flips(references, outputs, metric, pair, level, changed):
    """Each change scored from the texts; gradients by differences, errors one after the other."""
    lost = turned = None
    for size, weights in changed:
        kept = [place for place, row in enumerate(weights) if max(row) > 0.0]
        state = None
        if kept:
            some = replace(references, weights=weights).take(kept)
            influences, scores = [], []
            for name in (pair.better, pair.worse):
                rows = metric.compute([outputs[name][place] for place in kept], some).rows
                gradient = numerical_gradient(metric.aggregate, rows.sum(axis=0))
                influences.append(rows @ gradient)
                scores.append(float(metric.aggregate(rows.sum(axis=0))))
            apart = influences[0] - influences[1]
            error = math.sqrt(len(kept) * apart.var(ddof=1))
            clamped = any(
                bool(metric.clamped(metric.compute([outputs[name][k] for k in kept], some).sums()))
                for name in (pair.better, pair.worse)
            )
            difference = scores[0] - scores[1]
            critical = student.ppf(1.0 - level / 2.0, len(kept) - 1)
            state = difference, not clamped and difference / error >= critical
        if lost is None and (state is None or not state[1]):
            lost = size, len(references) - len(kept)
        if turned is None and state is not None and state[0] < 0.0:
            turned = size, len(references) - len(kept)
    return lost, turned


@pytest.mark.parametrize("metric", [DeltaBLEU(tokenize="none"), ONE, Discriminative("chrf")])
def test_every_change_by_hand(metric):
    references, outputs = random_study(0, items=25)
    plan = ComparisonPlan(correction="none")
    (comparison,) = compare_systems(score_systems(references, outputs, [metric]), plan=plan)
    found = sensitivity(references, outputs, metric, comparison=comparison, draws=1)
    assert len(found.pairs) >= 2
    shifts = [
        (sign * k / 100, [[min(max(w + sign * k / 100, -1), 1) for w in row] for row in weights])
        for weights in [references.weights]
        for k in range(1, 101)
        for sign in (1, -1)
    ]
    powers = [
        (g, [[math.copysign(abs(w) ** g, w) for w in row] for row in references.weights])
        for k in range(1, 41)
        for g in (2.0 ** (k / 20), 2.0 ** (-k / 20))
    ]
    for pair in found.pairs:
        assert pair.strength > 1.0
        for flips, changed in ((pair.shift, shifts), (pair.power, powers)):
            wanted = literal_flips(references, outputs, metric, pair, 0.05, changed)
            for flip, expected in zip((flips.lost, flips.turned), wanted, strict=True):
                if expected is None:
                    assert flip.size is None
                else:
                    assert (flip.size, flip.left_out) == pytest.approx(expected)


def test_all_extra_references_dropped_is_single():
    references, outputs = random_study(2)
    metric = BLEU(order=2, tokenize="none")
    found = sensitivity(references, outputs, metric, draws=3)
    single = score_systems(references.select("single"), outputs, [metric])
    scores = {one.system: one.score.score for one in single.scores}
    for pair in found.pairs:
        assert pair.shift is None
        assert pair.power is None
        if scores[pair.better] < scores[pair.worse]:
            assert pair.dropped.turned.size is not None


def test_groups_of_copies_change_nothing():
    references, outputs = random_study(3)
    tripled = references.take([k for k in range(len(references)) for _ in range(3)])
    three = {name: [text for text in texts for _ in range(3)] for name, texts in outputs.items()}
    groups = [str(k) for k in range(len(references)) for _ in range(3)]
    once = sensitivity(references, outputs, ONE, draws=1)
    thrice = sensitivity(tripled, three, ONE, groups=groups, draws=1)
    for one, other in zip(once.pairs, thrice.pairs, strict=True):
        assert (one.shift, one.power) != (None, None)
        assert one.shift.lost.size == other.shift.lost.size
        assert one.power == other.power


def test_runs_of_a_system():
    references, outputs = random_study(4)
    runs = {"A@1": outputs["A"], "A@2": outputs["A"], "B": outputs["B"], "C": outputs["C"]}
    found = sensitivity(references, runs, ONE, draws=1)
    assert {pair.better for pair in found.pairs} >= {"A"}


def test_lower_is_better():
    references, outputs = random_study(5)
    (metric,) = make_metrics(["ter"], {})
    found = sensitivity(references, outputs, metric, draws=2)
    assert all(pair.difference < 0.0 and pair.strength > 0.0 for pair in found.pairs)


def test_seeds_and_tables():
    references, outputs = random_study(6)
    first = sensitivity(references, outputs, ONE, draws=4, seed=1)
    again = sensitivity(references, outputs, ONE, draws=4, seed=1)
    assert first == again
    records = first.table().records()
    assert [(row["better"], row["worse"]) for row in records] == [
        (pair.better, pair.worse) for pair in first.pairs
    ]
    assert set(records[0]) >= {"shift", "shift turned", "dropped", "power turned"}
    assert len(first.sentences().rows) == len(first.pairs)
    assert "steps of 0.01" in first.table().notes["shift"]


def test_the_correction_for_several_pairs_counts():
    references, outputs = random_study(0)
    scoring = score_systems(references, outputs, [ONE])
    strengths = {}
    for correction in ("none", "holm"):
        plan = ComparisonPlan(correction=correction)
        (comparison,) = compare_systems(scoring, plan=plan)
        found = sensitivity(references, outputs, ONE, comparison=comparison, draws=1)
        strengths[correction] = found.pair("A", "C").strength
    assert strengths["holm"] < strengths["none"]


def test_nothing_significant():
    references, outputs = random_study(7)
    found = sensitivity(references, {"A": outputs["A"], "B": outputs["A"]}, ONE)
    assert found.pairs == ()
    assert "No difference" in str(found.sentences().records())


def test_sentences():
    found = sensitivity(*planted(), ONE, draws=1)
    assert isinstance(found, Sensitivity)
    (pair,) = found.pairs
    assert pair.sentence.startswith("A beats B unless all weights shift by +0.")
    assert "; B is ahead if all weights shift by +0.34" in pair.sentence


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": make_metrics(["length"], {})[0]}, "uses no references"),
        ({"outputs": {"A": ["p"] * 20}}, "at least two systems"),
        ({"source": ReferenceSet([["o"]] * 20)}, "needs a weight"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"outputs": None}, "no system outputs"),
    ],
)
def test_bad_input(change, message):
    references, outputs = planted(20)
    given = {"source": references, "outputs": outputs, "metric": ONE, "draws": 1} | change
    with pytest.raises(InputError, match=message):
        sensitivity(**given)
