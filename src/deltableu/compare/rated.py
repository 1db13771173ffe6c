"""A study with raw ratings in; comparisons that take the noise of ratings into account out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from deltableu._types import Progress, steps_of
from deltableu.compare.paired_tests import Verdict
from deltableu.compare.pairs import Estimate, Evidence, Pairs, clamp_warning, compare_pairs
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.rater_results import ResampledRaters
from deltableu.compare.raters import resample_raters
from deltableu.compare.results import Comparison, Corrected
from deltableu.corpus import Study, rater_words, reference_set
from deltableu.errors import InputError
from deltableu.score import Metric

#: What the p-values of these comparisons are called.
_TEST = "items and raters"
#: Fewer than these say little about other people.
_ENOUGH_RATERS = 5
_FEW_RATERS = (
    "{} raters say little about what others would: intervals of scores with other raters are "
    "too short, those of differences are not"
)


def compare_rated(
    study: Study,
    metrics: Sequence[Metric],
    *,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    selection: str = "all",
    criterion: str | None = None,
    groups: Sequence[str] | None = None,
    no_positive: Literal["error", "skip"] = "error",
    plan: ComparisonPlan | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Comparison, ...]:
    """Compare systems where both the items and the raters of references are a sample.

    Intervals, p-values and letters speak about the score under the true mean weights on other items
    like these. Scores, and what is ranked and tested, are those under the study's weights;
    `corrected` ones are free of the bias that noise in the weights causes.

    Parameters
    ----------
    study : Study
        With raw ratings of its references.
    metrics : list of metrics
        That use weights.
    systems, baseline, plan, threads, progress
        As in `compare_systems`; of the plan only correction, levels, resamples and seed count.
    selection, criterion, groups, no_positive
        As in `resample_raters`.
    """
    chosen = plan or ComparisonPlan()
    names = list(study.outputs) if systems is None else list(systems)
    if len(names) < 2:
        raise InputError(f"a comparison needs at least two systems, got {len(names)}")
    info = reference_set(study).select(selection)
    made = []
    for metric in metrics:
        found = resample_raters(
            study,
            metric,
            systems=names,
            selection=selection,
            criterion=criterion,
            groups=groups,
            no_positive=no_positive,
            resamples=chosen.resamples,
            confidence=chosen.confidence,
            seed=chosen.seed,
            threads=threads,
            progress=steps_of(progress, f"{metric.name}, items and raters"),
        )
        raters = f"{found.raters}"
        if found.simulated:
            raters = rater_words(found.raters, simulated=True)
        signature = "|".join(
            (
                f"metric:{metric.name}",
                *(f"{key}:{value}" for key, value in metric.settings()),
                f"items:{len(found.items)}",
                *((f"groups:{found.groups}",) if found.groups else ()),
                f"select:{info.selection}",
                f"raters:{raters}",
                f"resample:items+raters-{chosen.resamples}",
                f"correction:{chosen.correction}",
                f"significance:{chosen.significance:g}",
                f"ci:{chosen.confidence:g}",
                f"seed:{chosen.seed}",
            )
        )
        made.append(compare_pairs(_evidence(found, chosen, signature), chosen, baseline))
    return tuple(made)


def _evidence(found: ResampledRaters, plan: ComparisonPlan, signature: str) -> Evidence:
    systems = found.systems

    def estimate(first: int, second: int | None) -> Estimate:
        if second is not None:
            names = systems[first], systems[second]
            return Estimate(
                found.interval(*names, confidence=plan.confidence), found.variance(*names)
            )
        name = systems[first]
        corrected = Corrected(
            found.estimate(name), found.interval(name, confidence=plan.confidence)
        )
        return Estimate(found.intervals[first], found.variance(name), corrected)

    def verdicts(test: str, pairs: Pairs) -> list[Verdict]:
        return [
            Verdict(
                found.p_value(systems[first], systems[second]),
                float(np.sign(found.estimate(systems[first], systems[second]))),
            )
            for first, second in pairs
        ]

    return Evidence(
        metric=found.metric,
        systems=systems,
        items=len(found.items),
        groups=found.groups,
        higher_is_better=found.higher_is_better,
        tests=(_TEST,),
        scores=found.observed.scores,
        estimate=estimate,
        verdicts=verdicts,
        exact=lambda pairs: False,
        signature=lambda pairs: signature,
        warnings=lambda pairs: (
            *clamp_warning([name for name, on in zip(systems, found.clamped, strict=True) if on]),
            *((_FEW_RATERS.format(found.raters),) if found.raters < _ENOUGH_RATERS else ()),
        ),
    )
