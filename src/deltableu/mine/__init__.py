"""Items and dialogue logs in, items with more references out."""

from deltableu.mine.admission import RowFilter
from deltableu.mine.bm25 import BM25
from deltableu.mine.diversity import maximal_marginal_relevance
from deltableu.mine.engines import Engine, Threads, make_engine
from deltableu.mine.logs import Partition, find_partitions
from deltableu.mine.mining import Mined, MiningPlan, mine_references
from deltableu.mine.run import Event, Progress
from deltableu.mine.similarity import Similarity

__all__ = [
    "BM25",
    "Engine",
    "Event",
    "Mined",
    "MiningPlan",
    "Partition",
    "Progress",
    "RowFilter",
    "Similarity",
    "Threads",
    "find_partitions",
    "make_engine",
    "maximal_marginal_relevance",
    "mine_references",
]
