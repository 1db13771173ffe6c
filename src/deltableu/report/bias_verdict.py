"""What sways judges in; sentences, those of whom nothing can be told together, out."""

from __future__ import annotations

from collections.abc import Sequence

from deltableu.judges import JudgeBias
from deltableu.report.phrases import listed


def bias_verdict(found: Sequence[JudgeBias]) -> tuple[str, ...]:
    """Judge by judge; one sentence for all of whom these ratings tell nothing."""
    said = [sentence for one in found if one.findings for sentence in one.sentences()]
    silent = [one.judge for one in found if not one.findings]
    if silent:
        said.append(f"Whether anything sways {listed(silent)} cannot be told from these ratings.")
    return tuple(said)
