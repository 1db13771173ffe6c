"""Frames, dicts, lists, studies and folders in; the same scores whichever way they came."""

from __future__ import annotations

import pytest

from deltableu import (
    BLEU,
    DeltaBLEU,
    ScoreTable,
    compare_systems,
    read_scores,
    reference_set,
    score_systems,
    study_from,
    validate_metrics,
)
from deltableu.corpus import read_ratings, write_study
from deltableu.errors import InputError
from deltableu.validate import ValidationPlan

OUTPUTS = {
    "v1": ["the cat sat", "yes", "no idea at all", "so it is"],
    "v2": ["the cat sat on it", "yes , of course", "no", "it is"],
    "v3": ["a dog", "no", "yes", "it was so"],
}
REFERENCES = [["the cat sat on it", "a cat"], ["yes , of course"], ["no idea", "no"], ["so it is"]]
WEIGHTS = [[1.0, 0.5], [0.8], [0.6, -0.4], [1.0]]
VALUES = {"v1": [4, 3, 4, 5], "v2": [5, 5, 3, 4], "v3": [1, 2, 2, 3]}
ROWS = [
    {"qid": item, "model": name, "answer": text, "gold": REFERENCES[item], "w": WEIGHTS[item]}
    for name, texts in OUTPUTS.items()
    for item, text in enumerate(texts)
]
COLUMNS = {
    "item": "qid",
    "system": "model",
    "prediction": "answer",
    "references": "gold",
    "weights": "w",
}
SCORES = [
    {"system": name, "item": item, "score": value}
    for name, values in VALUES.items()
    for item, value in enumerate(values)
]
RATINGS = [
    {"annotator": rater, "item": item, "system": name, "value": value + rater}
    for name, values in VALUES.items()
    for item, value in enumerate(values)
    for rater in (0, 1)
]
FEW = ValidationPlan(resamples=20, levels=("system",))


def _kind(table):
    return type(table).__name__


def frames(rows):
    """The rows as they are, as columns, and as frames of what is installed."""
    yield rows
    yield {key: [row[key] for row in rows] for key in rows[0]}
    for name in ("pandas", "polars"):
        try:
            yield __import__(name).DataFrame(rows)
        except ImportError:
            continue


class Columns:
    """A table that does what data frames of pandas do, and no more."""

    def __init__(self, rows):
        self._rows, self.columns = rows, list(rows[0])

    def to_dict(self):
        raise NotImplementedError

    def __getitem__(self, key):
        return _Column([row[key] for row in self._rows])


class _Column(list):
    def tolist(self):
        return list(self)


def totals(scoring):
    return {(one.system, one.score.name): one.score.score for one in scoring.scores}


EXPECTED = totals(score_systems(OUTPUTS, references=REFERENCES, weights=WEIGHTS))


def test_default_metrics_are_of_one_order():
    scoring = score_systems(OUTPUTS, references=REFERENCES, weights=WEIGHTS)
    assert [one.rows.metric for one in scoring.scores[::3]] == [DeltaBLEU(), BLEU(order=2)]
    (one, *_) = score_systems(OUTPUTS, references=REFERENCES).scores
    assert one.rows.metric == BLEU()


@pytest.mark.parametrize(
    "table", [*frames(ROWS), Columns(ROWS)], ids=lambda one: type(one).__name__
)
def test_a_frame_gives_the_scores_of_its_lists(table):
    assert totals(score_systems(table, columns=COLUMNS)) == pytest.approx(EXPECTED)
    found = compare_systems(table, columns=COLUMNS, metrics="ter", systems=["v1", "v2"])
    assert [one.system for one in found[0].systems] == ["v2", "v1"]


def test_a_study_and_its_folder_give_the_same(tmp_path):
    study = study_from(ROWS, columns=COLUMNS)
    write_study(study, tmp_path / "study")
    by_hand = score_systems(reference_set(study), study.outputs, [DeltaBLEU(), BLEU(order=2)])
    assert totals(by_hand) == pytest.approx(EXPECTED)
    for source in (study, tmp_path / "study", str(tmp_path / "study")):
        assert totals(score_systems(source)) == pytest.approx(EXPECTED)


def test_metrics_by_name_and_as_they_are():
    for metrics in ("ter,BLEU", "ter bleu", ["ter", BLEU()], ("TER", "bleu")):
        scoring = score_systems(OUTPUTS, references=REFERENCES, metrics=metrics)
        assert [type(one.rows.metric).__name__ for one in scoring.scores[::3]] == ["TER", "BLEU"]
    (found,) = {
        one.rows.metric
        for one in score_systems(OUTPUTS, references=REFERENCES, metrics=BLEU(order=3)).scores
    }
    assert found == BLEU(order=3)


