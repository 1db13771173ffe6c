from __future__ import annotations

import json

from deltableu.corpus import Rating

MADE, BEGUN = "2021-03-09T22:16:08+00:00", "2021-03-09T22:16:04+00:00"


def result(name, sort, value):
    return {"from_name": name, "to_name": "text", "type": sort, "value": {sort: value}}


def annotation(rater, *results, cancelled=False):
    return {
        "id": 7,
        "completed_by": rater,
        "result": list(results),
        "was_cancelled": cancelled,
        "created_at": MADE,
        "lead_time": 4.0,
    }


def task(number, system, *annotations):
    data = {"message": "how are you ?", "system": system, "answer": f"{system}!", "gold": "well"}
    return {"id": number, "data": data, "annotations": list(annotations)}


COLUMNS = "prediction=answer"


def test_tasks(bring, write):
    tasks = [
        task(
            1,
            "a",
            annotation(3, result("fluency", "rating", 4), result("sense", "choices", ["2"])),
            annotation({"id": 5, "email": "x@y"}, result("fluency", "number", 3.5)),
            annotation(9, cancelled=True),
        ),
        task(2, "b", annotation(3, result("fluency", "rating", 1), result("s", "choices", ["ok"]))),
    ]
    found = bring("label-studio", write("p.json", json.dumps(tasks)), columns=COLUMNS)
    ((item, about),) = found.items.items()
    assert (about.message, [one.text for one in about.references]) == ("how are you ?", ["well"])
    assert found.outputs == {"a": ("a!",), "b": ("b!",)}
    times = {"started": BEGUN, "finished": MADE}
    assert found.ratings == [
        Rating("3", item, "system:a", 4, "fluency", **times),
        Rating("3", item, "system:a", 2, "sense", **times),
        Rating("x@y", item, "system:a", 3.5, "fluency", **times),
        Rating("3", item, "system:b", 1, "fluency", **times),
    ]
    assert found.left_out == {
        "the annotation was cancelled": 1,
        "what was said of s is not a number": 1,
    }


def test_csv(bring, write):
    header = "item,system,answer,gold,id,fluency,sense,annotator,annotation_id,created_at,lead_time"
    cells = f'q1,a,a!,well,12,"[{{""rating"": 4}}]",2,x@y,7,{MADE},4.0'
    found = bring("label-studio", write("p.csv", f"{header}\n{cells}\n"), columns=COLUMNS)
    times = {"started": BEGUN, "finished": MADE}
    assert found.ratings == [
        Rating("x@y", "q1", "system:a", 4, "fluency", **times),
        Rating("x@y", "q1", "system:a", 2, "sense", **times),
    ]
    assert found.outputs == {"a": ("a!",)}


def test_tasks_with_nothing_but_texts_go_by_their_number(bring, write):
    tasks = [
        {
            "id": 4,
            "data": {"output": "hm"},
            "annotations": [annotation(1, result("x", "rating", 2))],
        }
    ]
    found = bring("label-studio", write("p.json", json.dumps(tasks)), keep_all=True, system="s")
    assert list(found.items) == ["4"]
    assert [(one.item, one.target) for one in found.ratings] == [("4", "system:s")]


def test_bad_files(refuse, write):
    assert refuse("label-studio", write("p.json", '[{"id": 1')).startswith("p.json: ")
    said = refuse("label-studio", write("p.json", '[{"id": 1, "text": "x"}]'))
    assert said == "p.json, line 1: is no task of Label Studio, which has data and annotations"
    twice = [task(1, "a", annotation(3, *[result("f", "rating", 4)] * 2))]
    said = refuse("label-studio", write("p.json", json.dumps(twice)), columns=COLUMNS)
    assert said.startswith("p.json, line 1, f: is rated twice in one annotation")
    wrong = [task(1, "a", {**annotation(3), "result": "none"})]
    said = refuse("label-studio", write("p.json", json.dumps(wrong)), columns=COLUMNS)
    assert said == "p.json, line 1, result: must be a list, got 'none'"
    nobody = [task(1, "a", annotation(None))]
    said = refuse("label-studio", write("p.json", json.dumps(nobody)), columns=COLUMNS)
    assert said == "p.json, line 1, completed_by: it is not said who rated"
    said = refuse("label-studio", write("p.json", json.dumps([task(1, "a")])), columns="item=nr")
    assert said.startswith("p.json, columns: has no column 'nr' for item")
    said = refuse("label-studio", write("p.csv", "output,x,annotator\nhm,3,me\n"))
    assert said.startswith("p.csv, line 2, id: there is no such column")
