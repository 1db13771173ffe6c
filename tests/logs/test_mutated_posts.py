"""Mutated files of posts are read as line by line, and become pairs as by plain recursion."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

from deltableu.errors import InputError, Problem
from deltableu.io import encode, tsv_lines
from deltableu.logs import PairRules, Post, posts, read_posts, write_pairs
from deltableu.logs.times import time_text
from tests.logs.plain_threads import plain_pairs
from tests.mutated_files import a_line, a_text, mutated, respelt, shuffled
from tests.uncompiled import run_uncompiled

_TIMES = (
    *("2018-10-10T20:19:24Z", "2016-02-29 23:59:59Z", "2015-02-29T00:00:00Z"),
    *("1970-01-01T00:00:00Z", "1970-01-01T00:00:60Z"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "2018-10-10"),
    *("Wed Oct 10 20:19:24 +0000 2018", "2018-10-10T24:00:00Z", "2018-10-10T20:19:24.25+02:00"),
    *("", None, 0, 60, 1500000000, 1500000000250, 10**11, 10**15, 10**18, -60, 60.5, 1e3, "soon"),
    *("60", "-1.5", " 60 ", "1e5"),
)
_UNKNOWN = (True, None, "x", -1.5, [], {}, [1, {"a": "]"}], {"a": {"b": [None, "}"]}, "c": "\\"})
_NAMES: tuple[dict[str, str], ...] = ({}, {}, {}, {"id": "in_reply_to_status_id"}, {"user": "a.b"})


def _post(rng: random.Random, number: int) -> dict[str, object]:
    made: dict[str, object] = {"id": rng.choice((str(number), number, f"post {number}"))}
    if rng.random() < 0.8:
        made["user"] = rng.choice(("ann", "bob", "bob", None, 7, "", "\u0142"))
    if rng.random() < 0.6:
        usual = f"2018-10-10T20:{number:02}:24Z"
        made["time"] = usual if rng.random() < 0.6 else rng.choice(_TIMES)
    if rng.random() < 0.8:
        made["reply_to"] = rng.choice((str(number - 1), number - 1, None, "", "elsewhere"))
    if rng.random() < 0.9:
        made["text"] = rng.choice((a_text(rng), a_text(rng), a_text(rng), None))
    if rng.random() < 0.1:
        made["repost"] = rng.choice((True, False, None, "yes", 1))
    if rng.random() < 0.1:
        made["repost_of"] = rng.choice((None, "", "0", 3))
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        made[rng.choice(("lang", "a", "", "te\nxt"))] = rng.choice(_UNKNOWN)
    return shuffled(rng, made)


def _file(rng: random.Random, path: Path, names: dict[str, str]) -> None:
    made = [_post(rng, number) for number in range(rng.choice((1, 2, 5, 9)))]
    for old, new in names.items():
        made = [{new if name == old else name: one[name] for name in one} for one in made]
    lines = [a_line(rng, one) for one in made]
    if rng.random() < 0.4:
        place = rng.randrange(len(lines))
        lines[place] = respelt(rng, lines[place])
    # So that the file is one of posts, whatever comes after.
    first = a_line(rng, {names.get("id", "id"): "first", "text": "", "user": None})
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(first.encode() + b"\n" + (mutated(rng, data) if rng.random() < 0.7 else data))


def _read(path: Path, names: dict[str, str]) -> tuple[list[Post], list[Problem]]:
    problems: list[Problem] = []
    return list(read_posts(path, columns=names, report=problems.append)), problems


def _read_by_line(path: Path, names: dict[str, str]) -> tuple[list[Post], list[Problem]]:
    """With nothing but the reader of single lines."""
    with (
        patch.object(posts.PostScanner, "of", lambda _: None),
        patch.object(posts, "_fast_jsonl", lambda _: lambda _: None),
    ):
        return _read(path, names)


def _check_pairs(rng: random.Random, path: Path, found: list[Post], names: dict[str, str]) -> None:
    """The files of pairs and triples, byte for byte."""
    rules = PairRules(min_posts=2, users=rng.choice(("two", "any")), first=rng.random() < 0.3)
    pairs, _ = plain_pairs(found, rules.for_posts())
    rows = [
        (
            *("" if context is None else context.text, above.text, own.text),
            *(own.id, time_text(own.time), root.id, own.user),
        )
        for context, above, own, root in pairs
    ]
    output, triples = (
        path.with_name("pairs.tsv"),
        path.with_name(f"t.{rng.choice(('tsv', 'jsonl'))}"),
    )
    for one in (output, triples):
        one.unlink(missing_ok=True)
    write_pairs(path, output, triples=triples, rules=rules, columns=names, on_error="skip")
    header = "utterance\tresponse\tid\ttime\tthread\tuser\n"
    assert output.read_bytes().decode() == header + tsv_lines([row[1:] for row in rows])
    known = [row for row, pair in zip(rows, pairs, strict=True) if pair[0] is not None]
    columns = ("context", "message", "response", *header.strip().split("\t")[2:])
    if triples.suffix == ".tsv":
        assert triples.read_bytes().decode() == "\t".join(columns) + "\n" + tsv_lines(known)
    else:
        objects = [
            {name: text for name, text in zip(columns, row, strict=True) if text} for row in known
        ]
        assert triples.read_bytes().decode() == "".join(encode(one) + "\n" for one in objects)


def _run(seeds: range, pairs: int = 20) -> Counter[str]:
    ends: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        path = Path(folder, "posts.jsonl")
        for seed in seeds:
            rng = random.Random(seed)
            names = rng.choice(_NAMES)
            _file(rng, path, names)
            try:
                found = _read(path, names)
                assert found == _read_by_line(path, names)
                ends["with problems" if found[1] else "without"] += 1
                if seed % pairs == 0:
                    _check_pairs(rng, path, found[0], names)
            except InputError as error:
                raise AssertionError(f"seed {seed}") from error
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
    return ends


def _check_ends(ends: Counter[str]) -> None:
    assert len(ends) == 2
    assert min(ends.values()) > 0.2 * sum(ends.values()), ends


def test_posts_are_read_at_once_as_they_are_by_line() -> None:
    _check_ends(_run(range(2000)))


@pytest.mark.long
def test_many_posts_are_read_at_once_as_they_are_by_line() -> None:
    portions = [range(begin, begin + 2000) for begin in range(2000, 102_000, 2000)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        _check_ends(sum(pool.map(_run, portions), Counter()))


def test_uncompiled() -> None:
    script = (
        "import json; from tests.logs.test_mutated_posts import _run; "
        "print(json.dumps(sorted(_run(range(100)))))"
    )
    assert len(run_uncompiled(script)) == 2
