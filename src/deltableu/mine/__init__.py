"""Items and dialogue logs in, items with more references out."""

from deltableu.mine.admission import OwnPairs, RowFilter, is_own_pair
from deltableu.mine.bm25 import BM25
from deltableu.mine.dask_engine import Dask, client_certificates
from deltableu.mine.diversity import maximal_marginal_relevance
from deltableu.mine.embedding import Embedding
from deltableu.mine.engines import Engine, Threads, make_engine
from deltableu.mine.join import OnError
from deltableu.mine.log_join import LogRun
from deltableu.mine.mining import MiningPlan, mine_references
from deltableu.mine.nearest import NearPair, NearPairs, nearest_pairs
from deltableu.mine.results import Mined
from deltableu.mine.rows import LoggedPair, LogRows
from deltableu.mine.run import Event, Log, Progress
from deltableu.mine.scan import Scanned, Visitor, content_name, scan_logs
from deltableu.mine.similarity import PairSimilarity
from deltableu.mine.tf_idf import TfIdf
from deltableu.text import Encoder, TextVectors, WordAverages

__all__ = [
    "BM25",
    "Dask",
    "Embedding",
    "Encoder",
    "Engine",
    "Event",
    "Log",
    "LogRows",
    "LogRun",
    "LoggedPair",
    "Mined",
    "MiningPlan",
    "NearPair",
    "NearPairs",
    "OnError",
    "OwnPairs",
    "PairSimilarity",
    "Progress",
    "RowFilter",
    "Scanned",
    "TextVectors",
    "TfIdf",
    "Threads",
    "Visitor",
    "WordAverages",
    "client_certificates",
    "content_name",
    "is_own_pair",
    "make_engine",
    "maximal_marginal_relevance",
    "mine_references",
    "nearest_pairs",
    "scan_logs",
]
