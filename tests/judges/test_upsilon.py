"""Metrics whose references a model rates: delta metrics with that model's weights."""

from __future__ import annotations

import copy
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltableu
from deltableu import DeltaBLEU, ReferenceSet, UpsilonBLEU, UpsilonChrF, delta_bleu, reference_set
from deltableu.corpus import Item, Reference, read_study
from deltableu.errors import InputError
from deltableu.judges import rate_references
from deltableu.score import score_systems
from deltableu.score.metrics.discriminative import DeltaChrFPlusPlus
from deltableu.score.registry import make_metrics
from tests.score.corpora import corpora, texts

RATER = "deltableu.judges.upsilon.load_rater"


class Overlap:
    """Good references share words with the original one, which keeps weight 1."""

    def __init__(self, signature="overlap:1"):
        self.signature = signature
        self.asked = []

    def rate(self, item, references):
        self.asked.append(item.id)
        wanted = set(item.references[0].text.split())

        def weight(text):
            words = set(text.split())
            return 2 * len(words & wanted) / max(1, len(words | wanted)) - 1

        first = item.references[0]
        return [1.0 if one is first else weight(one.text) for one in references]


class Together(Overlap):
    """The same for many items at once."""

    def __init__(self, signature="together"):
        super().__init__(signature)
        self.batches = []

    def rate_items(self, batch):
        self.batches.append([item.id for item, _ in batch])
        return [self.rate(item, references) for item, references in batch]


class Silent:
    """Says nothing of itself."""

    def __init__(self, weight):
        self.weight = weight

    def rate(self, item, references):
        return [self.weight] * len(references)


class Given:
    """Weights from a table."""

    def __init__(self, rows):
        self.rows = rows

    def rate(self, item, references):
        return self.rows[item.id]


def make_items(rows, weight=None):
    return [
        Item(
            f"q{i}",
            tuple(Reference(f"r{j}", text, weight) for j, text in enumerate(row)),
            message=f"what of {i} ?",
        )
        for i, row in enumerate(rows)
    ]


ROWS = [["a b c", "a b", "x y"], ["d e"], ["f g h", "x g", "h f g"]]
ITEMS = make_items(ROWS)
OUTPUTS = {"one": ["a b", "d e", "x g"], "two": ["x y", "e d", "f g h"], "three": ["c", "d", "h"]}


def weights_of(rater, items):
    return [list(rater.rate(item, item.references)) for item in items]


# --- The same scores as delta metrics -------------------------------------------------------------


@pytest.mark.parametrize(
    ("upsilon", "delta", "options"),
    [
        (UpsilonBLEU, DeltaBLEU, {}),
        (UpsilonBLEU, DeltaBLEU, {"order": 3, "variant": "tsuta2020"}),
        (UpsilonBLEU, DeltaBLEU, {"combine": "arithmetic", "tokenize": "none"}),
        (UpsilonChrF, DeltaChrFPlusPlus, {}),
        (UpsilonChrF, DeltaChrFPlusPlus, {"pool": "best", "lowercase": True}),
    ],
)
def test_a_delta_metric_with_the_raters_weights(upsilon, delta, options):
    rater = Overlap()
    metric, plain = upsilon(rater=rater, **options), delta(**options)
    weights = weights_of(rater, ITEMS)
    encoded = metric.encode(reference_set(ITEMS))
    for output in OUTPUTS.values():
        expected = plain.compute(output, ROWS, weights)
        for rows in (
            metric.statistics(output, encoded),
            metric.compute(output, reference_set(ITEMS)),
        ):
            assert rows.rows.tolist() == expected.rows.tolist()
            assert rows.score().score == expected.score().score
            assert rows.segment_scores().tolist() == expected.segment_scores().tolist()


@st.composite
def rated_corpora(draw):
    corpus = draw(corpora(items=4))
    older = draw(st.sampled_from([None, 0.5, -1.0]))
    return corpus, make_items(corpus.references, older)


