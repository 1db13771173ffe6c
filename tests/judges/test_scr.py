"""scr: every formula against a literal transcription, calibration without outputs, its file."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from deltableu import SCR, score_systems, validate_metrics
from deltableu.corpus import Item, Reference, reference_set
from deltableu.errors import InputError
from deltableu.judges import (
    ScrCalibration,
    explain_scr,
    read_calibration,
    train_relevance,
    write_calibration,
)
from deltableu.judges.balanced_logistic import balanced_logistic
from deltableu.judges.word_space import OfTable, WordSpace
from deltableu.text import Texts, Tokenizer, WordVectors, text_vectors
from tests.cli.conftest import run as run  # a fixture
from tests.judges.test_relevance import LOGS
from tests.uncompiled import run_uncompiled

DEMO = Path(__file__).parents[2] / "examples" / "demo"
TAU = 0.1
WORDS = [
    "the",
    "a",
    "dog",
    "cat",
    "pizza",
    "train",
    "rain",
    "runs",
    "eats",
    "is",
    "late",
    "good",
    "bad",
    ",",
    "?",
]


@pytest.fixture(scope="module")
def model():
    return train_relevance(LOGS)


def random_items(seed, items=7, mined=True, weighted=False):
    """References that share words within an item, now and then the same text twice."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(items):
        topic = rng.choice(len(WORDS), 6)
        references = []
        for place in range(int(rng.integers(2, 5))):
            own = rng.choice(topic, int(rng.integers(2, 7)))
            text = " ".join(WORDS[one] for one in own).capitalize()
            origin = "original" if place == 0 else "mined" if mined else "written"
            weight = None
            if weighted:
                weight = 1.0 if place < 2 else float(rng.choice([-1.0, -0.5, 0.5, 0.25]))
            references.append(Reference(f"r{place}", text, weight, origin))
        made.append(Item(str(number), tuple(references), message=WORDS[number % len(WORDS)]))
    return made


def outputs_of(items, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(WORDS[i] for i in rng.choice(len(WORDS), rng.integers(1, 8))) for _ in items]


# --- literal transcriptions -----------------------------------------------------------------------


def words(text):
    return Tokenizer("13a").tokens(text.lower())


def literal_nakov(own, other):
    """Nakov et al. 2012: one more match, one more n-gram, and a reference longer by one."""
    own, other = words(own), words(other)
    if not own:
        return 0.0
    logs = 0.0
    for order in (1, 2):
        grams, theirs = (
            Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1))
            for text in (own, other)
        )
        logs += log((sum((grams & theirs).values()) + 1) / (grams.total() + 1)) / 2
    length = len(other) + 1
    return exp(logs) * (exp(1 - length / len(own)) if len(own) < length else 1.0)


