"""RUBER (Tao et al. 2018): likeness to a reference and relevance to the message, blended."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from deltableu._types import Array, Bools, Steps
from deltableu.corpus import ReferenceSet, read_study, reference_set
from deltableu.errors import InputError, check_choice
from deltableu.io import shown
from deltableu.judges.blending import Blend, Range, blended
from deltableu.judges.combination import Magnitude, Triplets
from deltableu.judges.pooled_vectors import Pooling
from deltableu.judges.rater import Rater
from deltableu.judges.ruber_scorers import ModelLike, RuberReferenced, RuberUnreferenced
from deltableu.score import Metric, Need, Reweighting, Statistics, make_metrics, metric_settings
from deltableu.stats import mean_score
from deltableu.text import Tokenize, WordVectors

#: What becomes 0 and 1: the evaluated outputs' smallest and largest score, or the model's.
_CALIBRATIONS = ("set", "model")
_FOR_VECTORS = ("vectors", "pooling", "all_references")
_FOR_RATERS = ("rater", "triplets", "magnitude", "original")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The ranges of both scorers that become [0, 1], and where they come from."""

    referenced: Range
    unreferenced: Range
    source: str = "given"


@dataclass(frozen=True, slots=True, eq=False)
class _Encoded:
    """References as either scorer has them."""

    referenced: Any
    unreferenced: Any


@dataclass(frozen=True, slots=True, eq=False)
class _Raw:
    """What both scorers say of one system, and which of its outputs are empty."""

    referenced: Array
    unreferenced: Array
    empty: Bools
    info: Any


