"""RUBER as a metric: ranges, blends, other referenced scorers, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch")

from deltableu.corpus import Item, Reference, reference_set
from deltableu.errors import InputError
from deltableu.judges import RUBER, Calibration, Range, RuberReferenced, RuberUnreferenced
from deltableu.score import TER, ChrF, DeltaBLEU, score_systems
from tests.judges.rater_kit import said
from tests.judges.ruber_kit import small_scorer, small_vectors


class Overlap:
    signature = "overlap"

    def rate(self, item, references):
        wanted = set(item.references[0].text.split())
        return [1.0 if wanted & set(one.text.split()) else -1.0 for one in references]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return small_scorer(tmp_path_factory.mktemp("model") / "ruber.safetensors")


@pytest.fixture(scope="module")
def study():
    import random

    rng = random.Random(0)
    items = []
    for number in range(12):
        written = Reference("w", said(rng), 0.5, "written")
        original = Reference("r0", said(rng), 1.0, "original")
        items.append(Item(f"q{number}", (written, original), (), said(rng)))
    outputs = {name: [said(rng) for _ in items] for name in ("one", "two", "three")}
    return reference_set(items), outputs


def raw(metric, study):
    references, outputs = study
    encoded = metric.encode(references)
    return {
        name: metric.statistics(texts, encoded).segment_scores() for name, texts in outputs.items()
    }


def segments(metric, study):
    references, outputs = study
    scoring = score_systems(references, outputs, metrics=[metric])
    return {one.system: one.rows.segment_scores() for one in scoring.scores}, scoring


def literal(one, other, blend):
    def normalise(found):
        flat = [score for scores in found.values() for score in scores]
        low, high = min(flat), max(flat)
        return {name: [(x - low) / (high - low) for x in scores] for name, scores in found.items()}

    formula = {
        "arithmetic": lambda a, b: (a + b) / 2,
        "geometric": lambda a, b: math.sqrt(a * b),
        "min": min,
        "max": max,
    }[blend]
    one, other = normalise(one), normalise(other)
    return {
        name: [100 * formula(*pair) for pair in zip(one[name], other[name], strict=True)]
        for name in one
    }


@pytest.mark.parametrize("blend", ["arithmetic", "geometric", "min", "max"])
def test_scores_are_normalised_over_all_systems_and_blended(model, study, blend):
    vectors = small_vectors()
    found, scoring = segments(RUBER(model=model, vectors=vectors, blend=blend), study)
    parts = [RuberReferenced(vectors=vectors), RuberUnreferenced(model=model)]
    wanted = literal(*(raw(part, study) for part in parts), blend)
    for name, scores in wanted.items():
        assert found[name] == pytest.approx(np.array(scores))
    for one in scoring.scores:
        assert one.score.score == pytest.approx(np.mean(wanted[one.system]))
        assert f"|blend:{blend}|range:set|" in str(one.score.signature)
    assert len({str(one.score.signature) for one in scoring.scores}) == 1


def test_only_the_original_reference_counts(model, study):
    references, outputs = study
    metric = RuberReferenced(vectors=small_vectors())
    alone = [[item.references[1].text] for item in references.items]
    for texts in outputs.values():
        found = metric.compute(texts, references).segment_scores()
        assert found.tolist() == metric.compute(texts, alone).segment_scores().tolist()
    every = RuberReferenced(vectors=small_vectors(), all_references=True)
    best = [every.compute(texts, references).segment_scores() for texts in outputs.values()]
    single = [metric.compute(texts, references).segment_scores() for texts in outputs.values()]
    assert (np.array(best) >= np.array(single)).all()
    assert "select:single" in str(metric.compute(outputs["one"], references).score().signature)


def test_upsilon_bleu_in_place_of_word_vectors(model, study):
    named = RUBER(model=model, referenced="upsilon-bleu", rater=Overlap())
    found, scoring = segments(named, study)
    references, outputs = study
    weights = [Overlap().rate(item, item.references) for item in references.items]
    bleu = {
        name: DeltaBLEU().compute(texts, references.texts, weights).segment_scores()
        for name, texts in outputs.items()
    }
    wanted = literal(bleu, raw(RuberUnreferenced(model=model), study), "arithmetic")
    for name, scores in wanted.items():
        assert found[name] == pytest.approx(np.array(scores))
    signature = str(scoring.scores[0].score.signature)
    assert "|referenced:upsilon-bleu|" in signature
    assert "|weights:overlap|" in signature


def test_a_metric_that_falls_is_turned(model, study):
    found, _ = segments(RUBER(model=model, referenced=TER(), blend="min"), study)
    ter = {name: -scores for name, scores in raw(TER(), study).items()}
    wanted = literal(ter, raw(RuberUnreferenced(model=model), study), "min")
    assert found["one"] == pytest.approx(np.array(wanted["one"]))


def test_a_fixed_calibration_does_not_depend_on_what_else_is_scored(model, study):
    references, outputs = study
    for calibration in ("model", Calibration(Range(-20, 90), Range(40, 60))):
        metric = RUBER(model=model, vectors=small_vectors(), calibration=calibration)
        together, scoring = segments(metric, study)
        alone, other = segments(metric, (references, {"two": outputs["two"]}))
        assert alone["two"].tolist() == together["two"].tolist()
        assert scoring.scores[1].score.signature == other.scores[0].score.signature
    metric = RUBER(model=model, vectors=small_vectors())
    alone, other = segments(metric, (references, {"two": outputs["two"]}))
    assert alone["two"].tolist() != segments(metric, study)[0]["two"].tolist()
    assert other.scores[0].score.signature != scoring.scores[1].score.signature


def test_the_model_knows_its_range(model):
    metric = RUBER(model=model, vectors=small_vectors(), calibration="model")
    settings = dict(metric.settings())
    assert settings["range"] == "model"
    assert settings["unreferenced-range"] == "25..75"  # of the card, in percent
    assert settings["referenced-range"] == "-100..100"


def test_equal_scores_are_halves(model, study):
    references, _ = study
    same = [item.references[1].text for item in references.items]

    metric = RUBER(model=model, referenced=ChrF(), blend="min")
    found, scoring = segments(metric, (references, {"one": same}))
    assert (found["one"] <= 50).all()  # the referenced scorer says 100 of everything
    assert found["one"].max() == 50
    assert np.isfinite(scoring.scores[0].score.score)


def test_an_empty_reply_scores_0_and_moves_no_range(model, study):
    references, outputs = study
    for blend in ("arithmetic", "max"):
        metric = RUBER(model=model, vectors=small_vectors(), blend=blend)
        before, _ = segments(metric, study)
        texts = ["", " ", *outputs["three"][2:]]
        more, _ = segments(metric, (references, {**outputs, "gaps": texts}))
        assert more["one"].tolist() == before["one"].tolist()
        assert more["gaps"][:2].tolist() == [0, 0]
        nothing, _ = segments(metric, (references, {"mute": [""] * len(texts)}))
        assert not nothing["mute"].any()


def test_rows_add_up_and_resample(model, study):
    references, outputs = study
    metric = RUBER(model=model, vectors=small_vectors())
    rows = metric.compute(outputs["one"], references)
    assert rows.score().score == pytest.approx(rows.segment_scores().mean())
    assert rows[:4].score().score == pytest.approx(rows.segment_scores()[:4].mean())


def test_other_weights_do_not_move_the_ranges(model, study):
    references, outputs = study
    metric = RUBER(model=model, vectors=small_vectors())
    ready = metric.reweighting(references, list(outputs.values()))
    rows = ready.rows(np.stack([references.flat_weights, -references.flat_weights]))
    found, _ = segments(metric, study)
    for vector in rows:
        assert vector[:, 0, 0] == pytest.approx(found["one"])


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"model": None}, "ruber needs a model: train one"),
        ({"vectors": None}, "needs a file of word vectors"),
        ({"vectors": "nowhere.txt"}, "nowhere.txt"),
        ({"vectors": 3}, "must be a file of word vectors, got 3"),
        ({"model": "nowhere.safetensors"}, "nowhere.safetensors"),
        ({"blend": "mean"}, "blend"),
        ({"pooling": "sum"}, "pooling"),
        ({"calibration": "nowhere"}, "nowhere"),
        ({"calibration": 3}, "calibration must be set, model or a study"),
        ({"referenced": "nobody"}, "unknown metric 'nobody'"),
        ({"referenced": "distinct-1"}, "cannot be the referenced scorer"),
        ({"referenced": ChrF()}, "vectors belong to the referenced metric"),
        ({"referenced": 3}, "must name a metric"),
    ],
)
def test_what_is_refused(model, change, wrong):
    with pytest.raises(InputError, match=wrong):
        RUBER(**{"model": model, "vectors": small_vectors()} | change)


def test_a_metric_without_a_highest_score_needs_a_study(model):
    with pytest.raises(InputError, match="calibrate with a study"):
        RUBER(model=model, referenced="ter", calibration="model")


def test_a_model_without_a_card_knows_no_range(tmp_path):
    bare = small_scorer(tmp_path / "m.safetensors", card={})
    with pytest.raises(InputError, match="without the scores of held-out logs"):
        RUBER(model=bare, vectors=small_vectors(), calibration="model")


def test_texts_that_cannot_be_scored(model, study):
    references, outputs = study
    metric = RUBER(model=model, vectors=small_vectors())
    with pytest.raises(InputError, match="message"):
        metric.compute(["a cat"], [["my cat"]])
    with pytest.raises(InputError, match="a vector for none of the references' words"):
        RuberReferenced(vectors=small_vectors()).encode([["zut alors"]])
    wrong = {**outputs, "bad": [*outputs["one"][:-1], None]}
    with pytest.raises(InputError, match="system 'bad': hypotheses"):
        score_systems(references, wrong, metrics=[metric])


def test_a_message_that_is_blank_is_named(model):
    item = Item("q7", (Reference("r0", "my cat"),), (), " ")
    with pytest.raises(InputError, match="q7"):
        RuberUnreferenced(model=model).compute(["a cat"], reference_set([item]))
