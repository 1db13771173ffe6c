"""Metrics that are models of other packages: BERTScore and COMET."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError, check_choice
from deltableu.score import Need, PreparedReferences, SegmentMetric

#: Texts and references, a pair a place, in; a score a pair out.
PairScorer = Callable[[list[str], list[str]], Any]
#: The same with the message of each pair before them.
TripleScorer = Callable[[list[str], list[str], list[str]], Any]

Pool = Literal["best", "mean"]


@dataclass(frozen=True, kw_only=True)
class BERTScore(SegmentMetric):
    """F1 of tokens aligned by their contextual vectors, of the best reference, times 100.

    Computed by the package `bert-score`, which fetches the model that it is told.

    Parameters
    ----------
    model : str
        What `bert-score` calls `model_type`.
    scorer : callable, optional
        Instead of that model: takes a list of texts and one of references, gives F1 of each pair.

    References
    ----------
    Zhang et al. 2020, "BERTScore: Evaluating Text Generation with BERT".

    Examples
    --------
    >>> metric = BERTScore(scorer=lambda texts, references: [0.5 for _ in texts])
    >>> metric.compute(["a b"], [["a c", "d"]]).score().score
    50.0
    """

    name: ClassVar[str] = "bertscore"
    summary: ClassVar[str] = "tokens aligned by contextual vectors, best reference (bert-score)"

    model: str = "roberta-large"
    scorer: PairScorer | None = field(default=None, compare=False)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        owners = encoded.flat.owners
        texts = [hypotheses[owner] for owner in owners.tolist()]
        scorer = self.scorer or _bert_scorer(self.model)
        scores = _scores(scorer(texts, list(encoded.flat.texts)), len(texts), self.name)
        best = np.full(len(hypotheses), -np.inf)
        np.maximum.at(best, owners, 100.0 * scores)
        return best

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("model", _model_name(self.model, self.scorer)),)


@dataclass(frozen=True, kw_only=True)
class COMET(SegmentMetric):
    """What a COMET model says of message, text and reference, times 100.

    Computed by the package `unbabel-comet`, which fetches the model that it is told. The message
    of an item is the source that was translated.

    Parameters
    ----------
    model : str
        A model's name or its checkpoint.
    pool : {"mean", "best"}
        What becomes of several references.
    scorer : callable, optional
        Instead of that model: takes lists of messages, texts and references, gives a score of each.

    References
    ----------
    Rei et al. 2020, "COMET: A Neural Framework for MT Evaluation".

    Examples
    --------
    >>> from deltableu import ReferenceSet
    >>> metric = COMET(scorer=lambda messages, texts, references: [0.5, 0.75])
    >>> references = ReferenceSet([["a c", "d"]], messages=["x"])
    >>> metric.compute(["a b"], references).score().score
    62.5
    """

    name: ClassVar[str] = "comet"
    summary: ClassVar[str] = "a model trained on ratings of translations (unbabel-comet)"
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "messages"})
    limits: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    model: str = "Unbabel/wmt22-comet-da"
    pool: Pool = "mean"
    scorer: TripleScorer | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_choice("pool", self.pool, get_args(Pool))

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        owners = encoded.flat.owners
        messages = encoded.messages()
        places = owners.tolist()
        texts = [hypotheses[owner] for owner in places]
        scorer = self.scorer or _comet_scorer(self.model)
        said = scorer([messages[owner] for owner in places], texts, list(encoded.flat.texts))
        scores = 100.0 * _scores(said, len(texts), self.name)
        if self.pool == "best":
            best = np.full(len(hypotheses), -np.inf)
            np.maximum.at(best, owners, scores)
            return best
        counts = np.bincount(owners, minlength=len(hypotheses))
        means: Array = np.bincount(owners, scores, minlength=len(hypotheses)) / counts
        return means

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("model", _model_name(self.model, self.scorer)), ("pool", self.pool))


def _model_name(model: str, scorer: Callable[..., Any] | None) -> str:
    return model if scorer is None else str(getattr(scorer, "__name__", type(scorer).__name__))


def _scores(found: Any, pairs: int, name: str) -> Array:
    """What a model gave, as numbers; an error where it is not one finite number a pair."""
    scores = np.asarray(found, dtype=np.float64)
    if scores.shape != (pairs,):
        raise InputError(f"the scorer of {name} gave {scores.shape} for {pairs} pairs of texts")
    if not np.isfinite(scores).all():
        raise InputError(f"the scorer of {name} gave a score that is no finite number")
    return scores


def _package(module: str, package: str, metric: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"{metric} needs the package {package}: run pip install {package} ({error})"
        ) from error


def _loaded(what: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:  # of whatever kind the library has
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"the model {what!r} cannot be loaded: {said}") from error


@cache
def _bert_scorer(model: str) -> PairScorer:
    library = _package("bert_score", "bert-score", BERTScore.name)
    loaded = _loaded(model, lambda: library.BERTScorer(model_type=model))
    return lambda texts, references: loaded.score(texts, references)[2]


@cache
def _comet_scorer(model: str) -> TripleScorer:
    library = _package("comet", "unbabel-comet", COMET.name)
    path = (
        model if model.endswith(".ckpt") else _loaded(model, lambda: library.download_model(model))
    )
    loaded = _loaded(model, lambda: library.load_from_checkpoint(path))

    def score(messages: list[str], texts: list[str], references: Sequence[str]) -> Any:
        triples = [
            {"src": message, "mt": text, "ref": reference}
            for message, text, reference in zip(messages, texts, references, strict=True)
        ]
        return loaded.predict(triples, batch_size=16, gpus=0, progress_bar=False).scores

    return score