@settings(max_examples=80, deadline=None)
@given(made=rated_corpora(), order=st.integers(1, 3))
def test_any_rater_on_any_study(made, order):
    corpus, items = made
    rater = Given({item.id: row for item, row in zip(items, corpus.weights, strict=True)})
    references = reference_set(items)
    found = UpsilonBLEU(rater=rater, order=order).compute(corpus.hypotheses, references).score()
    expected = delta_bleu(corpus.hypotheses, corpus.references, corpus.weights, order=order)
    assert found.score == expected.score
    assert found.numerators == expected.numerators
    assert found.signature["weighthash"] == expected.signature["weighthash"]
    chrf = UpsilonChrF(rater=rater).compute(corpus.hypotheses, references)
    plain = DeltaChrFPlusPlus().compute(corpus.hypotheses, corpus.references, corpus.weights)
    assert chrf.segment_scores().tolist() == plain.segment_scores().tolist()


def test_without_a_rater_the_weights_there_are_count(demo):
    study = read_study(demo, ratings=False)
    references = reference_set(study)
    for upsilon, delta in ((UpsilonBLEU(), DeltaBLEU()), (UpsilonChrF(), DeltaChrFPlusPlus())):
        for output in study.outputs.values():
            found = upsilon.compute(output, references).score()
            expected = delta.compute(output, references).score()
            assert found.score == expected.score
            assert found.signature.parts[1:] == expected.signature.parts[1:]
            assert found.signature["metric"] == upsilon.registered_name
            assert upsilon.name == found.name
    lists = UpsilonBLEU().compute(["a b"], [["a b", "c"]], [[1.0, -1.0]])
    assert lists.score().score == 100.0


def test_a_rater_replaces_the_weights_of_people():
    rated = make_items(ROWS, -1.0)
    new, old = (reference_set(items) for items in (ITEMS, rated))
    metric = UpsilonBLEU(rater=Overlap())
    one, two = (metric.compute(OUTPUTS["one"], given).score() for given in (new, old))
    assert (one.score, one.signature) == (two.score, two.signature)
    assert one.signature["weights"] == "overlap:1"
    assert old.weights == tuple((-1.0,) * len(row) for row in ROWS)


# --- A rater is asked once ------------------------------------------------------------------------


@pytest.mark.parametrize("systems", [1, 3])
def test_two_metrics_and_all_systems_ask_once(systems):
    rater = Together(f"together:{systems}")
    metrics = [
        UpsilonBLEU(rater=rater),
        UpsilonChrF(rater=rater),
        UpsilonBLEU(rater=rater, order=1),
    ]
    outputs = dict(list(OUTPUTS.items())[:systems])
    scoring = score_systems(reference_set(make_items(ROWS)), outputs, metrics)
    assert len(scoring.scores) == 3 * systems
    assert rater.batches == [["q0", "q1", "q2"]]


def test_equal_items_are_asked_about_once_whichever_objects_they_are():
    rater = Together("by content")
    for _ in range(2):
        rate_references(reference_set(make_items(ROWS)), rater)
    assert rater.batches == [["q0", "q1", "q2"]]
    changed = [replace(item, message="another message") for item in make_items(ROWS)]
    changed[1] = make_items(ROWS)[1]
    rate_references(reference_set(changed), rater)
    assert rater.batches[1:] == [["q0", "q2"]]


def test_references_that_a_lost_judge_has_rated_belong_to_no_other():
    """A new object may get the place in memory, and so the id, of one that is gone."""
    for _ in range(200):
        metric = UpsilonBLEU(rater=Silent(0.25))
        encoded_key = metric.encoding_key
        del metric
        assert UpsilonBLEU(rater=Silent(1.0)).encoding_key != encoded_key


def test_raters_of_the_same_signature_are_one():
    one, two, other = Overlap("s"), Overlap("s"), Overlap("t")
    references = reference_set(make_items(ROWS))
    for rater in (one, two, other, one, other):
        rate_references(references, rater)
    assert (len(one.asked), len(two.asked), len(other.asked)) == (3, 0, 3)


def test_raters_without_a_signature_are_told_apart():
    references = reference_set(ITEMS)
    raters = [Silent(0.25), Silent(0.5), Silent(1.0)]
    for rater in [*raters, *raters]:
        rated = rate_references(references, rater)
        assert {weight for row in rated.weights for weight in row} == {rater.weight}
    metrics = [UpsilonBLEU(rater=rater) for rater in raters] + [DeltaBLEU()]
    weighted = reference_set(make_items(ROWS, 0.75))
    scoring = score_systems(weighted, OUTPUTS, metrics)
    hashes = {one.score.signature["weighthash"] for one in scoring.scores}
    assert len(hashes) == 4


