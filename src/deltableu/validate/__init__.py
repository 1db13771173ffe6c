"""Does a metric agree with people: scores and ratings in; correlations, tests, winners out."""

from deltableu.validate.accuracy import (
    PairwiseAccuracy,
    SoftPairwiseAccuracy,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)
from deltableu.validate.advice import Advice, validation_advice
from deltableu.validate.agreement_bootstrap import (
    BootstrapAgreement,
    Resample,
    bootstrap_agreement,
)
from deltableu.validate.analyses import Analyses, analyse_validation
from deltableu.validate.difference_bootstrap import BootstrapDifference, bootstrap_difference
from deltableu.validate.failure_cases import FailureCase, failure_cases
from deltableu.validate.kinds_of_systems import KindAgreement, KindsOfSystems, kinds_of_systems
from deltableu.validate.levels import Level, LevelAgreement, agreement, level_agreement
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.metrics import validate_metrics
from deltableu.validate.permutation import PermutationResult, permutation_test
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.quality_bins import BinRule, QualityBin, QualityBins, quality_bins
from deltableu.validate.rater_summary import Ceiling, RaterSummary, Span
from deltableu.validate.results import Accuracy, Agreement, Validation
from deltableu.validate.suite import SUITE_PLAN, validate_suite
from deltableu.validate.suite_results import (
    Standing,
    SuiteAgreement,
    SuiteFailure,
    SuiteGain,
    SuiteRanking,
    SuiteResample,
    SuiteStudy,
    SuiteValidation,
)
from deltableu.validate.tie_calibration import CalibratedAccuracy, calibrated_accuracy
from deltableu.validate.winners import (
    MetricComparison,
    MetricCorrection,
    MetricTest,
    RankedMetric,
    rank_metrics,
)

__all__ = [
    "SUITE_PLAN",
    "Accuracy",
    "Advice",
    "Agreement",
    "Analyses",
    "BinRule",
    "BootstrapAgreement",
    "BootstrapDifference",
    "CalibratedAccuracy",
    "Ceiling",
    "FailureCase",
    "KindAgreement",
    "KindsOfSystems",
    "Level",
    "LevelAgreement",
    "MetricComparison",
    "MetricCorrection",
    "MetricTest",
    "PairwiseAccuracy",
    "PermutationResult",
    "QualityBin",
    "QualityBins",
    "RankedMetric",
    "RaterSummary",
    "Resample",
    "SoftPairwiseAccuracy",
    "Span",
    "Standing",
    "SuiteAgreement",
    "SuiteFailure",
    "SuiteGain",
    "SuiteRanking",
    "SuiteResample",
    "SuiteStudy",
    "SuiteValidation",
    "Validation",
    "ValidationPlan",
    "agreement",
    "analyse_validation",
    "bootstrap_agreement",
    "bootstrap_difference",
    "calibrated_accuracy",
    "compare_metrics",
    "failure_cases",
    "kinds_of_systems",
    "level_agreement",
    "pairwise_accuracy",
    "permutation_test",
    "quality_bins",
    "rank_metrics",
    "soft_pairwise_accuracy",
    "validate_metrics",
    "validate_suite",
    "validation_advice",
]
