"""Comparisons as users get them: seeds, threads, directions, corrections, ranks, intervals."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from deltableu import BLEU, DeltaBLEU, ReferenceSet
from deltableu.compare import TESTS, Comparison, ComparisonPlan, compare_systems
from deltableu.compare.observations import observe
from deltableu.corpus import ScoreTable
from deltableu.score.metrics.chrf import ChrF
from deltableu.score.metrics.ter import TER
from deltableu.score.registry import make_metrics
from deltableu.score.systems import score_systems
from deltableu.stats import rank
from deltableu.stats.multiple import adjust

SEVERAL = ("studentized", "randomization", "bootstrap", "koehn", "moses", "wilcoxon", "t-test")


def texts(items: int = 120, seed: int = 3):
    """References with awkward weights, and four systems of different quality."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(25)])

    def noisy(text, share):
        return np.where(rng.random(len(text)) < share, rng.choice(words, len(text)), text)

    best = [rng.choice(words, size=rng.integers(3, 12)) for _ in range(items)]
    references = [[best[k], noisy(best[k], 0.6), noisy(best[k], 0.9)] for k in range(items)]
    weights = [[1.0, float(rng.uniform(0, 1)), float(rng.uniform(-1, 0))] for _ in range(items)]
    shares = {"A": 0.3, "B": 0.33, "C": 0.36, "D": 0.7}
    outputs = {
        name: [" ".join(noisy(text, share)) for text in best] for name, share in shares.items()
    }
    joined = [[" ".join(text) for text in row] for row in references]
    return ReferenceSet(joined, weights), outputs


REFERENCES, OUTPUTS = texts()


def rows_of(metric, references=REFERENCES, outputs=OUTPUTS):
    encoded = metric.encode(references)
    return {name: metric.statistics(given, encoded) for name, given in outputs.items()}


def table() -> ScoreTable:
    rng = np.random.default_rng(6)
    base = rng.normal(size=90)
    scores = {name: base + rng.normal(k / 5, 1, 90) for k, name in enumerate("ABCD")}
    return ScoreTable.of({"judge": scores})


SOURCES = {
    "bleu": rows_of(BLEU(tokenize="none")),
    "delta-bleu": rows_of(DeltaBLEU(tokenize="none")),
    "signed delta-bleu": rows_of(DeltaBLEU(tokenize="none", combine="arithmetic")),
    "table": table(),
}
by_source = pytest.mark.parametrize("source", SOURCES)


def compared(source, **settings) -> Comparison:
    options = {name: settings.pop(name) for name in ("baseline", "threads") if name in settings}
    plan = ComparisonPlan(**{"trials": 1500, "resamples": 600, **settings})
    (comparison,) = compare_systems(source, plan=plan, **options)
    return comparison


# --- Seeds and threads ----------------------------------------------------------------------------


@by_source
@pytest.mark.parametrize("interval", ["studentized", "jackknife", "percentile", "bca"])
def test_results_depend_on_the_seed_and_not_on_threads(source, interval):
    given = SOURCES[source]
    settings = {"tests": SEVERAL, "interval": interval, "trials": 2500}
    one = compared(given, threads=1, **settings)
    for threads in (2, 5):
        assert compared(given, threads=threads, **settings) == one
    assert compared(given, **settings) == one
    other = compared(given, seed=1, **settings)
    assert [pair.difference for pair in other.pairs] == [pair.difference for pair in one.pairs]
    for test in ("studentized", "randomization", "bootstrap", "koehn", "moses"):
        assert [p.p_values[test] for p in other.pairs] != [p.p_values[test] for p in one.pairs]
    if interval != "jackknife":
        assert [p.interval for p in other.pairs] != [p.interval for p in one.pairs]


def test_the_default_number_of_threads_gives_the_same_bits():
    (observed,) = observe(SOURCES["signed delta-bleu"])
    one = observed.bootstrap(700, 5, threads=1)
    assert observed.bootstrap(700, 5).tobytes() == one.tobytes()
    tried = observed.exchange.statistics([(0, 2), (3, 1)], 3000, 5, threads=1)
    for threads in (5, None):
        again = observed.exchange.statistics([(0, 2), (3, 1)], 3000, 5, threads=threads)
        assert again.tobytes() == tried.tobytes()
    exchanged = observed.exchanges(3000, 5, threads=1)(0, 2)
    assert observed.exchanges(3000, 5, threads=5)(0, 2).tobytes() == exchanged.tobytes()


