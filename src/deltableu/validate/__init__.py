"""Does a metric agree with people: scores and ratings in; correlations, tests, winners out."""

from deltableu.validate.accuracy import (
    PairwiseAccuracy,
    SoftPairwiseAccuracy,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)
from deltableu.validate.agreement_bootstrap import (
    BootstrapAgreement,
    Resample,
    bootstrap_agreement,
)
from deltableu.validate.difference_bootstrap import BootstrapDifference, bootstrap_difference
from deltableu.validate.levels import Level, LevelAgreement, agreement, level_agreement
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.metrics import validate_metrics
from deltableu.validate.permutation import PermutationResult, permutation_test
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.rater_summary import Ceiling, RaterSummary, Span
from deltableu.validate.results import Accuracy, Agreement, Validation
from deltableu.validate.tie_calibration import CalibratedAccuracy, calibrated_accuracy
from deltableu.validate.winners import (
    MetricComparison,
    MetricCorrection,
    MetricTest,
    RankedMetric,
    rank_metrics,
)

__all__ = [
    "Accuracy",
    "Agreement",
    "BootstrapAgreement",
    "BootstrapDifference",
    "CalibratedAccuracy",
    "Ceiling",
    "Level",
    "LevelAgreement",
    "MetricComparison",
    "MetricCorrection",
    "MetricTest",
    "PairwiseAccuracy",
    "PermutationResult",
    "RankedMetric",
    "RaterSummary",
    "Resample",
    "SoftPairwiseAccuracy",
    "Span",
    "Validation",
    "ValidationPlan",
    "agreement",
    "bootstrap_agreement",
    "bootstrap_difference",
    "calibrated_accuracy",
    "compare_metrics",
    "level_agreement",
    "pairwise_accuracy",
    "permutation_test",
    "rank_metrics",
    "soft_pairwise_accuracy",
    "validate_metrics",
]
