"""Uncertainty of the weights: what is resampled is what was rated, and intervals hold the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, DeltaBLEU, ReferenceSet, read_study
from deltableu.compare import raters as raters_module
from deltableu.compare.rater_results import ResampledRaters
from deltableu.compare.raters import resample_rated, resample_raters
from deltableu.corpus import Item, Rating, RatingTable, Reference, Study
from deltableu.corpus.references import reference_set
from deltableu.errors import InputError
from deltableu.rate import rated_weights
from deltableu.rate.largest_weights import expected_largest
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.metric import Metric
from deltableu.score.metrics.discriminative import DeltaRougeL, Discriminative
from deltableu.score.systems import score_systems
from simulations.raters import METHODS, Cell, simulate
from tests.score.corpora import VARIANTS, corpora, random_corpus

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Heaviest(SegmentMetric):
    """A metric of somebody's own: the weight of the longest reference."""

    name: ClassVar[str] = "heaviest"
    needs = frozenset({"references", "weights"})

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> list[float]:
        flat = encoded.flat
        rows = [range(first, last) for first, last in pairwise(flat.bounds.tolist())]
        longest = [max(row, key=lambda place: len(flat.texts[place])) for row in rows]
        return [
            float(flat.weights[place]) * len(text)
            for place, text in zip(longest, hypotheses, strict=True)
        ]

    def settings(self) -> tuple[tuple[str, str], ...]:
        return ()


def rows_by_metric(
    metric: Metric, references: list[list[str]], weights: Array, outputs: dict[str, list[str]]
) -> Array:
    """Items x systems x columns, by scoring from the text."""
    bounds = np.cumsum([0, *map(len, references)]).tolist()
    nested = [weights[first:last].tolist() for first, last in pairwise(bounds)]
    encoded = metric.encode(ReferenceSet(references, nested))
    return np.stack([metric.statistics(o, encoded).rows for o in outputs.values()], axis=1)


SETTINGS = list(product(VARIANTS, ("geometric", "arithmetic"), ("all", "positive"), (1, 2, 4)))


