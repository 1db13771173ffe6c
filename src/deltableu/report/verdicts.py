"""Results in; the sentence that people came for, out."""

from __future__ import annotations

from collections.abc import Sequence

from deltableu.compare import Comparison, Gate, PowerPlan, RatingPlan
from deltableu.errors import InputError
from deltableu.judges import JudgeBias, RaterModel
from deltableu.rate import PreferenceRanking, QualityEstimates, RaterAgreement, RaterChecks
from deltableu.report.agreement_verdict import agreement_verdict
from deltableu.report.bias_verdict import bias_verdict
from deltableu.report.compare_verdict import compare_verdict
from deltableu.report.judge_agreement_verdict import judge_agreement_verdict
from deltableu.report.judge_verdict import judge_verdict
from deltableu.report.plan_verdict import plan_verdict
from deltableu.report.preference_verdict import preference_verdict
from deltableu.report.quality_verdict import quality_verdict
from deltableu.report.rating_verdict import rating_verdict
from deltableu.report.suite_verdict import suite_verdict
from deltableu.report.sweep_verdict import sweep_verdict
from deltableu.report.tune_verdict import tune_verdict
from deltableu.report.validate_verdict import validate_verdict
from deltableu.tune import Tuning
from deltableu.validate import JudgeAgreement, SuiteValidation, Sweeps, Validation

Result = (
    Comparison
    | Sequence[Comparison]
    | Validation
    | Sweeps
    | SuiteValidation
    | PowerPlan
    | RatingPlan
    | Gate
    | RaterModel
    | PreferenceRanking
    | QualityEstimates
    | JudgeAgreement
    | Sequence[RaterAgreement]
    | RaterChecks
    | Sequence[JudgeBias]
    | Tuning
)


def verdict(result: Result) -> tuple[str, ...]:
    """What a result says, in plain sentences made from its numbers and never beyond them.

    Parameters
    ----------
    result
        What `compare_systems` gives (all of it, or one comparison), `validate_metrics`,
        `sweep_metrics`, `validate_suite`, `plan_comparison`, `plan_rating`, `gate_systems` or
        `rank_by_preference`, `check_raters` or
        `rater_agreements`, `judge_bias`, `tune_weights`, or a judge read from its file.

    Examples
    --------
    >>> from deltableu import compare_systems
    >>> scores = {"v1": [3, 4, 6, 5, 7, 6, 4, 5], "v2": [4, 6, 7, 7, 8, 8, 5, 7]}
    >>> print(*verdict(compare_systems(scores)))
    v2 is better than v1 by 1.50 score (95% interval 1.09 to 1.91).
    """
    if isinstance(result, Validation):
        return validate_verdict(result)
    if isinstance(result, Sweeps):
        return sweep_verdict(result)
    if isinstance(result, SuiteValidation):
        return suite_verdict(result)
    if isinstance(result, PowerPlan):
        return plan_verdict(result)
    if isinstance(result, RatingPlan):
        return rating_verdict(result)
    if isinstance(result, Gate):
        return (f"The gate is {'' if result.passed else 'not '}passed.", *result.sentences())
    if isinstance(result, RaterChecks):
        return result.sentences()
    if isinstance(result, RaterModel):
        return judge_verdict(result)
    if isinstance(result, Tuning):
        return tune_verdict(result)
    if isinstance(result, JudgeAgreement):
        return judge_agreement_verdict(result)
    if isinstance(result, QualityEstimates):
        return quality_verdict(result)
    if isinstance(result, PreferenceRanking):
        return preference_verdict(result)
    several = (result,) if isinstance(result, Comparison) else tuple(result)
    biases = [one for one in several if isinstance(one, JudgeBias)]
    if biases and len(biases) == len(several):
        return bias_verdict(biases)
    raters = [one for one in several if isinstance(one, RaterAgreement)]
    if raters and len(raters) == len(several):
        return agreement_verdict(raters)
    found = tuple(one for one in several if isinstance(one, Comparison))
    if not found or len(found) < len(several):
        raise InputError(
            "a verdict is made of what compare_systems, validate_metrics, plan_comparison or "
            "gate_systems gives"
        )
    return compare_verdict(found)
