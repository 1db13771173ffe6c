"""Does a metric agree with people: scores and ratings in; correlations, tests, winners out."""

from deltableu.validate.accuracy import (
    PairwiseAccuracy,
    SoftPairwiseAccuracy,
    pairwise_accuracy,
    pairwise_p_values,
    soft_pairwise_accuracy,
)
from deltableu.validate.agreement_bootstrap import (
    BootstrapAgreement,
    Population,
    Resample,
    bootstrap_agreement,
)
from deltableu.validate.bad_references import ControlRule, RaterVerdict, bad_reference_control
from deltableu.validate.chance_agreement import (
    ChanceAgreement,
    KappaWeights,
    Measurement,
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from deltableu.validate.consistency import (
    Consistency,
    expected_consistency,
    rater_consistency,
    variance_ratio,
)
from deltableu.validate.correlation import (
    Alternative,
    CorrelationTest,
    KendallLike,
    Method,
    correlate,
    correlation_p_value,
    correlation_test,
    kendall_like,
    kendall_like_pairs,
    partial_correlation,
)
from deltableu.validate.correlation_intervals import StandardError, correlation_interval
from deltableu.validate.difference_bootstrap import BootstrapDifference, bootstrap_difference
from deltableu.validate.direct_assessment import DirectAssessment, direct_assessment
from deltableu.validate.fewer_ratings import (
    EstimateMethod,
    QualityDifference,
    QualityEstimate,
    estimate_difference,
    estimate_quality,
    expected_saving,
)
from deltableu.validate.human_ceiling import (
    HumanCeiling,
    SplitHalf,
    Spread,
    human_ceiling,
    split_half_reliability,
)
from deltableu.validate.human_scores import HumanScale, HumanScores
from deltableu.validate.intraclass import (
    Form,
    IntraclassCorrelation,
    IntraclassCorrelations,
    intraclass_correlations,
)
from deltableu.validate.judgements import Judgements
from deltableu.validate.levels import Level, LevelAgreement, agreement, level_agreement, usual_size
from deltableu.validate.metric_scores import MetricScores
from deltableu.validate.metrics import validate_metrics
from deltableu.validate.mixed_effects import MixedModel, VarianceComponents, fit_mixed_model
from deltableu.validate.permutation import PermutationResult, Swap, permutation_test
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.rater_agreement import (
    AnnotatorCorrelations,
    RaterCorrelations,
    annotator_correlations,
    inter_rater_correlations,
)
from deltableu.validate.rater_summary import Ceiling, RaterSummary, Span, rater_summary
from deltableu.validate.results import Accuracy, Agreement, Validation
from deltableu.validate.standardise import DroppedRater, RaterScales, rater_scales, standardise
from deltableu.validate.tie_calibration import CalibratedAccuracy, calibrated_accuracy
from deltableu.validate.williams import WilliamsResult, williams_metrics, williams_test
from deltableu.validate.winners import (
    MetricComparison,
    MetricTest,
    RankedMetric,
    compare_metrics,
    rank_metrics,
)

__all__ = [
    "Accuracy",
    "Agreement",
    "Alternative",
    "AnnotatorCorrelations",
    "BootstrapAgreement",
    "BootstrapDifference",
    "CalibratedAccuracy",
    "Ceiling",
    "ChanceAgreement",
    "Consistency",
    "ControlRule",
    "CorrelationTest",
    "DirectAssessment",
    "DroppedRater",
    "EstimateMethod",
    "Form",
    "HumanCeiling",
    "HumanScale",
    "HumanScores",
    "IntraclassCorrelation",
    "IntraclassCorrelations",
    "Judgements",
    "KappaWeights",
    "KendallLike",
    "Level",
    "LevelAgreement",
    "Measurement",
    "Method",
    "MetricComparison",
    "MetricScores",
    "MetricTest",
    "MixedModel",
    "PairwiseAccuracy",
    "PermutationResult",
    "Population",
    "QualityDifference",
    "QualityEstimate",
    "RankedMetric",
    "RaterCorrelations",
    "RaterScales",
    "RaterSummary",
    "RaterVerdict",
    "Resample",
    "SoftPairwiseAccuracy",
    "Span",
    "SplitHalf",
    "Spread",
    "StandardError",
    "Swap",
    "Validation",
    "ValidationPlan",
    "VarianceComponents",
    "WilliamsResult",
    "agreement",
    "annotator_correlations",
    "bad_reference_control",
    "bootstrap_agreement",
    "bootstrap_difference",
    "calibrated_accuracy",
    "category_counts",
    "cohen_kappa",
    "compare_metrics",
    "correlate",
    "correlation_interval",
    "correlation_p_value",
    "correlation_test",
    "direct_assessment",
    "estimate_difference",
    "estimate_quality",
    "expected_consistency",
    "expected_saving",
    "fit_mixed_model",
    "fleiss_kappa",
    "human_ceiling",
    "inter_rater_correlations",
    "intraclass_correlations",
    "kendall_like",
    "kendall_like_pairs",
    "krippendorff_alpha",
    "level_agreement",
    "pairwise_accuracy",
    "pairwise_p_values",
    "partial_correlation",
    "permutation_test",
    "rank_metrics",
    "rater_consistency",
    "rater_scales",
    "rater_summary",
    "soft_pairwise_accuracy",
    "split_half_reliability",
    "standardise",
    "usual_size",
    "validate_metrics",
    "variance_ratio",
    "williams_metrics",
    "williams_test",
]
