"""`make bench`: all benchmarks one after the other; `python -m bench NAME` runs some of them.

Each is a process of its own: what others have loaded, kept or started would change its figures.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

BENCHMARKS = (
    "score_speed",
    "file_speed",
    "discriminative_speed",
    "soft_speed",
    "ter_speed",
    "keys_speed",
    "import_speed",
    "compare_speed",
    "permutation_speed",
    "agreement_speed",
    "validate_speed",
    "growth",
    "units_speed",
    "logs_speed",
    "mine_speed",
    "mine_growth",
    "mine_large",
    "embedding_speed",
    "vectors_speed",
    "scr_speed",
    "rater_speed",
    "rate_speed",
    "mbr_speed",
    "tune_speed",
    "tune_gain",
)


def main(names: Sequence[str]) -> int:
    """Run the benchmarks of these names, or all."""
    for name in names:
        if name not in BENCHMARKS:
            print(
                f"there is no benchmark {name!r}: choose {', '.join(BENCHMARKS)}", file=sys.stderr
            )
            return 2
    for name in names or BENCHMARKS:
        done = subprocess.run([sys.executable, "-c", f"from bench.{name} import main; main()"])
        if done.returncode:
            return done.returncode
        print(flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
