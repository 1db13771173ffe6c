"""Utterances with several responses, against dictionaries; and chance that no order changes."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import asdict, fields
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.io import WorkFolder
from deltableu.judges.log_pairs import PASSES, read_training_pairs
from deltableu.judges.training_pairs import TrainingCounts, TrainingPairs
from deltableu.logs.partitions import find_partitions
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.word_vocabulary import WordVocabulary
from deltableu.text import Texts, text_keys


class Bytes:
    """A vocabulary that keeps every letter, so that texts can be read again."""

    kind = "bytes"

    def __len__(self):
        return 258

    def encode(self, texts):
        if not isinstance(texts, Texts):
            texts = Texts.of(texts)
        parts = [texts[i].encode() for i in range(len(texts))]
        numbers = np.frombuffer(b"".join(parts), np.uint8).astype(np.int32) + 2
        return EncodedTexts(numbers, np.cumsum([0, *map(len, parts)]))

    def to_bytes(self):
        return b""


LONG = 1000
#: Few words in several spellings, and texts without words.
UTTERANCES = st.builds(
    str.format, st.sampled_from(["{}", "{}!", "- {}?"]), st.sampled_from(["", *"abcdefghABCD"])
)
RESPONSES = st.sampled_from(["yes", "Yes.", "no", "No!", "well", "a b c", "?", "", "ok", "Ok ok"])
ROWS = st.integers(0, 60).flatmap(
    lambda least: st.lists(st.tuples(UTTERANCES, RESPONSES), min_size=least + 1, max_size=80)
)


def form(text: str) -> str:
    return " ".join(re.findall("[a-z0-9]+", text.lower()))


def texts_of(pairs: TrainingPairs) -> list[str]:
    numbers = (pairs.texts[i] for i in range(len(pairs.texts)))
    return [bytes((one - 2).astype(np.uint8)).decode() for one in numbers]


def rows_of(pairs: TrainingPairs) -> list[tuple[str, str]]:
    texts = texts_of(pairs)
    ends = zip(pairs.utterances.tolist(), pairs.responses.tolist(), strict=True)
    return [(texts[one], texts[other]) for one, other in ends]


def read(rows, *, partition_bytes=None, block_rows=16384, **options) -> TrainingPairs:
    partitions = find_partitions(rows, partition_bytes=partition_bytes, block_rows=block_rows)
    options = {"vocabulary": Bytes(), "max_length": LONG, "validation": 0.4, **options}
    return read_training_pairs(partitions, options.pop("vocabulary"), **options)


def assert_same(one: TrainingPairs, other: TrainingPairs) -> None:
    assert one.counts == other.counts
    for name in ("utterances", "responses", "groups", "validation"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.texts.numbers.tolist() == other.texts.numbers.tolist()
    assert one.texts.bounds.tolist() == other.texts.bounds.tolist()


@settings(max_examples=120)
@given(
    ROWS,
    st.integers(0, 5),
    st.integers(2, 4),
    st.sampled_from([None, 0, 3]),
    st.sampled_from([0.5, 0.3, 2]),
)
def test_groups_are_those_of_a_dictionary(rows, seed, max_responses, other, validation):
    found = defaultdict(set)
    for utterance, response in rows:
        if form(utterance) and form(response):
            found[form(utterance)].add(form(response))
    several = {key: kept for key, kept in found.items() if len(kept) > 1}
    options = {"seed": seed, "max_responses": max_responses, "other": other}
    options["validation"] = validation
    if not several:
        message = f"none of the {len(found)} different utterances in the {len(rows)} rows"
        with pytest.raises(InputError, match=message):
            read(rows, **options)
        return
    try:
        pairs = read(rows, **options)
    except InputError as error:
        problem = str(error)
    else:
        problem = ""
    if problem:
        left = re.search(rf"of {len(several)} utterances? .* (\d+) would .* (\d+) would", problem)
        assert int(left[1]) + int(left[2]) == len(several)
        assert min(int(left[1]), int(left[2])) < 2
        return
    counts = pairs.counts
    kept = rows_of(pairs)
    assert counts.rows == len(rows)
    assert counts.empty == sum(not (form(u) and form(r)) for u, r in rows)
    assert counts.utterances == len(found)
    assert counts.several == len(several) == counts.training + counts.validation
    assert counts.responses == sum(min(len(one), max_responses) for one in several.values())
    assert counts.too_many == sum(map(len, several.values())) - counts.responses
    different = sum(map(len, found.values()))
    assert counts.other == min(counts.responses if other is None else other, different)
    assert len(kept) == counts.responses + counts.other == len(pairs.groups)
    # Every row is one of the logs, letter by letter, and no row of a part is there twice.
    assert set(kept) <= set(rows)
    for part in (kept[: counts.responses], kept[counts.responses :]):
        assert len({(form(u), form(r)) for u, r in part}) == len(part)
    by_group = defaultdict(list)
    for row, group in zip(kept[: counts.responses], pairs.groups.tolist(), strict=False):
        by_group[group].append(row)
    assert sorted(by_group) == list(range(counts.several))
    assert (np.diff(pairs.groups[: counts.responses]) >= 0).all()
    for group in by_group.values():
        (utterance,) = {form(u) for u, _ in group}
        responses = {form(r) for _, r in group}
        assert responses <= several[utterance]
        assert len(group) == min(len(several[utterance]), max_responses)
    # A number is an utterance in both parts, so that none is on both sides.
    assert len({(form(u), g) for (u, _), g in zip(kept, pairs.groups, strict=True)}) == len(
        pairs.validation
    )
    assert counts.validation == pairs.validation[: counts.several].sum()
    assert min(counts.training, counts.validation) >= 2
    texts = texts_of(pairs)
    assert len(set(texts)) == len(texts) == counts.texts


@settings(max_examples=60)
@given(ROWS, st.integers(1, 60), st.integers(1, 9), st.randoms(use_true_random=False))
def test_neither_order_nor_files_matter(rows, partition_bytes, block_rows, rng):
    options = {"max_responses": 2, "other": 4, "validation": 2}
    try:
        expected = read(rows, **options)
    except InputError as error:
        with pytest.raises(InputError, match=re.escape(str(error))):
            read(rows, **options, partition_bytes=partition_bytes, block_rows=block_rows)
        return
    parts = {"partition_bytes": partition_bytes, "block_rows": block_rows}
    assert_same(read(rows, **options, **parts), expected)
    shuffled = rng.sample(rows, len(rows)) + rows[:1]
    again = read(shuffled, **options, **parts)
    counts = again.counts
    assert counts.rows == len(rows) + 1
    for field in fields(TrainingCounts):
        if field.name not in ("rows", "empty"):
            assert getattr(counts, field.name) == getattr(expected.counts, field.name)
    assert rows_of(again) == rows_of(expected)
    assert again.validation.tolist() == expected.validation.tolist()


def many_rows(number: int = 3000) -> list[tuple[str, str]]:
    rng = random.Random(8)
    return [(f"u{rng.randrange(700)}", f"r{rng.randrange(900)}") for _ in range(number)]


def test_ranges_of_utterances_make_no_difference(monkeypatch):
    expected = read(many_rows(), block_rows=100, max_responses=3)
    monkeypatch.setattr(import_module("deltableu.neural.row_keys"), "_AT_ONCE", 100)
    assert_same(read(many_rows(), block_rows=100, max_responses=3), expected)


def test_the_seed_decides_what_is_held_out_and_kept():
    rows = many_rows()
    one, other = (read(rows, seed=seed, max_responses=2) for seed in (1, 2))

    def held_out(pairs):
        return {u for (u, _), g in zip(rows_of(pairs), pairs.groups, strict=True)
                if pairs.validation[g]}  # fmt: skip

    assert held_out(one) != held_out(other)
    assert set(rows_of(one)) != set(rows_of(other))
    share = one.counts.validation / one.counts.several
    assert share == pytest.approx(0.4, abs=0.06)


def test_logs_that_grow_do_not_move_utterances():
    rows = many_rows()
    sides = {}
    for pairs in (read(rows), read([*rows, *((u + "0", r) for u, r in rows)])):
        for (u, _), group in zip(rows_of(pairs), pairs.groups, strict=True):
            assert sides.setdefault(u, pairs.validation[group]) == pairs.validation[group]


def test_a_number_of_utterances_can_be_held_out():
    pairs = read(many_rows(), validation=25)
    assert pairs.counts.validation == 25
    with pytest.raises(InputError, match="0 would be left to learn from"):
        read(many_rows(), validation=10_000)


def test_chance_does_not_favour_responses():
    # Every utterance has the same hundred responses; each is kept about equally often.
    rows = [(f"u{u}", f"r{r}") for u in range(200) for r in range(100)]
    pairs = read(rows, max_responses=10, other=0)
    counts = np.bincount([int(r[1:]) for _, r in rows_of(pairs)], minlength=100)
    assert counts.sum() == 2000
    assert 5 < counts.min() <= counts.max() < 45
    others = read(rows, max_responses=2, other=4000).counts
    assert others.other == 4000


def test_texts_are_cut_and_unknown_words_kept():
    rows = [(f"hello {n}", f"{answer} indeed {n}") for n in range(30) for answer in ("yes", "no")]
    vocabulary = WordVocabulary(["hello", "yes", "no"])
    pairs = read(rows, vocabulary=vocabulary, max_length=2)
    assert pairs.texts.lengths.max() == 2
    assert pairs.counts.cut == 60
    assert set(pairs.texts.numbers.tolist()) == {1, 2, 3, 4}


class Deaf(Bytes):
    """Has no number for some texts."""

    def encode(self, texts):
        kept = ["" if "deaf" in texts[i] else texts[i] for i in range(len(texts))]
        return super().encode(kept)


def test_texts_without_numbers_are_left_out():
    rows = [(f"u{n}", f"r{k}") for n in range(20) for k in range(3)]
    rows += [("lost", "deaf one"), ("lost", "well"), ("u1", "deaf"), ("deaf", "a"), ("deaf", "b")]
    pairs = read(rows, vocabulary=Deaf())
    assert pairs.counts.several == 20
    assert pairs.counts.responses == 60
    assert pairs.counts.empty == 4
    assert {u for u, _ in rows_of(pairs)[:60]} == {f"u{n}" for n in range(20)}
    assert (pairs.texts.lengths[pairs.utterances] > 0).all()
    assert (pairs.texts.lengths[pairs.responses] > 0).all()


def test_files_are_read_twice_and_progress_is_told(tmp_path):
    rows = many_rows()
    for number in range(3):
        lines = ["utterance\tresponse", *("\t".join(row) for row in rows[number::3])]
        (tmp_path / f"{number}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    partitions = find_partitions(tmp_path, partition_bytes=5000, block_rows=70)
    told = []
    pairs = read_training_pairs(partitions, Bytes(), validation=0.4, tell=told.append)
    assert sum(told) == PASSES * sum(partition.size for partition in partitions)
    assert_same(pairs, read(rows))


def test_pairs_are_kept_as_arrays(tmp_path):
    pairs = read(many_rows())
    work = WorkFolder(tmp_path, "key")
    work.begin()
    work.keep("pairs", pairs.arrays(), asdict(pairs.counts))
    again = TrainingPairs.of(*work.kept("pairs"))
    assert_same(again, pairs)
    for name in ("utterances", "responses", "groups", "validation"):
        assert getattr(again, name).dtype == getattr(pairs, name).dtype
    assert again.texts.numbers.dtype == np.int32


def test_logs_without_what_a_rater_needs(tmp_path):
    (tmp_path / "a.tsv").write_text("utterance\tresponse\n", encoding="utf-8")
    with pytest.raises(InputError, match="the logs hold no rows"):
        read(tmp_path / "a.tsv")
    with pytest.raises(
        InputError, match=r"none of the 2 different utterances in the 4 rows .*1 of"
    ):
        read([("hi", "Yes"), ("Hi!", "yes."), ("who", "me"), ("", "me")])
    with pytest.raises(InputError, match="of 1 utterance with several responses in 2 rows"):
        read([("hi", "a"), ("hi", "b")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validation": 0}, "validation: must be a share between 0 and 1 or a whole number, got 0"),
        ({"validation": 1.5}, "validation: must be a share"),
        ({"validation": float("nan")}, "validation: must be a share"),
        ({"max_length": 0}, "max_length must be at least 1, got 0"),
        ({"max_responses": 1}, "max_responses must be at least 2, got 1"),
        ({"other": -1}, "other must not be negative, got -1"),
        ({"seed": -1}, "seed must not be negative, got -1"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InputError, match=message):
        read(many_rows(50), **options)


class Changing:
    """Logs that someone writes while they are read."""

    name, size, fingerprint = "changing", 0, ""

    def __init__(self, *versions):
        self._versions = iter(versions)

    def blocks(self, report=None):
        (partition,) = find_partitions(next(self._versions))
        return partition.blocks()


def test_logs_that_change_while_they_are_read():
    rows = many_rows(300)
    with pytest.raises(InputError, match="the logs changed while they were read"):
        read_training_pairs([Changing(rows, rows[:100])], Bytes(), validation=0.4)


def keys_of(texts: list[str]) -> list[int | None]:
    """None for a text without words."""
    found = text_keys(texts)
    keys = zip(found.keys.tolist(), found.worded.tolist(), strict=True)
    return [key if worded else None for key, worded in keys]


def groups_of(rows: list[tuple[str, str]]) -> dict[int, set[int]]:
    found = defaultdict(set)
    for one, other in zip(*map(keys_of, zip(*rows, strict=True)), strict=True):
        if one is not None and other is not None:
            found[one].add(other)
    return found


def test_real_logs(data, tmp_path):
    from reproduce.dialogue_logs import write_pairs

    write_pairs(data, tmp_path, ["dailydialog_dev_part", "twitter_conv"])
    partitions = find_partitions(tmp_path)
    pairs = read_training_pairs(
        partitions, Bytes(), validation=0.2, max_length=LONG, max_responses=10_000
    )
    logged = [
        pair
        for partition in partitions
        for block in partition.blocks()
        for pair in zip(block.utterances, block.responses, strict=True)
    ]
    expected = groups_of(logged)
    counts = pairs.counts
    kept = rows_of(pairs)
    assert counts.rows == len(logged) == 22_427
    assert counts.utterances == len(expected)
    assert counts.other == counts.responses == len(kept) // 2
    assert set(kept) <= set(logged)
    several = {key: found for key, found in expected.items() if len(found) > 1}
    assert groups_of(kept[: counts.responses]) == several
