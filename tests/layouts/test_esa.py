from __future__ import annotations

import json

ROW = 'u1,wmt23.a,{},TGT,eng,deu,{},doc1#a,False,"{}",1717331262.035,1717331440.504\n'


def spans(*severities):
    found = [{"start_i": 1, "end_i": "missing", "severity": one} for one in severities]
    return json.dumps(found).replace('"', '""')


def texts(write):
    return {"references": [write("ref.txt", "r1\nr2\n")], "systems": [write("a.txt", "a1\na2\n")]}


def test_scores_and_errors(bring, write):
    text = ROW.format(1, 51, spans("major", "minor", "minor")) + ROW.format(2, 100, "[]")
    found = bring("esa", write("scores.csv", text), **texts(write))
    said = [(one.item, one.target, one.criterion, one.value, one.scale) for one in found.ratings]
    assert said == [
        ("1", "system:a", "esa", 51, "0-100"),
        ("1", "system:a", "esa-errors", -7, None),
        ("2", "system:a", "esa", 100, "0-100"),
        ("2", "system:a", "esa-errors", 0, None),
    ]
    assert found.outputs == {"a": ("a1", "a2")}


def test_bad_files(refuse, write):
    said = refuse("esa", write("scores.csv", ROW.format(1, 51, "[{")))
    assert said.startswith("scores.csv, line 1, spans: is not valid JSON")
    said = refuse("esa", write("scores.csv", ROW.format(1, 51, spans("bad"))))
    assert said == "scores.csv, line 1, spans: a severity must be major or minor, got 'bad'"
    said = refuse("esa", write("scores.csv", ROW.format(1, 151, "[]")))
    assert said == "scores.csv, line 1, score: must lie in 0 to 100, got 151"
    said = refuse("esa", write("scores.csv", ROW.format(1, 51, "3")))
    assert said == "scores.csv, line 1, spans: must be a list, got 3"
    said = refuse("esa", write("scores.csv", "u,a,1,TGT,eng,deu,51,d,False,1.0,2.0\n"))
    assert said.startswith("scores.csv, line 1, spans: there is no column of error spans")
