"""What responders that read logs share: which rows they take, and what they tell of logs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from zlib import crc32

import numpy as np

from deltableu._version import __version__
from deltableu.corpus import Item
from deltableu.errors import check_at_least
from deltableu.logs import Logs
from deltableu.mine import LogRun, RowFilter, content_name
from deltableu.stats import stream
from deltableu.text import WordRule


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Which rows of logs are fit to be responses, and how logs are worked on.

    Parameters
    ----------
    rows : RowFilter
        By default as mining does: no placeholders, links and echoes.
    tokenize : str
        What a word is (`deltableu.text.WordRule`).
    run : LogRun
        Engine, threads and so on, on which no result depends.
    """

    rows: RowFilter = field(default_factory=RowFilter)
    tokenize: str = "words"
    run: LogRun = field(default_factory=LogRun)

    @property
    def rule(self) -> WordRule:
        return WordRule(self.tokenize)

    def signature(self, kind: str, content: int, rows: int, *parts: str) -> str:
        """Kind, settings and logs in one line."""
        settings = [kind, *parts, self.rows.signature]
        if self.tokenize != "words":
            settings.append(f"tokenize:{self.tokenize}")
        logs = f"logs:{content_name(content, rows)}"
        return "|".join((*settings, logs, f"version:{__version__}"))


def reread(logs: Logs) -> Logs:
    """Logs that can be read more than once."""
    if isinstance(logs, str | os.PathLike):
        return logs
    return list(cast(Iterable[Any], logs))


def log_facts(
    rows: int, left_out: Mapping[str, int], skipped: int, unreadable: int
) -> dict[str, int]:
    """What tables tell of the logs."""
    facts = {"rows of the logs": rows}
    if skipped:
        facts["rows that could not be read"] = skipped
    if unreadable:
        facts["parts of the logs that could not be read"] = unreadable
    for reason, number in sorted(left_out.items()):
        facts[f"rows left out: {reason}"] = number
    return facts


def item_stream(seed: int, kind: int, item: Item) -> np.random.Generator:
    """A random stream of its own for each item, whatever items there are beside it."""
    check_at_least("seed", seed, 0)
    return stream(seed, kind, crc32(item.id.encode("utf-8", "surrogatepass")))
