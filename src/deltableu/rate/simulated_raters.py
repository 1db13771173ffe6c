"""Settings and a seed in; what raters that do not exist say of anything, out.

They stand in where nobody can be asked, so that everything after the ratings can be tried. They
say nothing of any text: no text is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from numbers import Real
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array
from deltableu.corpus import SIMULATED_PREFIX, Scale
from deltableu.errors import InputError, check_at_least, check_choice, check_kind
from deltableu.stats import stream

SimulatedTargets = Literal["outputs", "references"]
SimulatedScale = Literal["1-5", "0-100"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRaters:
    """How ratings are simulated, on a scale from -1 to 1 that is then stretched to that of ratings.

    A rating is the quality of its system, plus an effect of its item, an effect of the single
    output, the bias of its rater and noise; the effects are normal, and these are their standard
    deviations.

    Parameters
    ----------
    raters : int
        Ratings of each output or reference.
    pool : int, optional
        How many raters there are, of whom each item gets some; by default twice as many.
    scale : {"1-5", "0-100"}
    qualities : mapping of str to float
        The mean of a system, from -1 to 1; a system that is not named draws one from -.6 to .6 by
        the seed and its name. Of references that of an origin, in place of original .7, written .5,
        mined .1, parrot -.6 and random -.8.
    item_effect, output_effect, rater_bias, noise : float
        What all ratings of an item share, all of an output, all by a rater, and what none share.
    seed : int
    """

    raters: int = 5
    pool: int | None = None
    scale: SimulatedScale = "1-5"
    qualities: Mapping[str, float] = field(default_factory=dict)
    item_effect: float = 0.3
    output_effect: float = 0.3
    rater_bias: float = 0.15
    noise: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least("raters", self.raters, 1)
        if self.pool is not None:
            check_at_least("pool", self.pool, self.raters)
        check_choice("scale", self.scale, get_args(SimulatedScale))
        check_kind("qualities", self.qualities, Mapping)
        for name, value in self.qualities.items():
            if not isinstance(value, Real) or not -1.0 <= float(value) <= 1.0:
                raise InputError(f"the quality of {name!r} must lie from -1 to 1, got {value!r}")
        for name in ("item_effect", "output_effect", "rater_bias", "noise"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0.0 <= float(value) < math.inf:
                raise InputError(f"{name} must be a standard deviation, 0 or more, got {value!r}")
        check_at_least("seed", self.seed, 0)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all raters; they say that nobody is behind them."""
        number = 2 * self.raters if self.pool is None else self.pool
        return tuple(f"{SIMULATED_PREFIX}{place:02d}" for place in range(1, number + 1))


class RatingModel:
    """Draws that are found by what they belong to, whatever was drawn before."""

    def __init__(self, settings: SimulatedRaters, what: SimulatedTargets) -> None:
        self.settings = settings
        self.what = what
        self.scale = Scale.parse(settings.scale)
        self.names = settings.names
        self.biases = np.array([self._normal("rater", name)[0] for name in self.names])
        self.biases *= settings.rater_bias
        self._items: dict[str, tuple[float, Array]] = {}

    def ratings(self, quality: float, item: str, target: str) -> Iterator[tuple[str, float]]:
        """Who says what of one target."""
        effect, chosen = self._of_item(item)
        # Raters come in their order, so that a larger pool draws the same for those before.
        own = self._normal("target", target, item, size=1 + len(self.names))
        shared = quality + effect + self.settings.output_effect * own[0]
        said = shared + self.biases + self.settings.noise * own[1:]
        low, high = self.scale.low, self.scale.high
        values = np.floor(low + (said + 1.0) * (high - low) / 2.0 + 0.5).clip(low, high)
        for place in chosen.tolist():
            yield self.names[place], float(values[place])

    def _of_item(self, item: str) -> tuple[float, Array]:
        """What all ratings of an item share, and who gives them: the same raters for all systems,
        so that their biases do not tell systems apart."""
        if item not in self._items:
            draws = named_stream(self.settings.seed, self.what, "item", item)
            effect = self.settings.item_effect * float(draws.standard_normal())
            order = np.argsort(draws.random(len(self.names)), kind="stable")
            self._items[item] = effect, np.sort(order[: self.settings.raters])
        return self._items[item]

    def _normal(self, *key: str, size: int = 1) -> Array:
        return named_stream(self.settings.seed, self.what, *key).standard_normal(size)


def named_stream(seed: int, *key: str) -> np.random.Generator:
    """A random stream that belongs to names; their lengths keep "1", "2x" from "12", "x"."""
    text = "".join(f"{len(one)} {one}" for one in key).encode("utf-8", "surrogatepass")
    return stream(seed, int.from_bytes(blake2b(text, digest_size=16).digest(), "big"))
