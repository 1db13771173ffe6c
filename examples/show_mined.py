"""Print items of a study with the references that were mined for them.

Usage: `python examples/show_mined.py STUDY ITEM...`
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import deltableu


def main(study: str, wanted: Sequence[str]) -> None:
    for item in deltableu.read_study(study, ratings=False).items:
        if item.id not in wanted:
            continue
        print(f"{item.id}  {item.message}")
        for reference in item.references:
            source = reference.source
            if source is not None and source.score is not None:
                print(f"  {source.score:6.2f}  {reference.text:55}  to: {source.utterance}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
