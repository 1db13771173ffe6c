"""A function for each metric: the same numbers as its class, and the same defaults."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import deltableu
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.metrics import BUILT_IN
from deltableu.score.registry import metric_class

HYPOTHESES = ["the cat sat on it", "yes", "no idea at all"]
REFERENCES = [["the cat sat down", "a cat"], ["yes , of course"], ["no idea", "no"]]
WEIGHTS = [[1.0, 0.5], [0.8], [0.6, -0.4]]
MESSAGES = ["where is it ?", "really ?", "what now ?"]

#: Metric, function, and the arguments that choose it.
FUNCTIONS = {
    "bleu": ("bleu", {}),
    "delta-bleu": ("delta_bleu", {"weights": WEIGHTS}),
    "signed-delta-bleu": ("delta_bleu", {"weights": WEIGHTS, "combine": "arithmetic"}),
    "nist": ("nist", {}),
    "ibleu": ("ibleu", {"messages": MESSAGES}),
    "cider": ("cider", {}),
    "cider-d": ("cider_d", {}),
    "distinct-1": ("distinct", {}),
    "distinct-2": ("distinct", {"n": 2}),
    "entropy-1": ("entropy", {"n": 1}),
    "entropy-2": ("entropy", {"n": 2}),
    "entropy-3": ("entropy", {"n": 3}),
    "entropy-4": ("entropy", {}),
    "chrf": ("chrf", {}),
    "chrf++": ("chrf_plus_plus", {}),
    "ter": ("ter", {}),
    "rouge-1": ("rouge", {"kind": "1"}),
    "rouge-2": ("rouge", {"kind": "2"}),
    "rouge-l": ("rouge", {}),
    "delta-chrf": ("discriminative", {"weights": WEIGHTS, "similarity": "chrf"}),
    "delta-chrf++": ("discriminative", {"weights": WEIGHTS}),
    "delta-rouge-l": ("discriminative", {"weights": WEIGHTS, "similarity": "rouge-l"}),
    "delta-ter": ("discriminative", {"weights": WEIGHTS, "similarity": "ter"}),
    "soft-cosine": ("soft", {"weights": WEIGHTS}),
    "soft-chrf": ("soft", {"weights": WEIGHTS, "similarity": "chrf"}),
    "soft-chrf++": ("soft", {"weights": WEIGHTS, "similarity": "chrf++"}),
    "soft-rouge-l": ("soft", {"weights": WEIGHTS, "similarity": "rouge-l"}),
    "soft-ter": ("soft", {"weights": WEIGHTS, "similarity": "ter"}),
}
#: Sentinels, and metrics that need a file, have classes only; one sentence has a test of its own.
WITHOUT = {
    *("length", "message-overlap", "constant", "random"),
    *("delta-vectors", "delta-table", "soft-table"),
}


def called(name, **more):
    function, settings = FUNCTIONS[name]
    references = () if function in ("distinct", "entropy") else (REFERENCES,)
    return getattr(deltableu, function)(HYPOTHESES, *references, **settings, **more)


def test_every_metric_has_a_function_or_a_reason():
    assert set(BUILT_IN) == {*FUNCTIONS, *WITHOUT, "sentence-bleu"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_the_score_and_interval_of_its_class(name):
    items = ReferenceSet(REFERENCES, WEIGHTS, messages=MESSAGES)
    rows = metric_class(name)().compute(HYPOTHESES, items)
    score = called(name, interval="jackknife")
    assert score.score == pytest.approx(rows.score().score)
    expected = rows.interval()
    assert (score.interval is None) == (expected is None)
    if expected is not None:
        assert score.interval.low == pytest.approx(expected.low)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_those_of_the_class(name):
    function, chosen = FUNCTIONS[name]
    found = metric_class(name)()
    for key, parameter in inspect.signature(getattr(deltableu, function)).parameters.items():
        if key not in chosen and key not in ("similarity", "pool") and hasattr(found, key):
            assert parameter.default == getattr(found, key), key


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_class_is_exported_and_documented(name):
    found = metric_class(name)
    assert getattr(deltableu, found.__name__) is found
    assert found.__name__ in deltableu.__all__
    assert found.__doc__
    assert not found.__doc__.startswith(f"{found.__name__}(")  # what dataclasses write


def test_text_options_are_heeded():
    plain = deltableu.bleu(["THE CAT SAT DOWN"], [["the cat sat down"]])
    lowered = deltableu.bleu(["THE CAT SAT DOWN"], [["the cat sat down"]], lowercase=True)
    assert (plain.score, lowered.score) == (0.0, 100.0)


def test_references_can_be_selected():
    assert deltableu.chrf(["a cat"], [["x", "a cat"]]).score == 100.0
    assert deltableu.chrf(["a cat"], [["x", "a cat"]], select="single").score == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: deltableu.chrf("text", [["x"]]), "hypotheses is one string"),
        (lambda: deltableu.chrf(["a"], ["x"]), r"references\[0\] is a string"),
        (lambda: deltableu.ter(["a"], [[7]]), "no string"),
        (lambda: deltableu.ter([7], [["a"]]), r"hypotheses\[0\] is a int, no string"),
        (lambda: deltableu.nist(["a"], [["x"]], interval="normal"), "interval must be one of"),
        (lambda: deltableu.nist(["a"], [["x"]], confidence=95), "confidence must lie between"),
        (lambda: deltableu.cider(["a"], [["x"]], resamples=0), "resamples must be at least 1"),
        (lambda: deltableu.rouge(["a"], [["x"]], kind="3"), "kind must be one of 1, 2, L"),
        (lambda: deltableu.distinct(["a"], n=3), "n must be a whole number from 1 to 2"),
        (lambda: deltableu.ibleu(["a"], [["x"]]), "needs the message"),
        (lambda: deltableu.ibleu(["a"], [["x"]], [3]), r"messages\[0\] must be"),
        (lambda: deltableu.delta_bleu(["a"], [["x"]]), "needs weights"),
        (lambda: deltableu.discriminative(["a"], [["x"]]), "needs weights"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="no setting or option 'ci'"):
        deltableu.bleu(["a"], [["a"]], ci="bca")


def test_names_are_looked_up_when_they_are_used():
    code = (
        "import sys, deltableu; assert 'numpy' not in sys.modules; dir(deltableu);"
        "assert 'numpy' not in sys.modules; deltableu.chrf; deltableu.NIST;"
        "assert not {'scipy.stats', 'matplotlib', 'torch', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
