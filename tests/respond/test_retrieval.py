"""What is retrieved is what scoring every pair against every item finds, with leaks and ties."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import Item, Reference
from deltableu.errors import InputError
from deltableu.mine import BM25, MiningPlan, RowFilter, TfIdf, mine_references
from deltableu.respond import retrieved_responses
from tests.mine.brute_force import bm25, letters
from tests.mine.mining_kit import make_items, make_logs, make_rows
from tests.text.test_words import words

EVERYTHING = RowFilter(min_words=0, junk=False)
WORDS = ("a", "b", "c", "d", "A", "b!", ",", "你", "don't", "x", "y")
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
logs_of_pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=30)


@st.composite
def logs_and_items(draw):
    """Small logs, some of whose pairs are the items' own."""
    logs = draw(logs_of_pairs)
    pairs = draw(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
    pairs += draw(st.lists(st.sampled_from(logs), max_size=2))
    contexts = draw(st.lists(texts, max_size=2))
    found = [
        Item(str(number), (Reference("own", response),), tuple(contexts), message)
        for number, (message, response) in enumerate(pairs)
    ]
    return logs, found


def tf_idf(query, documents):
    """Cosines as Liu et al. have them, with the idf of this project."""
    rows = [Counter(words(document)) for document in documents]
    having = Counter(word for row in rows for word in row)

    def vector(counts):
        return {
            word: times * math.log((len(rows) + 1) / (having[word] + 1))
            for word, times in counts.items()
        }

    def length(one):
        return math.sqrt(sum(value**2 for value in one.values())) or 1.0

    asked = vector(Counter(words(query)))
    found = []
    for row in rows:
        one = vector(row)
        dot = sum(value * one.get(word, 0.0) for word, value in asked.items())
        found.append(dot / (length(asked) * length(one)))
    return found


def brute_force(item, query, logs, method):
    """Scores and responses by score and position, the first of each different response."""
    utterances = tuple(utterance for utterance, _ in logs)
    scores = (
        bm25(query, utterances, BM25("utterance"))
        if method == "c-bm25"
        else tf_idf(query, utterances)
    )
    own = (letters(item.message), letters(item.references[0].text))
    best = {}
    for position, (score, (utterance, response)) in enumerate(zip(scores, logs, strict=True)):
        leak = item.message != "" and (letters(utterance), letters(response)) == own
        if score > 1e-12 and not leak:
            best.setdefault(letters(response), []).append((-score, position))
    return sorted(min(found) for found in best.values()), scores


@settings(max_examples=120, deadline=None)
@given(
    logs_and_items(),
    st.sampled_from(["c-bm25", "c-tfidf"]),
    st.integers(1, 4),
    st.sampled_from(["message", "context"]),
    st.sampled_from([1, 50, 10**6]),
    st.sampled_from([1, 3]),
)
def test_as_brute_force(given, method, keep, query, partition_bytes, threads):
    logs, items = given
    found = retrieved_responses(
        items,
        logs,
        method=method,
        keep=keep,
        query=query,
        rows=EVERYTHING,
        partition_bytes=partition_bytes,
        threads=threads,
    )
    missing = set(found.missing)
    answered = [item for item in items if item.id not in missing]
    assert found.item_ids == tuple(item.id for item in items)
    assert (found.nbest is None) == (not answered)
    for number, item in enumerate(items):
        asked = item.message if query == "message" else "\n".join((*item.context, item.message))
        wanted, scores = brute_force(item, asked, logs, method)
        if item.id in missing:
            assert not wanted
            assert found.texts[number] == ""
            continue
        place = answered.index(item)
        candidates = found.nbest.candidates(place)
        bounds = found.nbest.bounds
        got = found.nbest.totals[bounds[place] : bounds[place + 1]].tolist()
        assert found.texts[number] == candidates[0]
        assert len(candidates) == min(keep, len(wanted))
        assert got == pytest.approx([-score for score, _ in wanted[:keep]], rel=1e-9)
        for text, score in zip(candidates, got, strict=True):
            same = [
                at
                for at, (_, response) in enumerate(logs)
                if response == text and scores[at] == pytest.approx(score, rel=1e-9)
            ]
            assert same
    whole = retrieved_responses(
        items, logs, method=method, keep=keep, query=query, rows=EVERYTHING, threads=1
    )
    assert whole == found
    if whole.nbest is not None:
        assert whole.nbest.totals.tolist() == found.nbest.totals.tolist()


@pytest.mark.parametrize("method", ["c-bm25", "c-tfidf"])
def test_ties_go_by_position_in_the_log(method):
    logs = [("other", "unlike"), *(("x y", f"answer {number}") for number in range(40))]
    logs += [("y x", "later")]
    item = Item("1", (Reference("own", "answer 0"),), message="x y")
    for partition_bytes in (1, 100, 10**6):
        for threads in (1, 4):
            found = retrieved_responses(
                [item],
                logs,
                method=method,
                keep=4,
                partition_bytes=partition_bytes,
                threads=threads,
            )
            # The first one is the item's own pair.
            assert found.nbest.texts == tuple(f"answer {number}" for number in (1, 2, 3, 4))
            assert found.facts["items whose own pair is in the logs"] == 1


def test_only_the_own_pair_is_passed_over_not_what_a_reference_says():
    references = (Reference("a", "fine"), Reference("b", "so so", origin="mined"))
    item = Item("7", references, message="How are you?", meta={"thread": "t"})
    logs = [
        {"utterance": "how are you", "response": "Fine!"},
        {"utterance": "how are you", "response": "in its thread", "thread": "t"},
        {"utterance": "how are you", "response": "with its id", "id": "7"},
        {"utterance": "how are you", "response": "so so"},
        {"utterance": "how are you now", "response": "fine"},
        {"utterance": "unlike", "response": "unlike"},
    ]
    found = retrieved_responses([item], logs, keep=5)
    assert found.nbest.texts == ("so so", "fine")
    assert found.facts["that equal a reference of their item: mined"] == 1


def test_words_of_one_row_alone_count_in_its_length():
    logs = [("a b", "short"), ("a b c d e f g", "long"), ("z", "other"), ("z q", "another")]
    for query in ("a b", "a b nowhere"):
        found = retrieved_responses([Item("1", (), message=query)], logs, method="c-tfidf", keep=2)
        assert found.nbest.texts == ("short", "long")
        wanted = sorted(tf_idf(query, [utterance for utterance, _ in logs]), reverse=True)[:2]
        assert found.nbest.totals.tolist() == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("method", ["c-bm25", "c-tfidf"])
def test_many_rows_in_files_and_in_memory(method, tmp_path):
    rows = [row for part in make_logs(tmp_path / "logs", files=6, rows=300) for row in part]
    items = make_items(20)
    found = retrieved_responses(items, tmp_path / "logs", method=method, keep=3, threads=2)
    again = retrieved_responses(
        items, tmp_path / "logs", method=method, keep=3, partition_bytes=2000, threads=1
    )
    assert found == again
    assert found.nbest.texts == again.nbest.texts
    memory = retrieved_responses(items, (row for row in rows), method=method, keep=3)
    assert (memory.texts, memory.signature) == (found.texts, found.signature)
    reordered = retrieved_responses(items, rows[::-1], method=method, keep=3)
    assert reordered.signature == found.signature
    other = retrieved_responses(items, rows[1:], method=method)
    assert other.signature != found.signature


@pytest.mark.parametrize("method", ["c-bm25", "c-tfidf"])
def test_a_killed_run_goes_on(method, tmp_path):
    make_logs(tmp_path / "logs", files=5, rows=60)
    items = make_items(5)
    plain = retrieved_responses(items, tmp_path / "logs", method=method)

    class Stopped(Exception):  # noqa: N818
        pass

    def stop(event):
        if event.stage == "scoring":
            raise Stopped

    work = tmp_path / "work"
    with pytest.raises(Stopped):
        retrieved_responses(items, tmp_path / "logs", method=method, work=work, log=stop)
    events = []
    again = retrieved_responses(
        items, tmp_path / "logs", method=method, work=work, log=events.append
    )
    assert again == plain
    assert sum(event.kept for event in events) >= 5
    assert not work.exists()


def test_mining_by_tf_idf():
    logs = [(row["utterance"], row["response"]) for row in make_rows(200, 3)]
    items = make_items(4)
    plan = MiningPlan(TfIdf(), top=3)
    mined = mine_references(items, logs, plan=plan)
    assert mined.signature.startswith("tf-idf|on:utterance|top:3")
    for item, before in zip(mined.study.items, items, strict=True):
        scores = tf_idf(before.message, [utterance for utterance, _ in logs])
        for one in item.references[1:]:
            places = [
                at for at, pair in enumerate(logs) if pair == (one.source.utterance, one.text)
            ]
            assert one.source.score == pytest.approx(scores[places[0]], rel=1e-9)
    on_response = mine_references(items, logs, plan=MiningPlan(TfIdf("response"), top=2))
    assert "on:response" in on_response.signature
    with pytest.raises(InputError, match="on must be one of utterance, response, got 'both'"):
        TfIdf("both")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "bm25"}, "method must be one of c-bm25, c-tfidf, got 'bm25'"),
        ({"query": "all"}, "query must be one of message, context, got 'all'"),
        ({"keep": 0}, "keep must be at least 1, got 0"),
        ({"keep": 20_000}, "keep must be at most 10,000, got 20000"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        retrieved_responses([Item("1", (), message="x")], [("x", "y")], **settings)


def test_items_that_cannot_be_answered():
    with pytest.raises(InputError, match="there are no items"):
        retrieved_responses([], [("x", "y")])
    with pytest.raises(InputError, match="item '1', message: the item has nothing to look for"):
        retrieved_responses([Item("1", ())], [("x", "y")])
    twice = [Item("1", (), message="x")] * 2
    with pytest.raises(InputError, match="item '1', id: the id was used before"):
        retrieved_responses(twice, [("x", "y")])
    found = retrieved_responses([Item("1", (), message="unheard")], [("x", "y")])
    assert (found.texts, found.missing, found.nbest) == (("",), ("1",), None)
