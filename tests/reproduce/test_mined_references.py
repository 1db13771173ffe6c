"""docs/mined-examples.md: what it is made of, and that mining real logs works end to end."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from deltableu.corpus.types import Item, Reference, Study
from deltableu.errors import InputError
from deltableu.logs import find_partitions
from reproduce import __main__ as command
from reproduce import mined_references
from reproduce.dialogue_items import CORPORA, grade_items, multirefeval_items
from reproduce.dialogue_logs import LOGS, pairs_of_turns, write_pairs

HEADER = "dialog\tturn\tspeaker\ttext\n"


def test_turns_become_pairs(tmp_path):
    """Also with what TSV must spell in another way, and turns that lead nowhere."""
    lines = "a\t0\tA\tone\na\t1\tB\tback\\slash \\t\na\t2\tA\tthree\nb\t0\tA\tlonely\n"
    (tmp_path / "dialogue_logs").mkdir()
    path = tmp_path / "dialogue_logs" / "sgd.tsv.gz"
    path.write_bytes(gzip.compress((HEADER + lines).encode()))
    write_pairs(tmp_path, tmp_path, ["sgd"])
    (partition,) = find_partitions(tmp_path / "sgd.tsv")
    (block,) = partition.blocks()
    fields = (block.utterances, block.responses, block.ids, block.threads)
    assert [tuple(field[row] for field in fields) for row in range(len(block))] == [
        ("one", "back\\slash \\t", "sgd/a:1", "sgd/a"),
        ("back\\slash \\t", "three", "sgd/a:2", "sgd/a"),
    ]
    with pytest.raises(InputError, match="line 1: must be"):
        list(pairs_of_turns(["text\n"], "sgd"))


def test_what_is_shown_is_a_fixed_rule():
    def study(*ids):
        return Study(tuple(Item(id, (Reference("r0", "a"),)) for id in ids))

    ids = [one.id for one in mined_references.shown_items("multirefeval", study("7", "1", "2"))]
    assert ids == ["7", "1"]
    mixed = study(*(f"{corpus}-{n}" for corpus in reversed(CORPORA) for n in (1, 2)))
    ids = [one.id for one in mined_references.shown_items("GRADE", mixed)]
    assert ids == [f"{corpus}-1" for corpus in CORPORA]


def test_a_command_that_fails_is_not_a_page(tmp_path):
    study = Study((Item("1", (Reference("r0", "a"),), message="b"),))
    with pytest.raises(RuntimeError, match="holds no logs"):
        mined_references.mine(study, tmp_path)


def test_items(data):
    items = multirefeval_items(data).items
    assert len(items) == 100
    for item in items:
        assert [one.origin for one in item.references] == ["original", *["written"] * 3]
    items = grade_items(data).items
    assert len(items) == 554
    counts = [sum(item.id.startswith(corpus) for item in items) for corpus in CORPORA]
    assert counts == [149, 258, 147]
    assert all(item.message and len(item.context) == 1 for item in items)


def test_real_items_and_logs(data, tmp_path):
    """One log, which holds a pair of each test set; one is cut into tokens there: "6 . 5"."""
    write_pairs(data, tmp_path, ["dailydialog_dev_part"])
    for read, leaks in (
        (multirefeval_items, {"16_3": 1}),
        (grade_items, {"dailydialog-147": 1}),
    ):
        study = read(data)
        mined = mined_references.mine(study, tmp_path, "--format", "json")
        record = json.loads(mined.out)
        assert (record["rows"], record["items"]) == (13_724, len(study.items))
        assert record["leaks"] == leaks
        (leaked,) = leaks
        assert f"own pair ({leaked}): it was not used" in mined.err
        for old, new in zip(study.items, mined.study.items, strict=True):
            assert new.references[: len(old.references)] == old.references
            added = new.references[len(old.references) :]
            assert [one.source.rank for one in added] == list(range(1, len(added) + 1))
            scores = [one.source.score for one in added]
            assert scores == sorted(scores, reverse=True)


def test_the_page_is_complete():
    """Five items with all their references, and nothing of the machine that wrote it."""
    path, _ = command.PAGES["mined"]
    page = path.read_text("utf-8")
    assert page.startswith(mined_references.INTRODUCTION)
    assert len(re.findall(r"^### ", page, re.MULTILINE)) == 5
    ranks = re.findall(r"^\| (\d+) \| ", page, re.MULTILINE)
    assert ranks == [str(rank) for rank in range(1, 16)] * 5
    assert page.count("| rows read | 710,783 |") == 2
    for name, source in LOGS.items():
        assert f"- `{name}`: {source}" in page
    assert "/home/" not in page
    assert "/tmp/" not in page