def f_score(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


class Literal:
    """The design, written down as it is described."""

    def __init__(self, references, weights, originals, others):
        self.texts = [[text.lower() for text in row] for row in references]
        self.weights, self.originals, self.number = weights, originals, others
        every = [set(words(text)) for row in self.texts for text in row]
        counts = Counter(word for row in every for word in row)
        self.idf = lambda word: log((len(every) + 1) / (counts[word] + 1))
        self.encoder = text_vectors("wordllama")
        self.known = {}

    def vector(self, text):
        if text not in self.known:
            self.known[text] = np.asarray(self.encoder.vectors(Texts.of([text]))[0], float)
        return self.known[text]

    def similarities(self, own, other):
        chrf = sacrebleu.CHRF(word_order=2).sentence_score(own, [other]).score / 100
        one, two = words(own), words(other)
        mass = [sum(map(self.idf, text)) for text in (one, two)]
        shared = sum(self.idf(w) * n for w, n in (Counter(one) & Counter(two)).items())
        near = np.array(
            [
                [1.0 if v == w else max(0.0, self.vector(v) @ self.vector(w)) for w in two]
                for v in one
            ]
        )
        precise = sum(self.idf(w) * row.max() for w, row in zip(one, near, strict=True))
        recalled = sum(self.idf(w) * row.max() for w, row in zip(two, near.T, strict=True))
        cosine = self.vector(own) @ self.vector(other)
        return np.array(
            [
                chrf,
                literal_nakov(own, other),
                f_score(shared / mass[0], shared / mass[1]) if min(mass) > 0 else 0.0,
                f_score(precise / mass[0], recalled / mass[1]) if min(mass) > 0 else 0.0,
                cosine,
            ]
        )

    def pool(self, own, item, weights, without=None):
        chosen = [
            (text, weight)
            for place, (text, weight) in enumerate(zip(self.texts[item], weights, strict=True))
            if weight > 0 and place != without
        ]
        if not chosen:
            return None
        total = sum(weight for _, weight in chosen)
        sums = sum(w / total * np.exp(self.similarities(own, r) / TAU) for r, w in chosen)
        return TAU * np.log(sums)

    def good(self, item, originals=True):
        return [
            0.0 if not originals and place == self.originals[item] else max(weight, 0.0)
            for place, weight in enumerate(self.weights[item])
        ]

    def bad(self, item):
        return [max(-weight, 0.0) for weight in self.weights[item]]

    def chance(self, own, item, originals=True):
        """The mean over all other items, of which there are fewer than are sampled."""
        others = [
            i for i in range(len(self.texts)) if sorted(self.texts[i]) != sorted(self.texts[item])
        ]
        found = [self.pool(own, i, self.good(i, originals)) for i in others]
        return np.mean([one for one in found if one is not None], axis=0)

    def features(self, own, item, *, bad=False, without=None, originals=True, at=None):
        own = own.lower()
        at = item if at is None else at
        chance = self.chance(own, item, originals)
        parts = []
        for weights in [self.good(at, originals), self.bad(at)][: 1 + bad]:
            pool = self.pool(own, at, weights, without)
            parts.append(np.zeros(5) if pool is None else pool - chance)
        return np.concatenate(parts)


def literal_coefficients(found, labels, bad):
    """The regression as one function to minimise."""
    spreads = found.std(axis=0)
    scaled = found / np.where(spreads > 0, spreads, 1)
    signs = np.where(labels, 1.0, -1.0)
    counts = np.where(labels, labels.sum(), (~labels).sum())

    def loss(at):
        margins = signs * (scaled @ at[:-1] + at[-1])
        losses = np.logaddexp(0, -margins) * len(labels) / (2 * counts)
        return 0.5 * (at[:-1] ** 2).sum() + 0.1 * losses.sum()

    best = minimize(loss, np.zeros(found.shape[1] + 1), method="BFGS", options={"gtol": 1e-8}).x
    raw = best[:-1] / np.where(spreads > 0, spreads, np.inf)
    raw[:5] = np.maximum(raw[:5], 0)
    raw[5 : 10 if bad else 5] = np.minimum(raw[5 : 10 if bad else 5], 0)
    raw[10 if bad else 5 :] = np.maximum(raw[10 if bad else 5 :], 0)
    return raw


def literal_of(items, metric):
    references = metric.prepare_references(reference_set(items))
    return Literal(references.texts, references.weights, [0] * len(items), 64)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10_000))
def test_features_are_those_of_a_literal_transcription(seed):
    items = random_items(seed, items=4, weighted=seed % 2 == 1)
    outputs = outputs_of(items, seed)
    bad = any((one.weight or 0.0) < 0 for item in items for one in item.references)
    counts = (5.0, 4.0, 3.0, 2.0, 1.0)
    fixed = ScrCalibration(
        counts, tuple(-one for one in counts) if bad else (), None, (), "rated", 0, 0, 0,
        SCR().encoder_label, None,
    )  # fmt: skip
    metric = SCR(calibration=fixed)
    encoded = metric.encode(reference_set(items))
    literal = literal_of(items, metric)
    expected = np.array([literal.features(text, i, bad=bad) for i, text in enumerate(outputs)])
    assert metric.features(outputs, encoded) == pytest.approx(expected, abs=2e-6)
    scores = metric.statistics(outputs, encoded).segment_scores()
    assert scores == pytest.approx(expected @ [*fixed.good, *fixed.bad], abs=1e-4)


