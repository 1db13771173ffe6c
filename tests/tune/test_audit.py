"""The gaming audit: attacks find what they may look at, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import deltableu
from deltableu import read_study, reference_set
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score import make_metrics
from deltableu.tune import ATTACKS, audit_metrics

ITEMS = 12


@pytest.fixture(scope="module")
def secrets():
    """Items whose references share some words; one word of each is nowhere else."""
    texts = [[f"well secret{item} it is", f"oh secret{item} so it seems"] for item in range(ITEMS)]
    weights = [[1.0, 0.5]] * ITEMS
    messages = [f"what about topic{item} then" for item in range(ITEMS)]
    return ReferenceSet(texts, weights, messages=messages, item_ids=[*map(str, range(ITEMS))])


@pytest.fixture(scope="module")
def outputs():
    return {
        "good": [f"well it is topic{item}" for item in range(ITEMS)],
        "bad": [f"purple {item}" for item in range(ITEMS)],
    }


@pytest.fixture(scope="module")
def audits(secrets, outputs):
    found = audit_metrics(secrets, ["delta-bleu", "chrf", "ter"], outputs=outputs, trials=40)
    return {one.metric: one for one in found.metrics}


def test_every_attack_is_made(audits):
    for one in audits.values():
        assert [attack.attack for attack in one.attacks] == [attack.name for attack in ATTACKS]
        assert one.missing == {}
        assert set(one.systems) == {"good", "bad"}
        assert one.left_out.items == ITEMS


def test_scores_are_those_of_the_texts(audits, secrets, outputs):
    for metric in make_metrics(["delta-bleu", "chrf", "ter"], {}):
        encoded = metric.encode(secrets)
        found = audits[metric.name]
        for one in found.attacks:
            assert one.score == pytest.approx(
                metric.statistics(list(one.texts), encoded).score().score
            )
        for name, score in found.systems.items():
            assert score == metric.statistics(outputs[name], encoded).score().score


def test_only_the_oracle_says_what_only_the_references_of_an_item_say(audits):
    for one in audits.values():
        for attack in one.attacks:
            known = [
                item for item, text in enumerate(attack.texts) if f"secret{item}" in text.split()
            ]
            assert bool(known) == (attack.sees == "own references"), attack.attack


@pytest.mark.parametrize("item", [0, 7])
def test_other_references_of_an_item_leave_what_is_said_to_it(audits, secrets, outputs, item):
    """But for the oracle: nothing about an item's references reaches the attacks on it."""
    texts = [list(row) for row in secrets.texts]
    texts[item] = ["purple purple", "something else altogether , and longer"]
    changed = audit_metrics(
        replace(secrets, texts=texts), ["delta-bleu", "chrf"], outputs=outputs, trials=40
    )
    for one in changed.metrics:
        before = {attack.attack: attack.texts for attack in audits[one.metric].attacks}
        for attack in one.attacks:
            same = attack.texts[item] == before[attack.attack][item]
            assert same == (attack.sees != "own references"), attack.attack


def test_a_seed_says_what_is_found(audits, secrets, outputs):
    again = audit_metrics(secrets, ["chrf", "delta-bleu"], outputs=outputs, trials=40, seed=0)
    # Other metrics beside it, or their order, change nothing.
    for one in again.metrics:
        assert one == audits[one.metric]
    other = audit_metrics(secrets, ["chrf"], outputs=outputs, trials=40, seed=1)
    texts = {one.attack: one.texts for one in other.metrics[0].attacks}
    assert any(one.texts != texts[one.attack] for one in audits["chrf"].attacks)


def test_a_search_takes_the_best_text_of_the_half_that_it_knows(secrets, outputs):
    metric = deltableu.ChrF()
    found = audit_metrics(secrets, [metric], outputs=outputs, trials=500, seed=3).metrics[0]
    (generic,) = [one for one in found.attacks if one.attack == "generic answer"]
    halves = np.array_split(np.random.default_rng(3).permutation(ITEMS), 2)
    for known, asked in (halves, halves[::-1]):
        places = sorted(known.tolist())
        texts = {text for place in places for text in secrets.texts[place]}
        texts |= {system[place] for system in outputs.values() for place in places}
        rest = secrets.take(places)
        scores = {text: metric.compute([text] * 6, rest).score().score for text in texts}
        said = {generic.texts[place] for place in asked}
        assert len(said) == 1
        assert scores[said.pop()] == max(scores.values())


