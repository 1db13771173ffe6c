"""How alike items and logged pairs are, as `deltableu mine` takes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from cyclopts import Parameter

from deltableu.errors import InputError
from deltableu.mine import BM25, Similarity

__all__ = ["SimilarityOptions"]

#: The options that each method has, beside `method` and `on`.
_METHODS = {"bm25": ("k1", "b", "idf", "product", "alpha", "epsilon")}
_PRODUCT = ("product", "alpha", "epsilon")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SimilarityOptions:
    """Settings of similarities.

    Parameters
    ----------
    method
        How alike two texts are.
    on
        Compare utterances with messages, responses with the original response, or both.
    product
        On both: s_u * (alpha * s_r + (1 - alpha) * epsilon), or s_u * s_r.
    k1
        Of BM25: how soon repeated words stop to count.
    b
        Of BM25: how much long texts lose.
    idf
        Of BM25: how much rare words count.
    alpha
        Of the damped product.
    epsilon
        Of the damped product.
    """

    method: Literal["bm25"] = "bm25"
    on: Literal["both", "utterance", "response"] = "both"
    product: Literal["damped", "plain"] = "damped"
    k1: float = 1.5
    b: float = 0.75
    idf: Literal["lucene", "robertson", "atire"] = "lucene"
    alpha: float = 0.5
    epsilon: float = 0.1

    def make(self) -> Similarity:
        """The similarity that was asked for; an option that it does not heed is a mistake."""
        changed = [
            field.name for field in fields(self) if getattr(self, field.name) != field.default
        ]
        for name in changed:
            if name not in ("method", "on", *_METHODS[self.method]):
                raise InputError(f"--{name} is of no use with --method {self.method}")
            if name in _PRODUCT and self.on != "both":
                raise InputError(f"--{name} is of no use with --on {self.on}")
            if name in ("alpha", "epsilon") and self.product == "plain":
                raise InputError(f"--{name} is of no use with --product plain")
        return BM25(self.on, self.k1, self.b, self.idf, self.product, self.alpha, self.epsilon)
