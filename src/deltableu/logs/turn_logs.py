"""Files of dialogues turn by turn in, threads of pairs out; nothing but a dialogue is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby

from deltableu.errors import Problem
from deltableu.io import Report
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.posts import Turn
from deltableu.logs.rules import Rules
from deltableu.logs.types import Pair, Thread

ReadTurns = Callable[[], Iterator[tuple[str, int, Turn]]]
"""Yields file name, line number and turn."""


class TurnLogs:
    """Logs of dialogues.

    Parameters
    ----------
    read : callable
        Yields the turns from the beginning, the same ones whenever it is called.
    """

    def __init__(self, read: ReadTurns, rules: Rules, counts: Counts, report: Report) -> None:
        self._read = read
        self._rules = rules
        self._counts = counts
        self._report = report
        self._passes = 0
        self.posts = 0

    def threads(self) -> Iterator[Thread]:
        """Yield dialogues in the order of the files; what is dropped is counted the first time."""
        first = self._passes == 0
        self._passes += 1
        counts = self._counts if first else Counts()
        seen: set[bytes] = set()
        for (file, dialog), rows in groupby(self._read(), lambda row: (row[0], row[2].dialog)):
            turns = _in_order(rows, self._report)
            key = blake2b(dialog.encode(), digest_size=16).digest()
            if key in seen:
                # Turns that lie apart cannot be put together without reading all of them.
                message = (
                    f"the dialogue {dialog!r} was there before: turns of a dialogue must follow on "
                    "each other, and files with equal names of dialogues be told apart by file"
                )
                self._report(Problem(message, file=file, line=turns[0][0], field="dialog"))
                continue
            seen.add(key)
            if first:
                self.posts += len(turns)
            thread = _thread(dialog, [turn for _, turn in turns], self._rules, counts)
            if thread is not None:
                yield thread


def _in_order(rows: Iterable[tuple[str, int, Turn]], report: Report) -> list[tuple[int, Turn]]:
    kept: list[tuple[int, Turn]] = []
    for file, line, turn in rows:
        if kept and turn.turn <= kept[-1][1].turn:
            message = f"comes after turn {kept[-1][1].turn} of the dialogue: sort the turns"
            report(Problem(message, file=file, line=line, field="turn"))
            continue
        kept.append((line, turn))
    return kept


def _thread(dialog: str, turns: Sequence[Turn], rules: Rules, counts: Counts) -> Thread | None:
    kept = _followed(turns, rules, counts)
    if len(turns) == 1 and kept:
        counts.add(Fate.LONE)
        return None
    speakers = {turn.speaker for turn in kept if turn.speaker}
    if len(kept) < rules.min_posts or (rules.two_users and len(speakers) != 2):
        counts.add(Fate.SHORT, len(kept))
        return None
    if rules.first:
        counts.add(Fate.LATER, len(kept) - 2)
        kept = kept[:2]
    pairs = []
    for number in range(1, len(kept)):
        turn, before = kept[number], kept[number - 1]
        context = kept[number - 2].text if number > 1 else None
        id = f"{dialog}:{turn.turn}"
        pairs.append(Pair(before.text, turn.text, id, turn.time, dialog, turn.speaker, context))
    times = [turn.time for turn in kept if turn.time is not None]
    earliest, latest = min(times, default=None), max(times, default=None)
    return Thread(dialog, kept[0].time, earliest, latest, len(kept), tuple(pairs))


def _followed(turns: Sequence[Turn], rules: Rules, counts: Counts) -> Sequence[Turn]:
    """The turns from the first one to before the first one that is dropped."""
    speakers: set[str] = set()
    for number, turn in enumerate(turns):
        before = turns[number - 1] if number else None
        fate = _fate(turn, before, speakers, rules)
        if fate is not None:
            counts.add(fate)
            counts.add(Fate.CUT_OFF, len(turns) - number - 1)
            return turns[:number]
        if turn.speaker:
            speakers.add(turn.speaker)
    return turns


def _fate(turn: Turn, before: Turn | None, speakers: set[str], rules: Rules) -> Fate | None:
    if not turn.text.strip():
        return Fate.EMPTY
    if rules.two_users and not turn.speaker:
        return Fate.NO_USER
    if before is None:
        return None
    if turn.turn != before.turn + 1:
        return Fate.MISSING_PARENT
    if (
        turn.time is not None
        and before.time is not None
        and turn.time < before.time - rules.clock_skew
    ):
        return Fate.EARLY
    if rules.drop_own_replies and turn.speaker and turn.speaker == before.speaker:
        return Fate.OWN_REPLY
    if rules.two_users and len(speakers) == 2 and turn.speaker not in speakers:
        return Fate.THIRD_USER
    return None
