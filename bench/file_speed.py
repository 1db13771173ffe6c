"""From files to the printed score: `deltableu score` beside sacreBLEU's command, cold processes.

Both are what pip installs: modules are there as byte code, which the first run of each writes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path

from bench.corpora import zipf_corpus

__all__ = ["main"]

ITEMS, REFERENCES = 20_000, 16
_REPEATS = 5
_GROWTH = (10_000, 100_000, 1_000_000)
_GROWTH_REFERENCES = 4


def write_files(folder: Path, items: int, references: int) -> float:
    """Write plain text, and a study in JSON Lines with the same; megabytes of the plain text."""
    corpus = zipf_corpus(items, references)
    study = folder / "study"
    (study / "outputs").mkdir(parents=True)
    _write_lines(folder / "sys.txt", corpus.hypotheses)
    for place in range(references):
        _write_lines(folder / f"r{place}.txt", [row[place] for row in corpus.references])
    _write_lines(folder / "w.tsv", ["\t".join(map(str, row)) for row in corpus.weights])
    with open(study / "items.jsonl", "w", encoding="utf-8") as stream:
        for number, texts in enumerate(corpus.references, start=1):
            made = [
                {"id": f"r{place}", "text": text, "weight": None, "origin": "written"}
                for place, text in enumerate(texts)
            ]
            item = {"id": str(number), "context": [], "message": None, "references": made}
            stream.write(json.dumps(item) + "\n")
    with open(study / "outputs" / "sys.jsonl", "w", encoding="utf-8") as stream:
        for number, text in enumerate(corpus.hypotheses, start=1):
            stream.write(json.dumps({"id": str(number), "text": text}) + "\n")
    return corpus.megabytes


def _written(folder: Path, items: int, references: int) -> float:
    """The same in a process of its own: a child's memory counts from its parent's on."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(write_files, (folder, items, references))


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def cold(
    command: Sequence[str], folder: Path, *, quiet: bool = False
) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and megabytes at the peak of one process.

    What it says beside its results goes where that of this process goes, unless it is `quiet`.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    said = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, env=environment
    )
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def against_sacrebleu(folder: Path) -> None:
    """Each command in turn, several times; the fastest run of each counts."""
    refs = [f"r{place}.txt" for place in range(REFERENCES)]
    ours = [sys.executable, "-m", "deltableu", "score"]
    commands = {
        "sacrebleu": [sys.executable, "-m", "sacrebleu", *refs, "-i", "sys.txt", "-m", "bleu"],
        "plain files": [*ours, "sys.txt", "--refs", *refs],
        "study in JSONL": [*ours, "study"],
        "plain, weights": [*ours, "sys.txt", "--refs", *refs, "--weights", "w.tsv"],
    }
    cold([*ours, "--help"], folder)
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for name, command in commands.items():
        if name != "sacrebleu":
            cold(command, folder)
    for number in range(_REPEATS):
        for name, command in commands.items():
            if name != "sacrebleu" or number < 3:
                runs[name].append(cold(command, folder))
    best = {
        name: [min(column) for column in zip(*made, strict=True)] for name, made in runs.items()
    }
    peer = best["sacrebleu"]
    for name, (seconds, processor, memory) in best.items():
        print(
            f"  {name:14}  {seconds:6.2f} s   {peer[0] / seconds:5.1f}x   processor "
            f"{processor:6.2f} s   {peer[1] / processor:5.1f}x   memory {memory:5.0f} MB"
        )


def growth(commands: Mapping[str, Sequence[str]]) -> None:
    """Cost and memory of each command as files grow."""
    for items in _GROWTH:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            size = _written(folder, items, _GROWTH_REFERENCES)
            cold([sys.executable, "-m", "deltableu", "--help"], folder)
            for form, command in commands.items():
                runs = [cold(command, folder) for _ in range(3)]
                seconds, processor, memory = (min(column) for column in zip(*runs, strict=True))
                print(
                    f"  {items:9,} items  {form:14}  {seconds:6.2f} s   processor {processor:5.2f} "
                    f"s   {1e6 * processor / items:5.1f} microseconds/item   memory "
                    f"{memory:5.0f} MB, {memory / size:4.1f}x the text"
                )


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        size = _written(folder, ITEMS, REFERENCES)
        print(f"files to printed score: {ITEMS:,} items x {REFERENCES} references ({size:.0f} MB)")
        against_sacrebleu(folder)
    print(f"\ngrowth, {_GROWTH_REFERENCES} references per item")
    refs = [f"r{place}.txt" for place in range(_GROWTH_REFERENCES)]
    ours = [sys.executable, "-m", "deltableu", "score"]
    growth({"plain files": [*ours, "sys.txt", "--refs", *refs], "study in JSONL": [*ours, "study"]})


if __name__ == "__main__":
    main()
