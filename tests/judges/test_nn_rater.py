"""The neural rater, with a real network of random parameters."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from deltableu.corpus.types import Item, Reference, Source
from deltableu.errors import InputError
from deltableu.judges.combination import combined_weights
from deltableu.judges.model_file import read_model
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.rater import Rater, rate_batch, rater_signature
from deltableu.score import make_metrics
from tests.judges.rater_kit import SETTINGS, WORDS, small_model, small_state, small_study


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "judge.safetensors"
    small_model(path)
    return path


@pytest.fixture
def rater(file):
    return NNRater.load(file)


@cache
def torch_probabilities(texts):
    """P(class) of a triplet by torch's own GRU and layers, one text after the other."""
    import torch

    state = {name: torch.from_numpy(array) for name, array in small_state().items()}
    gru = torch.nn.GRU(SETTINGS.embedding, SETTINGS.hidden, bidirectional=True)
    gru.load_state_dict({n.removeprefix("gru."): t for n, t in state.items() if "gru." in n})
    vectors = []
    for text in texts:
        numbers = [WORDS.index(word) + 2 if word in WORDS else 1 for word in text.split()]
        words = state["embedding.weight"][numbers[: SETTINGS.max_length]]
        vectors.append(gru(words)[1].reshape(-1) if numbers else torch.zeros(2 * SETTINGS.hidden))
    value = torch.cat(vectors)
    for layer in range(SETTINGS.layers + 1):
        value = state[f"network.{2 * layer}.weight"] @ value + state[f"network.{2 * layer}.bias"]
        value = value.relu() if layer < SETTINGS.layers else value.softmax(0)
    return value.tolist()


def literal(item, reference, **rule):
    """The weight of one reference, from the paper's description."""
    first = next((one for one in item.references if one.origin == "original"), item.references[0])
    if reference.id == first.id:
        return 1.0
    mined = reference.origin in ("mined", "random")
    utterance = reference.source.utterance if mined else item.message
    triplets = [
        (item.message, first.text, reference.text),
        (utterance, reference.text, first.text),
    ]
    (weight,) = combined_weights([[torch_probabilities(one) for one in triplets]], **rule)
    return weight


@pytest.mark.parametrize("triplets", ["max", "mean", "first", "second"])
@pytest.mark.parametrize("magnitude", ["2p-1", "p"])
def test_weights_are_what_the_paper_says(file, triplets, magnitude):
    rule = {"triplets": triplets, "magnitude": magnitude}
    rater = NNRater.load(file, **rule)
    seen = []
    for item in small_study(10).items:
        weights = rater.rate(item, item.references)
        expected = [literal(item, one, **rule) for one in item.references]
        assert weights == pytest.approx(expected, abs=2e-6)
        seen += weights
    assert len(set(seen)) > 30
    assert min(seen) < -0.2
    assert max(weight for weight in seen if weight < 1) > 0.2


def test_a_batch_is_as_one_after_the_other(file, rater):
    items = small_study(40).items
    batch = [(item, item.references) for item in items]
    alone = [rater.rate(item, references) for item, references in batch]
    whole = rater.rate_items(batch)
    small = NNRater.load(file, batch=7).rate_items(batch)
    for one, two, three in zip(alone, whole, small, strict=True):
        assert one == pytest.approx(two, abs=2e-6)
        assert one == pytest.approx(three, abs=2e-6)
    assert rater.rate_items(batch) == whole
    assert rater.rate_items([]) == []


@pytest.mark.parametrize("words", [1, 10, 100])
def test_texts_read_in_parts(rater, words, monkeypatch):
    batch = [(item, item.references) for item in small_study(15).items]
    whole = rater.rate_items(batch)
    monkeypatch.setattr("deltableu.neural.model_reading.WORDS", words)
    for one, two in zip(rater.rate_items(batch), whole, strict=True):
        assert one == pytest.approx(two, abs=2e-6)


def test_some_of_an_items_references(rater):
    item = small_study(1).items[0]
    weights = dict(zip(item.references, rater.rate(item, item.references), strict=True))
    some = item.references[:0:-2]
    assert rater.rate(item, some) == pytest.approx([weights[one] for one in some], abs=2e-6)
    assert rater.rate(item, []) == ()
    assert rater.rate(item, item.references[:1]) == (1.0,)


