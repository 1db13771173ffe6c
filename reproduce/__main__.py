"""`make reproduce`: writes docs/reproductions.md from the data sets beside the project."""

from __future__ import annotations

import sys
from pathlib import Path

from deltableu.corpus import atomic_write
from reproduce import negative_references

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions.md"

INTRODUCTION = """# Reproductions

Written by `make reproduce` (deltableu) from public data sets, which are not part of this project.
Every number is from that run; nothing is edited by hand.
"""


def main() -> int:
    if not DATA.is_dir():
        print("the data sets are not here: nothing was written", file=sys.stderr)
        return 2
    sections = [INTRODUCTION, negative_references.section(DATA)]
    with atomic_write(PAGE) as file:
        file.write("\n".join(sections))
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
