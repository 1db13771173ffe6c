"""Does a metric agree with people: scores and ratings in; correlations, tests, winners out."""

from deltableu.validate.human_scores import HumanScores
from deltableu.validate.judgements import Judgements
from deltableu.validate.metric_scores import MetricScores
from deltableu.validate.metrics import validate_metrics
from deltableu.validate.plan import ValidationPlan

__all__ = ["HumanScores", "Judgements", "MetricScores", "ValidationPlan", "validate_metrics"]