def test_texts_are_encoded_once(rater, monkeypatch):
    items = small_study(5).items
    read = []
    kind = type(rater.model.vocabulary)
    encode = kind.encode
    monkeypatch.setattr(
        kind, "encode", lambda self, texts: read.append(texts) or encode(self, texts)
    )
    rater.rate_items([(item, item.references) for item in items * 3])
    assert len(read) == 1
    assert len(set(read[0])) == len(read[0])


# --- which pair a reference is --------------------------------------------------------------------

MINED = Reference("m", "on the table", None, "mined", Source("who knows"))


def item_with(*references, message="where is my tea"):
    return Item("q", references, (), message)


def test_the_original_reference(file):
    first = Reference("a", "in the kitchen", origin="written")
    own = Reference("b", "i do not know")
    item = item_with(first, own, MINED)
    assert NNRater.load(file).rate(item, item.references)[1] == 1.0
    assert NNRater.load(file, original=0.5).rate(item, item.references)[1] == 0.5
    rated = NNRater.load(file, original="rated").rate(item, item.references)
    triplet = torch_probabilities((item.message, own.text, own.text))
    assert rated[1] == pytest.approx(combined_weights([[triplet] * 2])[0], abs=2e-6)
    assert rated[::2] == NNRater.load(file).rate(item, item.references)[::2]
    without = item_with(first, MINED)
    assert NNRater.load(file).rate(without, without.references)[0] == 1.0


def test_parrots_and_written_ones_answer_the_message(rater):
    own = Reference("o", "in the kitchen")
    item = item_with(own, MINED)
    answers = [replace(MINED, id="x", source=Source(item.message), text=item.message)]
    answers += [replace(answers[0], origin=origin) for origin in ("parrot", "written", "original")]
    answers += [replace(answers[0], origin="parrot", source=Source("ignored"))]
    weights = rater.rate(item, answers)
    assert len(set(weights)) == 1
    assert weights[0] == pytest.approx(literal(item, answers[0]), abs=2e-6)


def test_texts_of_unknown_words_or_none_and_long_ones(rater):
    own = Reference("o", "in the kitchen")
    texts = ["", "ünheard of", " ".join(WORDS * 5), "!!!"]
    item = item_with(own, *(Reference(f"w{i}", t, None, "written") for i, t in enumerate(texts)))
    weights = rater.rate(item, item.references)
    known = [*item.references[:4]]
    assert weights[:4] == pytest.approx([literal(item, one) for one in known], abs=2e-6)
    assert weights[4] == weights[1]


@pytest.mark.parametrize("origin", ["mined", "random"])
@pytest.mark.parametrize("source", [None, Source(id="log-1"), Source(" ")])
def test_without_an_utterance(origin, source, file):
    item = item_with(Reference("o", "in the kitchen"), replace(MINED, origin=origin, source=source))
    for triplets in ("max", "mean", "second"):
        with pytest.raises(
            InputError, match=rf"^item 'q': the {origin} reference 'm' does not say"
        ):
            NNRater.load(file, triplets=triplets).rate(item, item.references)
    first = NNRater.load(file, triplets="first")
    whole = item_with(item.references[0], replace(MINED, origin=origin))
    assert first.rate(item, item.references) == first.rate(whole, whole.references)


@pytest.mark.parametrize("message", [None, "", "  "])
def test_without_a_message(rater, message):
    item = item_with(Reference("o", "in the kitchen"), message=message)
    with pytest.raises(InputError, match=r"^item 'q': has no message, which this rater needs$"):
        rater.rate(item, item.references)


def test_without_a_reference(rater):
    with pytest.raises(InputError, match=r"^item 'q': has no reference$"):
        rater.rate(item_with(), [])


# --- what it says of itself -----------------------------------------------------------------------


def test_the_signature(file, tmp_path):
    digest = NNRater.load(file).model.digest[:12]
    assert rater_signature(NNRater.load(file)) == f"nn-rater:{digest},max,2p-1,original=1"
    other = NNRater.load(file, triplets="mean", magnitude="p", original="rated", batch=3)
    assert other.signature == f"nn-rater:{digest},mean,p,original=rated"
    assert NNRater.load(file, original=0.75).signature.endswith("original=0.75")
    small_model(tmp_path / "other", seed=1)
    assert NNRater.load(tmp_path / "other").signature != NNRater.load(file).signature
    assert isinstance(NNRater.load(file), Rater)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"triplets": "most"}, "^triplets must be one of max, mean, first, second, got 'most'"),
        ({"magnitude": "1-p"}, "^magnitude must be one of 2p-1, p, got '1-p'"),
        ({"original": 1.5}, r"^original: must be a number in \[-1, 1\] or 'rated', got 1.5"),
        (
            {"original": float("nan")},
            r"^original: must be a number in \[-1, 1\] or 'rated', got nan",
        ),
        ({"original": "kept"}, r"^original: must be a number in \[-1, 1\] or 'rated', got 'kept'"),
        ({"batch": 0}, "^batch must be at least 1, got 0"),
    ],
)
def test_bad_settings(file, options, sentence):
    with pytest.raises(InputError, match=sentence):
        NNRater.load(file, **options)


