"""A few inputs for every reader; the long run has a million of them.

`python -m tests.fuzz.readers READER/SEED/BLOCK/NUMBER` reads an input again and tells about it.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("resource", reason="what an input takes is measured on POSIX only")

from deltableu.compare.past_comparisons import read_past_comparisons
from deltableu.corpus import read_ratings, read_scores
from deltableu.errors import InputError
from deltableu.experiment import read_design
from deltableu.io import number_text
from deltableu.judges import relevance_model
from deltableu.judges.llm.replies import read_reply
from deltableu.judges.relevance_sums import PairSums
from deltableu.judges.scr_calibration import read_calibration
from deltableu.judges.scr_texts import SIMILARITIES
from deltableu.layouts import Request, Understanding, import_study, label_studio, layout_names
from deltableu.logs import find_partitions
from deltableu.score.engine.pair_cache import PairCache
from tests.fuzz.reader_inputs import ReaderWorld, Tally, run_block
from tests.fuzz.readers import READERS, run_some
from tests.rate.server.kit import export, make_campaign, status

Write = Callable[[str, str | bytes], Path]
HUGE = "9" * 400


def assert_clean(done: Tally) -> None:
    assert not done.first, done.summary()


def test_every_layout_is_there():
    assert {f"layout {name}" for name in layout_names()} <= READERS.keys()


def test_a_few_inputs_of_every_reader():
    done = run_some(blocks=2, each=10)
    assert done.inputs.keys() == READERS.keys()
    assert_clean(done)


def test_what_comes_out_is_told_with_its_address(tmp_path):
    def maker(world: ReaderWorld):
        path = world.lines("numbers", ["1", "2", "3"])
        return lambda report: [1 / int(line) for line in path.read_text().split()]

    done = run_block("numbers", maker, (0, 3), range(50), tmp_path)
    assert done.inputs["numbers"] == 50
    assert any("ValueError" in signature for signature in done.first)
    assert all(one.address.startswith("numbers/0/3/") for one in done.first.values())


@pytest.mark.long
def test_a_million_inputs():
    from tests.fuzz.reader_runs import run_long

    done = run_long(list(READERS), seed=0, minutes=60, inputs=1_000_000, jobs=2)
    assert_clean(done)
    assert done.inputs.total() >= 1_000_000
    # What is refused at the door proves nothing of what is behind it.
    for name, count in done.inputs.items():
        assert done.refused[name] < 0.95 * count, name


# What once came out as something else.


def test_whole_numbers_of_hundreds_of_digits(write: Write):
    past = write("past.jsonl", f'{{"difference": {HUGE}, "verdict": 1}}\n')
    with pytest.raises(InputError, match="difference"):
        read_past_comparisons(past)
    assert number_text(int(HUGE)) == HUGE
    record = {"format": "deltableu-scr-calibration", "format_version": 1}
    part = {"similarity": "bow", "to": "good", "coefficient": int(HUGE), "spread": 1}
    calibration = write("c.json", json.dumps({**record, "coefficients": [part]}))
    with pytest.raises(InputError, match="is damaged"):
        read_calibration(calibration)
    late = {"retry-after": f"Wed, 21 Oct {2**63} 07:28:00 GMT"}
    assert read_reply(429, late, b"").wait == 0.0


@pytest.mark.parametrize("rows", [[1, 2], [{"system": "a", "score": 1}, 3], 5, None, [[]]])
def test_what_is_no_table_in_memory(rows):
    for read in (read_scores, read_ratings):
        with pytest.raises(InputError, match="the table"):
            read(rows)


def test_an_encoding_that_nobody_knows(write: Write):
    path = write("a.xml", '<?xml version="1.0" encoding="ut8"?><dataset></dataset>')
    with pytest.raises(InputError, match="cannot be decoded: unknown encoding"):
        import_study("wmt-xml", Request((path,)))


def test_a_first_line_that_only_python_takes_for_blank(write: Write):
    with pytest.raises(InputError, match="names no column"):
        import_study("wmt-da", Request((write("ad.csv", "\x1c\n1 2\n"),)))


def test_a_number_of_label_studio_that_no_float_holds():
    understood = Understanding()
    results: dict[str, float] = {}
    label_studio._add(results, "good", int(HUGE), understood)
    assert results == {}
    assert understood.left_out


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("x", np.zeros(3), "one dimension"),
        ("xy", np.zeros(4), "one dimension"),
        ("xx", np.full((2, 2), 1e200), "too large"),
        ("yy", np.full((2, 2), np.nan), "too large"),
        ("pairs", 10**200, "number of pairs"),
    ],
)
def test_sums_that_no_training_gives(name, value, said):
    sums = replace(PairSums.empty(2), **{name: value})
    with pytest.raises(ValueError, match=said):
        relevance_model._check_sums(sums, 0.1)


def test_sums_that_belong_to_no_vectors():
    sums = replace(PairSums.empty(2), pairs=5, xx=np.array([[9e9, 9e12], [9e12, 9e9]]))
    with pytest.raises(InputError, match="belong to no vectors"):
        _ = relevance_model.RelevanceModel("e", "d", 0.1, sums, {}).space


def test_names_of_tables_that_are_no_text(tmp_path):
    path = tmp_path / "cache.sqlite"
    PairCache(path, "m").__exit__(None, None, None)
    path.write_bytes(path.read_bytes().replace(b"TABLE pairs", b"TABLE \xbf(irs"))
    with pytest.raises(InputError, match="cannot be used as a cache"):
        PairCache(path, "m")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("answers", "values", "[[4"),
        ("answers", "values", "[[4, 4, 4]]"),
        ("answers", "values", b"[[\xff"),
        ("answers", "rater", 99),
        ("answers", "task", 99),
        ("answers", "finished", "soon"),
        ("answers", "finished", "2026-03-03T14:00:00"),
        ("facts", "value", "soon"),
        ("tasks", "targets", "x"),
    ],
)
def test_answers_that_no_page_gives(tmp_path, table, column, value):
    make_campaign(tmp_path / "campaign")
    base = sqlite3.connect(tmp_path / "campaign" / "answers.sqlite")
    time = "2026-03-03T14:00:00.000+00:00"
    base.execute(
        "INSERT INTO answers VALUES (1, 'k', 1, 1, NULL, 0, '[[4]]', ?, ?, ?)", (time,) * 3
    )
    base.commit()
    assert len(export(tmp_path / "campaign")) == status(tmp_path / "campaign").given == 1
    given = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
    base.execute(f'UPDATE {table} SET "{column}" = {given}', (value,))
    base.commit()
    base.close()
    found = []
    for read in (export, status):
        try:
            read(tmp_path / "campaign")
        except InputError as error:
            found.append(str(error))
    assert found
    assert all("is damaged" in one or "the database refused it" in one for one in found)


def test_sizes_of_pages_that_no_parquet_file_has(write: Write):
    """Arrow ends the process over them when it is asked for the sizes of a column."""
    import pyarrow.parquet

    plain = BytesIO()
    rows = pyarrow.table({"utterance": ["hello you", "hello"], "response": ["hi", "hi there"]})
    pyarrow.parquet.write_table(rows, plain)
    path = write("log.parquet", plain.getvalue())
    (part,) = find_partitions(str(path))
    assert part.size == len(plain.getvalue())
    rng, refused = random.Random(3), 0
    for _ in range(300):
        spoilt = bytearray(plain.getvalue())
        spoilt[rng.randrange(len(spoilt) // 2, len(spoilt) - 8)] = rng.randrange(256)
        path.write_bytes(spoilt)
        try:
            for part in find_partitions(str(path)):
                assert part.size >= 0
                list(part.blocks())
        except InputError:
            refused += 1
    assert refused > 10


def test_models_with_endless_names(write: Write):
    model = f"[systems.a]\nkind = 'model'\nmodel = '{'9' * 5000}'"
    path = write("x.toml", f"[items]\nstudy = 'demo'\n{model}\n")
    with pytest.raises(InputError):
        read_design(path)


def test_scores_whose_sum_is_too_large(write: Write):
    path = write("scores.tsv", "system\titem\tscore\na\t1\t1.5e308\na\t2\t1.5e308\n")
    assert read_scores(path, metric="score").totals.tolist() == [[1.5e308]]


def test_calibrations_that_say_something_twice(write: Write):
    parts = [
        {"similarity": name, "to": "good", "coefficient": 1.0, "spread": 1.0}
        for name in (*SIMILARITIES, SIMILARITIES[0])
    ]
    record = {"format": "deltableu-scr-calibration", "format_version": 1, "design": "rated"}
    record |= {"coefficients": parts, "pseudo_outputs": 1, "items": 1, "seed": 0}
    record |= {"encoder": "e", "relevance_model": None, "digest": "0"}
    path = write("calibration.json", json.dumps(record))
    with pytest.raises(InputError, match="none that calibrating gives"):
        read_calibration(path)
