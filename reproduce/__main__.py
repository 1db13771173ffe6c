"""`make reproduce`: writes pages of docs/ from the data sets beside the project."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from deltableu.io import atomic_write
from reproduce import (
    data_to_text,
    experiment,
    few_ratings,
    many_references,
    mined_references,
    negative_references,
    neighbours,
    reference_pools,
    responders,
    retrieval,
    ruber,
    suite,
    unit_studies,
    upsilon,
    wmt17,
    wmt18,
    wmt19_darr,
    wmt20,
)
from reproduce.page import assemble, split

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions.md"

SECTIONS: dict[str, Callable[[Path], str]] = {
    "negative-references": negative_references.section,
    "wmt17": wmt17.section,
    "wmt18": wmt18.section,
    "wmt19": wmt19_darr.section,
    "wmt20": wmt20.section,
    "many-references": many_references.section,
    "data-to-text": data_to_text.section,
    "few-ratings": few_ratings.section,
    "retrieval": retrieval.section,
    "upsilon": upsilon.section,
    "ruber": ruber.section,
    "soft-scr": reference_pools.section,
    "responders": responders.section,
    "experiment": experiment.section,
}

#: Too long for a section.
PAGES: dict[str, tuple[Path, Callable[[Path], str]]] = {
    "mined": (ROOT / "docs" / "mined-examples.md", mined_references.page),
    "neighbours": (ROOT / "docs" / "neighbours.md", neighbours.page),
    "suite": (ROOT / "docs" / "suite.md", suite.page),
    "units": (ROOT / "docs" / "units.md", unit_studies.page),
}


def main(names: Sequence[str]) -> int:
    known = [*SECTIONS, *PAGES]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"there is no section {unknown[0]!r}: choose {', '.join(known)}", file=sys.stderr)
        return 2
    if not DATA.is_dir():
        print("the data sets are not here: nothing was written", file=sys.stderr)
        return 2
    wanted = names or known
    # What is not asked for stays as it was.
    sections = split(PAGE.read_text("utf-8")) if names and PAGE.is_file() else {}
    pages: dict[Path, str] = {}
    for name in wanted:
        started = time.perf_counter()
        if name in PAGES:
            path, make = PAGES[name]
            pages[path] = make(DATA)
        else:
            sections[name] = SECTIONS[name](DATA)
            pages[PAGE] = assemble(sections, SECTIONS)
        print(f"{name}: {time.perf_counter() - started:.0f} s")
    for path, text in pages.items():
        with atomic_write(path) as file:
            file.write(text)
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
