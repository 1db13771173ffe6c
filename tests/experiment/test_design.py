"""A configuration's stages, and what is said of mistakes in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deltableu.errors import InputError
from deltableu.experiment import Design, Made, read_design

Write = Callable[[str, str | bytes], Path]

WHOLE = """
title = "All of it"
seed = 7

[logs]
files = "talks.jsonl"
split = "evaluator:0.5,system:0.4,test:0.1"
min_posts = 2

[items]
as = "answers"
items = 50

[models.gru]
preset = "small"

[models.deep]
kind = "vhred"

[systems.greedy]
kind = "model"
model = "gru"
decode = "greedy"
quality = 0.25

[systems.beam]
kind = "model"
model = "gru"
decode = "beam"

[systems.vhred]
kind = "model"
model = "deep"

[systems.reranked]
kind = "rerank"
of = "beam"

[systems.c-bm25]
kind = "c-bm25"

[vectors]
dimension = 50

[mine]
top = 15
parrot = true

[judge]
minutes = 2

[ratings]
by = "simulated"
raters = 3

[score]
metrics = ["upsilon-bleu", "bleu"]
"""


@pytest.fixture
def design(write: Write) -> Callable[[str], Design]:
    """The stages of a configuration."""

    def design(text: str) -> Design:
        write("talks.jsonl", '{"id": "1", "turns": ["hello", "hi there"]}\n')
        return read_design(write("experiment.toml", text))

    return design


def test_stages_follow_each_other_as_their_results_are_read(
    design: Callable[[str], Design], tmp_path: Path
) -> None:
    found = design(WHOLE)
    assert found.title == "All of it"
    assert found.study == Made("ratings", "study")
    after = {stage.name: stage.needs for stage in found.stages}
    assert after == {
        "pairs": (),
        "items": (),
        "model-gru": ("pairs",),
        "model-deep": ("pairs",),
        "answer-greedy": ("items", "model-gru"),
        "answer-beam": ("items", "model-gru"),
        "answer-vhred": ("items", "model-deep"),
        "answer-reranked": ("items", "answer-beam"),
        "answer-c-bm25": ("items", "pairs"),
        "vectors": ("pairs",),
        "mine": ("items", "pairs", "vectors"),
        "judge": ("pairs",),
        "weights": ("mine", "judge"),
        "study": (
            *("weights", "answer-greedy", "answer-beam", "answer-vhred", "answer-reranked"),
            "answer-c-bm25",
        ),
        "ratings": ("study",),
        "score": ("ratings",),
        "compare": ("ratings",),
        "validate": ("ratings",),
        "report": ("ratings",),
    }
    commands = {stage.name: stage.described() for stage in found.stages}
    assert commands["pairs"] == (
        f"deltableu logs pairs {tmp_path}/talks.jsonl --split evaluator:0.5,system:0.4,test:0.1 "
        "--min-posts 2 --seed 7 --drop-overlap --output pairs/pairs"
    )
    assert commands["items"] == (
        f"deltableu logs sample {tmp_path}/talks.jsonl --as answers "
        "--split evaluator:0.5,system:0.4,test:0.1 --split-seed 7 --min-posts 2 --period test "
        "--output items/study --items 50 --seed 7"
    )
    assert commands["model-deep"] == (
        "deltableu respond train pairs/pairs/system.tsv --output model-deep/model.safetensors "
        "--kind vhred --seed 7"
    )
    assert commands["answer-beam"] == (
        "deltableu respond run items/study --kind model --model model-gru/model.safetensors "
        "--nbest-output answer-beam/nbest.jsonl --output answer-beam/beam.jsonl --decode beam "
        "--seed 7"
    )
    assert commands["answer-reranked"] == (
        "deltableu respond run items/study --kind rerank --nbest answer-beam/nbest.jsonl "
        "--output answer-reranked/reranked.jsonl"
    )
    assert commands["answer-c-bm25"] == (
        "deltableu respond run items/study --kind c-bm25 --logs pairs/pairs/system.tsv "
        "--work answer-c-bm25/work --output answer-c-bm25/c-bm25.jsonl"
    )
    assert commands["mine"] == (
        "deltableu mine items/study --logs pairs/pairs/evaluator.tsv --method embedding "
        "--vectors vectors/vectors.txt --output mine/study --top 15 --parrot --seed 7"
    )
    assert commands["weights"] == (
        "deltableu judge apply mine/study --judge judge/judge.safetensors --output weights/study"
    )
    assert commands["ratings"] == (
        "deltableu rate simulate study/study --what outputs --quality greedy=0.25 "
        "--output ratings/study --raters 3 --seed 7"
    )
    assert commands["score"] == "deltableu score ratings/study --metrics upsilon-bleu,bleu"


def test_engine_and_threads_are_no_part_of_what_is_kept(write: Write) -> None:
    write("talks.jsonl", '{"id": "1", "turns": ["hello", "hi there"]}\n')
    path = write("experiment.toml", WHOLE)
    plain = read_design(path)
    spread = read_design(path, engine="dask", threads=3)
    assert [one.command for one in plain.stages] == [one.command for one in spread.stages]
    running = {one.name: one.running for one in spread.stages if one.running}
    assert running["mine"] == running["answer-c-bm25"] == ("--threads", "3", "--engine", "dask")
    assert running["judge"] == running["answer-greedy"] == ("--threads", "3")


def test_a_study_and_pairs_that_are_there_are_used(design: Callable[[str], Design]) -> None:
    found = design(
        '[items]\nstudy = "mine"\n[logs]\nevaluator = ["a.tsv", "b.tsv"]\n[mine]\ntop = 3\n'
    )
    assert [one.name for one in found.stages] == ["mine", "study", "score", "compare", "report"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("minee = 1", "minee: is not part of an experiment"),
        ("minee = 1", "did you mean 'mine'?"),
        ("mine = 1", "mine: must be a table [mine], got 1"),
        ("title = 3", "title: must be a text, got 3"),
        ('seed = "x"', "seed: must be a whole number, got 'x'"),
        ("[mine]\ntop = 3", "items.study: is missing: name a study, or raw logs"),
        ('[items]\nstudy = "s"\n[mine]\ntop = 3', "mine: needs logs: [logs] names raw ones"),
        ('[items]\nstudy = "s"\nas = "triples"', "items.as: has no use here"),
        ('[logs]\nfiles = "talks.jsonl"\n[items]\nas = "tripels"', "did you mean 'triples'?"),
        ('[logs]\nfiles = "a"\nsplit = "train:0.5,test:0.5"', "logs.split: must name evaluator"),
        ('[logs]\nfiles = "a"\nsystem = "b"', "logs.files: are raw logs, but pairs of system"),
        ('[items]\nstudy = "s"\n[vectors]\ndimension = 9', "vectors: has no use without [mine]"),
        (
            '[items]\nstudy = "s"\n[weights]\nby = "none"\n[judge]\nfile = "j"',
            "judge: has no use: weights are by others",
        ),
        ('[items]\nstudy = "s"\n[systems.a]\nkind = "x"', "systems.a.kind: must be one of random"),
        ('[items]\nstudy = "s"\n[systems.a]', "systems.a.kind: is missing"),
        ('[items]\nstudy = "s"\n[systems."a/b"]\nkind = "file"', "systems.a/b: a name begins"),
        ('[items]\nstudy = "s"\n[systems.a]\nkind = "file"', "systems.a.file: is missing"),
        ('[items]\nstudy = "s"\n[systems.a]\nkind = "rerank"\nof = "b"', "systems.a.of: must be"),
        (
            '[items]\nstudy = "s"\n[systems.a]\nkind = "rerank"\nof = "b"\n'
            '[systems.b]\nkind = "rerank"\nof = "a"',
            "these stages wait for each other: answer-a, answer-b",
        ),
        ('[items]\nstudy = "s"\n[score]\nmetrics = {a = 1}', "score.metrics: must be a text"),
        ('[items]\nstudy = "s"\n[systems.a]\nkind = "program"', "systems.a.command: is missing"),
        ('[items]\nstudy = "s"\n[systems.a]\nkind = "model"', "systems.a.model: is missing"),
        (
            '[items]\nstudy = "s"\n[systems.a]\nkind = "rerank"\nof = "b"\n'
            '[systems.b]\nkind = "file"\nfile = "b.jsonl"',
            "systems.a.of: must be",
        ),
        ('[items]\nstudy = ["s", "t"]', "items.study: must be one file, got 2"),
        ("[items]\nstudy = []", "items.study: must be one file, got 0"),
        ('[items]\nstudy = ""', "items.study: names no file"),
        (
            '[items]\nstudy = "s"\n[systems.a]\nkind = "file"\nfile = ["a", "b"]',
            "systems.a.file: must be one file, got 2",
        ),
        ('[items]\nstudy = "s"\n[score]\nhelp = true', "score.help: cannot be set"),
        ('[items]\nstudy = "s"\n[score]\noutput = "x"', "score.output: cannot be set"),
        ('[items]\nstudy = "s"\n[score]\n"" = 1', "score: is no name of an option"),
        ('[items]\nstudy = "s"\n[score]\n"top=4" = 1', "score.top=4: is no name of an option"),
        ("[items", "is not valid TOML"),
    ],
)
def test_mistakes_are_named(design: Callable[[str], Design], text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        design(text)
    assert said in str(caught.value)


def test_a_judge_may_rate_for_metrics_alone(design: Callable[[str], Design]) -> None:
    found = design(
        '[items]\nstudy = "s"\n[weights]\nby = "simulated"\n[judge]\nfile = "rated.jsonl"\n'
        '[score]\nmetrics = "delta-bleu,upsilon-bleu"\n[compare]\nmetrics = "delta-bleu"\n'
    )
    commands = {stage.name: stage.described() for stage in found.stages}
    assert commands["score"].endswith("rated.jsonl")
    assert "--judge" in commands["score"]
    assert "--judge" not in commands["compare"]
    assert "judge" not in commands


def test_settings_may_be_changed(write: Write) -> None:
    write("talks.jsonl", '{"id": "1", "turns": ["hello", "hi there"]}\n')
    path = write("experiment.toml", WHOLE)
    changes = ["mine.top = 5", 'title="Five"', "judge = {minutes = 3}", "compare.seed=2"]
    found = read_design(path, changes=changes)
    commands = {stage.name: stage.described() for stage in found.stages}
    assert found.title == "Five"
    assert "--top 5 --parrot" in commands["mine"]
    assert commands["judge"].endswith("--minutes 3 --seed 7")
    assert commands["compare"].endswith("--seed 2")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("mine.top", "must be a line of TOML such as mine.top=5, got 'mine.top'"),
        ("= 3", "must be a line of TOML"),
        ("", "must be a line of TOML"),
        ("[mine]\ntop = 3", "must be a line of TOML"),
        ("title.x = 1", "title.x cannot be set, because title is no table"),
        ("mine.top =", "mine.top has no value behind its equals sign"),
        ("title = Five more", 'title needs quotes around a text: title="Five more"'),
        ("mine.top = [1, 2", "mine.top has a value that is not TOML, '[1, 2': unclosed array"),
        ("mine.top = 3\nmine.seed = 4", "mine.top is not the only setting here"),
        ('mine."t\\qp" = 3', "unescaped"),
        ("a = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_changes_that_are_none_are_named(write: Write, change: str, said: str) -> None:
    with pytest.raises(InputError, match="set: ") as caught:
        read_design(write("experiment.toml", WHOLE), changes=[change])
    assert said in str(caught.value)


def test_keys_may_be_quoted(write: Write) -> None:
    write("talks.jsonl", '{"id": "1", "turns": ["hello", "hi there"]}\n')
    path = write("experiment.toml", WHOLE + '\n[systems."v.1"]\nkind = "random"\n')
    changes = ['systems."v.1".logs="evaluator"', "'mine' . \"top\" = 5", 'systems."c-bm25".keep=2']
    commands = {one.name: one.described() for one in read_design(path, changes=changes).stages}
    assert "pairs/evaluator.tsv" in commands["answer-v.1"]
    assert "--top 5 --parrot" in commands["mine"]
    assert "--keep 2" in commands["answer-c-bm25"]
    with pytest.raises(InputError, match=r"systems\.my name: a name begins with"):
        read_design(path, changes=['systems."my name".k = 3'])


def bot(folder: Path, *, runs: bool = True) -> Path:
    path = folder / "bot.py"
    path.write_text("#!/usr/bin/env python3\n")
    path.chmod(0o755 if runs else 0o644)
    return path


PROGRAM = '[items]\nstudy = "s"\n[systems.a]\nkind = "program"\ncommand = '


def test_programs_are_found_from_the_configuration(
    design: Callable[[str], Design], tmp_path: Path
) -> None:
    found = bot(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "s").mkdir()
    for command, words in (
        ('"./bot.py --warm 0.7"', f"{found} --warm 0.7"),
        ('"bot.py"', f"{found}"),
        ('"python3 bot.py --weights=bot.py fast"', f"python3 {found} --weights={found} fast"),
        ('["python3", "-u", "bot.py", "two words"]', f"python3 -u {found} 'two words'"),
        ('"python3 -c pass ./model model ."', f"python3 -c pass {tmp_path}/model model ."),
    ):
        commands = {one.name: one for one in design(PROGRAM + command).stages}
        given = commands["answer-a"].arguments(Path("own"), lambda made: Path(made.name))
        assert given[given.index("--command") + 1] == words


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('"./none.py"', "systems.a.command: there is no program ./none.py in "),
        ('"no-such-program"', "there is no program no-such-program in "),
        ('"python3 none.py"', "there is no file none.py in "),
        ('"bot.py"', "bot.py is not executable: name what runs it, such as python3 bot.py"),
        ('"jq \'"', "cannot be read: No closing quotation"),
        ('""', "names no program"),
        ("[]", "names no program"),
        ("3", "must be a text, or a list of texts, got 3"),
        ('"' + "x" * 300 + '"', "there is no program xxx"),
        ('["a\\u0000"]', "zero character"),
    ],
)
def test_programs_that_are_missing_are_named(
    design: Callable[[str], Design], tmp_path: Path, command: str, said: str
) -> None:
    bot(tmp_path, runs=False)
    with pytest.raises(InputError) as caught:
        design(PROGRAM + command)
    assert said in str(caught.value)


def test_a_model_that_is_neither_trained_nor_there_is_named(
    design: Callable[[str], Design],
) -> None:
    with pytest.raises(InputError, match=r"no section \[models\.grv\].*did you mean 'gru'"):
        design(WHOLE.replace('model = "gru"', 'model = "grv"', 1))