def test_metrics_of_one_rater_and_others_do_not_share_weights():
    """References are encoded once for metrics alike in everything but the judge."""
    items = make_items(ROWS, 1.0)
    metrics = [
        DeltaBLEU(),
        UpsilonBLEU(),
        UpsilonBLEU(rater=Overlap("a")),
        DeltaChrFPlusPlus(),
        UpsilonChrF(),
        UpsilonChrF(rater=Overlap("a")),
    ]
    scoring = score_systems(reference_set(items), OUTPUTS, metrics)
    where = [one.score.signature["weights"] for one in scoring.scores]
    assert where == (["items"] * 6 + ["a"] * 3) * 2
    for one in scoring.scores:
        metric = one.rows.metric
        alone = metric.compute(OUTPUTS[one.system], reference_set(items)).score()
        assert (alone.score, alone.signature) == (one.score.score, one.score.signature)


def test_parts_of_a_set_are_not_asked_about_again():
    rater = Overlap()
    references = reference_set(make_items(ROWS))
    whole = rate_references(references, rater)
    part = rate_references(references.take([2, 0, 2]), rater)
    assert rater.asked == ["q0", "q1", "q2"]
    assert part.weights == (whole.weights[2], whole.weights[0], whole.weights[2])


def test_items_without_a_positive_weight_are_left_out_of_all_metrics_alike():
    """Of what the judge gives; nobody is asked twice about the items that stay."""

    class Second(Together):
        def rate(self, item, references):
            self.asked.append(item.id)
            return [-1.0 if item.id == "q1" else 1.0 for _ in references]

    rater = Second()
    rated = make_items(ROWS, 1.0)
    references = replace(reference_set(rated), weights=((1.0,) * 3, (1.0,), (-1.0,) * 3))
    metrics = [UpsilonBLEU(rater=rater), UpsilonChrF(rater=rater)]
    found = score_systems(references, OUTPUTS, metrics, no_positive="skip")
    assert (found.item_ids, found.dropped) == (("q0", "q2"), ("q1",))
    assert rater.batches == [["q0", "q1", "q2"]]
    # delta-bleu sees the weights there were, and all see the same items.
    both = score_systems(references, OUTPUTS, [*metrics, DeltaBLEU()], no_positive="skip")
    assert (both.item_ids, both.dropped) == (("q0",), ("q1", "q2"))
    assert all(len(one.rows) == 1 for one in both.scores)
    with pytest.raises(InputError, match="1 of 3 items have no reference"):
        score_systems(references, OUTPUTS, metrics)


def test_missing_weights_are_noticed_before_rating():
    rater = Overlap()
    with pytest.raises(InputError, match="delta-bleu-2 needs a weight"):
        score_systems(reference_set(ITEMS), OUTPUTS, [UpsilonBLEU(rater=rater), DeltaBLEU()])
    assert rater.asked == []


# --- Narrowed references --------------------------------------------------------------------------


def test_the_rater_sees_the_references_that_are_left():
    items = [
        Item("q0", (Reference("r0", "a", 0.9, "mined"), Reference("r1", "a b"))),
        Item("q1", (Reference("r0", "c", 0.1, "written"), Reference("r1", "d", -1, "mined"))),
    ]

    class Places:
        def rate(self, item, references):
            assert references == item.references
            return [int(one.id[1:]) for one in references]

    single = reference_set(items, "single")
    rated = rate_references(single, Places())
    assert (rated.texts, rated.weights, rated.selection) == (
        (("a b",), ("c",)),
        ((1,), (0,)),
        "single",
    )
    with pytest.raises(InputError, match=r"1 of 2 items have no reference .* q1;"):
        UpsilonBLEU(rater=Places()).encode(single)
    rows = UpsilonBLEU(rater=Places()).compute(["a b"], single.take([0]))
    assert rows.score().signature["select"] == "single"
    assert rows.score().score == 100.0


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.tuples(texts(), st.floats(-1, 1)), min_size=1, max_size=5), min_size=1
    ),
    setting=st.sampled_from(["all", "single", "w>=0.3", "w>=-0.5"]),
    data=st.data(),
)
def test_items_follow_the_texts(rows, setting, data):
    items = [
        Item(
            str(i),
            tuple(
                Reference(f"r{j}", text, weight, data.draw(st.sampled_from(["original", "mined"])))
                for j, (text, weight) in enumerate(row)
            ),
        )
        for i, row in enumerate(rows)
    ]
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
    for chosen in (
        reference_set(items, setting),
        reference_set(items).select(setting).take(places),
    ):
        found = [tuple(one.text for one in item.references) for item in chosen.items]
        weights = [tuple(one.weight for one in item.references) for item in chosen.items]
        assert tuple(found) == chosen.texts
        assert tuple(weights) == chosen.weights
        assert tuple(item.id for item in chosen.items) == chosen.item_ids


