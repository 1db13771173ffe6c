"""The kernels without a compiler: the same files, the same numbers."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from deltableu import BLEU, DeltaBLEU, SentenceBLEU, _kernels
from deltableu.text import Tokenizer
from tests.golden import worked_examples as worked
from tests.score.corpora import VARIANTS, random_corpus
from tests.uncompiled import run_uncompiled

_SCRIPT = """
import json, sys
import numpy as np
from deltableu import _kernels
from deltableu.score.engine import credit_tables
from deltableu.text import tokens
from tests.score.test_uncompiled import results

kernels = [_kernels.compiled(one) for one in (credit_tables._kernel, tokens._kernel)]
json.dump({"compiled": kernels, "results": results()}, sys.stdout)
"""

TEXTS = [
    "It costs $1,000.50, doesn't it?",
    "5.,.6 -7 8-9 &amp;&quot;<skipped>",
    "a\u3000b\u2028c\x85d\xa0e",
    "naïve 朗兹曼 \U0001f600.",
    "one-\ntwo\nthree",
    "",
]


def results() -> dict[str, object]:
    """Numbers that must not depend on the compiler; JSON keeps every bit of a float."""
    corpus = random_corpus(21, 80, words=4, references=5)
    texts = (corpus.hypotheses, corpus.references, corpus.weights)
    rows = {
        f"{variant} {combine}": DeltaBLEU(order=3, variant=variant, combine=combine).compute(*texts)
        for variant in VARIANTS
        for combine in ("geometric", "arithmetic")
    }
    metric = DeltaBLEU(tokenize="none", brevity="positive")
    rows["encoded"] = metric.statistics(texts[0], metric.encode(*texts[1:]))
    rows["bleu"] = BLEU(lowercase=True).compute(*texts)
    rows["sentence"] = SentenceBLEU(method="nakov").compute(*texts)
    golden = DeltaBLEU(tokenize="none").compute(
        [worked.C_GOOD, worked.C_BAD], [worked.C_REFERENCES] * 2, [worked.C_WEIGHTS] * 2
    )
    hashes = {
        name: Tokenizer(name).hash(TEXTS).keys.view("u8").tolist() for name in ("none", "13a")
    }
    return {
        "rows": {name: one.rows.tolist() for name, one in rows.items()},
        "signatures": {name: str(one.score().signature) for name, one in rows.items()},
        "golden": golden.score().score,
        "tokens": Tokenizer("13a").tokens_of(TEXTS),
        "hashes": hashes,
    }


@pytest.fixture(scope="module")
def uncompiled() -> dict[str, object]:
    found: dict[str, object] = run_uncompiled(_SCRIPT)
    return found


def test_it_ran_as_plain_python(uncompiled):
    assert uncompiled["compiled"] == [False, False]


@pytest.mark.parametrize("part", ["rows", "signatures", "tokens", "hashes"])
def test_results_are_the_compiled_ones(uncompiled, part):
    """Exactly: JSON writes floats so that they read back the same."""
    assert uncompiled["results"][part] == results()[part]


def test_golden_number(uncompiled):
    assert uncompiled["results"]["golden"] / 100 == pytest.approx(0.1145, abs=5e-5)
    assert np.count_nonzero(uncompiled["results"]["rows"]["bleu"]) > 100


@pytest.mark.filterwarnings("ignore:deltableu was installed without a C compiler")
@pytest.mark.parametrize("name", _kernels.names())
def test_kernels_are_compiled_where_a_compiler_is(name):
    if not (shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("there is no C compiler here")
    if os.environ.get("DELTABLEU_UNCOMPILED"):
        pytest.skip("DELTABLEU_UNCOMPILED asks for plain Python")
    assert _kernels.compiled(_kernels.load(name))


def test_the_kernels_are_found():
    assert {"score.engine._ngrams", "text._tokens"} <= set(_kernels.names())
