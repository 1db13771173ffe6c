"""Posts or conversations in, pairs and triples out; and logs of pairs, read in a stream."""

from deltableu.logs.fates import Fate
from deltableu.logs.overlap import TextCounts
from deltableu.logs.pairs import write_pairs
from deltableu.logs.periods import HashSplit, Period, Share, Split, TimeSplit, parse_split
from deltableu.logs.posts import Post, read_posts
from deltableu.logs.rules import PairRules
from deltableu.logs.types import Pair, PeriodCounts, Thread, WrittenPairs

__all__ = [
    "Fate",
    "HashSplit",
    "Pair",
    "PairRules",
    "Period",
    "PeriodCounts",
    "Post",
    "Share",
    "Split",
    "TextCounts",
    "Thread",
    "TimeSplit",
    "WrittenPairs",
    "parse_split",
    "read_posts",
    "write_pairs",
]