@pytest.mark.parametrize("design", ["mined", "rated", "good-bad"])
def test_the_calibration_is_that_of_a_literal_transcription(design, model):
    """With so few items that each reference stands at all others, nothing is left to chance."""
    kinds = {"mined": (True, False), "rated": (False, False), "good-bad": (True, True)}
    mined, weighted = kinds[design]
    items = random_items(5, items=5, mined=mined, weighted=weighted)
    metric = SCR(relevance=model)
    found = metric.calibrate(reference_set(items))
    literal = literal_of(items, metric)
    bad = design == "good-bad"
    rows, labels = [], []
    for i, item in enumerate(items):
        for place, reference in enumerate(item.references):
            weight = literal.weights[i][place]
            if design == "mined" and place > 0:
                continue
            stands = [i] if bad else range(len(items))
            for at in stands:
                without = place if at == i else None
                own = literal.features(
                    reference.text, i, bad=bad, without=without, at=at, originals=design != "mined"
                )
                u = model.scores([items[at].message], [reference.text])
                rows.append(np.concatenate((own, u)))
                labels.append(weight > 0 if bad else at == i)
    expected = literal_coefficients(np.array(rows), np.array(labels), bad)
    given = [*found.good, *found.bad, found.relevance]
    assert found.design == design
    assert found.spreads == pytest.approx(np.array(rows).std(axis=0), abs=1e-6)
    assert given == pytest.approx(expected, rel=1e-3, abs=1e-3)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([0.1, 3.0]))
def test_the_regression_is_at_its_minimum(seed, strength):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(40, 3))
    labels = features[:, 0] + rng.normal(size=40) > 0.5
    if labels.all() or not labels.any():
        return
    found, start = balanced_logistic(features, labels, strength)
    weights = np.where(labels, 20 / labels.sum(), 20 / (~labels).sum())
    chances = 1 / (1 + np.exp(-(features @ found + start)))
    pull = strength * weights * (chances - labels)
    assert found + features.T @ pull == pytest.approx(np.zeros(3), abs=1e-7)
    assert pull.sum() == pytest.approx(0, abs=1e-7)


def test_well_separated_examples_have_a_finite_solution():
    features = np.array([[1000.0], [999.0], [-1000.0], [-5.0]])
    found, start = balanced_logistic(features, np.array([True, True, False, False]), 1.0)
    assert np.isfinite([*found, start]).all()
    assert found[0] > 0


def alignment_inputs():
    rng = np.random.default_rng(0)
    texts = [[str(w) for w in rng.integers(0, 12, n)] for n in (0, 1, 3, 8, 9, 20)]
    numbers = {str(w): w for w in range(10)}  # two words have no vector
    return texts, WordVectors(numbers, rng.normal(size=(10, 7)))


def compared():
    texts, vectors = alignment_inputs()
    space = WordSpace.of(texts, OfTable(vectors))
    numbered = space.numbered(texts)
    owners, chosen = (grid.ravel() for grid in np.indices((6, 6)))
    return np.array(space.compare(numbered, numbered, owners, chosen))


def test_alignment_without_vectors_and_of_empty_texts():
    found = compared()
    assert np.isfinite(found).all()
    shared, aligned = found.reshape(2, 6, 6)
    assert shared[0].tolist() == aligned[0].tolist() == [0.0] * 6
    assert np.diagonal(shared)[1:] == pytest.approx(1.0)
    assert np.diagonal(aligned)[1:] == pytest.approx(1.0)
    assert (aligned >= shared - 1e-9).all()


