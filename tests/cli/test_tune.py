"""`deltableu tune mert` and `rerank`: what they write and say, and every list that is wrong."""

from __future__ import annotations

import gzip
import json

import pytest

from deltableu import DeltaBLEU, read_study, reference_set
from deltableu.corpus import read_feature_weights, read_nbest, read_outputs, write_nbest
from deltableu.respond import hand_set_weights, with_message_features
from deltableu.tune import MertSettings, tune_weights
from tests.tune.test_mert import synthetic


@pytest.fixture
def made(tmp_path):
    """A study of 40 items, and lists of their candidates in a file."""
    lists, references = synthetic(items=40, candidates=12, features=3)
    folder = tmp_path / "made"
    folder.mkdir()
    with (folder / "items.jsonl").open("w") as stream:
        for number, id in enumerate(lists.item_ids):
            pairs = zip(references.texts[number], references.weights[number], strict=True)
            item = {
                "id": id,
                "message": f"w3 w7 w9 w20 w30 of {number} ?",
                "references": [
                    {"id": f"r{k}", "text": text, "weight": weight}
                    for k, (text, weight) in enumerate(pairs)
                ],
                "meta": {"dialogue": f"d{number // 4}"},
            }
            stream.write(json.dumps(item) + "\n")
    path = tmp_path / "lists.jsonl"
    write_nbest(path, lists)
    return folder, path, tmp_path / "weights.json"


FAST = ("--restarts", 3)


@pytest.fixture
def refuses(run, refusal, tmp_path):
    """Run a command that must refuse and write nothing."""

    def refuses(*arguments):
        output = tmp_path / "nothing.jsonl"
        result = run("tune", *arguments, "-o", output)
        refusal(result)
        assert not output.exists()
        return result.err.removeprefix("deltableu: ").removesuffix("\n")

    return refuses


def test_weights_are_those_of_the_function(made, run):
    study, path, output = made
    command = ("tune", "mert", path, "--study", study, "--held-out", 0.4, *FAST, "-o", output)
    shown = run(*command, "--metric", "delta-bleu", "--tokenize", "none", "--format", "json")
    assert shown.code == 0
    assert shown.err.startswith("deltableu: 40 items share 10 values of dialogue")
    record = shown.json
    wanted = tune_weights(
        read_nbest(path),
        reference_set(read_study(study)),
        DeltaBLEU(tokenize="none"),
        settings=MertSettings(restarts=3),
        held_out=0.4,
    )
    assert record["weights"] == wanted.weights == read_feature_weights(output)
    assert record["signature"] == wanted.signature
    assert record["held_out"]["tuned"] == wanted.held_out.tuned > wanted.held_out.start
    assert record["verdict"][0].startswith("Held out: tuned is better than start by")
    assert record["verdict"][-1].startswith("On the 24 items tuned on, delta-bleu-2 goes from")
    about = json.loads(output.read_text())
    assert about["verdict"] == record["verdict"]
    assert about["signature"] == wanted.signature
    result = run(*command)
    assert (result.code, "is there already" in result.err) == (2, True)


def test_what_people_see_begins_with_the_verdict(made, run):
    study, path, output = made
    shown = run("tune", "mert", path, "--study", study, *FAST, "-o", output)
    assert (shown.code, shown.err) == (0, "")
    first = " ".join(shown.out.split("\n\n")[0].split())
    assert first.startswith("On the 40 items tuned on, delta-bleu-2 goes from ")
    assert "hold some out" in first
    assert "influence" in shown.out
    noted = run(
        *("tune", "mert", path, "--study", study, *FAST, "-o", output, "--replace"),
        *("--held-out", 0.5, "--group", "dialogue"),
    )
    assert noted.code == 0
    assert noted.out.startswith("Held out: ")
    # Weights may go to standard output; the summary then does not.
    shown = run("tune", "mert", path, "--study", study, *FAST, "-o", "-")
    assert list(json.loads(shown.out)["weights"]) == ["f0", "f1", "f2"]


