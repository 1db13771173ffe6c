"""The arithmetic of uncertainty: rows and p-values in; sums, intervals, ranks out."""

from deltableu.stats.clusters import letters, rank_ranges, significance_clusters
from deltableu.stats.correlation import (
    Alternative,
    CorrelationTest,
    Method,
    check_method,
    correlate,
    correlation_p_value,
    correlation_test,
    partial_correlation,
)
from deltableu.stats.correlation_intervals import StandardError, correlation_interval
from deltableu.stats.intervals import (
    ConfidenceInterval,
    bca_interval,
    jackknife_interval,
    percentile_interval,
)
from deltableu.stats.isotonic import isotonic_regression
from deltableu.stats.kendall import (
    KendallLike,
    column_counts,
    kendall_like,
    kendall_like_pairs,
    sign_sums,
    tau,
)
from deltableu.stats.means import row_means
from deltableu.stats.multiple import Correction, adjust, benjamini_hochberg, holm
from deltableu.stats.resampling import (
    all_choices,
    bootstrap_sums,
    choice_streams,
    chosen_sums,
    stream,
)
from deltableu.stats.weighted import weighted_correlate

__all__ = [
    "Alternative",
    "ConfidenceInterval",
    "Correction",
    "CorrelationTest",
    "KendallLike",
    "Method",
    "StandardError",
    "adjust",
    "all_choices",
    "bca_interval",
    "benjamini_hochberg",
    "bootstrap_sums",
    "check_method",
    "choice_streams",
    "chosen_sums",
    "column_counts",
    "correlate",
    "correlation_interval",
    "correlation_p_value",
    "correlation_test",
    "holm",
    "isotonic_regression",
    "jackknife_interval",
    "kendall_like",
    "kendall_like_pairs",
    "letters",
    "partial_correlation",
    "percentile_interval",
    "rank_ranges",
    "row_means",
    "sign_sums",
    "significance_clusters",
    "stream",
    "tau",
    "weighted_correlate",
]
