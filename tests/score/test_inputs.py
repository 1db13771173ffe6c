"""Bad input is refused in one sentence that names the place; odd but good input is taken."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from deltableu import BLEU, DeltaBLEU, SentenceBLEU, bleu, delta_bleu, sentence_bleu
from deltableu.errors import InputError, InputWarning

NAN = float("nan")
HYPOTHESES = ["a b c", "b c d"]
REFERENCES = [["a b x", "a b c"], ["d c", "b c"]]
WEIGHTS = [[0.4, 0.9], [1.0, -0.6]]


def refused(call: Callable[[], object], *named: str) -> str:
    """The call raises an InputError of one sentence that has all the given words."""
    with pytest.raises(InputError) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message
    assert ". " not in message
    assert not message.endswith(".")
    assert len(message) < 300
    for words in named:
        assert words in message, message
    return message


@pytest.fixture(params=["compute", "encode"])
def delta(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """delta-BLEU rows of good hypotheses, both ways."""

    def compute(references: Any, weights: Any = None, **settings: Any) -> Any:
        metric = DeltaBLEU(**settings)
        texts = HYPOTHESES[: len(references)]
        if request.param == "compute":
            return metric.compute(texts, references, weights)
        return metric.statistics(texts, metric.encode(references, weights))

    return compute


# --- Shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("references", "named"),
    [
        ([["a", "b", "c"], ["a", "b", "c"]], ["transposed", "2 lists of 3", "3 hypotheses"]),
        ([["a", "b", "c"]], ["transposed", "1 lists of 3", "3 hypotheses"]),
        ([["a"], ["b"]], ["3 hypotheses", "2 items"]),
        ([["a"]] * 4, ["3 hypotheses", "4 items"]),
        ([], ["3 hypotheses", "0 items"]),
    ],
    ids=["transposed", "one-stream", "too-few", "too-many", "none"],
)
@pytest.mark.parametrize("metric", [BLEU(), SentenceBLEU()], ids=["bleu", "sentence-bleu"])
def test_wrong_counts(metric, references, named):
    refused(lambda: metric.compute(["a", "b", "c"], references), *named)


@pytest.mark.parametrize(
    ("hypotheses", "references", "named"),
    [
        ("a b", [["a b"]], ["hypotheses is one string", "[hypotheses]"]),
        (["a"], "a b", ["references is one string"]),
        (["a"], ["a b"], ["references[0] is a string"]),
        (["a", "b"], [["a"], "b"], ["references[1] is a string"]),
        (["a", "b"], [["a"], None], ["references[1] is None"]),
        (["a", "b"], [["a"], NAN], ["references[1] is a float"]),
        (["a", "b"], [["a"], 5], ["references[1] is a int"]),
        (b"a b", [["a b"]], ["hypotheses is one string"]),
        (None, [["a"]], ["hypotheses must be a list", "NoneType"]),
        (["a"], None, ["references must be a list", "NoneType"]),
        (["a"], 7, ["references must be a list", "int"]),
        ({"a": 1}, [["a"]], ["hypotheses is a dict"]),
        (["a"], {"x": ["a"]}, ["references is a dict"]),
        (np.float64(3), [["a"]], ["hypotheses is a single value"]),
    ],
)
def test_what_is_no_list(hypotheses, references, named):
    refused(lambda: bleu(hypotheses, references), *named)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: sentence_bleu(["a"], ["a"]), ["hypothesis must be one string"]),
        (lambda: sentence_bleu(None, ["a"]), ["hypothesis must be one string"]),
        (lambda: sentence_bleu("a", "a"), ["references is one string"]),
        (lambda: sentence_bleu("a", []), ["item '0'", "no references"]),
        (lambda: sentence_bleu("a", [3]), ["item '0'", "reference 0 is a int"]),
    ],
)
def test_one_sentence(call, named):
    refused(call, *named)


def test_an_empty_corpus():
    refused(lambda: bleu([], []), "nothing to score", "no hypotheses")
    refused(lambda: delta_bleu([], [], []), "nothing to score", "no hypotheses")
    refused(lambda: BLEU().encode([]), "nothing to score", "no references")
    refused(lambda: bleu([], [["a"]]), "nothing to score", "no hypotheses")


@pytest.mark.parametrize(
    ("references", "weights"),
    [
        ([["a"], []], [[1.0], []]),
        ([["a"], [None]], [[1.0], [0.5]]),
        ([["a"], [NAN]], [[1.0], [1.0]]),
    ],
    ids=["empty-list", "only-none", "only-nan"],
)
def test_zero_references(delta, references, weights):
    refused(lambda: delta(references, weights), "item '1'", "no references")
    refused(lambda: bleu(HYPOTHESES, references), "item '1'", "no references")


def test_far_items_are_named_too():
    """Chunks are numbered within the whole."""
    items = 3000
    references: list[list[Any]] = [["a"]] * items
    texts: list[Any] = ["a"] * items
    weights = [[1.0]] * items
    at = 2500
    refused(lambda: bleu([*texts[:at], None, *texts[at + 1 :]], references), f"hypotheses[{at}]")
    broken = [*references[:at], [3], *references[at + 1 :]]
    refused(lambda: bleu(texts, broken), f"item '{at}'")
    heavy = [*weights[:at], [2.0], *weights[at + 1 :]]
    refused(lambda: delta_bleu(texts, references, heavy), f"item '{at}'")
    bad = [*weights[:at], [-1.0], *weights[at + 1 :]]
    refused(lambda: delta_bleu(texts, references, bad), f": {at};", "1 of 3000 items")


# --- Texts that are none --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [(None, "None"), (NAN, "a float"), (3, "a int"), (b"a", "a bytes"), (["a"], "a list")],
)
@pytest.mark.parametrize("tokenize", ["13a", "none", "char", "intl", "zh", str.upper, str.split])
@pytest.mark.parametrize("lowercase", [False, True])
def test_a_hypothesis_that_is_no_text(text, kind, tokenize, lowercase):
    metric = BLEU(tokenize=tokenize, lowercase=lowercase)
    references = [["a"], ["b"]]
    named = (f"hypotheses[1] is {kind}",)
    refused(lambda: metric.compute(["a", text], references), *named)
    refused(lambda: metric.statistics(["a", text], metric.encode(references)), *named)


@pytest.mark.parametrize(("text", "kind"), [(3, "a int"), (2.5, "a float"), (b"a", "a bytes")])
@pytest.mark.parametrize("tokenize", ["13a", "char", str.upper])
def test_a_reference_that_is_no_text(delta, text, kind, tokenize):
    named = ("item '1'", f"reference 1 is {kind}")
    refused(lambda: delta([["a"], ["b", text]], [[1.0], [1.0, 0.5]], tokenize=tokenize), *named)


@pytest.mark.parametrize("missing", [None, NAN], ids=["None", "NaN"])
@pytest.mark.parametrize("weight", [0.5, -1.0, None, NAN], ids=str)
def test_missing_references_are_skipped_with_their_weights(delta, missing, weight):
    """Tables have empty cells, in the column of texts and in the one of weights."""
    expected = delta(REFERENCES, WEIGHTS)
    padded = [["a b x", missing, "a b c"], ["d c", "b c", missing]]
    weights = [[0.4, weight, 0.9], [1.0, -0.6, weight]]
    rows = delta(padded, weights)
    assert np.array_equal(rows.rows, expected.rows)
    assert str(rows.score().signature) == str(expected.score().signature)
    plain = bleu(HYPOTHESES, padded)
    assert plain.score == bleu(HYPOTHESES, REFERENCES).score


@pytest.mark.parametrize("tokenize", ["13a", "none", "char", str.split])
@pytest.mark.parametrize("lowercase", [False, True])
def test_lone_surrogates(tokenize, lowercase):
    metric = BLEU(tokenize=tokenize, lowercase=lowercase)
    broken = "b\ud800"
    refused(lambda: metric.compute(["a", broken], [["a"], ["b"]]), "hypotheses[1]", "surrogate")
    refused(lambda: metric.compute(["a", "b"], [["a"], ["c", broken]]), "item '1'", "surrogate")
    refused(lambda: metric.encode([["a", broken]]), "item '0'", "surrogate")
    ready = metric.encode([["a"], ["b"]])
    refused(lambda: metric.statistics([broken, "b"], ready), "hypotheses[0]", "surrogate")


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "named"),
    [
        (1.5, "1.5"),
        (-1.0000001, "-1"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (NAN, "nan"),
        (None, "no weight"),
        ("good", "'good'"),
        ("0.5", "'0.5'"),
        (b"1", "b'1'"),
        ([0.5], "[0.5]"),
        ({}, "{}"),
        (1j, "1j"),
    ],
    ids=str,
)
def test_a_weight_that_is_none(delta, weight, named):
    weights = [[0.4, 0.9], [1.0, weight]]
    refused(lambda: delta(REFERENCES, weights), "item '1'", "reference 1", named)


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ([[0.4], [1.0, 0.5]], ["item '0'", "1 weights", "2 references"]),
        ([[0.4, 1.0], [1.0, 0.5, 0.1]], ["item '1'", "3 weights", "2 references"]),
        ([[0.4, 1.0]], ["2 items", "weights for 1"]),
        ([[0.4, 1.0]] * 3, ["2 items", "weights for 3"]),
        ([1.0, 0.5], ["weights[0] is a float", "list of numbers"]),
        ([[1.0, 0.5], None], ["weights[1] is None"]),
        ("1.0", ["weights is one string"]),
        (0.5, ["weights must be a list", "float"]),
        (None, ["needs a weight for every reference", "none were given"]),
    ],
)
def test_weights_of_another_shape(delta, weights, named):
    refused(lambda: delta(REFERENCES, weights), *named)


def test_bleu_ignores_the_values_of_weights_but_not_their_shape():
    assert bleu(HYPOTHESES, REFERENCES, weights=WEIGHTS).score == bleu(HYPOTHESES, REFERENCES).score
    refused(lambda: bleu(HYPOTHESES, REFERENCES, weights=[[1.0], [1.0, 1.0]]), "item '0'")


@pytest.mark.parametrize("variant", ["paper", "galley2019", "tsuta2020"])
def test_no_positive_reference(delta, variant):
    message = refused(
        lambda: delta(REFERENCES, [[-0.5, 0.0], [1.0, -1.0]], variant=variant),
        "1 of 2 items",
        "positive weight",
        "no_positive",
    )
    assert ": 0;" in message


def test_many_items_without_a_positive_reference():
    weights = [[-0.5]] * 7 + [[0.5]]
    message = refused(lambda: delta_bleu(["a"] * 8, [["a"]] * 8, weights), "7 of 8 items")
    assert "0, 1, 2, 3, 4 and 2 more" in message


def test_items_without_a_positive_reference_can_be_skipped():
    texts, references = ["a b", "c d", "a b x"], [["a b"], ["c d"], ["a b y", "a"]]
    weights = [[1.0], [-1.0], [0.2, 0.9]]
    skipped = delta_bleu(texts, references, weights, no_positive="skip")
    without = delta_bleu(
        [texts[0], texts[2]], [references[0], references[2]], [weights[0], weights[2]]
    )
    assert skipped == without
    assert skipped.segments == 2
    nothing_to_skip = delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS, no_positive="skip")
    assert nothing_to_skip == delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS)


def test_skipping_all_items_is_explained():
    message = refused(lambda: delta_bleu(["a"], [["a"]], [[-1.0]], no_positive="skip"), "positive")
    assert "no hypotheses were given" not in message


def test_skipping_with_a_wrong_number_of_hypotheses():
    refused(
        lambda: delta_bleu(["a", "b"], [["a"]] * 3, [[-1.0], [1.0], [1.0]], no_positive="skip"),
        "2 hypotheses",
        "3 items",
    )


def test_what_to_do_without_a_positive_reference_is_error_or_skip():
    refused(
        lambda: delta_bleu(["a"], [["a"]], [[1.0]], no_positive="drop"), "error, skip", "'drop'"
    )


def test_signed_scores_need_a_weight_that_is_not_0(delta):
    rows = delta(REFERENCES, [[-0.5, 0.0], [-1.0, -1.0]], combine="arithmetic")
    assert rows.score().score < 0
    refused(
        lambda: delta(REFERENCES, [[-0.5, 0.0], [0.0, 0.0]], combine="arithmetic"),
        "1 of 2 items",
        "non-zero weight",
    )


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: BLEU(tokenize="moses"), ["unknown tokenizer 'moses'", "13a"]),
        (lambda: BLEU(tokenize=None), ["tokenize must be a name or a function"]),
        (lambda: BLEU(normalize="NFD"), ["normalize must be NFC, NFKC or None", "'NFD'"]),
        (lambda: DeltaBLEU(variant="galley"), ["variant must be one of", "galley2019", "'galley'"]),
        (lambda: DeltaBLEU(brevity="none"), ["brevity must be one of all, positive", "'none'"]),
        (lambda: BLEU(smooth="add-one"), ["smooth must be one of", "add-k", "'add-one'"]),
        (lambda: BLEU(smooth_value=-0.1), ["smooth_value", "-0.1"]),
        (lambda: BLEU(smooth_value=NAN), ["smooth_value", "nan"]),
        (lambda: BLEU(smooth_value=float("inf")), ["smooth_value", "inf"]),
        (lambda: SentenceBLEU(method="lin"), ["method must be one of", "bleu+1", "'lin'"]),
        (
            lambda: BLEU(combine="harmonic"),
            ["combine must be one of geometric, arithmetic", "'harmonic'"],
        ),
        (lambda: BLEU(order=0), ["order must be a whole number from 1 to 64", "0"]),
        (lambda: BLEU(order=-1), ["order must be", "-1"]),
        (lambda: BLEU(order=65), ["order must be", "65"]),
        (lambda: BLEU(order=2.0), ["order must be", "2.0"]),
        (lambda: BLEU(order="4"), ["order must be", "'4'"]),
        (lambda: delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS, select="w>0.6"), ["w>=0.6", "w>0.6"]),
        (lambda: delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS, select="w>=2"), ["[-1, 1]", "2"]),
        (lambda: bleu(HYPOTHESES, REFERENCES, select="w>=0.5"), ["threshold needs weights"]),
    ],
)
def test_unknown_settings(make, named):
    refused(make, *named)


@pytest.mark.parametrize(
    ("encoder", "matcher"),
    [
        (BLEU(order=4), BLEU(order=2)),
        (BLEU(), BLEU(tokenize="none")),
        (BLEU(), BLEU(lowercase=True)),
        (BLEU(order=2), DeltaBLEU()),
        (DeltaBLEU(), DeltaBLEU(variant="tsuta2020")),
        (DeltaBLEU(), DeltaBLEU(combine="arithmetic")),
        (DeltaBLEU(), DeltaBLEU(brevity="positive")),
    ],
    ids=lambda metric: repr(metric),
)
def test_references_encoded_for_another_metric(encoder, matcher):
    encoded = encoder.encode(REFERENCES, WEIGHTS)
    refused(lambda: matcher.statistics(HYPOTHESES, encoded), "encoded with other settings")


def test_references_can_be_shared_by_metrics_that_count_alike():
    encoded = BLEU(order=3).encode(REFERENCES)
    plain = BLEU(order=3, smooth="none").statistics(HYPOTHESES, encoded)
    assert np.array_equal(plain.rows, BLEU(order=3).compute(HYPOTHESES, REFERENCES).rows)
    sentences = SentenceBLEU(order=3).statistics(HYPOTHESES, encoded)
    assert np.array_equal(sentences.rows[:, :8], plain.rows)


@pytest.mark.parametrize("hypotheses", [["a"], ["a", "b", "c"], []])
def test_wrong_number_of_hypotheses_for_encoded_references(hypotheses):
    encoded = BLEU().encode(REFERENCES)
    refused(
        lambda: BLEU().statistics(hypotheses, encoded), f"{len(hypotheses)} hypotheses", "2 items"
    )


# --- Square input ---------------------------------------------------------------------------------

SQUARE = [["the cat sat", "the feline sat"], ["a dog barked", "the hound barked"]]
ANIMALS = ["the feline sat down", "a hound barked loudly"]


def test_transposed_squares_warn():
    turned = [list(row) for row in zip(*SQUARE, strict=True)]
    for compute in (
        lambda references: bleu(ANIMALS, references),
        lambda references: delta_bleu(ANIMALS, references, [[1.0, 0.5]] * 2),
        lambda references: SentenceBLEU().compute(ANIMALS, references),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compute(SQUARE)
        with pytest.warns(InputWarning, match="transposed"):
            compute(turned)


# --- Tables ---------------------------------------------------------------------------------------

TABLES = {
    "tuples": (tuple(HYPOTHESES), tuple(map(tuple, REFERENCES)), tuple(map(tuple, WEIGHTS))),
    "generators": (
        lambda: (text for text in HYPOTHESES),
        lambda: (row for row in REFERENCES),
        lambda: (row for row in WEIGHTS),
    ),
    "numpy": (np.array(HYPOTHESES), np.array(REFERENCES), np.array(WEIGHTS)),
    "numpy objects": (
        np.array(HYPOTHESES, dtype=object),
        [np.array(row, dtype=object) for row in REFERENCES],
        [np.array(row, dtype=np.float64) for row in WEIGHTS],
    ),
    "pandas tables": (pd.Series(HYPOTHESES), pd.DataFrame(REFERENCES), pd.DataFrame(WEIGHTS)),
    "pandas columns": (
        pd.Series(HYPOTHESES, index=[7, 3], dtype="string"),
        pd.Series(REFERENCES, index=[7, 3]),
        pd.Series(WEIGHTS, index=[7, 3]),
    ),
    "polars tables": (
        pl.Series(HYPOTHESES),
        pl.DataFrame(REFERENCES, orient="row"),
        pl.DataFrame(WEIGHTS, orient="row"),
    ),
    "polars columns": (pl.Series(HYPOTHESES), pl.Series(REFERENCES), pl.Series(WEIGHTS)),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_equal_lists(name):
    def given() -> list[Any]:
        return [value() if callable(value) else value for value in TABLES[name]]

    expected = delta_bleu(HYPOTHESES, REFERENCES, WEIGHTS)
    assert delta_bleu(*given()) == expected
    texts, references, weights = given()
    metric = DeltaBLEU()
    assert metric.statistics(texts, metric.encode(references, weights)).score() == expected
    texts, references, _ = given()
    assert bleu(texts, references) == bleu(HYPOTHESES, REFERENCES)


@pytest.mark.parametrize("column", [tuple, np.array, pd.Series, pl.Series])
def test_references_of_one_sentence_may_be_a_column(column):
    expected = sentence_bleu("a b c", REFERENCES[0])
    assert sentence_bleu("a b c", column(REFERENCES[0])) == expected


def test_empty_cells_of_tables_are_skipped():
    """Items with fewer references leave cells empty: NaN in pandas, null in polars."""
    ragged = [["a b x", "a b c"], ["d c"]]
    weights = [[0.4, 0.9], [1.0]]
    expected = delta_bleu(HYPOTHESES, ragged, weights)
    cells, numbers = [["a b x", "a b c"], ["d c", None]], [[0.4, 0.9], [1.0, None]]
    frames = (pd.DataFrame(cells), pd.DataFrame(numbers))
    assert frames[1].isna().sum().sum() == 1
    assert delta_bleu(HYPOTHESES, *frames) == expected
    tables = (pl.DataFrame(cells, orient="row"), pl.DataFrame(numbers, orient="row"))
    assert delta_bleu(HYPOTHESES, *tables) == expected
    assert bleu(HYPOTHESES, frames[0]) == bleu(HYPOTHESES, ragged)


def test_a_missing_hypothesis_in_a_column_is_named():
    column = pd.Series(["a b c", None])
    refused(lambda: bleu(column, REFERENCES), "hypotheses[1]")
    refused(lambda: bleu(pl.Series(["a b c", None]), REFERENCES), "hypotheses[1] is None")


def test_strings_of_numpy_are_strings():
    texts = [np.str_(text) for text in HYPOTHESES]
    assert bleu(texts, REFERENCES) == bleu(HYPOTHESES, REFERENCES)


def test_whole_numbers_and_booleans_are_weights():
    ones = delta_bleu(HYPOTHESES, REFERENCES, [[1.0, 0.0], [1.0, -1.0]])
    assert delta_bleu(HYPOTHESES, REFERENCES, [[1, 0], [1, -1]]) == ones
    assert delta_bleu(HYPOTHESES, REFERENCES, [[True, False], [True, np.int64(-1)]]) == ones