def test_the_kernel_uncompiled():
    script = (
        "import json; from tests.judges.test_scr import compared;"
        "print(json.dumps(compared().tolist()))"
    )
    found = run_uncompiled(script, warnings="ignore")
    assert np.array(found) == pytest.approx(compared(), abs=1e-6)


# --- what may not change anything -----------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_depends_on_the_order_of_references_or_items(model, weighted):
    items = random_items(2, items=8, mined=False, weighted=weighted)
    outputs = outputs_of(items, 1)
    metric = SCR(relevance=model, others=4, draws=2, pseudo_outputs=20)
    rows = metric.compute(outputs, reference_set(items))
    turned = [replace(item, references=item.references[::-1]) for item in items]
    again = metric.compute(outputs, reference_set(turned))
    assert again.segment_scores() == pytest.approx(rows.segment_scores(), abs=1e-9)
    order = np.random.default_rng(0).permutation(len(items))
    shuffled = metric.compute([outputs[i] for i in order], reference_set([items[i] for i in order]))
    assert shuffled.segment_scores() == pytest.approx(rows.segment_scores()[order], abs=1e-9)


def test_the_calibration_comes_from_a_seed():
    references = reference_set(random_items(3, items=12, mined=False))
    few = {"others": 4, "draws": 2, "pseudo_outputs": 10}
    one, same, other = (SCR(seed=s, **few).calibrate(references) for s in (0, 0, 1))
    assert one == same
    assert one != other
    assert one.pseudo_outputs == 10


def test_threads_change_nothing():
    references = reference_set(random_items(4, items=6))
    one, other = (SCR().encode(references, threads=n).extra.calibration for n in (1, 3))
    assert one == other


def test_outputs_and_their_ratings_are_never_seen(demo_study):
    study = demo_study
    rng = np.random.default_rng(0)
    plain = score_systems(study, metrics=[SCR()])
    systems = list(study.outputs)
    shuffled = {
        name: [study.outputs[name][i] for i in rng.permutation(len(study.items))]
        for name in systems
    }
    values = [one.value for one in study.ratings]
    ratings = [
        replace(one, value=values[i])
        for one, i in zip(study.ratings, rng.permutation(len(values)), strict=True)
    ]
    other = score_systems(replace(study, outputs=shuffled, ratings=tuple(ratings)), metrics=[SCR()])
    first, second = (one.scores[0].score.signature["coefficients"] for one in (plain, other))
    assert first == second
    assert plain.scores[0].score.score != other.scores[0].score.score


@pytest.fixture(scope="module")
def demo_study():
    from deltableu import read_study

    return read_study(DEMO)


def test_parts_of_a_study_score_as_all_of_it_once_the_metric_is_fitted(model):
    items = random_items(6, items=9)
    outputs = outputs_of(items, 6)
    references = reference_set(items)
    fitted = SCR(relevance=model, others=4).fitted_to(references)
    whole = fitted.compute(outputs, references)
    for some in ([0], [3, 5], [8, 1]):
        part = fitted.compute([outputs[i] for i in some], references.take(some))
        assert part.segment_scores() == pytest.approx(whole.segment_scores()[some], abs=1e-12)
        assert part.score().signature["background"] == whole.score().signature["background"]


def test_some_references_are_scored_with_the_calibration_of_all():
    """One reference has nothing to calibrate on, and chance is still that of other items."""
    references = reference_set(random_items(6, items=9))
    fitted = SCR(others=4).fitted_to(references)
    outputs = outputs_of(range(9), 6)
    for chosen in ("single", "all"):
        encoded = fitted.encode(references.select(chosen))
        given = encoded.extra.given
        compared = given.background.of_each(given.names, given.ids)
        for item, places in enumerate(compared):
            assert str(item) not in {given.background.ids[place] for place in places}
        assert np.isfinite(fitted.statistics(outputs, encoded).segment_scores()).all()
    with pytest.raises(InputError, match="no item has two"):
        SCR().encode(references.select("single"))


