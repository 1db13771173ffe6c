"""Endless lines and files that unpack to everything: refused, unless somebody wants them."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

from deltableu.errors import InputError
from deltableu.io import MAX_LINE, MAX_UNPACKED, parse_size, read_lines
from deltableu.logs import find_partitions
from deltableu.text import read_vectors


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setenv(MAX_LINE.variable, "1k")
    monkeypatch.setenv(MAX_UNPACKED.variable, "10k")


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("before", [0, 1, 100])
def test_a_long_line(ending, before, small, tmp_path):
    path = tmp_path / f"texts.txt{ending}"
    content = b"short\n" * before + b"x" * 1025 + b"\n"
    path.write_bytes(gzip.compress(content) if ending else content)
    with pytest.raises(InputError) as caught:
        list(read_lines(path))
    wanted = "is longer than 1 KB: if that is right, set --max-line (in Python DELTABLEU_MAX_LINE)"
    assert str(caught.value) == f"{path}, line {before + 1}: {wanted}"
    path.write_bytes(gzip.compress(content[:-2]) if ending else content[:-2])
    assert len(list(read_lines(path))) == before + 1


def test_a_file_that_unpacks_to_more(small, tmp_path):
    path = tmp_path / "texts.txt.gz"
    path.write_bytes(gzip.compress(b"short\n" * 1700))
    assert len(list(read_lines(path))) == 1700
    path.write_bytes(gzip.compress(b"short\n" * 1710))
    with pytest.raises(InputError, match="unpacks to more than 10 KB: if that is right, set"):
        list(read_lines(path))


@pytest.mark.skipif(sys.platform == "win32", reason="needs /dev/zero")
def test_an_endless_file():
    with pytest.raises(InputError, match="/dev/zero: is longer than 64 MB"):
        list(read_lines("/dev/zero"))
    with pytest.raises(InputError, match="/dev/zero: is longer than 64 MB"):
        read_vectors("/dev/zero")


def test_a_bomb_is_found_before_it_fills_the_memory(monkeypatch, tmp_path):
    monkeypatch.setattr("deltableu.io.limits._SMALL", 1 << 20)
    path = tmp_path / "texts.txt.gz"
    path.write_bytes(gzip.compress(b"\n" * (30 << 20)))
    with pytest.raises(InputError, match=r"unpacks to more than \S+ MB: if that is right, set"):
        list(read_lines(path))
    # Text as it is does not come near that.
    path.write_bytes(gzip.compress("".join(f"line {n}\n" for n in range(10**6)).encode()))
    assert len(list(read_lines(path))) == 10**6


def test_logs_and_vectors(small, tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("utterance\tresponse\nhi\thello\n" + "x" * 2000 + "\tyes\n")
    (partition,) = find_partitions([log])
    with pytest.raises(InputError, match="line 3: is longer than 1 KB"):
        list(partition.blocks())
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("a 1 2\nb" + " 3" * 1000 + "\n")
    with pytest.raises(InputError, match="line 2: is longer than 1 KB"):
        read_vectors(vectors)


def test_sizes():
    with pytest.raises(InputError, match="--memory takes a size"):
        parse_size("1" * 5000, "--memory")


def test_standard_input(monkeypatch, small):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n" + b"x" * 2000)))
    with pytest.raises(InputError, match="standard input: is longer than 1 KB"):
        list(read_lines(Path("-")))
