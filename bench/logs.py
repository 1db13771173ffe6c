"""Generated dialogue logs: Zipf-distributed words, as many rows as wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.corpus.types import Item, Reference

__all__ = ["items", "pairs", "write_logs", "write_posts"]

_VOCABULARY = 50_000
_BLOCK = 100_000
_TAB, _NEWLINE, _SPACE = 9, 10, 32

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def _words() -> Bytes:
    """Of 2 to 8 letters, then a space, then zeros."""
    rng = np.random.default_rng(0)
    words = rng.integers(ord("a"), ord("z") + 1, size=(_VOCABULARY, 9), dtype=np.uint8)
    sizes = rng.integers(2, 9, size=_VOCABULARY)
    place = np.arange(9)
    words[place == sizes[:, np.newaxis]] = _SPACE
    words[place > sizes[:, np.newaxis]] = 0
    return words


def _blocks(rows: int, seed: int) -> Iterator[bytes]:
    """Lines of two texts of 4 to 16 words."""
    rng = np.random.default_rng(seed)
    words = _words()
    cumulative = np.cumsum(1.0 / np.arange(1, _VOCABULARY + 1))
    for begin in range(0, rows, _BLOCK):
        count = 2 * min(_BLOCK, rows - begin)
        lengths = rng.integers(4, 17, size=count)
        drawn = np.searchsorted(cumulative, rng.random(int(lengths.sum())) * cumulative[-1])
        cells = words[drawn]
        last = np.cumsum(lengths) - 1
        ends = (cells[last] == _SPACE).argmax(axis=1)
        cells[last, ends] = np.where(np.arange(count) % 2 == 0, _TAB, _NEWLINE)
        flat = cells.ravel()
        yield flat[flat != 0].tobytes()


def write_logs(path: Path, rows: int, seed: int = 1) -> None:
    """A TSV file of pairs."""
    with path.open("wb") as file:
        file.write(b"utterance\tresponse\n")
        for block in _blocks(rows, seed):
            file.write(block)


def write_posts(path: Path, posts: int, seed: int = 1) -> None:
    """JSON Lines of posts: dialogues of 2 to 8 of them between two users, and lone ones."""
    rng = np.random.default_rng(seed)
    texts = [text for pair in pairs(-(-posts // 2), seed) for text in pair][:posts]
    start = datetime(2017, 1, 1, tzinfo=UTC)
    left = 0
    users = ("", "")
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            post = {"id": str(10**17 + 977 * number), "user": users[left % 2]}
            post["time"] = f"{start + timedelta(seconds=97 * number):%Y-%m-%dT%H:%M:%SZ}"
            if left:
                post["reply_to"] = str(10**17 + 977 * (number - 1))
                left -= 1
            else:
                left = int(rng.integers(1, 8))
                users = (f"user{rng.integers(99_999)}", f"user{rng.integers(99_999)}")
                post["user"] = users[(left + 1) % 2]
                left = left if rng.random() < 0.9 else 0
            file.write(json.dumps(post | {"text": text}) + "\n")


def pairs(rows: int, seed: int = 1) -> list[tuple[str, str]]:
    """Pairs in memory."""
    found: list[tuple[str, str]] = []
    for block in _blocks(rows, seed):
        for line in block.decode().splitlines():
            utterance, _, response = line.partition("\t")
            found.append((utterance, response))
    return found


def items(count: int) -> list[Item]:
    """Items with a message and one response."""
    return [
        Item(str(number), (Reference("own", response),), message=message)
        for number, (message, response) in enumerate(pairs(count, seed=2))
    ]
