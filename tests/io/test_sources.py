"""A file is read alike wherever it lies and however it is packed."""

from __future__ import annotations

import gzip
import pickle

import fsspec
import pyarrow
import pytest

from deltableu.corpus import read_items
from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile, file_form, file_packing, open_binary, read_lines, write_records
from deltableu.logs import read_posts

LINE = b'{"id": "a", "references": [{"id": "o", "text": "hello", "origin": "original"}]}\n'
PACKED = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: pyarrow.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("remote", [False, True])
def test_items_are_read_from_anywhere(tmp_path, packing, remote):
    name = f"items.jsonl{packing}"
    data = PACKED[packing](LINE)
    place = tmp_path / name
    if remote:
        place = f"memory://{tmp_path.name}/{name}"
        with fsspec.open(place, "wb") as file:
            file.write(data)
    else:
        place.write_bytes(data)
    assert [item.id for item in read_items(place)] == ["a"]


@pytest.mark.parametrize(("packing", "said"), [(".gz", "gzip"), (".zst", "Zstandard")])
def test_damage_has_one_sentence(tmp_path, packing, said):
    path = tmp_path / f"a.txt{packing}"
    text = "".join(f"line {number}\n" for number in range(9000)).encode()
    path.write_bytes(PACKED[packing](text)[:-300])
    with pytest.raises(InputError, match=f"is not a whole {said} file: copy or compress it again"):
        list(read_lines(path))


def test_what_is_not_there(tmp_path):
    for place in (tmp_path / "none.txt", f"memory://{tmp_path.name}/none.txt"):
        with (
            pytest.raises(BrokenFile, match=r"none\.txt: there is no such file"),
            open_binary(place),
        ):
            pass


def test_zstandard_is_not_written(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.zst: take \.gz"):
        write_records(tmp_path / "a.jsonl.zst", [{}])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "form", "packing"),
    [
        ("logs/2015.tsv.gz", "tsv", "gz"),
        ("s3://logs/A.Parquet", "parquet", ""),
        ("https://example.org/a.jsonl.zst?key=a.b", "jsonl", "zst"),
        ("a.b/c", "", ""),
        ("README.md", "md", ""),
    ],
)
def test_what_a_name_promises(name, form, packing):
    assert (file_form(name), file_packing(name)) == (form, packing)


def test_a_broken_file_travels_whole():
    error = pickle.loads(pickle.dumps(BrokenFile(Problem("is damaged", file="a", line=3))))
    assert error.problem == Problem("is damaged", file="a", line=3)


def test_cells_of_posts_are_those_of_all_tables(tmp_path):
    r"""``\e`` is the empty text everywhere; in tables of posts it was once the two characters."""
    path = tmp_path / "posts.tsv"
    path.write_text("id\treply_to\ttext\tuser\n1\t\t\\e\ta\\tb\n", "utf-8")
    (post,) = read_posts(path)
    assert (post.text, post.user) == ("", "a\tb")
