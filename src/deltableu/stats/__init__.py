"""The arithmetic of uncertainty: rows and p-values in; sums, intervals, ranks out."""

from typing import TYPE_CHECKING

from deltableu._lazy import at_first_use

if TYPE_CHECKING:
    from deltableu.stats.bradley_terry import BradleyTerry, fit_bradley_terry
    from deltableu.stats.correlation import (
        CorrelationTest,
        Method,
        average_ranks,
        best_fit,
        centred,
        check_method,
        correlate,
        correlation_p_value,
        correlation_test,
        count_distinct,
        partial_correlation,
    )
    from deltableu.stats.correlation_intervals import StandardError, correlation_interval
    from deltableu.stats.crossed import crossed_variance
    from deltableu.stats.groups import group_numbers, sum_groups
    from deltableu.stats.intervals import (
        INTERVAL_COLUMNS,
        ConfidenceInterval,
        bca_interval,
        interval_cells,
        jackknife_interval,
        jackknife_p_value,
        percentile_interval,
    )
    from deltableu.stats.kendall import (
        KendallLike,
        column_counts,
        kendall_like,
        kendall_like_pairs,
        moving_pairs,
        sign_sums,
        tau,
        tie_gains,
    )
    from deltableu.stats.multiple import (
        Correction,
        adjust,
        benjamini_hochberg,
        benjamini_yekutieli,
        holm,
    )
    from deltableu.stats.one_sided import Reach, one_sided_reach
    from deltableu.stats.permutation import (
        Alternative,
        enumerable,
        pairwise_p_values,
        permutation_p_value,
        rounding,
        sign_p_value,
    )
    from deltableu.stats.preference_likelihood import Preferred
    from deltableu.stats.ranking import Ranking, best_first, greedy_ranks, rank
    from deltableu.stats.resampling import (
        all_choices,
        assigned_sums,
        bootstrap_counts,
        bootstrap_sums,
        choice_streams,
        chosen_subsets,
        chosen_sums,
        draw_counts,
        in_chunks,
        in_threads,
        random_orders,
        stream,
        sum_subsets,
    )
    from deltableu.stats.sequential import betting_bounds, log_capital, spent_share
    from deltableu.stats.studentized import (
        TIED,
        Aggregate,
        Exchange,
        Gradient,
        critical_value,
        mean_score,
        mean_score_gradient,
        numerical_gradient,
    )
    from deltableu.stats.weighted import WeightedPair, weighted_correlate
    from deltableu.stats.williams import WilliamsResult, williams_metrics, williams_test

__all__ = [
    "INTERVAL_COLUMNS",
    "TIED",
    "Aggregate",
    "Alternative",
    "BradleyTerry",
    "ConfidenceInterval",
    "Correction",
    "CorrelationTest",
    "Exchange",
    "Gradient",
    "KendallLike",
    "Method",
    "Preferred",
    "Ranking",
    "Reach",
    "StandardError",
    "WeightedPair",
    "WilliamsResult",
    "adjust",
    "all_choices",
    "assigned_sums",
    "average_ranks",
    "bca_interval",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "best_first",
    "best_fit",
    "betting_bounds",
    "bootstrap_counts",
    "bootstrap_sums",
    "centred",
    "check_method",
    "choice_streams",
    "chosen_subsets",
    "chosen_sums",
    "column_counts",
    "correlate",
    "correlation_interval",
    "correlation_p_value",
    "correlation_test",
    "count_distinct",
    "critical_value",
    "crossed_variance",
    "draw_counts",
    "enumerable",
    "fit_bradley_terry",
    "greedy_ranks",
    "group_numbers",
    "holm",
    "in_chunks",
    "in_threads",
    "interval_cells",
    "jackknife_interval",
    "jackknife_p_value",
    "kendall_like",
    "kendall_like_pairs",
    "log_capital",
    "mean_score",
    "mean_score_gradient",
    "moving_pairs",
    "numerical_gradient",
    "one_sided_reach",
    "pairwise_p_values",
    "partial_correlation",
    "percentile_interval",
    "permutation_p_value",
    "random_orders",
    "rank",
    "rounding",
    "sign_p_value",
    "sign_sums",
    "spent_share",
    "stream",
    "sum_groups",
    "sum_subsets",
    "tau",
    "tie_gains",
    "weighted_correlate",
    "williams_metrics",
    "williams_test",
]

__getattr__, __dir__ = at_first_use(__name__)
