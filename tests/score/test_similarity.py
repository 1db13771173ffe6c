"""Similarities: each pair asked once, kept on disk, from a table, or from word vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deltableu.errors import InputError
from deltableu.score import Discriminative, FunctionSimilarity, Similarity, TableSimilarity
from deltableu.score.engine.similarity import VectorSimilarity, read_similarities
from deltableu.score.metrics.chrf import ChrFSimilarity
from deltableu.score.metrics.similarities import as_similarity

HYPOTHESES = ["yes", "no", "yes"]
REFERENCES = [["yes", "no", "yes"], ["yes"], ["yes", "sure"]]
WEIGHTS = [[1.0, -1.0, 0.5], [-0.5], [1.0, 0.25]]
PAIRS = [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("yes", "sure")]


class Judge:
    """Counts what it is asked, and can lose its connection."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.calls: list[int] = []
        self.dies_at = dies_at

    def one(self, hypothesis: str, reference: str) -> float:
        if self.dies_at is not None and len(self.asked) >= self.dies_at:
            raise ConnectionError("the judge is gone")
        self.asked.append((hypothesis, reference))
        return len(set(hypothesis) & set(reference)) / 26

    def many(self, hypotheses: list[str], references: list[str]) -> list[float]:
        self.calls.append(len(hypotheses))
        return [self.one(*pair) for pair in zip(hypotheses, references, strict=True)]


def score(similarity, hypotheses=HYPOTHESES, references=REFERENCES, weights=WEIGHTS):
    return Discriminative(similarity).compute(hypotheses, references, weights).score().score


def test_batched_or_not_the_scores_are_the_same():
    one, many = Judge(), Judge()
    assert score(one.one) == score(FunctionSimilarity(many.many, batched=True))
    assert one.asked == many.asked
    assert many.calls == [4]


def test_each_distinct_pair_is_asked_once_in_order():
    judge = Judge()
    score(judge.one)
    assert judge.asked == PAIRS


@pytest.mark.parametrize(("size", "calls"), [(1, [1] * 4), (3, [3, 1]), (4, [4]), (256, [4])])
def test_batches_have_the_size_asked_for(size, calls):
    judge = Judge()
    score(FunctionSimilarity(judge.many, batched=True, batch_size=size))
    assert judge.calls == calls


@pytest.mark.parametrize(
    "result", [np.array, tuple, list, lambda v: np.array(v, dtype=np.float32), lambda v: v]
)
def test_batches_may_come_as_any_sequence_of_numbers(result):
    judge = Judge()
    similarity = FunctionSimilarity(lambda h, r: result(judge.many(h, r)), batched=True)
    assert score(similarity) == pytest.approx(score(Judge().one), rel=1e-6)


def test_names_are_those_of_the_functions():
    assert as_similarity(Judge().one).name == "one"
    assert FunctionSimilarity(Judge().one, label="gpt").name == "gpt"

    class Callable:
        def __call__(self, hypothesis, reference):
            return 1.0

    assert as_similarity(Callable()).name == "Callable"
    assert score(Callable()) == pytest.approx(100 * (0.75 - 1 - 0.5 + 0.625) / 3)


# --- The cache ------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "judge.sqlite"


@pytest.mark.parametrize("batched", [False, True])
def test_the_second_run_asks_nothing(batched, cache):
    scores = []
    for expected in (PAIRS, []):
        judge = Judge()
        function = judge.many if batched else judge.one
        scores.append(score(FunctionSimilarity(function, batched, "judge", cache)))
        assert judge.asked == expected
    assert scores[0] == scores[1] == score(Judge().one)


def test_only_new_pairs_are_asked(cache):
    score(FunctionSimilarity(Judge().one, label="judge", cache=cache))
    judge = Judge()
    similarity = FunctionSimilarity(judge.one, label="judge", cache=str(cache))
    score(similarity, ["yes", "new"], [["sure", "other"], ["yes"]], [[1, 1], [1]])
    assert judge.asked == [("yes", "other"), ("new", "yes")]


@pytest.mark.parametrize(("size", "dies_at", "kept"), [(1, 2, 2), (3, 3, 3), (2, 3, 2), (4, 3, 0)])
@pytest.mark.parametrize("batched", [False, True])
def test_what_was_finished_before_an_exception_is_kept(batched, size, dies_at, kept, cache):
    def similarity(judge):
        function = judge.many if batched else judge.one
        return FunctionSimilarity(function, batched, "judge", cache, batch_size=size)

    with pytest.raises(ConnectionError, match="the judge is gone"):
        score(similarity(Judge(dies_at=dies_at)))
    judge = Judge()
    assert score(similarity(judge)) == score(Judge().one)
    assert judge.asked == PAIRS[kept:]


def test_a_wrong_value_is_not_kept(cache):
    def wrong(hypothesis, reference):
        return 7.0 if reference == "sure" else 0.5

    with pytest.raises(InputError, match="gave 7"):
        score(FunctionSimilarity(wrong, label="judge", cache=cache, batch_size=1))
    judge = Judge()
    score(FunctionSimilarity(judge.one, label="judge", cache=cache))
    assert judge.asked == [("yes", "sure")]


def test_two_labels_do_not_mix(cache):
    half = score(FunctionSimilarity(lambda h, r: 0.5, label="half", cache=cache))
    full = score(FunctionSimilarity(lambda h, r: 1.0, label="full", cache=cache))
    assert full == pytest.approx(2 * half)
    assert half != 0

    def gone(hypothesis, reference):
        raise AssertionError("nothing should be asked")

    assert score(FunctionSimilarity(gone, label="half", cache=cache)) == half
    assert score(FunctionSimilarity(gone, label="full", cache=cache)) == full


