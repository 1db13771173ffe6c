"""Hypotheses and weighted references come in; statistics, scores and signatures go out."""

from deltableu.score.engine.encoding import Encoded
from deltableu.score.engine.formula import brevity_penalty
from deltableu.score.engine.inputs import first_wrong_text
from deltableu.score.engine.pooled import PooledStatistics
from deltableu.score.engine.reweighting import Reweighting
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.engine.similarity import FunctionSimilarity, Similarity, TableSimilarity
from deltableu.score.engine.statistics import Bootstrap, Statistics
from deltableu.score.explain import Explanation, Mark, NgramCredit, explain_item
from deltableu.score.functions import bleu, delta_bleu, sentence_bleu
from deltableu.score.influence import CorpusShare, corpus_share, rank_items
from deltableu.score.metric import Metric
from deltableu.score.metrics.bleu import BLEU
from deltableu.score.metrics.delta_bleu import DeltaBLEU, SignedDeltaBLEU
from deltableu.score.metrics.discriminative import DeltaChrFPlusPlus, Discriminative
from deltableu.score.metrics.sentence_bleu import SentenceBLEU
from deltableu.score.registry import (
    installed_metrics,
    make_metrics,
    metric_name,
    metric_names,
    metric_settings,
    unheeded_settings,
)
from deltableu.score.results import BLEUScore, Score, Signature
from deltableu.score.systems import IntervalPlan, ScoredSystem, Scoring, score_systems

__all__ = [
    "BLEU",
    "BLEUScore",
    "Bootstrap",
    "CorpusShare",
    "DeltaBLEU",
    "DeltaChrFPlusPlus",
    "Discriminative",
    "Encoded",
    "Explanation",
    "FunctionSimilarity",
    "IntervalPlan",
    "Mark",
    "Metric",
    "NgramCredit",
    "PooledStatistics",
    "PreparedReferences",
    "Reweighting",
    "Score",
    "ScoredSystem",
    "Scoring",
    "SegmentMetric",
    "SentenceBLEU",
    "Signature",
    "SignedDeltaBLEU",
    "Similarity",
    "Statistics",
    "TableSimilarity",
    "bleu",
    "brevity_penalty",
    "corpus_share",
    "delta_bleu",
    "explain_item",
    "first_wrong_text",
    "installed_metrics",
    "make_metrics",
    "metric_name",
    "metric_names",
    "metric_settings",
    "rank_items",
    "score_systems",
    "sentence_bleu",
    "unheeded_settings",
]
