"""Campaigns made, extended, put away and brought back."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from deltableu.corpus import RatingTable, Study, write_study
from deltableu.errors import InputError, Problem, check_at_least, check_share
from deltableu.io import (
    atomic_folder,
    atomic_path,
    check_new_file,
    check_new_folder,
    is_standard_stream,
    scratch_folder,
)
from deltableu.rate.control_blocks import BlockPlan
from deltableu.rate.server.campaign import (
    MOST_PER_ITEM,
    SETTINGS_FILE,
    Campaign,
    read_campaign,
    write_campaign,
)
from deltableu.rate.server.database import (
    DATABASE_FILE,
    Database,
    RaterLink,
    digest,
    new_secret,
    read_blocks,
)
from deltableu.rate.server.results import scored
from deltableu.rate.server.tasks import Pairs, Task, build_tasks, shuffled, with_controls

#: All that a campaign's folder may hold.
_FILES = (SETTINGS_FILE, DATABASE_FILE, ".serving.lock")


@dataclass(frozen=True, slots=True)
class NewCampaign:
    """What was made: where, how many tasks, and links that are known only now."""

    folder: Path
    tasks: int
    wanted: int
    links: tuple[RaterLink, ...]
    admin: str
    join: str | None = None


def open_database(folder: Path, address: str = "") -> tuple[Campaign, Database]:
    """A campaign's settings and its database, brought to the present version."""
    campaign = read_campaign(folder)
    return campaign, Database.at(folder, address or campaign.database).open()


def new_campaign(
    folder: Path,
    campaign: Campaign,
    study: Study,
    *,
    pairs: Pairs | None = None,
    raters: Sequence[str] = (),
    expires: timedelta | None = None,
    pilot: int = 0,
    pilot_raters: int = 15,
    count_ratings: bool = False,
    controls: BlockPlan | None = None,
    seed: int = 0,
) -> NewCampaign:
    """Make a campaign's folder and database, whole or not at all.

    Parameters
    ----------
    folder
        Where; it must be empty or not there.
    campaign
        Its settings.
    study
        What is rated.
    pairs
        See `build_tasks`.
    raters
        Names of raters, who get a link each.
    expires
        When links end.
    pilot
        Number of tasks to begin with, drawn at random, each for `pilot_raters` raters; the others
        wait until `open_after_pilot`.
    count_ratings
        Whether the study's ratings count: a thing that somebody rated needs that many raters less.
    controls
        Put control items among the tasks, in blocks that one rater does in a row (Direct
        Assessment).
    seed
        For the order of tasks.
    """
    check_at_least("pilot", pilot, 0)
    check_at_least("seed", seed, 0)
    made = shuffled(build_tasks(study, campaign.what, pairs), seed)
    wanted = _wanted(made, campaign.per_item, study.ratings if count_ratings else None)
    if pilot:
        check_at_least("pilot_raters", pilot_raters, 2)
        check_per_item(pilot_raters, "pilot_raters")
        if pilot > len(made):
            raise InputError(f"a pilot of {pilot} tasks needs as many, and there are {len(made)}")
        # Tasks are in random order already.
        wanted = [pilot_raters if place < pilot else 0 for place in range(len(made))]
    blocks = [[task] for task in made]
    if controls is not None:
        if pilot or count_ratings:
            raise InputError("blocks with control items have no pilot, and count no old ratings")
        blocks = with_controls(made, controls, seed)
        wanted = [campaign.per_item] * len(blocks)
    check_new_folder(
        folder, [study.path] if study.path else [], replace=False, what="a campaign",
        strangers=_strangers, replaceable=False,
    )  # fmt: skip
    admin = new_secret()
    name = secrets.token_hex(12)
    with atomic_folder(folder) as temporary:
        write_campaign(temporary, campaign)
        database = Database.at(temporary, campaign.database)
        try:
            database.create(campaign=name, admin=admin)
            try:
                database.add_tasks(blocks, wanted)
                links = database.add_raters(raters, expires)
                join = new_secret() if campaign.crowd else None
                if join is not None:
                    database.set_fact("join", digest(join))
            except BaseException:
                database.drop()
                raise
        finally:
            database.close()
        _leave_no_journal(temporary)
    sizes = [len(block) for block in blocks]
    total = sum(size * number for size, number in zip(sizes, wanted, strict=True))
    return NewCampaign(folder, sum(sizes), total, tuple(links), admin, join)


def _leave_no_journal(folder: Path) -> None:
    """The last to close a database removes its journals; be sure of it before it is renamed."""
    for ending in ("-wal", "-shm"):
        if (folder / f"{DATABASE_FILE}{ending}").exists():
            raise InputError(Problem("the new database could not be closed", file=str(folder)))


def _strangers(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir() if one.name not in _FILES)


def _wanted(tasks: Sequence[Task], per_item: int, ratings: RatingTable | None) -> list[int]:
    if ratings is None:
        return [per_item] * len(tasks)
    raters: dict[tuple[str, str], set[str]] = {}
    for rating in scored(ratings):
        raters.setdefault((rating.item, rating.target), set()).add(rating.rater)
    return [
        max(0, per_item - min(len(raters.get((task.item, target), ())) for target in targets))
        for task in tasks
        for targets in (tuple(one for side in task.targets for one in side),)
    ]


def add_items(
    folder: Path, study: Study, *, pairs: Pairs | None = None, address: str = "", seed: int = 0
) -> int:
    """Add what a study has and the campaign does not; how many tasks that were."""
    check_at_least("seed", seed, 0)
    campaign, database = open_database(folder, address)
    try:
        known = database.things()
        made = [one for one in build_tasks(study, campaign.what, pairs) if one.thing not in known]
        made = shuffled(made, seed)
        database.add_tasks([[task] for task in made], [campaign.per_item] * len(made))
        return len(made)
    finally:
        database.close()


