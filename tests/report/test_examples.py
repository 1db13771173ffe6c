"""Examples of outputs: numbers by hand, which items are shown, and whom they are said of."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.corpus import Item, RatingTable, Reference, System, reference_set
from deltableu.errors import InputError
from deltableu.io import render_terminal
from deltableu.report import chosen_examples, examples_page
from deltableu.report.examples import _places
from deltableu.score import BLEU, DeltaBLEU

REFERENCES = (
    Reference("r0", "the cat sat", 1.0),
    Reference("m1", "a cat sat down", 0.5, "mined"),
    Reference("m2", "dogs bark", -0.8, "mined"),
    Reference("p", "where is the cat", -0.6, "parrot"),
)
ITEMS = [Item(id, REFERENCES, ("hello",), "where is the cat") for id in ("1", "2", "3")]
OUTPUTS = {"A": ["a cat sat", "dogs bark", "the cat"], "human": ["the cat sat"] * 3}
METRIC = DeltaBLEU(tokenize="none")


def ratings(values, raters=("ann", "bob")):
    """Ratings of A's outputs on a scale from 1 to 5: for each item, what each rater said."""
    said = [
        (rater, str(item), value)
        for item, row in enumerate(values, 1)
        for rater, value in zip(raters, row, strict=False)
    ]
    names, items, numbers = zip(*said, strict=True)
    table = RatingTable.of(
        raters=names, items=items, systems=["A"] * len(said), values=numbers, scale="1-5"
    )
    return table.of_systems(normalise=True, items=["1", "2", "3"], systems=["A", "human"])


SAID = ratings([(4, 5), (1, 2), (3, 3)])


def found(**given):
    options = {"number": 3, "ratings": SAID} | given
    metric = options.pop("metric", METRIC)
    return chosen_examples(reference_set(ITEMS), OUTPUTS, metric, **options)


def scores(examples):
    return {one.item: one.scores for one in examples.examples}


def test_scores_are_those_computed_by_hand():
    examples = found()
    assert examples.system == "A"
    by_item = scores(examples)
    # Against "the cat sat": 2 of 3 words, 1 of 2 bigrams. Weights: 2.5 of 3 and 1.5 of 2.
    expected = {
        "human": (4.5 - 1) / 4,
        "bleu-2": math.sqrt(2 / 3 * 1 / 2),
        "bleu-2-multi": 1.0,
        "delta-bleu-2": math.sqrt(2.5 / 3 * 1.5 / 2),
    }
    assert by_item["1"] == pytest.approx(expected)
    # All matches are those of a bad reference: the sums are -1.6 and -0.8.
    expected = {"human": 0.125, "bleu-2": 0.0, "bleu-2-multi": 1.0, "delta-bleu-2": 0.0}
    assert by_item["2"] == pytest.approx(expected)
    # Two words where three are wanted, or two in "dogs bark", the closest of all.
    shorter = math.exp(1 - 3 / 2)
    expected = {"human": 0.5, "bleu-2": shorter, "bleu-2-multi": 1.0, "delta-bleu-2": 1.0}
    assert by_item["3"] == pytest.approx(expected)
    assert [one.item for one in examples.examples] == ["1", "3", "2"]


def test_signed_scores_are_not_stretched():
    examples = found(metric=replace(METRIC, combine="arithmetic"))
    assert scores(examples)["2"]["delta-bleu-2"] == pytest.approx(-0.8)
    assert "from -1 to 1" in examples.notes["delta-bleu-2"]
    assert ">−0.80<" in examples_page("x", examples)


def test_settings_hold_for_all_columns():
    by_item = scores(found(metric=DeltaBLEU(tokenize="none", order=1, lowercase=True)))
    assert by_item["1"]["bleu-1"] == pytest.approx(2 / 3)
    assert by_item["1"]["delta-bleu-1"] == pytest.approx(2.5 / 3)
    smoothed = scores(found(metric=DeltaBLEU(tokenize="none", smooth="exp")))
    alone = BLEU(order=2, tokenize="none", smooth="exp").compute(["the dog"], [["the cat sat"]])
    other = chosen_examples(
        reference_set(ITEMS[:1]), {"A": ["the dog"]}, DeltaBLEU(tokenize="none", smooth="exp")
    )
    assert scores(other)["1"]["bleu-2"] == alone.segment_scores()[0] / 100 > 0
    assert smoothed["1"]["bleu-2"] == pytest.approx(math.sqrt(1 / 3))


def test_a_plain_metric_has_no_weighted_column():
    table = found(metric=BLEU(order=2, tokenize="none", smooth="none"))
    assert list(scores(table)["1"]) == ["human", "bleu-2", "bleu-2-multi"]


def test_without_weights():
    items = [
        replace(item, references=tuple(replace(one, weight=None) for one in item.references))
        for item in ITEMS
    ]
    metric = BLEU(order=2, tokenize="none", smooth="none")
    examples = chosen_examples(reference_set(items), OUTPUTS, metric, ratings=SAID)
    assert not examples.weighted
    assert scores(examples)["1"]["bleu-2-multi"] == 1.0
    parts = [row[1].value for row in examples.table().rows[:7]]
    assert parts == ["context", "message", "original", "mined", "mined", "parrot", "output"]
    page = examples_page("x", examples)
    assert "rate new CAMPAIGN" not in page
    assert '<span class="w "></span>' in page


def test_without_ratings_items_come_in_their_order():
    examples = found(ratings=None, number=1, system="A")
    assert [one.item for one in examples.examples] == ["2"]
    assert "human" not in scores(examples)["2"]
    assert examples.chosen == {"items": "the middle one of 3 items in order"}


