"""The arithmetic of uncertainty: rows and p-values in; sums, intervals, ranks out."""

from deltableu.stats.clusters import letters, rank_ranges, significance_clusters
from deltableu.stats.intervals import bca_interval, jackknife_interval, percentile_interval
from deltableu.stats.multiple import Correction, adjust, benjamini_hochberg, holm
from deltableu.stats.resampling import all_choices, bootstrap_sums, chosen_sums

__all__ = [
    "Correction",
    "adjust",
    "all_choices",
    "bca_interval",
    "benjamini_hochberg",
    "bootstrap_sums",
    "chosen_sums",
    "holm",
    "jackknife_interval",
    "letters",
    "percentile_interval",
    "rank_ranges",
    "significance_clusters",
]
