"""`deltableu respond train`, and `deltableu respond run --kind model` with what it made."""

from __future__ import annotations

import io
import json
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="neural responders need the extra neural")

from deltableu.cli.app import main
from deltableu.corpus import read_items, read_nbest
from deltableu.respond import Decoding, NeuralResponder, read_responder
from tests.cli.test_respond import EXAMPLES, LOGS, refused, written

TINY = ["--vocabulary", "words", "--embedding", "8", "--hidden", "8", "--batch", "50"]
TINY += ["--epochs", "2", "--validation", "20", "--threads", "1"]
VHRED = ["--kind", "vhred", "--context", "8", "--latent", "4", "--turns", "2", *TINY]


def respond(*arguments):
    """For fixtures that several tests share."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["respond", *map(str, arguments)])
    return SimpleNamespace(code=int(ended.value.code or 0), out=out.getvalue(), err=err.getvalue())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of each kind, and what was said while it was made."""
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for kind, options in (("seq2seq", TINY), ("vhred", VHRED)):
        model = folder / f"{kind}.safetensors"
        done = respond("train", LOGS, "-o", model, *options, "--format", "json")
        assert done.code == 0, done.err
        found[kind] = model, done
    return found


@pytest.fixture(scope="module")
def models(trained):
    return {kind: model for kind, (model, _) in trained.items()}


@pytest.fixture
def study(tmp_path):
    """Some items of the demo."""
    folder = tmp_path / "study"
    folder.mkdir()
    lines = (EXAMPLES / "demo" / "items.jsonl").read_text().splitlines(keepends=True)
    (folder / "items.jsonl").write_text("".join(lines[:16]))
    return folder


@pytest.mark.parametrize("kind", ["seq2seq", "vhred"])
def test_training_writes_a_model_with_its_card(kind, trained):
    model, done = trained[kind]
    read = read_responder(model)
    assert (read.kind, read.settings.hidden) == (kind, 8)
    assert len(read.card["epochs"]) == 2
    assert "perplexity of what is held out" in done.err
    assert json.loads(done.out)
    assert not model.with_name(f"{model.name}.training").exists()


def test_the_same_command_makes_the_same_model(models, tmp_path):
    again = tmp_path / "again.safetensors"
    assert respond("train", LOGS, "-o", again, *VHRED).code == 0
    assert read_responder(again).digest == read_responder(models["vhred"]).digest
    refused(respond("train", LOGS, "-o", again, *VHRED), "is there already")
    assert respond("train", LOGS, "-o", again, *VHRED, "--seed", 1, "--replace").code == 0
    assert read_responder(again).digest != read_responder(models["vhred"]).digest


@pytest.mark.parametrize("kind", ["seq2seq", "vhred"])
@pytest.mark.parametrize("decode", ["greedy", "beam", "sample"])
def test_a_model_is_one_more_system(kind, decode, models, study, run, succeeds, tmp_path):
    output = study / "outputs" / "neural.jsonl"
    command = ("respond", "run", study, "--kind", "model", "--model", models[kind])
    command += ("--decode", decode, "--max-length", 8)
    said = succeeds(*command, "-o", output)
    digest = read_responder(models[kind]).digest[:12]
    assert f"signature: {kind}:{digest},{decode}" in said.out
    texts = written(output)
    assert list(texts) == [item.id for item in read_items(study / "items.jsonl")]
    assert all(text.strip() and len(text.split()) <= 8 for text in texts.values())
    scored = run("score", study, "--systems", "neural", "--format", "json")
    assert scored.code == 0
    refused(run(*command, "-o", output), "is there already")
    again = tmp_path / "again.jsonl"
    succeeds(*command, "-o", again, "--threads", 1)
    assert again.read_bytes() == output.read_bytes()
    succeeds(*command, "-o", again, "--seed", 3, "--replace")
    drawn = kind == "vhred" or decode == "sample"
    assert decode != "sample" or written(again) != texts
    assert drawn or written(again) == texts