def test_metrics_are_fitted_before_references_are_selected(run):
    """By every way in: `single` leaves nothing to calibrate on."""
    references = reference_set(random_items(6, items=9))
    outputs = {"one": outputs_of(range(9), 6), "two": outputs_of(range(9), 7)}
    metric = SCR(others=4)
    found = score_systems(references, outputs, metric, select="single")
    fitted = metric.fitted_to(references)
    expected = score_systems(references.select("single"), outputs, fitted)
    assert str(found.scores[0].score.signature) == str(expected.scores[0].score.signature)
    people = {name: [float(len(text)) for text in texts] for name, texts in outputs.items()}
    rows = [list(row) for row in references.texts]
    found = validate_metrics(outputs, people, references=rows, metrics=metric, select="single")
    plain = score_systems(outputs, references=rows, metrics=metric, select="single")
    assert list(found.signatures.values()) == [str(plain.scores[0].score.signature)]
    shown = run("validate", DEMO, "--select", "single", "--metrics", "scr",
                "--levels", "pooled", "--no-sentinels")  # fmt: skip
    assert shown.code == 0, shown.err


def test_items_without_a_good_reference_can_be_left_out():
    items = random_items(2, items=8, weighted=True)
    bad = Item("8", (Reference("r0", "rain", -1.0),))
    scored = score_systems(
        reference_set([*items, bad]),
        {"s": outputs_of(range(9), 1)},
        [SCR()],
        no_positive="skip",
    )
    assert scored.dropped == ("8",)
    plain = score_systems(reference_set(items), {"s": outputs_of(range(9), 1)[:8]}, [SCR()])
    assert scored.scores[0].score.score == plain.scores[0].score.score
    with pytest.raises(InputError, match="item '8': has no reference with a weight above 0"):
        score_systems(reference_set([*items, bad]), {"s": outputs_of(range(9), 1)}, [SCR()])


# --- files and errors -----------------------------------------------------------------------------


def test_a_calibration_comes_back_and_fixes_scores(tmp_path, model):
    items, others = random_items(1, items=8), random_items(2, items=8)
    found = SCR(relevance=model).calibrate(reference_set(items))
    path = tmp_path / "calibration.json"
    write_calibration(path, found)
    assert read_calibration(path) == found
    references = reference_set(others)
    fixed = SCR(relevance=model, calibration=path).compute(outputs_of(others, 1), references)
    free = SCR(relevance=model).compute(outputs_of(others, 1), references)
    assert fixed.score().signature["calibration"] == found.digest
    assert free.score().signature["calibration"] != found.digest
    (table,) = found.tables()
    assert len(table.rows) == 6
    with pytest.raises(InputError, match=r"was made with the model .* \(--relevance\)"):
        SCR(calibration=path)
    with pytest.raises(InputError, match="calibrate with them"):
        SCR(relevance=model, calibration=path, encoder="tests.judges.test_scr:no_vectors")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.update(format="x"), "no calibration of scr"),
        (lambda r: r.update(format_version=2), "another version"),
        (lambda r: r.update(design="x"), "is damaged"),
        (lambda r: r["coefficients"].pop(), "is damaged"),
        (lambda r: r["coefficients"][0].update(coefficient=-1), "none that calibrating gives"),
        (lambda r: r["coefficients"][0].update(coefficient=99), "was edited"),
        (lambda r: r["coefficients"][0].update(coefficient="x"), "is damaged"),
    ],
)
def test_a_damaged_calibration_is_told(tmp_path, change, said):
    path = tmp_path / "calibration.json"
    write_calibration(path, SCR().calibrate(reference_set(random_items(1, items=6))))
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=said):
        read_calibration(path)
    path.write_text("no json")
    with pytest.raises(InputError, match="is no JSON"):
        read_calibration(path)
    with pytest.raises(InputError, match="there is no such file"):
        read_calibration(tmp_path / "none.json")


