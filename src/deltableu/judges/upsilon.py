"""upsilon-BLEU (Tsuta et al. 2020) and its kin: a model rates the references, not people."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

from deltableu.corpus import Item, ReferenceSet, weights_label
from deltableu.errors import InputError, Problem
from deltableu.io import shown
from deltableu.judges.combination import Magnitude, Triplets, check_rule
from deltableu.judges.rater import Rater, rate_batch, rater_signature
from deltableu.judges.registry import load_rater
from deltableu.score import DeltaBLEU, DeltaChrFPlusPlus, Metric

Weights = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Rated:
    """What one judge said of some items, by all that it may have looked at."""

    judge: Hashable
    weights: dict[Hashable, Weights]


# Two metrics that share a judge, or one metric and two judges, ask about every item once.
_latest: deque[_Rated] = deque(maxlen=2)


def rate_references(references: ReferenceSet, rater: Rater) -> ReferenceSet:
    """The same references with the weights that a judge gives them.

    Weights that were there are replaced. A rater is taken to rate alike whenever it is asked: what
    it said of the last items is remembered.

    Parameters
    ----------
    references : ReferenceSet
        With its items, as `reference_set` makes it.
    rater : Rater

    Examples
    --------
    >>> from deltableu.corpus import Reference, reference_set
    >>> class Brevity:
    ...     signature = "brevity"
    ...     def rate(self, item, references):
    ...         return [1 - len(one.text) / 16 for one in references]
    >>> items = [Item("1", (Reference("r0", "yes"), Reference("r1", "certainly")))]
    >>> rated = rate_references(reference_set(items), Brevity())
    >>> rated.weights, rated.weights_from
    (((0.8125, 0.4375),), 'brevity')
    """
    items = references.items
    if items is None:
        raise InputError(
            "a judge looks at items, their messages and where references came from, and here are "
            "texts alone: give a ReferenceSet that reference_set() made of a study or of items"
        )
    for index, (item, texts) in enumerate(zip(items, references.texts, strict=True)):
        if tuple(one.text for one in item.references) != tuple(texts):
            message = "cannot be rated: its texts are not the references of its item"
            raise InputError(Problem(message, item=references.item_name(index)))
    return replace(
        references,
        weights=_ask(rater, items),
        weights_from=weights_label(rater_signature(rater)),
    )


def _ask(rater: Rater, items: Sequence[Item]) -> tuple[Weights, ...]:
    judge = _judge_key(rater)
    known = next((rated.weights for rated in _latest if rated.judge == judge), {})
    keys = [_item_key(item) for item in items]
    new = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
    if new:
        given = rate_batch(rater, [(item, item.references) for item in new.values()])
        known = known | dict(zip(new, given, strict=True))
        # Only these items, or a loop over many sets would never let go of one.
        kept = _Rated(judge, {key: known[key] for key in keys})
        others = [rated for rated in _latest if rated.judge != judge]
        _latest.clear()
        _latest.extend([*others, kept])
    return tuple(known[key] for key in keys)


def _item_key(item: Item) -> Hashable:
    """Equal for items that no judge can tell apart."""
    references, context = tuple(item.references), tuple(item.context)
    return item.id, item.message, context, references, repr(item.meta)


@dataclass(frozen=True, slots=True, eq=False)
class _Silent:
    """A judge without a signature, which is like no other one."""

    rater: Rater

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Silent) and self.rater is other.rater

    def __hash__(self) -> int:
        return id(self.rater)


def _judge_key(rater: Rater) -> Hashable:
    """Equal for judges that rate alike, as far as they tell."""
    silent = getattr(rater, "signature", None) is None
    return _Silent(rater) if silent else rater_signature(rater)


@dataclass(frozen=True, kw_only=True, repr=False)
class _RatedMetric(Metric):
    """The settings that say who rates, and what follows from them for a metric."""

    # A metric can be hashed, a judge perhaps not.
    rater: str | os.PathLike[str] | Rater | None = field(default=None, hash=False)
    triplets: Triplets | None = None
    magnitude: Magnitude | None = None
    original: float | Literal["rated"] | None = None

    def _find_rater(self) -> None:
        found = self._named_rater() if isinstance(self.rater, str | os.PathLike) else self.rater
        if found is self.rater and self._settings():
            raise InputError(
                f"{' and '.join(self._settings())} can be set for a judge that is named by its "
                "file: give one (rater=, --judge)"
            )
        if found is not None and not callable(getattr(found, "rate", None)):
            raise InputError(
                "rater must be a model's file, the name of a judge, or an object with "
                f"rate(item, references), got {shown(found)}"
            )
        object.__setattr__(self, "_rater", found)
        if found is not None:
            # What the class says holds for references that were rated before.
            object.__setattr__(self, "needs", frozenset({"references"}))

    def _named_rater(self) -> Rater:
        spec = os.fspath(cast("str | os.PathLike[str]", self.rater))
        if not spec:
            raise InputError("the judge has no name: give a model's file (rater=, --judge)")
        settings = self._settings()
        # A wrong rule is told before the judge is looked for.
        check_rule(settings.get("triplets", "max"), settings.get("magnitude", "p"))
        return load_rater(spec, **settings)

    def _settings(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in ("triplets", "magnitude", "original")}
        return {name: value for name, value in given.items() if value is not None}

    def prepare_references(self, references: ReferenceSet) -> ReferenceSet:
        """The references with the weights that count."""
        rater: Rater | None = self._rater  # type: ignore[attr-defined]
        if rater is not None and references.neutral is None:
            return super().prepare_references(rate_references(references, rater))
        if references.weights is None:
            raise InputError(
                f"{self.name} needs rated references: rate them first with `deltableu judge "
                "apply`, or name a judge (rater=, --judge)"
            )
        return super().prepare_references(references)

    def settled(self, references: ReferenceSet) -> tuple[ReferenceSet, Metric]:
        """References with the judge's weights, and the metric without its judge."""
        plain = replace(self, rater=None, triplets=None, magnitude=None, original=None)
        return self.prepare_references(references), plain

    @property
    def encoding_key(self) -> Hashable:
        """Encoded references are shared only where weights come from the same judge."""
        rater: Rater | None = self._rater  # type: ignore[attr-defined]
        key = super().encoding_key
        return key if rater is None else (key, _judge_key(rater))


