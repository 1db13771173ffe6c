"""SGML, XML, folders of the WMT, of mt-metrics-eval and of sacreBLEU, dialogues, plain text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deltableu.errors import InputError
from deltableu.layouts import Request, import_study, layout_names, load_layout
from tests.layouts.kit import imported, judgements, texts, write

SRC = """<srcset setid="t" srclang="any"><doc docid="d1">
<p>
<seg id="1">Wie &amp; wo?</seg>
<seg id="2">Wer
 da?</seg>
</p></doc></srcset>
"""
REF = """<refset setid="t" srclang="any" trglang="en"><doc sysid="ref" docid="d1">
<seg id="1">How &amp; where?</seg><seg id="2">Who is there?</seg>
</doc></refset>
"""
HYP = """<tstset setid="t" srclang="any" trglang="en"><doc sysid="sys-1" docid="d1">
<seg id="1">How?</seg><seg id="2">Who?</seg></doc></tstset>
"""
XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="t"><collection id="g"><doc id="d1" origlang="de">
<src lang="de"><p><seg id="1">Wie &amp; wo?</seg></p><p><seg id="2">Wer da?</seg></p></src>
<ref lang="en" translator="A">
<p><seg id="1">How &amp; where?</seg><seg id="2">Who is there?</seg></p></ref>
<ref lang="en" translator="B">
<p><seg id="1">In what way?</seg><seg id="2">Who is there?</seg></p></ref>
<hyp system="sys-1" language="en"><p><seg id="1">How?</seg><seg id="2">Who?</seg></p></hyp>
</doc></collection></dataset>
"""


def test_sgml(tmp_path):
    paths = write(tmp_path, {"a.sgm": SRC, "b.sgm": REF, "c.sgm": HYP})
    study = imported("sgm", tmp_path, Request(tuple(paths.values())))
    assert [(item.id, item.message) for item in study.items] == [
        ("d1/1", "Wie & wo?"),
        ("d1/2", "Wer da?"),
    ]
    assert texts(study) == [["How & where?"], ["Who is there?"]]
    assert dict(study.outputs) == {"sys-1": ("How?", "Who?")}
    assert study.items[0].meta == {"document": "d1"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<seg id='1'>x</seg>\n", "line 1, seg: comes before <srcset>, <refset> or <tstset>"),
        ("<refset>\n<seg>x</seg>\n", "line 2, seg: the segment has no id"),
        ("<refset>\n<seg id='1'>x\n", "line 2, seg: the segment is never closed"),
        ("nothing\n", "holds no <srcset>, <refset> or <tstset>"),
    ],
)
def test_bad_sgml(content, said, tmp_path):
    paths = write(tmp_path, {"a.sgm": content})
    with pytest.raises(InputError) as caught:
        import_study("sgm", Request(tuple(paths.values())), tmp_path / "s")
    assert said in str(caught.value)
    assert not (tmp_path / "s").exists()


def test_xml(tmp_path):
    paths = write(tmp_path, {"t.xml": XML})
    study = imported("wmt-xml", tmp_path, Request(tuple(paths.values())))
    assert texts(study) == [["How & where?", "In what way?"], ["Who is there?"]]
    assert [item.message for item in study.items] == ["Wie & wo?", "Wer da?"]
    assert dict(study.outputs) == {"sys-1": ("How?", "Who?")}


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><dataset>&b;</dataset>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<dataset><doc>", "line 1: is not valid XML: no element found"),
        ("<dataset></dataset>", "holds no segments"),
        (BOMB, "line 1: defines entities of its own"),
        (XML.replace("</hyp>", ""), "is not valid XML: mismatched tag"),
    ],
)
def test_bad_xml(content, said, tmp_path):
    paths = write(tmp_path, {"t.xml": content})
    with pytest.raises(InputError) as caught:
        import_study("wmt-xml", Request(tuple(paths.values())), tmp_path / "s")
    assert said in str(caught.value)


