"""Numbers that must not depend on the compiler, small enough to do without one."""

from __future__ import annotations

from typing import get_args

import numpy as np

from deltableu.stats.correlation import Method, correlate
from deltableu.validate.tie_calibration import calibrated_accuracy


def small_results():
    generator = np.random.default_rng(3)
    found = []
    for size in (6, 45):
        x = generator.integers(8, size=(3, size)).astype(float)
        y = generator.integers(8, size=size).astype(float)
        found += [correlate(x, y, method, threshold=2.0).tolist() for method in get_args(Method)]
    human = generator.integers(4, size=(4, 20)).astype(float)
    metric = human + generator.normal(size=human.shape)
    for level in ("item", "pooled"):
        result = calibrated_accuracy(metric, human, level=level, shuffles=1)
        found.append([result.accuracy, result.epsilon, result.permuted])
    return found
