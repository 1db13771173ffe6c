"""N-best lists and a metric in; weights, choices and what a metric can be made to do out."""

from deltableu.tune.audit import audit_metrics
from deltableu.tune.audit_attacks import ATTACKS, Attack, Attempt, Target
from deltableu.tune.audit_results import (
    AttackScore,
    GamingAudit,
    LeftOutReference,
    MetricAudit,
)
from deltableu.tune.candidate_rows import candidate_statistics
from deltableu.tune.mbr import MBRPlan, minimum_bayes_risk, utility_metric, utility_name
from deltableu.tune.mbr_probabilities import candidate_probabilities
from deltableu.tune.mbr_results import MBRChoices
from deltableu.tune.reward import DeltaBLEUReward

__all__ = [
    "ATTACKS",
    "Attack",
    "AttackScore",
    "Attempt",
    "DeltaBLEUReward",
    "GamingAudit",
    "LeftOutReference",
    "MBRChoices",
    "MBRPlan",
    "MetricAudit",
    "Target",
    "audit_metrics",
    "candidate_probabilities",
    "candidate_statistics",
    "minimum_bayes_risk",
    "utility_metric",
    "utility_name",
]
