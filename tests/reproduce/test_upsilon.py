"""The section on upsilon-BLEU: what raters learn from, how they are judged, what is printed."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace

import numpy as np
import pytest

from deltableu import BLEU, UpsilonBLEU, UpsilonChrF
from deltableu.corpus.references import reference_set
from deltableu.corpus.types import Item, Reference, Study
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.settings import RaterSettings, TrainingSettings
from deltableu.logs import find_partitions
from reproduce import rater_models, upsilon
from reproduce.dialogue_items import dstc7_items, only_originals
from reproduce.rated_outputs import Rated, rated_dstc7
from reproduce.rater_models import (
    LeftOut,
    card_tables,
    text_keys,
    train_models,
    write_positives,
    write_unjudged,
)
from reproduce.response_ratings import Candidates, area, read_candidates, tf_idf_cosines
from reproduce.upsilon_ablations import shuffled
from reproduce.upsilon_scores import Said, agreement_table, scores_of, tables_of
from tests.judges.rater_kit import small_model, small_study

SETTINGS = RaterSettings(embedding=6, hidden=4, layer=6, layers=1, max_length=8)
TRAINING = TrainingSettings(vocabulary="words", epochs=1, validation=8, batch=50)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return small_model(tmp_path_factory.mktemp("model") / "judge.safetensors")


def write_rows(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def write_log(path, topics):
    lines = [f"how is {topic} ?\t{topic} is {word}\n" for topic in topics for word in ("ok", "bad")]
    path.write_text("utterance\tresponse\n" + "".join(lines), "utf-8")


def invented(systems=5, items=12, seed=1):
    """A study, and outputs of systems for it that people rated."""
    study = small_study(items, seed)
    rng = random.Random(seed)
    ids = [item.id for item in study.items]
    texts = [one.text for item in study.items for one in item.references]
    outputs = [rng.choice(texts) for _ in ids * systems]
    names = [f"s{number}" for number in range(systems) for _ in ids]
    mean = np.array([rng.randint(1, 5) + 0.0 for _ in outputs])
    slots = np.array([[rng.randint(1, 5) for _ in range(3)] for _ in outputs])
    return study, Rated(ids * systems, outputs, mean, slots, names)


# what raters learn from


def test_judged_turns_are_left_out(tmp_path):
    """Whatever their case and punctuation; and texts come back as they were."""
    rows = [
        {"context": ["a", "Thank you !"], "positive_responses": ["x", "y"]},
        {
            "context": ["Thank you", "How's it\tgoing?"],
            "positive_responses": ["a\\b", "two\nlines"],
        },
        {"context": ["Thank you so much."], "positive_responses": ["c"]},
    ]
    write_rows(tmp_path / "dailydialogpp" / "data_positives.jsonl.gz", rows)
    path = tmp_path / "log.tsv"
    assert write_positives(tmp_path, path, ["thank YOU", "other"]) == LeftOut(1, 3, 3)
    (partition,) = find_partitions(path)
    (block,) = partition.blocks()
    pairs = [(block.utterances[row], block.responses[row]) for row in range(len(block))]
    assert pairs == [
        ("How's it going?", "a\\b"),
        ("How's it going?", "two lines"),
        ("Thank you so much.", "c"),
    ]


def test_no_judged_turn_is_learnt(data, tmp_path):
    judged = rater_models.evaluated_turns(data)
    assert len(judged) == 100 + 554 + 1028
    found = write_positives(data, tmp_path / "log.tsv", judged)
    assert found == LeftOut(214, 7641, 37_135)
    lines = (tmp_path / "log.tsv").read_text("utf-8").split("\n")[1:-1]
    utterances = text_keys([line.split("\t")[0] for line in lines])
    assert not np.isin(utterances, text_keys(judged)).any()


def test_models_are_trained_once(tmp_path, monkeypatch):
    logs, folder = tmp_path / "logs", tmp_path / "models"
    logs.mkdir()
    write_log(logs / "one.tsv", [f"t{number}" for number in range(60)])
    write_log(logs / rater_models.POSITIVES, [f"p{number}" for number in range(30)])
    monkeypatch.setattr(rater_models, "THREADS", 1)
    options = {"settings": SETTINGS, "training": TRAINING}
    models = train_models(logs, folder, **options)
    assert [model.card["data"]["rows"] for model in models.values()] == [120, 180, 180]
    ways = [model.card["training"]["negatives"] for model in models.values()]
    assert ways == ["matched", "matched", "random"]
    assert len(list(folder.iterdir())) == 3

    lines = list(card_tables(models, "calibrated"))
    assert "| a: five logs | 120 | 60 | 60 | 8 |" in "\n".join(lines)
    tables = [line.count("|") for line in lines if line.startswith("|")]
    assert set(tables) == {10, 8, 11}

    def never(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(rater_models, "train_rater", never)
    again = train_models(logs, folder, **options)
    assert [one.digest for one in again.values()] == [one.digest for one in models.values()]
    with pytest.raises(AssertionError):
        train_models(logs, folder, settings=SETTINGS, training=replace(TRAINING, seed=1))
    write_log(logs / rater_models.POSITIVES, ["other"])
    train_models(logs, folder, plans=rater_models.RATERS[:1], **options)
    with pytest.raises(AssertionError):
        train_models(logs, folder, plans=rater_models.RATERS[1:], **options)


def test_judged_turns_are_left_out_of_logs(tmp_path):
    logs, folder = tmp_path / "logs", tmp_path / "kept"
    logs.mkdir()
    folder.mkdir()
    (logs / "one.tsv").write_text("utterance\tresponse\nHow is A?\tfine\nhow is b\tbad\n")
    (logs / "two.tsv").write_text("utterance\tresponse\nhow is  a\tno idea\n")
    assert write_unjudged(logs, folder, ["how is a!", "who is it"]) == 2
    kept = {path.name: path.read_text() for path in folder.iterdir()}
    assert kept == {
        "one.tsv": "utterance\tresponse\nhow is b\tbad\n",
        "two.tsv": "utterance\tresponse\n",
    }


# how they are judged


def test_area_is_that_of_a_double_loop():
    """And its interval that of contexts drawn again."""
    rng = np.random.default_rng(3)
    good, bad = (rng.integers(0, 6, size=(7, width)) / 5 for width in (2, 3))

    def literal(good, bad):
        won = [(g > b) + (g == b) / 2 for g in good.ravel().tolist() for b in bad.ravel().tolist()]
        return sum(won) / len(won)

    value, low, high = area(good, bad)
    assert value == pytest.approx(literal(good, bad))
    draws = np.random.default_rng(0).multinomial(7, np.full(7, 1 / 7), 1000)
    chosen = [np.repeat(np.arange(7), draw) for draw in draws]
    values = [literal(good[places], bad[places]) for places in chosen]
    assert (low, high) == pytest.approx(tuple(np.quantile(values, (0.025, 0.975))))
    assert area(good + 9, bad) == (1.0, 1.0, 1.0)


def test_word_cosines():
    texts = ["a b b", "A b, b!", "b a", "c d", "..."]
    references = tuple(Reference(f"r{n}", text) for n, text in enumerate(texts))
    other = Item("2", (Reference("r0", "c"), Reference("r1", "c d")))
    (own, far) = tf_idf_cosines(Study((Item("1", references), other)))
    rarity = {"a": np.log(8 / 4), "b": np.log(8 / 4), "c": np.log(8 / 4), "d": np.log(8 / 3)}
    mixed = (rarity["a"] ** 2 + 2 * rarity["b"] ** 2) / np.sqrt(
        (rarity["a"] ** 2 + 4 * rarity["b"] ** 2) * (rarity["a"] ** 2 + rarity["b"] ** 2)
    )
    assert own == pytest.approx([1, 1, mixed, 0, 0])
    assert far == pytest.approx([1, rarity["c"] / np.hypot(rarity["c"], rarity["d"])])


def test_candidates(data):
    found = read_candidates(data)
    assert len(found.study.items) == 1028
    item = found.study.items[0]
    numbers = [list(range(15)) for _ in found.study.items]
    assert found.of_kind("good", numbers)[0].tolist() == [1, 2, 3, 4]
    (place,) = {row[0] for row in found.of_kind("adversarial", numbers).tolist()}
    assert item.references[place].text.startswith("Default, users can select")
    assert {one.origin for one in item.references[1:]} == {"written"}


@pytest.mark.parametrize("rule", ["max", "mean", "first", "second"])
@pytest.mark.parametrize("original", [1.0, "rated"])
def test_all_rules_follow_from_single_triplets(model, rule, original):
    study = small_study(20)
    said = Said.of(model, study)
    for magnitude in ("2p-1", "p"):
        rater = NNRater(model, rule, magnitude, original)
        given = said.weights(rule, magnitude, original)
        for item, own in zip(study.items, given, strict=True):
            assert own == pytest.approx(rater.rate(item, item.references), abs=3e-6)


def test_scores_are_those_of_the_metrics(model):
    study, rated = invented()
    rated = replace(rated, items=rated.items[::-1])
    weights = Said.of(model, study).weights()
    by_id = {item.id: item for item in study.items}
    references = reference_set([by_id[item] for item in rated.items])
    for make in (UpsilonBLEU, UpsilonChrF):
        metric = make(rater=NNRater(model))
        expected = metric.compute(rated.outputs, references).segment_scores()
        assert scores_of(make(), rated, study, weights) == pytest.approx(expected, abs=1e-2)
    plain = BLEU(order=2, smooth="none")
    expected = plain.compute(rated.outputs, references).segment_scores()
    assert scores_of(plain, rated, study).tolist() == list(expected)


def test_nothing_can_be_earned_without_a_good_reference(model):
    study, rated = invented()
    weights = Said.of(model, study).weights()
    weights[0] = [-0.5] * len(weights[0])
    scores = scores_of(UpsilonBLEU(), rated, study, weights)
    first = np.array([item == study.items[0].id for item in rated.items])
    assert not scores[first].any()
    assert scores[~first].any()


def test_shuffled_weights(model):
    said = Said.of(model, small_study(20))
    weights, mixed = said.weights(), shuffled(said, 0)
    assert weights != mixed
    for own, other in zip(weights, mixed, strict=True):
        assert other[0] == own[0] == 1.0
        assert sorted(own) == sorted(other)
    assert shuffled(said, 0) == mixed


# what is printed


def test_tables_of_levels():
    rated = Rated(["a", "b", "b"], ["", "", ""], np.arange(3.0), systems=["x", "x", "y"])
    (whole,) = tables_of(rated, "system", rated.mean)
    assert np.array_equal(whole, [[0, 1], [np.nan, 2]], equal_nan=True)
    (pooled,) = tables_of(rated, "pooled", rated.mean)
    assert sorted(pooled[:, 1].tolist()) == [1, 2]


@pytest.mark.parametrize(("systems", "slots", "columns"), [(2, True, 10), (5, False, 8)])
def test_levels_of_a_set(model, systems, slots, columns):
    """Few systems are not correlated; ratings in slots have a best and a worst one."""
    study, rated = invented(systems)
    rated = rated if slots else replace(rated, slots=None)
    scores = {("all", "BLEU-2, all"): scores_of(BLEU(), rated, study)}
    heading, _, row, _ = agreement_table(rated, scores)
    assert heading.count("|") == row.count("|") == columns + 1
    assert ("systems" in heading) == (systems == 5)


def test_the_whole_section(model, monkeypatch, tmp_path):
    """From rated references to the last table, on invented sets."""
    study, rated = invented()
    plain = only_originals(study)
    for name, result in {
        "read_candidates": Candidates(
            study, {"good": slice(1, 2), "random": slice(2, 3), "adversarial": slice(1, 3)}
        ),
        "rated_multirefeval": {"multirefeval": rated},
        "rated_dstc7": {"dstc7": rated},
        "multirefeval_items": Study(
            tuple(replace(item, references=item.references[:2]) for item in study.items)
        ),
        "dstc7_items": plain,
        "grade_items": plain,
    }.items():
        monkeypatch.setattr(upsilon, name, lambda _, result=result: result)
    monkeypatch.setattr(upsilon, "rated_grade", lambda *_: {"GRADE, chat": rated})
    monkeypatch.setattr(upsilon, "card_tables", lambda *_: ["cards"])
    monkeypatch.setattr("reproduce.upsilon_scores.RESAMPLES", 20)
    monkeypatch.setattr("reproduce.agreement_cells.RESAMPLES", 20)
    studies = {how: {"multirefeval": study, "grade": study} for how in ("one", "other")}
    models = dict.fromkeys("abc", model)
    page = "\n".join(upsilon.page(tmp_path, studies, models, 5, LeftOut(1, 3, 3)))
    assert page.startswith("## upsilon-BLEU")
    assert "{" not in page
    assert "nan" not in page
    headings = [line for line in page.split("\n") if line.startswith("####")]
    assert headings == ["#### multirefeval", "#### GRADE, chat", "#### DSTC7"]
    assert page.count("| written by people | upsilon-BLEU |") == 1
    assert page.count("| **upsilon-chrF** |") == 2
    blocks = [part.split("\n") for part in page.split("\n\n") if part.startswith("|")]
    for block in blocks:
        assert len({line.count("|") for line in block if line}) == 1


def test_dstc7(data):
    study = dstc7_items(data)
    assert len(study.items) == 954
    assert all(item.message for item in study.items)
    assert [one.origin for one in study.items[0].references[:2]] == ["original", "written"]
    (rated,) = rated_dstc7(data).values()
    assert (len(rated.outputs), len(set(rated.systems))) == (8586, 9)
