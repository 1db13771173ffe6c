"""p-values of the peers: sacreBLEU's, on its draws and on ours; Moses' and MultEval's."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import Result, _paired_ar_test, _paired_bs_test

from deltableu import BLEU
from deltableu.compare import ComparisonPlan, compare_systems
from deltableu.compare.observations import observe
from deltableu.compare.paired_tests import moses_p_value
from deltableu.score.metrics.chrf import ChrF
from deltableu.score.metrics.ter import TER
from deltableu.stats import permutation_p_value

BASELINE = "newstest2017.LIUM-NMT.4900.en-de"

METRICS = {
    "BLEU": (
        BLEU(tokenize="none"),
        lambda texts: sacrebleu.BLEU(tokenize="none", references=texts),
    ),
    "chrF": (ChrF(), lambda texts: sacrebleu.CHRF(references=texts)),
}
#: Our name of a test: sacreBLEU's function.
TESTS = {"moses": _paired_bs_test, "randomization": _paired_ar_test}

by_metric = pytest.mark.parametrize("metric", METRICS)
by_test = pytest.mark.parametrize("test", TESTS)


@dataclass(frozen=True)
class Texts:
    references: list[str]
    systems: dict[str, list[str]]

    def take(self, size: int, *systems: str) -> Texts:
        chosen = {name: self.systems[name][:size] for name in systems}
        return Texts(self.references[:size], chosen)

    def rows(self, metric):
        encoded = metric.encode([[text] for text in self.references])
        return {name: metric.statistics(texts, encoded) for name, texts in self.systems.items()}


@cache
def generated(gap: float, items: int = 200, seed: int = 1) -> Texts:
    """A copies its reference but for 40% of the words, B but for a little more."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{number}x" for number in range(60)])
    references = [rng.choice(words, size=rng.integers(4, 20)) for _ in range(items)]

    def system(share: float) -> list[str]:
        return [
            " ".join(np.where(rng.random(len(text)) < share, rng.choice(words, len(text)), text))
            for text in references
        ]

    outputs = {"A": system(0.4), "B": system(0.4 + gap)}
    return Texts([" ".join(text) for text in references], outputs)


#: Gaps that give p-values near 1, in between, and near 0.
GAPS = {"near tie": 0.02, "between": 0.04, "clear": 0.08}
by_gap = pytest.mark.parametrize("gap", GAPS)


