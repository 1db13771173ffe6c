"""Judge generated text when many answers are right."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deltableu._version import __version__

if TYPE_CHECKING:
    from deltableu.compare import ComparisonPlan, compare_systems, plan_comparison
    from deltableu.compare.sensitivity import sensitivity  # its module has the same name
    from deltableu.corpus import RatingTable, ReferenceSet, ScoreTable, read_study, reference_set
    from deltableu.corpus.scores import read_scores  # by its module: mypy loses it in the circle
    from deltableu.judges import (
        RUBER,
        NNRater,
        Rater,
        UpsilonBLEU,
        UpsilonChrF,
        rate_study,
        train_rater,
        train_ruber,
    )
    from deltableu.layouts import study_from
    from deltableu.mine import MiningPlan, mine_references
    from deltableu.score import (
        BLEU,
        IBLEU,
        NIST,
        TER,
        ChrF,
        ChrFPlusPlus,
        CIDEr,
        CIDErD,
        Constant,
        DeltaBLEU,
        DeltaChrF,
        DeltaChrFPlusPlus,
        DeltaRougeL,
        DeltaTable,
        DeltaTER,
        DeltaVectors,
        Discriminative,
        Distinct1,
        Distinct2,
        Entropy1,
        Entropy2,
        Entropy3,
        Entropy4,
        IntervalPlan,
        Length,
        MessageOverlap,
        Random,
        Rouge1,
        Rouge2,
        RougeL,
        SentenceBLEU,
        SignedDeltaBLEU,
        bleu,
        chrf,
        chrf_plus_plus,
        cider,
        cider_d,
        delta_bleu,
        discriminative,
        distinct,
        entropy,
        ibleu,
        nist,
        rouge,
        score_systems,
        sentence_bleu,
        ter,
    )
    from deltableu.stats import williams_test
    from deltableu.validate import SweepPlan, ValidationPlan, sweep_metrics, validate_metrics
    from deltableu.vectors import train_vectors

# Loaded at first use (PEP 562), so that `import deltableu` costs nothing.
_HOMES = {
    "BLEU": "score",
    "CIDEr": "score",
    "CIDErD": "score",
    "ChrF": "score",
    "ChrFPlusPlus": "score",
    "ComparisonPlan": "compare",
    "Constant": "score",
    "DeltaBLEU": "score",
    "DeltaChrF": "score",
    "DeltaChrFPlusPlus": "score",
    "DeltaRougeL": "score",
    "DeltaTER": "score",
    "DeltaTable": "score",
    "DeltaVectors": "score",
    "Discriminative": "score",
    "Distinct1": "score",
    "Distinct2": "score",
    "Entropy1": "score",
    "Entropy2": "score",
    "Entropy3": "score",
    "Entropy4": "score",
    "IBLEU": "score",
    "IntervalPlan": "score",
    "Length": "score",
    "MessageOverlap": "score",
    "MiningPlan": "mine",
    "NIST": "score",
    "NNRater": "judges",
    "Random": "score",
    "Rater": "judges",
    "RUBER": "judges",
    "RatingTable": "corpus",
    "ReferenceSet": "corpus",
    "Rouge1": "score",
    "Rouge2": "score",
    "RougeL": "score",
    "ScoreTable": "corpus",
    "SentenceBLEU": "score",
    "SignedDeltaBLEU": "score",
    "TER": "score",
    "UpsilonBLEU": "judges",
    "UpsilonChrF": "judges",
    "ValidationPlan": "validate",
    "bleu": "score",
    "chrf": "score",
    "chrf_plus_plus": "score",
    "cider": "score",
    "cider_d": "score",
    "compare_systems": "compare",
    "delta_bleu": "score",
    "discriminative": "score",
    "distinct": "score",
    "entropy": "score",
    "ibleu": "score",
    "mine_references": "mine",
    "nist": "score",
    "plan_comparison": "compare",
    "rate_study": "judges",
    "read_scores": "corpus",
    "read_study": "corpus",
    "reference_set": "corpus",
    "rouge": "score",
    "score_systems": "score",
    "sensitivity": "compare",
    "sentence_bleu": "score",
    "study_from": "layouts",
    "ter": "score",
    "train_rater": "judges",
    "train_ruber": "judges",
    "train_vectors": "vectors",
    "SweepPlan": "validate",
    "sweep_metrics": "validate",
    "validate_metrics": "validate",
    "williams_test": "stats",
}

#: Subpackages that need no import of their own: `deltableu.report.plot(result)`.
_ROOMS = frozenset(
    ("compare", "corpus", "judges", "layouts", "mine", "rate", "report", "score", "stats", "text")
) | {"validate", "vectors"}

__all__ = [
    "BLEU",
    "IBLEU",
    "NIST",
    "RUBER",
    "TER",
    "CIDEr",
    "CIDErD",
    "ChrF",
    "ChrFPlusPlus",
    "ComparisonPlan",
    "Constant",
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
    "Entropy1",
    "Entropy2",
    "Entropy3",
    "Entropy4",
    "IntervalPlan",
    "Length",
    "MessageOverlap",
    "MiningPlan",
    "NNRater",
    "Random",
    "Rater",
    "RatingTable",
    "ReferenceSet",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "ScoreTable",
    "SentenceBLEU",
    "SignedDeltaBLEU",
    "SweepPlan",
    "UpsilonBLEU",
    "UpsilonChrF",
    "ValidationPlan",
    "__version__",
    "bleu",
    "chrf",
    "chrf_plus_plus",
    "cider",
    "cider_d",
    "compare_systems",
    "delta_bleu",
    "discriminative",
    "distinct",
    "entropy",
    "ibleu",
    "mine_references",
    "nist",
    "plan_comparison",
    "rate_study",
    "read_scores",
    "read_study",
    "reference_set",
    "rouge",
    "score_systems",
    "sensitivity",
    "sentence_bleu",
    "study_from",
    "sweep_metrics",
    "ter",
    "train_rater",
    "train_ruber",
    "train_vectors",
    "validate_metrics",
    "williams_test",
]


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"deltableu.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'deltableu' has no attribute {name!r}")
    value = getattr(import_module(f"deltableu.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
