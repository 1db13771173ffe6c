from __future__ import annotations

from deltableu.corpus import Rating

SEGMENTS = """u1,newstest.a.12,1,TGT,eng,deu,80,1600000000.0,1600000005.5
u1,newstest.a.12,1,CHK,eng,deu,78,1600000010.0,1600000012.0
u1,b,2,BAD,eng,deu,5,1600000020.0,1600000021.0
u2,a+b,2,REF,eng,deu,99,1600000020.0,1600000021.0
u2,c,2,TGT,eng,deu,99,1600000020.0,1600000021.0
"""
DOCUMENTS = """u1,a,7,TGT,eng,deu,80,doc1#a,False,1600000000.0,1600000005.5
u1,a,8,TGT,eng,deu,70,doc1#a#dup,False,1600000000.0,1600000005.5
u1,tutorial,9,TGT,eng,deu,70,doc0,False,1600000000.0,1600000005.5
u1,a,7,BAD,eng,deu,10,doc1#a#bad2,False,1600000000.0,1600000005.5
"""


def texts(write):
    return {
        "references": [write("ref.txt", "r1\nr2\n")],
        "sources": [write("source.txt", "s1\ns2\n")],
        "systems": [write("out/a.txt", "a1\na2\n"), write("out/b.txt", "b1\nb2\n")],
    }


def test_segments_with_texts(bring, write):
    found = bring("appraise", write("scores.csv", SEGMENTS), **texts(write))
    assert [found.items[one].message for one in ("1", "2")] == ["s1", "s2"]
    assert found.items["2"].references[0].text == "r2"
    assert found.outputs == {"a": ("a1", "a2"), "b": ("b1", "b2")}
    began, ended = "2020-09-13T12:26:40+00:00", "2020-09-13T12:26:45.500000+00:00"
    assert found.ratings[0] == Rating("u1", "1", "system:a", 80, started=began, finished=ended)
    said = [(one.rater, one.item, one.target, one.value, one.kind) for one in found.ratings[1:]]
    assert said == [
        ("u1", "1", "system:a", 78, "repeat"),
        ("u1", "2", "system:b", 5, "bad-reference"),
        ("u2", "2", "system:a", 99, "reference"),
        ("u2", "2", "system:b", 99, "reference"),
    ]
    assert found.left_out == {"system c has no file in --systems": 1}


def test_documents_without_texts(bring, write):
    path = write("scores.csv", DOCUMENTS)
    found = bring("appraise", path, keep_all=True, checked=False)
    said = [(one.item, one.target, one.value, one.kind) for one in found.ratings]
    assert said == [
        ("doc1/7", "system:a", 80, "item"),
        ("doc1/7", "system:a", 10, "bad-reference"),
    ]
    assert found.items["doc1/7"].meta == {"document": "doc1"}
    assert found.left_out == {"the document is marked #dup": 1, "it is of the tutorial": 1}


def test_items_that_are_numbered_by_task(bring, refuse, write):
    """Places in the document tell them; a bad copy is of the same segment."""
    rows = [
        *(("u1", "a", item, "TGT", "d#a") for item in (9, 10)),
        *(("u1", "a", item, "BAD", "d#a#bad") for item in (95, 96)),
        ("u2", "b", 1, "TGT", "d#b"),
    ]
    text = "".join(
        f"{rater},{system},{item},{sort},eng,deu,50,{document},False,1.0,2.0\n"
        for rater, system, item, sort, document in rows
    )
    path = write("scores.csv", text)
    said = refuse("appraise", path, references=[write("ref.txt", "r\n")])
    assert said.startswith("scores.csv, item: items are numbered anew in every task")
    found = bring("appraise", path, keep_all=True, checked=False)
    assert [one.item for one in found.ratings] == ["d/1", "d/2", "d/1", "d/2", "d/1"]


def test_lines_of_other_documents(refuse, write):
    path = write("scores.csv", DOCUMENTS.replace("a,7", "a,1"))
    said = refuse("appraise", path, documents=[write("docs.txt", "news\tdoc2\n")])
    assert said == (
        "scores.csv, line 1, item: '1' is of 'doc1' here, but its line of --documents is "
        "'news\\tdoc2'"
    )


def test_numbers_from_nought_and_batches(bring, write):
    text = "u,a,0,TGT,eng,deu,80,d,False,1.0,2.0,3,44\nu,a,1,TGT,eng,deu,60,d,True,1.0,2.0,3,45\n"
    files = {"references": [write("ref.txt", "r1\nr2\n")], "systems": [write("a.txt", "a1\na2\n")]}
    found = bring("appraise", write("scores.csv", text), **files)
    assert [one.references[0].text for one in found.items.values()] == ["r1", "r2"]
    assert list(found.items) == ["0", "1"]


def test_one_of_several_language_pairs(bring, refuse, write):
    path = write("scores.csv", "u,a,1,TGT,eng,deu,80\nu,a,1,TGT,eng,ces,60\n")
    said = refuse("appraise", path)
    assert said == (
        "scores.csv, line 2, language pair: is of eng-ces, but earlier rows are of eng-deu: "
        "choose with --pair eng-deu"
    )
    found = bring("appraise", path, pair="eng-ces", keep_all=True, checked=False)
    assert [one.value for one in found.ratings] == [60]
    assert found.left_out == {"the language pair is not eng-ces": 1}


def test_bad_files(refuse, write):
    path = write("scores.csv", SEGMENTS.replace("78", "?"))
    assert refuse("appraise", path) == "scores.csv, line 2, score: must be a number, got '?'"
    said = refuse("appraise", write("scores.csv", "user,system,item,type\n" + SEGMENTS))
    assert said.startswith("scores.csv, line 1: is no row of Appraise, whose fourth cell is TGT")
    said = refuse("appraise", write("scores.csv", SEGMENTS + "u2,c,2\n"))
    assert said.startswith("scores.csv, line 6: has 3 cells, but")
    said = refuse("appraise", write("scores.csv", SEGMENTS.replace("CHK", "TEST")))
    assert said == "scores.csv, line 2, type: must be one of TGT, BAD, REF, CHK, got 'TEST'"
    path = write("scores.csv", SEGMENTS.replace("b,2,BAD", "b,9,BAD"))
    said = refuse("appraise", path, **texts(write))
    assert said == "scores.csv, line 3, item: there is no line '9' in the text files, which have 2"


def test_ratings_alone_have_no_references(refuse, write):
    said = refuse("appraise", write("scores.csv", SEGMENTS), keep_all=False)
    assert said.endswith("keep items without (--without-references keep)")
