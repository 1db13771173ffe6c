"""Posts or conversations in, pairs, triples or test items out; logs of pairs, read in a stream."""

from deltableu.logs.blocks import Block
from deltableu.logs.fates import Fate
from deltableu.logs.overlap import TextCounts
from deltableu.logs.pairs import write_pairs
from deltableu.logs.partitions import Logs, MemoryPartition, Partition, find_partitions, read_blocks
from deltableu.logs.periods import HashSplit, Period, Share, Split, TimeSplit, parse_split
from deltableu.logs.posts import Post, read_posts
from deltableu.logs.raw_logs import MEMORY
from deltableu.logs.rules import PairRules
from deltableu.logs.sample import sample_items
from deltableu.logs.sample_types import SampledItems, SamplePlan
from deltableu.logs.types import Pair, PeriodCounts, Thread, WrittenPairs
from deltableu.logs.writers import Form

__all__ = [
    "MEMORY",
    "Block",
    "Fate",
    "Form",
    "HashSplit",
    "Logs",
    "MemoryPartition",
    "Pair",
    "PairRules",
    "Partition",
    "Period",
    "PeriodCounts",
    "Post",
    "SamplePlan",
    "SampledItems",
    "Share",
    "Split",
    "TextCounts",
    "Thread",
    "TimeSplit",
    "WrittenPairs",
    "find_partitions",
    "parse_split",
    "read_blocks",
    "read_posts",
    "sample_items",
    "write_pairs",
]
