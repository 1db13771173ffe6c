"""Two scores may be compared when their signatures are equal, and only then."""

from __future__ import annotations

from dataclasses import replace

import pytest

import deltableu
from deltableu import BLEU, DeltaBLEU, ReferenceSet, SentenceBLEU, bleu, delta_bleu
from tests.score.corpora import random_corpus

HYPOTHESES = ["a b c", "b c d"]
REFERENCES = [["a b x", "a b c"], ["d c", "b c", "e"]]
WEIGHTS = [[0.4, 0.9], [1.0, -0.6, 0.3]]


def signature(metric, references=REFERENCES, weights=WEIGHTS) -> str:
    return str(metric.compute(HYPOTHESES, references, weights).score().signature)


SETTINGS = [
    (BLEU(), {"order": 3}),
    (BLEU(), {"tokenize": "none"}),
    (BLEU(), {"tokenize": str.split}),
    (BLEU(tokenize=str.split), {"tokenize": str.upper}),
    (BLEU(), {"lowercase": True}),
    (BLEU(), {"normalize": "NFC"}),
    (BLEU(normalize="NFC"), {"normalize": "NFKC"}),
    (BLEU(), {"strip_punctuation": True}),
    (BLEU(), {"smooth": "none"}),
    (BLEU(), {"smooth": "floor"}),
    (BLEU(), {"smooth": "add-k"}),
    (BLEU(smooth="floor"), {"smooth_value": 0.2}),
    (BLEU(smooth="add-k"), {"smooth_value": 2}),
    (BLEU(smooth="floor", smooth_value=0.1), {"smooth_value": 0.1000001}),
    (BLEU(), {"effective_order": True}),
    (BLEU(), {"combine": "arithmetic"}),
    (DeltaBLEU(), {"order": 4}),
    (DeltaBLEU(), {"variant": "galley2019", "smooth": "none"}),
    (DeltaBLEU(), {"variant": "tsuta2020"}),
    (DeltaBLEU(variant="galley2019"), {"smooth": "none"}),
    (DeltaBLEU(), {"smooth": "exp"}),
    (DeltaBLEU(), {"combine": "arithmetic"}),
    (DeltaBLEU(), {"brevity": "positive"}),
    (SentenceBLEU(), {"order": 2}),
    (SentenceBLEU(), {"method": "moses"}),
    (SentenceBLEU(), {"method": "nakov"}),
    (SentenceBLEU(), {"method": "nakov-cdec"}),
    (SentenceBLEU(), {"lowercase": True}),
]


@pytest.mark.parametrize(("metric", "change"), SETTINGS, ids=lambda value: str(value)[:50])
def test_every_setting_changes_it(metric, change):
    assert signature(replace(metric, **change)) != signature(metric)


def test_metrics_differ():
    metrics = (BLEU(), DeltaBLEU(order=4), SentenceBLEU())
    assert len({signature(metric) for metric in metrics}) == 3


CHANGED_REFERENCES = {
    "a letter": [["a b x", "a b c"], ["d c", "b c", "f"]],
    "a space": [["a b x", "a b c "], ["d c", "b c", "e"]],
    "order of references": [["a b c", "a b x"], ["d c", "b c", "e"]],
    "order of items": [["d c", "b c"], ["a b x", "a b c", "e"]],
    "border between texts": [["a b", "x a b c"], ["d c", "b c", "e"]],
    "newline for border": [["a b x\na b c", ""], ["d c", "b c", "e"]],
    "case": [["A b x", "a b c"], ["d c", "b c", "e"]],
}


@pytest.mark.parametrize("metric", [BLEU(), DeltaBLEU(), SentenceBLEU()], ids=repr)
@pytest.mark.parametrize("name", CHANGED_REFERENCES)
def test_references_change_it(metric, name):
    """Even where the score is equal: the same bytes in other places are other references."""
    assert signature(metric, CHANGED_REFERENCES[name]) != signature(metric)


def test_the_border_between_items_changes_it():
    texts = ["a", "b", "c", "d"]
    one = BLEU().compute(HYPOTHESES, [texts[:1], texts[1:]]).score().signature
    other = BLEU().compute(HYPOTHESES, [texts[:3], texts[3:]]).score().signature
    assert one["refs"] == other["refs"] == "1-3"
    assert one["refhash"] != other["refhash"]


