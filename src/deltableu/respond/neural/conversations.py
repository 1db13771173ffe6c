"""Logs in; conversations to learn from out, as numbers of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from deltableu._types import AnyArray, Bools, BytesRead, Hashes, Ints, Keys
from deltableu.errors import InputError
from deltableu.logs import Block, Partition, read_blocks
from deltableu.neural import (
    EncodedTexts,
    KeyedRows,
    RowTexts,
    Vocabulary,
    fresh,
    mixed,
    row_keys,
    salt,
)
from deltableu.text import WordNumbers, empty_keys, hash_texts, key_numbers, key_order

#: How often the logs are read.
PASSES = 2
#: Keys of random streams.
_SPLIT, _CHOICE, _SPELLINGS = 41, 42, 43
_LARGEST = (1 << 64) - 1
#: What is held out, and what is left, at least.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """What the logs had, and what is kept of it.

    Attributes
    ----------
    rows : int
        Rows that the logs have.
    empty : int
        Rows that were left out, because their utterance or response has no words or no number of
        the vocabulary.
    repeated : int
        Rows that were left out, because another one says the same.
    too_many : int
        Rows that were left out, because there were more than the most that are kept.
    pairs : int
        Rows that are kept.
    with_context : int
        Kept rows of which an earlier turn is known.
    training, validation : int
        Parts of `pairs`.
    texts : int
        Different ones, letter by letter.
    cut : int
        Texts that were too long.
    """

    rows: int
    empty: int
    repeated: int
    too_many: int
    pairs: int
    with_context: int
    training: int
    validation: int
    texts: int
    cut: int


@dataclass(frozen=True, slots=True, eq=False)
class Conversations:
    """Logged responses with the turns that they follow, a row each.

    Attributes
    ----------
    texts : EncodedTexts
        Every text once.
    turns : array
        The places of a row's turns in `texts`, the message last; -1 before the first turn.
    responses : array
        The places of the responses.
    validation : array
        Which rows are held out.
    counts : ConversationCounts
    """

    texts: EncodedTexts
    turns: Ints
    responses: Ints
    validation: Bools
    counts: ConversationCounts

    def arrays(self) -> dict[str, AnyArray]:
        """All but the counts, as it is kept between two runs."""
        texts: dict[str, AnyArray] = {"numbers": self.texts.numbers, "bounds": self.texts.bounds}
        return texts | {name: getattr(self, name) for name in _COLUMNS}

    @classmethod
    def of(cls, arrays: Mapping[str, AnyArray], counts: Mapping[str, int]) -> Conversations:
        """The conversations whose `arrays` and counts these are."""
        texts = EncodedTexts(arrays["numbers"], arrays["bounds"])
        columns = {name: arrays[name] for name in _COLUMNS}
        return cls(texts, counts=ConversationCounts(**counts), **columns)


_COLUMNS = tuple(
    field.name for field in fields(Conversations) if field.name not in ("texts", "counts")
)


class _Rows:
    """Keys of all rows with words, in the order of the logs, and of their threads."""

    def __init__(self) -> None:
        self.rows = 0
        self._kept: list[KeyedRows] = []
        self._threads: list[Keys] = []

    def add(self, block: Block) -> None:
        keys, worded = row_keys(block)
        self.rows += len(keys)
        self._kept.append(keys[worded])
        if block.threads is None:
            self._threads.append(np.full(int(worded.sum()), b"", empty_keys(0).dtype))
        else:
            known = block.threads.ends > block.threads.starts
            threads = hash_texts(block.threads)
            threads[~known] = b""
            self._threads.append(threads[worded])

    def all(self) -> tuple[KeyedRows, Keys]:
        return KeyedRows.joined(self._kept), np.concatenate([empty_keys(0), *self._threads])


def read_conversations(
    partitions: Sequence[Partition],
    vocabulary: Vocabulary,
    *,
    turns: int = 1,
    validation: float = 0.05,
    seed: int = 0,
    max_length: int = 30,
    max_pairs: int = 1_000_000,
    tell: BytesRead = lambda read: None,
) -> Conversations:
    """Read pairs of logs, and the turns before them where the logs name threads.

    The turn before a row's utterance is the utterance of the last row above it in the same thread
    whose response is this utterance. Rows that say the same are one. What is held out is chosen
    by thread, or by utterance where a row has no thread, so that no conversation is on both sides.

    Parameters
    ----------
    partitions
        What `deltableu.logs.find_partitions` found.
    vocabulary
    turns
        Turns before a response, at most, with the message.
    validation
        The share of threads to hold out, or (1 or more) the number of pairs.
    seed
    max_length
        Numbers of a text that are kept.
    max_pairs
        Pairs that are kept, at most.
    tell
        Called with the bytes that were read since the last call; all logs are read `PASSES` times.

    Raises
    ------
    InputError
        Where fewer than two pairs are on either side.

    Examples
    --------
    >>> from deltableu.logs import find_partitions
    >>> from deltableu.neural import WordVocabulary
    >>> said = ["Tea?", "Yes.", "Milk?", "No!"]
    >>> rows = [{"utterance": f"{n} {said[turn]}", "response": f"{n} {said[turn + 1]}", "thread": n}
    ...         for n in range(20) for turn in range(3)]
    >>> words = WordVocabulary(["tea", "yes", "milk", "no"])
    >>> found = read_conversations(find_partitions(rows), words, turns=2, validation=6)
    >>> found.counts.pairs, found.counts.with_context, found.counts.validation
    (60, 40, 6)
    """
    read = _Rows()
    for block in read_blocks(partitions, tell):
        read.add(block)
    keys, threads = read.all()
    if not len(keys):
        what = "rows with words on both sides" if read.rows else "rows"
        raise InputError(
            f"the logs hold no {what}, and a responder learns from messages and responses"
        )
    before = _rows_before(keys, threads) if turns > 1 else np.full(len(keys), -1)
    distinct = _one_of_each(keys, before)
    groups = np.where(threads == b"", keys.utterances, threads)[distinct]
    few = _chosen(keys[distinct], max_pairs, salt(seed, _CHOICE))
    rows, groups = distinct[few], groups[few]
    held_out = _held_out(groups, validation, seed)

    chain = np.full((len(rows), turns), -1)
    chain[:, -1] = rows
    for turn in range(turns - 1, 0, -1):
        later = chain[:, turn]
        chain[:, turn - 1] = np.where(later >= 0, before[later], -1)
    wanted = keys[np.unique(chain[chain >= 0])]
    texts = RowTexts(wanted, vocabulary, max_length, salt(seed, _SPELLINGS))
    for block in read_blocks(partitions, tell):
        texts.add(block)
    encoded, long = texts.end()

    places = np.full(chain.shape, -1)
    there = chain >= 0
    places[there] = texts.texts_of(keys[chain[there]])[0]
    responses = texts.texts_of(keys[rows])[1]
    # A vocabulary may have nothing for a text that has words.
    readable = (encoded.lengths[places[:, -1]] > 0) & (encoded.lengths[responses] > 0)
    places, responses, held_out = places[readable], responses[readable], held_out[readable]
    with_context = int((places[:, :-1] >= 0).any(1).sum())
    validated = int(held_out.sum())
    counts = ConversationCounts(
        rows=read.rows,
        empty=read.rows - len(keys) + int((~readable).sum()),
        repeated=len(keys) - len(distinct),
        too_many=len(distinct) - len(rows),
        pairs=len(responses),
        with_context=with_context,
        training=len(responses) - validated,
        validation=validated,
        texts=len(encoded),
        cut=int(long.sum()),
    )
    if min(counts.training, counts.validation) < _FEWEST:
        raise InputError(
            f"of {counts.pairs} different pairs in {counts.rows} rows of the logs, "
            f"{counts.validation} would be held out and {counts.training} would be left to learn "
            f"from, but both sides need {_FEWEST} or more: add logs, or change validation, which "
            f"is {validation:g}"
        )
    return Conversations(encoded, places, responses, held_out, counts)


def _rows_before(rows: KeyedRows, threads: Keys) -> Ints:
    """The last row above whose response, in the same thread, is a row's utterance; -1 for none."""
    count = len(rows)
    texts, named = WordNumbers.of(empty_keys(0)), WordNumbers.of(empty_keys(0))
    said, answered = texts.add(rows.utterances)[0], texts.add(rows.responses)[0]
    thread = named.add(threads)[0].astype(np.int64)
    wide = texts.size + 1
    _, places = np.unique(
        np.concatenate((thread * wide + answered, thread * wide + said)), return_inverse=True
    )
    # One number for where a row is said and when, so that the row before is the next smaller one.
    when = np.arange(count)
    ends, starts = places[:count] * count + when, places[count:] * count + when
    order = np.argsort(ends)
    at = np.searchsorted(ends[order], starts) - 1
    found: Ints = np.where(at >= 0, order[np.maximum(at, 0)], -1)
    same = (found >= 0) & (places[:count][found] == places[count:]) & (threads != b"")
    return np.where(same, found, -1)


def _one_of_each(rows: KeyedRows, before: Ints) -> Ints:
    """A row of each utterance and response: the first with an earlier turn, else the first."""
    order = key_order(rows.utterances, rows.responses)
    sorted_rows = rows[order]
    group = np.cumsum(fresh(sorted_rows.utterances, sorted_rows.responses))
    best = np.lexsort((order, before[order] < 0, group))
    _, firsts = np.unique(group[best], return_index=True)
    return np.sort(order[best[firsts]])


def _chosen(rows: KeyedRows, most: int, salt: np.uint64) -> Ints:
    if len(rows) <= most:
        return np.arange(len(rows))
    return np.sort(np.argpartition(rows.ranks(salt), most - 1)[:most])


def _held_out(groups: Keys, validation: float, seed: int) -> Bools:
    """Which rows are held out: whole groups, those with the smallest hashes."""
    ranks: Hashes = mixed(salt(seed, _SPLIT), key_numbers(groups))
    if validation >= 1:
        limit = int(np.sort(ranks)[min(int(validation), len(ranks)) - 1]) if len(ranks) else 0
    else:
        limit = min(int(validation * (_LARGEST + 1)), _LARGEST)
    held_out: Bools = ranks <= np.uint64(limit)
    return held_out