class TestReweighting:
    @given(corpora(), st.data())
    @settings(max_examples=100, deadline=None)
    def test_rows_are_those_of_scoring(self, corpus: Any, data: st.DataObject) -> None:
        variant, combine, brevity, order = data.draw(st.sampled_from(SETTINGS))
        metric = DeltaBLEU(
            tokenize="none", variant=variant, combine=combine, brevity=brevity, order=order
        )
        given = np.array([weight for row in corpus.weights for weight in row])
        outputs = {"A": corpus.hypotheses, "B": corpus.hypotheses[::-1]}
        ready = metric.reweighting(
            ReferenceSet(corpus.references, corpus.weights), list(outputs.values())
        )
        found = ready.rows(np.stack((given / 3.0, given)))
        np.testing.assert_array_equal(
            found[1], rows_by_metric(metric, corpus.references, given, outputs)
        )
        np.testing.assert_array_equal(
            found[0], rows_by_metric(metric, corpus.references, given / 3.0, outputs)
        )
        assert not ready.without_positive(given[None]).any()

    @pytest.mark.parametrize(
        "metric",
        [Discriminative("rouge-l"), Discriminative("chrf", pool="best"), Heaviest()],
        ids=["mean", "best", "own"],
    )
    def test_other_metrics(self, metric: Metric) -> None:
        corpus = random_corpus(3, 12)
        given = np.array([weight for row in corpus.weights for weight in row])
        outputs = {"A": corpus.hypotheses, "B": corpus.hypotheses[::-1]}
        ready = metric.reweighting(
            ReferenceSet(corpus.references, corpus.weights), list(outputs.values())
        )
        vectors = np.stack((given, 0.4 * given[::-1]))
        for found, weights in zip(ready.rows(vectors), vectors, strict=True):
            np.testing.assert_array_equal(
                found, rows_by_metric(metric, corpus.references, weights, outputs)
            )

    def test_items_without_positive_weight_are_left_out(self) -> None:
        references = ReferenceSet([["a b", "c"], ["a", "c"]], [[0.5, 0.1], [0.5, 0.1]])
        ready = DeltaBLEU().reweighting(references, [["a b", "a"]])
        weights = np.array([[0.5, 0.1, -0.5, 0.0]])
        assert ready.without_positive(weights).tolist() == [[False, True]]
        rows = ready.rows(weights)[0, :, 0]
        assert rows[0].tolist() == [1.0, 0.5, 1.0, 0.5, 2.0, 2.0]
        assert rows[1].tolist() == [0.0] * 6

    def test_outputs_that_match_nothing(self) -> None:
        references = ReferenceSet([["a b"], ["c"]], [[0.5], [0.5]])
        ready = DeltaBLEU().reweighting(references, [["x", ""]])
        assert ready.rows(np.array([[0.5, 0.5]]))[0, :, 0].tolist() == [
            [0.0, 0.0, 0.5, 0.0, 1.0, 2.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ]


def item(name: str, *weights: float | None) -> Item:
    made = (Reference(f"r{i}", f"text {i}", weight) for i, weight in enumerate(weights))
    return Item(name, tuple(made))


def rating(rater: str, item: str, reference: str, value: float, **more: Any) -> Rating:
    return Rating(rater, item, f"reference:{reference}", value, **{"scale": "1-5", **more})


class TestExpectedLargest:
    def test_exact_weights_are_what_they_are(self) -> None:
        weights = np.random.default_rng(0).uniform(-1, 1, (50, 6))
        counts = np.zeros(300, dtype=np.int64)
        variances = np.full(300, np.nan)
        variances[0], counts[0] = 0.0, 5
        found = expected_largest(weights.ravel(), counts, variances, np.arange(0, 301, 6))
        np.testing.assert_allclose(found, weights.max(axis=1), atol=0.06)

    @pytest.mark.parametrize(
        ("spread", "between"), [(0.0, 0.0), (0.1, 0.3), (0.3, 0.0), (0.5, 0.2)]
    )
    def test_noise_is_seen_through(self, spread: float, between: float) -> None:
        """True largest weights are known here; the observed ones are too large by far."""
        rng = np.random.default_rng(7)
        items, size, k = 400, 8, 4
        true = rng.normal(0.0, between, (items, 1)) + rng.normal(0.1, spread, (items, size))
        answers = true[..., None] + rng.normal(0.0, 0.5, (items, size, k))
        observed = answers.mean(axis=2)
        found = expected_largest(
            observed.ravel(),
            np.full(items * size, k),
            answers.var(axis=2, ddof=1).ravel(),
            np.arange(0, items * size + 1, size),
        )
        truth = true.max(axis=1).mean()
        excess = observed.max(axis=1).mean() - truth
        assert excess > 0.07
        assert abs(found.mean() - truth) < 0.3 * excess


@pytest.fixture(scope="module")
def study() -> Study:
    """Forty items whose good and bad references have words of their own; B is the better system."""
    rng = np.random.default_rng(11)
    items, ratings, outputs = [], [], {"A": [], "B": [], "C": []}
    harshness = dict(zip("vwxyz", rng.normal(0.0, 0.5, 5), strict=True))
    for number in range(40):
        quality = rng.uniform(-1, 1, 5)
        quality[0] = 0.8
        words = [[f"g{number}{rng.integers(4)}" for _ in range(3)] for _ in quality]
        texts = [
            " ".join(["the", *row] if q > 0 else ["no", *(w.replace("g", "b") for w in row)])
            for row, q in zip(words, quality, strict=True)
        ]
        references = tuple(Reference(f"r{j}", text) for j, text in enumerate(texts))
        items.append(Item(f"i{number}", references))
        for j, q in enumerate(quality):
            for rater in rng.choice(list("vwxyz"), 3, replace=False).tolist():
                felt = 3 + 2 * q + harshness[rater] + rng.normal(0.0, 0.8)
                value = float(np.clip(np.round(felt), 1, 5))
                ratings.append(rating(rater, f"i{number}", f"r{j}", value))
        outputs["A"].append(texts[rng.integers(1, 5)])
        outputs["B"].append(texts[0] if rng.random() < 0.7 else texts[1])
        outputs["C"].append(outputs["A"][-1])
    made = {name: tuple(texts) for name, texts in outputs.items()}
    return Study(tuple(items), made, RatingTable.from_records(ratings))


def rated(study: Study) -> tuple[ReferenceSet, RatingTable]:
    answers = study.ratings.of_references(study.items)
    references, _ = rated_weights(reference_set(study), answers)
    return references, answers


@pytest.fixture(scope="module")
def resampled(study: Study) -> ResampledRaters:
    return resample_raters(study, DeltaBLEU(), resamples=400, no_positive="skip")


class TestResampleRaters:
    def test_observed_scores_are_the_usual_ones(
        self, study: Study, resampled: ResampledRaters
    ) -> None:
        scoring = score_systems(rated(study)[0], study.outputs, [DeltaBLEU()], no_positive="skip")
        expected = [one.score.score for one in scoring.scores]
        np.testing.assert_allclose(resampled.observed.scores, expected)
        assert resampled.dropped == scoring.dropped
        assert resampled.items == scoring.item_ids
        assert (resampled.raters, resampled.answers) == (5, 600 - 15 * len(scoring.dropped))

    def test_shapes_and_sources(self, resampled: ResampledRaters) -> None:
        for draws in (resampled.observed, resampled.corrected):
            for scores in (draws.items, draws.raters, draws.answers):
                assert scores.shape == (400, 3)
                np.testing.assert_allclose(scores.mean(axis=0), draws.scores, atol=1.5)
        shares = resampled.variance("B")
        assert shares.items > 0.0
        assert shares.raters > 0.0
        assert shares.items <= shares.both <= shares.items + shares.raters
        assert 0.0 < shares.rater_share < 1.0

    def test_threads_and_seed(self, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(raters_module, "_LARGEST_CHUNK", 16)

        def run(seed: int, threads: int) -> ResampledRaters:
            return resample_raters(
                study,
                DeltaBLEU(),
                resamples=100,
                seed=seed,
                threads=threads,
                no_positive="skip",
            )

        one, several, other = run(3, 1), run(3, 4), run(4, 1)
        for draws in ("observed", "corrected"):
            for name in ("items", "raters", "answers"):
                first, same, another = (
                    getattr(getattr(run, draws), name) for run in (one, several, other)
                )
                np.testing.assert_array_equal(first, same)
                assert not np.array_equal(first, another)

    def test_p_values_go_with_intervals(self, resampled: ResampledRaters) -> None:
        for confidence in (0.5, 0.9, 0.99):
            for first, second in (("A", "B"), ("B", "A")):
                interval = resampled.interval(first, second, confidence=confidence)
                excluded = not interval.low <= 0.0 <= interval.high
                assert excluded == (resampled.p_value(first, second) < 1.0 - confidence)
        exact = resampled.interval("B", "A", confidence=1.0 - resampled.p_value("B", "A"))
        assert exact.low == pytest.approx(0.0, abs=1e-6)
        assert resampled.interval("A").method == "items and raters, n=400"

    def test_turned_differences(self, resampled: ResampledRaters) -> None:
        there, back = resampled.interval("A", "B"), resampled.interval("B", "A")
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
        observed = resampled.observed.scores
        assert resampled.estimate("A") + resampled.bias("A") == pytest.approx(observed[0])

    def test_differences_are_those_that_are_seen(self, resampled: ResampledRaters) -> None:
        """Correcting them would add more noise than it takes bias away."""
        seen = resampled.observed.scores
        assert resampled.estimate("A", "B") == pytest.approx(seen[0] - seen[1])
        assert resampled.estimate("A") != pytest.approx(seen[0])

    def test_groups_of_one_are_items(self, study: Study) -> None:
        groups = [item.id for item in study.items]
        setting = {"resamples": 50, "no_positive": "skip"}
        plain = resample_raters(study, DeltaBLEU(), **setting)
        grouped = resample_raters(study, DeltaBLEU(), groups=groups, **setting)
        np.testing.assert_array_equal(plain.observed.items, grouped.observed.items)
        assert plain.interval("A", "B") == grouped.interval("A", "B")

    def test_copies_in_a_group_tell_nothing_new(self, study: Study) -> None:
        """Drawing whole groups, twice the same items are as sure as once."""
        places = list(range(len(study.items)))
        groups = [str(place // 4) for place in places]
        found = resample_raters(
            study, DeltaBLEU(), groups=groups, resamples=200, no_positive="skip"
        )
        assert found.groups is not None
        assert found.groups <= 10
        rows = found.observed.items
        assert rows.shape == (200, 3)
        with pytest.raises(InputError, match="there are 1 groups for 40 items"):
            resample_raters(study, DeltaBLEU(), groups=["x"])
        with pytest.raises(InputError, match="at least two groups of items, got 1"):
            resample_raters(study, DeltaBLEU(), groups=["x"] * 40, no_positive="skip")

    def test_the_same_outputs_do_not_differ(self, resampled: ResampledRaters) -> None:
        assert resampled.p_value("A", "C") == 1.0
        assert resampled.interval("A", "C").low == 0.0

    def test_noise_makes_intervals_wider(self, study: Study) -> None:
        """With the ratings' means instead of the ratings, raters have no share."""
        references, answers = rated(study)
        k = np.bincount(answers.reference)[answers.reference]
        sums = np.bincount(answers.reference, answers.values)[answers.reference]
        sure = answers.with_values(sums / k, "-1-1")
        outputs = {name: study.outputs[name] for name in "AB"}
        quiet = resample_rated(
            references, sure, outputs, DeltaBLEU(), resamples=200, no_positive="skip"
        )
        loud = resample_rated(
            references, answers, outputs, DeltaBLEU(), resamples=200, no_positive="skip"
        )
        assert quiet.variance("B").raters == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(quiet.corrected.scores, quiet.observed.scores, atol=1e-9)
        assert loud.variance("B").both > quiet.variance("B").both
        assert loud.step > 0.0

    @pytest.mark.parametrize(
        "metric",
        [
            DeltaBLEU(combine="arithmetic", brevity="positive"),
            DeltaBLEU(variant="galley2019", order=4),
            DeltaRougeL(),
            DeltaRougeL(pool="best"),
            Heaviest(),
        ],
        ids=["signed", "galley2019", "mean", "best", "own"],
    )
    def test_any_metric_with_weights(self, study: Study, metric: Metric) -> None:
        found = resample_raters(study, metric, systems=["B", "A"], resamples=50, no_positive="skip")
        assert found.systems == ("B", "A")
        assert found.metric == metric.name
        interval = found.interval("B")
        assert interval.low < found.estimate("B") < interval.high

    def test_demo(self, demo: Path) -> None:
        found = resample_raters(read_study(demo), DeltaBLEU(), resamples=200)
        assert (found.raters, found.answers, len(found.items)) == (12, 2715, 68)
        assert found.note == ""
        # People were drawn for each reference anew: all tell nearly equally much.
        assert found.degrees == pytest.approx(11.0, abs=0.01)
        assert found.p_value("human", "random") < 0.001
        assert found.p_value("retrieval", "bland-neural") > 0.2

    def test_progress(self, study: Study) -> None:
        seen: list[tuple[int, int]] = []
        resample_raters(
            study,
            DeltaBLEU(),
            resamples=130,
            no_positive="skip",
            progress=lambda done, total: seen.append((done, total)),
        )
        assert seen[-1] == (130, 130)
        assert seen == sorted(seen)


class TestBadInput:
    def test_metric_without_weights(self, study: Study) -> None:
        with pytest.raises(InputError, match="bleu-4 does not use weights: resampling raters"):
            resample_raters(study, BLEU())

    def test_no_raw_ratings(self, study: Study) -> None:
        with pytest.raises(InputError, match="there are no raw ratings of references"):
            resample_raters(replace(study, ratings=RatingTable.from_records()), DeltaBLEU())

    def test_one_rater(self, study: Study) -> None:
        only = tuple(one for one in study.ratings if one.rater == "v")
        rated = {(one.item, one.target.partition(":")[2]) for one in only}
        items = tuple(
            replace(
                item,
                references=tuple(r for r in item.references if (item.id, r.id) in rated),
            )
            for item in study.items
        )
        kept = [i for i, item in enumerate(items) if item.references]
        smaller = Study(
            tuple(items[i] for i in kept),
            {"A": tuple(study.outputs["A"][i] for i in kept)},
            RatingTable.from_records(only),
        )
        with pytest.raises(InputError, match="at least two, and one rater gave all ratings"):
            resample_raters(smaller, DeltaBLEU(), no_positive="skip")

    def test_everything_rated_once(self) -> None:
        items = [item(str(i), None, None) for i in range(4)]
        ratings = [rating(f"p{i}", str(i), f"r{j}", 4) for i in range(4) for j in range(2)]
        study = Study(tuple(items), {"A": ("text 0",) * 4}, RatingTable.from_records(ratings))
        with pytest.raises(InputError, match="every reference was rated only once"):
            resample_raters(study, DeltaBLEU())

    def test_reference_without_weight_and_ratings(self) -> None:
        items = [item(str(i), None, None) for i in range(4)]
        ratings = [rating(r, str(i), "r0", 4) for i in range(4) for r in "ab"]
        study = Study(tuple(items), {"A": ("text 0",) * 4}, RatingTable.from_records(ratings))
        with pytest.raises(InputError, match="item '0': reference 1 has no weight yet"):
            resample_raters(study, DeltaBLEU())

    def test_no_positive_weight(self, study: Study) -> None:
        bad = RatingTable.from_records(
            replace(r, value=2.0) if r.item == "i3" else r for r in study.ratings
        )
        with pytest.raises(InputError, match="no reference with a positive weight"):
            resample_raters(replace(study, ratings=bad), DeltaBLEU())
        all_bad = RatingTable.from_records(replace(r, value=2.0) for r in study.ratings)
        with pytest.raises(InputError, match="fewer than two items have a positively weighted"):
            resample_raters(replace(study, ratings=all_bad), DeltaBLEU(), no_positive="skip")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"systems": ["A", "Z"]}, "there is no system 'Z'; there are A, B, C"),
            ({"resamples": 1}, "resamples must be at least 2, got 1"),
            ({"seed": -1}, "seed must not be negative, got -1"),
        ],
    )
    def test_arguments(self, study: Study, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError, match=message):
            resample_raters(study, DeltaBLEU(), no_positive="skip", **arguments)

    def test_outputs(self, study: Study) -> None:
        known = rated(study)
        with pytest.raises(InputError, match="no system outputs were given"):
            resample_rated(*known, {}, DeltaBLEU())
        with pytest.raises(InputError, match="system 'A' has 2 outputs for 40 items"):
            resample_rated(*known, {"A": ["x", "y"]}, DeltaBLEU())
        texts: list[Any] = ["x"] * 39 + [None]
        with pytest.raises(InputError, match=r"system 'A': hypotheses\[39\] is None, no string"):
            resample_rated(*known, {"A": texts}, DeltaBLEU())
        with pytest.raises(InputError, match="resampling items needs at least two, got 1"):
            resample_rated(known[0].take([0]), known[1], {"A": ["x"]}, DeltaBLEU())

    def test_questions(self, resampled: ResampledRaters) -> None:
        with pytest.raises(InputError, match="there is no system 'Z'"):
            resampled.interval("Z")
        with pytest.raises(InputError, match="confidence must lie between 0 and 1, got 95"):
            resampled.interval("A", confidence=95.0)