# --- What a comparison says -----------------------------------------------------------------------


@by_source
@pytest.mark.parametrize("interval", ["studentized", "bca"])
def test_a_pair_does_not_depend_on_the_other_systems(source, interval):
    """All systems share the draws: leaving some out changes no p-value of the rest."""
    given = SOURCES[source]
    everything = compared(given, tests=SEVERAL, interval=interval)
    plan = ComparisonPlan(tests=SEVERAL, interval=interval, trials=1500, resamples=600)
    for names in (["B", "D"], ["C", "A"]):
        (only,) = compare_systems(given, systems=names, plan=plan)
        (pair,) = only.pairs
        same = everything.pair(*names)
        assert (pair.first, pair.second) == (same.first, same.second)
        ends = pair.interval.low, pair.interval.high
        assert ends == pytest.approx((same.interval.low, same.interval.high), rel=1e-9)
        for test in SEVERAL:
            assert pair.p_values[test] == same.p_values[test]


@by_source
def test_both_directions_agree(source):
    given = SOURCES[source]
    everything = compared(given, tests=SEVERAL)
    for baseline in "ABCD":
        against = compared(given, tests=SEVERAL, baseline=baseline)
        assert against.baseline == baseline
        assert {pair.second for pair in against.pairs} == {baseline}
        assert len(against.pairs) == 3
        for pair in against.pairs:
            same = everything.pair(pair.first, pair.second)
            sign = 1 if pair.first == same.first else -1
            assert pair.difference == sign * same.difference
            for test in SEVERAL:
                assert pair.p_values[test] == pytest.approx(same.p_values[test], rel=1e-12)
        for system in against.systems:
            assert (system.rank, system.cluster, system.letters) == (None, None, "")


@by_source
@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_the_first_test_decides_after_correction(source, correction):
    found = compared(SOURCES[source], tests=("t-test", "studentized"), correction=correction)
    for test in found.tests:
        raw = [pair.p_values[test] for pair in found.pairs]
        assert [pair.holm[test] for pair in found.pairs] == adjust(raw, "holm").tolist()
        assert [pair.bh[test] for pair in found.pairs] == adjust(raw, "bh").tolist()
    decided = {"holm": "holm", "bh": "bh", "none": "p_values"}[correction]
    scores = {system.system: system.score for system in found.systems}
    for pair in found.pairs:
        assert pair.significant == (getattr(pair, decided)["t-test"] < 0.05)
        assert pair.difference == scores[pair.first] - scores[pair.second]
        higher = pair.first if pair.difference > 0 else pair.second
        assert pair.better == (higher if pair.significant else None)


@by_source
def test_systems_come_best_first_with_ranks_clusters_and_letters(source):
    found = compared(SOURCES[source])
    names = [system.system for system in found.systems]
    scores = [system.score for system in found.systems]
    assert scores == sorted(scores, reverse=True)
    assert [(p.first, p.second) for p in found.pairs] == list(combinations(names, 2))
    differs = np.zeros((4, 4), bool)
    for one, other in combinations(range(4), 2):
        significant = found.pair(names[one], names[other]).significant
        differs[one, other] = differs[other, one] = significant
    assert differs.any()
    ranking = rank(names, scores, differs)
    assert tuple(system.rank for system in found.systems) == ranking.ranks
    assert tuple(system.cluster for system in found.systems) == ranking.clusters
    assert tuple(system.letters for system in found.systems) == ranking.letters


