"""How long things take."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

__all__ = ["best_of"]


def best_of(function: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
