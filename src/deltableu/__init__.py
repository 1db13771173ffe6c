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
        NNRater,
        Rater,
        UpsilonBLEU,
        UpsilonChrF,
        rate_study,
        train_rater,
    )
    from deltableu.layouts import study_from
    from deltableu.mine import MiningPlan, mine_references
    from deltableu.score import (
        BLEU,
        DeltaBLEU,
        Discriminative,
        SentenceBLEU,
        bleu,
        delta_bleu,
        score_systems,
        sentence_bleu,
    )
    from deltableu.stats import williams_test
    from deltableu.validate import validate_metrics
    from deltableu.vectors import train_vectors

# Loaded at first use (PEP 562), so that `import deltableu` costs nothing.
_HOMES = {
    "BLEU": "score",
    "ComparisonPlan": "compare",
    "DeltaBLEU": "score",
    "Discriminative": "score",
    "MiningPlan": "mine",
    "NNRater": "judges",
    "Rater": "judges",
    "RatingTable": "corpus",
    "ReferenceSet": "corpus",
    "ScoreTable": "corpus",
    "SentenceBLEU": "score",
    "UpsilonBLEU": "judges",
    "UpsilonChrF": "judges",
    "bleu": "score",
    "compare_systems": "compare",
    "delta_bleu": "score",
    "mine_references": "mine",
    "plan_comparison": "compare",
    "rate_study": "judges",
    "read_scores": "corpus",
    "read_study": "corpus",
    "reference_set": "corpus",
    "score_systems": "score",
    "sensitivity": "compare",
    "sentence_bleu": "score",
    "study_from": "layouts",
    "train_rater": "judges",
    "train_vectors": "vectors",
    "validate_metrics": "validate",
    "williams_test": "stats",
}

__all__ = [
    "BLEU",
    "ComparisonPlan",
    "DeltaBLEU",
    "Discriminative",
    "MiningPlan",
    "NNRater",
    "Rater",
    "RatingTable",
    "ReferenceSet",
    "ScoreTable",
    "SentenceBLEU",
    "UpsilonBLEU",
    "UpsilonChrF",
    "__version__",
    "bleu",
    "compare_systems",
    "delta_bleu",
    "mine_references",
    "plan_comparison",
    "rate_study",
    "read_scores",
    "read_study",
    "reference_set",
    "score_systems",
    "sensitivity",
    "sentence_bleu",
    "train_rater",
    "train_vectors",
    "validate_metrics",
    "williams_test",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'deltableu' has no attribute {name!r}")
    value = getattr(import_module(f"deltableu.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