SAME = [["the dog eats", "the dog runs"]]


@pytest.mark.parametrize(
    ("references", "weights", "said"),
    [
        (SAME, None, "there is one item"),
        (SAME * 3, None, "all items have the same references"),
        ([["a dog"], ["a cat"]], None, "no item has two"),
        (
            [["a", "b"], ["c", "d"]],
            [[1, 0], [-1, -0.5]],
            "item '1': has no reference with a weight",
        ),
        ([["a b", "c d"], ["e f", "g h"]], None, "nothing can be calibrated"),
        ([], None, "no references were given"),
    ],
)
def test_references_that_tell_nothing(references, weights, said):
    vectors = WordVectors({"zz": 0}, np.ones((1, 2)))
    metric = SCR(encoder="tests.judges.test_scr:no_vectors", vectors=vectors)
    with pytest.raises(InputError, match=said):
        metric.encode(references, weights)


def no_vectors(texts):
    """An encoder that has nothing to say."""
    return np.zeros((len(texts), 2))


def test_an_empty_pool_is_as_near_as_chance():
    """An item with one good reference has none beside it, one without bad ones has no bad pool."""
    items = random_items(2, items=8, weighted=True)
    alone = Reference("r0", "rain , rain", 1.0, "original")
    references = reference_set([*items, Item("8", (alone,), message="x")])
    encoded = SCR().encode(references)
    found = SCR().features(["rain"] * 9, encoded)
    assert encoded.extra.calibration.design == "good-bad"
    assert found[8, 5:].tolist() == [0.0] * 5
    assert found[8, :5].any()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tau": 0}, "tau must be a number above 0"),
        ({"original_share": 1}, "original_share must lie between 0 and 1"),
        ({"negatives": "drop"}, "negatives must be one of"),
        ({"others": 0}, "others must be at least 1"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"pseudo_outputs": 0}, "pseudo_outputs must be at least 1"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"encoder": "nosuch"}, "unknown encoder"),
        ({"vectors": 3}, "vectors must be a file"),
        ({"vectors": "nosuch.txt"}, "there is no such file"),
        ({"relevance": "nosuch"}, "there is no such file"),
        ({"calibration": "nosuch.json"}, "there is no such file"),
        ({"calibration": 3}, "calibration must be set, a file or a study"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(InputError, match=said):
        SCR(**settings)


def test_a_message_is_needed_where_relevance_counts(model):
    with pytest.raises(InputError, match="needs the message"):
        SCR(relevance=model).encode([["a b", "a c"], ["d e", "d f"]])


def test_negatives_can_be_ignored():
    references = reference_set(random_items(2, items=8, weighted=True))
    assert SCR(negatives="ignore").calibrate(references).design == "rated"
    assert SCR(negatives="ignore").calibrate(references).bad == ()


# --- explanations, other commands -----------------------------------------------------------------


def test_an_explanation_adds_up(model):
    items = random_items(2, items=8, weighted=True)
    outputs = outputs_of(items, 3)
    references = reference_set(items)
    scores = SCR(relevance=model).compute(outputs, references).segment_scores()
    for index in (0, 7):
        found = explain_scr(SCR(relevance=model), outputs[index], references, index)
        assert found.score == pytest.approx(scores[index], abs=1e-9)
        assert sum(one.adds for one in found.parts) == pytest.approx(found.score, abs=1e-9)
        assert sum(one[2] for one in found.references) == pytest.approx(1.0)
        assert found.sentence().startswith(f"Item {index}: ")
        assert len(found.tables()) == (3 if found.words else 2)


def test_candidates_of_one_item_have_no_chance_term():
    from deltableu.tune.mbr_utilities import utility_of

    with pytest.raises(InputError, match="scr looks at the references of all items"):
        utility_of(SCR())
