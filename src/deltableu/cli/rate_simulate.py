"""`deltableu rate simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Positive, Several, Whole
from deltableu.cli.output import Format, emit, note, tell
from deltableu.corpus import check_new_study, read_study, write_study
from deltableu.errors import InputError
from deltableu.io import as_record
from deltableu.rate import SimulatedRaters, SimulatedScale, SimulatedTargets, simulate_study


@grouped
def simulate(
    study: Path,
    *,
    output: Annotated[Path, Output],
    what: SimulatedTargets = "outputs",
    raters: Positive = 5,
    pool: Positive | None = None,
    quality: Annotated[list[str] | None, Several] = None,
    item_effect: float = 0.3,
    output_effect: float = 0.3,
    rater_bias: float = 0.15,
    noise: float = 0.5,
    scale: SimulatedScale = "1-5",
    seed: Whole = 0,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Write the study with simulated ratings, where there are no people to ask.

    deltableu rate simulate STUDY -o NEWSTUDY --quality A=.4 B=-.1. No text is looked at, so that
    what metrics make of these ratings says nothing about the metrics: tables made from them are
    labelled, and no metric is ranked by them. What has ratings already keeps them.

    Parameters
    ----------
    study
        A study folder.
    output
        The folder of the new study.
    what
        Whether outputs of systems or references get ratings. References also get weights, the
        means of their ratings.
    raters
        Ratings of each output or reference.
    pool
        Number of simulated raters, of whom each item gets as many as --raters says; by default
        twice as many.
    quality
        The mean of a system, or of references of an origin, from -1 to 1: --quality A=.4 B=-.1. A
        system that is not named draws one by its name and the seed.
    item_effect
        Standard deviation of what all ratings of an item share, on a scale from -1 to 1.
    output_effect
        Standard deviation of what all ratings of one output, or reference, share.
    rater_bias
        Standard deviation of raters' biases.
    noise
        Standard deviation of single ratings.
    scale
        The scale of the ratings.
    seed
        Seed of everything random.
    replace
        Put the new study in the place of an old one.
    format
        How the table is printed.
    """
    settings = SimulatedRaters(
        raters=raters,
        pool=pool,
        scale=scale,
        qualities=_qualities(quality or []),
        item_effect=item_effect,
        output_effect=output_effect,
        rater_bias=rater_bias,
        noise=noise,
        seed=seed,
    )
    check_new_study(output, [], replace=replace, source=study)
    found = simulate_study(read_study(study, report=tell), settings, what)
    write_study(found.study, output, replace=replace)
    said = found.sentences()
    emit(found.table(), {**as_record(found), "verdict": list(said)}, format, verdict=said)
    note(f"wrote {output}: {len(found.ratings):,} simulated ratings of {what}")


def _qualities(given: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not name or number != number:
            raise InputError(f"--quality takes NAME=VALUE, such as A=.4, got {text!r}")
        if name in found:
            raise InputError(f"--quality names {name!r} twice")
        found[name] = number
    return found
