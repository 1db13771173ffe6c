"""N-best lists: what is written is read again, and each wrong line is named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import NBestLists, merge_nbest, read_nbest, write_nbest
from deltableu.errors import InputError

MOSES = """\
0 ||| yes I do  ||| LM= -1.5 TM= -3 -4e0 ||| -2.25
0 ||| no ||| LM= -1 TM= -3.5 -4 ||| -3
1 ||| maybe ||| LM= 0 TM= 1 +2 ||| 0.5
"""


def test_moses_form(write):
    lists = read_nbest(write("n.nbest", MOSES))
    assert lists.item_ids == ("0", "1")
    assert lists.bounds.tolist() == [0, 2, 3]
    assert lists.texts == ("yes I do", "no", "maybe")
    assert lists.names == ("LM", "TM_1", "TM_2")
    assert lists.features.tolist() == [[-1.5, -3, -4], [-1, -3.5, -4], [0, 1, 2]]
    assert lists.totals is not None
    assert lists.totals.tolist() == [-2.25, -3, 0.5]
    assert read_nbest(write("n.nbest", MOSES), item_ids=("q1", "q2")).item_ids == ("q1", "q2")


def test_ids_may_be_those_of_items(write):
    text = "q1 ||| yes ||| LM= 1\nq2 ||| no ||| LM= 2\n"
    for item_ids in (None, ("q1", "q2")):
        lists = read_nbest(write("n.nbest", text), item_ids=item_ids)
        assert lists.item_ids == ("q1", "q2")
        assert lists.totals is None
    # Ids that are numbers from 1 are ids, not numbers of items.
    text = text.replace("q", "")
    assert read_nbest(write("n.nbest", text), item_ids=("1", "2")).item_ids == ("1", "2")


def test_json_lines(write):
    lines = [
        {"id": "a", "text": "x ||| y", "features": {"LM": -1, "w": 2.5}, "total": 1},
        {"id": "b", "text": " z\n", "features": {"w": 1, "LM": 0}, "total": 2.0},
    ]
    path = write("n.jsonl", "\n".join(map(json.dumps, lines)))
    lists = read_nbest(path, item_ids=("a", "b"))
    assert lists.texts == ("x ||| y", " z\n")
    assert lists.names == ("LM", "w")
    assert lists.features.tolist() == [[-1, 2.5], [0, 1]]


@pytest.mark.parametrize(
    ("change", "line", "field", "message"),
    [
        (("0 ||| no ||| ", "0 no "), 2, None, "must have 3 or 4 fields"),
        (("||| -3\n", "||| -3 ||| 0-0\n"), 2, None, "got 5"),
        (("0 ||| no", " ||| no"), 2, "id", "must not be empty"),
        (("0 ||| no", "0 |||  "), 2, "text", "has no text"),
        (("LM= -1 TM= -3.5 -4", ""), 2, "features", "there are no features"),
        (("LM= -1 TM= -3.5 -4", "-1 -3.5 -4"), 2, "features", "must begin with a name"),
        (("LM= -1 TM= -3.5 -4", "LM= -1 = -3.5 -4"), 2, "features", "a name is empty"),
        (("LM= -1 TM= -3.5 -4", "LM= -1 TM= -3.5"), 2, "features", "TM_1 is missing"),
        (("LM= -1 TM= -3.5 -4", "LM= -1 TM= -3.5 -4 X= 1"), 2, "features", "X is here"),
        (("LM= -1 TM= -3.5 -4", "TM= -3.5 -4 LM= 1"), 2, "features", "must be in the order"),
        (("LM= -1 TM", "LM= TM"), 2, "LM", "has no value"),
        (("LM= -1 ", "LM= -1 LM= 2 "), 2, "features", "'LM' is there twice"),
        (("LM= -1 ", "LM= nan "), 2, "LM", "must be a finite number, got 'nan'"),
        (("LM= -1 ", "LM= 1e999 "), 2, "LM", "must be a finite number"),
        (("LM= -1 ", "LM= 1_0 "), 2, "LM", "must be a finite number"),
        (("LM= -1 ", "LM= ١ "), 2, "LM", "must be a finite number"),
        (("||| -3\n", "||| inf\n"), 2, "total", "must be a finite number"),
        ((" ||| -3\n", "\n"), 2, "total", "is missing, but earlier lines have one"),
        ((" ||| -2.25\n", "\n"), 2, "total", "is here, but earlier lines have none"),
        (("0 ||| no", "1 ||| no"), None, None, None),
        (("1 ||| maybe", "2 ||| maybe"), 3, "id", "item '1' has no candidates before"),
        (("1 ||| maybe", "x ||| maybe"), 3, "id", "must be a number"),
        (("0 ||| no", "1 ||| no ||| LM= 0 TM= 1 2 ||| 1\n0 ||| no"), 3, "id", "stand together"),
        (("\n1", "\n\n1"), 3, None, "is blank"),
    ],
)
def test_wrong_lines_of_moses_form(write, change, line, field, message):
    assert change[0] in MOSES
    path = write("n.nbest", MOSES.replace(*change, 1))
    if message is None:
        read_nbest(path)
        return
    with pytest.raises(InputError) as raised:
        read_nbest(path)
    problem = raised.value.problem
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert message in problem.message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a|||x|||f= 1\nc|||x|||f= 1", 2, "item 'b' has no candidates before this line"),
        ("b|||x|||f= 1", 1, "item 'a' has no candidates before this line"),
        ("a|||x|||f= 1\nb|||x|||f= 1", None, "item 'c' has no candidates"),
        ("a|||x|||f= 1", None, "item 'b' and 1 more items have no candidates"),
        ("a|||x|||f= 1\nz|||x|||f= 1", 2, "must be an item's id; there are 3 items"),
        ("z|||x|||f= 1", 1, "there is no item with this id"),
        ("0|||x|||f= 1\n1|||x|||f= 1\n2|||x|||f= 1\n3|||x|||f= 1", 4, "there are 3 items"),
        ("", None, "holds no candidates"),
    ],
)
def test_items_must_be_those_asked_for(write, text, line, message):
    with pytest.raises(InputError) as raised:
        read_nbest(write("n.nbest", text), item_ids=("a", "b", "c"))
    assert raised.value.problem.line == line
    assert message in raised.value.problem.message


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"id": "b", "text": "x"}', "features", "is missing"),
        ('{"id": "b", "text": "x", "features": [1]}', "features", "must be an object"),
        ('{"id": "b", "text": "x", "features": {"f": true}}', "features.f", "must be a number"),
        ('{"id": "b", "text": "x", "features": {"f": null}}', "features.f", "got null"),
        ('{"id": "b", "text": "x", "features": {"f": NaN}}', None, "NaN"),
        ('{"id": "b", "text": "x", "features": {"f": 1, "f": 2}}', None, "there twice"),
        ('{"id": "b", "text": "x", "features": {"g": 1}}', "features", "f is missing"),
        ('{"id": "b", "text": "", "features": {"f": 1}}', "text", "has no text"),
        ('{"id": "b", "text": 3, "features": {"f": 1}}', "text", "must be a string"),
        ('{"text": "x", "features": {"f": 1}}', "id", "is missing"),
        ('{"id": "b", "text": "x", "features": {"f": 1}, "total": "1"}', "total", "a number"),
        ('{"id": "b", "text": "x", "features": {"f": 1}, "total": 1}', "total", "is here"),
    ],
)
def test_wrong_lines_of_json(write, line, field, message):
    path = write("n.jsonl", '{"id": "a", "text": "x", "features": {"f": 1}}\n' + line)
    with pytest.raises(InputError) as raised:
        read_nbest(path)
    problem = raised.value.problem
    assert (problem.file, problem.line, problem.field) == (str(path), 2, field)
    assert message in problem.message


def test_empty_candidates_where_they_are_allowed(write):
    path = write("n.nbest", "0 |||  ||| f= 1\n0 ||| x ||| f= 2\n")
    assert read_nbest(path, allow_empty=True).texts == ("", "x")


WORDS = st.text(alphabet="abc xyé=_1", min_size=1).map(str.strip).filter(bool)
NAMES = st.lists(
    st.sampled_from(["LM", "TM_1", "TM_2", "TM_3", "TM", "w=1", "_1", "X_2", "X_1", "_"]),
    min_size=1,
    unique=True,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def some_lists(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    names = draw(NAMES)
    texts = draw(st.lists(WORDS, min_size=sum(sizes), max_size=sum(sizes)))
    count = sum(sizes) * len(names)
    values = draw(st.lists(NUMBERS, min_size=count, max_size=count))
    totals = draw(st.none() | st.lists(NUMBERS, min_size=sum(sizes), max_size=sum(sizes)))
    return NBestLists(
        tuple(f"q{number}" for number in range(len(sizes))),
        np.cumsum([0, *sizes]),
        tuple(texts),
        tuple(names),
        np.array(values).reshape(sum(sizes), len(names)),
        None if totals is None else np.array(totals),
    )


@settings(max_examples=30)
@given(lists=some_lists(), form=st.sampled_from(["nbest", "jsonl", "nbest.gz"]))
def test_round_trip(tmp_path_factory, lists, form):
    path = tmp_path_factory.mktemp("nbest") / f"n.{form}"
    write_nbest(path, lists)
    again = read_nbest(path, item_ids=lists.item_ids)
    assert (again.item_ids, again.texts, again.names) == (lists.item_ids, lists.texts, lists.names)
    assert np.array_equal(again.bounds, lists.bounds)
    assert np.array_equal(again.features, lists.features)
    assert (again.totals is None) == (lists.totals is None)
    assert again.totals is None or np.array_equal(again.totals, lists.totals)


@pytest.mark.parametrize(
    ("names", "text", "field"),
    [
        (("a b",), "x", "features"),
        (("",), "x", "features"),
        (("f",), "x ||| y", "text"),
        (("f",), "x\ny", "text"),
    ],
)
def test_what_moses_form_cannot_hold(tmp_path, names, text, field):
    lists = NBestLists(("q",), np.array([0, 1]), (text,), names, np.array([[1.0]]))
    with pytest.raises(InputError) as raised:
        write_nbest(tmp_path / "n.nbest", lists)
    assert raised.value.problem.field == field
    write_nbest(tmp_path / "n.jsonl", lists)


def one_item(texts, values, names=("f", "g")):
    features = np.array(values, dtype=float)
    return NBestLists(("q",), np.array([0, len(texts)]), tuple(texts), names, features)


def test_merging_drops_what_is_there_twice():
    first = one_item(["x", "y"], [[1, 2], [3, 4]])
    second = one_item(["y", "x", "x"], [[4, 3], [5, 1], [2, 1]], names=("g", "f"))
    merged = merge_nbest([first, second])
    assert merged.texts == ("x", "y", "x")
    assert merged.features.tolist() == [[1, 2], [3, 4], [1, 5]]
    assert merged.totals is None


def test_merging_needs_the_same_items_and_features():
    first = one_item(["x"], [[1, 2]])
    with pytest.raises(InputError, match="list 2 has the features f, h, but the first has f, g"):
        merge_nbest([first, one_item(["x"], [[1, 2]], names=("f", "h"))])
    other = NBestLists(("r",), first.bounds, first.texts, first.names, first.features)
    with pytest.raises(InputError, match="not about the items"):
        merge_nbest([first, other])
    with pytest.raises(InputError, match="no n-best lists"):
        merge_nbest([])


def test_selecting_items():
    lists = NBestLists(
        ("a", "b", "c"),
        np.array([0, 1, 3, 4]),
        tuple("wxyz"),
        ("f",),
        np.arange(4.0)[:, None],
        np.arange(4.0),
    )
    some = lists.select([2, 1])
    assert (some.item_ids, some.texts) == (("c", "b"), tuple("zxy"))
    assert (some.bounds.tolist(), some.features.ravel().tolist()) == ([0, 1, 3], [3, 1, 2])


def test_weights_must_be_those_of_the_features():
    lists = one_item(["x"], [[1, 2]])
    with pytest.raises(InputError, match="lack the feature 'g'"):
        lists.scores({"f": 1.0})
    with pytest.raises(InputError, match="there is no feature 'h'"):
        lists.scores({"f": 1.0, "g": 1.0, "h": 2.0})
