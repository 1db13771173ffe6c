"""N-best lists and a metric in; weights, choices and what a metric can be made to do out."""

from deltableu.tune.candidate_rows import candidate_statistics

__all__ = [
    "candidate_statistics",
]