# --- Settings and signatures ----------------------------------------------------------------------


def test_settings_go_to_a_rater_that_is_named(monkeypatch, tmp_path):
    asked = []

    def load(spec, **settings):
        asked.append((spec, settings))
        return Overlap()

    monkeypatch.setattr(RATER, load)
    UpsilonBLEU(rater="model.safetensors")
    UpsilonBLEU(rater=tmp_path / "m", triplets="mean", magnitude="p", original="rated")
    UpsilonChrF(rater="name:7", original=1.0, triplets="first")
    named = {"rater": "m", "triplets": "second", "combine": "arithmetic"}
    bleu, chrf, delta = make_metrics(["upsilon-bleu", "upsilon-chrf", "delta-bleu"], named)
    assert asked == [
        ("model.safetensors", {}),
        (str(tmp_path / "m"), {"triplets": "mean", "magnitude": "p", "original": "rated"}),
        ("name:7", {"triplets": "first", "original": 1.0}),
        ("m", {"triplets": "second"}),
        ("m", {"triplets": "second"}),
    ]
    assert (bleu.combine, bleu.triplets) == ("arithmetic", "second")
    assert (chrf.name, delta.combine) == ("upsilon-chrf", "arithmetic")
    assert repr(bleu) == "UpsilonBLEU(combine='arithmetic', rater='m', triplets='second')"


def test_needs_follow_from_the_rater():
    rated = Overlap()
    for found in (UpsilonBLEU, UpsilonChrF):
        assert found.needs == found().needs == {"references", "weights"}
        assert found(rater=rated).needs == {"references"}
        assert replace(found(rater=rated), rater=None).needs == found.needs


def test_metrics_are_values():
    rater = Given({"q0": [1.0]})
    assert UpsilonBLEU(rater=rater) == UpsilonBLEU(rater=rater) != UpsilonBLEU()
    assert len({UpsilonBLEU(), UpsilonBLEU(), UpsilonBLEU(order=3)}) == 2
    rater.__class__.__hash__ = None
    try:
        assert hash(UpsilonBLEU(rater=rater)) == hash(UpsilonBLEU(rater=rater))
    finally:
        del rater.__class__.__hash__
    references = reference_set(make_items(ROWS, 0.5))
    rated, plain = UpsilonChrF(rater=Silent(0.5), pool="best"), UpsilonChrF(pool="best")
    rows = copy.deepcopy(rated).compute(OUTPUTS["one"], references)
    assert rows.score().score == plain.compute(OUTPUTS["one"], references).score().score


def test_defaults_are_those_of_the_paper():
    assert (UpsilonBLEU().order, UpsilonBLEU().variant) == (2, "paper")
    assert deltableu.UpsilonBLEU is UpsilonBLEU
    assert {"UpsilonBLEU", "UpsilonChrF"} <= set(dir(deltableu))


@pytest.mark.parametrize(
    ("signature", "shown"),
    [
        ("nn-rater:3f2a,max,2p-1,original=1", "nn-rater:3f2a,max,2p-1,original=1"),
        ("a|b\tc\nd e", "a_b_c_d_e"),
    ],
)
def test_the_signature_names_the_rater(signature, shown):
    metrics = [UpsilonBLEU(rater=Overlap(signature)), UpsilonChrF(rater=Overlap(signature))]
    scoring = score_systems(reference_set(ITEMS), OUTPUTS, metrics)
    for one in scoring.scores:
        text = str(one.score.signature)
        assert f"|weights:{shown}|weighthash:" in text
        parts = dict(part.split(":", 1) for part in text.split("|"))
        assert parts["weights"] == shown
        # The part says where weights came from, the hash what they are.
        assert tuple(parts) == tuple(key for key, _ in one.score.signature.parts)


