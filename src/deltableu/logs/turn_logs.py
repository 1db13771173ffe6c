"""Files of dialogues turn by turn in, threads of pairs out; nothing but a dialogue is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from hashlib import blake2b
from itertools import islice

from deltableu.errors import InputError, Problem
from deltableu.io import Report
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.rules import SILENT_ROLES, Rules
from deltableu.logs.thread_blocks import ThreadBlock
from deltableu.logs.turns import Dialogue, Turn
from deltableu.logs.types import Pair, Thread

ReadDialogues = Callable[[], Iterator[tuple[str, Dialogue]]]
"""Yields file names and dialogues."""

#: More different ones are names of people, not roles.
_MOST_ROLES = 20
#: Dialogues that are in memory at once.
_BLOCK = 256


class TurnLogs:
    """Logs of dialogues.

    Parameters
    ----------
    read : callable
        Yields the dialogues from the beginning, the same ones whenever it is called.
    """

    def __init__(self, read: ReadDialogues, rules: Rules, counts: Counts, report: Report) -> None:
        self._read = read
        self._rules = rules
        self._counts = counts
        self._report = report
        self._passes = 0
        self.posts = 0
        self.other_parts = 0
        """Parts of turns that are no text."""
        self._parties: set[str] = set()

    def blocks(self) -> Iterator[ThreadBlock]:
        """The same as `threads`, many at once."""
        threads = self.threads()
        while some := list(islice(threads, _BLOCK)):
            yield ThreadBlock.of(some)

    def threads(self) -> Iterator[Thread]:
        """Yield dialogues in the order of the files; what is dropped is counted the first time."""
        first = self._passes == 0
        self._passes += 1
        counts = self._counts if first else Counts()
        seen: dict[bytes, int] = {}
        for file, dialogue in self._read():
            turns = self._in_order(file, dialogue, counts)
            if not turns:
                continue
            key, content = _key(dialogue.name), hash(tuple(turns))
            if seen.get(key, content) != content:
                # Turns that lie apart cannot be put together without reading all of them.
                message = (
                    f"the dialogue {dialogue.name!r} was there before, with other turns: turns of "
                    "a dialogue must follow on each other, and files with equal names of "
                    "dialogues be told apart with --name-by-file"
                )
                line = dialogue.turns[0][0]
                self._report(Problem(message, file=file, line=line, field="dialog"))
                continue
            if first:
                self.posts += len(turns)
                self.other_parts += sum(turn.other_parts for turn in turns)
                if len(self._parties) < _MOST_ROLES:
                    self._parties.update(turn.party for turn in turns)
            if key in seen:
                counts.add(Fate.DUPLICATE, len(turns))
                continue
            seen[key] = content
            thread = _thread(dialogue.name, turns, self._rules, counts)
            if thread is not None:
                yield thread
        if first:
            self._check_parties()

    def _check_parties(self) -> None:
        """Complain about a role that no turn has, which is a slip of the pen."""
        there = sorted(self._parties - {""})
        wanted = {*(self._rules.roles or ()), self._rules.responder} - {None, *there}
        if wanted and self._parties and len(self._parties) < _MOST_ROLES:
            name = str(min(wanted, key=str))
            close = get_close_matches(name, there, 1)
            hint = f": did you mean {close[0]}?" if close else ""
            roles = f"only by {', '.join(there)}" if there else "nor by anybody else with a name"
            raise InputError(f"no turn is by {name!r}, {roles}{hint}")

    def _in_order(self, file: str, dialogue: Dialogue, counts: Counts) -> list[Turn]:
        kept: dict[int, Turn] = {}
        last: int | None = None
        for line, turn in dialogue.turns:
            if kept.get(turn.turn) == turn:
                counts.add(Fate.DUPLICATE)
                self.posts += self._passes == 1
            elif last is not None and turn.turn <= last:
                message = f"comes after turn {last} of the dialogue: sort the turns"
                self._report(Problem(message, file=file, line=line, field="turn"))
            else:
                kept[turn.turn] = turn
                last = turn.turn
        return list(kept.values())


def _key(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=16).digest()


def _thread(dialog: str, turns: Sequence[Turn], rules: Rules, counts: Counts) -> Thread | None:
    pairs: list[Pair] = []
    used: list[Turn] = []
    for begins, part in _parts(turns, rules, counts):
        speakers = {turn.speaker for turn in part if turn.speaker}
        if len(part) == 1 == sum(_speaks(turn, rules) for turn in turns):
            counts.add(Fate.LONE)
        elif len(part) < rules.min_posts or (rules.two_users and len(speakers) != 2):
            counts.add(Fate.SHORT, len(part))
        elif rules.first and not begins:
            counts.add(Fate.LATER, len(part))
        else:
            kept = part[:2] if rules.first else part
            counts.add(Fate.LATER, len(part) - len(kept))
            made, of = _pairs(dialog, kept, rules)
            counts.add(Fate.NO_RESPONDER, len(kept) - len(of))
            pairs += made
            used += of
    if not pairs:
        return None
    times = [turn.time for turn in used if turn.time is not None]
    earliest, latest = min(times, default=None), max(times, default=None)
    time = next(turn.time for turn in turns if _speaks(turn, rules))
    return Thread(dialog, time, earliest, latest, len(used), tuple(pairs))


def _speaks(turn: Turn, rules: Rules) -> bool:
    """Whether a turn is an utterance, though perhaps an empty one."""
    if turn.calls and turn.is_empty:
        return False
    return turn.role not in SILENT_ROLES if rules.roles is None else turn.party in rules.roles


def _pairs(dialog: str, part: Sequence[Turn], rules: Rules) -> tuple[list[Pair], list[Turn]]:
    """The pairs of turns that follow on each other, and the turns that are in them."""
    made = []
    used: set[int] = set()
    for number in range(1, len(part)):
        turn, before = part[number], part[number - 1]
        if rules.responder is not None and turn.party != rules.responder:
            continue
        context = part[number - 2].text if number > 1 else None
        id = f"{dialog}:{turn.turn}"
        made.append(Pair(before.text, turn.text, id, turn.time, dialog, turn.speaker, context))
        used.update((number - 1, number))
    return made, [part[number] for number in sorted(used)]


def _parts(
    turns: Sequence[Turn], rules: Rules, counts: Counts
) -> Iterator[tuple[bool, list[Turn]]]:
    """The turns up to the first one that ends the dialogue, cut where one is empty.

    What comes after an empty turn does not answer what comes before it, but is as good as the
    rest. Whether a part is the beginning of the dialogue comes with it.
    """
    speakers: set[str] = set()
    part: list[Turn] = []
    begins = True
    silent = 0  # turns since the one before
    before: Turn | None = None
    for number, turn in enumerate(turns):
        if not _speaks(turn, rules):
            counts.add(Fate.NO_SPEAKER)
            silent += 1
            continue
        follows = before is None or turn.turn == before.turn + silent + 1
        fate = _fate(turn, part[-1] if part else None, speakers, rules, follows=follows)
        if fate is Fate.EMPTY:
            counts.add(fate)
            if part:
                yield begins, part
            begins, part = False, []
        elif fate is not None:
            counts.add(fate)
            counts.add(Fate.CUT_OFF, len(turns) - number - 1)
            break
        else:
            part.append(turn)
            if turn.speaker:
                speakers.add(turn.speaker)
        before, silent = turn, 0
    if part:
        yield begins, part


def _fate(
    turn: Turn, before: Turn | None, speakers: set[str], rules: Rules, *, follows: bool
) -> Fate | None:
    if turn.is_empty:
        return Fate.EMPTY
    if rules.two_users and not turn.speaker:
        return Fate.NO_USER
    if not follows:
        return Fate.MISSING_PARENT
    if (
        before is not None
        and turn.time is not None
        and before.time is not None
        and turn.time < before.time - rules.clock_skew
    ):
        return Fate.EARLY
    if (
        before is not None
        and rules.drop_own_replies
        and turn.speaker
        and turn.speaker == before.speaker
    ):
        return Fate.OWN_REPLY
    if rules.two_users and len(speakers) == 2 and turn.speaker not in speakers:
        return Fate.THIRD_USER
    return None
