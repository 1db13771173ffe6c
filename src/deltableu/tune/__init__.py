"""N-best lists and a metric in; weights, choices and what a metric can be made to do out."""

from deltableu.tune.candidate_rows import candidate_statistics
from deltableu.tune.line_search import LineScores, score_line
from deltableu.tune.mert import MertSettings, Regularization
from deltableu.tune.perceptron import PerceptronRule, PerceptronSettings
from deltableu.tune.problem import TuningProblem
from deltableu.tune.results import TunedScore, Tuning, TuningMethod
from deltableu.tune.tuning import compare_weights, tune_weights

__all__ = [
    "LineScores",
    "MertSettings",
    "PerceptronRule",
    "PerceptronSettings",
    "Regularization",
    "TunedScore",
    "Tuning",
    "TuningMethod",
    "TuningProblem",
    "candidate_statistics",
    "compare_weights",
    "score_line",
    "tune_weights",
]
