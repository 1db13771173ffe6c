"""`deltableu rate new`, and what is changed of a campaign later."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from deltableu.cli.inputs import system_pairs
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Positive, Several, Whole
from deltableu.cli.output import Format, emit, note, remark, tell
from deltableu.corpus import read_study
from deltableu.errors import InputError
from deltableu.io import Table, check_new_file, read_toml, write_csv
from deltableu.rate import BlockPlan

if TYPE_CHECKING:
    from deltableu.rate.server import RaterLink

What: TypeAlias = Literal["references", "outputs", "pairs", "seeds"]
RatingScale: TypeAlias = Literal["likert5", "slider100", "preference"]
#: Where a server listens unless it is told otherwise.
LOCAL = "http://127.0.0.1:8765"
_PRESETS = {"likert5": "delta-bleu", "slider100": "slider", "preference": "preference"}


@grouped
def new(
    campaign: Path,
    *,
    study: Path,
    what: What,
    scale: RatingScale | None = None,
    per_item: Positive = 5,
    raters: Annotated[list[str] | None, Several] = None,
    preset: str | None = None,
    settings: Path | None = None,
    title: str | None = None,
    language: str | None = None,
    crowd: str | None = None,
    pairs: Annotated[list[str] | None, Several] = None,
    systems: Annotated[list[str] | None, Several] = None,
    per_rater: Whole = 0,
    pilot: Whole = 0,
    pilot_raters: Positive = 15,
    count_ratings: Annotated[bool, Flag] = False,
    controls: Annotated[bool, Flag] = False,
    practice: bool = True,
    lease: float = 30.0,
    expires: float | None = None,
    url: str | None = None,
    database: str | None = None,
    links: Path | None = None,
    seed: Whole = 0,
    format: Format = "table",
) -> None:
    """Make a campaign: a page on which people rate references or outputs of a study.

    deltableu rate new CAMPAIGN --study STUDY --what references --raters 10. Then deltableu rate
    serve CAMPAIGN.

    Parameters
    ----------
    campaign
        The folder of the new campaign.
    study
        The study whose references or outputs are rated.
    what
        references: each reference; outputs: each system's output; pairs: two systems' outputs at
        once; seeds: the original response of each candidate, to choose items by (rate seeds).
    scale
        likert5: 1 to 5; slider100: 0 to 100; preference: the first, the second, or a tie (with
        pairs). By default what the preset has.
    per_item
        Number of raters of each reference, output or pair.
    raters
        Names of raters, or how many. More can be added later (rate add).
    preset
        Wording of the questions: delta-bleu, upsilon-bleu, direct-assessment, slider or
        preference; by default that of the scale. It is copied to campaign.toml, to be changed.
    settings
        A TOML file with questions of your own, in place of the preset's: see docs/how-to/rate.md.
    title
        What raters read at the top.
    language
        Language of buttons and hints: en, de, ja or ar. Questions are those of the preset.
    crowd
        One link for all, on which a crowd platform puts its workers' ids under this name:
        PROLIFIC_PID, or workerId for MTurk. Codes for the end are set in campaign.toml.
    pairs
        With --what pairs: which systems, such as --pairs A,B A,C. By default all pairs.
    systems
        Only these systems' outputs.
    per_rater
        Most tasks of one rater; 0 is no limit.
    pilot
        Begin with so many tasks, drawn at random, each for many raters; deltableu rate pilot then
        says how many raters are enough, and opens the rest.
    pilot_raters
        Number of raters of each task of a pilot.
    count_ratings
        Ratings that the study has already count: what 3 people rated needs 2 more to have 5.
    controls
        Put control items among the tasks, in sets of 100 that one rater does in a row: degraded
        copies, repeats and original references (Direct Assessment). Who fails them is told by rate
        check, and on the organiser's page.
    practice
        Whether raters begin with the preset's practice tasks.
    lease
        Minutes that a rater has for a task before another may get it.
    expires
        Days after which links end.
    url
        By which raters will reach the server, such as https://example.org/study.
    database
        A PostgreSQL database, such as postgresql://USER@HOST/NAME, for many raters; its password
        comes from PGPASSWORD or ~/.pgpass. By default SQLite in the campaign's folder.
    links
        Also write names and links to this new CSV file, which only you can read.
    seed
        For the order of tasks.
    format
        How the links are printed.
    """
    from deltableu.rate import server

    if links is not None:
        check_new_file(links, [study], replace=False)
    read = read_study(study, systems=systems, ratings=count_ratings, report=tell)
    wording = preset or _PRESETS[scale or ("preference" if what == "pairs" else "likert5")]
    values: dict[str, Any] = dict(server.preset(wording))
    if scale not in (None, values["scale"]) and settings is None:
        raise InputError(f"the preset {wording} is for {values['scale']}, not for {scale}")
    # Those of a preset show one response.
    if not practice or (what == "pairs") != (wording == "preference"):
        values.pop("practice", None)
    if settings is not None:
        values |= read_toml(settings)
    given = {
        "what": what, "scale": scale, "title": title, "language": language,
        "crowd": crowd, "per_item": per_item,
        "per_rater": per_rater, "lease_minutes": lease, "url": url, "database": database,
        "study": os.path.relpath(study.absolute(), campaign.absolute()),
    }  # fmt: skip
    values |= {key: value for key, value in given.items() if value is not None}
    made = server.settings_from(values, str(settings or "campaign.toml"))
    chosen = None if pairs is None else system_pairs(pairs, tuple(read.outputs))
    done = server.new_campaign(
        campaign,
        made,
        read,
        pairs=chosen,
        raters=_names(raters, ()),
        expires=_days(expires),
        pilot=pilot,
        pilot_raters=pilot_raters,
        count_ratings=count_ratings,
        controls=BlockPlan() if controls else None,
        seed=seed,
    )
    base = (made.url or LOCAL).rstrip("/")
    note(f"made {campaign}: {done.tasks:,} tasks, {done.wanted:,} ratings wanted")
    rows = [("(organiser)", f"{base}/admin/{done.admin}"), *_rows(done.links, base)]
    if done.join is not None:
        rows.insert(1, ("(crowd)", f"{base}/j/{done.join}?{made.crowd}=ID"))
    _show(rows, links, format)
    if 0 < len(done.links) < per_item and not made.crowd and not pilot:
        there = f"there are {len(done.links)}: add some (rate add)"
        remark(f"{per_item} raters are wanted for each, and {there}")
    if not (done.links or made.crowd or pilot):
        remark(f"nobody has a link yet: deltableu rate add {campaign} --raters 3 makes three")
    remark(f"links are shown only now; the page is served by: deltableu rate serve {campaign}")


@grouped
def add(
    campaign: Path,
    *,
    raters: Annotated[list[str] | None, Several] = None,
    study: Path | None = None,
    pairs: Annotated[list[str] | None, Several] = None,
    per_item: Positive | None = None,
    expires: float | None = None,
    database: str | None = None,
    links: Path | None = None,
    seed: Whole = 0,
    format: Format = "table",
) -> None:
    """Add raters, items or ratings per item to a campaign, also while it is served.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    raters
        Names of new raters, or how many.
    study
        A study: what it has and the campaign does not is rated too.
    pairs
        With --study: only these pairs of systems.
    per_item
        The new number of raters of each reference, output or pair.
    expires
        Days after which the new links end.
    database
        Where answers are, if not where the campaign says.
    links
        Also write names and links to this new CSV file, which only you can read.
    seed
        For the order of tasks.
    format
        How the links are printed.
    """
    from deltableu.rate import server

    if raters is None and study is None and per_item is None:
        raise InputError("name what to add: --raters, --study or --per-item")
    if links is not None:
        check_new_file(links, [campaign], replace=False)
    if pairs is not None and study is None:
        raise InputError("--pairs goes with --study")
    until = _days(expires)
    settings, opened = server.open_database(campaign, database or "")
    with closing(opened):
        with opened.reading() as connection:
            there = [row.name for row in server.read_raters(connection)]
        names = _names(raters, there)
        # What is wrong is said before anything is changed.
        opened.check_new_raters(names)
        server.check_per_item(per_item or settings.per_item)
        if study is not None:
            read = read_study(study, ratings=False, report=tell)
            chosen = None if pairs is None else system_pairs(pairs, tuple(read.outputs))
            number = server.add_items(
                campaign, read, pairs=chosen, address=database or "", seed=seed
            )
            note(f"added {number:,} tasks")
        if per_item is not None:
            number = server.set_per_item(campaign, per_item, address=database or "")
            note(f"raters wanted for each of {number:,} tasks: {per_item}")
        made = opened.add_raters(names, until) if names else []
    if made:
        _show(_rows(made, (settings.url or LOCAL).rstrip("/")), links, format)


@grouped
def link(
    campaign: Path,
    raters: Annotated[list[str] | None, Several] = None,
    *,
    organiser: Annotated[bool, Flag] = False,
    expires: float | None = None,
    database: str | None = None,
    links: Path | None = None,
    format: Format = "table",
) -> None:
    """Give raters new links; their old ones end.

    deltableu rate link CAMPAIGN ANN BOB, or deltableu rate link CAMPAIGN --organiser.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    raters
        Names of raters.
    organiser
        Give the organiser a new link too.
    expires
        Days after which the new links of raters end.
    database
        Where answers are, if not where the campaign says.
    links
        Also write names and links to this new CSV file, which only you can read.
    format
        How the links are printed.
    """
    from deltableu.rate import server

    if not raters and not organiser:
        raise InputError("name raters who get new links, or say --organiser")
    if links is not None:
        check_new_file(links, [campaign], replace=False)
    settings, opened = server.open_database(campaign, database or "")
    base = (settings.url or LOCAL).rstrip("/")
    with closing(opened):
        rows = _rows(opened.new_links(raters or [], _days(expires)), base)
        if organiser:
            rows.insert(0, ("(organiser)", f"{base}/admin/{opened.new_admin()}"))
    _show(rows, links, format)


@grouped
def revoke(
    campaign: Path, raters: Annotated[list[str], Several], *, database: str | None = None
) -> None:
    """End raters' links; what they said stays.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    raters
        Names of raters.
    database
        Where answers are, if not where the campaign says.
    """
    from deltableu.rate import server

    _, opened = server.open_database(campaign, database or "")
    with closing(opened):
        opened.revoke(*raters)
    for name in dict.fromkeys(raters):
        note(f"the link of {name} has ended")


@grouped
def forget(
    campaign: Path, raters: Annotated[list[str], Several], *, database: str | None = None
) -> None:
    """Put a name that says nothing in place of a rater's, and end the link.

    Ratings stay, and nobody can tell any more whose they are. Files that were exported or backed
    up before still have the name.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    raters
        Names of raters.
    database
        Where answers are, if not where the campaign says.
    """
    from deltableu.rate import server

    _, opened = server.open_database(campaign, database or "")
    with closing(opened):
        for name in opened.forget(*raters):
            note(f"a rater is {name} now")


@grouped
def exclude(
    campaign: Path, raters: Annotated[list[str], Several], *, database: str | None = None
) -> None:
    """Let nothing count that these raters said, and give their tasks to others.

    Their ratings stay in the database (rate export --excluded writes them); their links end.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    raters
        Names of raters.
    database
        Where answers are, if not where the campaign says.
    """
    from deltableu.rate import server

    _, opened = server.open_database(campaign, database or "")
    with closing(opened):
        opened.exclude(*raters)
    for name in dict.fromkeys(raters):
        note(f"what {name} said does not count any more")


@grouped
def pause(campaign: Path, *, database: str | None = None) -> None:
    """Let nobody rate for now; what is still under way is refused and sent again later.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    database
        Where answers are, if not where the campaign says.
    """
    _set_state(campaign, database, "paused")


@grouped
def resume(campaign: Path, *, database: str | None = None) -> None:
    """Let people rate again.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    database
        Where answers are, if not where the campaign says.
    """
    _set_state(campaign, database, "open")


def _set_state(campaign: Path, database: str | None, state: str) -> None:
    from deltableu.rate import server

    _, opened = server.open_database(campaign, database or "")
    with closing(opened):
        opened.set_fact("state", state)
    note(f"{campaign} is {state} now")


def _names(raters: Sequence[str] | None, there: Sequence[str]) -> list[str]:
    """Names, or as many new ones as a number says."""
    from deltableu.rate import server

    if not raters:
        return []
    if len(raters) == 1 and raters[0].isdecimal():
        number = int(raters[0])
        if not 1 <= number <= 100_000:
            raise InputError(f"--raters must be between 1 and 100000, got {raters[0]}")
        return server.random_names(number, there)
    return [name for one in raters for name in one.split(",") if name]


def _days(expires: float | None) -> timedelta | None:
    if expires is None:
        return None
    if not 0 < expires <= 36_500:
        raise InputError(f"--expires takes days between 0 and 36500, got {expires:g}")
    return timedelta(days=expires)


def _rows(links: Sequence[RaterLink], base: str) -> list[tuple[str, str]]:
    return [(one.name, f"{base}/r/{one.token}") for one in links]


def _show(rows: Sequence[tuple[str, str]], links: Path | None, format: Format) -> None:
    if links is not None:
        before = os.umask(0o077)
        try:
            write_csv(links, ("rater", "link"), [{"rater": a, "link": b} for a, b in rows])
        finally:
            os.umask(before)
    result: list[dict[str, Any]] = [{"rater": name, "link": place} for name, place in rows]
    emit(Table(("rater", "link"), rows), result, format)