def sacrebleus(
    texts: Texts, metric: str, test: str, first: str, second: str, trials: int, seed: int = 1
) -> float:
    """sacreBLEU's p-value of the first system against the second as baseline.

    In parts, since it holds the rows of all samples at once.
    """
    peer = METRICS[metric][1]([texts.references])
    statistics = peer._extract_corpus_statistics(texts.systems[second], None)
    baseline = {"it": (statistics, Result(peer._aggregate_and_compute(statistics).score))}
    part = min(trials, 2_500)
    counted = 0
    for number in range(trials // part):
        _, found = TESTS[test](
            baseline,
            first,
            texts.systems[first],
            None,
            {"it": peer},
            n_samples=part,
            seed=1000 * seed + number,
        )
        counted += round(found["it"].p_value * (part + 1)) - 1
    return (counted + 1) / (trials + 1)


def ours(
    rows: Mapping[str, object], test: str, first: str, second: str, trials: int, seed: int = 0
) -> float:
    plan = ComparisonPlan(tests=(test,), trials=trials, resamples=trials, seed=seed)
    (comparison,) = compare_systems(rows, baseline=second, plan=plan)
    return comparison.pair(first, second).p_values[test]


def within_chance(p: float, q: float, trials: int) -> bool:
    """Whether two estimates of one probability, each from so many trials, can differ so."""
    mean = (p + q) / 2
    return abs(p - q) <= 4.0 * np.sqrt(2.0 * mean * (1.0 - mean) / trials) + 2.0 / trials


# --- sacreBLEU on its own draws: the same p-value to the last digit -------------------------------


@by_metric
@by_gap
def test_the_bootstrap_on_sacrebleus_draws(metric, gap):
    texts, samples, seed = generated(GAPS[gap]), 400, 5
    (observed,) = observe(texts.rows(METRICS[metric][0]))
    size = len(texts.references)
    drawn = np.random.default_rng(seed).choice(size, size=(samples, size), replace=True)
    scores = observed.aggregate(observed.rows[:, drawn].sum(axis=2))
    difference = float(np.subtract(*observed.scores()))
    found = moses_p_value(scores[0] - scores[1], difference)
    peer = METRICS[metric][1]([texts.references])
    rows = peer._extract_corpus_statistics(texts.systems["B"], None)
    baseline = {"it": (rows, Result(peer._aggregate_and_compute(rows).score))}
    _, expected = _paired_bs_test(
        baseline, "A", texts.systems["A"], None, {"it": peer}, n_samples=samples, seed=seed
    )
    assert found == expected["it"].p_value


@by_metric
@by_gap
def test_randomization_on_sacrebleus_draws(metric, gap):
    texts, trials, seed = generated(GAPS[gap]), 2000, 5
    (observed,) = observe(texts.rows(METRICS[metric][0]))
    kept = np.random.default_rng(seed).integers(2, size=(trials, len(texts.references)), dtype=bool)
    first, second = observed.rows
    differences = observed.aggregate(kept @ second + ~kept @ first) - observed.aggregate(
        ~kept @ second + kept @ first
    )
    found = permutation_p_value(differences, float(np.subtract(*observed.scores())))
    peer = METRICS[metric][1]([texts.references])
    rows = peer._extract_corpus_statistics(texts.systems["B"], None)
    baseline = {"it": (rows, Result(peer._aggregate_and_compute(rows).score))}
    _, expected = _paired_ar_test(
        baseline, "A", texts.systems["A"], None, {"it": peer}, n_samples=trials, seed=seed
    )
    assert found == expected["it"].p_value


# --- sacreBLEU, each on its own draws -------------------------------------------------------------


def check_both_directions(gap: str, metric: str, test: str, trials: int) -> None:
    """20,000 samples of ours against `trials` of sacreBLEU's in each direction."""
    texts = generated(GAPS[gap])
    rows = texts.rows(METRICS[metric][0])
    found = ours(rows, test, "A", "B", 20_000)
    assert ours(rows, test, "B", "A", 20_000) == found
    for seed, direction in enumerate((("A", "B"), ("B", "A"))):
        expected = sacrebleus(texts, metric, test, *direction, trials, seed)
        assert within_chance(found, expected, trials), (found, expected)


@by_test
@pytest.mark.parametrize(
    ("metric", "gap"),
    [("BLEU", "near tie"), ("BLEU", "between"), ("BLEU", "clear"), ("chrF", "between")],
)
def test_p_values_are_sacrebleus_within_chance(metric, gap, test):
    check_both_directions(gap, metric, test, 5_000)


@pytest.mark.long
@by_test
@by_metric
@by_gap
def test_p_values_are_sacrebleus_within_less_chance(gap, metric, test):
    check_both_directions(gap, metric, test, 20_000)


def test_the_gaps_give_different_p_values():
    """Else the tests above would prove little."""
    found = [
        ours(generated(gap).rows(METRICS["BLEU"][0]), "randomization", "A", "B", 2000)
        for gap in GAPS.values()
    ]
    assert found[0] > 0.5 > found[1] > 0.05 > 0.01 > found[2]


def test_identical_systems_differ_by_chance():
    """Where sacreBLEU says that chance cannot have made what is not there: p = 1 / (n + 1)."""
    texts = generated(0.0)
    same = Texts(texts.references, {"A": texts.systems["A"], "B": texts.systems["A"]})
    rows = same.rows(METRICS["BLEU"][0])
    for test in TESTS:
        assert ours(rows, test, "A", "B", 500) == 1.0
        assert sacrebleus(same, "BLEU", test, "A", "B", 500) == 1 / 501


# --- WMT'17 ---------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def wmt17(data: Path) -> Texts:
    folder = data / "wmt17" / "en-de-cased"
    systems = sorted(folder.glob("newstest2017.*.en-de.gz"))
    return Texts(
        _lines(folder / "newstest2017-ende-ref.de.gz"),
        {path.name.removesuffix(".gz"): _lines(path) for path in systems},
    )


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


@pytest.fixture(scope="session")
def published(data: Path) -> dict[str, Mapping[str, object]]:
    vectors = json.loads((data / "test_vectors" / "peer_vectors.json").read_text("utf-8"))
    return vectors["paired_significance_wmt17_en_de"]


@by_test
@pytest.mark.parametrize("system", ["LMU-nmt-single.4893", "FBK.4870"])
def test_real_systems_as_sacrebleu_has_them(wmt17, system, test):
    name = f"newstest2017.{system}.en-de"
    texts = wmt17.take(400, name, BASELINE)
    found = ours(texts.rows(METRICS["BLEU"][0]), test, name, BASELINE, 20_000)
    expected = sacrebleus(texts, "BLEU", test, name, BASELINE, 5_000)
    assert within_chance(found, expected, 5_000), (found, expected)


@pytest.mark.long
@by_test
@by_metric
def test_all_real_systems_as_sacrebleu_has_them(wmt17, metric, test):
    """All 15, all 3,004 segments; every other one turned round."""
    rows = wmt17.rows(METRICS[metric][0])
    plan = ComparisonPlan(tests=(test,), trials=20_000, resamples=20_000)
    (comparison,) = compare_systems(rows, baseline=BASELINE, plan=plan)
    assert len(comparison.pairs) == 15
    for number, pair in enumerate(comparison.pairs):
        direction = (pair.first, BASELINE) if number % 2 else (BASELINE, pair.first)
        expected = sacrebleus(wmt17, metric, test, *direction, 10_000)
        found = pair.p_values[test]
        assert within_chance(found, expected, 10_000), (pair.first, found, expected)


def test_p_values_of_moses_and_multeval(wmt17, published):
    """BLEU: Moses' bootstrap (mean of 3 runs of 2,000 samples), MultEval's 10,000 exchanges.

    Their own chance errors reach .006; ours are made small.
    """
    rows = wmt17.rows(BLEU(tokenize="none"))
    tests = ("randomization", "moses")
    plan = ComparisonPlan(tests=tests, trials=40_000, resamples=10_000)
    (comparison,) = compare_systems(rows, baseline=BASELINE, plan=plan)
    multeval = published["multeval_AR_10000_p_bleu_ter"]
    moses = published["moses_bootstrap_2000_p"]
    assert {pair.first for pair in comparison.pairs} == set(multeval) == set(moses)
    for pair in comparison.pairs:
        assert pair.p_values["moses"] == pytest.approx(moses[pair.first], abs=1e-2)
        assert pair.p_values["randomization"] == pytest.approx(multeval[pair.first][0], abs=1e-2)


def _ter_rows(texts: Sequence[str], references: Sequence[str]):
    return TER().compute(texts, [[text] for text in references])


@pytest.mark.long
def test_p_values_of_multeval_for_ter(wmt17, published):
    """TER as MultEval has it: cases do not differ, nothing is normalised."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        started = {
            name: pool.submit(_ter_rows, texts, wmt17.references)
            for name, texts in wmt17.systems.items()
        }
        rows = {name: future.result() for name, future in started.items()}
    plan = ComparisonPlan(tests=("randomization",), trials=60_000)
    (comparison,) = compare_systems(rows, baseline=BASELINE, plan=plan)
    for pair in comparison.pairs:
        expected = published["multeval_AR_10000_p_bleu_ter"][pair.first][1]
        assert pair.p_values["randomization"] == pytest.approx(expected, abs=1e-2), pair.first