def test_no_torch(file, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"needs torch: run pip install 'deltableu\[neural\]'"):
        NNRater.load(file)


# --- any rater ------------------------------------------------------------------------------------


class Constant:
    def __init__(self, *weights):
        self.weights = weights

    def rate(self, item, references):
        return self.weights


class Together(Constant):
    signature = "together"

    def rate_items(self, batch):
        return self.weights

    def rate(self, item, references):
        pytest.fail("the items are to be rated together")


BATCH = [(item, item.references[:2]) for item in small_study(2, seed=5).items]


def test_one_after_the_other_or_together():
    assert rate_batch(Constant(1, np.float32(0.5)), BATCH) == [(1.0, 0.5)] * 2
    assert rate_batch(Together([1, 0], np.array([0.5, -1])), BATCH) == [(1.0, 0.0), (0.5, -1.0)]
    assert rate_batch(Constant(1, 1), []) == []
    name = rater_signature(Constant(1))
    assert name.endswith("test_nn_rater.Constant")
    assert rater_signature(Together()) == "together"


@pytest.mark.parametrize(
    ("rater", "sentence"),
    [
        (Constant(1), r"^item 'q0': the judge \S+Constant gave 1 weights for 2 references"),
        (Constant(1, 1.5), "^item 'q0': .* gave reference 'r1' the weight 1.5, which does not lie"),
        (Constant(float("nan"), 1), "^item 'q0': .* gave reference 'r0' the weight nan"),
        (Constant("a", 1), r"^item 'q0': .* gave no list of numbers, but \('a', 1\)"),
        (Together([1, 1]), "^the judge together gave weights for 1 items when asked for 2"),
        (Together([1, 1], [1]), "^item 'q1': the judge together gave 1 weights for 2 references"),
        (
            Together([1, 1], None),
            "^item 'q1': the judge together gave no list of numbers, but None",
        ),
    ],
)
def test_raters_that_do_not_do_it_well(rater, sentence):
    with pytest.raises(InputError, match=sentence):
        rate_batch(rater, BATCH)


def test_raters_that_fail():
    class Failing(Constant):
        def rate(self, item, references):
            raise RuntimeError("no connection")

    class FailingTogether(Together):
        def rate_items(self, batch):
            raise KeyError("model")

    with pytest.raises(
        InputError, match=r"^item 'q0': the judge .*Failing failed: RuntimeError: no"
    ):
        rate_batch(Failing(), BATCH)
    with pytest.raises(
        InputError, match=r"^the judge together failed on items 'q0' to 'q1': KeyErr"
    ):
        rate_batch(FailingTogether(), BATCH)
    strange = Constant(1, 1)
    strange.signature = 3
    with pytest.raises(InputError, match=r"^the signature of the judge Constant is no text, but 3"):
        rater_signature(strange)


def test_shuffled_items_get_the_same_weights(rater):
    items = list(small_study(30).items)
    before = dict(
        zip(
            [i.id for i in items], rater.rate_items([(i, i.references) for i in items]), strict=True
        )
    )
    random.Random(3).shuffle(items)
    for item, weights in zip(
        items, rater.rate_items([(i, i.references) for i in items]), strict=True
    ):
        assert weights == pytest.approx(before[item.id], abs=2e-6)


def test_a_model_is_read_once_until_its_file_changes(tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    small_model(path)
    read = []
    monkeypatch.setattr(
        "deltableu.judges.model_reading.read_model",
        lambda path: read.append(path) or read_model(path),
    )
    settings = {"rater": str(path), "triplets": "first"}
    bleu, chrf = make_metrics(["upsilon-bleu", "upsilon-chrf"], settings)
    other = NNRater.load(path, triplets="mean")
    assert len(read) == 1
    small_model(path, seed=5)
    assert NNRater.load(path).signature != other.signature
    assert len(read) == 2
    del bleu, chrf, other
    small_model(path)
    NNRater.load(path)
    NNRater.load(path)
    assert len(read) == 4  # nobody held it
