"""Readers of what the program keeps for itself, of what servers say, and of settings."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.errors import InputError
from deltableu.io import WorkFolder, decode_object
from tests.fuzz.reader_inputs import Maker, Read, ReaderWorld

EXPERIMENT = """
title = "All of it"
seed = 7
[logs]
files = "talks.jsonl"
split = "evaluator:0.5,system:0.4,test:0.1"
min_posts = 2
[items]
as = "answers"
items = 50
[models.gru]
preset = "small"
[systems.greedy]
kind = "model"
model = "gru"
decode = "greedy"
quality = 0.25
[systems.c-bm25]
kind = "c-bm25"
[vectors]
dimension = 50
[mine]
top = 15
parrot = true
[judge]
minutes = 2
[ratings]
by = "simulated"
raters = 3
[score]
metrics = ["upsilon-bleu", "bleu"]
""".strip()


def _experiment(world: ReaderWorld) -> Read:
    from deltableu.experiment import read_design

    (world.inputs / "talks.jsonl").write_text('{"id": "1", "turns": ["hello", "hi there"]}\n')
    path = world.lines("experiment.toml", EXPERIMENT.splitlines())
    return lambda report: read_design(path)


def _changes(world: ReaderWorld) -> Read:
    from deltableu.experiment.changes import change_setting

    path = world.lines("changes", ["mine.top = 5", 'systems."my bot".keep = 1', "a.b.c = [1, {}]"])

    def read(report: Any) -> None:
        for line in path.read_bytes().decode("utf-8", "surrogateescape").split("\n"):
            with suppress(InputError):
                change_setting({"mine": {"top": 3}, "seed": 1}, line)

    return read


def _stages(world: ReaderWorld) -> Read:
    from deltableu.experiment.store import Record, StageStore

    store = StageStore(world.inputs)
    store.place("mine", "ab").mkdir(parents=True)
    (store.place("mine", "ab") / "log").write_bytes(b"12345")
    record = Record("mine", "ab", "deltableu mine", 1.5, "2026-01-01", {"log": 5}, ("a note",))
    file = store.place("mine", "ab") / "stage.json"
    world.add(file, "json", [asdict(record)]).write_text(json.dumps(asdict(record)))
    world.files[-1].form, world.files[-1].records = "bytes", [file.read_bytes()]
    return lambda report: (store.record("mine", "ab"), store.lost("mine", "ab"))


def _hashes(world: ReaderWorld) -> Read:
    from deltableu.experiment.keys import FileHashes
    from deltableu.experiment.stage import Given

    given = world.inputs / "given"
    given.write_text("something")
    known = {str(given): [9, given.stat().st_mtime_ns, "ab" * 16], "other": [1, 2, "c"]}
    memory = world.content("files.json", json.dumps(known).encode())
    return lambda report: FileHashes(memory).hash(Given(str(given)))


def _checkpoint(world: ReaderWorld) -> Read:
    work = WorkFolder(world.inputs / "work", "abc")
    work.begin()
    work.keep("part", {"sums": np.arange(6.0), "none": np.empty(0)}, {"rows": 7, "problem": None})
    work.release()
    assert work.folder is not None
    for name in sorted(path.name for path in work.folder.iterdir()):
        if name != "lock":
            path = work.folder / name
            world.add(path, "bytes", [path.read_bytes()])

    def read(report: Any) -> None:
        work.kept("part")
        work.kept("part", mapped=True)
        work.begin()
        work.release()

    return read


def _owner(world: ReaderWorld) -> Read:
    from deltableu.io.owner import Owner

    path = world.content("lock", Owner.here().to_bytes())

    def read(report: Any) -> None:
        found = Owner.from_bytes(path.read_bytes())
        if found is not None:
            found.is_gone()

    return read


def _answers(world: ReaderWorld) -> Read:
    from deltableu.judges.llm.store import AnswerStore, KeptAnswer, _record

    store = AnswerStore(world.inputs, "a model")
    assert store.path is not None
    kept = [KeptAnswer(f"{n:032x}", f"item {n}", '{"rating": 3}', "stop", 9, n) for n in range(3)]
    world.add(store.path, "jsonl", [_record(one) for one in kept])
    return lambda report: AnswerStore(world.inputs, "a model").load()


def _pair_cache(world: ReaderWorld) -> Read:
    from deltableu.score.engine.pair_cache import PairCache

    path = world.inputs / "cache.sqlite"
    cache = PairCache(path, "m")
    cache.write([(("a", "b"), 0.5), (("c", "d"), 0.25)])
    cache._base.close()
    world.add(path, "bytes", [path.read_bytes()])

    def read(report: Any) -> None:
        opened = PairCache(path, "m")
        try:
            opened.read([("a", "b"), ("x", "y")])
            opened.write([(("a", "b"), 0.5)])
        finally:
            opened._base.close()
            for ending in ("-journal", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)

    return read


ANSWERS = (
    '{"reason": "It fits.", "rating": 4}',
    '```json\n{"rating": "2"}\n```',
    '<think>{"rating": 1}, or 3?</think>\n{"rating": 5}',
    'Sure! {"rating": 5} That is all.',
    "**Rating:** 4.",
    '{"preferred": "second"}',
    "Neither.",
)


def _answer(world: ReaderWorld) -> Read:
    from deltableu.judges.llm import AnswerError, AnswerForm

    path = world.content("answer", world.rng.choice(ANSWERS).encode())
    forms = (AnswerForm("1-5"), AnswerForm("0-100", whole=False), AnswerForm("0-1", compares=True))

    def read(report: Any) -> None:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        for form in forms:
            with suppress(AnswerError):
                form.parse(text)

    return read


REPLIES: tuple[dict[str, Any], ...] = (
    {
        "choices": [{"message": {"content": "4"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    },
    {"choices": [{"message": {"content": [{"type": "text", "text": "4"}]}}]},
    {"choices": [{"message": {"content": None, "refusal": "no"}}]},
    {"error": {"message": "slow down", "code": 429, "type": "rate", "status": "x"}},
    {"detail": "context length", "error": "no"},
)


def _reply(world: ReaderWorld) -> Read:
    from deltableu.judges.llm.replies import read_reply

    body = world.add(world.inputs / "body.json", "jsonl", [world.rng.choice(REPLIES)])
    waits = ["2", "1e400", "Wed, 21 Oct 2015 07:28:00 GMT"]
    wait = world.lines("wait", [world.rng.choice(waits)])
    status = world.rng.choice((200, 200, 302, 400, 401, 402, 404, 413, 429, 500))

    def read(report: Any) -> None:
        headers = {"retry-after": wait.read_bytes().decode("latin-1").rstrip("\n")}
        read_reply(status, headers, body.read_bytes())

    return read


def _rubric(world: ReaderWorld) -> Read:
    from deltableu.judges.llm import rubric

    what = world.rng.choice(("references", "outputs", "pairs"))
    whole = (rubric._HERE / f"{what}.toml").read_text()
    path = world.lines("rubric.toml", whole.splitlines())
    return lambda report: rubric.read_rubric(path, what).form.schema()


def _program(world: ReaderWorld) -> Read:
    from deltableu.respond.program_output import ProgramOutput

    records = [
        {"id": id, "text": world.text(), "features": {"LM": -1.5}, "total": -0.5}
        for id in world.items
    ]
    path = world.add(world.inputs / "said.jsonl", "jsonl", records)

    def read(report: Any) -> None:
        output = ProgramOutput("the program", world.items)
        for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
            try:
                record = decode_object(line.decode())
            except ValueError:
                continue
            output.add(number, record)
        output.responses()

    return read


def _campaign(world: ReaderWorld) -> Read:
    """With the answers that people gave."""
    world.items, world.systems = world.items[:2], ["alpha", "beta"]
    folder = world.campaign(world.rng.choice(("outputs", "pairs", "references")))
    world.files = [file for file in world.files if file.path.parent == folder]
    return lambda report: _all_said(folder)


def _all_said(folder: Path) -> None:
    from deltableu.rate import server

    campaign, database = server.open_database(folder)
    try:
        server.campaign_ratings(campaign, database)
        server.campaign_status(campaign, database, server.utc_now())
    finally:
        database.close()


def _campaign_cells(world: ReaderWorld) -> Read:
    """With cells in its database that somebody changed by hand."""
    from deltableu.rate.server import schema

    world.items, world.systems = world.items[:2], ["alpha", "beta"]
    folder = world.campaign(world.rng.choice(("outputs", "pairs", "references")))
    read_most = (schema.answers, schema.answers, schema.tasks)
    table = world.rng.choice((*read_most, schema.blocks, schema.raters, schema.facts))
    column = world.rng.choice([one.name for one in table.columns if one.name != "key"])
    whole = (folder / "answers.sqlite").read_bytes()
    base = sqlite3.connect(folder / "answers.sqlite")
    select = f'SELECT rowid, "{column}" FROM {table.name} LIMIT 3'
    records = [{"row": row, "value": value} for row, value in base.execute(select)]
    base.close()
    world.files = []
    path = world.add(world.inputs / "cells.jsonl", "jsonl", records)

    def read(report: Any) -> None:
        for ending in ("-wal", "-shm"):
            (folder / f"answers.sqlite{ending}").unlink(missing_ok=True)
        (folder / "answers.sqlite").write_bytes(whole)
        base = sqlite3.connect(folder / "answers.sqlite")
        try:
            for line in path.read_bytes().split(b"\n"):
                with suppress(
                    *(ValueError, TypeError, LookupError, RecursionError),
                    *(sqlite3.Error, OverflowError),
                ):
                    row, value = (json.loads(line)[name] for name in ("row", "value"))
                    change = f'UPDATE {table.name} SET "{column}" = ? WHERE rowid = ?'
                    base.execute(change, (value, row))
            base.commit()
        finally:
            base.close()
        _all_said(folder)

    return read


def _campaign_settings(world: ReaderWorld) -> Read:
    from deltableu.rate import server
    from deltableu.rate.server.campaign import SETTINGS_FILE, read_campaign, write_campaign

    name = world.rng.choice(("delta-bleu", "slider", "preference"))
    what = "pairs" if name == "preference" else "outputs"
    values = {**server.preset(name), "what": what, "per_item": 2, "practice": [], "study": "study"}
    write_campaign(world.inputs, server.settings_from(values, "fuzz"))
    path = world.inputs / SETTINGS_FILE
    world.lines(SETTINGS_FILE, path.read_text().splitlines())
    return lambda report: read_campaign(world.inputs)


READERS: dict[str, Maker] = {
    "experiment": _experiment,
    "changes of settings": _changes,
    "stages": _stages,
    "hashes of files": _hashes,
    "checkpoints": _checkpoint,
    "owners of locks": _owner,
    "answers of judges": _answers,
    "cache of pairs": _pair_cache,
    "answer of a judge": _answer,
    "reply of a server": _reply,
    "rubric": _rubric,
    "output of a program": _program,
    "campaign": _campaign,
    "cells of a campaign": _campaign_cells,
    "campaign.toml": _campaign_settings,
}
