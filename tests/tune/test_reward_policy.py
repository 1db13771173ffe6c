"""The example: a policy that learns from the reward, also for items that it has not seen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "reward_policy.py"


def test_the_policy_earns_more_after_learning(demo):
    done = subprocess.run(
        [sys.executable, EXAMPLE, demo], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"(\S+) items: expected reward (\S+) before, (\S+) after", done.stdout)
    assert [name for name, _, _ in rows] == ["training", "held-out"]
    for _, before, after in rows:
        assert float(after) > float(before) + 0.03
