"""Models that rate or score: logs in, trained raters out; references in, weights out."""

from deltableu.judges.bias import judge_bias
from deltableu.judges.bias_results import BiasFinding, JudgeBias, tidy_biases
from deltableu.judges.blending import Blend, Range, blended
from deltableu.judges.combination import Magnitude, Triplets, combined_weights
from deltableu.judges.explain_scr import ScrExplanation, explain_scr
from deltableu.judges.model_file import RaterModel, read_model, write_model
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.pooled_vectors import Pooling, cosines, pooled
from deltableu.judges.rated_items import RatedItems
from deltableu.judges.rater import Rater, rate_batch, rater_signature
from deltableu.judges.rating import RatedStudy, RatingEvent, Which, rate_study
from deltableu.judges.registry import is_model_file, load_rater, rater_names
from deltableu.judges.relevance import Relevance
from deltableu.judges.relevance_model import (
    RelevanceModel,
    holds_relevance,
    read_relevance,
    write_relevance,
)
from deltableu.judges.relevance_training import train_relevance
from deltableu.judges.ruber import RUBER, Calibration, RuberUpsilonBLEU
from deltableu.judges.ruber_scorers import RuberReferenced, RuberUnreferenced
from deltableu.judges.ruber_settings import Loss, RuberSettings, RuberTraining, ruber_preset
from deltableu.judges.scr import SCR
from deltableu.judges.scr_calibration import (
    ScrCalibration,
    holds_calibration,
    read_calibration,
    write_calibration,
)
from deltableu.judges.settings import (
    Kind,
    NetworkSettings,
    Preset,
    RaterSettings,
    TrainingSettings,
    preset,
)
from deltableu.judges.training import train_rater, train_ruber
from deltableu.judges.unreferenced import UnreferencedScorer
from deltableu.judges.upsilon import UpsilonBLEU, UpsilonChrF, rate_references
from deltableu.neural import (
    Pace,
    TrainingEpoch,
    TrainingPlan,
    check_threads,
    fit_plan,
    need,
)
from deltableu.neural import (
    TrainedModel as TrainedRater,
)

__all__ = [
    "RUBER",
    "SCR",
    "BiasFinding",
    "Blend",
    "Calibration",
    "JudgeBias",
    "Kind",
    "Loss",
    "Magnitude",
    "NNRater",
    "NetworkSettings",
    "Pace",
    "Pooling",
    "Preset",
    "Range",
    "RatedItems",
    "RatedStudy",
    "Rater",
    "RaterModel",
    "RaterSettings",
    "RatingEvent",
    "Relevance",
    "RelevanceModel",
    "RuberReferenced",
    "RuberSettings",
    "RuberTraining",
    "RuberUnreferenced",
    "RuberUpsilonBLEU",
    "ScrCalibration",
    "ScrExplanation",
    "TrainedRater",
    "TrainingEpoch",
    "TrainingPlan",
    "TrainingSettings",
    "Triplets",
    "UnreferencedScorer",
    "UpsilonBLEU",
    "UpsilonChrF",
    "Which",
    "blended",
    "check_threads",
    "combined_weights",
    "cosines",
    "explain_scr",
    "fit_plan",
    "holds_calibration",
    "holds_relevance",
    "is_model_file",
    "judge_bias",
    "load_rater",
    "need",
    "pooled",
    "preset",
    "rate_batch",
    "rate_references",
    "rate_study",
    "rater_names",
    "rater_signature",
    "read_calibration",
    "read_model",
    "read_relevance",
    "ruber_preset",
    "tidy_biases",
    "train_rater",
    "train_relevance",
    "train_ruber",
    "write_calibration",
    "write_model",
    "write_relevance",
]
