"""Hypotheses and weighted references come in; statistics, scores and signatures go out."""

from typing import TYPE_CHECKING

from deltableu._lazy import at_first_use

if TYPE_CHECKING:
    from deltableu.score.engine.cosine import CosineSimilarity, vector_source
    from deltableu.score.engine.encoding import Encoded
    from deltableu.score.engine.formula import brevity_penalty
    from deltableu.score.engine.inputs import first_wrong_text, lacking_weights
    from deltableu.score.engine.neutral import NeutralChoice, WeightedMetric, choose_neutral
    from deltableu.score.engine.ngram_metric import NgramMetric
    from deltableu.score.engine.ordered_metric import OrderedMetric
    from deltableu.score.engine.pooled import PooledStatistics
    from deltableu.score.engine.reweighting import Reweighting
    from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
    from deltableu.score.engine.similarity import FunctionSimilarity, Similarity, TableSimilarity
    from deltableu.score.engine.soft_pool import (
        pool_shares,
        reference_shares,
        soft_pool,
        with_shares,
    )
    from deltableu.score.engine.statistics import Bootstrap, Statistics
    from deltableu.score.explain import Explanation, Mark, NgramCredit, explain_item
    from deltableu.score.explain_pool import PooledReference, PoolExplanation, explain_pool
    from deltableu.score.functions import (
        bleu,
        chrf,
        chrf_plus_plus,
        cider,
        cider_d,
        distinct,
        entropy,
        ibleu,
        nist,
        rouge,
        sentence_bleu,
        ter,
    )
    from deltableu.score.influence import CorpusShare, corpus_share, rank_items
    from deltableu.score.metric import Metric, Need
    from deltableu.score.metrics.bleu import BLEU
    from deltableu.score.metrics.chrf import (
        ChrF,
        ChrFPlusPlus,
        ChrFSimilarity,
        chrf_counts,
        chrf_score,
    )
    from deltableu.score.metrics.cider import CIDEr, CIDErD
    from deltableu.score.metrics.delta_bleu import DeltaBLEU, SignedDeltaBLEU
    from deltableu.score.metrics.discriminative import (
        DeltaChrF,
        DeltaChrFPlusPlus,
        DeltaRougeL,
        DeltaTable,
        DeltaTER,
        DeltaVectors,
        Discriminative,
    )
    from deltableu.score.metrics.diversity import (
        Distinct1,
        Distinct2,
        Entropy1,
        Entropy2,
        Entropy3,
        Entropy4,
    )
    from deltableu.score.metrics.ibleu import IBLEU
    from deltableu.score.metrics.nist import NIST
    from deltableu.score.metrics.rouge import Rouge1, Rouge2, RougeL
    from deltableu.score.metrics.sentence_bleu import SentenceBLEU, SentenceBLEUSimilarity
    from deltableu.score.metrics.sentinels import Constant, Length, MessageOverlap, Random
    from deltableu.score.metrics.similarities import SimilarityMetric, as_similarity
    from deltableu.score.metrics.soft import (
        Soft,
        SoftChrF,
        SoftChrFPlusPlus,
        SoftCosine,
        SoftRougeL,
        SoftTable,
        SoftTER,
    )
    from deltableu.score.metrics.ter import TER
    from deltableu.score.one_call import ScoreOptions, TextOptions
    from deltableu.score.registry import (
        installed_metrics,
        make_metrics,
        metric_class,
        metric_label,
        metric_name,
        metric_names,
        metric_settings,
        unheeded_settings,
    )
    from deltableu.score.results import BLEUScore, Score, Signature
    from deltableu.score.scored_sources import holds_texts, scored_source
    from deltableu.score.sources import TextSource, as_metrics, holds_scores, text_source
    from deltableu.score.systems import IntervalPlan, ScoredSystem, Scoring, score_systems
    from deltableu.score.weighted_functions import delta_bleu, discriminative, soft

__all__ = [
    "BLEU",
    "IBLEU",
    "NIST",
    "TER",
    "BLEUScore",
    "Bootstrap",
    "CIDEr",
    "CIDErD",
    "ChrF",
    "ChrFPlusPlus",
    "ChrFSimilarity",
    "Constant",
    "CorpusShare",
    "CosineSimilarity",
    "DeltaBLEU",
    "DeltaChrF",
    "DeltaChrFPlusPlus",
    "DeltaRougeL",
    "DeltaTER",
    "DeltaTable",
    "DeltaVectors",
    "Discriminative",
    "Distinct1",
    "Distinct2",
    "Encoded",
    "Entropy1",
    "Entropy2",
    "Entropy3",
    "Entropy4",
    "Explanation",
    "FunctionSimilarity",
    "IntervalPlan",
    "Length",
    "Mark",
    "MessageOverlap",
    "Metric",
    "Need",
    "NeutralChoice",
    "NgramCredit",
    "NgramMetric",
    "OrderedMetric",
    "PoolExplanation",
    "PooledReference",
    "PooledStatistics",
    "PreparedReferences",
    "Random",
    "Reweighting",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "Score",
    "ScoreOptions",
    "ScoredSystem",
    "Scoring",
    "SegmentMetric",
    "SentenceBLEU",
    "SentenceBLEUSimilarity",
    "Signature",
    "SignedDeltaBLEU",
    "Similarity",
    "SimilarityMetric",
    "Soft",
    "SoftChrF",
    "SoftChrFPlusPlus",
    "SoftCosine",
    "SoftRougeL",
    "SoftTER",
    "SoftTable",
    "Statistics",
    "TableSimilarity",
    "TextOptions",
    "TextSource",
    "WeightedMetric",
    "as_metrics",
    "as_similarity",
    "bleu",
    "brevity_penalty",
    "choose_neutral",
    "chrf",
    "chrf_counts",
    "chrf_plus_plus",
    "chrf_score",
    "cider",
    "cider_d",
    "corpus_share",
    "delta_bleu",
    "discriminative",
    "distinct",
    "entropy",
    "explain_item",
    "explain_pool",
    "first_wrong_text",
    "holds_scores",
    "holds_texts",
    "ibleu",
    "installed_metrics",
    "lacking_weights",
    "make_metrics",
    "metric_class",
    "metric_label",
    "metric_name",
    "metric_names",
    "metric_settings",
    "nist",
    "pool_shares",
    "rank_items",
    "reference_shares",
    "rouge",
    "score_systems",
    "scored_source",
    "sentence_bleu",
    "soft",
    "soft_pool",
    "ter",
    "text_source",
    "unheeded_settings",
    "vector_source",
    "with_shares",
]

__getattr__, __dir__ = at_first_use(__name__)
