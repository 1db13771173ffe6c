"""Options of `deltableu respond run`: rows of logs that are responses, and how models respond."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import COMMON, DATA, METHOD, RUNNING, foldable
from deltableu.cli.options import Flag, Positive, Whole
from deltableu.io import parse_size
from deltableu.mine import RowFilter
from deltableu.respond import Decoding, DecodingMethod


@Parameter(name="*", group=DATA)
@foldable
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


@Parameter(name="*", group=METHOD)
@foldable
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How a trained model responds.

    Parameters
    ----------
    model
        A model that deltableu respond train wrote, for --kind model.
    decode
        beam: the best of several responses that grow side by side, which is the default. greedy:
        the most likely word, one after the other. sample: words drawn as likely as the model holds
        them.
    beam
        Number of responses that grow side by side; 5 by default.
    length_penalty
        The power of a response's length by which its log-probability is divided before responses
        are ranked: 1, the default, for the mean, 0 for the sum.
    temperature
        Divides log-probabilities before words are drawn; 1 by default.
    top_k
        Draw only from so many of the most likely words.
    top_p
        Draw only from the fewest of the most likely words that have this probability together.
    no_repeat
        So many words or pieces in a row never occur twice in a response.
    max_length
        Largest number of words or pieces of a response; 30 by default.
    candidates
        Number of candidates per item in --nbest-output, when they are drawn.
    """

    model: Annotated[Path | None, Parameter(group=COMMON)] = None
    decode: DecodingMethod | None = None
    beam: Positive | None = None
    length_penalty: float | None = None
    temperature: float | None = None
    top_k: Positive | None = None
    top_p: float | None = None
    no_repeat: Positive | None = None
    max_length: Positive | None = None
    candidates: Positive | None = None

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All of them."""
        return tuple(field.name for field in fields(cls))

    def given(self) -> dict[str, Any]:
        """Those that are given."""
        found = {name: getattr(self, name) for name in self.names()}
        return {name: value for name, value in found.items() if value is not None}

    def decoding(self, seed: int) -> Decoding:
        """How responses are made."""
        given = {name: value for name, value in self.given().items() if name != "model"}
        method = given.pop("decode", "beam")
        return Decoding(method=method, seed=seed, **given)
