"""`deltableu experiment`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deltableu.cli.app import check_command
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Positive, Several, subcommands
from deltableu.cli.output import Format, emit, note, tell
from deltableu.cli.stage_bars import StageBars
from deltableu.corpus import Missing, check_new_study, check_study, read_study, write_study
from deltableu.errors import InputError
from deltableu.experiment import (
    Design,
    Made,
    Ran,
    experiment_state,
    gather_study,
    read_design,
    run_stages,
    unused_results,
)
from deltableu.io import atomic_folder, atomic_path
from deltableu.report import check_plotting
from deltableu.score import metric_class

experiment = subcommands(
    "experiment", "Carry logs through all stages to a report, and keep what is done."
)

_Set = Parameter(name="--set", consume_multiple=True, negative=())


@experiment.command
@grouped
def run(
    design: Path,
    *,
    output: Annotated[Path | None, Output] = None,
    set_: Annotated[list[str] | None, _Set] = None,
    jobs: Positive = 2,
    engine: str | None = None,
    threads: Positive | None = None,
) -> None:
    """Run an experiment: what is done already is not done again.

    deltableu experiment run experiment.toml. Its stages are commands of this tool: pairs of three
    periods, items, responders and their outputs, mined references, their weights, ratings, scores,
    comparisons, agreement with people, and a report. The result of each is kept under a hash of all
    that it depends on, so that another setting repeats only what comes after it, and a run that was
    killed goes on where it was.

    Parameters
    ----------
    design
        The configuration, in TOML: see docs/how-to/experiment.md.
    output
        The folder of all results; by default one beside the configuration that has its name.
    set_
        A setting in place of the configuration's, such as mine.top=5 or 'title="Five"'.
    jobs
        Number of stages that may run side by side.
    engine
        Where the stages that scale are worked on: threads, dask, dask://HOST:PORT or
        tls://HOST:PORT. No result depends on it.
    threads
        Threads of each stage; all cores by default.
    """
    wanted = read_design(design, changes=set_ or (), engine=engine, threads=threads)
    _check(wanted, design)
    # The report is the last stage: what it lacks must not be found out after hours.
    check_plotting("the report of an experiment")
    folder = _folder(design, output)
    with StageBars() as bars:
        ran = run_stages(wanted.stages, folder, jobs=jobs, on_event=bars)
    _publish(wanted, ran, folder)
    sys.stdout.write(f"{wanted.title}\n\n")
    for made in wanted.printed:
        sys.stdout.write(ran.path(made.stage, made.name).read_text("utf-8") + "\n")
    note(f"the study: {folder / 'study'}; tables and plots: {folder / 'tables'}")
    note(f"the report: {folder / 'report.html'}")


@experiment.command
@grouped
def show(
    design: Path,
    *,
    output: Annotated[Path | None, Output] = None,
    set_: Annotated[list[str] | None, _Set] = None,
    commands: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Show the stages of an experiment: what is done, how long that took, and what is not.

    Parameters
    ----------
    design
        The configuration.
    output
        The folder of all results, as for experiment run.
    set_
        A setting in place of the configuration's, as for experiment run.
    commands
        Also show the command of each stage.
    format
        How the stages are printed.
    """
    wanted = read_design(design, changes=set_ or ())
    _check(wanted, design)
    found = experiment_state(wanted, _folder(design, output))
    emit(found.table(commands=commands), found, format)


@experiment.command
@grouped
def clean(
    design: Path,
    *,
    output: Annotated[Path | None, Output] = None,
    set_: Annotated[list[str] | None, _Set] = None,
) -> None:
    """Remove the results of other settings than those that the configuration has now.

    Parameters
    ----------
    design
        The configuration.
    output
        The folder of all results, as for experiment run.
    set_
        A setting in place of the configuration's, as for experiment run.
    """
    number, size = unused_results(read_design(design, changes=set_ or ()), _folder(design, output))
    note(f"removed {number} results of other settings ({size / 1e6:.1f} MB)")


@experiment.command
@grouped
def gather(
    study: Path,
    *,
    output: Annotated[Path, Output],
    outputs: Annotated[list[str] | None, Several] = None,
    types: Annotated[list[str] | None, Several] = None,
    ratings: Annotated[list[str] | None, Several] = None,
    note: str | None = None,
    missing: Missing = "error",
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Put a study, outputs of systems and ratings together to one study.

    Parameters
    ----------
    study
        A folder with items; what it has of outputs, ratings and systems comes along.
    output
        The folder of the new study.
    outputs
        Outputs of more systems, as NAME=FILE.
    types
        What type systems are of, such as neural or retrieval, as NAME=TYPE.
    ratings
        Files of ratings.
    note
        What readers of reports should know of the study.
    missing
        What to do with items for which a system has no output: end with an error, take an empty
        text, or leave the item out.
    replace
        Put the new study in the place of an old one.
    format
        How the summary is printed.
    """
    files = _named("--outputs", outputs or ())
    check_new_study(output, [*files.values(), *(ratings or ())], replace=replace, source=study)
    made = gather_study(
        read_study(study, report=tell),
        files,
        types=_named("--types", types or ()),
        ratings=ratings or (),
        note=note,
        missing=missing,
        report=tell,
    )
    write_study(made, output, replace=replace)
    found = check_study(output)
    emit([found.table(), found.systems_table()], found, format)


def _folder(design: Path, output: Path | None) -> Path:
    return design.with_suffix("") if output is None else output


def _check(wanted: Design, design: Path) -> None:
    """Complain of settings that a stage would not take, before any has run."""
    for stage in wanted.stages:
        words = stage.arguments(Path("."), lambda made: Path(made.name))
        try:
            check_command(words)
            if "--metrics" in words:
                for name in words[words.index("--metrics") + 1].replace(",", " ").split():
                    metric_class(name)
        except InputError as error:
            problem = changed(error.problem, file=str(design), field=stage.section or stage.name)
            raise InputError(problem) from None


def _publish(wanted: Design, ran: Ran, folder: Path) -> None:
    """Copy what people look at out of the folders of stages."""
    if isinstance(wanted.study, Made):
        _copy_folder(ran.path(wanted.study.stage, wanted.study.name), folder / "study")
    _copy_folder(ran.path("report", "tables"), folder / "tables")
    with atomic_path(folder / "report.html") as place:
        shutil.copyfile(ran.path("report", "report.html"), place)


def _copy_folder(source: Path, target: Path) -> None:
    with atomic_folder(target, replace=True) as place:
        shutil.copytree(source, place, dirs_exist_ok=True)


def _named(option: str, texts: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} takes NAME=VALUE, got {text!r}")
        if name in found:
            raise InputError(f"{option} names {name!r} twice")
        found[name] = value
    return found