@pytest.mark.parametrize("method", ["perceptron", "splitting"])
def test_perceptrons_and_reranking(made, run, succeeds, method, tmp_path):
    study, path, output = made
    learnt = run(
        *("tune", "mert", path, "--study", study, "--method", method, "--epochs", 5),
        *("-o", output, "--held-out", 0.4, "--group", "dialogue"),
    )
    # Four groups of items are too few for any difference to be significant.
    noise = "deltableu: warning: the difference on the items held out is within noise\n"
    assert (learnt.code, learnt.err) == (0, noise)
    tuned = tmp_path / "tuned.jsonl"
    again = tmp_path / "again.nbest"
    command = ("tune", "rerank", path, "--weights", output, "-o", tuned)
    assert run(*command, "--nbest-output", again).code == 0
    lists = read_nbest(path)
    chosen = lists.texts_of(lists.best(lists.scores(read_feature_weights(output))))
    assert read_outputs(tuned, lists.item_ids) == chosen
    assert read_nbest(again).totals.tolist() == lists.scores(read_feature_weights(output)).tolist()


def test_features_of_messages(made, run, refuses, tmp_path):
    study, path, output = made
    words = ("--message-features", *FAST)
    assert run("tune", "mert", path, "--study", study, *words, "-o", output).code == 0
    about = json.loads(output.read_text())
    lists = with_message_features(read_nbest(path), read_study(study).items)
    assert tuple(about["weights"]) == lists.names
    assert about["start"] == hand_set_weights(lists)
    tuned, same = tmp_path / "tuned.jsonl", tmp_path / "same.jsonl"
    rerank = ("tune", "rerank", path, "--weights", output)
    assert run(*rerank, "--study", study, "-o", tuned).code == 0
    respond = ("respond", "run", study, "--kind", "rerank", "--nbest", path, "--weights", output)
    assert run(*respond, "-o", same).code == 0
    assert tuned.read_text() == same.read_text()
    message = refuses("rerank", path, "--weights", output)
    assert message.endswith(
        "has a weight of edit-distance, which the lists lack: name the --study whose messages the "
        "candidates answer"
    )