class TestTruth:
    """The simulation, small; the band is that of so few replications."""

    def test_coverage(self) -> None:
        rows = simulate(60, chosen=[Cell("graded", 12, 3)], processes=1)
        covered = [row for row in rows if row.what == "coverage" and row.method == METHODS[0]]
        assert {row.target for row in covered} == {"score of A", "difference"}
        assert all(row.rate >= 0.86 for row in covered), covered

    @pytest.mark.long
    def test_coverage_and_size(self) -> None:
        """Where the page says that it holds, and where it does not; about four minutes."""
        chosen = [
            Cell("graded", 12, 3),
            Cell("graded", 3, 3, exchangeable=True),
            Cell("alike", 5, 5),
        ]
        rows = simulate(400, chosen=chosen)
        for row in rows:
            if row.target == "difference" and row.method == METHODS[0]:
                assert abs(row.rate - row.nominal) <= 0.045, row
        errors = {
            (row.data, row.target, row.method): row.rate for row in rows if row.what == "error"
        }
        for data in ("graded, 3 of 12 raters", "alike, the same 5 raters"):
            assert (
                errors[data, "difference", "as observed"] < errors[data, "difference", "corrected"]
            )
        alike = [
            errors["alike, the same 5 raters", "score of A", one]
            for one in ("as observed", "corrected")
        ]
        assert alike[1] < alike[0]
