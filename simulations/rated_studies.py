"""Generated delta-BLEU studies: references of different origins, systems, and what raters say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deltableu.corpus import Item, Reference, ReferenceSet, Source, reference_set
from deltableu.stats import stream

__all__ = ["StudySize", "WrittenStudy", "write_study"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

Who = Literal["drawn", "by item", "in turn"]

_KEY = 20_150_731
_GENERAL, _CONTENT, _OWN = 300, 3_000, 8
_FUNCTION_WORDS, _CONTENT_WORDS = 100, 2_500
_LONGEST = 7
#: Chances that a phrase of a text is a general one, and that it belongs to another item.
_GENERAL_SHARE, _STRAY_SHARE = 0.5, 0.12
_HARSHNESS, _NOISE, _RATERS = 0.2, 0.5, 40


@dataclass(frozen=True, slots=True)
class StudySize:
    """How large a study is, and how far apart its systems are.

    `spread` is that of the share of their phrases that is to the point; `telling` says how much
    the words of a reference tell of its quality, 1 being all that they can. References are of any
    quality, or good or bad and nothing between (`bimodal`). Raters are drawn for each rating; or
    one rates all references of an item (`by item`); or a panel rates everything, a milder and less
    discerning rater each time (`in turn`).
    """

    items: int
    references: int
    systems: int
    raters: int = 5
    spread: float = 0.25
    telling: float = 1.0
    bimodal: bool = False
    who: Who = "drawn"


@dataclass(frozen=True, slots=True, eq=False)
class WrittenStudy:
    """A study, and what everybody would say of its references.

    Attributes
    ----------
    references : ReferenceSet
        With items.
    outputs : list of lists of str
    answers : array
        References x raters: answers in [-1, 1] on a scale of five.
    """

    references: ReferenceSet
    outputs: list[list[str]]
    answers: Array

    @property
    def weights(self) -> Array:
        """The weights that all ratings give."""
        weights: Array = self.answers.mean(axis=1)
        return weights


def write_study(size: StudySize, seed: int) -> WrittenStudy:
    """Write a study.

    An item has eight phrases of its own that are to the point, and eight that are beside it. Half
    of the phrases of every text are general ones, frequent ones far more often than rare ones, and
    some are of other items; of the rest, the share to the point grows with the quality of a
    reference, and with the ability of a system and the ease of the item. Each item has one
    original reference, one that is random, one that parrots, and mined ones whose quality falls
    with their rank on average.
    """
    rng = stream(_KEY, seed)
    phrases = _phrases(rng)
    mined = max(size.references - 3, 1)
    kinds = [("original", 0), *(("mined", rank) for rank in range(1, mined + 1))]
    kinds += [("random", 0), ("parrot", 0)]
    kinds = kinds[: size.references]
    quality = _qualities(kinds, mined, size.items, rng)
    if size.bimodal:
        quality = np.where(quality + 0.3 * rng.normal(size=quality.shape) > 0.1, 0.9, -0.9)
    own = _GENERAL + rng.integers(_CONTENT, size=(size.items, 2 * _OWN))
    to_the_point = 0.5 + 0.5 * size.telling * quality
    texts = _texts(rng, phrases, own, np.clip(to_the_point, 0.05, 0.95), _GENERAL_SHARE)
    ability = 0.45 + np.linspace(0.0, size.spread, size.systems)
    ease = rng.normal(0.0, 0.15, size=(size.items, 1))
    luck = rng.normal(0.0, 0.1, size=(size.items, size.systems))
    general = _GENERAL_SHARE + rng.uniform(-0.1, 0.15, size=size.systems)
    spoken = _texts(rng, phrases, own, np.clip(ability + ease + luck, 0.02, 0.98), general)
    items = [
        Item(
            f"i{number}",
            tuple(
                Reference(f"r{place}", text, None, origin, Source(rank=rank) if rank else None)  # type: ignore[arg-type]
                for place, (text, (origin, rank)) in enumerate(zip(row, kinds, strict=True))
            ),
        )
        for number, row in enumerate(texts)
    ]
    outputs = [[row[system] for row in spoken] for system in range(size.systems)]
    return WrittenStudy(reference_set(items), outputs, _answers(quality, size, rng))


def _phrases(rng: np.random.Generator) -> list[str]:
    chances = _zipf(_FUNCTION_WORDS)

    def function_words(number: int) -> list[str]:
        return [f"f{word}" for word in rng.choice(_FUNCTION_WORDS, size=number, p=chances)]

    general = [" ".join(function_words(int(rng.integers(1, 4)))) for _ in range(_GENERAL)]
    content = []
    for _ in range(_CONTENT):
        words = [f"w{word}" for word in rng.integers(_CONTENT_WORDS, size=int(rng.integers(1, 3)))]
        content.append(" ".join(function_words(int(rng.integers(2))) + words))
    return general + content


def _zipf(size: int) -> Array:
    chances: Array = 1.0 / np.arange(1, size + 1)
    chances /= chances.sum()
    return chances


def _qualities(
    kinds: list[tuple[str, int]], mined: int, items: int, rng: np.random.Generator
) -> Array:
    typical = {"original": (0.7, 0.2), "mined": (0.35, 0.4), "random": (-0.8, 0.15)}
    typical["parrot"] = (-0.4, 0.3)
    mean = np.array([typical[origin][0] - 0.6 * rank / mined for origin, rank in kinds])
    spread = np.array([typical[origin][1] for origin, _ in kinds])
    shared = rng.normal(0.0, 0.15, size=(items, 1))
    quality: Array = mean + shared + spread * rng.normal(size=(items, len(kinds)))
    return np.clip(quality, -1.0, 1.0)


def _texts(
    rng: np.random.Generator,
    phrases: list[str],
    own: Ints,
    to_the_point: Array,
    general: float | Array,
) -> list[list[str]]:
    shape = (*to_the_point.shape, _LONGEST)
    kind = rng.random(shape)
    good = rng.random(shape) < to_the_point[..., None]
    which = rng.integers(_OWN, size=shape) + np.where(good, 0, _OWN)
    items = np.arange(len(own))[:, None, None]
    chosen = own[items, which]
    stray = _GENERAL + rng.integers(_CONTENT, size=shape)
    chosen = np.where(kind > 1.0 - _STRAY_SHARE, stray, chosen)
    common = rng.choice(_GENERAL, size=shape, p=_zipf(_GENERAL))
    share = np.broadcast_to(general, to_the_point.shape)[..., None]
    chosen = np.where(kind < share, common, chosen)
    lengths = rng.integers(3, _LONGEST + 1, size=to_the_point.shape)
    spoken: Any = chosen.tolist()
    sizes: Any = lengths.tolist()
    return [
        [" ".join(phrases[one] for one in text[:n]) for text, n in zip(row, own_sizes, strict=True)]
        for row, own_sizes in zip(spoken, sizes, strict=True)
    ]


def _answers(quality: Array, size: StudySize, rng: np.random.Generator) -> Array:
    """Raters differ in harshness and are noisy."""
    flat = quality.reshape(-1, 1)
    shape = (len(flat), size.raters)
    noise = rng.normal(0.0, _NOISE, size=shape)
    if size.who == "in turn":
        harshness = np.linspace(-0.5, 0.5, size.raters)
        felt = np.linspace(1.3, 0.4, size.raters) * flat + harshness + 0.6 * noise
    else:
        own = rng.normal(0.0, _HARSHNESS * (3.0 if size.who == "by item" else 1.0), size=_RATERS)
        groups = (quality.shape[0], 1) if size.who == "by item" else quality.shape
        who = rng.integers(_RATERS, size=(*groups, size.raters))
        who = np.broadcast_to(who, (*quality.shape, size.raters)).reshape(shape)
        felt = flat + own[who] + noise
    answers: Array = np.clip(np.round(2.0 * felt) / 2.0, -1.0, 1.0)
    return answers
