from __future__ import annotations

import json

import pytest

OLD = [["1+1=", {"until": ["\n"]}]]
NEW = {"gen_args_0": {"arg_0": "1+1=", "arg_1": {"until": ["\n"]}}}
DATE = "2024-05-01T10-00-00.123456"


def sample(**changed):
    return {
        "doc_id": 0,
        "doc": {"question": "1+1="},
        "target": "2",
        "arguments": NEW,
        "resps": [["it is 2"]],
        "filtered_resps": ["2"],
        "filter": "strict",
        "metrics": ["exact_match"],
        "doc_hash": "x",
        "exact_match": 1.0,
        **changed,
    }


def lines(*records):
    return "".join(json.dumps(one) + "\n" for one in records)


def test_models_and_filters(bring, write):
    text = lines(sample(), sample(filter="loose", filtered_resps=["it"]))
    write(f"results/m1/samples_sums_{DATE}.jsonl", text)
    old = lines(sample(arguments=OLD, filtered_resps=["3"], exact_match=0.0))
    path = write(f"results/m2/samples_sums_{DATE}.jsonl", old)
    found = bring("lm-eval", path.parents[1])
    item = found.items["0"]
    assert (item.message, [one.text for one in item.references]) == ("1+1=", ["2"])
    metrics = {"exact_match (m1)": 1.0, "exact_match (m2)": 0.0}
    assert item.meta == {"task": "sums", **metrics}
    assert found.outputs == {"m1": ("2",), "m2": ("3",)}
    assert found.left_out == {"the filter is loose, not strict": 1}


def test_several_tasks_and_a_chosen_filter(bring, write):
    text = lines(sample(), sample(filter="loose", filtered_resps=["it"], target=["2", "two"]))
    one = write("m/samples_sums.jsonl", text)
    other = write("m/samples_more_sums.jsonl", text)
    found = bring("lm-eval", one, other, where={"filter": "loose"}, system="s")
    assert list(found.items) == ["sums/0", "more_sums/0"]
    assert [one.text for one in found.items["sums/0"].references] == ["2", "two"]
    assert found.items["sums/0"].meta == {"task": "sums", "exact_match": 1.0}
    assert found.outputs == {"s": ("it", "it")}


@pytest.mark.parametrize(
    ("target", "texts"),
    [("['2', \"it's\"]", ["2", "it's"]), ("[1, 2]", ["[1, 2]"]), (2, ["2"]), (["a"], ["a"])],
)
def test_targets(bring, write, target, texts):
    found = bring("lm-eval", write("m/samples_x.jsonl", json.dumps(sample(target=target)) + "\n"))
    assert [one.text for one in found.items["0"].references] == texts


def test_likelihoods_are_no_text(bring, write):
    choices = sample(doc_id=1, target=1, filtered_resps=[[-3.5, False], [-1.5, True]])
    texts = sample(doc_id=2, target=1, filtered_resps=[["-3.5", "False"], ["-1.5", "True"]])
    found = bring("lm-eval", write("m/samples_x.jsonl", lines(sample(), choices, texts)))
    assert list(found.items) == ["0"]
    assert found.left_out == {"it is the likelihood of choices, and no text": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"doc_id": 1', "samples_x.jsonl, line 1: "),
        (lines(sample(doc_id=None)), "samples_x.jsonl, line 1, doc_id: is missing"),
        (lines(sample(filtered_resps="2")), "samples_x.jsonl, line 1, filtered_resps: must be a"),
        (lines(sample(filtered_resps=[3])), "samples_x.jsonl, line 1, filtered_resps: must hold"),
        (lines(sample(target={"a": 1})), "samples_x.jsonl, line 1, target: must be a text or"),
        (lines(sample(arguments=[[3]])), "samples_x.jsonl, line 1, arguments: must hold a prompt"),
        (
            lines(sample(), sample(filtered_resps=["3"])),
            "samples_x.jsonl, line 2, item '0', prediction: system",
        ),
    ],
)
def test_bad_files(refuse, write, text, said):
    assert refuse("lm-eval", write("samples_x.jsonl", text)).startswith(said)
