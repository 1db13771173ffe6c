"""Files of word vectors: what is written is read again, and broken files are named."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.text import Texts, WordRule, vector_files
from deltableu.text.vectors import WordVectors, read_vectors, write_vectors
from tests.uncompiled import run_uncompiled

FORMATS = ["v.txt", "v.txt.gz", "v.bin", "v.bin.gz", "v"]


def vectors(count=50, dimension=7):
    rng = np.random.default_rng(0)
    words = {f"w{row}": row for row in range(count - 2)} | {"é你": count - 2, "😀": count - 1}
    return WordVectors(words, rng.normal(size=(count, dimension)).astype(np.float32))


@pytest.mark.parametrize("name", FORMATS)
def test_all_formats_keep_every_bit(name, tmp_path):
    given = vectors()
    write_vectors(given, tmp_path / name)
    found = read_vectors(tmp_path / name)
    assert found.rows == given.rows
    assert found.raw.dtype == np.float32
    assert np.array_equal(found.raw, given.raw)
    assert found.digest() == given.digest()


def test_binary_files_are_known_by_what_is_in_them(tmp_path):
    write_vectors(vectors(), tmp_path / "v.bin")
    (tmp_path / "v.bin").rename(tmp_path / "model")
    assert np.array_equal(read_vectors(tmp_path / "model").raw, vectors().raw)


# gensim leaves files open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_gensim_reads_and_writes_the_same(tmp_path):
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    given = vectors()
    write_vectors(given, tmp_path / "ours.bin")
    write_vectors(given, tmp_path / "ours.txt")
    theirs = keyed.load_word2vec_format(tmp_path / "ours.bin", binary=True)
    assert theirs.key_to_index == given.rows
    assert np.array_equal(theirs.vectors, given.raw)
    text = keyed.load_word2vec_format(tmp_path / "ours.txt", binary=False, no_header=True)
    assert np.array_equal(text.vectors, given.raw)
    for name, binary in (("theirs.bin", True), ("theirs.txt", False)):
        theirs.save_word2vec_format(str(tmp_path / name), binary=binary)
        assert read_vectors(tmp_path / name).rows == given.rows
        assert read_vectors(tmp_path / name).raw == pytest.approx(given.raw, abs=1e-6)
    assert np.array_equal(read_vectors(tmp_path / "theirs.bin").raw, given.raw)


NUMBERS = st.floats(-1e30, 1e30).flatmap(
    lambda x: st.sampled_from(
        [repr(x), f"{x:.6f}", f"{x:.3g}", f"{x:.9e}", f"{x:+.1f}", f"{x:.0f}"]
    )
)


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=20))
def test_numbers_are_read_as_python_reads_them(rows):
    text = "".join(f"w{row} {' '.join(one)}\n" for row, one in enumerate(rows))
    reader = vector_files._TextReader("file")
    words, numbers = reader.read(iter([text.encode()]))
    assert words == [f"w{row}" for row in range(len(rows))]
    wanted = np.array([[float(cell) for cell in one] for one in rows]).astype(np.float32)
    assert numbers.tobytes() == wanted.tobytes()


def test_long_files_come_in_chunks(tmp_path, monkeypatch):
    given = vectors(3000)
    write_vectors(given, tmp_path / "v.txt")
    monkeypatch.setattr(vector_files, "_CHUNK", 1000)
    found = read_vectors(tmp_path / "v.txt")
    assert found.rows == given.rows
    assert np.array_equal(found.raw, given.raw)
    lines = (tmp_path / "v.txt").read_text().splitlines()
    lines[2500] += " 1"
    (tmp_path / "v.txt").write_text("\n".join(lines))
    with pytest.raises(InputError, match="line 2501: has 8 numbers, but the first word has 7"):
        read_vectors(tmp_path / "v.txt")


def binary(words=("a", "b"), header=b"2 2\n", numbers=(1.0, 2.0)):
    body = b"".join(word.encode() + b" " + struct.pack("<2f", *numbers) + b"\n" for word in words)
    return header + body


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is no word2vec file"),
        (b"hello\n", "is no word2vec file"),
        (b"0 2\n", "holds no word vectors"),
        (b"2 0\na \nb \n", "holds no word vectors"),
        (binary(header=b"3 2\n"), "ends before its 3 words of 2 numbers"),
        (binary(header=b"2 3\n"), "ends before its 2 words of 3 numbers"),
        (binary(header=b"1000000000000 300\n"), "ends before its"),
        (binary(("a", "b", "c")), "has more than the 2 words"),
        (binary(("long words",))[:-3] + b"\n" * 9, "word"),
        (binary(numbers=(1.0, float("nan"))), "word 1 ('a') has something that is no number"),
        (binary().replace(b"b ", b"\xff "), "word 2 of 2 is not valid UTF-8"),
    ],
)
def test_broken_binary_files(data, said, tmp_path):
    path = tmp_path / "v.bin"
    path.write_bytes(data)
    with pytest.raises(InputError) as raised:
        read_vectors(path)
    assert said in str(raised.value)
    assert raised.value.problem.file == str(path)


def test_a_packed_file_that_is_cut(tmp_path):
    path = tmp_path / "v.bin.gz"
    path.write_bytes(gzip.compress(binary())[:-6])
    with pytest.raises(InputError, match="not a whole gzip file"):
        read_vectors(path)


def test_numbers_beyond_single_precision(tmp_path):
    (tmp_path / "v.txt").write_text("a 1 2\nb 1 1e39\n")
    with pytest.raises(InputError, match="line 2: holds a number that is too large"):
        read_vectors(tmp_path / "v.txt")


@pytest.mark.parametrize("word", ["two words", "", "line\nend"])
@pytest.mark.parametrize("name", ["v.txt", "v.bin"])
def test_words_that_no_file_can_hold(word, name, tmp_path):
    with pytest.raises(InputError, match="cannot hold the word"):
        write_vectors(WordVectors({word: 0}, np.ones((1, 2), np.float32)), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# --- What mining needs ----------------------------------------------------------------------------


def one_key(word):
    return WordRule().hash(Texts.of([word])).keys[0]


def test_keys_are_those_of_whole_words():
    words = ["The", "the", "'s", "s", ",", "new york", "don’t", "don't", "<unk>", "😀", "é", "É"]
    made = WordVectors({word: row for row, word in enumerate(words)}, np.ones((len(words), 2)))
    found = dict(zip(words, made.keys().tolist(), strict=True))
    wanted = dict.fromkeys(words, b"")
    for word in ("The", "s", "don’t", "😀", "é"):
        wanted[word] = one_key(word)
    assert found == wanted
    assert WordVectors({}, np.ones((0, 2))).keys().tolist() == []


def test_unit_vectors_in_both_precisions():
    given = WordVectors({"a": 0, "b": 1}, np.array([[3, 4], [0, 0]], np.float32))
    assert given.matrix.tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert given.matrix32.dtype == np.float32
    assert np.array_equal(given.matrix32, given.matrix.astype(np.float32))


# --- Uncompiled -----------------------------------------------------------------------------------

LINES = b"a 1 -2.5 3e-2\nb 0.125 12345.678 1e300\nc -0 +1 1.000000000000000000001\n"


def plain_results():
    try:
        vector_files._TextReader("file").read(iter([LINES]))
    except InputError as error:
        said = str(error)
    words, numbers = vector_files._TextReader("f").read(iter([LINES.replace(b"1e300", b"1e30")]))
    return [said, words, numbers.tolist()]


def test_uncompiled_kernels_read_the_same():
    code = (
        "import json; from deltableu import _kernels; "
        "from tests.text.test_vector_files import plain_results, vector_files; "
        "print(json.dumps([_kernels.compiled(vector_files._kernel), plain_results()]))"
    )
    compiled, results = run_uncompiled(code, warnings="default")
    assert not compiled
    assert results == plain_results()