def test_lower_may_be_better():
    given = SOURCES["table"]
    higher = compare_systems(given)[0]
    lower = compare_systems(given.with_lower_better(["judge"]))[0]
    names = [system.system for system in higher.systems]
    assert [system.system for system in lower.systems] == names[::-1]
    for pair in lower.pairs:
        same = higher.pair(pair.first, pair.second)
        assert pair.p_values == same.p_values
        if pair.significant:
            assert {pair.better, same.better} == {pair.first, pair.second}
            assert pair.better == (pair.first if pair.difference < 0 else pair.second)
    edits = compared(
        rows_of(TER(), REFERENCES.take(range(25)), {n: t[:25] for n, t in OUTPUTS.items()})
    )
    assert not edits.higher_is_better
    assert [system.system for system in edits.systems][-1] == "D"


def test_one_comparison_a_metric():
    """Also where two metrics have one name and differ in a setting."""
    metrics = (BLEU(tokenize="none"), BLEU(tokenize="none", smooth="floor"), ChrF())
    scoring = score_systems(REFERENCES, OUTPUTS, metrics)
    plan = ComparisonPlan(trials=300)
    found = compare_systems(scoring, plan=plan)
    assert [one.metric for one in found] == ["bleu-4", "bleu-4", "chrf"]
    for comparison, metric in zip(found, metrics, strict=True):
        assert comparison == compare_systems(rows_of(metric), plan=plan)[0]
        assert comparison.items == 120


def test_every_metric_can_be_compared():
    """Those that give rows, with every test that goes with them."""
    names = ["bleu", "delta-bleu", "sentence-bleu", "chrf++", "delta-chrf++", "rouge-l", "nist"]
    names += ["cider", "length", "distinct-2", "entropy-4"]
    metrics = make_metrics(names, {})
    scoring = score_systems(REFERENCES, OUTPUTS, metrics)
    plan = ComparisonPlan(trials=200)
    for metric, found in zip(metrics, compare_systems(scoring, plan=plan), strict=True):
        assert found.metric == metric.name
        for system in found.systems:
            low, high = system.interval.low, system.interval.high
            assert low <= system.score <= high
            assert metric.limits[0] <= low
            assert high <= metric.limits[1]
        for pair in found.pairs:
            assert pair.interval.low <= pair.difference <= pair.interval.high
            assert 0 < pair.p_values["studentized"] <= 1
            # A table holds what is tested: neither can be significant without the other.
            outside = not pair.interval.low <= 0 <= pair.interval.high
            assert outside == (pair.p_values["studentized"] < 0.05)


def test_tables_lists_and_mappings_say_the_same():
    given = table()
    lists = {name: given.only("judge")[k].tolist() for k, name in enumerate(given.systems)}
    from_table, from_lists = compared(given), compared(lists)
    assert from_table.metric == "judge"
    assert from_lists.metric == "score"
    assert from_lists.pairs == from_table.pairs
    assert (
        compared({n: np.array(v, dtype=object) for n, v in lists.items()}).pairs == from_lists.pairs
    )
    assert [s.system for s in compare_systems(given, systems=["D", "B"])[0].systems] == ["D", "B"]


def test_identical_systems_share_everything():
    scores = table().only("judge")[0]
    found = compared({"A": scores, "B": scores, "C": scores + 1}, tests=SEVERAL)
    pair = found.pair("A", "B")
    assert pair.difference == 0.0
    assert set(pair.p_values.values()) == {1.0}
    assert set(pair.favours.values()) == {None}
    assert (pair.interval.low, pair.interval.high) == (0.0, 0.0)
    assert [system.letters for system in found.systems] == ["a", "b", "b"]
    assert [system.cluster for system in found.systems] == [1, 2, 2]


def test_pair_finds_both_orders_and_no_others():
    found = compared(table())
    assert found.pair("A", "B") is found.pair("B", "A")
    with pytest.raises(KeyError, match="'A' and 'Z' were not compared"):
        found.pair("A", "Z")


