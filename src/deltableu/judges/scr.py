"""Self-calibrated references: several similarities in one score, weighed without any rating."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np

from deltableu._types import Array, Bools, Ints, Steps
from deltableu.corpus import ReferenceSet, read_study, reference_set
from deltableu.errors import InputError, Problem, check_at_least, check_choice, check_share
from deltableu.io import shown
from deltableu.judges.relevance import RelevanceLike, relevance_model
from deltableu.judges.relevance_model import RelevanceModel
from deltableu.judges.scr_calibration import ScrCalibration, read_calibration
from deltableu.judges.scr_fit import ScrReferences, calibrate, features
from deltableu.judges.scr_pools import Background, Pooling, ranked_items
from deltableu.judges.scr_texts import prepare_texts, similarities, words_of
from deltableu.judges.word_space import OfEncoder, OfTable, WordSource, WordSpace
from deltableu.score import (
    Need,
    PreparedReferences,
    SegmentMetric,
    Statistics,
    vector_source,
    with_shares,
)
from deltableu.text import Encoder, WordAverages, WordVectors, read_vectors

#: How the weights of references that nobody rated are called.
_BY_ORIGIN = "origins,"


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """References, and what each similarity counts."""

    given: ScrReferences
    calibration: ScrCalibration


@dataclass(frozen=True, kw_only=True, repr=False)
class SCR(SegmentMetric):
    """Self-calibrated references: what an output shares with its references beyond chance.

    The score is sum_k beta_k * (p_k - b_k), plus beta_u * u with a relevance model. p_k is the soft
    pool of similarity k over the item's references (see `Soft`), and b_k its mean over the
    references of other items, which takes away what an output owes to its length or to common
    words. The similarities are chrF++, sentence BLEU-2, the words shared and a greedy alignment of
    word vectors, both weighted by idf, and the cosine of sentence vectors; u is `Relevance`. All
    text is lower-cased.

    The coefficients are learnt from the references, without any output or rating of one: references
    stand in for outputs, and should be told from the same references at other items. Where
    references have negative weights, their pool n_k counts too, with beta'_k * (n_k - b_k), and
    good references should be told from bad ones. Then style and length carry information as well:
    see the guide. The signature has the coefficients. The system score is the mean over segments.

    Parameters
    ----------
    relevance : str, path or RelevanceModel, optional
        What `deltableu judge train --kind relevance` made; items then need messages.
    encoder : str, Encoder or WordAverages
        What makes the vectors of sentences and, without `vectors`, of words.
    vectors : str, path or WordVectors, optional
        Word vectors for the alignment.
    calibration : "set", path or ScrCalibration
        Whence the coefficients: from the references at hand; from a file that `write_calibration`
        or `deltableu judge calibrate` wrote; or from the references of another study. Only scores
        with the same calibration, references and items compare.
    negatives : {"use", "ignore"}
        Whether references with negative weights count.
    tau, original_share : float
        See `Soft`.
    others : int
        Number of other items that stand for chance.
    draws : int
        At how many other items a pseudo-output stands.
    pseudo_outputs : int
        Number of references that stand in for outputs, at most.
    seed : int
        Of everything that is drawn.

    Examples
    --------
    >>> meals = [["i love pizza", "pizza , please"], ["the train is late", "trains are never late"],
    ...          ["my dog is called max", "max is my dog"], ["it is cold today", "so cold outside"]]
    >>> metric = SCR()
    >>> encoded = metric.encode(meals)
    >>> rows = metric.statistics(["pizza for me", "trains", "a cat", "very cold"], encoded)
    >>> bool((rows.segment_scores()[[0, 1, 3]] > 0).all())
    True
    """

    name: ClassVar[str] = "scr"
    summary: ClassVar[str] = "what references share beyond chance, calibrated on references alone"
    limits: ClassVar[tuple[float, float]] = (-inf, inf)
    needs_all_items: ClassVar[bool] = True
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "weights"})
    weights_optional: ClassVar[bool] = True

    relevance: RelevanceLike | None = None
    encoder: Any = "wordllama"
    vectors: str | os.PathLike[str] | WordVectors | None = field(default=None, hash=False)
    calibration: str | os.PathLike[str] | ScrCalibration = "set"
    negatives: Literal["use", "ignore"] = "use"
    tau: float = 0.1
    original_share: float = 0.3
    others: int = 64
    draws: int = 10
    pseudo_outputs: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        wrong = isinstance(self.tau, bool) or not isinstance(self.tau, int | float)
        if wrong or not 0.0 < self.tau < inf:
            raise InputError(f"tau must be a number above 0, got {self.tau!r}")
        check_share("original_share", self.original_share)
        check_choice("negatives", self.negatives, ("use", "ignore"))
        for name in ("others", "draws", "pseudo_outputs"):
            check_at_least(name, getattr(self, name), 1)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise InputError(f"seed must be a whole number, got {self.seed!r}")
        model = None
        if self.relevance is not None:
            model = relevance_model(self.relevance, self.name)
            object.__setattr__(self, "needs", type(self).needs | {"messages"})
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_encoder", vector_source(self.encoder))
        object.__setattr__(self, "_words", self._word_source())
        object.__setattr__(self, "_background", None)
        object.__setattr__(self, "_fixed", self._find_calibration())

    def _word_source(self) -> tuple[WordSource, str]:
        """What has vectors of words, and what signatures call it."""
        given = self.vectors
        source, label = self.encoder_and_label
        if given is None:
            return OfEncoder(source), label
        if isinstance(given, WordVectors):
            return OfTable(given), f"vectors-{given.digest()}"
        if not isinstance(given, str | os.PathLike) or not given:
            raise InputError(f"vectors must be a file of word vectors, got {shown(given)}")
        loaded = read_vectors(given)
        return OfTable(loaded), f"{Path(given).name}-{loaded.digest()}"

    @property
    def encoder_and_label(self) -> tuple[Encoder | WordAverages, str]:
        """What makes the vectors of sentences, and what signatures call it."""
        return cast("tuple[Encoder | WordAverages, str]", self._encoder)  # type: ignore[attr-defined]

    @property
    def _relevance(self) -> RelevanceModel | None:
        return cast("RelevanceModel | None", self._model)  # type: ignore[attr-defined]

    @property
    def encoder_label(self) -> str:
        """What makes the vectors of sentences and words, as signatures have it."""
        sentences, words = self.encoder_and_label[1], self._words[1]  # type: ignore[attr-defined]
        return sentences if sentences == words else f"{sentences},{words}"

    def _find_calibration(self) -> ScrCalibration | None:
        given = self.calibration
        if isinstance(given, ScrCalibration):
            found = given
        elif given == "set":
            return None
        elif not isinstance(given, str | os.PathLike) or not given:
            message = f"must be set, a file or a study, got {shown(given)}"
            raise InputError(f"calibration {message}")
        elif os.path.isdir(given):
            plain = replace(self, calibration="set")
            found = plain.calibrate(reference_set(read_study(given, ratings=False)))
        else:
            found = read_calibration(given)
        if found.encoder != self.encoder_label:
            raise InputError(
                f"the calibration is for vectors of {found.encoder}, and these are of "
                f"{self.encoder_label}: calibrate with them"
            )
        model = self._relevance
        if found.model != (None if model is None else model.signature):
            needed = "no relevance model" if found.model is None else f"the model {found.model}"
            raise InputError(f"the calibration was made with {needed}: give the same (--relevance)")
        return found

    def prepare_references(self, references: ReferenceSet) -> ReferenceSet:
        """The references, with shares by their origins where nobody rated them."""
        return with_shares(references, self.original_share)

    def calibrate(
        self, references: ReferenceSet | Sequence[Sequence[str]], weights: Any = None
    ) -> ScrCalibration:
        """What each similarity counts, as these references show it."""
        ready: _Ready = self.encode(references, weights).extra
        return ready.calibration

    def fitted_to(self, references: ReferenceSet) -> SCR:
        """The metric with its calibration, and with what stands for other items."""
        if self._background is not None:  # type: ignore[attr-defined]
            return self
        # Items that will be left out, or complained of, tell nothing.
        poor = set(self.prepare_references(references).without_positive())
        if 0 < len(poor) < len(references):
            references = references.take(i for i in range(len(references)) if i not in poor)
        return self._fitted(self.encode(references).extra)

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> PreparedReferences:
        """Prepare references, and calibrate on them where no calibration was given."""
        prepared = super().encode(references, weights, threads=threads, progress=progress)
        given = self._given(prepared, threads)
        found: ScrCalibration | None = self._fixed  # type: ignore[attr-defined]
        if found is None:
            found = calibrate(
                given,
                bad=self.negatives == "use" and bool((given.weights < 0.0).any()),
                draws=self.draws,
                most=self.pseudo_outputs,
                seed=self.seed,
                encoder=self.encoder_label,
            )
        return replace(prepared, extra=_Ready(given, found))

    def _given(self, prepared: PreparedReferences, threads: int | None) -> ScrReferences:
        flat, references = prepared.flat, prepared.references
        best = np.maximum.reduceat(flat.weights, flat.bounds[:-1])
        if (best <= 0.0).any():
            item = references.item_name(int(np.argmax(best <= 0.0)))
            message = "has no reference with a weight above 0: leave such items out (--no-positive "
            raise InputError(Problem(f"{message}skip) or rate more references", item=item))
        names = [
            "\x1f".join(sorted(text.lower() for text in flat.texts[first:last]))
            for first, last in zip(flat.bounds[:-1], flat.bounds[1:], strict=True)
        ]
        originals = _originals(prepared)
        background: Background = self._background or self._make_background(  # type: ignore[attr-defined]
            prepared, names, originals
        )
        places: dict[str, int] = {}
        rows, others = (
            np.array([places.setdefault(text.lower(), len(places)) for text in texts])
            for texts in (flat.texts, background.texts)
        )
        texts, space = prepare_texts(list(places), background.space, self.encoder_and_label[0])
        model = self._relevance
        return ScrReferences(
            flat.texts,
            rows,
            flat.owners,
            flat.weights,
            originals,
            names,
            references.item_ids,
            Pooling(texts, space, self.tau, threads),
            background,
            others,
            model,
            None if model is None else model.utterances(prepared.messages()),
        )

    def _make_background(
        self, prepared: PreparedReferences, names: Sequence[str], originals: Bools
    ) -> Background:
        flat = prepared.flat
        chosen = ranked_items(names, self.seed)[: self.others + 1]
        places = np.concatenate([np.arange(*flat.bounds[[one, one + 1]]) for one in chosen])
        return Background(
            tuple(names[one] for one in chosen),
            tuple(prepared.references.item_ids[one] for one in chosen)
            if prepared.references.item_ids is not None
            else (),
            len(chosen) - 1,
            [flat.texts[place] for place in places.tolist()],
            flat.weights[places],
            originals[places],
            np.repeat(np.arange(len(chosen)), np.diff(flat.bounds)[chosen]),
            WordSpace.of(words_of(flat.texts), self._words[0]),  # type: ignore[attr-defined]
        )

    def checked_statistics(self, hypotheses: list[str], encoded: PreparedReferences) -> Statistics:
        """Rows, and the metric with the calibration that made them."""
        ready: _Ready = encoded.extra
        metric = self._fitted(ready)
        return Statistics(self.rows(hypotheses, encoded), metric, encoded.flat.info)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        ready: _Ready = encoded.extra
        found = self.features(hypotheses, encoded)
        scores: Array = (found * self.coefficients(ready.calibration)).sum(axis=1)
        return scores

    def features(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        """What is weighed, a row per segment: good pools, bad pools, relevance; less chance."""
        ready: _Ready = encoded.extra
        given = ready.given
        texts, space = prepare_texts(hypotheses, given.pooling.space, self.encoder_and_label[0])
        pooling = replace(given.pooling, space=space)
        numbers = np.arange(len(hypotheses))
        good = given.good
        given = replace(given, pooling=pooling)
        chance = given.chance(texts, numbers, numbers)
        return features(
            given,
            texts,
            numbers,
            numbers,
            chance,
            given.relevance(hypotheses, numbers),
            good=good,
            bad=given.bad if ready.calibration.bad else None,
        )

    def reference_similarities(
        self, hypotheses: list[str], encoded: PreparedReferences
    ) -> tuple[Array, Array, Ints]:
        """Similarities to each reference, a row for each kind; their weights; items' bounds."""
        ready: _Ready = encoded.extra
        given, flat = ready.given, encoded.flat
        texts, space = prepare_texts(hypotheses, given.pooling.space, self.encoder_and_label[0])
        found = similarities(texts, given.pooling.references, space, flat.owners, given.rows)
        return found, flat.weights, flat.bounds

    def coefficients(self, calibration: ScrCalibration) -> Array:
        """What each column of `features` counts."""
        last = () if calibration.relevance is None else (calibration.relevance,)
        return np.array([*calibration.good, *calibration.bad, *last])

    def _fitted(self, ready: _Ready) -> SCR:
        """The same, which fits itself to nothing any more; nothing is read again."""
        made = copy.copy(self)
        object.__setattr__(made, "calibration", ready.calibration)
        object.__setattr__(made, "_fixed", ready.calibration)
        object.__setattr__(made, "_background", ready.given.background)
        return made

    def settings(self) -> tuple[tuple[str, str], ...]:
        fixed: ScrCalibration | None = self._fixed  # type: ignore[attr-defined]
        parts = [
            ("tau", f"{self.tau:.12g}"),
            ("others", str(self.others)),
            ("seed", str(self.seed)),
            ("encoder", self.encoder_label),
        ]
        if self._relevance is not None:
            parts.append(("model", self._relevance.signature))
        if fixed is None:
            return (*parts, ("calibration", "set"))
        found = ",".join(f"{name}:{to}:{value:.4g}" for name, to, value in fixed.features())
        if (background := self._background) is not None:  # type: ignore[attr-defined]
            parts.append(("background", background.digest))
        return (*parts, ("calibration", fixed.digest), ("coefficients", found))

    @property
    def encoding_key(self) -> Hashable:
        background: Background | None = self._background  # type: ignore[attr-defined]
        return (self, None if background is None else background.digest)


def _originals(prepared: PreparedReferences) -> Bools:
    """Which references are the originals of items with mined ones, where nobody rated any."""
    references, flat = prepared.references, prepared.flat
    found = np.zeros(len(flat.texts), dtype=bool)
    if references.items is None or not references.weights_from.startswith(_BY_ORIGIN):
        return found
    for index, item in enumerate(references.items):
        if any(one.origin == "mined" for one in item.references):
            place = 0 if references.originals is None else references.originals[index]
            found[flat.bounds[index] + place] = True
    return found
