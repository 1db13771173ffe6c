"""What people said in; quality control, standard scores, agreement and weights out."""

from deltableu.rate.agreement import Values, rater_agreements
from deltableu.rate.agreement_results import RaterAgreement
from deltableu.rate.agreement_tables import (
    summary_table,
    tidy_enough,
    tidy_measures,
    tidy_raters,
)
from deltableu.rate.alpha_interval import alpha_interval
from deltableu.rate.alternative_annotator import (
    ALLOWANCES,
    Alignment,
    AlternativeAnnotatorTest,
    Annotators,
    RivalRater,
    alternative_annotator_test,
    check_allowance,
)
from deltableu.rate.bad_references import ControlRule, RaterVerdict, bad_reference_control
from deltableu.rate.chance_agreement import (
    ChanceAgreement,
    KappaWeights,
    Measurement,
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from deltableu.rate.consistency import (
    Consistency,
    consistency_curve,
    expected_consistency,
    rater_consistency,
    variance_ratio,
)
from deltableu.rate.control_blocks import (
    BlockPlan,
    ControlledItem,
    ControlledSet,
    RatedText,
    control_blocks,
)
from deltableu.rate.degraded import PhrasePool
from deltableu.rate.direct_assessment import DirectAssessment, direct_assessment
from deltableu.rate.drop_failed import KeptRatings, drop_failed_raters, without_failed_raters
from deltableu.rate.fewer_ratings import (
    QualityDifference,
    QualityEstimate,
    estimate_difference,
    estimate_quality,
    expected_saving,
)
from deltableu.rate.human_ceiling import (
    HumanCeiling,
    SplitHalf,
    Spread,
    human_ceiling,
    split_half_reliability,
)
from deltableu.rate.human_scores import HumanScale, human_scores, mean_ratings
from deltableu.rate.intraclass import (
    Form,
    IntraclassCorrelation,
    IntraclassCorrelations,
    intraclass_correlations,
)
from deltableu.rate.largest_weights import expected_largest
from deltableu.rate.mixed_effects import MixedModel, VarianceComponents, fit_mixed_model
from deltableu.rate.pair_scores import PairScores, pair_scores, table_source
from deltableu.rate.pairwise_kappas import PairwiseKappas, pairwise_kappas
from deltableu.rate.preference_ranking import rank_by_preference
from deltableu.rate.preference_results import (
    PositionEffect,
    PreferenceRanking,
    PreferredPair,
    PreferredSystem,
    Resampled,
)
from deltableu.rate.preferences import Preferences, in_pairs, preferences
from deltableu.rate.quality_estimates import (
    Allocation,
    QualityEstimates,
    QualityPair,
    SystemQuality,
    estimate_systems,
)
from deltableu.rate.quality_fits import EstimateMethod
from deltableu.rate.rated_units import RatedUnits, Targets, rated_units
from deltableu.rate.rater_agreement import (
    AnnotatorCorrelations,
    RaterCorrelations,
    annotator_correlations,
    inter_rater_correlations,
)
from deltableu.rate.rater_check_results import (
    ControlEvidence,
    RaterCheck,
    RaterCheckPlan,
    RaterChecks,
)
from deltableu.rate.rater_checks import check_raters
from deltableu.rate.rater_rows import Ratings, of_one_criterion, rater_rows
from deltableu.rate.rater_use import RaterUse, rater_use
from deltableu.rate.rating_noise import RatingNoise, Source, rating_noise
from deltableu.rate.rating_order import RatingStep, write_order
from deltableu.rate.reliability import Reliability, mean_reliability
from deltableu.rate.simulated_raters import SimulatedRaters, SimulatedScale, SimulatedTargets
from deltableu.rate.simulated_study import (
    ORIGIN_QUALITIES,
    SimulatedGroup,
    SimulatedStudy,
    simulate_ratings,
    simulate_study,
)
from deltableu.rate.standardise import DroppedRater, RaterScales, rater_scales, standardise
from deltableu.rate.weights import rated_weights

__all__ = [
    "ALLOWANCES",
    "ORIGIN_QUALITIES",
    "Alignment",
    "Allocation",
    "AlternativeAnnotatorTest",
    "AnnotatorCorrelations",
    "Annotators",
    "BlockPlan",
    "ChanceAgreement",
    "Consistency",
    "ControlEvidence",
    "ControlRule",
    "ControlledItem",
    "ControlledSet",
    "DirectAssessment",
    "DroppedRater",
    "EstimateMethod",
    "Form",
    "HumanCeiling",
    "HumanScale",
    "IntraclassCorrelation",
    "IntraclassCorrelations",
    "KappaWeights",
    "KeptRatings",
    "Measurement",
    "MixedModel",
    "PairScores",
    "PairwiseKappas",
    "PhrasePool",
    "PositionEffect",
    "PreferenceRanking",
    "Preferences",
    "PreferredPair",
    "PreferredSystem",
    "QualityDifference",
    "QualityEstimate",
    "QualityEstimates",
    "QualityPair",
    "RatedText",
    "RatedUnits",
    "RaterAgreement",
    "RaterCheck",
    "RaterCheckPlan",
    "RaterChecks",
    "RaterCorrelations",
    "RaterScales",
    "RaterUse",
    "RaterVerdict",
    "RatingNoise",
    "RatingStep",
    "Ratings",
    "Reliability",
    "Resampled",
    "RivalRater",
    "SimulatedGroup",
    "SimulatedRaters",
    "SimulatedScale",
    "SimulatedStudy",
    "SimulatedTargets",
    "Source",
    "SplitHalf",
    "Spread",
    "SystemQuality",
    "Targets",
    "Values",
    "VarianceComponents",
    "alpha_interval",
    "alternative_annotator_test",
    "annotator_correlations",
    "bad_reference_control",
    "category_counts",
    "check_allowance",
    "check_raters",
    "cohen_kappa",
    "consistency_curve",
    "control_blocks",
    "direct_assessment",
    "drop_failed_raters",
    "estimate_difference",
    "estimate_quality",
    "estimate_systems",
    "expected_consistency",
    "expected_largest",
    "expected_saving",
    "fit_mixed_model",
    "fleiss_kappa",
    "human_ceiling",
    "human_scores",
    "in_pairs",
    "inter_rater_correlations",
    "intraclass_correlations",
    "krippendorff_alpha",
    "mean_ratings",
    "mean_reliability",
    "of_one_criterion",
    "pair_scores",
    "pairwise_kappas",
    "preferences",
    "rank_by_preference",
    "rated_units",
    "rated_weights",
    "rater_agreements",
    "rater_consistency",
    "rater_rows",
    "rater_scales",
    "rater_use",
    "rating_noise",
    "simulate_ratings",
    "simulate_study",
    "split_half_reliability",
    "standardise",
    "summary_table",
    "table_source",
    "tidy_enough",
    "tidy_measures",
    "tidy_raters",
    "variance_ratio",
    "without_failed_raters",
    "write_order",
]
