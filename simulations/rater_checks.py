"""Who is found out by `deltableu rate check`, and who is wronged: simulated raters of all sorts.

A text has a quality with mean 0 and standard deviation 1. A damaged copy is worse by an amount that
varies from copy to copy. Careful raters feel the quality with some noise and an own harshness, and
say so on the scale. Sloppy ones do not read every second text, and random ones none: they say what
another text might deserve. Inverted ones turn the scale round, constant ones say one thing, and
those who give up say one thing from the middle on. Blind ones are consistent and see no damage, as
somebody who goes by the length of texts. Nobody is faster than others.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from zlib import crc32

import numpy as np

from deltableu.corpus import KINDS, RatingTable
from deltableu.rate import RaterCheckPlan, check_raters
from deltableu.stats.resampling import stream
from simulations.replications import Progress

__all__ = ["PLANS", "POPULATIONS", "SORTS", "Found", "Population", "simulate", "table"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Sort = Literal["careful", "sloppy", "random", "constant", "inverted", "gives up", "blind"]

SORTS: tuple[Sort, ...] = get_args(Sort)
#: Raters of each sort in a campaign.
EACH = 100
_HARSHNESS = 0.3


@dataclass(frozen=True, slots=True)
class Population:
    """Raters who do one kind of campaign.

    Attributes
    ----------
    name : str
    texts, bad, repeats : int
        What each rater rates.
    scale : {"0-100", "1-5"}
    shift : float
        How much better texts are than the middle of the scale, in standard deviations: with much
        of it, most ratings are the highest.
    damage : float
        How much worse damaged copies are on average, in standard deviations.
    noise : float
        Of a careful rater.
    seconds : float
        Median per text.
    """

    name: str
    texts: int = 80
    bad: int = 10
    repeats: int = 10
    scale: Literal["0-100", "1-5"] = "0-100"
    shift: float = 0.0
    damage: float = 1.2
    noise: float = 0.5
    seconds: float = 8.0

    def campaign(self, number: int, seed: int, each: int = EACH) -> RatingTable:
        """The ratings of so many raters of each sort, named by their sort."""
        rng = stream(seed, crc32(self.name.encode()), number)
        kinds = np.repeat(
            [KINDS.index(kind) for kind in ("item", "bad-reference", "repeat")],
            [self.texts, self.bad, self.repeats],
        )
        size, raters = len(kinds), each * len(SORTS)
        item = np.concatenate(
            [np.arange(self.texts), np.arange(self.bad), self.texts - 1 - np.arange(self.repeats)]
        )
        quality = rng.normal(size=(raters, self.texts))[:, item]
        harm = np.abs(rng.normal(self.damage, 0.5 * self.damage, size=(raters, size)))
        harm *= np.repeat(np.array(SORTS) != "blind", each)[:, None]
        quality = quality - np.where(kinds == KINDS.index("bad-reference"), harm, 0.0)
        felt = self._felt(np.repeat(np.arange(len(SORTS)), each), quality, rng)
        order = np.argsort(rng.random((raters, size)), axis=1)
        values = np.take_along_axis(self._said(felt), order, axis=1)
        given_up = np.repeat(np.array(SORTS) == "gives up", each)
        values[given_up, size // 2 :] = values[given_up, size // 2 - 1][:, None]
        took = self.seconds * np.exp(rng.normal(0.0, 0.5, size=(raters, size)))
        ends = np.cumsum(took, axis=1)
        return RatingTable(
            raters=tuple(f"{sort} {one}" for sort in SORTS for one in range(each)),
            items=tuple(map(str, range(self.texts))),
            systems=("A",),
            rater=np.repeat(np.arange(raters), size),
            item=item[order].ravel(),
            system=np.zeros(raters * size, dtype=np.int64),
            values=values.ravel(),
            kinds=kinds[order].ravel(),
            scales=(self.scale,),
            scale=np.zeros(raters * size, dtype=np.int64),
            started=np.array([str(one) for one in (ends - took).ravel().tolist()], dtype=object),
            finished=np.array([str(one) for one in ends.ravel().tolist()], dtype=object),
        )

    def _felt(self, sort: Any, quality: Array, rng: np.random.Generator) -> Array:
        names = np.array(SORTS)[sort][:, None]
        unread = rng.normal(0.0, np.hypot(1.0, self.damage / 4.0), size=quality.shape)
        skipped = (names == "random") | ((names == "sloppy") & (rng.random(quality.shape) < 0.5))
        felt = np.where(skipped, unread, np.where(names == "inverted", -quality, quality))
        felt += rng.normal(0.0, self.noise, size=quality.shape)
        felt += rng.normal(0.0, _HARSHNESS, size=(len(quality), 1))
        return np.where(names == "constant", felt[:, :1], felt)

    def _said(self, felt: Array) -> Array:
        if self.scale == "1-5":
            return np.clip(np.round(3.0 + 1.1 * (felt + self.shift)), 1.0, 5.0)
        return np.clip(np.round(50.0 + 22.0 * (felt + self.shift)), 0.0, 100.0)


POPULATIONS: tuple[Population, ...] = (
    Population("as published: 100 ratings, 10 bad references, 10 repeats"),
    Population("300 ratings, 30 bad references, 30 repeats", 240, 30, 30),
    Population("50 ratings, 5 bad references, 5 repeats", 40, 5, 5),
    Population("30 ratings, 3 bad references, 3 repeats", 24, 3, 3),
    Population("as published, on a scale of five", scale="1-5"),
    Population("50 ratings, 5 bad references, on a scale of five", 40, 5, 5, scale="1-5"),
    Population("as published, most texts at the top of the scale", shift=2.5),
    Population("the same on a scale of five", scale="1-5", shift=2.0),
    Population("as published, damage that is hard to see", damage=0.6),
    Population("as published, careful raters who disagree", noise=1.0),
    Population("as published, 2 seconds per text", seconds=2.0),
    Population("no bad references, 10 repeats", 90, 0, 10),
    Population("no control items", 100, 0, 0),
)


#: The published rule beside the one that counts repeats too.
PLANS = {"both": RaterCheckPlan(), "published": RaterCheckPlan(evidence="bad-references")}


@dataclass(frozen=True, slots=True)
class Found:
    """How many raters of a sort failed, and cannot be judged, of so many; and by which checks."""

    population: Population
    plan: str
    sort: Sort
    raters: int
    failed: int
    unknown: int
    checks: Mapping[str, int]


def simulate(
    campaigns: int,
    seed: int = 0,
    *,
    chosen: Sequence[Population] = POPULATIONS,
    plans: Mapping[str, RaterCheckPlan] = PLANS,
    each: int = EACH,
    progress: Progress | None = None,
) -> list[Found]:
    """What becomes of raters of each sort in so many campaigns with `each` of them."""
    found = []
    for place, population in enumerate(chosen):
        failed: Counter[tuple[str, str]] = Counter()
        unknown: Counter[tuple[str, str]] = Counter()
        checks: Counter[tuple[str, str, str]] = Counter()
        for number in range(campaigns):
            ratings = population.campaign(number, seed, each)
            for name, plan in plans.items():
                for one in check_raters(ratings, plan).raters:
                    sort = one.rater.rpartition(" ")[0]
                    failed[name, sort] += one.passed is False
                    unknown[name, sort] += one.passed is None
                    checks.update((name, sort, check) for check in one.failed_by)
        for name in plans:
            for sort in SORTS:
                key = (name, sort)
                why = {check: count for (*whose, check), count in checks.items() if whose == [*key]}
                total = campaigns * each
                found.append(Found(population, name, sort, total, failed[key], unknown[key], why))
        if progress is not None:
            progress(place + 1, len(chosen))
    return found


def table(found: Sequence[Found]) -> str:
    """Markdown: populations in rows, and per cent of each sort that failed (or are not known)."""
    published: tuple[Sort, ...] = ("careful", "sloppy", "random", "blind")
    heading = [*SORTS, *(f"{sort}, published rule" for sort in published)]
    lines = [f"| raters rate | {' | '.join(heading)} |", "| --- |" + " --: |" * len(heading)]
    cells = {(one.population, one.plan, one.sort): _cell(one) for one in found}
    for population in dict.fromkeys(one.population for one in found):
        wanted = [("both", sort) for sort in SORTS] + [("published", sort) for sort in published]
        row = " | ".join(cells.get((population, *key), "") for key in wanted)
        lines.append(f"| {population.name} | {row} |")
    return "\n".join(lines)


def _cell(one: Found) -> str:
    unknown = 100.0 * one.unknown / one.raters
    cell = f"{100.0 * one.failed / one.raters:.1f}"
    return f"{cell} ({unknown:.0f})" if unknown >= 0.5 else cell


def main() -> int:
    """Simulate and print; the number of campaigns may be given."""
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    found = simulate(campaigns)
    print(table(found))
    for one in found:
        print(one.population.name, one.plan, one.sort, one.failed, one.unknown, one.checks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
