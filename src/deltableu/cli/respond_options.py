"""Which rows of logs are fit to be responses, as `deltableu respond` takes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import DATA, RUNNING
from deltableu.cli.options import Flag, Whole
from deltableu.io import parse_size
from deltableu.mine import RowFilter


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class LogRowOptions:
    """Which rows of logs are fit to be responses, and how they are read.

    Parameters
    ----------
    tokenize
        What a word is: words (runs of letters and digits; ideographs and kana one by one), or a
        tokenizer of sacreBLEU, such as ja-mecab, ko-mecab or zh.
    min_words
        Least number of words per response.
    max_words
        Most words per response; any number by default.
    keep_junk
        Keep placeholders such as [deleted], responses with links and echoes of their utterance.
    on_error
        Whether rows and files that cannot be read end the run, or are counted and left out.
    partition_size
        Cut large files into parts of about this size, such as 64MB; by default a 64th of all logs,
        but at least 2MB and at most 256MB.
    work
        Where retrieval keeps what is done, so that the same command goes on after being killed. By
        default STUDY.responding, which is removed at the end.
    """

    tokenize: str = "words"
    min_words: Whole = 1
    max_words: Whole | None = None
    keep_junk: Annotated[bool, Flag] = False
    on_error: Literal["stop", "skip"] = "stop"
    partition_size: Annotated[str | None, Parameter(group=RUNNING)] = None
    work: Annotated[Path | None, Parameter(group=RUNNING)] = None

    def filter(self) -> RowFilter:
        """Which rows are fit."""
        return RowFilter(self.min_words, self.max_words, junk=not self.keep_junk)

    def partition_bytes(self) -> int | None:
        """The size of a part, where one was given."""
        size = self.partition_size
        return None if size is None else parse_size(size, "--partition-size")

    def changed(self) -> dict[str, Any]:
        """The options that were given, but for `tokenize`."""
        names = [field.name for field in fields(self) if field.name != "tokenize"]
        defaults = LogRowOptions()
        return {
            name: getattr(self, name)
            for name in names
            if getattr(self, name) != getattr(defaults, name)
        }
