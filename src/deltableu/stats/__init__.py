"""The arithmetic of uncertainty: rows and p-values in; sums, intervals, ranks out."""

from deltableu.stats.correlation import (
    CorrelationTest,
    Method,
    centred,
    check_method,
    correlate,
    correlation_p_value,
    correlation_test,
    count_distinct,
    partial_correlation,
)
from deltableu.stats.correlation_intervals import StandardError, correlation_interval
from deltableu.stats.intervals import (
    ConfidenceInterval,
    bca_interval,
    jackknife_interval,
    percentile_interval,
)
from deltableu.stats.kendall import (
    KendallLike,
    column_counts,
    kendall_like,
    kendall_like_pairs,
    sign_sums,
    tau,
    tie_gains,
)
from deltableu.stats.multiple import Correction, adjust, benjamini_hochberg, holm
from deltableu.stats.permutation import (
    Alternative,
    enumerable,
    pairwise_p_values,
    permutation_p_value,
    rounding,
    sign_p_value,
)
from deltableu.stats.ranking import Ranking, best_first, greedy_ranks, rank
from deltableu.stats.resampling import (
    all_choices,
    bootstrap_counts,
    bootstrap_sums,
    choice_streams,
    chosen_sums,
    draw_counts,
    in_chunks,
    stream,
)
from deltableu.stats.weighted import weighted_correlate
from deltableu.stats.williams import WilliamsResult, williams_metrics, williams_test

__all__ = [
    "Alternative",
    "ConfidenceInterval",
    "Correction",
    "CorrelationTest",
    "KendallLike",
    "Method",
    "Ranking",
    "StandardError",
    "WilliamsResult",
    "adjust",
    "all_choices",
    "bca_interval",
    "benjamini_hochberg",
    "best_first",
    "bootstrap_counts",
    "bootstrap_sums",
    "centred",
    "check_method",
    "choice_streams",
    "chosen_sums",
    "column_counts",
    "correlate",
    "correlation_interval",
    "correlation_p_value",
    "correlation_test",
    "count_distinct",
    "draw_counts",
    "enumerable",
    "greedy_ranks",
    "holm",
    "in_chunks",
    "jackknife_interval",
    "kendall_like",
    "kendall_like_pairs",
    "pairwise_p_values",
    "partial_correlation",
    "percentile_interval",
    "permutation_p_value",
    "rank",
    "rounding",
    "sign_p_value",
    "sign_sums",
    "stream",
    "tau",
    "tie_gains",
    "weighted_correlate",
    "williams_metrics",
    "williams_test",
]