# --- Intervals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_of_means_the_jackknifes_interval_is_students(confidence):
    """The default's, which is what exchanges show in place of Student's t, is nearly the same."""
    given = table()
    default = compared(given, confidence=confidence, trials=20_000)
    found = compared(given, confidence=confidence, interval="jackknife")
    assert found.systems == default.systems
    for pair, other in zip(found.pairs, default.pairs, strict=True):
        assert other.interval.method == "studentized"
        widths = [one.interval.high - one.interval.low for one in (pair, other)]
        assert widths[1] == pytest.approx(widths[0], rel=0.04)
    values = dict(zip(given.systems, given.only("judge"), strict=True))
    for pair in found.pairs:
        test = scipy.stats.ttest_rel(values[pair.first], values[pair.second])
        low, high = test.confidence_interval(confidence)
        assert (pair.interval.low, pair.interval.high) == pytest.approx((low, high), rel=1e-9)
        assert pair.interval.confidence == confidence
        assert pair.interval.method == "jackknife"
    for system in found.systems:
        scores = values[system.system]
        reach = scipy.stats.t.ppf((1 + confidence) / 2, len(scores) - 1) * scipy.stats.sem(scores)
        assert system.interval.high - system.score == pytest.approx(reach, rel=1e-9)


@pytest.mark.parametrize("source", ["bleu", "delta-bleu"])
def test_left_out_scores_are_those_of_the_other_texts(source):
    (observed,) = observe(SOURCES[source])
    rows = SOURCES[source]
    left_out = observed.leave_one_out()
    for place in (0, 57, 119):
        others = [k for k in range(120) if k != place]
        expected = [one[others].score().score for one in rows.values()]
        assert left_out[:, place].tolist() == pytest.approx(expected, rel=1e-12)


@by_source
def test_all_intervals_speak_of_the_same_thing(source):
    given = SOURCES[source]
    default, plain, percentile, bca = (
        compared(given, interval=kind, resamples=4000)
        for kind in ("studentized", "jackknife", "percentile", "bca")
    )
    for kinds in zip(default.pairs, plain.pairs, percentile.pairs, bca.pairs, strict=True):
        widths = [pair.interval.high - pair.interval.low for pair in kinds]
        assert max(widths) < 1.25 * min(widths)
        assert len({pair.difference for pair in kinds}) == 1
    assert percentile.pairs[0].interval.method == "percentile bootstrap, n=4000"
    assert "|ci:bca-4000-0.95|" in bca.signature


# --- The rest -------------------------------------------------------------------------------------


def test_a_signature_says_what_results_depend_on():
    given = SOURCES["bleu"]
    base = {"tests": ("randomization", "wilcoxon"), "trials": 500}
    signatures = {
        compared(given, **base, **change).signature
        for change in (
            {},
            {"seed": 1},
            {"correction": "bh"},
            {"confidence": 0.9},
            {"significance": 0.01},
            {"interval": "bca"},
            {"interval": "jackknife"},
        )
    }
    assert len(signatures) == 7
    signature = compared(given, **base).signature
    assert signature.startswith("metric:bleu|")
    assert "|test:randomization-500+wilcoxon|" in signature
    assert compared(given, threads=1, **base).signature == signature


def test_progress_is_told_by_what_is_done():
    told: list[tuple[str, int, int]] = []
    compare_systems(
        SOURCES["bleu"],
        plan=ComparisonPlan(
            tests=("studentized", "randomization", "koehn"), trials=2100, resamples=300
        ),
        progress=lambda *at: told.append(at),
    )
    assert told[-1] == ("bleu-4, bootstrap", 300, 300)
    assert ("bleu-4, exchanges", 2100, 2100) in told
    assert ("bleu-4, randomization", 2100, 2100) in told


def test_all_tests_are_there():
    few = {name: values[:12] for name, values in zip("AB", table().only("judge"), strict=False)}
    (pair,) = compared(few, tests=TESTS).pairs
    assert list(pair.p_values) == list(TESTS)
    one_plan = compared(few, tests=("randomization", "permutation"), trials=4096)
    assert one_plan.exact
    assert len(set(one_plan.pairs[0].p_values.values())) == 1


def test_a_plan_can_be_changed():
    plan = ComparisonPlan(tests=["koehn", "moses"])
    assert plan.tests == ("koehn", "moses")
    assert replace(plan, trials=np.int64(5)).trials == 5
    assert hash(plan) == hash(ComparisonPlan(tests=("koehn", "moses")))