def test_lists_of_several_iterations_and_of_other_items(made, run, refuses, tmp_path):
    study, path, output = made
    lists = read_nbest(path)
    halves = [tmp_path / f"half{k}.gz" for k in (0, 1)]
    for half, chosen in zip(halves, (range(25), range(25, 40)), strict=True):
        plain = tmp_path / "half.jsonl"
        write_nbest(plain, lists.select(chosen))
        half.with_suffix(".jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    first, second = (half.with_suffix(".jsonl.gz") for half in halves)
    weights = tmp_path / "w0.json"
    weights.write_text('{"f0": 3, "f1": 0, "f2": 0}')
    shown = run(
        *("tune", "mert", first, first, "--study", study, "--start", weights, *FAST),
        *("--held-out-nbest", second, "-o", output, "--group", "dialogue", "--format", "json"),
    ).json
    assert (shown["training"]["items"], shown["held_out"]["items"]) == (25, 15)
    assert shown["training"]["candidates"] == 25 * 12
    assert shown["start"] == {"f0": 3.0, "f1": 0.0, "f2": 0.0}
    command = ("mert", first, "--study", study, *FAST)
    assert refuses(*command, "--held-out-nbest", path) == (
        "item 'q0': is held out, but tuned on as well: a score on seen items says nothing"
    )
    message = refuses(*command, "--held-out-nbest", second, "--held-out", 0.2)
    assert message == "give --held-out or --held-out-nbest, not both"
    assert refuses("mert", first, second, *command[2:]) == (
        "n-best list 2 is not about the items of the first"
    )


GOOD = ["q1 ||| a b ||| LM= -1 TM= 2", "q1 ||| a ||| LM= -2 TM= 1", "q2 ||| c ||| LM= 0 TM= 0"]
BAD = [
    ({1: "q1 ||| a ||| LM= -2"}, "line 2, item 'q1', features: TM is missing, which earlier"),
    ({1: "q1 ||| a ||| LM= -2 PP= 1"}, "line 2, item 'q1', features: TM is missing"),
    ({1: "q1 ||| a ||| LM= -2 TM= x"}, "line 2, item 'q1', TM: must be a finite number, got 'x'"),
    ({1: "q1 ||| a ||| LM= -2 TM= nan"}, "line 2, item 'q1', TM: must be a finite number"),
    ({1: "q1 ||| a"}, "line 2: must have 3 or 4 fields"),
    ({1: "q1 ||| ||| LM= -2 TM= 1"}, "line 2, item 'q1', text: the candidate has no text"),
    ({1: "q1 ||| a ||| LM= -2 TM= 1 ||| 3"}, "line 2, item 'q1', total: is here, but earlier"),
    ({2: "q9 ||| c ||| LM= 0 TM= 0"}, "line 3, item 'q9', id: must be an item's id"),
    ({0: "q9 ||| c ||| LM= 0 TM= 0"}, "line 1, item 'q9', id: there is no item with this id"),
    ({1: GOOD[2], 2: GOOD[1]}, "line 3, item 'q1', id: the candidates of an item must stand"),
    ({0: "0 ||| a ||| LM= 0 TM= 0", 1: "2 ||| a ||| LM= 0 TM= 0", 2: ""},
     "line 2, item '2', id: item '1' has no candidates before this line"),
    ({0: "", 1: "", 2: ""}, "holds no candidates"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "said"), BAD)
def test_lists_that_are_wrong_name_the_line(lines, said, study, refuses, tmp_path):
    path = tmp_path / "bad.nbest"
    path.write_text("\n".join(lines.get(k, line) for k, line in enumerate(GOOD)) + "\n")
    message = refuses("mert", path, "--study", study.path)
    assert message.startswith(f"{path}{', ' if said.startswith('line') else ': '}{said}")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ('{"id": "q1", "text": "a"}', "line 2, item 'q1', features: is missing"),
        ('{"id": "q1", "text": "a", "features": {"LM": "1"}}', "line 2, item 'q1', features.LM:"),
        ('{"id": "q1", "text": "a", "features": {"TM": 1}}', "line 2, item 'q1', features: LM is"),
        ('{"id": "q1", "features": {"LM": 1}}', "line 2, item 'q1', text"),
        ("{", "line 2"),
    ],
)
def test_the_same_in_json_lines(record, said, study, refuses, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(f'{{"id": "q1", "text": "a", "features": {{"LM": 1}}}}\n{record}\n')
    assert refuses("mert", path, "--study", study.path).startswith(f"{path}, {said}")


def test_empty_candidates_may_be_allowed(study, succeeds, tmp_path):
    path = tmp_path / "empty.nbest"
    path.write_text("q1 ||| ||| LM= 1\nq1 ||| the cat sat ||| LM= 0\nq3 ||| no ||| LM= 1\n")
    output = tmp_path / "w.json"
    succeeds("tune", "mert", path, "--study", study.path, "--allow-empty", *FAST, "-o", output)
    assert json.loads(output.read_text())["training"]["items"] == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "perceptron", "--restarts", 3], "--restarts is of no use with --method"),
        (["--epochs", 3], "--epochs is of no use with --method mert"),
        (["--strength", 3], "--strength is of no use with --regularization none"),
        (["--held-out", 1.5], "held_out must lie between 0 and 1, got 1.5"),
        (["--metric", "distinct-1"], "distinct-1 is no function of sums over items"),
        (["--metric", "bleu,chrf"], "--metric takes one metric, got 2"),
        (["--metric", "blue"], "unknown metric 'blue'"),
        (["--group", "dialog"], "item 'q1', dialog: meta has no field"),
        (["--start", "w.json"], "w.json: "),
    ],
)
def test_options_that_do_not_fit(options, said, study, refuses, tmp_path):
    path = tmp_path / "good.nbest"
    path.write_text("\n".join(GOOD) + "\n")
    assert refuses("mert", path, "--study", study.path, *options).startswith(said)


def test_weights_that_do_not_fit(study, refuses, tmp_path):
    path, weights = tmp_path / "good.nbest", tmp_path / "w.json"
    path.write_text("\n".join(GOOD) + "\n")
    weights.write_text('{"LM": 1}')
    for command in (
        ("mert", path, "--study", study.path, "--start", weights),
        ("rerank", path, "--weights", weights),
    ):
        assert refuses(*command) == ("the weights lack the feature 'TM': write 0 to ignore it")
    weights.write_text('{"LM": 1, "TM": 0, "XM": 0}')
    message = refuses("rerank", path, "--weights", weights)
    assert message.startswith("there is no feature 'XM'; there are LM, TM")
    assert refuses("mert", "--study", study.path) == ("name at least one file of n-best lists")
    assert refuses("rerank", "--weights", weights).startswith("name at least one")


TUNED = "warning: {}: the weights were tuned on {} of these {} items, on which scores are too high"


@pytest.fixture
def tuned(made, run):
    """Weights that were tuned on 20 of 40 items; and the lists of each half, by ids."""
    study, path, output = made
    shown = run(
        *("tune", "mert", path, "--study", study, *FAST, "-o", output, "--held-out", 0.5),
        *("--format", "json"),
    ).json
    lists = read_nbest(path)
    ids = set(shown["tuned_on"])
    halves = []
    for name, among in (("seen.jsonl", True), ("unseen.jsonl", False)):
        places = [place for place, id in enumerate(lists.item_ids) if (id in ids) == among]
        halves.append(path.with_name(name))
        write_nbest(halves[-1], lists.select(places))
    return study, path, output, halves


