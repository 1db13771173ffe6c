from __future__ import annotations

import pytest

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
ROWS = [
    ("a", "d1", "1", "2", "r1", "s <v>two</v>", '"a" two', "Accuracy/Omission", "Major"),
    ("a", "d1", "1", "2", "r1", "s two", '<v>"a"</v> two', "Fluency/Punctuation", "Minor"),
    ("a", "d1", "1", "2", "r1", "s two", '"a" <v>two</v>', "Fluency/Register", "minor"),
    ("a", "d1", "1", "2", "r2", "s two", '"a" two', "No-error", "No-error"),
    ("b", "d1", "1", "2", "r1", "s two", "<v>b two</v>", "Non-translation!", "Major"),
    ("b", "d1", "1", "2", "r2", "s two", "b <v>two</v>", "Accuracy/Addition", "Neutral"),
]
TEXT = HEADER + "".join("\t".join(row) + "\n" for row in ROWS)


def test_errors_become_penalties(bring, write):
    found = bring("mqm", write("mqm.tsv", TEXT), references=[write("ref.txt", "r1\nr2\n")])
    assert list(found.items) == ["2"]
    item = found.items["2"]
    assert (item.message, item.references[0].text) == ("s two", "r2")
    assert item.meta == {"document": "d1"}
    assert found.outputs == {"a": ('"a" two',), "b": ("b two",)}
    said = {(one.rater, one.target[-1], one.criterion): one.value for one in found.ratings}
    sorts = ("mqm", "accuracy", "fluency", "non-translation")
    assert said == {
        **{("r1", "a", one): value for one, value in zip(sorts, (-6.1, -5, -1.1, 0), strict=True)},
        **{("r2", "a", one): 0 for one in sorts},
        **{("r1", "b", one): value for one, value in zip(sorts, (-25, 0, 0, -25), strict=True)},
        **{("r2", "b", one): 0 for one in sorts},
    }


def test_names_of_later_years_and_no_references(bring, write):
    text = TEXT.replace("doc_id\tseg_id", "docSegId\tglobalSegId").replace("Major", "critical")
    found = bring("mqm", write("mqm.tsv", text), keep_all=True)
    assert list(found.items) == ["2"]
    assert found.ratings[0].value == -6.1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\tMajor", "\tawful", "mqm.tsv, line 2, severity: must be Major, Minor, Neutral or"),
        ("\tseverity", "\tlevel", "mqm.tsv, line 1, severity: there is no such column"),
        ("\tNo-error\n", "\n", "mqm.tsv, line 5: has 8 cells, but the header names 9 columns"),
        ("b <v>two", "c <v>two", "mqm.tsv, line 7, item '2', prediction: system 'b' said 'b two'"),
        ("\tr2", "\t", "mqm.tsv, line 5, rater: is empty"),
    ],
)
def test_bad_files(refuse, write, old, new, said):
    assert refuse("mqm", write("mqm.tsv", TEXT.replace(old, new))).startswith(said)


def test_a_segment_that_the_references_lack(refuse, write):
    said = refuse("mqm", write("mqm.tsv", TEXT), references=[write("ref.txt", "r1\n")])
    assert said == "mqm.tsv, line 2, seg_id: there is no line '2' in the text files, which have 1"
    said = refuse("mqm", write("mqm.tsv", TEXT), systems=[write("a.txt", "a\n")])
    assert said == "the rows hold sources and outputs: leave out --sources and --systems"
