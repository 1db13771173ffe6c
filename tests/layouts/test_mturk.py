from __future__ import annotations

import csv
import io

from deltableu.corpus import Rating

OWN = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime")
SEEN = ("Input.item", "Input.system", "Input.prediction", "Input.message", "Input.reference")
ACCEPTED, SUBMITTED = "Tue Jan 05 10:11:12 PST 2021", "Tue Jan 05 10:12:00 PST 2021"
STARTED, FINISHED = "2021-01-05T10:11:12-08:00", "2021-01-05T10:12:00-08:00"


def batch(answers, rows):
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    writer.writerow((*OWN, *SEEN, *answers))
    for number, (worker, status, seen, said) in enumerate(rows):
        own = (f"h{number}", f"a{number}", worker, status, ACCEPTED, SUBMITTED)
        writer.writerow((*own, *seen, *said))
    return stream.getvalue()


A = ("1", "a", "fine, thanks", "how are you ?", "well")
B = ("1", "b", "blue", "how are you ?", "well")


def test_numbers_are_criteria_and_rejected_assignments_are_left_out(bring, write):
    rows = [
        ("w1", "Approved", A, ("4", "3", "nice")),
        ("w1", "Submitted", B, ("1", "", "")),
        ("w2", "Rejected", A, ("1", "1", "spam")),
    ]
    answers = ("Answer.fluency", "Answer.sense", "Answer.comment")
    found = bring("mturk", write("Batch_1.csv", batch(answers, rows)), scale="1-5")
    item = found.items["1"]
    assert (item.message, [one.text for one in item.references]) == ("how are you ?", ["well"])
    assert found.outputs == {"a": ("fine, thanks",), "b": ("blue",)}
    times = {"scale": "1-5", "started": STARTED, "finished": FINISHED}
    assert found.ratings == [
        Rating("w1", "1", "system:a", 4, "fluency", **times),
        Rating("w1", "1", "system:a", 3, "sense", **times),
        Rating("w1", "1", "system:b", 1, "fluency", **times),
    ]
    assert found.left_out == {"the assignment was rejected": 1}


def test_radio_buttons_are_one_criterion(bring, write):
    answers = ("Answer.good.1", "Answer.good.2", "Answer.taskAnswers")
    rows = [
        ("w1", "Approved", A, ("false", "true", '[{"sense": {"3": true, "4": false}}]')),
        ("w1", "Approved", B, ("true", "false", "")),
    ]
    found = bring("mturk", write("Batch_1.csv", batch(answers, rows)))
    said = [(one.target, one.criterion, one.value) for one in found.ratings]
    assert said == [
        ("system:a", "good", 2.0),
        ("system:a", "sense", 3.0),
        ("system:b", "good", 1.0),
    ]


def test_columns_may_be_named_without_what_is_before_them(bring, write):
    text = batch(("Answer.x", "Answer.y"), [("w", "Approved", A, ("4", "2"))])
    text = text.replace("Input.prediction", "Input.shown")
    columns = "prediction=shown,ratings=y"
    found = bring("mturk", write("Batch_1.csv", text), columns=columns)
    assert found.outputs == {"a": ("fine, thanks",)}
    assert [(one.criterion, one.value) for one in found.ratings] == [("y", 2.0)]


def test_bad_files(refuse, write):
    rows = [("w", "Approved", A, ("4",)), ("w", "Approved", B, ("good",))]
    text = batch(("Answer.x",), rows)
    said = refuse("mturk", write("b.csv", text))
    assert said == "b.csv, line 3, Answer.x: must be a number, got 'good'"
    said = refuse("mturk", write("b.csv", text.replace("WorkerId", "Worker")))
    assert said.startswith("b.csv, line 1, WorkerId: there is no such column: it has 'HITId'")
    said = refuse("mturk", write("b.csv", text.replace("good", "3") + "1,2\n"))
    assert said.startswith("b.csv, line 4: has 2 cells, but the header names 12 columns")
    other = ("1", "a", "no", "how are you ?", "well")
    text = batch(("Answer.x",), [("w", "Approved", A, ("4",)), ("v", "Approved", other, ("4",))])
    said = refuse("mturk", write("b.csv", text))
    assert said.startswith("b.csv, line 3, item '1', prediction: system 'a' said 'fine, thanks'")
