"""Is system A better than system B: rows and score tables in; p-values, intervals, ranks out."""

from deltableu.compare.paired_tests import TESTS, Test
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import (
    ComparedPair,
    ComparedSystem,
    Comparison,
    Probability,
    VarianceShares,
)
from deltableu.compare.systems import compare_systems

__all__ = [
    "TESTS",
    "ComparedPair",
    "ComparedSystem",
    "Comparison",
    "ComparisonPlan",
    "Probability",
    "Test",
    "VarianceShares",
    "compare_systems",
]
