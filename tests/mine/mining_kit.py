"""Small logs, processes that mine them, and clusters of real processes.

As a program, `python -m tests.mine.mining_kit SETTINGS` mines once.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltableu.corpus.types import Item, Reference
from deltableu.mine import BM25, Event, Mined, mine_references
from deltableu.mine.join import Tell
from deltableu.mine.rows import LogRows, Queries
from deltableu.mine.similarity import Candidates, Counter, Scorer

ROOT = Path(__file__).parents[2]
LONG = 60.0


def text(rng: random.Random, longest: int = 9) -> str:
    """Few words, so that scores tie and responses repeat."""
    return " ".join(f"w{int(rng.paretovariate(0.6)) % 150}" for _ in range(rng.randint(1, longest)))


def make_items(count: int = 12, seed: int = 1) -> tuple[Item, ...]:
    rng = random.Random(seed)
    return tuple(
        Item(f"item {number}", (Reference("a", text(rng)),), message=text(rng))
        for number in range(count)
    )


def make_rows(count: int, seed: int) -> list[dict[str, str]]:
    rng = random.Random(seed)
    return [
        {"utterance": text(rng), "response": text(rng), "id": f"{seed}-{row}"}
        for row in range(count)
    ]


def make_logs(folder: Path, files: int = 10, rows: int = 40) -> list[list[dict[str, str]]]:
    """Write files `000.jsonl` and so on, some of them as `.jsonl.gz` or `.tsv`; return the rows."""
    folder.mkdir()
    made = [make_rows(rows, seed) for seed in range(files)]
    for number, part in enumerate(made):
        lines = "".join(json.dumps(row) + "\n" for row in part)
        if number % 3 == 0:
            (folder / f"{number:03}.jsonl").write_text(lines)
        elif number % 3 == 1:
            (folder / f"{number:03}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
        else:
            cells = "".join("\t".join(row.values()) + "\n" for row in part)
            (folder / f"{number:03}.tsv").write_text("\t".join(part[0]) + "\n" + cells)
    return made


def same(found: Mined, wanted: Mined) -> None:
    """Whole references with their sources and scores, and all that is told about them."""
    assert found.study.items == wanted.study.items
    assert found.record() == wanted.record()
    assert found.unreadable_parts == wanted.unreadable_parts


@dataclass
class Events:
    """A log callback that remembers."""

    all: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.all.append(event)

    def of(self, stage: str, *, kept: bool) -> set[int]:
        found = [e.partition for e in self.all if e.stage == stage and e.kept is kept]
        assert len(found) == len(set(found)), "a partition was told of twice"
        return set(found)


class Interrupted(Exception):  # noqa: N818
    """Raised by a callback, as Ctrl-C would be."""


def interrupting(stage: str, after: int) -> Any:
    """A log callback that lets so many partitions of a stage be finished."""
    finished = 0

    def log(event: Event) -> None:
        nonlocal finished
        finished += event.stage == stage
        if finished == after:
            raise Interrupted

    return log


def checkpoints(work: Path, stage: str) -> set[int]:
    """Which partitions have one, as the files say."""
    name = {"counting": "counted", "scoring": "joined"}[stage]
    return {int(path.stem.removeprefix(f"{name}-")) for path in work.glob(f"*/{name}-*.npz")}


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def python(*arguments: object, output: Path | None = None) -> subprocess.Popen[str]:
    """A Python process that can import the tests, too."""
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    if output is not None:
        with open(output, "w") as stream:
            return subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=stream, stderr=stream, text=True
            )
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)


def mining(folder: Path, **settings: Any) -> subprocess.Popen[str]:
    """Start a process that mines; the result will be in `folder`."""
    path = folder / "settings.pickle"
    path.write_bytes(pickle.dumps({**settings, "result": folder / "result.pickle"}))
    return python("-W", "error", "-m", "tests.mine.mining_kit", path)


def mined_by(process: subprocess.Popen[str], folder: Path) -> Mined:
    """Wait for such a process: it has nothing to say."""
    out, err = process.communicate(timeout=LONG)
    assert (process.returncode, out, err) == (0, "", "")
    found: Mined = pickle.loads((folder / "result.pickle").read_bytes())
    return found


def wait_until(what: Any, *, seconds: float = LONG) -> Any:
    """Until something is true; then that."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.005)
    return found


