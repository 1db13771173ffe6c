"""Tries an installed package: the command scores three lines, and all kernels are machine code.

It needs nothing but the package, so that every wheel is tried with it: python smoke.py [PYTHON]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HYPOTHESES = ["the cat was on the mat", "no clue at all", "ça va bien"]
REFERENCES = [
    ["the cat sat on the mat", "no idea at all", "ça va bien"],
    ["a cat was on the mat", "no clue at all , sorry", "oui , ça va"],
]
WEIGHTS = ["1\t0.5", "0.8\t-0.4", "0.6\t0.2"]
#: By the plain formula, on any machine.
SCORES = {"bleu-2": 92.88, "delta-bleu-2": 60.73}


def said(*command: object) -> str:
    """What the installed command prints."""
    done = subprocess.run(
        [*PYTHON, "-m", "deltableu", *map(str, command)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0 or done.stderr:
        sys.exit(f"deltableu {command[0]}: code {done.returncode}\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Ends with a sentence if something is wrong."""
    with tempfile.TemporaryDirectory() as place:
        files = {"system": HYPOTHESES, "weights": WEIGHTS}
        files |= {f"reference{number}": texts for number, texts in enumerate(REFERENCES)}
        paths = {name: Path(place, f"{name}.txt") for name in files}
        for name, lines in files.items():
            paths[name].write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
        arguments = ["--refs", paths["reference0"], paths["reference1"], "--order", 2]
        arguments += ["--weights", paths["weights"], "--metrics", "bleu,delta-bleu"]
        records = json.loads(said("score", paths["system"], *arguments, "--format", "json"))
    scores = {one["metric"]: round(one["score"], 2) for one in records}
    if scores != SCORES:
        sys.exit(f"scores are {scores}, not {SCORES}")
    setup = json.loads(said("doctor", "--format", "json"))
    plain = [name for name, how in setup["kernels"].items() if how != "compiled"]
    if plain:
        sys.exit(f"not compiled: {', '.join(plain)}")
    print(f"deltableu {setup['deltableu']}, Python {setup['python']}: {scores}")
    print(f"{len(setup['kernels'])} kernels, all compiled")


#: Outside the project's folder, nothing of its sources can stand in for what was installed.
PYTHON = [*(sys.argv[1:] or [sys.executable]), "-P", "-X", "utf8"]

if __name__ == "__main__":
    main()
