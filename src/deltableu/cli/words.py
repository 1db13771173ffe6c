"""Command lines as people write them in, as the parser takes them out."""

from __future__ import annotations

import os
from collections.abc import Sequence

from deltableu.cli.options import listed
from deltableu.errors import hint_at

_METRICS = "--metrics"


def settled_words(arguments: Sequence[str]) -> list[str]:
    """The same arguments, several metrics after `--metrics` as one list with commas.

    The option cannot take whatever follows, since a study or a system's file may: of the words
    after the first, those that are metrics belong to it. Options after `--`, which no file is
    called, are options all the same.

    Examples
    --------
    >>> settled_words(["score", "--metrics", "bleu", "chrF", "demo"])
    ['score', '--metrics', 'bleu,chrF', 'demo']
    >>> settled_words(["score", "--", "sys.txt", "--refs", "r0.txt"])
    ['score', '--refs', 'r0.txt', '--', 'sys.txt']
    """
    words = _options_first(list(arguments))
    # Tables have metrics of their own, and leave no place for other words.
    ready = words[:1] in (["compare"], ["gate"]) and any(
        word.split("=")[0] == "--scores" for word in words
    )
    end = words.index("--") if "--" in words else len(words)
    settled: list[str] = []
    place = 0
    while place < end:
        word = words[place]
        place += 1
        settled.append(word)
        if word != _METRICS or place >= end or words[place].startswith("-"):
            continue
        metrics = [words[place]]
        place += 1
        while place < end and not words[place].startswith("-"):
            if not (ready or _is_metric(words[place])):
                break
            metrics.append(words[place])
            place += 1
        settled.append(",".join(metrics))
    return settled + words[end:]


def _options_first(words: list[str]) -> list[str]:
    if "--" not in words:
        return words
    end = words.index("--")
    for place in range(end + 1, len(words)):
        if words[place].startswith("--") and not _exists(words[place]):
            return [*words[:end], *words[place:], *words[end:place]]
    return words


def _is_metric(word: str) -> bool:
    """Whether a word names metrics; also a slip of the pen that is no file."""
    from deltableu.score import metric_name, metric_names

    known = metric_names()
    names = listed(word)
    if names and all(metric_name(name) in known for name in names):
        return True
    plain = not any(sign in word for sign in "./\\") and not _exists(word)
    return plain and bool(names) and all(hint_at(name, known) for name in names)


def _exists(word: str) -> bool:
    try:
        return os.path.lexists(word)
    except ValueError:
        return False