@dataclass
class Cluster:
    """A scheduler and its workers, each a process."""

    folder: Path
    scheduler: subprocess.Popen[str]
    workers: list[subprocess.Popen[str]]

    @property
    def address(self) -> str:
        """As an engine is named."""
        url: str = json.loads((self.folder / "scheduler.json").read_text())["address"]
        return url.replace("tcp://", "dask://")


@contextmanager
def cluster(
    folder: Path,
    workers: int = 2,
    options: Sequence[str] = ("--no-nanny",),
    certificates: Sequence[str] = (),
) -> Iterator[Cluster]:
    """Start one; it is killed in the end, and `folder` has its logs."""
    folder.mkdir(exist_ok=True)
    place = ("--scheduler-file", folder / "scheduler.json", "--host", "127.0.0.1", "--no-dashboard")
    place += tuple(certificates)
    worker = ("--nthreads", "1", "--memory-limit", "0", "--local-directory", folder, *options)
    with ExitStack() as stack:

        def start(name: str, *arguments: object) -> subprocess.Popen[str]:
            module = f"distributed.cli.dask_{name.split()[0]}"
            process = python("-m", module, *place, *arguments, output=folder / f"{name}.log")
            return stack.enter_context(ended(process))

        made = Cluster(
            folder,
            start("scheduler", "--port", "0", "--idle-timeout", "300"),
            [start(f"worker {number}", *worker) for number in range(workers)],
        )
        logs = [folder / f"worker {number}.log" for number in range(workers)]
        wait_until(lambda: all("Registered to" in log.read_text() for log in logs))
        yield made


def children(pid: int) -> set[int]:
    """Processes that a process has started."""
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(child) for path in listed for child in path.read_text().split()}


@dataclass(frozen=True)
class Watched:
    """BM25 that takes its time, and leaves word of who is at work."""

    folder: Path
    bm25: BM25 = field(default_factory=BM25)

    @property
    def signature(self) -> str:
        return self.bm25.signature

    @property
    def own_threads(self) -> bool:
        return self.bm25.own_threads

    def counter(self, queries: Queries) -> Counter:
        self.folder.mkdir(exist_ok=True)
        return WatchedCounter(self, self.bm25.counter(queries))

    @contextmanager
    def watching(self) -> Iterator[None]:
        begun = self.folder / f"{os.getpid()}-{uuid.uuid4().hex}.begun"
        begun.touch()
        time.sleep(0.1)
        yield
        begun.rename(begun.with_suffix(".ended"))

    def at_work(self, pid: int) -> list[Path]:
        return list(self.folder.glob(f"{pid}-*.begun"))

    def ended(self, pid: int) -> list[Path]:
        return list(self.folder.glob(f"{pid}-*.ended"))


@dataclass(frozen=True)
class WatchedCounter:
    watch: Watched
    counter: Any

    def empty(self) -> Any:
        return self.counter.empty()

    def count(self, rows: LogRows) -> Any:
        with self.watch.watching():
            return self.counter.count(rows)

    def add(self, sums: Any, more: Any) -> Any:
        return self.counter.add(sums, more)

    def scorer(self, sums: Any) -> Scorer:
        return WatchedScorer(self.watch, self.counter.scorer(sums))


@dataclass(frozen=True)
class WatchedScorer:
    watch: Watched
    scorer: Any

    def candidates(self, *arguments: Any) -> Candidates:
        with self.watch.watching():
            found: Candidates = self.scorer.candidates(*arguments)
        return found


@dataclass(frozen=True)
class Deadly:
    """A job that may kill who does it."""

    name: str
    deadly: bool


def die(job: Deadly, tell: Tell) -> None:
    time.sleep(0.2)
    if job.deadly:
        os.kill(os.getpid(), signal.SIGKILL)


def main(path: Path) -> None:
    settings = pickle.loads(path.read_bytes())
    result, pause = settings.pop("result"), settings.pop("pause", 0.0)

    def log(event: Event) -> None:
        time.sleep(pause)

    found = mine_references(log=log, **settings)
    result.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
