"""Logs of dialogues turn by turn in, logs of pairs out."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

from deltableu.errors import InputError, Problem

__all__ = ["LOGS", "pairs_of_turns", "write_pairs"]

#: Where they come from, and on what terms.
LOGS = {
    "dailydialog_dev_part": "DailyDialog (Li et al. 2017; XDailyDialog's files), CC BY-NC-SA 4.0",
    "self_dialogue": "the self-dialogue corpus (Fainberg et al. 2018), BSD 3-Clause",
    "sgd": "Schema-Guided Dialogue (Rastogi et al. 2020), CC BY-SA 4.0",
    "topical_chat": "Topical-Chat (Gopalakrishnan et al. 2019), CDLA-Sharing 1.0",
    "twitter_conv": "tweets and replies (Phylliida/Dialogue-Datasets), Unlicense",
}
_HEADER = "dialog\tturn\tspeaker\ttext"

Pair = tuple[str, str, str, str]


def pairs_of_turns(lines: Iterable[str], name: str) -> Iterator[Pair]:
    """Yield utterance, response, id and thread of any two turns that follow on each other.

    Examples
    --------
    >>> lines = [_HEADER, "d1\\t0\\tA\\tHi!", "d1\\t1\\tB\\tHello.", "d2\\t0\\tA\\tWhat?"]
    >>> list(pairs_of_turns(lines, "chat"))
    [('Hi!', 'Hello.', 'chat/d1:1', 'chat/d1')]
    """
    before: tuple[str, str] | None = None
    for number, line in enumerate(lines, start=1):
        if number == 1:
            if line.rstrip("\n") != _HEADER:
                raise InputError(Problem(f"must be {_HEADER!r}", file=name, line=1))
            continue
        dialog, turn, _, text = line.rstrip("\n").split("\t")
        if before is not None and before[0] == dialog:
            yield before[1], text, f"{name}/{dialog}:{turn}", f"{name}/{dialog}"
        before = (dialog, text)


def write_pairs(data: Path, folder: Path, names: Iterable[str] = LOGS) -> None:
    """Write the pairs of each log as a TSV file that can be mined."""
    for name in names:
        source = data / "dialogue_logs" / f"{name}.tsv.gz"
        with (
            gzip.open(source, "rt", encoding="utf-8", newline="\n") as lines,
            open(folder / f"{name}.tsv", "w", encoding="utf-8", newline="\n") as file,
        ):
            file.write("utterance\tresponse\tid\tthread\n")
            for pair in pairs_of_turns(lines, name):
                file.write("\t".join(cell.replace("\\", "\\\\") for cell in pair) + "\n")
