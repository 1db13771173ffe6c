"""What a campaign gave: its progress, ratings, weights, seeds and backups."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Positive, Whole
from deltableu.cli.output import Format, emit, note, tell
from deltableu.cli.rating_inputs import kept_ratings
from deltableu.corpus import (
    RatingTable,
    check_new_study,
    read_study,
    write_ratings,
    write_study,
)
from deltableu.errors import InputError
from deltableu.io import Own, as_record, check_apart, check_new_file

if TYPE_CHECKING:
    from deltableu.rate.server import Campaign


@grouped
def status(campaign: Path, *, database: str | None = None, format: Format = "table") -> None:
    """Say how far a campaign is, and who did how much; also while it is served.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    database
        Where answers are, if not where the campaign says.
    format
        How it is printed.
    """
    from deltableu.rate import server

    settings, opened = server.open_database(campaign, database or "")
    with closing(opened):
        found = server.campaign_status(settings, opened, server.utc_now())
    said = found.sentences()
    emit(found.tables(), {**as_record(found), "verdict": said}, format, verdict=said)


@grouped
def export(
    campaign: Path,
    *,
    output: Annotated[Path, Output],
    excluded: Annotated[bool, Flag] = False,
    drop_failed: Annotated[bool, Flag] = False,
    database: str | None = None,
) -> None:
    """Write a campaign's ratings to a file, also while it is served.

    deltableu rate export CAMPAIGN -o ratings.csv. Of an answer that a rater changed, the last
    version. A preference is two ratings on the scale 0-1.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    output
        A file that ends in .csv, .tsv, .jsonl or .parquet.
    excluded
        Also write what excluded raters said.
    drop_failed
        Leave out raters who fail deltableu rate check.
    database
        Where answers are, if not where the campaign says.
    """
    check_new_file(output, [campaign], own=Own.RATINGS)
    _, ratings = _ratings(campaign, database, excluded=excluded, drop_failed=drop_failed)
    write_ratings(output, ratings)
    note(f"wrote {len(ratings):,} ratings by {len(ratings.raters)} raters to {output}")


@grouped
def weights(
    campaign: Path,
    *,
    output: Annotated[Path, Output],
    study: Path | None = None,
    criterion: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    database: str | None = None,
    replace: Annotated[bool, Flag] = False,
) -> None:
    """Write the study with weights from a campaign's ratings of references.

    deltableu rate weights CAMPAIGN -o NEWSTUDY. A mean m of a 5-point scale becomes (m - 3)/2,
    that of a slider (m - 50)/50. Ratings come along as they were given.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    output
        The folder of the new study.
    study
        The study that was rated, if it is not where it was when the campaign was made.
    criterion
        Which question's ratings become weights, where there were several.
    drop_failed
        Leave out raters who fail deltableu rate check.
    database
        Where answers are, if not where the campaign says.
    replace
        Put the new study in the place of an old one.
    """
    from deltableu.rate import server

    settings, ratings = _ratings(campaign, database, drop_failed=drop_failed)
    source = _study_path(campaign, settings, study)
    check_new_study(output, [campaign], replace=replace, source=source)
    read = read_study(source, report=tell)
    made = server.weighted_study(read, ratings, criterion)
    write_study(made, output, replace=replace)
    rated = {(one.item, one.target) for one in ratings if one.target[:1] == "r"}
    note(f"wrote {output}: {len(rated):,} references have weights from {len(ratings):,} ratings")


@grouped
def seeds(
    campaign: Path,
    *,
    output: Annotated[Path, Output],
    keep: float = 4.0,
    dev: float = 0.5,
    study: Path | None = None,
    database: str | None = None,
    seed: Whole = 0,
) -> None:
    """Keep the items whose response people liked, and split them at random into dev and test.

    deltableu rate seeds CAMPAIGN -o SEEDS writes the studies SEEDS/dev and SEEDS/test, with the
    ratings so far. References are then mined for them (deltableu mine), and rated: rate new
    --what references --count-ratings asks for as many more ratings of the seeds as are missing,
    and keeps them whatever comes (Galley et al. 2015, section 4.1).

    Parameters
    ----------
    campaign
        A folder that deltableu rate new --what seeds made.
    output
        The folder of both studies, which must not be there.
    keep
        Lowest mean rating.
    dev
        Share of dev.
    study
        The candidates, if they are not where they were when the campaign was made.
    database
        Where answers are, if not where the campaign says.
    seed
        For the split.
    """
    from deltableu.rate import server

    settings, ratings = _ratings(campaign, database)
    if settings.what != "seeds":
        raise InputError(f"{campaign} rates {settings.what}: seeds come of --what seeds")
    source = _study_path(campaign, settings, study)
    check_apart(output, [campaign, source])
    if output.exists():
        raise InputError(f"{output}: is there already: choose another folder")
    read = read_study(source, report=tell)
    parts = server.split_seeds(read, ratings, keep=keep, dev=dev, seed=seed)
    server.write_seeds(parts, output)
    rated = len({one.item for one in ratings})
    kept = sum(len(part.items) for part in parts)
    note(
        f"kept {kept:,} of {rated:,} rated items: {len(parts[0].items):,} in {output}/dev, "
        f"{len(parts[1].items):,} in {output}/test"
    )


@grouped
def pilot(
    campaign: Path,
    *,
    target: float = 0.9,
    open: Annotated[bool, Flag] = False,
    per_item: Positive | None = None,
    database: str | None = None,
    seed: Whole = 0,
    format: Format = "table",
) -> None:
    """Say how many raters per item a pilot calls for, and open the rest of the campaign.

    deltableu rate pilot CAMPAIGN, after the pilot of rate new --pilot. The mean of some raters is
    correlated with that of the others (Graham et al. 2015; Wei 2018, section 2.1).

    Parameters
    ----------
    campaign
        A folder that deltableu rate new --pilot made.
    target
        The correlation that is enough.
    open
        Ask as many raters per item for the rest of the campaign.
    per_item
        With --open: this number instead.
    database
        Where answers are, if not where the campaign says.
    seed
        For random orders.
    format
        How it is printed.
    """
    from deltableu.rate import server

    _, ratings = _ratings(campaign, database)
    found = server.pilot_result(ratings, target, seed)
    said = found.sentences()
    number = per_item or found.enough
    if open and number is None:
        raise InputError(f"{said[0]} Choose --per-item, or ask more in the pilot")
    emit(found.consistency.table(), {**as_record(found), "verdict": said}, format, verdict=said)
    if open and number is not None:
        opened = server.set_per_item(campaign, number, address=database or "")
        note(f"raters wanted for each of {opened:,} tasks: {number}")


@grouped
def backup(campaign: Path, *, output: Annotated[Path, Output], database: str | None = None) -> None:
    """Copy a campaign's answers to one SQLite file, also while it is served.

    Parameters
    ----------
    campaign
        A folder that deltableu rate new made.
    output
        The new file, which must not be there.
    database
        Where answers are, if not where the campaign says.
    """
    from deltableu.rate import server

    server.backup_campaign(campaign, output, address=database or "")
    note(f"wrote {output}")


@grouped
def restore(backup: Path, campaign: Path, *, database: str | None = None) -> None:
    """Put a backup in the place of a campaign's lost database.

    deltableu rate restore BACKUP CAMPAIGN, where CAMPAIGN has its campaign.toml and no answers.

    Parameters
    ----------
    backup
        A file that deltableu rate backup wrote.
    campaign
        The campaign's folder.
    database
        Where to put it, if not where the campaign says.
    """
    from deltableu.rate import server

    server.restore_campaign(backup, campaign, address=database)
    note(f"{campaign} has the answers of {backup} again")


def _ratings(
    campaign: Path,
    database: str | None,
    *,
    excluded: bool = False,
    drop_failed: bool = False,
) -> tuple[Campaign, RatingTable]:
    from deltableu.rate import server

    settings, opened = server.open_database(campaign, database or "")
    with closing(opened):
        ratings = server.campaign_ratings(settings, opened, excluded=excluded)
    if drop_failed:
        ratings = kept_ratings(ratings, server.check_plan(settings))
    return settings, ratings


def _study_path(campaign: Path, settings: Campaign, study: Path | None) -> Path:
    return study if study is not None else campaign / settings.study
