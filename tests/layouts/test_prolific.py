from __future__ import annotations

from deltableu.corpus import Rating

RATINGS = """PROLIFIC_PID,item,system,prediction,reference,score
p1,1,a,fine,well,80
p2,1,a,fine,well,10
p3,1,a,fine,well,20
p4,1,a,fine,well,70
"""
EXPORT = """Submission id,Participant id,Status,Started at,Completed at,Time taken
s1,p1,APPROVED,2024-10-25T12:00:00Z,2024-10-25T12:10:00Z,600
s2,p2,RETURNED,2024-10-25T12:00:00Z,,
s4,p4,TIMED-OUT,2024-10-25T12:00:00Z,,
s5,p4,AWAITING REVIEW,2024-10-25T13:00:00Z,2024-10-25T13:10:00Z,600
"""


def test_only_submissions_that_count(bring, write):
    found = bring("prolific", write("r.csv", RATINGS), write("export.csv", EXPORT), scale="0-100")
    assert found.ratings == [
        Rating("p1", "1", "system:a", 80, scale="0-100"),
        Rating("p4", "1", "system:a", 70, scale="0-100"),
    ]
    assert found.left_out == {
        "the submission is RETURNED": 1,
        "the participant is not in Prolific's export": 1,
    }
    assert found.outputs == {"a": ("fine",)}


def test_without_an_export_all_count(bring, write):
    assert len(bring("prolific", write("r.csv", RATINGS)).ratings) == 4


def test_rows_in_which_qualtrics_describes_columns(bring, write):
    text = (
        "StartDate,Finished,PROLIFIC_PID,item,system,output,ref,fluency\n"
        "Start Date,Finished,Your id,Item,System,Output,Reference,How fluent?\n"
        '"{""ImportId"":""startDate""}","{""ImportId"":""f""}","{""ImportId"":""Q1""}"'
        + ',"{""ImportId"":""Q""}"' * 5
        + "\n2024-10-25 12:00:00,True,p1,1,a,fine,well,4\n"
    )
    found = bring("prolific", write("r.csv", text), columns="ratings=fluency")
    assert found.ratings == [Rating("p1", "1", "system:a", 4, "fluency")]


def test_bad_files(refuse, write):
    said = refuse("prolific", write("r.csv", RATINGS.replace("80", "often")))
    assert said == "r.csv, line 2, score: must be a number, got 'often'"
    said = refuse("prolific", write("r.csv", RATINGS.replace("PROLIFIC_PID", "who")))
    assert said.startswith("r.csv, line 1, PROLIFIC_PID: there is no such column: it has 'who'")
    said = refuse("prolific", write("r.csv", RATINGS.replace("p3", "")))
    assert said == "r.csv, line 4, PROLIFIC_PID: the participant's id is missing"
    said = refuse("prolific", write("r.csv", RATINGS + "p5,1\n"))
    assert said.startswith("r.csv, line 6: has 2 cells, but the header names 6 columns")
    said = refuse("prolific", write("export.csv", EXPORT))
    assert said == "name the table of ratings, which has a column PROLIFIC_PID"
