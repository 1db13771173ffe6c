from __future__ import annotations

import sys
from pathlib import Path

# `from tests.oracle import ...` must also work where pytest was not started as `python -m pytest`.
_ROOT = str(Path(__file__).parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)