@pytest.mark.parametrize("named", [True, False])
def test_items_that_weights_were_tuned_on_are_noticed(tuned, run, tmp_path, named):
    study, path, weights, (seen, unseen) = tuned
    about = json.loads(weights.read_text())["tuned_on"]
    assert (about["items"], len(set(about["ids"]))) == (20, 20)
    more = ("--study", study) if named else ()
    for lists, found, of in ((path, 20, 40), (seen, 20, 20), (unseen, 0, 20)):
        output = tmp_path / "out.jsonl"
        result = run("tune", "rerank", lists, "--weights", weights, "-o", output, *more)
        assert result.code == 0
        assert (TUNED.format(weights, found, of) in result.err) == bool(found)
        assert ("tuned on" in result.err) == bool(found)
        output.unlink()


def test_other_items_of_the_same_names_are_not_those_tuned_on(tuned, run, tmp_path):
    study, path, weights, _ = tuned
    items = study / "items.jsonl"
    items.write_text(items.read_text().replace(" w7 w9 ", " others "))
    other = tmp_path / "other.jsonl"
    other.write_text(path.read_text().replace("w1", "v1"))
    command = ("tune", "rerank", other, "--weights", weights, "--study", study)
    result = run(*command, "-o", tmp_path / "out.jsonl")
    assert (result.code, result.err) == (0, "")


def test_weights_that_say_nothing_of_items_are_read(tuned, run, refusal, tmp_path):
    _, path, weights, _ = tuned
    found = json.loads(weights.read_text())
    command = ("tune", "rerank", path, "--weights", weights, "-o", tmp_path / "out.jsonl")
    for wrong in ([1], {"items": "many"}, {**found["tuned_on"], "ids": []}):
        weights.write_text(json.dumps({**found, "tuned_on": wrong}))
        result = run(*command)
        refusal(result)
        assert "weights.json, tuned_on: does not say which items were tuned on: " in result.err
    del found["tuned_on"]
    weights.write_text(json.dumps(found))
    assert run(*command).err == ""


def test_weights_to_start_from_may_have_seen_what_is_held_out(tuned, run):
    study, _, weights, (seen, unseen) = tuned
    again = weights.with_name("again.json")
    begin = ("--start", weights, "--study", study, *FAST, "-o", again)
    result = run("tune", "mert", unseen, "--held-out-nbest", seen, *begin)
    assert result.code == 0
    assert TUNED.format(weights, 20, 20) in result.err
    assert json.loads(again.read_text())["tuned_on"]["items"] == 40
    result = run("tune", "mert", seen, "--held-out-nbest", unseen, *begin, "--replace")
    assert "tuned on" not in result.err
    assert json.loads(again.read_text())["tuned_on"]["items"] == 20


def test_responding_by_such_weights_warns_too(tuned, run, tmp_path):
    study, path, weights, _ = tuned
    command = ("respond", "run", study, "--kind", "rerank", "--nbest", path, "--weights", weights)
    found = json.loads(weights.read_text())
    names = ("edit-distance", "cosine", "jaccard", "length-ratio")
    found["weights"] |= dict.fromkeys(names, 0.0)
    weights.write_text(json.dumps(found))
    result = run(*command, "-o", tmp_path / "out.jsonl")
    assert result.code == 0
    assert TUNED.format(weights, 20, 40) in result.err


def test_candidates_are_not_written_without_responses(write, run, refusal, tmp_path):
    """A byte order mark before the weights does not matter; a line break in plain text does."""
    lists = write("l.jsonl", '{"id": "a", "text": "x\\ny", "features": {"LM": 1}}\n')
    weights = write("w.json", '\ufeff{"LM": 1}')
    command = (
        "tune",
        "rerank",
        lists,
        "--weights",
        weights,
        "--nbest-output",
        tmp_path / "n.jsonl",
    )
    result = run(*command, "-o", tmp_path / "o.txt")
    refusal(result)
    assert "holds a line break, which plain text cannot" in result.err
    assert not (tmp_path / "n.jsonl").exists()
    assert run(*command, "-o", tmp_path / "o.jsonl").code == 0
