"""`deltableu experiment`: what it shows, and mistakes that no stage need run for."""

from __future__ import annotations

import json

import pytest

from tests.experiment.pipeline import write_small


@pytest.fixture
def design(tmp_path):
    return write_small(tmp_path)


@pytest.mark.parametrize("format", ["table", "json", "tsv", "csv", "latex", "markdown"])
@pytest.mark.parametrize("more", [(), ("--commands",)])
def test_stages_are_shown_in_every_format(succeeds, design, format, more):
    result = succeeds("experiment", "show", design, "--format", format, *more)
    assert "compare" in result.out
    if format == "json":
        stages = json.loads(result.out)["stages"]
        assert [one["name"] for one in stages][:2] == ["pairs", "mine"]
        assert {(one["state"], one["record"]) for one in stages} == {("to do", None)}


WRONG = [
    ("mine.top=-3", "--top must be 0 or more, got -3"),
    ("mine.top=2.5", "--top takes a whole number, got '2.5'"),
    ("seed=-1", "seed: must not be negative, got -1"),
    ("compare.seed=-1", "compare.seed: must not be negative, got -1"),
    ("mine.tpo=3", "mine: Unknown option: --tpo. Did you mean --top?"),
    ("mine.alpha='much'", "mine"),
    ("score.metrics='blue'", "score: unknown metric 'blue'"),
    ("report.metrics=['chrf', 'bleu-2x']", "unknown metric 'bleu-2x'"),
    ("compare.tables={a=1}", "compare.tables: must be a text"),
    ('systems."my name".k=3', "systems.my name: a name begins with a letter or digit"),
    ("title=Five", 'set: title needs quotes around a text: title="Five"'),
    ('systems.bot={kind="program", command="./bot.py"}', "there is no program ./bot.py"),
]


@pytest.mark.parametrize(("change", "said"), WRONG)
def test_mistakes_are_said_before_any_stage_runs(run, refusal, design, tmp_path, change, said):
    for command in ("run", "show"):
        result = run("experiment", command, design, "-o", tmp_path / "out", "--set", change)
        refusal(result)
        assert said in result.err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_no_experiment(run, refusal, design, tmp_path):
    for command in ("run", "show", "clean"):
        result = run("experiment", command, design, "-o", tmp_path / "given")
        refusal(result)
        assert "holds something else than an experiment" in result.err