def test_a_lone_surrogate_is_named_before_it_reaches_the_cache(cache):
    with pytest.raises(InputError, match="lone surrogate"):
        score(FunctionSimilarity(Judge().one, cache=cache, label="j"), ["\ud800"], [["a"]], [[1.0]])


# --- Tables ---------------------------------------------------------------------------------------


TABLE = {pair: number / 8 for number, pair in enumerate(PAIRS)}


def test_a_table_is_a_function_that_knows_its_pairs():
    assert score(TABLE) == score(lambda *pair: TABLE[pair])
    assert score(TableSimilarity(TABLE)) == score(TABLE)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
def test_tables_are_read_from_files(name, tmp_path):
    path = tmp_path / name
    rows = [(*pair, value) for pair, value in TABLE.items()]
    if name.endswith("jsonl"):
        keys = ("hypothesis", "reference", "score")
        lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
    else:
        mark = "," if name.endswith("csv") else "\t"
        lines = [mark.join(("hypothesis", "reference", "score"))]
        lines += [mark.join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    assert read_similarities(path) == TABLE


def test_an_empty_hypothesis_is_a_text_like_others(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("hypothesis,reference,score\n,yes,0.5\n")
    assert read_similarities(path) == {("", "yes"): 0.5}


def test_a_pair_may_come_twice_with_the_same_score(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("hypothesis,reference,score\na,b,0.5\na,b,0.50\n")
    assert read_similarities(path) == {("a", "b"): 0.5}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("hypothesis,reference,score\na,b,high\n", 2, "is no number"),
        ("hypothesis,reference,score\na,b,\n", 2, "is no number"),
        ("hypothesis,reference,score\na,b,1\na,c,0\na,b,0.5\n", 4, "another score above"),
        ("hypothesis,reference,score\na,b,0.5\na,c,nan\n", 3, "[0, 1]"),
        ("hypothesis,reference,score\na,b,1.5\n", 2, "[0, 1]"),
        ("hypothesis,reference\na,b\n", 1, "'score'"),
    ],
)
def test_bad_tables_are_named(text, line, said, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_similarities(path)
    assert (raised.value.problem.file, raised.value.problem.line) == (str(path), line)
    assert said in str(raised.value)


# --- Word vectors ---------------------------------------------------------------------------------


@pytest.fixture
def vectors(tmp_path):
    """Unit vectors at 0, 60 and 180 degrees."""
    path = tmp_path / "vectors.txt"
    path.write_text(f"yes 1 0\nsure 0.5 {3**0.5 / 2}\nno -1 0\n, 0 1\n")
    return path


def cosine(path, hypothesis, reference, **settings):
    similarity = VectorSimilarity(str(path), **settings)
    (found,) = similarity.pairs([hypothesis], [reference], np.zeros(1, dtype=np.int64))
    return found


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("yes", "yes", 1.0),
        ("yes", "sure", 0.5),
        ("yes", "no", 0.0),  # the cosine is -1
        ("yes sure", "yes", 3**0.5 / 2),  # 30 degrees
        ("yes sure", "sure", 3**0.5 / 2),
        ("yes yes yes", "yes", 1.0),
        ("yes , really", "yes", 0.5**0.5),
        ("yes, really", "yes", 0.5**0.5),
        ("Yes", "YES", 1.0),
        ("unknown words", "yes", 0.0),
        ("", "yes", 0.0),
        ("", "", 0.0),
        ("yes no", "yes", 0.0),  # the mean has no direction
    ],
)
def test_cosines_by_hand(vectors, hypothesis, reference, expected):
    assert cosine(vectors, hypothesis, reference) == pytest.approx(expected)
    assert cosine(vectors, reference, hypothesis) == pytest.approx(expected)


def test_settings_of_vectors(vectors):
    assert cosine(vectors, "yes,", "yes", tokenize="none") == 0.0
    assert cosine(vectors, "Yes", "yes", lowercase=False) == 0.0


def test_the_length_of_a_word_vector_does_not_count(vectors):
    scaled = vectors.with_name("scaled.txt")
    scaled.write_text("yes 10 0\nsure 0.05 0.08660254037844387\nno -3 0\n")
    assert cosine(scaled, "yes sure", "yes") == pytest.approx(3**0.5 / 2)


def test_vectors_as_a_metric(vectors):
    metric = Discriminative(VectorSimilarity(str(vectors)))
    rows = metric.compute(["yes", "sure"], [["yes", "sure"], ["no"]], [[1.0, -1.0], [-1.0]])
    assert rows.segment_scores() == pytest.approx([50.0, 0.0])


def test_a_path_is_as_good_as_its_name(vectors):
    assert VectorSimilarity(Path(vectors)).settings() == VectorSimilarity(str(vectors)).settings()


# --- One's own ------------------------------------------------------------------------------------


def test_a_similarity_of_ones_own():
    class Same(Similarity):
        name = "same"

        def pairs(self, hypotheses, references, owners):
            own = [hypotheses[owner] for owner in owners.tolist()]
            return np.array([float(h == r) for h, r in zip(own, references, strict=True)])

    metric = Discriminative(Same())
    assert metric.name == "delta-same"
    rows = metric.compute(HYPOTHESES, REFERENCES, WEIGHTS)
    assert rows.segment_scores().tolist() == [75.0, 0.0, 50.0]


def test_chrf_similarity_is_named_by_its_words():
    assert [ChrFSimilarity(word_order=n).name for n in (0, 1, 2)] == ["chrf", "chrf+", "chrf++"]
