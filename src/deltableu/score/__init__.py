"""Hypotheses and weighted references come in; statistics, scores and signatures go out."""

from deltableu.score.bleu_metric import BLEU
from deltableu.score.delta_bleu_metric import DeltaBLEU
from deltableu.score.discriminative import Discriminative
from deltableu.score.functions import bleu, delta_bleu, sentence_bleu
from deltableu.score.metric import Metric
from deltableu.score.results import BLEUScore, ConfidenceInterval, Score, Signature
from deltableu.score.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.sentence_bleu_metric import SentenceBLEU
from deltableu.score.similarity import FunctionSimilarity, Similarity, TableSimilarity
from deltableu.score.statistics import Bootstrap, Statistics
from deltableu.score.systems import Scoring, score_systems
from deltableu.score.upsilon_metrics import UpsilonBLEU, UpsilonChrF, rate_references

__all__ = [
    "BLEU",
    "BLEUScore",
    "Bootstrap",
    "ConfidenceInterval",
    "DeltaBLEU",
    "Discriminative",
    "FunctionSimilarity",
    "Metric",
    "PreparedReferences",
    "Score",
    "Scoring",
    "SegmentMetric",
    "SentenceBLEU",
    "Signature",
    "Similarity",
    "Statistics",
    "TableSimilarity",
    "UpsilonBLEU",
    "UpsilonChrF",
    "bleu",
    "delta_bleu",
    "rate_references",
    "score_systems",
    "sentence_bleu",
]
