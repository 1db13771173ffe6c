"""Vocabularies: what they number, and that their bytes make them again."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.logs.partitions import find_partitions
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.piece_vocabulary import piece_vocabulary
from deltableu.neural.vocabulary import vocabulary_from_bytes
from deltableu.neural.word_vocabulary import WordVocabulary, word_vocabulary
from deltableu.text import Texts, word_form

WORDS = st.sampled_from(["hi", "you", "there", "what", "is", "it"])
PHRASES = st.lists(WORDS, max_size=5).map(" ".join)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

ROWS = [
    ("How are you today?", "I am fine, thanks."),
    ("HOW ARE YOU", "Not so well today, I am tired."),
    ("Привет, как дела?", "Хорошо, спасибо большое!"),
    ("お元気ですか", "はい、元気です。ありがとう"),
    ("مرحبا كيف حالك", "أنا بخير شكرا"),
    ("What are you doing today?", "I am reading about the weather."),
]


def lists(encoded: EncodedTexts) -> list[list[int]]:
    return [encoded[i].tolist() for i in range(len(encoded))]


@given(st.lists(st.tuples(PHRASES, PHRASES), min_size=1), st.integers(1, 8), st.integers(1, 3))
def test_the_most_frequent_words_come_first(rows, size, min_count):
    counts = Counter(word for row in rows for text in row for word in text.split())
    known = sorted((-n, word) for word, n in counts.items() if n >= min_count)[:size]
    partitions = find_partitions(rows)
    if not known:
        with pytest.raises(InputError, match=r"no word"):
            word_vocabulary(partitions, size=size, min_count=min_count)
        return
    vocabulary = word_vocabulary(partitions, size=size, min_count=min_count)
    numbers = {word: number for number, (_, word) in enumerate(known, start=2)}
    assert len(vocabulary) == len(numbers) + 2
    texts = [f"{one.upper()}!" for row in rows for one in row]
    expected = [[numbers.get(word, 1) for word in re.findall("[a-z]+", t.lower())] for t in texts]
    assert lists(vocabulary.encode(texts)) == expected
    assert lists(vocabulary.encode(Texts.of(texts))) == expected


@given(st.lists(ANY_TEXT.filter(lambda t: any(c.isalnum() for c in t)), min_size=1), ANY_TEXT)
def test_words_of_any_script_come_back_from_bytes(texts, other):
    try:
        made = word_vocabulary(find_partitions([(text, "a") for text in texts]), size=100)
    except InputError:
        return
    again = vocabulary_from_bytes("words", made.to_bytes())
    assert len(again) == len(made)
    assert again.to_bytes() == made.to_bytes()
    assert lists(again.encode([*texts, other])) == lists(made.encode([*texts, other]))
    assert 1 not in made.encode(texts).numbers


def test_every_character_that_is_a_word_can_be_kept():
    points = [*range(0x61), *range(0x62, 0xD800), *range(0xE000, 0x10000), 0x1F600, 0x20000]
    words = sorted({word_form(chr(point)) for point in points})
    found = WordVocabulary(["a"]).encode(words)
    kept = [word for word, length in zip(words, found.lengths, strict=True) if length]
    assert len(kept) > 40_000
    again = vocabulary_from_bytes("words", WordVocabulary(kept).to_bytes())
    assert again.encode(kept).numbers.tolist() == [*range(2, len(kept) + 2)]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"hi\n", b"hi\nhi", b"two words", b"Upper", b"hi\n\xff", b"\x80\x04K\x01."]
)
def test_bytes_that_are_no_words(data):
    with pytest.raises(InputError, match="not a vocabulary of words"):
        vocabulary_from_bytes("words", data)


def test_wrong_kinds_and_sizes():
    with pytest.raises(InputError, match="unknown kind of vocabulary 'letters'"):
        vocabulary_from_bytes("letters", b"")
    partitions = find_partitions(ROWS)
    with pytest.raises(InputError, match="size must be at least 1, got 0"):
        word_vocabulary(partitions, size=0)
    with pytest.raises(InputError, match="sample must be at least 1, got 0"):
        piece_vocabulary(partitions, size=5, sample=0)


@given(st.lists(st.lists(st.integers(1, 9), max_size=6), min_size=1), st.integers(1, 6), st.data())
def test_encoded_texts_are_chosen_cut_and_joined(texts, length, data):
    bounds = np.cumsum([0, *map(len, texts)])
    made = EncodedTexts(np.array([n for text in texts for n in text], np.int32), bounds)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1)))
    assert lists(made.choose(np.array(rows, np.int64))) == [texts[row] for row in rows]
    assert lists(made.cut(length)) == [text[:length] for text in texts]
    assert lists(EncodedTexts.joined([made, made])) == texts + texts
    assert len(EncodedTexts.joined([])) == 0


@pytest.fixture(scope="module")
def pieces():
    pytest.importorskip("sentencepiece")
    return piece_vocabulary(find_partitions(ROWS), size=200)


def test_pieces_are_numbered_from_two(pieces):
    assert len(pieces) == len(pieces.pieces()) + 2
    assert len(pieces) <= 202
    texts = [text for row in ROWS for text in row]
    encoded = pieces.encode([*texts, "", "  ", "\u0e01\u0e02"])
    assert 0 not in encoded.numbers
    assert encoded.lengths[-3:-1].tolist() == [0, 0]
    assert encoded[len(encoded) - 1][-1] == 1
    assert encoded.numbers.max() < len(pieces)
    spelt = "".join(pieces.pieces()[number - 2] for number in encoded[6])
    assert spelt.replace("▁", "") == "お元気ですか"
    assert 1 not in encoded.numbers[: encoded.bounds[len(texts)]]


def test_case_counts_only_if_asked(pieces):
    one, other = lists(pieces.encode(["How Are YOU", "how are you"]))
    assert one == other
    cased = piece_vocabulary(find_partitions(ROWS), size=200, lowercase=False)
    assert "H" in "".join(cased.pieces())
    again = vocabulary_from_bytes("pieces", cased.to_bytes())
    one, other = lists(again.encode(["How Are YOU", "how are you"]))
    assert one != other


def test_pieces_come_back_from_bytes(pieces):
    again = vocabulary_from_bytes(pieces.kind, pieces.to_bytes())
    texts = [text for row in ROWS for text in row] * 3
    assert len(again) == len(pieces)
    assert lists(again.encode(texts)) == lists(pieces.encode(Texts.of(texts)))


def test_the_same_logs_give_the_same_pieces_and_nothing_is_printed(pieces, capfd):
    for options in ({}, {"partition_bytes": 20, "block_rows": 2}):
        partitions = find_partitions(ROWS[::-1] + ROWS[:2], **options)
        assert piece_vocabulary(partitions, size=200).to_bytes() == pieces.to_bytes()
    assert capfd.readouterr() == ("", "")


def test_a_sample_depends_on_the_seed_alone():
    pytest.importorskip("sentencepiece")
    rows = [(f"word{n} and {n * 7}", f"reply{n}") for n in range(100)]

    def made(rows, seed, **options):
        partitions = find_partitions(rows, **options)
        return piece_vocabulary(partitions, size=60, sample=20, seed=seed).to_bytes()

    assert made(rows, 1) == made(rows[::-1], 1, block_rows=3)
    assert made(rows, 1) != made(rows, 2)


def test_progress_is_told(pieces):
    partitions = find_partitions(ROWS, partition_bytes=50, block_rows=1)
    told = []
    piece_vocabulary(partitions, size=90, tell=told.append)
    assert sum(told) == sum(partition.size for partition in partitions)


def test_logs_that_are_hard_for_sentencepiece(pieces):
    long = [("x\0y " * 3000, "line\nafter\r\n"), ("▁ odd", "\u2581")]
    assert len(piece_vocabulary(find_partitions(long), size=20)) > 2
    many = [("".join(map(chr, range(0x4E00, 0x4E00 + 600))) + "一", "二" * 1300)]
    many += [("一" * 1200 + str(n), "二" * 1200) for n in range(40)]
    few = piece_vocabulary(find_partitions(many), size=200)
    assert len(few) <= 202
    assert 1 not in few.encode(["一一"]).numbers
    with pytest.raises(InputError, match=r"1 pieces are too few to spell the logs, whose \d+ most"):
        piece_vocabulary(find_partitions(ROWS), size=1)
    for nothing in ([("", "")], [("  ", "\u200b")], [("\u2581", "\ufeff\ufffd")]):
        with pytest.raises(InputError, match="the logs hold no words"):
            piece_vocabulary(find_partitions(nothing), size=20)


def test_bytes_that_are_no_pieces(pieces):
    data = pieces.to_bytes()
    for wrong in (b"", b"x", b"not a model", data[:1000], data[:-1]):
        with pytest.raises(InputError, match="not a SentencePiece model"):
            vocabulary_from_bytes("pieces", wrong)


def test_a_model_with_other_numbers_is_refused():
    sentencepiece = pytest.importorskip("sentencepiece")
    import io

    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello you", "what is it"]),
        model_writer=file, vocab_size=20, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    with pytest.raises(InputError, match="padding 0, unknown 1"):
        vocabulary_from_bytes("pieces", file.getvalue())


def test_without_sentencepiece(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(InputError, match=r"pip install 'deltableu\[neural\]'"):
        piece_vocabulary(find_partitions(ROWS), size=20)
    with pytest.raises(InputError, match=r"pip install 'deltableu\[neural\]'"):
        vocabulary_from_bytes("pieces", b"x")
    assert len(word_vocabulary(find_partitions(ROWS), size=20)) == 22


def test_nothing_heavy_is_imported():
    code = (
        "import sys, deltableu.judges.examples, deltableu.neural.vocabulary as v;"
        "v.WordVocabulary(['a']); print({'torch', 'sentencepiece'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