def test_the_library_says_the_same(models, study, succeeds, tmp_path):
    """A beam is what is used where nothing is said, and its lists are written whole."""
    output, lists = tmp_path / "out.tsv", tmp_path / "lists.jsonl"
    command = ("respond", "run", study, "--kind", "model", "--model", models["seq2seq"])
    succeeds(*command, "-o", output, "--nbest-output", lists)
    items = list(read_items(study / "items.jsonl"))
    wanted = NeuralResponder.load(models["seq2seq"]).respond(items, Decoding(beam=5))
    found = read_nbest(lists)
    assert found.texts == wanted.nbest.texts
    assert found.names == ("logprob", "length", "mean_logprob", "min_logprob")
    assert found.texts_of(found.best(found.totals)) == wanted.texts


def test_candidates_are_reranked(models, study, succeeds, tmp_path):
    lists, full, weights = (tmp_path / name for name in ("lists.jsonl", "full.jsonl", "w.json"))
    drawn = ("respond", "run", study, "--kind", "model", "--model", models["vhred"])
    drawn += ("--decode", "sample", "--candidates", 4, "--temperature", 0.7, "--top-k", 20)
    succeeds(*drawn, "-o", tmp_path / "first.jsonl", "--nbest-output", lists)
    found = read_nbest(lists)
    assert max(found.bounds[1:] - found.bounds[:-1]) == 4
    firsts = found.texts_of(found.bounds[:-1])
    assert firsts == tuple(written(tmp_path / "first.jsonl").values())
    rerank = ("respond", "run", study, "--kind", "rerank", "--nbest", lists)
    succeeds(*rerank, "-o", tmp_path / "second.jsonl", "--nbest-output", full)
    names = read_nbest(full).names
    assert {*found.names, "cosine", "system-total"} < set(names)
    weights.write_text(json.dumps(dict.fromkeys(names, 0) | {"min_logprob": 1}))
    succeeds(*rerank, "-o", tmp_path / "third.jsonl", "--weights", weights)
    surest = found.texts_of(found.best(found.features[:, found.names.index("min_logprob")]))
    assert written(tmp_path / "third.jsonl") == dict(zip(found.item_ids, surest, strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["model"], "--kind model needs --model"),
        (["model", "--model", "MODEL", "--logs", LOGS], "--logs is of no use with --kind model"),
        (["model", "--model", "MODEL", "--command", "cat"], "--command is of no use with"),
        (["model", "--model", "MODEL", "--tokenize", "zh"], "--tokenize is of no use with"),
        (["model", "--model", "MODEL", "--decode", "best"], "decode"),
        (["model", "--model", "MODEL", "--decode", "greedy", "--beam", "3"], "beam: is for the"),
        (["model", "--model", "MODEL", "--top-p", "0.5"], "top_p: is for the method sample"),
        (["model", "--model", "MODEL", "--candidates", "9"], "no more than the beam, 5, got 9"),
        (["model", "--model", "MODEL", "--beam", "0"], "beam"),
        (["model", "--model", "MODEL", "--length-penalty", "nan"], "length_penalty"),
        (["model", "--model", "gone.safetensors"], "gone.safetensors"),
        (["model", "--model", "ITEMS"], "items.jsonl"),
        (["random", "--logs", LOGS, "--beam", "3"], "--beam is of no use with --kind random"),
        (["c-bm25", "--logs", LOGS, "--model", "MODEL"], "--model is of no use with --kind c-bm25"),
        (["rerank", "--nbest", "x", "--decode", "beam"], "--decode is of no use with"),
        (["program", "--command", "cat", "--temperature", "1"], "--temperature is of no use with"),
        (["human", "--logs", LOGS, "--no-repeat", "2"], "--no-repeat is of no use with"),
    ],
)
def test_mistakes(options, message, models, study, run, tmp_path):
    names = {"MODEL": models["seq2seq"], "ITEMS": study / "items.jsonl"}
    kind, *options = (names.get(one, one) for one in options)
    result = run("respond", "run", study, "--kind", kind, "-o", tmp_path / "out.jsonl", *options)
    refused(result, message)
    assert sorted(tmp_path.iterdir()) == [study]


