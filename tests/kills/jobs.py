"""Long jobs, made short: a second or two each, with many places to be interrupted at."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS = [f"w{number}" for number in range(60)]


@dataclass(frozen=True)
class Job:
    """A command whose result is `result` in a folder.

    Parameters
    ----------
    name
        As people call it.
    result
        Name of the file or folder that it writes.
    arguments
        Of the inputs' folder, the result's path and the folder for work.
    parts
        Names of what is kept of it, after which the same command says that it goes on; empty
        where it starts again.
    """

    name: str
    result: str
    arguments: Callable[[Path, Path, Path], list[object]]
    parts: str = ""


def _text(rng: random.Random, most: int = 9) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(2, most)))


def make_inputs(folder: Path) -> None:
    """Everything that the jobs read."""
    from tests.judges.rater_kit import small_model

    rng = random.Random(16)
    (folder / "study" / "outputs").mkdir(parents=True)
    items = [_item(number, rng) for number in range(60)]
    _write(folder / "study" / "items.jsonl", items)
    for system in ("alpha", "beta", "gamma"):
        said = [{"id": item["id"], "text": _text(rng)} for item in items]
        _write(folder / "study" / "outputs" / f"{system}.jsonl", said)
    (folder / "logs").mkdir()
    for number in range(8):
        asked = [_text(rng) for _ in range(150)]
        pairs = [{"utterance": rng.choice(asked), "response": _text(rng)} for _ in range(1000)]
        _write(folder / "logs" / f"{number}.jsonl", pairs)
    _write(folder / "posts.jsonl", _posts(rng))
    small_model(folder / "judge.safetensors")


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))


def _item(number: int, rng: random.Random) -> dict[str, Any]:
    def reference(n: int) -> dict[str, Any]:
        mined = {"origin": "mined", "source": {"utterance": _text(rng)}} if n else {}
        return {"id": f"r{n}", "text": _text(rng), **mined}

    references = [reference(n) for n in range(5)]
    return {"id": f"q{number}", "message": _text(rng), "references": references}


def _posts(rng: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{thread}-{n}",
            "user": f"u{thread}-{n % 2}",
            "time": f"201{7 + thread % 3}-03-04T09:{10 + n}:00Z",
            "reply_to": f"{thread}-{n - 1}" if n else None,
            "text": _text(rng),
        }
        for thread in range(2500)
        for n in range(4)
    ]


def _mine(inputs: Path, result: Path, work: Path) -> list[object]:
    return ["mine", inputs / "study", "--logs", inputs / "logs", "-o", result, "--work", work,
            "--partition-size", "12000", "--threads", 1]  # fmt: skip


def _logs(inputs: Path, result: Path, work: Path) -> list[object]:
    return ["logs", "pairs", inputs / "posts.jsonl", "-o", result, "--work", work,
            "--split", "old=2017,new=2018..2019", "--memory", "40k"]  # fmt: skip


def _vectors(inputs: Path, result: Path, work: Path) -> list[object]:
    return ["vectors", "train", inputs / "logs", "-o", result, "--work", work, "--epochs", 15,
            "--dimension", 20, "--memory", "20k", "--threads", 1]  # fmt: skip


def _train(inputs: Path, result: Path, work: Path) -> list[object]:
    return ["judge", "train", inputs / "logs", "-o", result, "--work", work, "--embedding", 4,
            "--hidden", 4, "--layer", 8, "--vocabulary", "words", "--epochs", 4, "--patience", 9,
            "--validation", 20, "--batch", 100, "--max-responses", 2, "--threads", 1]  # fmt: skip


def _apply(inputs: Path, result: Path, work: Path) -> list[object]:
    return ["judge", "apply", inputs / "study", "--judge", inputs / "judge.safetensors",
            "-o", result, "--work", work, "--batch", 1, "--threads", 1]  # fmt: skip


def _report(inputs: Path, result: Path, work: Path) -> list[object]:
    return ["report", inputs / "study", "-o", result]


JOBS = (
    Job("mine", "mined", _mine, "*ed-*.npz"),
    Job("logs pairs", "pairs", _logs),
    Job("vectors train", "vectors.txt", _vectors, "state.npz"),
    Job("judge train", "trained.safetensors", _train, "state.npz"),
    Job("judge apply", "rated", _apply, "batch-*.npz"),
    Job("report", "report.html", _report),
)


def content(path: Path) -> dict[str, bytes]:
    """All that a job wrote, without the times it took."""
    if path.suffix == ".safetensors":
        return {path.name: _without_times(path.read_bytes())}
    if path.is_dir():
        files = (one for one in sorted(path.rglob("*")) if one.is_file())
        return {str(one.relative_to(path)): one.read_bytes() for one in files}
    return {path.name: path.read_bytes()}


def _without_times(model: bytes) -> bytes:
    (size,) = struct.unpack("<Q", model[:8])
    header = json.loads(model[8 : 8 + size])
    notes = header.pop("__metadata__")
    timeless = {key: _strip(json.loads(text)) for key, text in notes.items() if text[:1] in "[{"}
    return json.dumps([timeless, header], sort_keys=True).encode() + model[8 + size :]


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _strip(one) for k, one in value.items() if k not in ("seconds", "date", "made")}
    return list(map(_strip, value)) if isinstance(value, list) else value
