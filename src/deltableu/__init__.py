"""Judge generated text when many answers are right."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deltableu._version import __version__

if TYPE_CHECKING:
    from deltableu.corpus import ReferenceSet, read_study
    from deltableu.score import (
        BLEU,
        DeltaBLEU,
        Discriminative,
        SentenceBLEU,
        bleu,
        delta_bleu,
        sentence_bleu,
    )

# Loaded at first use (PEP 562), so that `import deltableu` costs nothing.
_HOMES = {
    "BLEU": "score",
    "DeltaBLEU": "score",
    "Discriminative": "score",
    "ReferenceSet": "corpus",
    "SentenceBLEU": "score",
    "bleu": "score",
    "delta_bleu": "score",
    "read_study": "corpus",
    "sentence_bleu": "score",
}

__all__ = [
    "BLEU",
    "DeltaBLEU",
    "Discriminative",
    "ReferenceSet",
    "SentenceBLEU",
    "__version__",
    "bleu",
    "delta_bleu",
    "read_study",
    "sentence_bleu",
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