def test_a_model_is_not_overwritten_by_what_it_says(models, study, run, tmp_path):
    model = shutil.copy(models["seq2seq"], tmp_path / "model.jsonl")
    result = run("respond", "run", study, "--kind", "model", "--model", model, "-o", model,
                 "--replace")  # fmt: skip
    refused(result, "is read here too")
    assert model.read_bytes() == models["seq2seq"].read_bytes()


def test_what_is_no_responder(models, study, run, tmp_path):
    """Half a file, and bytes that are something else."""
    whole, model = models["seq2seq"].read_bytes(), tmp_path / "broken.safetensors"
    for data in (whole[: len(whole) // 2], whole[:-4] + b"\xff\xff\xff\x7f", b"", b"hello " * 99):
        model.write_bytes(data)
        result = run("respond", "run", study, "--kind", "model", "--model", model, "-o", "-")
        refused(result, "broken.safetensors")
        assert result.out == ""


def test_an_item_that_asks_nothing(models, run):
    items = (
        b'{"id": "a", "message": "Hi.", "references": []}\n'
        b'{"id": "b", "context": ["Hi."], "message": " ", "references": []}\n'
    )
    command = ("respond", "run", "-", "--kind", "model", "--model", models["seq2seq"], "-o", "-")
    refused(run(*command, stdin=items), "item 'b', message: is empty")
    result = run(*command, stdin=items.splitlines()[0])
    assert result.code == 0
    assert json.loads(result.out)["id"] == "a"


def test_without_torch(models, study, run, tmp_path, monkeypatch):
    """What to install is said; what needs no torch does without."""
    monkeypatch.setitem(sys.modules, "torch", None)
    output = tmp_path / "out.safetensors"
    for command in (
        ["run", study, "--kind", "model", "--model", models["seq2seq"], "-o", tmp_path / "o.jsonl"],
        ["train", LOGS, "-o", output, *TINY],
    ):
        refused(run("respond", *command), "needs torch: run pip install 'deltableu[neural]'")
    assert sorted(tmp_path.iterdir()) == [study]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["LOGS", "-o", "model.bin"], "ends in .safetensors"),
        (["LOGS", "-o", "nowhere/model.safetensors"], "folder does not exist"),
        (["-o", "model.safetensors"], "name at least one file"),
        (["gone.tsv", "-o", "model.safetensors"], "gone.tsv"),
        (["LOGS", "-o", "model.safetensors", "--hidden", "7"], "hidden: must be even"),
        (["LOGS", "-o", "model.safetensors", "--batch", "0"], "batch"),
        (["LOGS", "-o", "model.safetensors", "--dropout", "1"], "dropout: must be a share"),
        (["LOGS", "-o", "model.safetensors", "--learning-rate", "nan"], "learning_rate"),
        (["LOGS", "-o", "model.safetensors", "--latent", "4"], "--latent is not for models of"),
        (["LOGS", "-o", "model.safetensors", "--minutes", "-1"], "minutes"),
        (["LOGS", "-o", "model.safetensors", "--validation", "9999"], "would be held out"),
        (["EMPTY", "-o", "model.safetensors"], "the logs hold no"),
    ],
)
def test_mistakes_in_training(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    empty = tmp_path / "empty.tsv"
    empty.write_text("utterance\tresponse\n")
    names = {"LOGS": LOGS, "EMPTY": empty}
    result = respond("train", *(names.get(one, one) for one in options), "--vocabulary", "words")
    refused(result, message)
    assert sorted(tmp_path.iterdir()) == [empty]
