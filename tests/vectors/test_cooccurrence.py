"""Words and co-occurrence counts equal literal ones, in memory and spilled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.logs import find_partitions
from deltableu.vectors.cooccurrence import UNIT, Cooccurrences, merge_counts
from deltableu.vectors.glove import count_cooccurrences
from deltableu.vectors.strata import GROUPS, arrange, rounds, stratum
from tests.vectors.corpora import grouped, literal_counts, literal_words

WORDS = st.sampled_from(["a", "b", "c", "dd", "ee", "é", "你", "x1"])
ROWS = st.lists(
    st.tuples(*[st.lists(WORDS, max_size=12).map(" ".join)] * 2), min_size=1, max_size=20
)


def counted(rows, folder, **options):
    options = {"window": 3, "min_count": 1, "folder": folder} | options
    vocabulary, counts = count_cooccurrences(find_partitions(rows), **options)
    first, second = counts.pairs()
    assert (np.asarray(counts.hashes)[1:] > np.asarray(counts.hashes)[:-1]).all()
    assert (first >= second).all()
    found = {}
    for i, j, x in zip(first.tolist(), second.tolist(), counts.weights().tolist(), strict=True):
        found[vocabulary.words[i], vocabulary.words[j]] = x
        found[vocabulary.words[j], vocabulary.words[i]] = x
    return vocabulary, found


def texts_of(rows):
    return [text for row in rows for text in row]


@settings(deadline=None)
@given(ROWS, st.integers(1, 6), st.integers(1, 4), st.sampled_from([1, 2, 4]))
def test_counts_equal_a_literal_version(tmp_path_factory, rows, window, min_count, threads):
    texts = texts_of(rows)
    words = literal_words(texts, min_count)
    wanted = literal_counts(texts, window, min_count)
    folder = tmp_path_factory.mktemp("counts")
    options = {"window": window, "min_count": min_count, "threads": threads}
    if not wanted:
        with pytest.raises(InputError, match=r"no word|no two words"):
            counted(rows, folder, **options)
        return
    vocabulary, found = counted(rows, folder, **options)
    assert list(vocabulary.words) == words
    assert vocabulary.tokens == sum(len(text.split()) for text in texts)
    assert vocabulary.counts.tolist() == [
        sum(text.split().count(word) for text in texts) for word in words
    ]
    assert found == {pair: float(x) for pair, x in wanted.items()}


@pytest.fixture(scope="module")
def zipf():
    """Rows of logs, and the literal counts."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.3, size=30) % 500) for _ in range(400)]
    rows = list(zip(texts[::2], texts[1::2], strict=True))
    return rows, {pair: float(x) for pair, x in literal_counts(texts, 15, 2).items()}


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("memory", [1, 100_000, 1 << 30])
def test_spilling_changes_nothing(threads, memory, zipf, tmp_path):
    rows, wanted = zipf
    options = {"window": 15, "min_count": 2, "threads": threads, "memory": memory}
    _, found = counted(rows, tmp_path, **options)
    assert bool(list(tmp_path.iterdir())) == (memory < 1 << 30)
    assert found == wanted


def test_far_words_count_nearly_their_part(tmp_path):
    """Distances above 20 need not divide the unit."""
    text = " ".join(f"w{n}" for n in range(60))
    _, found = counted([(text, "")], tmp_path, window=50)
    for distance in range(1, 51):
        assert found["w0", f"w{distance}"] == pytest.approx(1 / distance, rel=1e-7)
        assert distance > 20 or found["w0", f"w{distance}"] == 1 / distance
    assert ("w0", "w51") not in found


def test_a_text_ends_at_its_end(tmp_path):
    _, found = counted([("a b", "c d"), ("e", "f")], tmp_path)
    assert set(found) == {("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")}


def test_words_are_those_that_mining_compares(tmp_path):
    vocabulary, _ = counted([("Don’t PANIC, don't!", "It's 42 你好")], tmp_path)
    assert vocabulary.words == ("don't", "42", "it's", "panic", "你", "好")


def test_at_most_so_many_words(tmp_path):
    vocabulary, found = counted([("b a c a b", "a d")], tmp_path, max_vocabulary=2)
    assert vocabulary.words == ("a", "b")
    assert vocabulary.different == 4
    assert found["a", "b"] == 2.5 + 1 / 2  # the rare word between them is taken out


def test_many_different_words(tmp_path):
    rows = [(" ".join(f"w{n}x{k}" for k in range(50)), f"w{n}x0") for n in range(2000)]
    vocabulary, found = counted(rows, tmp_path, window=1)
    assert len(vocabulary) == 100_000
    assert len(found) == 2 * 2000 * 49


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([("...", "!?")], {}, "the logs hold no words"),
        ([("a b", "c")], {"min_count": 2}, r"no word occurs 2 times or more .*lower min_count"),
        ([("a", "b")], {}, "no two words stand in one text"),
        ([], {}, "there are no logs"),
    ],
)
def test_logs_to_learn_nothing_from(rows, options, said, tmp_path):
    with pytest.raises(InputError, match=said):
        counted(rows, tmp_path, **options)


# --- The order in which pairs are learnt from -----------------------------------------------------


def test_rounds_hold_every_stratum_once_and_share_no_group():
    found = rounds()
    assert sorted(one for row in found for one in row) == list(range(GROUPS * (GROUPS + 1) // 2))
    groups = {int(stratum(a, b)): {a, b} for a in range(GROUPS) for b in range(a + 1)}
    for row in found:
        members = [group for one in row for group in groups[one]]
        assert len(members) == len(set(members)) == GROUPS


@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_entries_hold_every_pair_in_its_stratum(memory, tmp_path):
    _, counts = count_cooccurrences(
        find_partitions(grouped(rows=500)), window=5, min_count=1, folder=tmp_path
    )
    options = {"x_max": 10.0, "alpha": 0.75, "memory": memory, "folder": tmp_path}
    entries = arrange(counts, slice_size=300, **options)
    assert entries.slices == -(-len(counts) // 300)
    first, second = counts.pairs()
    weights = counts.weights()
    wanted = dict(zip(zip(first.tolist(), second.tolist(), strict=True), weights, strict=True))
    found = {}
    for number in range(entries.slices):
        pairs, values, bounds = entries.load(number)
        for one in range(len(bounds) - 1):
            part = slice(bounds[one], bounds[one + 1])
            assert (stratum(pairs[part, 0] % GROUPS, pairs[part, 1] % GROUPS) == one).all()
        found |= dict(zip(map(tuple, pairs.tolist()), values.tolist(), strict=True))
    assert found.keys() == wanted.keys()
    for pair, (log, weight) in found.items():
        assert log == pytest.approx(np.log(wanted[pair]), abs=1e-6)
        assert weight == pytest.approx(min(1.0, (wanted[pair] / 10) ** 0.75))
    assert entries.steps == 2 * len(wanted) - sum(a == b for a, b in wanted)


def test_counts_of_parts_add_up(tmp_path):
    def part(*pairs):
        hashes, counts = (np.array(column, np.uint64) for column in zip(*pairs, strict=True))
        return Cooccurrences(hashes, counts)

    big = 1 << 63
    parts = [part((1, 5), (big, 1)), part((1, 2), (7, UNIT)), part((big, 2), (big + 1, 3))]
    merged = merge_counts(parts, tmp_path, 1)
    assert merged.hashes.tolist() == [1, 7, big, big + 1]
    assert merged.counts.tolist() == [7, UNIT, 3, 3]
