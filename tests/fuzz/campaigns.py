"""Campaigns in which some people have rated something, for commands that are about them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.values import hostile_text

if TYPE_CHECKING:
    from tests.fuzz.world import World

RATERS = ("ann", "bob", "cleo", "dora")
#: What raters can say on each scale.
_VALUES = {"likert5": (1, 2, 3, 4, 5), "slider100": (0, 25.5, 50, 90, 100), "preference": (0, 1, 2)}
_PRESETS = {"likert5": "delta-bleu", "slider100": "slider", "preference": "preference"}


def make_campaign(world: World, folder: Path, what: str, *, answered: bool = True) -> Path:
    """A campaign on a world's study, whose files may be spoiled as all others."""
    from sqlalchemy import insert

    from deltableu.corpus import read_study
    from deltableu.errors import InputError
    from deltableu.rate import server
    from deltableu.rate.server import schema
    from deltableu.rate.server.database import read_tasks
    from tests.rate.server.kit import small_study

    rng = world.rng
    path = world.study()
    try:
        study = read_study(path)
    except InputError:  # its names are too strange
        study = small_study()
    if what == "pairs" and len(study.outputs) < 2:
        what = "outputs"
    scale = "likert5" if what == "seeds" else rng.choice(("likert5", "likert5", "slider100"))
    if what == "pairs" and rng.random() < 0.7:
        scale = "preference"
    values = {
        **server.preset(_PRESETS[scale]),
        "what": what,
        "per_item": rng.randint(1, 4),
        "practice": [],
        "study": os.path.relpath(path, folder),
    }
    server.new_campaign(folder, server.settings_from(values, "fuzz"), study, raters=RATERS)
    campaign, database = server.open_database(folder)
    try:
        with database.reading() as connection:
            tasks = [row.number for row in read_tasks(connection)]
        said = [
            (rater, task)
            for task in tasks
            for rater in range(1, len(RATERS) + 1)
            if rng.random() < 0.9
        ]
        rows = [
            {
                "key": f"{number:032x}",
                "rater": rater,
                "task": task,
                "supersedes": None,
                "flipped": what == "pairs" and rng.random() < 0.5,
                "values": json.dumps(
                    [[rng.choice(_VALUES[scale])] for _ in range(campaign.answer_rows)]
                ),
                "started": f"2026-03-03T14:{number // 60 % 60:02}:{number % 60:02}.000+00:00",
                "finished": f"2026-03-03T14:{number // 60 % 60:02}:{number % 60:02}.900+00:00",
                "received": "2026-03-03T15:02:28.000+00:00",
            }
            for number, (rater, task) in enumerate(said)
        ]
        if rows and answered:
            with database.writing() as connection:
                connection.execute(insert(schema.answers), rows)
    finally:
        database.close()
    lines = (folder / "campaign.toml").read_text().splitlines()
    world.add(folder / "campaign.toml", "lines", list(lines))
    world.add(folder / "answers.sqlite", "bytes", [(folder / "answers.sqlite").read_bytes()])
    return folder


def make_settings(world: World) -> Path:
    """Questions of somebody's own."""
    lines = [
        f"title = {json.dumps(world.text())}",
        'scale = "likert5"',
        f"instructions = [{json.dumps(world.text())}]",
    ]
    for name in ("fit", "fluency")[: world.rng.randint(1, 2)]:
        lines += [
            "",
            "[[criteria]]",
            f'name = "{name}"',
            f"question = {json.dumps(world.text())}",
            'labels = ["a", "b", "c", "d", "e"]',
        ]
    return world.add(world.inputs / "questions.toml", "lines", lines)


def names_of_raters(world: World, *, new: bool) -> list[str]:
    """Some who are there, or new ones, whose names may be anything, or a number of them."""
    rng = world.rng
    if not new:
        strange = [hostile_text(rng)] if rng.random() < 0.1 else []
        return [*rng.sample(RATERS, rng.randint(1, 2)), *strange]
    return rng.choice((["3"], ["eve", "fay"], ["eve,fay"], [hostile_text(rng)]))
