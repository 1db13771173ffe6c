"""A small experiment for tests: its files, and processes that run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "two", "dogs", "run", "home", "today")


def text(seed: int, words: int = 7) -> str:
    return " ".join(
        WORDS[(seed * 7 + place * (seed % 5 + 1)) % len(WORDS)] for place in range(words)
    )


DESIGN = """
title = "A small experiment"

[logs]
files = "talks.jsonl"
split = "evaluator:0.6,system:0.4"

[items]
study = "given"

[systems.other]
kind = "file"
file = "other.jsonl"
type = "neural"

[mine]
top = 3

[compare]
tables = "systems"
"""


#: Every sort of stage there is; models are tiny.
EVERYTHING = """
title = "All sorts of stages"
seed = 3

[logs]
files = "talks.jsonl"
split = "evaluator:0.5,system:0.3,test:0.2"

[items]
as = "answers"
items = 12

[models.gru]
minutes = 0
epochs = 25
embedding = 8
hidden = 8
vocabulary = "words"

[models.deep]
kind = "vhred"
minutes = 0
epochs = 15
embedding = 8
hidden = 8
context = 8
latent = 4
vocabulary = "words"

[systems.greedy]
kind = "model"
model = "gru"
decode = "greedy"

[systems.beam]
kind = "model"
model = "gru"
decode = "beam"

[systems.vhred]
kind = "model"
model = "deep"

[systems.reranked]
kind = "rerank"
of = "beam"

[systems.c-bm25]
kind = "c-bm25"

[systems.random]
kind = "random"

[vectors]
dimension = 5
epochs = 5

[mine]
top = 3
parrot = true

[judge]
minutes = 0
epochs = 25
embedding = 8
hidden = 8
layer = 8
vocabulary = "words"

[weights]
which = "all"

[ratings]
by = "simulated"

[score]
metrics = "delta-bleu-2,bleu-2"

[compare]
tables = "systems"

[validate]
levels = "pooled"
resamples = 100
"""


def write_everything(folder: Path) -> Path:
    """An experiment with every sort of stage."""
    # Openings that several dialogues have, with replies of their own.
    talks = [
        {"id": f"t{n}", "turns": [text(n % 40), text(n + 90, 4 + n % 4), text(n + 7, 3 + n % 5)]}
        for n in range(400)
    ]
    write_lines(folder / "talks.jsonl", talks)
    path = folder / "everything.toml"
    path.write_text(EVERYTHING)
    return path


def write_small(folder: Path, design: str = DESIGN) -> Path:
    """An experiment of seven stages that take a second each, or less."""
    given = folder / "given"
    (given / "outputs").mkdir(parents=True)
    items = [
        {"id": f"i{n}", "message": text(n), "references": [{"id": "r0", "text": text(n + 40)}]}
        for n in range(12)
    ]
    write_lines(given / "items.jsonl", items)
    outputs = [{"id": f"i{n}", "text": text(n + 41)} for n in range(12)]
    write_lines(given / "outputs" / "one.jsonl", outputs)
    write_lines(folder / "other.jsonl", [{**one, "text": one["text"][:-3]} for one in outputs])
    talks = [{"id": f"t{n}", "turns": [text(n), text(n + 39)]} for n in range(90)]
    write_lines(folder / "talks.jsonl", talks)
    path = folder / "small.toml"
    path.write_text(design)
    return path


def write_lines(path: Path, records: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def start(design: Path, folder: Path) -> subprocess.Popen[str]:
    """The command in a process group of its own."""
    words = ["experiment", "run", str(design), "--output", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "deltableu", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(design: Path, folder: Path) -> tuple[str, str]:
    """Run it to its end; what it printed and what it said."""
    process = start(design, folder)
    out, err = process.communicate(timeout=280)
    assert process.returncode == 0, err
    return out, err


def results(folder: Path) -> dict[str, bytes]:
    """All that people get, by its name."""
    found = {}
    for name in ("study", "tables"):
        for path in sorted((folder / name).rglob("*")):
            # PDF files hold the time at which they were made.
            if path.is_file() and path.suffix != ".pdf":
                found[str(path.relative_to(folder))] = path.read_bytes()
    return {**found, "report.html": (folder / "report.html").read_bytes()}


def kill_in_stage(process: subprocess.Popen[str], folder: Path, stage: str, delay: float) -> bool:
    """Kill it with -9 some time after a stage has begun; whether it was still at work."""
    while process.poll() is None:
        if list((folder / "stages" / stage).glob("*.part")):
            time.sleep(delay)
            break
        time.sleep(0.005)
    over = process.poll() is not None
    # Only the parent: its stages must notice by themselves.
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return not over


def stages_running(folder: Path) -> list[int]:
    """Processes of stages that write into a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(word.startswith(b"stages/") for word in words) and _works_in(entry, folder):
                found.append(int(entry.name))
    return found


def _works_in(entry: Path, folder: Path) -> bool:
    try:
        return (entry / "cwd").readlink() == folder.resolve()
    except OSError:
        return False
