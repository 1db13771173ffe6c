"""Rows of candidates are those of the texts scored one by one against their item's references."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, NIST, ChrF, DeltaBLEU, DeltaChrF, Distinct1, RougeL
from deltableu.corpus import NBestLists
from deltableu.errors import InputError
from deltableu.tune import candidate_statistics

TEXTS = st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join)
ITEMS = st.lists(
    st.tuples(
        st.lists(TEXTS, min_size=1, max_size=5),
        st.lists(st.tuples(TEXTS, st.sampled_from([1.0, 0.5, -0.5])), max_size=3),
    ),
    min_size=1,
    max_size=4,
)
METRICS = [
    BLEU(order=2, tokenize="none"),
    DeltaBLEU(tokenize="none"),
    ChrF(),
    NIST(order=2, tokenize="none"),
    DeltaChrF(),
    RougeL(),
]


def lists_of(several):
    texts = tuple(text for some in several for text in some)
    bounds = np.cumsum([0, *map(len, several)])
    ids = tuple(map(str, range(len(several))))
    return NBestLists(ids, bounds, texts, ("F",), np.zeros((len(texts), 1)))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@settings(max_examples=25)
@given(items=ITEMS, threads=st.sampled_from([1, 3]))
def test_rows_are_those_of_each_text_by_itself(metric, items, threads):
    lists = lists_of([candidates for candidates, _ in items])
    references = [["a b c", *(text for text, _ in more)] for _, more in items]
    weights = [[1.0, *(weight for _, weight in more)] for _, more in items]
    encoded = metric.encode(references, weights)
    found = candidate_statistics(metric, encoded, lists, threads=threads)
    assert len(found) == len(lists.texts)
    for place, (owner, text) in enumerate(zip(lists.owners.tolist(), lists.texts, strict=True)):
        asked = ["a"] * len(items)
        asked[owner] = text
        alone = metric.statistics(asked, encoded)
        assert found.rows[place].tolist() == alone.rows[owner].tolist()
        assert found[[place]].info == alone[[owner]].info


def test_a_metric_of_all_texts_together_is_refused():
    metric = Distinct1()
    with pytest.raises(InputError, match="distinct-1 is no function of sums"):
        candidate_statistics(metric, metric.encode([["a"]]), lists_of([["a", "b"]]))


def test_as_many_lists_as_items_are_needed():
    metric = BLEU()
    with pytest.raises(InputError, match="1 hypotheses for 2 items"):
        candidate_statistics(metric, metric.encode([["a"], ["b"]]), lists_of([["a"]]))


def test_progress_counts_texts_of_the_longest_list():
    metric, told = BLEU(), []
    lists = lists_of([["a", "b", "a"], ["c"]])
    encoded = metric.encode([["a"], ["b"]])
    candidate_statistics(metric, encoded, lists, progress=lambda *at: told.append(at))
    assert told == [(1, 2), (2, 2)]
