"""N-best lists and a metric in; weights, choices and what a metric can be made to do out."""

from deltableu.tune.candidate_rows import candidate_statistics
from deltableu.tune.mbr import MBRPlan, minimum_bayes_risk, utility_metric, utility_name
from deltableu.tune.mbr_probabilities import candidate_probabilities
from deltableu.tune.mbr_results import MBRChoices
from deltableu.tune.reward import DeltaBLEUReward

__all__ = [
    "DeltaBLEUReward",
    "MBRChoices",
    "MBRPlan",
    "candidate_probabilities",
    "candidate_statistics",
    "minimum_bayes_risk",
    "utility_metric",
    "utility_name",
]