@pytest.mark.parametrize(
    "weights",
    [
        [[0.4, 0.9], [1.0, -0.6, 0.3000001]],
        [[0.9, 0.4], [1.0, -0.6, 0.3]],
        [[0.4, 0.9], [1.0, 0.6, 0.3]],
    ],
)
def test_weights_change_it_where_they_count(weights):
    assert signature(DeltaBLEU(), weights=weights) != signature(DeltaBLEU())
    assert signature(BLEU(), weights=weights) == signature(BLEU())


def test_selection_changes_it():
    chosen = [
        delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS, select=select).signature
        for select in ("all", "single", "w>=0.6", "w>=-1")
    ]
    assert [one["select"] for one in chosen] == ["all", "single", "w>=0.6", "w>=-1"]
    assert len(set(map(str, chosen))) == 4
    plain = [bleu(HYPOTHESES, REFERENCES, select=one).signature for one in ("all", "single")]
    assert plain[0] != plain[1]


def test_hypotheses_do_not_change_it():
    """It says what must agree for two systems to be compared."""
    metric = DeltaBLEU()
    encoded = metric.encode(REFERENCES, WEIGHTS)
    first, second = (
        metric.statistics(texts, encoded).score() for texts in (HYPOTHESES, ["x", "a b c d e"])
    )
    assert first.signature == second.signature
    assert first.score != second.score


@pytest.mark.parametrize("metric", [BLEU(), DeltaBLEU(), SentenceBLEU()], ids=repr)
def test_neither_threads_nor_path_change_it(metric):
    corpus = random_corpus(1, 2100, references=2)
    found = set()
    for threads in (1, 2, 7):
        direct = metric.compute(
            corpus.hypotheses, corpus.references, corpus.weights, threads=threads
        )
        encoded = metric.encode(corpus.references, corpus.weights, threads=threads)
        rows = metric.statistics(corpus.hypotheses, encoded, threads=threads)
        found |= {str(direct.score().signature), str(rows.score().signature)}
    assert len(found) == 1


def test_the_container_of_references_does_not_change_it():
    tuples = tuple(map(tuple, REFERENCES))
    packed = ReferenceSet(tuples, tuple(map(tuple, WEIGHTS)))
    assert str(DeltaBLEU().compute(HYPOTHESES, packed).score().signature) == signature(DeltaBLEU())


def test_it_says_what_the_score_depends_on():
    found = dict(delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS, smooth="floor").signature.parts)
    hashes = found.pop("refhash"), found.pop("weighthash")
    assert all(len(one) == 8 and int(one, 16) >= 0 for one in hashes)
    assert found == {
        "metric": "delta-bleu",
        "order": "2",
        "variant": "paper",
        "brevity": "all",
        "combine": "geometric",
        "eff": "no",
        "smooth": "floor[0.1]",
        "case": "mixed",
        "tok": "13a",
        "items": "2",
        "refs": "2-3",
        "select": "all",
        "weights": "given",
        "version": deltableu.__version__,
    }


def test_it_names_the_source_of_the_weights():
    packed = ReferenceSet(
        tuple(map(tuple, REFERENCES)), tuple(map(tuple, WEIGHTS)), weights_from="5 raters"
    )
    found = DeltaBLEU().compute(HYPOTHESES, packed).score().signature
    assert found["weights"] == "5 raters"
    assert str(found) != signature(DeltaBLEU())


def test_plain_metrics_say_nothing_of_weights():
    found = dict(bleu(HYPOTHESES, REFERENCES, weights=WEIGHTS).signature.parts)
    assert not {"weights", "weighthash"} & set(found)
    assert found["tok"] == "13a"
    assert found["refs"] == "2-3"


def test_a_callable_is_named():
    found = BLEU(tokenize=signature).signature(BLEU().encode(REFERENCES).info)
    assert found["tok"].endswith("signature")


def test_hashes_are_stable():
    """They stand in papers: another version must give the same ones for the same references."""
    found = delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS).signature
    assert (found["refhash"], found["weighthash"]) == ("5de3f5b5", "90fa13d6")
