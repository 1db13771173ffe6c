"""Whole studies rated: what is kept, what is rated, and runs that go on."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from deltableu.corpus import read_study, write_study
from deltableu.corpus.types import Item, Reference, Study
from deltableu.errors import InputError
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.rating import OriginRatings, RatingEvent, rate_study
from deltableu.judges.registry import load_rater, rater_names
from tests.judges.rater_kit import small_model, small_study

ITEMS = 23


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "judge.safetensors"
    small_model(path)
    return path


@pytest.fixture(scope="module")
def rater(file):
    return NNRater.load(file)


@pytest.fixture(scope="module")
def study():
    return small_study(ITEMS)


def weights(rated):
    return [[one.weight for one in item.references] for item in rated.study.items]


def batches(work):
    return sorted(work.glob("*/batch-*.npz"))


class Counting:
    """A rater that can be cut off: it fails when it has rated so many items."""

    signature = "counting:1"

    def __init__(self, most=None):
        self.most, self.items = most, []

    def rate(self, item, references):
        if self.most is not None and len(self.items) >= self.most:
            raise KeyboardInterrupt
        self.items.append(item.id)
        return [round(random.Random(item.id + one.id).uniform(-1, 1), 3) for one in references]


# --- what is rated --------------------------------------------------------------------------------


def test_every_reference_gets_the_raters_weight(study, rater):
    rated = rate_study(study, rater)
    expected = rater.rate_items([(item, item.references) for item in study.items])
    assert [tuple(row) for row in weights(rated)] == expected
    assert rated.signature == rater.signature
    assert (rated.kept, rated.resumed) == (0, 0)
    assert rated.rated == sum(len(item.references) for item in study.items)
    assert all(item.meta == {"weights_from": rater.signature} for item in rated.study.items)
    bare = tuple(
        replace(item, meta={}, references=tuple(replace(r, weight=None) for r in item.references))
        for item in rated.study.items
    )
    assert replace(rated.study, items=bare) == study


def test_what_is_told_by_origin(study, rater):
    rated = rate_study(study, rater)
    assert [one.origin for one in rated.origins] == [
        "original",
        "mined",
        "parrot",
        "written",
        "random",
    ]
    assert rated.origins[0] == OriginRatings("original", ITEMS, ITEMS, 1.0, 1.0)
    for one in rated.origins:
        own = [
            reference.weight
            for item in rated.study.items
            for reference in item.references
            if reference.origin == one.origin
        ]
        assert (one.references, one.rated) == (len(own), len(own))
        assert one.mean == pytest.approx(sum(own) / len(own))
        assert one.positive == sum(weight > 0 for weight in own) / len(own)


def half_rated(study):
    """People have rated every second reference of every second item."""
    items = [
        replace(
            item,
            references=tuple(
                replace(one, weight=0.25) if place % 2 == 0 and one_place % 2 == 0 else one
                for one_place, one in enumerate(item.references)
            ),
            meta={"topic": "tea"},
        )
        for place, item in enumerate(study.items)
    ]
    return replace(study, items=tuple(items))


def test_peoples_ratings_are_kept(study, rater):
    given = half_rated(study)
    rated = rate_study(given, rater)
    everything = weights(rate_study(study, rater))
    for place, (row, before, full) in enumerate(
        zip(weights(rated), given.items, everything, strict=True)
    ):
        for weight, reference, rater_weight in zip(row, before.references, full, strict=True):
            expected = rater_weight if reference.weight is None else reference.weight
            assert weight == pytest.approx(expected, abs=2e-6)
        mixed = "items+" if place % 2 == 0 else ""
        meta = {"topic": "tea", "weights_from": f"{mixed}{rater.signature}"}
        assert rated.study.items[place].meta == meta
    kept = sum(one.weight is not None for item in given.items for one in item.references)
    assert (rated.kept, rated.rated) == (kept, sum(map(len, everything)) - kept)


def test_all_are_rated_anew(study, rater):
    rated = rate_study(half_rated(study), rater, which="all")
    assert weights(rated) == weights(rate_study(study, rater))
    assert rated.kept == 0
    assert {item.meta["weights_from"] for item in rated.study.items} == {rater.signature}


def test_nothing_to_rate(study, rater):
    once = rate_study(study, rater)
    twice = rate_study(once.study, rater)
    assert twice.study == once.study
    assert (twice.rated, twice.kept) == (0, once.rated)
    assert {(one.mean, one.positive) for one in twice.origins} == {(None, None)}
    empty = rate_study(Study(()), rater)
    assert (empty.study, empty.origins) == (Study(()), ())


def test_two_raters_are_both_named(rater):
    first = Item("1", (Reference("a", "tea", 0.5), Reference("b", "cat")), (), "where")
    once = rate_study(Study((first,)), Counting()).study.items[0]
    assert once.meta["weights_from"] == "items+counting:1"
    more = replace(once, references=(*once.references, Reference("c", "table")))
    twice = rate_study(Study((more,)), Counting()).study.items[0]
    assert twice.meta["weights_from"] == "items+counting:1"
    other = rate_study(Study((more,)), rater).study.items[0]
    assert other.meta["weights_from"] == f"items+counting:1+{rater.signature}"


def test_a_rated_study_can_be_written(study, rater, tmp_path):
    rated = rate_study(study, rater).study
    for form in ("jsonl", "tsv"):
        write_study(rated, tmp_path / form, form)
        assert read_study(tmp_path / form).items == rated.items


@pytest.mark.parametrize("batch", [1, 2, 7, ITEMS - 1, ITEMS, ITEMS + 1])
def test_batches_do_not_matter(batch, study, rater):
    events = []
    rated = rate_study(study, rater, batch=batch, progress=events.append)
    for row, expected in zip(weights(rated), weights(rate_study(study, rater)), strict=True):
        assert row == pytest.approx(expected, abs=2e-6)
    assert events[0] == RatingEvent(0, ITEMS, 0, 0, 0.0, kept=True)
    assert [event.done for event in events[1:]] == [*range(batch, ITEMS, batch), ITEMS]
    assert sum(event.references for event in events) == rated.rated


# --- runs that go on ------------------------------------------------------------------------------


def test_a_run_goes_on_where_it_was(study, tmp_path):
    undisturbed = rate_study(study, Counting())
    with pytest.raises(KeyboardInterrupt):
        rate_study(study, Counting(most=10), batch=4, work=tmp_path / "work")
    assert len(batches(tmp_path / "work")) == 2
    again, events = Counting(), []
    work = {"batch": 4, "work": tmp_path / "work"}
    rated = rate_study(study, again, **work, keep_work=True, progress=events.append)
    assert rated.study == undisturbed.study
    assert rated.origins == undisturbed.origins
    assert (rated.resumed, len(again.items)) == (8, ITEMS - 8)
    assert (events[0].done, events[0].kept) == (8, True)
    assert [event.done for event in events[1:]] == [12, 16, 20, 23]
    rated.work.release()
    third = Counting()
    assert rate_study(study, third, **work).study == undisturbed.study
    assert third.items == []
    assert not (tmp_path / "work").exists()


def test_no_flipped_bit_becomes_a_weight(study, tmp_path):
    work = {"batch": 8, "work": tmp_path, "keep_work": True}
    undisturbed = rate_study(study, Counting(), **work)
    undisturbed.work.release()
    for path in batches(tmp_path):
        data = path.read_bytes()
        for place in range(0, len(data), 97):
            path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            again = rate_study(study, Counting(), **work)
            again.work.release()
            assert again.study == undisturbed.study
            assert again.resumed < ITEMS


@pytest.mark.parametrize(
    "change",
    [
        lambda item: replace(item, message="another"),
        lambda item: replace(item, context=("before",)),
        lambda item: replace(item, references=item.references[1:]),
        lambda item: replace(item, references=item.references[::-1]),
        lambda item: replace(
            item, references=(replace(item.references[0], text="x"), *item.references[1:])
        ),
        lambda item: replace(
            item, references=(*item.references[:-1], replace(item.references[-1], source=None))
        ),
    ],
    ids=["message", "context", "fewer", "order", "text", "source"],
)
def test_batches_of_other_items_are_not_used(change, study, tmp_path):
    work = {"batch": 1, "work": tmp_path, "keep_work": True}
    rate_study(study, Counting(), **work).work.release()
    place = 3
    other = list(study.items)
    other[place] = change(other[place])
    again = Counting()
    rate_study(replace(study, items=tuple(other)), again, **work)
    assert again.items == [other[place].id]


def test_batches_of_another_rater_are_not_used(study, rater, file, tmp_path):
    work = {"work": tmp_path, "keep_work": True}
    rate_study(study, rater, **work).work.release()
    for other in (Counting(), NNRater.load(file, magnitude="p")):
        rated = rate_study(study, other, **work)
        rated.work.release()
        assert rated.resumed == 0
        assert rated.study == rate_study(study, other).study
    # and both are in it now
    assert rate_study(study, rater, **work).resumed == ITEMS
    assert rate_study(study, Counting(), **work).resumed == ITEMS


def test_a_network_that_was_cut_off_gives_every_bit_again(study, rater, tmp_path):
    class CutOff:
        signature = rater.signature

        def __init__(self):
            self.calls = 0

        def rate(self, item, references):
            pytest.fail("items are rated together")

        def rate_items(self, batch):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return rater.rate_items(batch)

    undisturbed = rate_study(study, rater, batch=5)
    with pytest.raises(KeyboardInterrupt):
        rate_study(study, CutOff(), batch=5, work=tmp_path)
    damaged = batches(tmp_path)[1]
    damaged.write_bytes(damaged.read_bytes()[:-20])
    rated = rate_study(study, rater, batch=5, work=tmp_path)
    assert rated.resumed == 5
    assert rated.study == undisturbed.study


# --- bad input ------------------------------------------------------------------------------------


def test_bad_settings(study, rater, tmp_path):
    with pytest.raises(InputError, match=r"^which must be one of unrated, all, got 'some'"):
        rate_study(study, rater, which="some")
    with pytest.raises(InputError, match=r"^batch must be at least 1, got 0"):
        rate_study(study, rater, batch=0)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made to keep checkpoints in: Not a dir"):
        rate_study(study, rater, work=tmp_path / "file")


def test_a_bad_item_is_named_and_the_rest_kept(study, rater, tmp_path):
    items = list(study.items)
    items[12] = replace(items[12], message=None)
    with pytest.raises(InputError, match=r"^item 'q12': has no message"):
        rate_study(replace(study, items=tuple(items)), rater, batch=4, work=tmp_path)
    assert rate_study(study, rater, batch=4, work=tmp_path).resumed == 12


# --- raters by name -------------------------------------------------------------------------------

SOURCE = """
class Fixed:
    def __init__(self, argument):
        self.weight = float(argument or 0)
    def rate(self, item, references):
        return [self.weight] * len(references)