@dataclass(frozen=True, kw_only=True, repr=False)
class UpsilonBLEU(_RatedMetric, DeltaBLEU):
    """delta-BLEU whose references a model has rated.

    With a judge, every reference is rated anew, whatever weight it has, people's included; the
    signature then names the judge and its settings as where the weights came from. Without one,
    the weights that the references have are used, such as `deltableu judge apply` has written.
    That the original reference keeps weight 1, and which others there are (a parrot, mined ones),
    is the business of the judge and of mining. A threshold of `ReferenceSet.select` looks at the
    weights from before rating; the judge sees the references that are left.

    Parameters
    ----------
    rater : str, path or Rater, optional
        A model's file, the name of a judge that a package offers, or any object with
        `rate(item, references)`.
    triplets : {"max", "mean", "first", "second"}, optional
        How the probabilities of the NN-rater's two triplets become one.
    magnitude : {"2p-1", "p"}, optional
        The size of the NN-rater's weights, for the probability p of the likelier class.
    original : float or "rated", optional
        The weight that the NN-rater gives the original reference, or "rated" to rate it too.
    order, variant, smooth, combine, brevity, tokenize, lowercase, normalize, strip_punctuation, \
    smooth_value, effective_order
        See `DeltaBLEU`.

    References
    ----------
    Tsuta et al. 2020, "uBLEU: Uncertainty-Aware Automatic Evaluation Method for Open-Domain
    Dialogue Systems", section 4.

    Examples
    --------
    >>> from deltableu.corpus import Reference, reference_set
    >>> class LikeOriginal:
    ...     signature = "like-original"
    ...     def rate(self, item, references):
    ...         wanted = set(item.references[0].text.split())
    ...         return [1 if wanted & set(one.text.split()) else -1 for one in references]
    >>> texts = ("no thanks", "no no", "oh yes")
    >>> item = Item("1", tuple(Reference(f"r{i}", text) for i, text in enumerate(texts)))
    >>> metric = UpsilonBLEU(rater=LikeOriginal(), tokenize="none")
    >>> score = metric.compute(["no no yes"], reference_set([item])).score()
    >>> score.numerators, score.signature["weights"]
    ((1.0, 1.0), 'like-original')
    """

    family: ClassVar[str] = "upsilon-bleu"
    summary: ClassVar[str] = "delta-BLEU with weights from a judge (Tsuta et al. 2020)"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._find_rater()


@dataclass(frozen=True, kw_only=True)
class UpsilonChrF(_RatedMetric, DeltaChrFPlusPlus):
    """Discriminative chrF++ whose references a model has rated.

    Parameters
    ----------
    rater, triplets, magnitude, original
        See `UpsilonBLEU`.
    pool, lowercase
        See `Discriminative`.
    """

    summary: ClassVar[str] = "chrF++ with good and bad references as a judge has them"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._find_rater()

    @property
    def name(self) -> str:  # type: ignore[override]
        """As the command line calls it."""
        return "upsilon-chrf"
