"""Is system A better than system B: rows and score tables in; p-values, intervals, ranks out."""

from deltableu.compare.agreement import AgreementCurve
from deltableu.compare.gate import GatePlan, gate_systems, testable
from deltableu.compare.gate_results import Gate, GateCheck, GateMode, GateScore, Sequential
from deltableu.compare.history import (
    History,
    PastGate,
    PastScore,
    add_to_history,
    read_history,
    sequential_look,
)
from deltableu.compare.paired_tests import TESTS, Test, check_test
from deltableu.compare.past_comparisons import PastComparisons, names_metrics, read_past_comparisons
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.power import plan_comparison
from deltableu.compare.power_results import PowerCurve, PowerPlan, PowerPoint
from deltableu.compare.rated import compare_rated
from deltableu.compare.rating_plan import RatingPlanner, plan_rating
from deltableu.compare.rating_plan_results import RatingPlan
from deltableu.compare.results import (
    ComparedPair,
    ComparedSystem,
    Comparison,
    Probability,
    RunShares,
    VarianceShares,
    tidy_pairs,
    tidy_systems,
)
from deltableu.compare.sensitivity import sensitivity
from deltableu.compare.sensitivity_results import Flip, Flips, PairSensitivity, Sensitivity
from deltableu.compare.systems import compare_systems

__all__ = [
    "TESTS",
    "AgreementCurve",
    "ComparedPair",
    "ComparedSystem",
    "Comparison",
    "ComparisonPlan",
    "Flip",
    "Flips",
    "Gate",
    "GateCheck",
    "GateMode",
    "GatePlan",
    "GateScore",
    "History",
    "PairSensitivity",
    "PastComparisons",
    "PastGate",
    "PastScore",
    "PowerCurve",
    "PowerPlan",
    "PowerPoint",
    "Probability",
    "RatingPlan",
    "RatingPlanner",
    "RunShares",
    "Sensitivity",
    "Sequential",
    "Test",
    "VarianceShares",
    "add_to_history",
    "check_test",
    "compare_rated",
    "compare_systems",
    "gate_systems",
    "names_metrics",
    "plan_comparison",
    "plan_rating",
    "read_history",
    "read_past_comparisons",
    "sensitivity",
    "sequential_look",
    "testable",
    "tidy_pairs",
    "tidy_systems",
]
