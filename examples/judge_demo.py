"""Let a judge rate the references of the demo experiment, and keep what it said.

Trains the NN-rater of upsilon-BLEU on the invented logs, mines 15 references for each item of the
demo study, rates them all, and writes `demo/judged.jsonl`, so that `make demo` needs no torch. The
last digits depend on the machine. Usage: `python examples/judge_demo.py` (about two minutes).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "demo" / "judged.jsonl"
SETTINGS = (
    "mine.top=15",
    "judge={epochs=40, patience=10, hidden=64, embedding=64}",
    # References that the study brings do not say which utterance they answered.
    'weights={by="judge", which="all", triplets="first"}',
    # Nothing after the weights is looked at.
    "systems={}",
    'score.metrics="bleu-2"',
    'validate.metrics="bleu-2"',
    'report={metrics="bleu-2"}',
)


def main() -> None:
    """Run the experiment up to its weights, and copy these."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "deltableu", "experiment", "run", HERE / "demo.toml"]
        subprocess.run([*command, "--output", folder, "--set", *SETTINGS], check=True)
        (made,) = Path(folder).glob("stages/weights/*/study/items.jsonl")
        shutil.copyfile(made, TARGET)


if __name__ == "__main__":
    main()