def check_per_item(number: int, name: str = "per_item") -> None:
    """Complain about a number of raters that no campaign has."""
    check_at_least(name, number, 1)
    if number > MOST_PER_ITEM:
        raise InputError(f"{name} must be at most {MOST_PER_ITEM:,}, got {number}")


def set_per_item(folder: Path, per_item: int, *, address: str = "") -> int:
    """Change the number of raters per task, also of tasks that wait for a pilot's end."""
    check_per_item(per_item)
    campaign, database = open_database(folder, address)
    try:
        with database.reading() as connection:
            wanted = read_blocks(connection)
        database.set_wanted(dict.fromkeys(wanted, per_item))
    finally:
        database.close()
    write_campaign(folder, replace(campaign, per_item=per_item))
    return len(wanted)


def backup_campaign(folder: Path, output: Path, *, address: str = "") -> None:
    """Copy a campaign's database into one SQLite file, while a server may be writing."""
    check_new_file(output, [folder], replace=False)
    _, database = open_database(folder, address)
    try:
        _copy_to_file(database, output)
    finally:
        database.close()


def restore_campaign(backup: Path, folder: Path, *, address: str | None = None) -> None:
    """Put a backup in the place of the answers of a campaign whose database is lost.

    Parameters
    ----------
    backup
        What `backup_campaign` wrote.
    folder
        A campaign's folder with its settings and without a database.
    address
        Where to put it, if not where the campaign says.
    """
    campaign = read_campaign(folder)
    if not backup.is_file():
        raise InputError(Problem("there is no such file", file=str(backup)))
    target = Database.at(folder, campaign.database if address is None else address)
    if target.is_sqlite and Path(str(target.url.database)).exists():
        message = "the campaign has a database: move it away to put a backup in its place"
        raise InputError(Problem(message, file=target.name))
    with scratch_folder() as scratch:
        # An old backup may have to be brought to the present version, and stays as it is.
        source = Database.at_file(Path(shutil.copy(backup, scratch / DATABASE_FILE)))
        try:
            source.open().check()
            if target.is_sqlite:
                _copy_to_file(source, Path(str(target.url.database)))
            else:
                source.copy_to(target)
        finally:
            source.close()
            target.close()


def _copy_to_file(source: Database, path: Path) -> None:
    """Copy a database into a new file, whole or not at all."""
    if path.exists() or is_standard_stream(path):
        # Of a device or a pipe even the permissions would be changed.
        raise InputError(Problem("is no new file, which a database must be", file=str(path)))
    with atomic_path(path) as temporary:
        # What raters say, and what sessions are signed with, is nobody else's business.
        os.chmod(temporary, 0o600)
        copy = Database.at_file(temporary)
        try:
            source.copy_to(copy)
            copy.check()
        finally:
            copy.close()


def random_names(count: int, there: Sequence[str] = ()) -> list[str]:
    """Names of raters: rater-01, rater-02, ... after those that are there."""
    numbers = [int(one[6:]) for one in there if one.startswith("rater-") and one[6:].isdigit()]
    first = max(numbers, default=0) + 1
    width = max(2, len(str(first + count - 1)))
    return [f"rater-{number:0{width}}" for number in range(first, first + count)]


def split_seeds(
    study: Study, ratings: RatingTable, *, keep: float = 4.0, dev: float = 0.5, seed: int = 0
) -> tuple[Study, Study]:
    """Items whose original response people liked, at random in two parts (Galley et al. 2015).

    Parameters
    ----------
    study
        The candidates.
    ratings
        Of their original responses.
    keep
        The lowest mean rating, on the scale of the ratings.
    dev
        The share of the first part.
    seed
        For the split.
    """
    check_share("dev", dev)
    check_at_least("seed", seed, 0)
    values: dict[str, list[float]] = {}
    targets = {
        (item.id, f"reference:{one.id}")
        for item in study.items
        for one in item.references
        if one.origin == "original"
    }
    for rating in scored(ratings):
        if (rating.item, rating.target) in targets:
            values.setdefault(rating.item, []).append(rating.value)
    kept = [
        place
        for place, item in enumerate(study.items)
        if item.id in values and sum(values[item.id]) >= keep * len(values[item.id])
    ]
    if len(kept) < 2:
        raise InputError(f"{len(kept)} of {len(study.items)} items have a mean of {keep:g} or more")
    order = np.random.default_rng(seed).permutation(len(kept))
    first = round(dev * len(kept))
    parts = (order[:first], order[first:])
    return tuple(  # type: ignore[return-value]
        _part(study, ratings, sorted(kept[one] for one in part.tolist())) for part in parts
    )


def write_seeds(parts: tuple[Study, Study], folder: Path) -> None:
    """Write both parts as studies, `dev` and `test`, in a folder that appears whole or not."""
    with atomic_folder(folder) as temporary:
        for name, part in zip(("dev", "test"), parts, strict=True):
            write_study(part, temporary / name)


def _part(study: Study, ratings: RatingTable, places: Sequence[int]) -> Study:
    items = tuple(study.items[place] for place in places)
    ids = {item.id for item in items}
    return Study(
        items,
        {name: tuple(texts[place] for place in places) for name, texts in study.outputs.items()},
        RatingTable.from_records(
            one for table in (study.ratings, ratings) for one in table if one.item in ids
        ),
        study.systems,
        None,
        study.note,
    )
