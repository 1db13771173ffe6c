"""`python -m simulations`: simulates everything and writes its tables into the pages of docs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from deltableu.io import atomic_write
from simulations import (
    compare,
    estimated_quality,
    families,
    fewer_ratings,
    groups,
    validate_tables,
    weight_noise,
)
from simulations import gate as gates
from simulations import preferences as by_preference
from simulations import rater_checks as checked_raters
from simulations import raters as rating_noise
from simulations import runs as several_runs
from simulations.replications import Progress
from simulations.tables import band, outside, pivot, replace_block

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
VALIDATION_PAGE = PAGE.with_name("statistics-validate.md")
GATE_PAGE = PAGE.parent / "how-to" / "gate.md"
RATE_PAGE = PAGE.parent / "how-to" / "rate.md"
FEWER_PAGE = RATE_PAGE.with_name("fewer-ratings.md")
REPLICATIONS = 2000
SEED = 0
#: A simulated pilot gives means, not a rate: fewer of them do.
_PER_PILOT = 20
#: A study whose raters are resampled takes long, and so does one whose units are drawn again.
_PER_STUDY = 8
#: A campaign has a hundred raters of each sort.
_PER_CAMPAIGN = 200
#: Large studies take minutes each, the demo seconds, small ones one.
_PER_LARGE_STUDY, _PER_DEMO, _PER_SMALL_STUDY, _PER_ESTIMATE = 333, 100, 4, 5

#: Tables that say themselves how many replications they are of.
_OWN_BANDS = (
    *("simulated weights", "simulated raters", "validated units", "validated accuracies"),
    *("checked raters", "planned orders", "planned stops", "planned chances"),
    "planned estimates",
)

Tables = dict[str, str]


def comparisons(replications: int, progress: Progress | None = None) -> Tables:
    """Size of the tests and coverage of the intervals."""
    rows = compare.simulate(replications, SEED, progress=progress)
    sizes = [row for row in rows if row.what == "size"]
    few = {(row.data, row.n) for row in sizes if row.method == "permutation"}
    exact = [row for row in sizes if (row.data, row.n) in few]
    powers = [row for row in rows if row.what == "power"]
    return {
        "simulated power": pivot(powers, compare.TESTS),
        "simulated tests": pivot([row for row in sizes if row not in exact], compare.TESTS),
        "simulated exact tests": pivot(exact, compare.TESTS),
        "simulated intervals": pivot(
            outside([row for row in rows if row.what == "coverage"]), compare.INTERVALS
        ),
    }


def corrections(replications: int, progress: Progress | None = None) -> Tables:
    """False claims among several pairs."""
    rows = families.simulate(replications, SEED, progress=progress)
    return {"simulated families": pivot(rows, families.CORRECTIONS)}


def dialogues(replications: int, progress: Progress | None = None) -> Tables:
    """Items that belong together."""
    rows = groups.simulate(replications, SEED, progress=progress)
    sizes, covered = (
        pivot([row for row in rows if row.what == what], groups.METHODS)
        for what in ("size", "coverage")
    )
    return {
        "simulated groups": f"How often equal systems are told apart at 5%:\n\n{sizes}\n\n"
        f"How often a 95% interval holds the true difference:\n\n{covered}"
    }


def runs(replications: int, progress: Progress | None = None) -> Tables:
    """Several runs of each system."""
    return {
        "simulated runs": several_runs.table(
            several_runs.simulate(replications, SEED, progress=progress)
        )
    }


def raters(replications: int, progress: Progress | None = None) -> Tables:
    """Coverage and size where ratings are resampled."""
    studies = max(1, replications // _PER_STUDY)
    rows = rating_noise.simulate(studies, SEED, progress=progress)
    covered, sizes, errors = (
        pivot(found, list(dict.fromkeys(row.method for row in found)))
        for what in ("coverage", "size", "error")
        for found in [[row for row in rows if row.what == what]]
    )
    return {
        "simulated raters": f"{_bands(studies)}\n\nHow often a 95% interval holds the target:"
        f"\n\n{covered}\n\nHow often no difference is called significant at 5%:\n\n{sizes}\n\n"
        f"Root of the mean squared error:\n\n{errors}"
    }


def checks(replications: int, progress: Progress | None = None) -> Tables:
    """Raters who are found out, and careful ones who are wronged."""
    campaigns = max(1, replications // _PER_CAMPAIGN)
    made = checked_raters.table(checked_raters.simulate(campaigns, SEED, progress=progress))
    each = f"{campaigns * checked_raters.EACH:,}"
    return {"checked raters": f"Per cent of {each} simulated raters of each sort.\n\n{made}"}


def planning(replications: int, progress: Progress | None = None) -> Tables:
    """The share of ratings that a ranking needs, by the order in which references are rated."""
    large, demo = replications // _PER_LARGE_STUDY, max(1, replications // _PER_DEMO)
    courses = fewer_ratings.plan_studies(large, demo, progress=progress)
    return {"planned orders": fewer_ratings.planning_table(courses)}


def stopping(replications: int, progress: Progress | None = None) -> Tables:
    """How often a ranking by ratings that were stopped is another than that by all."""
    studies = max(1, replications // _PER_SMALL_STUDY)
    courses = fewer_ratings.stop_studies(studies, progress=progress)
    return {
        "planned stops": fewer_ratings.stopping_table(courses),
        "planned chances": fewer_ratings.calibration_table(courses),
    }


def estimating(replications: int, progress: Progress | None = None) -> Tables:
    """Intervals of quality from few ratings."""
    studies = max(1, replications // _PER_ESTIMATE)
    found = estimated_quality.simulate_estimates(studies, SEED, progress)
    made = estimated_quality.estimate_table(found)
    return {"planned estimates": f"Per cent of {studies:,} studies.\n\n{made}"}


def gate(replications: int, progress: Progress | None = None) -> Tables:
    """False alarms, false passes and power of gates."""
    return gates.tables(gates.simulate(replications, SEED, progress=progress))


def preferences(replications: int, progress: Progress | None = None) -> Tables:
    """Intervals of strengths, and false alarms about position."""
    return by_preference.tables(by_preference.simulate(replications, SEED, progress=progress))


def weights(replications: int, progress: Progress | None = None) -> Tables:
    """What other raters would have said: ways to draw their weights."""
    pilots = max(1, replications // _PER_PILOT)
    made = weight_noise.table(weight_noise.simulate(pilots, SEED, progress=progress))
    return {"simulated weights": f"Means of {pilots} pilots.\n\n{made}"}


def _validated(part: str, replications: int, progress: Progress | None = None) -> Tables:
    if part not in validate_tables.FEWER_STUDIES:
        return validate_tables.simulate(part, replications, SEED, progress=progress)
    studies = max(1, replications // _PER_STUDY)
    made = validate_tables.simulate(part, studies, SEED, progress=progress)
    return {name: f"{_bands(studies)}\n\n{table}" for name, table in made.items()}


SIMULATIONS: dict[str, Callable[[int, Progress | None], Tables]] = {
    "comparisons": comparisons,
    "corrections": corrections,
    "groups": dialogues,
    "runs": runs,
    "raters": raters,
    "weights": weights,
    "gate": gate,
    "checks": checks,
    "preferences": preferences,
    "planning": planning,
    "stopping": stopping,
    "estimating": estimating,
    # Of agreement with people.
    **{part: partial(_validated, part) for part in validate_tables.PARTS},
}


def _bands(replications: int) -> str:
    low, high = (100.0 * rate for rate in band(compare.SIGNIFICANCE, replications))
    return (
        f"Per cent of {replications:,} replications. 99% bands: {low:.1f} to {high:.1f} around 5, "
        f"{100.0 - high:.1f} to {100.0 - low:.1f} around 95."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulations", description=__doc__)
    parser.add_argument(
        "simulations", nargs="*", help=f"only these of {', '.join(SIMULATIONS)}; all by default"
    )
    parser.add_argument(
        "--replications",
        type=int,
        help=f"print tables of so many replications and write nothing ({REPLICATIONS} are written)",
    )
    wanted = parser.parse_args(arguments)
    for name in wanted.simulations:
        if name not in SIMULATIONS:
            parser.error(f"there is no simulation {name!r}")
    replications = wanted.replications or REPLICATIONS
    start = time.perf_counter()
    tables: Tables = {}
    for name in wanted.simulations or SIMULATIONS:

        def tell(done: int, total: int, name: str = name) -> None:
            passed = time.perf_counter() - start
            print(f"{name}: {done} of {total} batches, {passed:.0f} s", file=sys.stderr)

        tables |= SIMULATIONS[name](replications, tell)
    tables = {
        name: table if name in _OWN_BANDS else f"{_bands(replications)}\n\n{table}"
        for name, table in tables.items()
    }
    if wanted.replications is not None:
        print("\n\n".join(f"## {name}\n\n{table}" for name, table in tables.items()))
        return 0
    _write(tables)
    return 0


def _page(name: str) -> Path:
    """Where a table belongs."""
    pages = {
        "gate": GATE_PAGE,
        "validated": VALIDATION_PAGE,
        "preference": RATE_PAGE,
        "checked": RATE_PAGE,
        "planned": FEWER_PAGE,
    }
    return pages.get(name.partition(" ")[0], PAGE)


def _write(tables: Tables) -> None:
    for place in dict.fromkeys(map(_page, tables)):
        page = place.read_text(encoding="utf-8")
        for name, table in tables.items():
            if _page(name) == place:
                page = replace_block(page, name, table)
        with atomic_write(place) as file:
            file.write(page)
        print(f"wrote {place.relative_to(PAGE.parents[1])}")


if __name__ == "__main__":
    sys.exit(main())
