"""Models that rate references: logs in, a model out; items in, weights out."""

from deltableu.raters.combination import combined_weights
from deltableu.raters.epochs import Epoch, TrainedRater
from deltableu.raters.model_file import RaterModel, read_model, write_model
from deltableu.raters.nn_rater import NNRater
from deltableu.raters.rater import Rater, rate_batch, rater_signature
from deltableu.raters.rating import RatedStudy, rate_study
from deltableu.raters.registry import load_rater, rater_names
from deltableu.raters.settings import RaterSettings, TrainingSettings, preset
from deltableu.raters.training import train_rater

__all__ = [
    "Epoch",
    "NNRater",
    "RatedStudy",
    "Rater",
    "RaterModel",
    "RaterSettings",
    "TrainedRater",
    "TrainingSettings",
    "combined_weights",
    "load_rater",
    "preset",
    "rate_batch",
    "rate_study",
    "rater_names",
    "rater_signature",
    "read_model",
    "train_rater",
    "write_model",
]
