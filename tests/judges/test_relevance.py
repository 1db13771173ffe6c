"""relevance: the closed form, sums without errors, the model's file, the metric."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deltableu import ReferenceSet
from deltableu.errors import InputError
from deltableu.judges import (
    Relevance,
    RelevanceModel,
    read_relevance,
    train_relevance,
    write_relevance,
)
from deltableu.judges.relevance_sums import STEPS, PairSums, canonical_space

TOPICS = {
    "where is the station ?": ["over there , past the bank", "next to the bank"],
    "do you like pizza ?": ["i love pizza with cheese", "no , cheese is not for me"],
    "how is the weather ?": ["it rains all day", "cold and wet , it rains"],
    "thank you so much": ["you are welcome", "my pleasure"],
}
LOGS = [(one, other) for one, row in TOPICS.items() for other in row] * 5


@pytest.fixture(scope="module")
def model():
    return train_relevance(LOGS)


# --- the formula ----------------------------------------------------------------------------------


def literal_space(x, y, ridge):
    """Canonical correlation analysis as an eigenvalue problem (Hotelling 1936)."""
    x, y = np.rint(x * STEPS) / STEPS, np.rint(y * STEPS) / STEPS
    own, other = x - x.mean(axis=0), y - y.mean(axis=0)
    size = x.shape[1]
    xx, yy, xy = (a.T @ b / len(x) for a, b in ((own, own), (other, other), (own, other)))
    xx = xx + ridge * np.trace(xx) / size * np.eye(size)
    yy = yy + ridge * np.trace(yy) / size * np.eye(size)
    squares, left = np.linalg.eig(np.linalg.solve(xx, xy) @ np.linalg.solve(yy, xy.T))
    order = np.argsort(-squares.real)
    roots, left = np.sqrt(np.maximum(squares.real[order], 0.0)), left.real[:, order]
    left = left / np.sqrt(np.einsum("ij,ik,kj->j", left, xx, left))
    right = np.linalg.solve(yy, xy.T) @ left
    right = right / np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", right, yy, right), 1e-300))
    return (
        roots,
        (x - x.mean(axis=0)) @ left * np.sqrt(roots),
        (y - y.mean(axis=0)) @ (right * np.sqrt(roots)),
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([0.01, 0.5]))
def test_the_space_is_that_of_a_literal_analysis(seed, size, ridge):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, size)) / 8
    y = x @ rng.normal(size=(size, size)) / 2 + rng.normal(size=(60, size)) / 8
    y /= np.abs(y).max()
    found = canonical_space(PairSums.empty(size).with_pairs(x, y), ridge)
    roots, own, other = literal_space(x, y, ridge)
    assert found.correlations == pytest.approx(roots, abs=1e-6)
    x, y = np.rint(x * STEPS) / STEPS, np.rint(y * STEPS) / STEPS
    # Signs of variates are free, products are not.
    assert found.utterances(x) @ found.responses(y).T == pytest.approx(own @ other.T, abs=1e-5)


@settings(deadline=None, max_examples=30)
@given(
    arrays(np.float64, (12, 3), elements=st.floats(-1, 1)),
    st.permutations(range(12)),
    st.integers(1, 11),
)
def test_sums_are_the_same_in_any_order_and_in_any_parts(vectors, order, cut):
    other = vectors[:, ::-1]
    whole = PairSums.empty(3).with_pairs(vectors, other)
    parts = PairSums.empty(3)
    for some in (order[:cut], order[cut:]):
        parts = parts.with_pairs(vectors[some], other[some])
    assert parts.pairs == whole.pairs
    for name, array in whole.arrays().items():
        assert np.array_equal(parts.arrays()[name], array)
        assert np.array_equal(array, np.rint(array))


def test_what_belongs_together_is_relevant(model):
    asked, said = zip(*LOGS[:8], strict=True)
    own = model.scores(asked, said)
    others = model.scores(asked, [*said[2:], *said[:2]])
    assert (own > others).all()
    assert (np.abs(own) <= 1).all()
    assert model.scores(["hi"], [" "]).tolist() == [-1.0]
    assert model.scores(["WHERE is it"], ["Over THERE"]) == model.scores(
        ["where is it"], ["over there"]
    )
    assert model.scores([], []).tolist() == []


def test_logs_in_any_order_give_the_same_model(model, tmp_path):
    shuffled = [LOGS[i] for i in np.random.default_rng(1).permutation(len(LOGS))]
    lines = ["utterance\tresponse", *("\t".join(row) for row in shuffled)]
    (tmp_path / "one.tsv").write_text("\n".join(lines[:20]) + "\n")
    (tmp_path / "two.tsv").write_text("\n".join([lines[0], *lines[20:]]) + "\n")
    again = train_relevance(tmp_path)
    assert again.digest == model.digest
    write_relevance(tmp_path / "a.safetensors", model)
    write_relevance(tmp_path / "b.safetensors", again)
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_word_vectors_can_stand_for_an_encoder(tmp_path):
    words = sorted({word for row in LOGS for text in row for word in text.split()})
    rng = np.random.default_rng(0)
    lines = (f"{word} {' '.join(map(str, rng.normal(size=6).round(3)))}" for word in words)
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    model = train_relevance(LOGS, encoder=str(tmp_path / "vectors.txt"))
    assert model.sums.dimension == 6
    asked, said = zip(*LOGS[:8], strict=True)
    assert model.scores(asked, said).mean() > model.scores(asked, said[::-1]).mean()


# --- its file -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "relevance.safetensors"
    write_relevance(path, model)
    return path


def test_a_model_comes_back(model, file):
    read = read_relevance(file)
    assert isinstance(read, RelevanceModel)
    assert (read.digest, read.card, read.encoder) == (model.digest, model.card, "wordllama")
    asked, said = zip(*LOGS[:8], strict=True)
    assert read.scores(asked, said).tolist() == model.scores(asked, said).tolist()
    pytest.importorskip("safetensors")
    from safetensors.numpy import load_file

    assert np.array_equal(load_file(file)["xy"], model.sums.xy)


def rewritten(file, path, **changes):
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + size])
    head["__metadata__"].update(changes)
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "deltableu-rater"}, "no relevance model"),
        ({"format": "other"}, "no relevance model"),
        ({"format_version": "2"}, "newer deltableu"),
        ({"format_version": "x"}, "which is none"),
        ({"pairs": "41"}, "copy it again"),
        ({"pairs": "many"}, "is damaged"),
        ({"ridge": "0.5"}, "copy it again"),
        ({"card": "{}"}, "copy it again"),
    ],
)
def test_another_file_is_told(file, tmp_path, changes, said):
    with pytest.raises(InputError, match=said):
        read_relevance(rewritten(file, tmp_path / "m.safetensors", **changes))


@pytest.mark.parametrize("cut", [0, 5, 100, -8])
def test_a_file_cut_short_is_told(file, tmp_path, cut):
    path = tmp_path / "cut.safetensors"
    path.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"is no whole file|is damaged"):
        read_relevance(path)


def test_what_is_no_file_is_told(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_relevance(tmp_path / "none")
    with pytest.raises(InputError, match="is a folder"):
        read_relevance(tmp_path)


@pytest.mark.parametrize(
    ("logs", "settings", "said"),
    [
        ([("a", "b")], {}, "there are 1"),
        ([("a", "b")] * 5, {}, "all alike"),
        ([("", "b"), ("a", " ")] * 3, {}, "there are 0"),
        (LOGS, {"ridge": 0.0}, "ridge must be a number above 0"),
        (LOGS, {"encoder": "nosuch"}, "unknown encoder"),
    ],
)
def test_logs_that_teach_nothing(logs, settings, said):
    with pytest.raises(InputError, match=said):
        train_relevance(logs, **settings)


# --- the metric -----------------------------------------------------------------------------------


def test_the_metric_is_the_cosine_and_looks_at_no_reference(model, file):
    messages = ["where is the bank ?", "pizza ?"]
    outputs = ["past the bank", ""]
    one, other = (
        Relevance(relevance=given).compute(outputs, ReferenceSet(texts, messages=messages))
        for given, texts in ((model, [["x"], ["y"]]), (str(file), [["a", "b"], ["c"]]))
    )
    assert one.segment_scores().tolist() == other.segment_scores().tolist()
    expected = 100 * model.scores(messages, outputs)
    assert one.segment_scores() == pytest.approx(expected, abs=2e-4)
    assert one.segment_scores()[1] == -100.0
    assert one.score().signature["model"] == model.digest[:12]
    assert str(one.score().signature) == str(other.score().signature)


def test_what_is_missing_is_told(model):
    with pytest.raises(InputError, match="needs a relevance model"):
        Relevance()
    with pytest.raises(InputError, match="must be a model's file"):
        Relevance(relevance=3)
    given = ReferenceSet([["a"], ["b"]], messages=["hi", None])
    with pytest.raises(InputError, match="item '1': has no message"):
        Relevance(relevance=model).compute(["x", "y"], given)


def test_another_encoder_of_the_same_name_is_told(model):
    other = RelevanceModel(model.encoder, "0" * 8, model.ridge, model.sums, {})
    with pytest.raises(InputError, match="other vectors"):
        other.scores(["a"], ["b"])
