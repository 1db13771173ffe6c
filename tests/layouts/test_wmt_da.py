from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from statistics import fmean

import pytest

from deltableu.corpus import Rating

HEADER = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
ROWS = """h1\tw1\tcs\ten\tad\t4\tA.7\t10\tSYSTEM\t2\t80.5\t931.0
h1\tw1\tcs\ten ad 4\t"A.7" 10 REPEAT\t2\t70\t931.0
h1\tw1\tcs\ten\tad\t4\tB.0\t10\tREF\t1\t99\t931.0
h1\tw2\tcs\ten\tad\t4\tB.0\t10\tBAD_REF\t1\t-1.5\t931.0
h1\tw2\tcs\ten\tad\t4\tHUMAN.0\t10\tSYSTEM\t1\t90\t931.0
"""
LINES = "h1\nh2\n"


def texts(write):
    outputs = [write("t.hyp.A.en", "a1\na2\n"), write("t.hyp.B.en", "b1\nb2\n")]
    return {"references": [write("ref.en", "r1\nr2\n")], "systems": outputs, "names": "t.hyp.{}.en"}


@pytest.mark.parametrize("header", [HEADER, HEADER.replace(" ", "\t")])
def test_ratings_and_texts(bring, write, header):
    found = bring("wmt-da", write("ad.csv", header + ROWS), **texts(write))
    assert found.ratings == [
        Rating("w1", "2", "system:A", 80.5),
        Rating("w1", "2", "system:A", 70, kind="repeat"),
        Rating("w1", "1", "system:B", 99, kind="reference"),
        Rating("w2", "1", "system:B", -1.5, kind="bad-reference"),
    ]
    assert found.outputs == {"A": ("a1", "a2"), "B": ("b1", "b2")}
    assert {one.id: one.references[0].text for one in found.items.values()} == {
        "1": "r1",
        "2": "r2",
    }
    assert found.left_out == {"system HUMAN.0 has no file in --systems": 1}


def test_a_system_may_be_given_by_name(bring, write):
    files = texts(write)
    files["systems"].append(f"HUMAN={write('ref.B.en', LINES)}")
    found = bring("wmt-da", write("ad.csv", HEADER + ROWS), **files)
    assert found.outputs["HUMAN"] == ("h1", "h2")
    assert found.ratings[-1] == Rating("w2", "1", "system:HUMAN", 90)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("80.5", "high", "ad.csv, line 2, score: must be a number, got 'high'"),
        ("BAD_REF", "BAD", "ad.csv, line 5, type: must be one of SYSTEM, REPEAT, REF, BAD_REF"),
        (" sys_id", " system", "ad.csv, line 1, sys_id: there is no such column"),
        ("99\t931.0", "99", "ad.csv, line 4: has 11 cells, but the header names 12 columns"),
        ("SYSTEM\t2", "SYSTEM\t3", "ad.csv, line 2, sid: there is no line '3' in the text files"),
        ("w2\tcs", "w2\tru", "ad.csv, line 5, language pair: is of ru-en, but earlier rows are"),
    ],
)
def test_bad_files(refuse, write, old, new, said):
    path = write("ad.csv", (HEADER + ROWS).replace(old, new))
    assert refuse("wmt-da", path, **texts(write)).startswith(said)


def test_files_of_different_lengths(refuse, write):
    files = texts(write) | {"references": [write("short.en", "r1\n")]}
    said = refuse("wmt-da", write("ad.csv", HEADER + ROWS), **files)
    assert said.startswith("short.en: has 1 lines, but")


def test_czech_to_english_of_2021(bring, data):
    """Means of segments and systems are those that the organisers published."""
    folder = data / "wmt21_da"
    if not folder.is_dir():
        pytest.skip("the ratings of WMT21 are not here")
    scores, plain = folder / "humaneval" / "newstest2021-toen", folder / "txt"
    references = plain / "references"
    found = bring(
        "wmt-da",
        scores / "ad-csen-good-stnd-redup.csv.gz",
        references=[references / "newstest2021.cs-en.ref.A.en.gz"],
        systems=[
            plain / "system-outputs" / "newstest2021.cs-en.hyp.*.en.gz",
            f"HUMAN={references / 'newstest2021.cs-en.ref.B.en.gz'}",
        ],
        names="newstest2021.cs-en.hyp.{}.en",
    )
    kinds = Counter(one.kind for one in found.ratings)
    assert kinds == {"item": 9449, "repeat": 1202, "reference": 1202, "bad-reference": 1216}
    assert (found.counts.items, len(found.outputs), found.counts.raters) == (1000, 9, 92)
    by_segment = defaultdict(list)
    for one in found.ratings:
        if one.kind in ("item", "repeat"):
            by_segment[one.target.partition(":")[2], one.item].append(one.value)
    published = {
        (row[0].rpartition(".")[0], row[1]): float(row[3])
        for row in _table(scores / "ad-seg-scores-cs-en.csv.gz")
    }
    assert len(published) == 8155
    means = {key: fmean(values) for key, values in by_segment.items()}
    assert means == pytest.approx(published, abs=1e-9)
    by_system = defaultdict(list)
    for (system, _), mean in means.items():
        by_system[system].append(mean)
    published = {
        row[3].rpartition(".")[0]: float(row[1])
        for row in _table(scores / "ad-sys-scores-cs-en.csv")
    }
    assert {one: fmean(values) for one, values in by_system.items()} == pytest.approx(
        published, abs=1e-9
    )


def _table(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        return [line.split() for line in stream][1:]