def test_wmt_folder(tmp_path):
    write(
        tmp_path / "W",
        {
            "system-outputs/cs-en/news.A.1.cs-en": "x\ny\n",
            "system-outputs/cs-en/news.B.2.cs-en": "x\nz\n",
            "references/news-csen-ref.en": "a\nb\n",
            "source/news-csen-src.cs": "s\nt\n",
            "DA-seglevel.csv": "LP DATA SYSTEM SID HUMAN\ncs-en news A.1+B.2 1 0.5\n"
            "cs-en news B.2 2 -0.25\nde-en news A.1 1 9\ncs-en news C 1 1\n",
        },
    )
    study = imported("wmt", tmp_path, Request((tmp_path / "W",), pair="cs-en"))
    assert dict(study.outputs) == {"A.1": ("x", "y"), "B.2": ("x", "z")}
    assert judgements(study) == [
        ("people", "1", "system:A.1", "da", 0.5),
        ("people", "2", "system:B.2", "da", -0.25),
    ]
    with pytest.raises(InputError, match="--pair names one of cs-en, got de-en"):
        import_study("wmt", Request((tmp_path / "W",), pair="de-en"), tmp_path / "s")


def test_mtme_folder(tmp_path):
    write(
        tmp_path / "M",
        {
            "sources/en-de.txt": "s\nt\n",
            "references/en-de.refA.txt": "a\nb\n",
            "references/en-de.refB.txt": "c\nb\n",
            "system-outputs/en-de/S.txt": "x\ny\n",
            "documents/en-de.docs": "news d1\nnews d2\n",
            "human-scores/en-de.mqm.seg.score": "S\t-1.5\nS\tNone\nrefA\t0\nrefA\t0\n",
        },
    )
    study = imported("mtme", tmp_path, Request((tmp_path / "M",), pair="en-de"))
    assert texts(study) == [["a", "c"], ["b"]]
    assert study.items[1].meta == {"document": "news d2"}
    assert judgements(study) == [("people", "1", "system:S", "mqm", -1.5)]


def test_sacrebleu_cache(tmp_path):
    write(
        tmp_path / "wmt99",
        {"wmt99.de-en.src": "s\nt\n", "wmt99.de-en.ref": "a\nb\n", "wmt99.de-en.docid": "d\ne\n"},
    )
    mine = write(tmp_path, {"mine.txt": "x\ny\n"})["mine.txt"]
    request = Request((tmp_path / "wmt99",), pair="de-en", systems=(mine,))
    study = imported("sacrebleu", tmp_path, request)
    assert (dict(study.outputs), study.items[0].meta) == ({"mine": ("x", "y")}, {"document": "d"})


def test_dialogues(tmp_path):
    turns = [{"text": "hi", "responses": ["hello", "hey"]}, {"text": "and you ?"}, "fine"]
    path = write(tmp_path, {"d.jsonl": json.dumps({"id": "x", "dialogue": turns}) + "\n"})[
        "d.jsonl"
    ]
    study = imported("dialogue", tmp_path, Request((path,)))
    assert (study.items[0].id, study.items[0].message, texts(study)) == (
        "x_1",
        "hi",
        [["hello", "hey"]],
    )
    path.write_text('{"id": "x", "dialogue": [3]}\n')
    with pytest.raises(InputError, match="line 1: turn 1 must be a text"):
        import_study("dialogue", Request((path,)))


def test_plain_text(tmp_path):
    paths = write(tmp_path, {"a/out.txt": "x\ny\n", "b/out.txt": "z\nw\n", "r.txt": "a\nb\n"})
    systems = (paths["a/out.txt"], paths["b/out.txt"])
    study = imported("text", tmp_path, Request(systems, references=(paths["r.txt"],)))
    assert dict(study.outputs) == {"a.out": ("x", "y"), "b.out": ("z", "w")}
    paths["r.txt"].write_text("a\n")
    with pytest.raises(InputError, match=r"r\.txt: has 1 lines, but .*out\.txt has more"):
        import_study("text", Request(systems, references=(paths["r.txt"],)))


def test_every_layout_says_what_it_is():
    for name in layout_names():
        layout = load_layout(name)
        assert layout.name == name
        assert layout.summary
        assert layout.example.startswith(name)
    with pytest.raises(InputError, match="there is no layout 'tabel': did you mean 'table'"):
        load_layout("tabel")
    with pytest.raises(InputError, match="name the folder of a year, got 2 paths"):
        list(load_layout("wmt").read(Request((Path("a"), Path("b"))), None, None))  # type: ignore[arg-type]
