"""Minimum Bayes risk without a compiler: the same numbers."""

from __future__ import annotations

import numpy as np

from deltableu.tune import MBRPlan, minimum_bayes_risk
from tests.tune.mbr_oracle import lists_of
from tests.uncompiled import run_uncompiled

_SCRIPT = """
import json, sys
from deltableu import _kernels
from deltableu.tune import mbr_ngrams
from tests.tune.test_mbr_uncompiled import results

found = {"compiled": _kernels.compiled(mbr_ngrams._kernel), "results": results()}
json.dump(found, sys.stdout)
"""


def results() -> dict[str, list[float]]:
    """Utilities that must not depend on the compiler."""
    rng = np.random.default_rng(5)
    rows = [[" ".join(rng.choice(list("abcd"), 5)) for _ in range(14)] for _ in range(2)]
    lists = lists_of(rows, rng.normal(size=28))
    plans = {
        "exact": MBRPlan("LM"),
        "left": MBRPlan("LM", own_reference="leave"),
        "aggregated": MBRPlan("LM", aggregate=True, own_reference="leave"),
    }
    found = {
        f"{utility} {name}": minimum_bayes_risk(lists, utility, plan, threads=1).utilities
        for utility in ("bleu-2", "chrf", "delta-bleu")
        for name, plan in plans.items()
        if not (plan.aggregate and utility == "delta-bleu")
    }
    return {name: utilities.tolist() for name, utilities in found.items()}


def test_plain_python_finds_the_same() -> None:
    found = run_uncompiled(_SCRIPT)
    assert found["compiled"] is False
    assert found["results"] == results()