def test_more_trials_assemble_better_answers_on_the_demo(demo):
    study = read_study(demo)
    few, many = (audit_metrics(study, ["bleu-2"], trials=n).metrics[0] for n in (3, 90))
    scores = [
        {one.attack: one.score for one in found.attacks}["assembled answer"]
        for found in (few, many)
    ]
    assert scores[0] < scores[1]


def test_the_demo_says_what_weights_are_good_for(demo):
    """The message is one of the references: BLEU takes it for a good one."""
    found = audit_metrics(read_study(demo), ["delta-bleu", "bleu-2"], trials=30)
    delta, bleu = found.metrics
    assert (bleu.best.attack, bleu.best.score, bleu.exploitability) == ("parrot", 100.0, 1.0)
    assert delta.best.attack != "parrot"
    assert delta.exploitability < 1.0
    assert found.most_exploitable() is bleu
    first, *others = found.sentences()
    assert first == (
        "bleu-2 is gamed most easily: an attack that does not know the answers reaches 6 of 6 "
        "systems."
    )
    assert others[1].startswith(
        "bleu-2: parrot (the whole message) scores 100.00, which reaches 6 of 6 systems (human has"
    )


def test_metrics_that_are_gamed_alike_share_a_sentence(demo):
    found = audit_metrics(read_study(demo), ["bleu-2", "delta-bleu", "chrf"], trials=5)
    first, *others = found.sentences()
    assert first.startswith("bleu-2 and chrf are gamed most easily: an attack")
    assert [one.partition(":")[0] for one in others] == ["bleu-2 and chrf", "delta-bleu-2"]
    bleu, _, chrf = found.metrics
    assert others[0].startswith(
        f"bleu-2 and chrf: parrot (the whole message) scores {bleu.best.score:.2f} and "
        f"{chrf.best.score:.2f}, which reaches 6 of 6 systems ("
    )


def test_where_lower_is_better_the_lowest_score_is_the_best(audits):
    found = audits["ter"]
    blind = [one.score for one in found.attacks if one.sees == "other items"]
    assert found.best.score == min(blind)
    kinds = [row[2] for row in found.rows()]
    assert kinds == sorted(kinds)
    assert found.beaten(0.0) == 2
    assert found.beaten(1e9) == 0


def test_what_a_study_lacks_is_said():
    texts = [[f"a b {item}"] for item in range(5)]
    found = audit_metrics(ReferenceSet(texts), ["bleu-2"], trials=10)
    one = found.metrics[0]
    assert one.missing == {
        "parrot": "not every item has a message",
        "shuffled outputs": "the study has no outputs",
        "joined outputs": "the study has no two systems",
    }
    assert one.left_out is None
    assert one.best_system is None
    assert found.sentences()[0].startswith("bleu-2: ")
    assert found.table().records()[0]["reaches"] == "0 of 0"


def test_languages_without_spaces_are_cut_into_characters():
    texts = [[f"我不知道他们在哪里{end}", f"今天天气真的很好很好{end}"] for end in "一二三四五六"]
    found = audit_metrics(ReferenceSet(texts), ["chrf"], trials=20).metrics[0]
    assert all(" " not in text for one in found.attacks for text in one.texts)
    assert found.best.score > 20


def test_items_that_cannot_be_scored_are_left_out(secrets, outputs):
    weights = [list(row) for row in secrets.weights]
    weights[2] = [-0.5, -1.0]
    given = replace(secrets, weights=weights)
    found = audit_metrics(given, ["delta-bleu", "chrf"], outputs=outputs, trials=10)
    assert (found.items, found.dropped) == (ITEMS - 1, 1)
    assert all(len(one.texts) == ITEMS - 1 for one in found.metrics[0].attacks)


def test_what_cannot_be_audited_is_said(secrets, demo):
    def said(*arguments, **settings):
        with pytest.raises(InputError) as found:
            audit_metrics(*arguments, **settings)
        return str(found.value)

    assert "an audit needs 4 items" in said(secrets.take([0, 1, 2]), ["bleu"])
    assert said(secrets, ["bleu"], outputs={"s": ["x"]}).startswith("s has 1 outputs for 12 items")
    assert "trials must be at least 1" in said(secrets, ["bleu"], trials=0)
    assert "needs a weight for every reference" in said(ReferenceSet([["x"]] * 5), ["delta-bleu"])
    assert "unknown metric" in said(reference_set(read_study(demo)), ["blue"])
