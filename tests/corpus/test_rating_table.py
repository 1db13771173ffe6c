"""Ratings become arrays: what is taken, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import read_study
from deltableu.corpus import KINDS, Item, Rating, RatingTable, Study
from deltableu.errors import InputError, InputWarning
from deltableu.rate import direct_assessment

few = settings(max_examples=60, deadline=None)

RATINGS = (
    Rating("ann", "1", "system:A", 80),
    Rating("ann", "2", "system:B", 60),
    Rating("bob", "1", "system:A", 70, kind="repeat"),
    Rating("bob", "1", "reference:r0", 95, kind="reference"),
    Rating("bob", "2", "system:B", 5, kind="bad-reference"),
    Rating("bob", "2", "reference:r1", 4, scale="1-5"),  # rated to weight it, not a control
)


@st.composite
def judgement_lists(draw):
    name = st.sampled_from("abcd")
    one = st.tuples(name, name, name, st.sampled_from(KINDS), st.floats(-100, 100))
    return draw(st.lists(one, min_size=1, max_size=30))


# --- From ratings ---------------------------------------------------------------------------------


def test_ratings_of_systems_and_controls_are_taken():
    made = RatingTable.from_records(RATINGS).of_systems()
    assert made.raters == ("ann", "bob")
    assert made.items == ("1", "2")
    assert made.systems == ("A", "B")
    assert made.values.tolist() == [80, 60, 70, 95, 5]
    assert made.system.tolist() == [0, 1, 0, -1, 1]
    assert [KINDS[kind] for kind in made.kinds] == [
        "item", "item", "repeat", "reference", "bad-reference",
    ]  # fmt: skip
    assert made.scored().values.tolist() == [80, 60, 70]
    assert made.left_out == 0


def test_a_study_gives_the_order(demo):
    study = read_study(demo)
    made = RatingTable.from_study(study)
    assert made.items == tuple(item.id for item in study.items)
    assert made.systems == tuple(study.outputs)
    assert len(made.scored()) == sum(
        one.target.startswith("system:") and one.kind in ("item", "repeat") for one in study.ratings
    )
    # Weights of references are on another scale and not among them.
    assert made.values.max() > 5
    cells = defaultdict(list)
    for one in study.ratings:
        if one.target.startswith("system:") and one.kind in ("item", "repeat"):
            cells[one.rater, one.target[7:], one.item].append(one.value)
    table, first = made.by_output(), made.by_output("first")
    assert np.count_nonzero(~np.isnan(table)) == len(cells)
    for (rater, system, item), values in cells.items():
        place = made.raters.index(rater), made.systems.index(system), made.items.index(item)
        assert table[place] == pytest.approx(np.mean(values))
        assert first[place] == values[0]


def test_criteria():
    two = [
        Rating("a", "1", "system:A", 4, criterion="fluency"),
        Rating("a", "1", "system:A", 2, criterion="relevance"),
        Rating("a", "1", "reference:r", 2, criterion="weights"),
    ]
    assert RatingTable.from_records(two).of_systems(criterion="relevance").values.tolist() == [2]
    with pytest.raises(InputError, match=r"several criteria, choose one: fluency, relevance$"):
        RatingTable.from_records(two).of_systems()
    with pytest.raises(InputError, match=r"'overall'; there are ratings of fluency, relevance$"):
        RatingTable.from_records(two).of_systems(criterion="overall")
    with pytest.raises(InputError, match="target is written system:NAME"):
        RatingTable.from_records(two[2:]).of_systems()
    with pytest.raises(InputError, match="target is written system:NAME"):
        RatingTable.from_records([]).of_systems()


def test_scales():
    mixed = [
        Rating("a", "1", "system:A", 4, scale="1-5"),
        Rating("b", "1", "system:A", 25, scale="0-100"),
    ]
    with pytest.raises(InputError, match=r"several scales: 1-5 \(rater 'a', item '1'.*0-100"):
        RatingTable.from_records(mixed).of_systems()
    assert RatingTable.from_records(mixed).of_systems(normalise=True).values.tolist() == [0.5, -0.5]
    spaced = [mixed[0], Rating("b", "1", "system:A", 2, scale=" 1 - 5 ")]
    assert RatingTable.from_records(spaced).of_systems().values.tolist() == [4, 2]
    bare = [mixed[0], Rating("b", "1", "system:A", 3)]
    with pytest.raises(InputError, match=r"several scales: 1-5 .* and none"):
        RatingTable.from_records(bare).of_systems()
    with pytest.raises(InputError, match="rater 'b', item '1', target 'system:A': has no scale"):
        RatingTable.from_records(bare).of_systems(normalise=True)


@pytest.mark.parametrize(
    ("rating", "lost"),
    [
        (Rating("eve", "9", "system:A", 1), "rater 'eve', item '9', target 'system:A'.* item"),
        (Rating("eve", "1", "system:Z", 1), "rater 'eve', item '1', target 'system:Z'.* system"),
        (Rating("eve", "9", "reference:r", 1, kind="reference"), "target 'reference:r'.* item"),
    ],
)
def test_unknown_ids_are_named_or_dropped(rating, lost):
    known = {"items": ["1", "2"], "systems": ["B", "A"]}
    ratings = (*RATINGS, rating)
    with pytest.raises(InputError, match=lost):
        RatingTable.from_records(ratings).of_systems(**known)
    with pytest.warns(InputWarning, match="1 of 6 ratings were dropped"):
        made = RatingTable.from_records(ratings).of_systems(unknown="drop", **known)
    assert made.left_out == 1
    assert len(made) == 5
    assert made.systems == ("B", "A")


def test_nothing_known_is_an_error():
    with pytest.raises(InputError, match="none of 5 ratings judges an item and a system"):
        RatingTable.from_records(RATINGS).of_systems(items=["x"], unknown="drop")
    with pytest.raises(InputError, match="unknown must be one of error, drop"):
        RatingTable.from_records(RATINGS).of_systems(items=["1", "2"], unknown="ignore")


def test_systems_without_ratings_keep_their_place():
    study = Study(
        (Item("1", ()), Item("2", ()), Item("3", ())),
        {"A": ("", "", ""), "quiet": ("", "", ""), "B": ("", "", "")},
        RatingTable.from_records(RATINGS),
    )
    made = RatingTable.from_study(study)
    assert made.systems == ("A", "quiet", "B")
    assert made.by_output().shape == (2, 3, 3)


def test_dstc7(data):
    """Published means of systems are the means over judges of both criteria, halved."""
    folder = data / "dstc7"
    (path,) = folder.rglob("*human-eval-per-judge*")
    with gzip.open(path, "rt", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    ratings = [
        Rating(row["JudgeID"], row["InstanceID"], f"system:{row['SystemID']}", float(row[name]),
               criterion=name.lower(), scale="1-5")
        for row in rows for name in ("Relevance", "Informativeness")
    ]  # fmt: skip
    with pytest.raises(InputError, match="informativeness, relevance"):
        RatingTable.from_records(ratings).of_systems()
    made = {
        name: RatingTable.from_records(ratings).of_systems(criterion=name)
        for name in ("relevance", "informativeness")
    }
    assert len(made["relevance"]) == 33_000
    assert len(made["relevance"].raters) == 317
    means = (
        sum(
            np.bincount(one.system, weights=one.values) / np.bincount(one.system)
            for one in made.values()
        )
        / 2
    )
    scores = dict(zip(made["relevance"].systems, means.tolist(), strict=True))
    published = {"Human": 3.55, "TeamB": 2.93, "Baseline": 2.80, "TeamG": 2.70, "TeamD": 2.63,
                 "Constant": 2.46, "TeamF": 2.46, "Random": 2.34, "TeamA": 2.31}  # fmt: skip
    for name, score in published.items():
        assert scores[name] == pytest.approx(score, abs=0.005)


# --- From arrays ----------------------------------------------------------------------------------


@few
@given(judgement_lists())
def test_of_keeps_everything(rows):
    raters, items, systems, kinds, values = map(list, zip(*rows, strict=True))
    made = RatingTable.of(raters=raters, items=items, systems=systems, kinds=kinds, values=values)
    back = [
        (made.raters[r], made.items[i], made.systems[s], KINDS[k], v)
        for r, i, s, k, v in zip(
            made.rater, made.item, made.system, made.kinds, made.values, strict=True
        )
    ]
    assert back == rows
    scored = [row for row in rows if row[3] in ("item", "repeat")]
    table = made.by_output()
    cells = defaultdict(list)
    for rater, item, system, _, value in scored:
        cells[made.raters.index(rater), made.systems.index(system), made.items.index(item)].append(
            value
        )
    assert np.count_nonzero(~np.isnan(table)) == len(cells)
    for cell, found in cells.items():
        assert table[cell] == pytest.approx(np.mean(found), abs=1e-12)
        assert made.by_output("first")[cell] == found[0]


@few
@given(judgement_lists(), st.sets(st.sampled_from("abcd")))
def test_without_raters(rows, names):
    raters, items, systems, kinds, values = map(list, zip(*rows, strict=True))
    made = RatingTable.of(raters=raters, items=items, systems=systems, kinds=kinds, values=values)
    gone = names & set(raters)
    rest = made.without_raters(gone)
    assert rest.values.tolist() == [row[4] for row in rows if row[0] not in gone]
    assert [rest.raters[r] for r in rest.rater] == [row[0] for row in rows if row[0] not in gone]
    assert set(rest.raters) == set(raters) - gone
    assert rest.items == made.items


def test_plain_arrays_and_lists():
    made = RatingTable(("a",), ("1", "2"), ("S",), [0, 0], [0, 1], [0, 0], [3, 4], [0, 3])
    assert made.values.dtype == np.float64
    assert made.by_output().tolist() == [[[3, 4]]]
    assert made[[1]].values.tolist() == [4]
    assert made[1].values.tolist() == [4]
    assert len(made[:0]) == 0
    assert len(RatingTable((), (), (), [], [], [], [], [])) == 0
    small = np.zeros(300, np.uint8)
    many = RatingTable(["a"], [str(n) for n in range(300)], ["S"], small, np.arange(300),
                      small, np.arange(300), small)  # fmt: skip
    assert np.array_equal(many.by_output()[0, 0], np.arange(300))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"raters": ("a", "a")}, "raters names 'a' more than once"),
        ({"rater": [0]}, "rater must hold one whole number for each of 2 values"),
        ({"rater": [0.0, 0.0]}, "rater must hold one whole number"),
        ({"item": [0, 2]}, "item must hold numbers from 0 to 1"),
        ({"system": [0, -2]}, "system must hold numbers from -1 to 0"),
        ({"system": [0, -1]}, "rater 'a', item '2', target 'reference:': says no system"),
        ({"kinds": [0, 4]}, "kinds must hold numbers from 0 to 3"),
        ({"values": [3, float("nan")]}, "rater 'a', item '2', target 'system:S'.* finite, got nan"),
        ({"values": [3, float("inf")]}, "must be finite, got inf"),
        ({"values": ["x", "y"]}, "values must hold one number a rating"),
        ({"values": 3.0}, "values must hold one number a rating"),
    ],
)
def test_wrong_arrays(change, message):
    good = {
        "raters": ("a",), "items": ("1", "2"), "systems": ("S",), "rater": [0, 0], "item": [0, 1],
        "system": [0, 0], "values": [3.0, 4.0], "kinds": [0, 0],
    }  # fmt: skip
    RatingTable(**good)
    with pytest.raises(InputError, match=message):
        RatingTable(**{**good, **change})


def test_wrong_columns():
    with pytest.raises(InputError, match="give one rater, item, system and value"):
        RatingTable.of(raters=["a"], items=["1", "2"], systems=["S"], values=[1])
    with pytest.raises(InputError, match="values must hold one number"):
        RatingTable.of(raters=["a"], items=["1"], systems=["S"], values=["good"])
    with pytest.raises(InputError, match=r"kinds must be among .* got 'odd'"):
        RatingTable.of(raters=["a"], items=["1"], systems=["S"], values=[1], kinds=["odd"])
    with pytest.raises(InputError, match="rater 'a', item '1', target 'system:S': the value"):
        RatingTable.from_records([Rating("a", "1", "system:S", float("nan"))])
    made = RatingTable.of(raters=["a"], items=["1"], systems=["S"], values=[1])
    with pytest.raises(InputError, match="there is no rater 'b'"):
        made.without_raters(["b"])
    with pytest.raises(InputError, match="repeats must be one of mean, first"):
        made.by_output("last")


# --- Records and references -----------------------------------------------------------------------


def test_records_come_back_and_tables_are_equal_by_them():
    table = RatingTable.from_records(RATINGS)
    assert tuple(table) == RATINGS
    # Another order of names is no difference between tables; another order of ratings is.
    turned = RatingTable.from_records(RATINGS[::-1])
    assert turned.raters != table.raters
    assert turned[::-1] == table
    assert turned != table
    assert table != table[:-1]
    assert table != RATINGS


def test_references_belong_to_their_items():
    table = RatingTable.of(
        raters=["bob", "ann", "bob", "bob"], items=["1", "1", "2", "2"],
        references=["r0", "r0", "r0", "r0"], values=[4, 2, 5, 3],
        kinds=["item", "item", "item", "repeat"], scale="1-5",
    )  # fmt: skip
    assert table.references == (("1", "r0"), ("2", "r0"))
    assert np.array_equal(table.by_reference(), [[4, 4], [2, np.nan]], equal_nan=True)
    assert np.array_equal(table.by_reference("first"), [[4, 5], [2, np.nan]], equal_nan=True)
    assert [one.target for one in table] == ["reference:r0"] * 4
    assert len(table.scored()) == 0


def test_wrong_targets():
    with pytest.raises(InputError, match="must be system:NAME or reference:ID, got 'person:x'"):
        RatingTable.from_records([Rating("a", "1", "person:x", 1)])
    control = RatingTable.of(raters=["a"], items=["1"], values=[1], kinds=["bad-reference"])
    with pytest.raises(InputError, match="names neither system nor reference"):
        list(control)


def test_people_rate_systems_and_references_in_one_table(demo):
    """What looks at raters takes a study's ratings as they are."""
    study = read_study(demo)
    whole, narrowed = (
        direct_assessment(one) for one in (study.ratings, study.ratings.of_systems())
    )
    assert whole.z.tolist() == narrowed.z.tolist()
