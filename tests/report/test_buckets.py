"""Buckets of items, and the outputs that changed most."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.corpus import Item, Reference, reference_set
from deltableu.errors import InputError
from deltableu.report import bucket_table, bucketings, changed_outputs
from deltableu.score import BLEU, DeltaBLEU, make_metrics, score_systems


def item(number, text="a b", message="hello there", **meta):
    return Item(str(number), (Reference("r0", text, 1.0),), message=message, meta=meta)


def named(items, name, fields=()):
    return next(one for one in bucketings(items, fields) if one.name == name)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_every_item_is_in_one_bucket_that_says_its_length(lengths):
    items = [item(n, text=" ".join(["w"] * size)) for n, size in enumerate(lengths)]
    found = [one for one in bucketings(items) if one.name == "words in the reference"]
    if len(set(lengths)) == 1 or np.median(lengths) <= 1:
        return
    (one,) = found
    assert len(one) <= 4
    for place, size in zip(one.places.tolist(), lengths, strict=True):
        low, _, high = one.labels[place].partition(" to ")
        assert int(low) <= size <= int(high or low)


def test_texts_without_spaces_are_measured_in_characters():
    items = [item(n, text="字" * n, message=None) for n in (1, 5, 9)]
    assert bucketings(items)[0].name == "characters in the reference"


def test_rare_words_are_those_of_few_items():
    items = [item(0, "the cat"), item(1, "the dog"), item(2, "the dog"), item(3, "the the")]
    found = named(items, "items that share the reference's rarest word")
    assert found.labels == ("1", "2", "4")
    assert found.places.tolist() == [0, 1, 1, 2]


def test_a_field_of_meta_makes_buckets():
    items = [item(n, domain="work" if n % 3 else "food", year=1990 + n) for n in range(12)]
    domain, year, *_ = bucketings(items, ["domain", "year"])
    assert domain.labels == ("food", "work")
    assert np.bincount(domain.places).tolist() == [4, 8]
    assert year.labels == ("1990 to 1992", "1993 to 1995", "1996 to 1998", "1999 to 2001")
    many = [item(n, user=f"u{n % 11}") for n in range(99)]
    assert bucketings(many, ["user"])[0].labels[-1] == "3 other values"


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"domain": "x"}, "meta has no field to make buckets of; it has domain"),
        ({"domian": ["x"]}, "a bucket must be a text or a number, got ['x']"),
    ],
)
def test_a_field_that_is_not_there_is_named(meta, message):
    with pytest.raises(InputError, match="domian") as caught:
        bucketings([item(1, **meta)], ["domian"])
    assert message in str(caught.value)


def test_scores_of_a_bucket_are_those_of_its_items_alone():
    items = [item(n, text="a b c" if n % 2 else "a b c d e f") for n in range(6)]
    outputs = {"good": ["a b c"] * 6, "bad": ["a x c"] * 6}
    (metric,) = make_metrics(["bleu"], {"order": 2})
    scoring = score_systems(reference_set(items), outputs, [metric])
    found = named(items, "words in the reference")
    table = bucket_table(scoring, scoring.metrics[0], found)
    assert [column.name for column in table.columns] == ["system", "3 (3 items)", "6 (3 items)"]
    short = [place for place in range(6) if place % 2]
    alone = score_systems(
        reference_set([items[place] for place in short]),
        {name: [texts[place] for place in short] for name, texts in outputs.items()},
        [metric],
    )
    assert [row[1].value for row in table.rows] == [one.score.score for one in alone.scores]
    assert [row[1].best for row in table.rows] == [True, False]


def test_changes_are_sorted_and_explained():
    items = [item(n, text=f"yes it is {n}") for n in range(4)]
    outputs = {
        "old": ["no", "yes it is 1", "yes it is 2", "hm"],
        "new": ["yes it is 0", "yes it", "yes it is 2", "hm it"],
    }
    references = reference_set(items)
    (found,) = changed_outputs(references, outputs, DeltaBLEU(order=2), [("old", "new")], most=1)
    assert (found.better, found.worse, found.same) == (2, 1, 1)
    (gain,), (loss,) = found.gains, found.losses
    assert (gain.item.id, loss.item.id) == ("0", "1")
    assert gain.difference > 0 > loss.difference
    assert [one.system for one in gain.case.answers] == ["old", "new"]
    assert [one.score for one in gain.case.answers] == list(gain.scores)


def test_of_a_metric_where_less_is_better_a_gain_is_less():
    (ter,) = make_metrics(["ter"], {})
    outputs = {"old": ["x y", "a b"], "new": ["a b", "x y"]}
    (found,) = changed_outputs(reference_set([item(0), item(1)]), outputs, ter, [("old", "new")])
    assert [one.item.id for one in found.gains] == ["0"]
    assert found.gains[0].case is None


def test_bleu_needs_no_weights():
    items = [Item("0", (Reference("r0", "a b c d"),)), Item("1", (Reference("r0", "a b"),))]
    outputs = {"old": ["a", "a b"], "new": ["a b c d", "a b"]}
    (found,) = changed_outputs(reference_set(items), outputs, BLEU(), [("old", "new")])
    assert (found.better, found.same) == (1, 1)
