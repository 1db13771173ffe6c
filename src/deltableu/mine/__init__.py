"""Items and dialogue logs in, items with more references out."""

from deltableu.mine.admission import RowFilter
from deltableu.mine.bm25 import BM25
from deltableu.mine.dask_engine import Dask, client_certificates
from deltableu.mine.diversity import maximal_marginal_relevance
from deltableu.mine.embedding import Embedding, TextVectors
from deltableu.mine.engines import Engine, Threads, make_engine
from deltableu.mine.mining import MiningPlan, mine_references
from deltableu.mine.results import Mined
from deltableu.mine.run import Event, Progress
from deltableu.mine.similarity import PairSimilarity
from deltableu.mine.text_vectors import Encoder, WordAverages

__all__ = [
    "BM25",
    "Dask",
    "Embedding",
    "Encoder",
    "Engine",
    "Event",
    "Mined",
    "MiningPlan",
    "PairSimilarity",
    "Progress",
    "RowFilter",
    "TextVectors",
    "Threads",
    "WordAverages",
    "client_certificates",
    "make_engine",
    "maximal_marginal_relevance",
    "mine_references",
]
