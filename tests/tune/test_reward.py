"""delta-BLEU as a reward: equal to the metric, from threads and processes, as trainers call."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltableu
from deltableu import read_study
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.tune import DeltaBLEUReward
from tests.tune.reward_kit import batch, score_there

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "the", "cat", "naïve"]), max_size=6).map(
    " ".join
)
REFERENCES = st.lists(st.tuples(TEXTS, st.sampled_from([-1.0, -0.4, 0.0, 0.5, 1.0])), max_size=4)
ITEMS = st.lists(st.tuples(TEXTS, REFERENCES), min_size=1, max_size=5)
METRICS = [
    None,
    deltableu.DeltaBLEU(),
    deltableu.DeltaBLEU(brevity="positive", order=3, smooth="exp"),
    deltableu.SentenceBLEU(),
    deltableu.BLEU(lowercase=True),
]


@pytest.fixture(scope="module")
def reward(demo):
    return DeltaBLEUReward(demo)


@settings(max_examples=40)
@given(ITEMS, st.data(), st.sampled_from(METRICS))
def test_any_texts_in_any_order_score_as_the_metric_does(items, data, metric):
    references = [[first, *(text for text, _ in rest)] for first, rest in items]
    weights = [[1.0, *(weight for _, weight in rest)] for _, rest in items]
    ids = [f"q{number}" for number in range(len(items))]
    reward = DeltaBLEUReward(ReferenceSet(references, weights, item_ids=ids), metric)
    chosen = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=12))
    texts = [data.draw(TEXTS) for _ in chosen]
    found = reward.score([ids[place] for place in chosen], texts)
    wanted = [
        reward.metric.compute([text], [references[place]], [weights[place]]).segment_scores()[0]
        for place, text in zip(chosen, texts, strict=True)
    ]
    assert found * 100 == pytest.approx(wanted)


ODD_WORDS = (
    ["a", "b", "the", "naïve", "1,000.5", "x-1.", "a" * 20, "&amp;", "&", "<skipped>", "A", "-\n"],
    ["\n", "\r", "\u00a0", "\u3000", "", " ", "\x00", "日本", "\U0001f600"],
)
ODD_TEXTS = st.lists(st.sampled_from([*ODD_WORDS[0], *ODD_WORDS[1]]), max_size=8).map(" ".join)
ODD_METRICS = [
    *METRICS,
    *(deltableu.SignedDeltaBLEU(order=order, tokenize="none") for order in range(1, 10)),
    deltableu.SignedDeltaBLEU(tokenize="char"),
    deltableu.SignedDeltaBLEU(tokenize=str.split, variant="galley2019"),
    deltableu.SignedDeltaBLEU(lowercase=True, strip_punctuation=True, normalize="NFKC"),
    deltableu.BLEU(combine="arithmetic", tokenize="intl"),
]


@settings(max_examples=200)
@given(
    st.lists(st.tuples(ODD_TEXTS, st.sampled_from([1.0, 0.3, 0.1, -0.7])), min_size=1, max_size=5),
    ODD_TEXTS,
    st.sampled_from(ODD_METRICS),
)
def test_one_text_by_itself_scores_as_many_do_to_the_last_bit(references, text, metric):
    texts, weights = zip(*references, strict=True)
    given = ReferenceSet([["z"], [*texts, text[:5]]], [[1.0], [*weights, 0.9]], item_ids=["p", "q"])
    reward = DeltaBLEUReward(given, metric)
    many = reward.score(["q", "p", "q"], [text, text, ""]).tolist()
    assert [reward.score(["q"], [text])[0], reward.score(["p"], [text])[0]] == many[:2]
    assert reward.compute_score(None, "", "q") == many[2]
    rows = reward.metric.statistics([text], reward.encoded.take(np.array([1])))
    assert rows.segment_scores()[0] / 100.0 == many[0]


def test_only_items_that_are_there_can_be_taken(reward):
    for wrong in (-1, len(reward.encoded)):
        with pytest.raises(IndexError, match="items must be from 0 to 67"):
            reward.encoded.take(np.array([0, wrong]))
    twice = reward.encoded.take(np.array([3, 5])).take(np.array([1]))
    found = reward.metric.statistics(["yes"], twice).segment_scores()[0]
    assert found == reward.metric.segment_score("yes", reward.encoded, 5)


def test_one_text_may_be_in_any_sequence(reward):
    pandas = pytest.importorskip("pandas")
    (alone,) = reward.score(["d01"], ["yes I do"]).tolist()
    columns = pandas.Series(["d01"], index=[7]), pandas.Series(["yes I do"], index=[9])
    assert reward.score(*columns).tolist() == [alone]
    assert reward.score(("d01",), np.array(["yes I do"])).tolist() == [alone]


def test_references_of_many_chunks_are_one_table():
    """More items than are encoded at once, and more texts than are matched at once."""
    ids = [str(number) for number in range(2500)]
    references = [[f"w{number} x{number % 7} y", f"z{number % 3}"] for number in range(2500)]
    weights = [[1.0, -0.5]] * 2500
    reward = DeltaBLEUReward(ReferenceSet(references, weights, item_ids=ids))
    rng = np.random.default_rng(0)
    places = rng.integers(0, 2500, 3000)
    texts = [f"w{place} x{place % 7 if place % 2 else 9} z{place % 3}" for place in places]
    found = reward.score([ids[place] for place in places], texts)
    metric = deltableu.SignedDeltaBLEU()
    chosen = [references[place] for place in places], [weights[place] for place in places]
    assert found.tolist() == (metric.compute(texts, *chosen).segment_scores() / 100).tolist()


def test_threads_share_it(reward, demo):
    given_batch = batch(reward, demo)
    alone = reward.score(*given_batch).tolist()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: reward.score(*given_batch).tolist(), range(64)))
    assert all(one == alone for one in found)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_inherit_or_unpickle_it(reward, demo, start):
    context = multiprocessing.get_context(start)
    queue = context.Queue()
    process = context.Process(target=score_there, args=(reward, demo, queue))
    process.start()
    found = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    assert found == reward.score(*batch(reward, demo)).tolist()


def test_pickled_it_is_the_same(reward, demo):
    again = pickle.loads(pickle.dumps(reward))
    given_batch = batch(reward, demo)
    assert again.score(*given_batch).tolist() == reward.score(*given_batch).tolist()
    assert again.__name__ == "signed-delta-bleu-2"


def test_trl_calls_it_with_texts_or_messages(reward, demo):
    study = read_study(demo)
    ids = [item.id for item in study.items[:3]]
    texts = [study.items[0].references[0].text, "purple", study.items[2].references[0].text]
    alone = reward.score(ids, texts).tolist()
    others = {"completion_ids": [[1], [2], [3]], "trainer_state": None, "id": ids}
    assert reward(prompts=["?"] * 3, completions=texts, **others) == alone
    said = [[{"role": "assistant", "content": text}] for text in texts]
    assert reward(prompts=[[]] * 3, completions=said, **others) == alone
    said[0].insert(0, {"role": "assistant", "content": None})
    said[1][0]["content"] = [{"type": "text", "text": "pur"}, {"type": "text", "text": "ple"}]
    assert reward(completions=said, **others) == alone
    assert all(type(one) is float for one in alone)
    named = DeltaBLEUReward(study, item_column="question")
    assert named(completions=texts, question=ids) == alone
    assert reward(completions=[], id=[]) == []


def test_verl_calls_it_one_by_one_or_in_batches(reward, demo):
    study = read_study(demo)
    id, text = study.items[0].id, study.items[0].references[1].text
    (alone,) = reward.score([id], [text]).tolist()
    call = {"data_source": "demo", "solution_str": text}
    assert reward.compute_score(**call, ground_truth=id, extra_info=None) == alone
    assert reward.compute_score(**call, ground_truth=text, extra_info={"id": id}) == alone
    assert reward.compute_score("demo", text, id, {"split": "train"}, more=1) == alone
    batch = reward.compute_scores(["demo"] * 2, [text, ""], [id, id], extra_infos=[None, {}])
    assert batch == [alone, 0.0]


def test_bad_calls_are_told(reward):
    def said(call, *arguments, **columns):
        with pytest.raises(InputError) as found:
            call(*arguments, **columns)
        return str(found.value)

    assert said(reward.score, ["d01", "d01x"], ["x", "y"]) == (
        "item_ids[1]: there is no item 'd01x' among 68; did you mean 'd01'?"
    )
    assert said(reward.score, [3], ["x"]).startswith("item_ids[0]: must be an item's id, a string")
    assert said(reward.score, [["d01"]], ["x"]).startswith("item_ids[0]: must be an item's id")
    assert said(reward.score, ["d01"], [None]) == "item 'd01', texts[0]: must be a text, got None"
    assert said(reward.score, ["d01"], ["x", "y"]).startswith("2 texts for 1 item ids")
    for ids, texts in ((["d01"], ["\ud800"]), (["d01", "d02"], ["\ud800", ""])):
        assert said(reward.score, ids, texts).startswith("hypotheses[0] has a lone surrogate at")
    assert said(reward.compute_score, "demo", b"x", "d01").endswith("must be a text, got b'x'")
    assert "the column 'id' with items' ids, and is given the columns task" in said(
        reward, completions=["x"], task=["chat"]
    )
    assert said(reward, prompts=["x"], id=["d01"]) == "there are no completions to reward"
    for wrong in (None, [], {"role": "assistant"}, [{"content": None}], [3]):
        assert said(reward, completions=[wrong], id=["d01"]).startswith(
            "completions[0]: must be a text, or a list of messages with a content"
        )
    assert "one of them must be an item's id" in said(reward.compute_score, "demo", "x", 3)
    assert said(reward.compute_score, "demo", None, "d01").endswith("must be a text, got None")
    assert "give one of each" in said(reward.compute_scores, [], ["x"], [])
    assert "item_ids" in said(DeltaBLEUReward, ReferenceSet([["x"]], [[1.0]]))
    assert "must be a NgramMetric" in said(
        DeltaBLEUReward, ReferenceSet([["x"]], item_ids=["q"]), deltableu.ChrF()
    )
