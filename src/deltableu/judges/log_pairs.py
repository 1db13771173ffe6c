"""Logs in; pairs to learn from out, as numbers of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu._types import Bools, BytesRead, Ints, Keys
from deltableu.errors import InputError, check_at_least
from deltableu.judges.training_pairs import TrainingCounts, TrainingPairs
from deltableu.logs import Partition, read_blocks
from deltableu.neural import (
    KeyedRows,
    RowKeys,
    RowTexts,
    Vocabulary,
    check_validation,
    different,
    mixed,
    salt,
    starts_of,
)
from deltableu.text import WordNumbers, key_numbers

#: How often the logs are read.
PASSES = 2

#: Keys of random streams.
_SPLIT, _RESPONSES, _OTHERS, _SPELLINGS = 11, 12, 13, 14
#: Without two utterances there are no negative examples.
_FEWEST = 2
_LARGEST = (1 << 64) - 1


def read_training_pairs(
    partitions: Sequence[Partition],
    vocabulary: Vocabulary,
    *,
    validation: float = 0.05,
    seed: int = 0,
    max_length: int = 50,
    max_responses: int = 50,
    other: int | None = None,
    several: bool = True,
    tell: BytesRead = lambda read: None,
) -> TrainingPairs:
    """Find the utterances of logs that have several responses.

    Two utterances, or two responses, are the same when their words are; texts without words do
    not count. All that is chosen is chosen by hashes of texts and seed: neither the order of the
    rows nor how they lie in files matters. Memory grows with 32 bytes for a different row, and
    with what is kept.

    Parameters
    ----------
    partitions
        What `deltableu.logs.partitions.find_partitions` found.
    vocabulary
    validation
        The share of utterances to hold out, or (1 or more) their number. With a share, logs that
        grow never move an utterance to the other side.
    seed
    max_length
        Numbers of a text that are kept.
    max_responses
        Different responses of an utterance, at most.
    other
        Random rows of the logs to keep beside, at most; by default as many as there are rows of
        utterances with several responses. Different rows are equally likely, however often they
        occur.
    several
        Whether to look for utterances with several responses; else the random rows are all.
    tell
        Called with the bytes that were read since the last call; all logs are read `PASSES` times.

    Raises
    ------
    InputError
        Where fewer than two utterances (with several responses) are on either side.

    Examples
    --------
    >>> from deltableu.logs.partitions import find_partitions
    >>> from deltableu.neural import WordVocabulary
    >>> rows = [(f"How is {n}?", answer) for n in range(40) for answer in ("Fine", "Bad", "bad!")]
    >>> words = WordVocabulary(["how", "is", "fine"])
    >>> pairs = read_training_pairs(find_partitions(rows), words, validation=10)
    >>> pairs.counts.several, pairs.counts.responses, pairs.counts.validation
    (40, 80, 10)
    """
    check_validation(validation)
    check_at_least("max_length", max_length, 1)
    check_at_least("max_responses", max_responses, 2)
    check_at_least("other", other or 0, 0)
    keys = RowKeys()
    for block in read_blocks(partitions, tell):
        keys.add(block)
    found, utterances, too_many = keys.several(max_responses, salt(seed, _RESPONSES))
    _check_rows(keys)
    if several:
        _check_several(keys, utterances, len(found))
    else:
        found, too_many = found[:0], 0
    first = len(found)
    others = keys.others(first if several and other is None else other or 0, salt(seed, _OTHERS))
    rows, empty = keys.rows, keys.empty
    del keys
    wanted = KeyedRows.joined([found, others])
    read = RowTexts(wanted, vocabulary, max_length, salt(seed, _SPELLINGS))
    for block in read_blocks(partitions, tell):
        read.add(block)
    texts, long = read.end()
    places = np.stack(read.texts_of(wanted))

    # A vocabulary may have nothing for a text that has words.
    readable = np.logical_and(*(texts.lengths > 0)[places])
    empty += int((~readable[:first]).sum())
    kept = readable.copy()
    if first:
        kept[:first] &= _with_another(found, readable[:first])
    responses = int(kept[:first].sum())
    wanted, places = wanted[kept], places[:, kept]
    groups, names = _numbered(wanted.utterances, responses)
    counted = int(groups[:responses].max(initial=-1)) + 1 if several else len(names)
    held_out, training, validated = _split(names, counted, validation, seed)
    _check_sides(training, validated, validation, rows, several=several)
    counts = TrainingCounts(
        rows, empty, utterances, training + validated if several else 0, responses, too_many,
        training, validated, len(wanted) - responses, len(texts), int(long.sum()),
    )  # fmt: skip
    return TrainingPairs(texts, places[0], places[1], groups, held_out, counts)


def _with_another(rows: KeyedRows, readable: Bools) -> Bools:
    """Which rows are of an utterance with two or more readable ones."""
    starts = starts_of(rows.utterances)
    numbers = np.add.reduceat(readable, starts[:-1], dtype=np.int64)
    return np.repeat(numbers > 1, np.diff(starts))


def _numbered(utterances: Keys, several: int) -> tuple[Ints, Keys]:
    """Numbers of utterances, those of the first `several` rows first, and the keys they stand for.

    The first rows are sorted.
    """
    first = utterances[:several][starts_of(utterances[:several])[:-1]]
    more = different(utterances[several:])
    numbers = WordNumbers.of(first)
    more = more[numbers.find(more) < 0]
    numbers.add(more)
    return numbers.find(utterances).astype(np.int64), np.concatenate((first, more))


def _split(names: Keys, counted: int, validation: float, seed: int) -> tuple[Bools, int, int]:
    """Which utterances are held out, and how many of the first `counted` are not, and are.

    A share is one of all possible hashes.
    """
    ranks = mixed(salt(seed, _SPLIT), key_numbers(names))
    if validation >= 1:
        number = min(int(validation), counted)
        limit = int(np.sort(ranks[:counted])[number - 1]) if number else 0
    else:
        limit = min(int(validation * (_LARGEST + 1)), _LARGEST)
    held_out = ranks <= np.uint64(limit)
    validated = int(held_out[:counted].sum())
    return held_out, counted - validated, validated


def _check_sides(
    training: int, validated: int, validation: float, rows: int, *, several: bool
) -> None:
    if min(training, validated) < _FEWEST:
        number = training + validated
        raise InputError(
            f"of {number} {'utterance' if number == 1 else 'utterances'} "
            f"{'with several responses ' if several else ''}in {rows} rows, {validated} would be "
            f"held out and {training} would be left to learn from, but both sides need {_FEWEST} "
            f"or more: add logs, or change validation, which is {validation:g}"
        )


def _check_rows(keys: RowKeys) -> None:
    if not keys.rows:
        raise InputError("the logs hold no rows, and a judge learns from utterances and responses")


def _check_several(keys: RowKeys, utterances: int, several: int) -> None:
    if not several:
        raise InputError(
            f"none of the {utterances} different utterances in the {keys.rows} rows of the logs "
            f"({keys.empty} of them without words) has two different responses, which a judge "
            "learns from: add logs in which utterances recur"
        )
