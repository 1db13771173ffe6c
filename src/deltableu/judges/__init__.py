"""Models that rate or score: logs in, trained raters out; references in, weights out."""

from deltableu.judges.bias import judge_bias
from deltableu.judges.bias_results import BiasFinding, JudgeBias, tidy_biases
from deltableu.judges.combination import Magnitude, Triplets, combined_weights
from deltableu.judges.epochs import TrainedRater, TrainingEpoch
from deltableu.judges.model_file import RaterModel, read_model, write_model
from deltableu.judges.neural import check_threads, need
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.rater import Rater, rate_batch, rater_signature
from deltableu.judges.rating import RatedStudy, RatingEvent, Which, rate_study
from deltableu.judges.registry import is_model_file, load_rater, rater_names
from deltableu.judges.settings import Preset, RaterSettings, TrainingSettings, preset
from deltableu.judges.training import train_rater
from deltableu.judges.upsilon import UpsilonBLEU, UpsilonChrF, rate_references

__all__ = [
    "BiasFinding",
    "JudgeBias",
    "Magnitude",
    "NNRater",
    "Preset",
    "RatedStudy",
    "Rater",
    "RaterModel",
    "RaterSettings",
    "RatingEvent",
    "TrainedRater",
    "TrainingEpoch",
    "TrainingSettings",
    "Triplets",
    "UpsilonBLEU",
    "UpsilonChrF",
    "Which",
    "check_threads",
    "combined_weights",
    "is_model_file",
    "judge_bias",
    "load_rater",
    "need",
    "preset",
    "rate_batch",
    "rate_references",
    "rate_study",
    "rater_names",
    "rater_signature",
    "read_model",
    "tidy_biases",
    "train_rater",
    "write_model",
]
