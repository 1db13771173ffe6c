"""Files read at once are what the readers of lines make of them, or are left to those."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deltableu.corpus import (
    Item,
    bulk,
    read_study,
    reference_set,
    unrated_finds,
    write_study,
)
from deltableu.corpus.item_columns import ItemColumns, LazyItems
from deltableu.corpus.items import read_items
from deltableu.corpus.outputs import match_outputs_by_line
from deltableu.corpus.plain import read_plain_lines
from deltableu.corpus.plain_columns import read_plain_columns
from deltableu.errors import Problem
from tests.mutated_files import NUMBERS, a_line, a_text, mutated, respelt, shuffled
from tests.uncompiled import run_uncompiled


def _reference(rng: random.Random, place: int) -> object:
    if rng.random() < 0.1:
        return a_text(rng)
    made: dict[str, object] = {"id": f"r{place}", "text": a_text(rng)}
    if rng.random() < 0.7:
        made["weight"] = rng.choice((None, 1, -1, 0, 0.5, -0.25, rng.uniform(-1, 1), -0.0))
    if rng.random() < 0.7:
        made["origin"] = rng.choice(("original", "written", "mined", "parrot", "random", None))
    if rng.random() < 0.3:
        made["source"] = rng.choice(
            (None, {}, {"utterance": a_text(rng), "id": 7, "score": 1.5, "rank": 3}, {"rank": None})
        )
    if rng.random() < 0.1:
        made["id"] = rng.choice(("r0", "", None, 3, "ä", "r01"))
    return shuffled(rng, made)


def _item(rng: random.Random, number: int) -> dict[str, object]:
    made: dict[str, object] = {"id": rng.choice((str(number), number, f"item {number}"))}
    if rng.random() < 0.5:
        made["context"] = rng.choice(([], [a_text(rng), a_text(rng)], None))
    if rng.random() < 0.5:
        made["message"] = rng.choice((None, a_text(rng)))
    made["references"] = [_reference(rng, place) for place in range(rng.choice((0, 1, 2, 3)))]
    if rng.random() < 0.3:
        made["meta"] = rng.choice(
            (
                None,
                {},
                {"weights_from": "judge"},
                {"a": [1, {"b": "}"}], "c": "\\"},
                {"d": a_text(rng)},
            )
        )
    return shuffled(rng, made)


def _compare(columns: ItemColumns | None, by_line: Sequence[Item], problems: list[Problem]) -> str:
    """Whether what was read at once is the same; what the lines are wrong in must not be read."""
    if columns is None:
        return "left to the reader of lines"
    assert problems == []
    items = LazyItems(columns)
    assert repr(tuple(items)) == repr(tuple(by_line))
    one, other = reference_set(items), reference_set(by_line)
    for name in ("texts", "weights", "item_ids", "messages", "weights_from", "selection"):
        mine, theirs = getattr(one, name), getattr(other, name)
        listed = [list(map(repr, map(_floats, made or ()))) for made in (mine, theirs)]
        assert listed[0] == listed[1]
    assert list(one.originals or ()) == list(other.originals or ())
    assert unrated_finds(one) == unrated_finds(other)
    return "read at once"


def _floats(row: object) -> object:
    return tuple(row) if not isinstance(row, str | None) else row


def _items_case(rng: random.Random, folder: Path) -> str:
    lines = [a_line(rng, _item(rng, number)) for number in range(rng.choice((1, 2, 5)))]
    if rng.random() < 0.5:
        place = rng.randrange(len(lines))
        lines[place] = respelt(rng, lines[place])
    path = folder / "items.jsonl"
    path.write_bytes(mutated(rng, "".join(f"{line}\n" for line in lines).encode()))
    problems: list[Problem] = []
    return _compare(
        bulk.read_item_columns(path), tuple(read_items(path, problems.append)), problems
    )


def _plain_case(rng: random.Random, folder: Path) -> str:
    count = rng.choice((1, 2, 5))
    refs = [folder / f"r{stream}.txt" for stream in range(rng.choice((1, 2, 3)))]
    spoilt = rng.randrange(len(refs) + 2)
    for stream, path in enumerate(refs):
        texts = [a_text(rng).replace("\n", "") for _ in range(count)]
        data = "".join(f"{text}\n" for text in texts).encode()
        path.write_bytes(mutated(rng, data) if stream == spoilt else data)
    weights = folder / "weights.tsv" if rng.random() < 0.7 else None
    if weights is not None:
        cells = [[_cell(rng, path, line) for path in refs] for line in range(count)]
        data = "".join("\t".join(row) + "\n" for row in cells).encode()
        weights.write_bytes(mutated(rng, data) if spoilt == len(refs) else data)
    problems: list[Problem] = []
    by_line = read_plain_lines(refs, weights, problems.append)
    return _compare(read_plain_columns(refs, weights), by_line, problems)


def _cell(rng: random.Random, path: Path, line: int) -> str:
    texts = path.read_bytes().decode(errors="replace").split("\n")
    if line < len(texts) and not texts[line].strip() and rng.random() < 0.9:
        return ""
    return rng.choice(NUMBERS) if rng.random() < 0.05 else repr(round(rng.uniform(-1, 1), 2))


def _outputs_case(rng: random.Random, folder: Path) -> str:
    ids = [f"item {number}" for number in range(rng.choice((1, 2, 5)))]
    records = [shuffled(rng, {"id": id, "text": a_text(rng)}) for id in ids]
    if rng.random() < 0.3:
        rng.shuffle(records)
    lines = [a_line(rng, record) for record in records]
    if rng.random() < 0.3:
        place = rng.randrange(len(lines))
        lines[place] = respelt(rng, lines[place])
    form = rng.choice(("jsonl", "txt"))
    if form == "txt":
        lines = [a_text(rng).replace("\n", "") for _ in ids]
    path = folder / f"outputs.{form}"
    path.write_bytes(mutated(rng, "".join(f"{line}\n" for line in lines).encode()))
    problems: list[Problem] = []
    by_line = match_outputs_by_line(path, ids, problems.append, "error")
    read = (
        bulk.read_output_columns
        if form == "jsonl"
        else lambda path, _: bulk.read_lines_at_once(path)
    )
    texts = read(path, ids)
    if texts is None or len(texts) != len(ids):
        return "left to the reader of lines"
    assert problems == []
    assert texts == by_line
    assert list(texts) == list(by_line)
    assert texts.joined().strings() == list(by_line)
    return "read at once"


_CASES: tuple[Callable[[random.Random, Path], str], ...] = (_items_case, _plain_case, _outputs_case)


def _run(seeds: range) -> Counter[str]:
    """Cases by how they end; the first that ends badly is named."""
    ends: Counter[str] = Counter()
    normal = bulk._PORTION
    with TemporaryDirectory() as folder:
        for seed in seeds:
            rng = random.Random(seed)
            bulk._PORTION = rng.choice((1, 100, 500, normal))
            case = _CASES[0 if rng.random() < 0.5 else rng.choice((1, 2))]
            try:
                ends[f"{case.__name__}: {case(rng, Path(folder))}"] += 1
            except Exception as error:
                raise AssertionError(f"seed {seed}, {case.__name__}") from error
            finally:
                bulk._PORTION = normal
    return ends


def _check_ends(ends: Counter[str]) -> None:
    """Both ends are common, or the cases prove little."""
    total = sum(ends.values())
    assert len(ends) == 2 * len(_CASES)
    assert min(ends.values()) > 0.03 * total, ends


def test_files_are_read_at_once_as_they_are_by_line() -> None:
    _check_ends(_run(range(1000)))


@pytest.mark.long
def test_many_files_are_read_at_once_as_they_are_by_line() -> None:
    portions = [range(begin, begin + 2000) for begin in range(1000, 101_000, 2000)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        _check_ends(sum(pool.map(_run, portions), Counter()))


def test_uncompiled() -> None:
    script = (
        "import json; from tests.corpus.test_bulk import _run; "
        "print(json.dumps(sorted(_run(range(60)))))"
    )
    assert len(run_uncompiled(script)) > 3


def test_a_study_that_is_written_is_read_at_once(tmp_path: Path, demo: Path) -> None:
    """Whatever this package writes, it reads fast."""
    study = read_study(demo)
    write_study(study, tmp_path / "again")
    again = read_study(tmp_path / "again")
    assert isinstance(study.items, LazyItems)
    assert isinstance(again.items, LazyItems)
    assert again.items == study.items
    assert again.outputs == study.outputs
    assert pickle.loads(pickle.dumps(again)) == again
    assert again.items[:2] == tuple(study.items)[:2]