@pytest.mark.parametrize("system", ["human", None])
def test_ratings_of_other_systems_do_not_matter(system):
    """A is not human, and the best of what is left."""
    examples = found(system=system)
    assert examples.system == (system or "A")
    assert ("human" in scores(examples)["1"]) == (system is None)


def test_the_system_is_the_best_rated_that_is_not_human():
    outputs = {"A": ["x"] * 3, "B": ["the cat sat"] * 3, "people": ["the cat sat"] * 3}
    table = RatingTable.of(
        raters=["ann"] * 3,
        items=["1"] * 3,
        systems=["A", "B", "people"],
        values=[3, 2, 5],
        scale="1-5",
    ).of_systems(normalise=True)
    described = {"people": System("people", "human")}
    choose = {"ratings": table, "systems": described}
    best = chosen_examples(reference_set(ITEMS), outputs, METRIC, **choose)
    assert (best.system, best.chosen["system"]) == ("A", "the best rated system that is not human")
    assert [one.item for one in best.examples] == ["1"]
    unrated = chosen_examples(reference_set(ITEMS), outputs, METRIC, systems=described)
    assert unrated.system == "B"
    only = {"people": outputs["people"]}
    assert chosen_examples(reference_set(ITEMS), only, METRIC, **choose).system == "people"


def test_ties_stay_in_the_order_of_the_items():
    rated = np.array([0.5, np.nan, 0.9, 0.5, 0.5, 0.1, 0.5, 0.9])
    assert _places(rated, 7)[0] == [2, 7, 0, 3, 4, 6, 5]
    places, how = _places(rated, 3)
    assert places == [7, 3, 6]
    assert how == "the middle one of each of 3 equal parts of 7 items by their ratings, best first"
    assert _places(rated, 1) == ([3], "the middle one of 7 items by their ratings, best first")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 8))
def test_one_item_of_each_part_is_shown(values, number):
    rated = np.array(values) / 4
    places, _ = _places(rated, number)
    assert len(places) == len(set(places)) == min(number, len(values))
    order = sorted(range(len(values)), key=lambda place: (-values[place], place))
    for part, place in enumerate(places):
        rank = order.index(place) + 0.5
        size = len(values) / len(places)
        assert abs(rank - (part + 0.5) * size) <= 0.5


def test_the_metric_has_no_say_in_the_choice():
    for metric in (METRIC, BLEU(), replace(METRIC, combine="arithmetic")):
        assert [one.item for one in found(metric=metric, number=1).examples] == ["3"]


def test_many_references_are_counted():
    weights = (0.1, 0.9, -0.2, 0.3, None, -1.0, 0.8)
    more = tuple(Reference(f"m{n}", f"t{n}", w or 0.0, "mined") for n, w in enumerate(weights))
    item = Item("1", (REFERENCES[0], *more))
    examples = chosen_examples(reference_set([item]), {"A": ["x"]}, METRIC)
    rows = [[cell.value for cell in row[1:]] for row in examples.table().rows]
    assert rows[:6] == [
        ["original", "the cat sat", 1.0],
        *[["mined", "t1", 0.9], ["mined", "t6", 0.8], ["mined", "t2", -0.2], ["mined", "t5", -1.0]],
        ["", "and 3 more", None],
    ]
    tidy = examples.tidy_table().records()
    assert [one["id"] for one in tidy if one["part"] == "mined"] == [f"m{n}" for n in range(7)]


def test_simulated_raters_are_named_wherever_they_rated():
    made = found(ratings=ratings([(4, 5), (1, 2), (3, 3)], ("simulated-1", "simulated-2")))
    assert next(iter(scores(made)["1"])) == "simulated raters"
    for text in (made.table().to_latex(), made.table().to_markdown(), str(made.table())):
        assert "(simulated raters)" in text
    assert made.tidy_table().records()[0]["simulated"] is True
    assert "(simulated raters)" in examples_page("x", made)
    by_people = found()
    assert "simulated" not in str(by_people.table())
    items = [replace(item, meta={"weights_from": "5simulated-raters"}) for item in ITEMS]
    weighted = chosen_examples(reference_set(items), OUTPUTS, METRIC, ratings=SAID)
    assert weighted.simulated
    assert "human" in scores(weighted)["1"]


def test_a_narrow_terminal_holds_all_of_it():
    text = render_terminal([found().table()], 40)
    assert max(map(len, text.splitlines())) <= 40
    lines = [line.split() for line in text.splitlines()]
    assert ["1", "context", "hello"] in lines
    assert ["delta-bleu-2", "0.79"] in lines
    assert text.count("\n\n3     context") == 1


def test_hostile_texts_are_shown_and_never_obeyed():
    trap = "<script>alert(1)</script> & {{ 7 * 7 }} \x1b[31m\n| [x] \\input{y}"
    item = Item(trap, (Reference("r", trap, 1.0), Reference("m", trap, -1.0, "mined")), (trap,))
    examples = chosen_examples(reference_set([item]), {trap: [trap]}, METRIC)
    page = examples_page(trap, examples)
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt; &amp; {{ 7 * 7 }}") >= 6
    for text in (
        examples.table().to_latex(),
        examples.table().to_markdown(),
        str(examples.table()),
    ):
        assert "\x1b" not in text
    latex = examples.table().to_latex().splitlines()
    assert not any("\\input" in line for line in latex if not line.startswith("%"))
    assert "<script" not in examples.table().to_markdown()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"system": "B"}, "there is no system 'B'; there are A, human"),
        ({"number": 0}, "the number of examples must be at least 1"),
    ],
)
def test_what_cannot_be_shown_is_said(options, said):
    with pytest.raises(InputError, match=said):
        found(**options)
    texts = replace(reference_set(ITEMS), items=None)
    with pytest.raises(InputError, match="texts alone"):
        chosen_examples(texts, OUTPUTS, METRIC)
