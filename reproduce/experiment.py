"""The experiment of upsilon-BLEU on real logs: `make experiment`, and what it printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["section"]

ROOT = Path(__file__).parents[1]
DESIGN = ROOT / "examples" / "upsilon-bleu.toml"
FOLDER = ROOT / "out" / "experiment"

ABOUT = """\
## An experiment on real logs, from raw dialogues to a report

`make experiment` carries `examples/upsilon-bleu.toml` through all stages
([experiments](how-to/experiment.md)) on the self-dialogue corpus (24,155 dialogues in which one
person writes both sides): three disjoint periods, 100 utterances that several dialogues open
with, C-BM25, sequence to sequence, VHRED and people's own other replies as systems, 15
references mined by word vectors that GloVe learnt meanwhile, an NN-rater trained meanwhile,
upsilon-BLEU, and a report. **The ratings are simulated**: they look at no text, so nothing here
says how well a metric agrees with people. Models are trained for a number of minutes, so that
figures differ between machines.
"""


def section(data: Path) -> str:
    """The tables that the experiment prints, and its stages."""
    logs = data / "dialogue_logs" / "self_dialogue.tsv.gz"
    change = ("--output", str(FOLDER), "--set", f'logs.files="{logs.resolve()}"')
    printed = {
        verb: subprocess.run(
            [sys.executable, "-m", "deltableu", "experiment", verb, str(DESIGN), *change],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        for verb in ("run", "show")
    }
    stages = printed["show"].rpartition("\n\n")[0]
    return "\n".join(
        (ABOUT, _fenced(printed["run"]), "The stages, two at a time:\n", _fenced(stages))
    )


def _fenced(text: str) -> str:
    return f"```text elsewhere\n{text.strip()}\n```\n"
