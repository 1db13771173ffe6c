"""Word vectors: what is read from a file, and what a text's vector is."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from deltableu.errors import InputError
from deltableu.text.vectors import read_vectors


@pytest.fixture
def write(tmp_path):
    def write(text, name="vectors.txt"):
        path = tmp_path / name
        data = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


GLOVE = "yes 3 4\nno -3 -4\n, 0 2.5e-1\nnever 0 0\n"


def test_words_have_vectors_of_length_one(write):
    vectors = read_vectors(write(GLOVE))
    assert vectors.rows == {"yes": 0, "no": 1, ",": 2, "never": 3}
    assert vectors.matrix.tolist() == [[0.6, 0.8], [-0.6, -0.8], [0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("4 2\n" + GLOVE, "word2vec.txt"),
        (GLOVE.replace("\n", "\r\n"), "windows.txt"),
        (GLOVE.replace("\n", " \n"), "trailing.txt"),
        (GLOVE, "packed.txt.gz"),
        (GLOVE.removesuffix("\n"), "open-end.txt"),
        (GLOVE + "yes 9 9\n", "twice.txt"),
    ],
)
def test_other_ways_to_write_the_same(text, name, write):
    plain, other = read_vectors(write(GLOVE)), read_vectors(write(text, name))
    assert other.rows == plain.rows
    assert np.array_equal(other.matrix, plain.matrix)


def test_only_a_space_separates_a_word_from_its_numbers(write):
    """GloVe has words with a no-break space, and U+0085 is a word of its own there."""
    vectors = read_vectors(write("a\xa0b 1 0\n\x85 0 1\n"))
    assert list(vectors.rows) == ["a\xa0b", "\x85"]


def test_the_vector_of_a_text_is_the_mean_of_its_known_words(write):
    vectors = read_vectors(write("x 5 0\ny 0 2\n"))
    found = vectors.text_vectors([["x"], ["x", "y"], ["x", "x", "y", "?"], ["?"], []])
    expected = [[1, 0], [0.5**0.5] * 2, np.array([2, 1]) / 5**0.5, [0, 0], [0, 0]]
    assert found == pytest.approx(np.array(expected))


def test_words_that_cancel_have_no_direction(write):
    vectors = read_vectors(write(GLOVE))
    assert vectors.text_vectors([["yes", "no"], ["never"]]).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a 1 2\nb 1 x\n", 2, "no number"),
        ("a 1 2\nb  1 2\n", 2, "no number"),
        ("a 1 2\nb 1 2 3\n", 2, "has 3 numbers, but the first word has 2"),
        ("a 1 2\nb 1\n", 2, "has 1 numbers, but the first word has 2"),
        ("a 1 2\n\nb 1 2\n", 2, "holds no vector"),
        ("a 1 2\nb\n", 2, "holds no vector"),
        ("a nan 1\n", 1, "holds no vector"),
        ("a 1 2\nb 1 inf\n", 2, "holds no vector"),
        ("2 2\na 1 2\nb 1\n", 3, "has 1 numbers"),
        (b"a 1 2\nb\xff 1 2\n", 2, "not valid UTF-8"),
    ],
)
def test_bad_lines_are_named(text, line, said, write):
    path = write(text)
    with pytest.raises(InputError) as raised:
        read_vectors(path)
    assert raised.value.problem.file == str(path)
    assert raised.value.problem.line == line
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "3 2\n"])
def test_files_without_vectors(text, write):
    with pytest.raises(InputError, match="holds no word vectors"):
        read_vectors(write(text))


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_vectors(tmp_path / "nowhere.txt")
