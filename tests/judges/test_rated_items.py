"""A judge that is not at hand: what it said, kept in a rated study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deltableu import UpsilonBLEU
from deltableu.corpus import Item, Reference, Source, Study, read_study, reference_set, write_study
from deltableu.errors import InputError
from deltableu.judges import RatedItems, load_rater, rate_study


class Shortness:
    signature = "shortness"

    def rate(self, item, references):
        return [round(1 - len(one.text) / 20, 3) for one in references]


ITEMS = (
    Item(
        "1",
        (
            Reference("r0", "fine thanks"),
            Reference("r1", "who asks", origin="mined", source=Source("how is it going")),
            Reference("r2", "who asks", origin="mined", source=Source("what is up")),
        ),
        message="how are you",
    ),
    Item("2", (Reference("r0", "no"),)),
)


@pytest.fixture
def rated(tmp_path):
    found = rate_study(Study(ITEMS, {"A": ("fine asks", "no")}), Shortness())
    write_study(found.study, tmp_path / "rated")
    return tmp_path / "rated"


def test_it_says_what_the_judge_said(rated):
    items = read_study(rated).items
    for place in (rated, rated / "items.jsonl"):
        judge = load_rater(str(place))
        assert judge.signature == "shortness,saved"
        for item in ITEMS:
            assert judge.rate(item, item.references) == Shortness().rate(item, item.references)
    judge = RatedItems.load(rated)
    assert judge.rate(items[0], items[0].references[::-1]) == [0.6, 0.6, 0.45]
    score = UpsilonBLEU(rater=str(rated)).compute(["fine asks", "no"], reference_set(ITEMS)).score()
    live = UpsilonBLEU(rater=Shortness()).compute(["fine asks", "no"], reference_set(ITEMS)).score()
    assert score.score == live.score
    assert score.signature["weights"] == "shortness,saved"


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (replace(ITEMS[0], id="3"), "has no such item"),
        (replace(ITEMS[0], message="hi"), "has this item with another message"),
        (Item("2", (Reference("r0", "yes"),)), "has no weight of the reference 'yes'"),
        (
            replace(
                ITEMS[0], references=(Reference("r1", "who asks", source=Source("something")),)
            ),
            "has no weight of the reference 'who asks'",
        ),
    ],
)
def test_of_what_it_has_not_seen_it_says_nothing(rated, item, said):
    with pytest.raises(InputError, match=said):
        RatedItems.load(rated).rate(item, item.references)


def test_files_that_are_no_judge(rated, tmp_path):
    lines = (rated / "items.jsonl").read_text().splitlines()
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(lines[0] + "\n" + lines[1].replace("shortness", "length") + "\n")
    with pytest.raises(InputError, match="holds weights from shortness and length"):
        load_rater(str(mixed))
    plain = tmp_path / "plain.jsonl"
    plain.write_text('{"id": "1", "references": [{"text": "a"}]}\n')
    with pytest.raises(InputError, match="'r0' has no weight"):
        load_rater(str(plain))
    plain.write_text("")
    with pytest.raises(InputError, match="holds no items"):
        load_rater(str(plain))
    with pytest.raises(InputError, match="triplets cannot be set"):
        load_rater(str(rated), triplets="max")
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        load_rater(str(tmp_path / "nowhere.jsonl"))