@pytest.mark.parametrize(
    "table", [*frames(SCORES), Columns(SCORES)], ids=lambda t: type(t).__name__
)
def test_frames_of_scores_are_compared_as_scores(table):
    (found,) = compare_systems(table)
    assert {one.system: one.score for one in found.systems} == {"v1": 4.0, "v2": 4.25, "v3": 2.0}
    (again,) = compare_systems(VALUES)
    assert found.pairs[0].p_values == again.pairs[0].p_values
    assert read_scores(table).items == ("0", "1", "2", "3")


def test_files_of_scores_are_compared_as_scores(tmp_path):
    path = tmp_path / "scores.csv"
    lines = [f"{row['system']},{row['item']},{row['score']}" for row in SCORES]
    path.write_text("\n".join(["system,item,score", *lines]) + "\n")
    assert compare_systems(path)[0].pairs[0].p_values == (
        compare_systems(VALUES)[0].pairs[0].p_values
    )


@pytest.mark.parametrize("table", [*frames(RATINGS)], ids=_kind)
def test_frames_of_ratings_are_read(table):
    ratings = read_ratings(table, columns={"rater": "annotator"})
    assert len(ratings) == len(RATINGS)
    assert ratings.systems == ("v1", "v2", "v3")


def test_validation_takes_texts_and_frames_of_ratings():
    rated = [{**row, "rater": f"p{row['annotator']}"} for row in RATINGS]
    study = study_from(ROWS, columns=COLUMNS)
    found = validate_metrics(study, rated, metrics="chrf,ter", plan=FEW)
    assert found.metrics == ("chrf", "ter")
    assert repr(found).startswith("Validation(3 systems, 4 items; pearson with people at level")


def test_validation_takes_each_systems_scores():
    found = validate_metrics(
        OUTPUTS, VALUES, references=REFERENCES, weights=WEIGHTS, metrics="chrf", plan=FEW
    )
    assert found.human.totals[0].tolist() == [4.0, 4.25, 2.0]
    table = ScoreTable.of({"m": VALUES})
    assert validate_metrics(table, VALUES, plan=FEW).agreements[0].value == pytest.approx(1.0)


def test_results_show_themselves_in_a_line():
    found = compare_systems(OUTPUTS, references=REFERENCES, metrics="chrf")
    for one in (found[0], found[0].pairs[0], score_systems(OUTPUTS, references=REFERENCES)):
        assert len(repr(one)) < 160
        assert "\n" not in repr(one)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_systems(OUTPUTS), "references are missing"),
        (lambda: score_systems(OUTPUTS), "references are missing"),
        (lambda: compare_systems(VALUES, references=REFERENCES), "references has no use here"),
        (lambda: compare_systems(VALUES, weights=WEIGHTS), "weights has no use here"),
        (lambda: compare_systems(VALUES, metrics="bleu"), "scores of one"),
        (
            lambda: compare_systems({"a": ["x", "y"], "b": [1, 2]}, references=[["x"], ["y"]]),
            "system 'b' has scores, but system 'a' has texts",
        ),
        (
            lambda: compare_systems({"a": ["x", 2], "b": ["x", "y"]}, references=[["x"], ["y"]]),
            "system 'a' has texts, but 2 at item 1",
        ),
        (
            lambda: score_systems({"a": ["x", None]}, references=[["x"], ["y"]]),
            "outputs of system 'a' must be texts, got None at item 1",
        ),
        (lambda: score_systems({"a": "x"}, references=[["x"]]), "outputs of system 'a' is one"),
        (lambda: score_systems({"a": ["x"]}, references=["x"]), r"references\[0\] is a string"),
        (lambda: score_systems({7: ["x"]}, references=[["x"]]), "names of systems must be strings"),
        (lambda: score_systems("nowhere"), "nowhere: there is no such study folder"),
        (lambda: score_systems(None), "give a study, its folder"),
        (lambda: score_systems(7, references=[["x"]]), "the outputs must be a list"),
        (lambda: score_systems(ROWS, columns={"sytem": "model"}), "did you mean 'system'"),
        (lambda: score_systems(ROWS, weights=WEIGHTS), "weights goes with references"),
        (
            lambda: score_systems(OUTPUTS, references=REFERENCES, metrics=[BLEU]),
            "make one: BLEU",
        ),
        (
            lambda: score_systems(OUTPUTS, references=REFERENCES, metrics=7),
            "metrics must be a list",
        ),
        (lambda: score_systems(OUTPUTS, references=REFERENCES, metrics="blue"), "unknown metric"),
        (
            lambda: score_systems(OUTPUTS, references=REFERENCES, systems=["v9"]),
            "there is no system 'v9'",
        ),
        (
            lambda: score_systems(OUTPUTS, references=REFERENCES, systems="v1"),
            "systems must be a list",
        ),
        (lambda: validate_metrics(OUTPUTS, references=REFERENCES), "human is missing"),
        (lambda: validate_metrics(ScoreTable.of({"m": VALUES}), 7), "human must be ratings"),
        (lambda: validate_metrics([]), "no scores to validate"),
        (lambda: validate_metrics(7, VALUES), "give scores"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
