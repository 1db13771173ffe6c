"""N-best lists and a metric in; weights, choices and what a metric can be made to do out."""

from deltableu.tune.audit import audit_metrics
from deltableu.tune.audit_attacks import ATTACKS, Attack, Attempt, Round, Target
from deltableu.tune.audit_results import (
    AttackScore,
    GamingAudit,
    LeftOutReference,
    MetricAudit,
)
from deltableu.tune.candidate_rows import candidate_statistics
from deltableu.tune.line_search import LineScores, score_line
from deltableu.tune.mbr import MBRPlan, minimum_bayes_risk, utility_metric, utility_name
from deltableu.tune.mbr_probabilities import candidate_probabilities
from deltableu.tune.mbr_results import MBRChoices
from deltableu.tune.mert import MertSettings, Regularization
from deltableu.tune.perceptron import PerceptronRule, PerceptronSettings
from deltableu.tune.problem import TuningProblem
from deltableu.tune.results import TunedScore, Tuning, TuningMethod
from deltableu.tune.reward import DeltaBLEUReward
from deltableu.tune.tuning import compare_weights, tune_weights

__all__ = [
    "ATTACKS",
    "Attack",
    "AttackScore",
    "Attempt",
    "DeltaBLEUReward",
    "GamingAudit",
    "LeftOutReference",
    "LineScores",
    "MBRChoices",
    "MBRPlan",
    "MertSettings",
    "MetricAudit",
    "PerceptronRule",
    "PerceptronSettings",
    "Regularization",
    "Round",
    "Target",
    "TunedScore",
    "Tuning",
    "TuningMethod",
    "TuningProblem",
    "audit_metrics",
    "candidate_probabilities",
    "candidate_statistics",
    "compare_weights",
    "minimum_bayes_risk",
    "score_line",
    "tune_weights",
    "utility_metric",
    "utility_name",
]
