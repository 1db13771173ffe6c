"""Many cases in processes that are replaced now and then; one that dies is a failure, too."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from tests.fuzz.case import IDLE, PATIENCE, ROOT, Failure, Result, run_case

#: Cases per process: what leaks, leaks no further.
_CHUNK = 500
#: Bytes that a process may use, so that a case that wants more is told so as on a small machine.
_MEMORY = 6 << 30


@dataclass
class Done:
    """What came of many cases."""

    cases: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    ends: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        self.cases += 1
        self.failures += result.failures
        self.ends.setdefault(result.what, Counter())[result.end] += 1

    def by_signature(self) -> dict[str, list[Failure]]:
        found: dict[str, list[Failure]] = {}
        for one in self.failures:
            found.setdefault(one.signature, []).append(one)
        return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))

    def summary(self, *, details: bool = True) -> str:
        lines = []
        for signature, failures in self.by_signature().items():
            seeds = " ".join(str(one.seed) for one in failures[:6])
            lines.append(f"{len(failures)}x {signature} (seeds {seeds})")
            if details:
                lines += [f"    {line}" for line in failures[0].details.splitlines()]
        if details:
            for what, ends in sorted(self.ends.items()):
                counts = ", ".join(f"{end}: {count}" for end, count in sorted(ends.items()))
                lines.append(f"{what}: {counts}")
        lines.append(
            f"{self.cases} cases in {self.seconds:.0f} s, {len(self.failures)} failures of "
            f"{len(self.by_signature())} sorts"
        )
        return "\n".join(lines)


def scratch() -> str:
    """In memory, where there is such a place: cases write many small files."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def run_one(seed: int, keep: str | None = None) -> list[Failure]:
    if keep is not None:
        return run_case(seed, Path(keep).absolute()).failures
    with tempfile.TemporaryDirectory(prefix="deltableu-fuzz-", dir=scratch()) as folder:
        return run_case(seed, Path(folder) / "case").failures


def run_many(seeds: Sequence[int], jobs: int = 1, tell: IO[str] | None = None) -> Done:
    """Run cases in other processes, a few at a time in each."""
    done = Done()
    started = told = time.monotonic()
    waiting = [list(seeds[i : i + _CHUNK]) for i in range(0, len(seeds), _CHUNK)][::-1]
    with selectors.DefaultSelector() as selector:
        while waiting or selector.get_map():
            while waiting and len(selector.get_map()) < jobs:
                worker = _Worker(waiting.pop())
                selector.register(worker.out, selectors.EVENT_READ, worker)
            for key, _ in selector.select(timeout=1.0):
                worker = key.data
                if not worker.read(done):
                    selector.unregister(worker.out)
                    rest = worker.end(done)
                    if rest:
                        waiting.append(rest)
            if tell is not None and time.monotonic() - told > 30:
                told = time.monotonic()
                print(done.summary(details=False), file=tell, flush=True)
    done.seconds = time.monotonic() - started
    return done


class _Worker:
    """A process that runs some cases, and says which."""

    def __init__(self, seeds: list[int]) -> None:
        self.seeds, self.at = seeds, 0
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.runs", json.dumps(seeds)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=self.log,
            stdin=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        self.out = self.process.stdout

    def read(self, done: Done) -> bool:
        line = self.out.readline()
        if not line:
            return False
        self.at += 1
        found = json.loads(line)
        failures = [Failure(**one) for one in found.pop("failures")]
        done.add(Result(**found, failures=failures))
        return True

    def end(self, done: Done) -> list[int]:
        """What is left to do after a process that died, whose case is a failure."""
        code = self.process.wait()
        self.log.seek(0)
        said = self.log.read().decode(errors="replace")[-4000:]
        self.log.close()
        self.out.close()
        if self.at == len(self.seeds):
            return []
        seed = self.seeds[self.at]
        place = next((line.strip() for line in said.splitlines() if "/deltableu/" in line), "")
        done.add(Result(seed, "?", "died", [Failure(seed, f"died with {code}", place, said)]))
        return self.seeds[self.at + 1 :]


def _work(seeds: Iterable[int]) -> None:
    # Commands must not write among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.register(signal.SIGXCPU, chain=True)
    with tempfile.TemporaryDirectory(prefix="deltableu-fuzz-", dir=scratch()) as folder:
        for seed in seeds:
            # What holds Python's lock hears of no clock but the system's: it says where, and ends.
            computed = int(time.process_time()) + 5 * PATIENCE
            resource.setrlimit(resource.RLIMIT_CPU, (computed, resource.RLIM_INFINITY))
            faulthandler.dump_traceback_later(30 * IDLE, exit=True)
            result = run_case(seed, Path(folder) / "case")
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(asdict(result)), file=answers, flush=True)


if __name__ == "__main__":
    _work(json.loads(sys.argv[1]))