def test_a_rater_without_a_signature_is_called_by_its_class():
    score = UpsilonBLEU(rater=Silent(1)).compute(OUTPUTS["one"], reference_set(ITEMS)).score()
    assert score.signature["weights"].endswith(".Silent")


# --- Mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [UpsilonBLEU, UpsilonChrF])
@pytest.mark.parametrize("step", ["encode", "compute"])
def test_unrated_references_without_a_rater(found, step):
    said = f"{found().name} needs rated references: rate them first with `deltableu judge apply`"
    for references in (reference_set(ITEMS), ROWS):
        arguments = [references] if step == "encode" else [OUTPUTS["one"], references]
        with pytest.raises(InputError, match=re.escape(said)):
            getattr(found(), step)(*arguments)
    with pytest.raises(InputError, match=re.escape(said)):
        score_systems(reference_set(ITEMS), OUTPUTS, [found()])


def test_half_rated_references_without_a_rater():
    items = [*make_items(ROWS[:1], 1.0), *ITEMS[1:]]
    with pytest.raises(InputError, match="has no weight yet: rate it first"):
        UpsilonBLEU().encode(reference_set(items))


@pytest.mark.parametrize("found", [UpsilonBLEU, UpsilonChrF])
@pytest.mark.parametrize(
    "references", [ROWS, ReferenceSet(ROWS), ReferenceSet(ROWS, [[1.0] * len(row) for row in ROWS])]
)
def test_a_rater_needs_items(found, references):
    with pytest.raises(InputError, match="a judge looks at items"):
        found(rater=Overlap()).compute(OUTPUTS["one"], references)
    with pytest.raises(InputError, match="a judge looks at items"):
        found(rater=Overlap()).encode(references)


def test_texts_must_be_those_of_the_items():
    other = replace(reference_set(ITEMS), texts=(("a",), ("d e",), tuple(ROWS[2])), originals=None)
    with pytest.raises(InputError, match="not the references of its item") as raised:
        UpsilonBLEU(rater=Overlap()).encode(other)
    assert raised.value.problem.item == "q0"


@pytest.mark.parametrize("found", [UpsilonBLEU, UpsilonChrF])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rater": 5}, "rater must be a model's file, .* got 5"),
        ({"rater": object}, "rater must be a model's file"),
        ({"rater": ""}, "the judge has no name"),
        ({"rater": "there-is-no-such-rater"}, "there-is-no-such-rater"),
        ({"rater": "m", "triplets": "third"}, "triplets must be one of max, mean, first, second"),
        ({"rater": "m", "magnitude": "p-1"}, "magnitude must be one of 2p-1, p"),
        ({"triplets": "max"}, "triplets can be set for a judge that is named"),
        ({"rater": Overlap(), "magnitude": "p", "original": 1}, "magnitude and original can be"),
    ],
)
def test_wrong_settings(found, settings, said):
    with pytest.raises(InputError, match=said):
        found(**settings)


@pytest.mark.parametrize("given", [[2.0, 0.0, 0.0], [float("nan")] * 3, [1.0], "abc", None])
def test_what_a_rater_gives_is_checked(given):
    with pytest.raises(InputError, match="Given") as raised:
        UpsilonBLEU(rater=Given({"q0": given})).encode(reference_set(ITEMS))
    assert raised.value.problem.item == "q0"


def test_mistakes_in_hypotheses_come_before_rating():
    rater = Overlap()
    with pytest.raises(InputError, match="nothing to score"):
        UpsilonBLEU(rater=rater).compute([], reference_set(ITEMS))
    with pytest.raises(InputError):
        UpsilonBLEU(rater=rater).compute(["a"], reference_set(ITEMS))
    assert rater.asked == []


@pytest.mark.parametrize("found", [UpsilonBLEU, UpsilonChrF])
def test_no_items_at_all(found):
    with pytest.raises(InputError, match="nothing to score"):
        found(rater=Overlap()).encode(reference_set([]))


def test_references_encoded_for_another_rater_are_refused():
    """chrF says so; references that are encoded for BLEU carry their weights' origin with them."""
    encoded = UpsilonChrF(rater=Overlap("a")).encode(reference_set(ITEMS))
    with pytest.raises(InputError, match="encoded with other settings"):
        UpsilonChrF(rater=Overlap("b")).statistics(OUTPUTS["one"], encoded)