class Signed(Fixed):
    @property
    def signature(self):
        return f"signed({self.weight:g})"

def broken(argument):
    raise RuntimeError("no licence")

def nothing(argument):
    return 3
"""


@pytest.fixture
def offered(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_raters.py").write_text(SOURCE)
    info = tmp_path / "some_raters-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some_raters\nVersion: 1.0\n")
    names = {"fixed": "Fixed", "signed": "Signed", "broken": "broken", "nothing": "nothing"}
    lines = [f"{name} = some_raters:{value}\n" for name, value in names.items()]
    lines.append("absent = no_such_module_here:Rater\n")
    (info / "entry_points.txt").write_text("[deltableu.judges]\n" + "".join(lines))


@pytest.mark.parametrize(
    ("spec", "weight", "signature"),
    [
        ("fixed", 0.0, "fixed"),
        ("fixed:0.5", 0.5, "fixed:0.5"),
        ("signed:-0.25", -0.25, "signed(-0.25)"),
    ],
)
def test_raters_of_other_packages(offered, study, spec, weight, signature):
    assert {"fixed", "signed"} <= set(rater_names())
    rated = rate_study(study, load_rater(spec))
    assert {one for row in weights(rated) for one in row} == {weight}
    assert rated.signature == signature
    assert rated.study.items[0].meta["weights_from"] == signature


def test_a_model_is_loaded_by_its_file(file, rater, tmp_path, monkeypatch):
    assert load_rater(str(file)).signature == rater.signature
    assert load_rater(file, triplets="mean").triplets == "mean"
    (tmp_path / "model").write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert load_rater("model").signature == rater.signature


@pytest.mark.parametrize(
    ("spec", "options", "sentence"),
    [
        (
            "unknown",
            {},
            "^there is no file 'unknown', and no judge of that name; installed ones.*fix",
        ),
        ("no.safetensors", {}, "^no.safetensors: there is no such file"),
        ("./no", {}, "^./no: there is no such file"),
        ("fixed:tea", {}, "^the judge 'fixed' cannot be loaded: could not convert"),
        ("broken", {}, "^the judge 'broken' cannot be loaded: no licence"),
        ("absent:x", {}, "^the judge 'absent' cannot be loaded: No module named"),
        ("nothing", {}, r"^the judge 'nothing' has no method rate\(item, references\)"),
        ("fixed", {"triplets": "max"}, "^triplets cannot be set for the judge 'fixed'"),
    ],
)
def test_raters_that_cannot_be_loaded(offered, spec, options, sentence):
    with pytest.raises(InputError, match=sentence):
        load_rater(spec, **options)