@dataclass(frozen=True, kw_only=True, repr=False)
class RUBER(Metric):
    """How good a reply is: like the reference, and relevant to the message.

    Both scores are normalised to [0, 1] and blended. By default 0 and 1 are the smallest and the
    largest score of all outputs that are scored together, as in the paper: then a score changes
    with what else is scored, and the signature has the ranges. With `calibration` it does not.
    An empty reply scores 0 and has no part in the ranges. The system score is the mean.

    Parameters
    ----------
    model : str, path or RaterModel
        The unreferenced scorer, from `deltableu judge train --kind ruber`.
    referenced : str or Metric
        "vectors", the cosine of pooled word vectors; or another metric, such as "upsilon-bleu",
        with that metric's own defaults and references.
    vectors, pooling, all_references
        Of the referenced scorer, see `RuberReferenced`.
    blend : {"arithmetic", "geometric", "min", "max"}
    calibration : "set", "model", path of a study, or Calibration
        Which scores become 0 and 1: those of the outputs that are scored together; those that
        the model gave to held-out logs, and the lowest and highest that the referenced scorer can
        give; or those of all outputs of a study. What lies beyond is cut off.
    tokenize, lowercase
        How the referenced scorer cuts texts, where its own way should not count.
    rater, triplets, magnitude, original
        Of a referenced metric with a judge, see `UpsilonBLEU`; others pass them over.

    References
    ----------
    Tao et al. 2018, "RUBER: An Unsupervised Method for Automatic Evaluation of Open-Domain Dialog
    Systems".
    Tsuta et al. 2020, "uBLEU: Uncertainty-Aware Automatic Evaluation Method for Open-Domain
    Dialogue Systems", section 5.5, on other metrics in place of the referenced scorer.
    """

    name: ClassVar[str] = "ruber"
    summary: ClassVar[str] = "like the reference and relevant to the message (Tao et al. 2018)"
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "messages"})
    averages_segments: ClassVar[bool] = True

    model: ModelLike | None = None
    referenced: str | Metric = "vectors"
    vectors: str | os.PathLike[str] | WordVectors | None = field(default=None, hash=False)
    pooling: Pooling | None = None
    all_references: bool = False
    blend: Blend = "arithmetic"
    calibration: str | os.PathLike[str] | Calibration = "set"
    tokenize: Tokenize | None = None
    lowercase: bool | None = None
    rater: str | os.PathLike[str] | Rater | None = field(default=None, hash=False)
    triplets: Triplets | None = None
    magnitude: Magnitude | None = None
    original: float | Literal["rated"] | None = None

    def __post_init__(self) -> None:
        check_choice("blend", self.blend, get_args(Blend))
        object.__setattr__(self, "_seen", None)
        object.__setattr__(self, "_unreferenced", self._make_unreferenced())
        object.__setattr__(self, "_referenced", self._make_referenced())
        object.__setattr__(self, "needs", type(self).needs | self.referenced_scorer.needs)
        object.__setattr__(self, "_fixed", self._find_calibration())

    def _make_unreferenced(self) -> RuberUnreferenced:
        if not self.model:
            raise InputError(
                f"{self.name} needs a model: train one with `deltableu judge train --kind ruber`, "
                "and give its file (model=, --model)"
            )
        return RuberUnreferenced(model=self.model)

    def _make_referenced(self) -> Metric:
        given = self._given(*_FOR_VECTORS, *_FOR_RATERS, "tokenize", "lowercase")
        if isinstance(self.referenced, Metric):
            if given:
                message = f"{' and '.join(given)} belong to the referenced metric: set them there"
                raise InputError(message)
            made = self.referenced
        elif self.referenced == "vectors":
            if not self.vectors:
                raise InputError(
                    f"{self.name} needs a file of word vectors (vectors=, --vectors), or another "
                    "metric in their place (referenced=, --referenced upsilon-bleu)"
                )
            kept = {name: value for name, value in given.items() if name not in _FOR_RATERS}
            made = RuberReferenced(**kept)
        elif isinstance(self.referenced, str):
            known = metric_settings(self.referenced)
            kept = {name: value for name, value in given.items() if name in known}
            made = make_metrics([self.referenced], kept)[0]
        else:
            raise InputError(f"referenced must name a metric, got {shown(self.referenced)}")
        if isinstance(made, RUBER) or not made.has_segments:
            raise InputError(f"{made.name} cannot be the referenced scorer of RUBER")
        return made

    def _given(self, *names: str) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        default = {"all_references": False}
        return {name: value for name, value in values.items() if value is not default.get(name)}

    def _find_calibration(self) -> Calibration | None:
        given = self.calibration
        if given == "set":
            return None
        if isinstance(given, Calibration):
            return given
        if given == "model":
            found = self._unreferenced_scorer.scorer.held_out_range
            if found is None:
                raise InputError("the model was stored without the scores of held-out logs")
            low, high = self.referenced_scorer.score_limits
            if not np.isfinite([low, high]).all():
                raise InputError(
                    f"{self.referenced_scorer.name} has no highest score: calibrate with a study"
                )
            return Calibration(Range(low, high), Range(*(100 * end for end in found)), "model")
        if not isinstance(given, str | os.PathLike):
            message = f"must be {', '.join(_CALIBRATIONS)} or a study, got {shown(given)}"
            raise InputError(f"calibration {message}")
        study = read_study(given, ratings=False)
        if not study.outputs:
            raise InputError(f"{os.fspath(given)}: has no outputs, whose scores would be the range")
        return self._measured(reference_set(study), study.outputs, "study")[0]

    @property
    def referenced_scorer(self) -> Metric:
        """What compares a reply with references."""
        found: Metric = self._referenced  # type: ignore[attr-defined]
        return found

    @property
    def _unreferenced_scorer(self) -> RuberUnreferenced:
        found: RuberUnreferenced = self._unreferenced  # type: ignore[attr-defined]
        return found

    def prepare_references(self, references: ReferenceSet) -> ReferenceSet:
        return self.referenced_scorer.prepare_references(references)

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> _Encoded:
        """References for the referenced scorer, messages for the other one."""
        seen = self._seen  # type: ignore[attr-defined]
        if seen is not None and seen.references is references and weights is None:
            kept: _Encoded = seen.encoded
            return kept
        scorers = (self.referenced_scorer, self._unreferenced_scorer)
        return _Encoded(
            *(
                one.encode(references, weights, threads=threads, progress=progress)
                for one in scorers
            )
        )

    def statistics(
        self,
        hypotheses: Sequence[str],
        encoded: _Encoded,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Statistics:
        """One row per segment; not calibrated, these hypotheses are the evaluated set."""
        seen = self._seen  # type: ignore[attr-defined]
        raw = None
        if seen is not None and seen.encoded is encoded:
            raw = seen.raw.get(tuple(hypotheses))
        raw = raw or self._raw(hypotheses, encoded)
        known = self._fixed or _ranges([raw], "set")  # type: ignore[attr-defined]
        scores = 100.0 * blended(
            known.referenced.normalise(raw.referenced),
            known.unreferenced.normalise(raw.unreferenced),
            self.blend,
        )
        scores[raw.empty] = 0.0
        metric = self if self._fixed else self._with(known, None)  # type: ignore[attr-defined]
        return Statistics(np.column_stack((scores, np.ones(len(scores)))), metric, raw.info)

    def for_outputs(self, references: ReferenceSet, outputs: Mapping[str, Sequence[str]]) -> RUBER:
        """The metric with the ranges of all these outputs, unless it has others."""
        if self._fixed is not None:  # type: ignore[attr-defined]
            return self
        return self._with(*self._measured(references, outputs, "set"))

    def _measured(
        self, references: ReferenceSet, outputs: Mapping[str, Sequence[str]], source: str
    ) -> tuple[Calibration, _Seen]:
        encoded = self.encode(references)
        raw: dict[tuple[str, ...], _Raw] = {}
        for system, texts in outputs.items():
            try:
                raw[tuple(texts)] = self._raw(texts, encoded)
            except InputError as error:
                if str(error).startswith("hypotheses["):
                    raise InputError(f"system {system!r}: {error}") from None
                raise
        return _ranges(list(raw.values()), source), _Seen(references, encoded, raw)

    def _raw(self, texts: Sequence[str], encoded: _Encoded) -> _Raw:
        scorer = self.referenced_scorer
        one = scorer.statistics(texts, encoded.referenced)
        other = self._unreferenced_scorer.statistics(texts, encoded.unreferenced)
        sign = 1.0 if scorer.higher_is_better else -1.0
        return _Raw(
            sign * one.segment_scores(),
            other.segment_scores(),
            np.array([not text.strip() for text in texts]),
            replace(one.info, digest=f"{one.info.digest}+{other.info.digest}"),
        )

    def _with(self, calibration: Calibration, seen: _Seen | None) -> RUBER:
        """The same with these ranges; models and vectors are not read again."""
        made = copy.copy(self)
        object.__setattr__(made, "calibration", calibration)
        object.__setattr__(made, "_fixed", calibration)
        object.__setattr__(made, "_seen", seen)
        return made

    def aggregate(self, sums: Array) -> Array:
        return mean_score(sums)

    def reweighting(
        self, references: ReferenceSet, outputs: Sequence[Sequence[str]]
    ) -> Reweighting:
        named = {str(number): texts for number, texts in enumerate(outputs)}
        return Metric.reweighting(self.for_outputs(references, named), references, outputs)

    def settings(self) -> tuple[tuple[str, str], ...]:
        fixed: Calibration | None = self._fixed  # type: ignore[attr-defined]
        ranges: tuple[tuple[str, str], ...] = (("range", "set"),)
        if fixed is not None:
            ranges = (
                ("range", fixed.source),
                ("referenced-range", str(fixed.referenced)),
                ("unreferenced-range", str(fixed.unreferenced)),
            )
        return (
            ("blend", self.blend),
            *ranges,
            *self._unreferenced_scorer.settings(),
            ("referenced", self.referenced_scorer.registered_name),
            *self.referenced_scorer.settings(),
        )

    @property
    def encoding_key(self) -> Hashable:
        return (self, id(self._seen))  # type: ignore[attr-defined]

    @property
    def idle_settings(self) -> frozenset[str]:
        if self.referenced == "vectors":
            return frozenset(_FOR_RATERS)
        known = metric_settings(self.referenced) if isinstance(self.referenced, str) else set()
        names = (*_FOR_VECTORS, *_FOR_RATERS, "tokenize", "lowercase")
        return frozenset(name for name in names if name not in known)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Outputs that were scored before, so that nothing is scored twice."""

    references: ReferenceSet
    encoded: _Encoded
    raw: dict[tuple[str, ...], _Raw]


def _ranges(raw: Sequence[_Raw], source: str) -> Calibration:
    """The ranges of all outputs that are not empty."""
    referenced, unreferenced = (
        Range.of(np.concatenate([getattr(one, name)[~one.empty] for one in raw]))
        for name in ("referenced", "unreferenced")
    )
    return Calibration(referenced, unreferenced, source)


@dataclass(frozen=True, kw_only=True, repr=False)
class RuberUpsilonBLEU(RUBER):
    """RUBER with upsilon-BLEU in place of its referenced scorer (Tsuta et al. 2020).

    References are rated by a judge (`rater`), or have weights already. With other settings of
    upsilon-BLEU than its defaults, give `RUBER(referenced=UpsilonBLEU(...))`.

    Parameters
    ----------
    model, blend, calibration, tokenize, lowercase, rater, triplets, magnitude, original
        See `RUBER`.
    """

    name: ClassVar[str] = "ruber-upsilon-bleu"
    summary: ClassVar[str] = "RUBER with upsilon-BLEU as its referenced scorer (Tsuta et al. 2020)"

    referenced: str | Metric = field(default="upsilon-bleu", init=False)
