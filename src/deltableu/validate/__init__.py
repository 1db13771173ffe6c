"""Does a metric agree with people: scores and ratings in; correlations, tests, winners out."""

from deltableu.validate.accuracy import (
    PairwiseAccuracy,
    SoftPairwiseAccuracy,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)
from deltableu.validate.accuracy_methods import ComparedAccuracy, measure_accuracy
from deltableu.validate.accuracy_results import Accuracy, MeasuredAccuracy
from deltableu.validate.advice import Advice, validation_advice
from deltableu.validate.agreement_bootstrap import (
    BootstrapAgreement,
    Resample,
    bootstrap_agreement,
)
from deltableu.validate.analyses import ANALYSES, Analyses, analyse_validation
from deltableu.validate.difference_bootstrap import BootstrapDifference, bootstrap_difference
from deltableu.validate.failure_cases import FailureCase, failure_cases
from deltableu.validate.judge_agreement import compare_judges
from deltableu.validate.judge_agreement_results import (
    Disagreement,
    JudgeAgreement,
    JudgeCorrelation,
    JudgedBin,
    JudgedSigns,
    RankedByBoth,
    SwappedAgreement,
    SwappedRanking,
)
from deltableu.validate.judged_units import JudgedTargets, JudgedUnits, shared_units
from deltableu.validate.kinds_of_systems import KindAgreement, KindsOfSystems, kinds_of_systems
from deltableu.validate.label_accuracy import LabelMeasure, good_labels, label_accuracy
from deltableu.validate.levels import (
    AccuracyMethod,
    Level,
    LevelAgreement,
    agreement,
    level_agreement,
)
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.metrics import validate_metrics
from deltableu.validate.permutation import PermutationResult, permutation_test
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.quality_bins import BinRule, QualityBin, QualityBins, quality_bins
from deltableu.validate.rater_summary import Ceiling, RaterSummary, Span
from deltableu.validate.results import Agreement, Validation
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
from deltableu.validate.sweep_plan import SweepName, SweepPlan, check_sweeps
from deltableu.validate.sweep_results import Sweep, Sweeps, UnitAgreement
from deltableu.validate.sweeps import sweep_metrics, swept_metrics
from deltableu.validate.tie_calibration import CalibratedAccuracy, calibrated_accuracy
from deltableu.validate.tie_pairs import Grouping, TiePairs
from deltableu.validate.unit_intervals import (
    UnitDraws,
    UnitInterval,
    UnitIntervalPlan,
    draw_units,
    replication_interval,
)
from deltableu.validate.unit_rows import PairedRows, SummedScores
from deltableu.validate.units import Orientation, UnitCorrelations, UnitPlan, unit_correlations
from deltableu.validate.winners import (
    MetricComparison,
    MetricCorrection,
    MetricTest,
    RankedMetric,
    rank_metrics,
)

__all__ = [
    "ANALYSES",
    "SUITE_PLAN",
    "Accuracy",
    "AccuracyMethod",
    "Advice",
    "Agreement",
    "Analyses",
    "BinRule",
    "BootstrapAgreement",
    "BootstrapDifference",
    "CalibratedAccuracy",
    "Ceiling",
    "ComparedAccuracy",
    "Disagreement",
    "FailureCase",
    "Grouping",
    "JudgeAgreement",
    "JudgeCorrelation",
    "JudgedBin",
    "JudgedSigns",
    "JudgedTargets",
    "JudgedUnits",
    "KindAgreement",
    "KindsOfSystems",
    "LabelMeasure",
    "Level",
    "LevelAgreement",
    "MeasuredAccuracy",
    "MetricComparison",
    "MetricCorrection",
    "MetricTest",
    "Orientation",
    "PairedRows",
    "PairwiseAccuracy",
    "PermutationResult",
    "QualityBin",
    "QualityBins",
    "RankedByBoth",
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
    "SummedScores",
    "SwappedAgreement",
    "SwappedRanking",
    "Sweep",
    "SweepName",
    "SweepPlan",
    "Sweeps",
    "TiePairs",
    "UnitAgreement",
    "UnitCorrelations",
    "UnitDraws",
    "UnitInterval",
    "UnitIntervalPlan",
    "UnitPlan",
    "Validation",
    "ValidationPlan",
    "agreement",
    "analyse_validation",
    "bootstrap_agreement",
    "bootstrap_difference",
    "calibrated_accuracy",
    "check_sweeps",
    "compare_judges",
    "compare_metrics",
    "draw_units",
    "failure_cases",
    "good_labels",
    "kinds_of_systems",
    "label_accuracy",
    "level_agreement",
    "measure_accuracy",
    "pairwise_accuracy",
    "permutation_test",
    "quality_bins",
    "rank_metrics",
    "replication_interval",
    "shared_units",
    "soft_pairwise_accuracy",
    "sweep_metrics",
    "swept_metrics",
    "unit_correlations",
    "validate_metrics",
    "validate_suite",
    "validation_advice",
]
