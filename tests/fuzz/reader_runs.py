"""Blocks of inputs in other processes; one that dies or hangs names the input it died of."""

from __future__ import annotations

import multiprocessing
import os
import resource
import tempfile
import time
from collections import Counter
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.fuzz.reader_inputs import BLOCK, Failure, Tally, run_block
from tests.fuzz.runs import scratch

#: Bytes that a process may ask for beyond what it has when it begins.
_ROOM = 4 << 30
#: Blocks per process: what leaks, leaks no further.
_BLOCKS = 500
#: Seconds after which nothing is expected of a process any more, on a busy machine.
_PATIENCE = 180.0


def _work(pipe: Connection, mark: Any) -> None:
    """Read blocks until there are none."""
    from tests.fuzz.readers import READERS

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, used + _ROOM))

    def say(address: str) -> None:
        mark.value = address.encode()

    with tempfile.TemporaryDirectory(prefix="deltableu-readers-", dir=scratch()) as folder:
        tempfile.tempdir = folder  # some readers keep what does not fit into memory
        while (task := pipe.recv()) is not None:
            name, seed, block = task
            say(f"{name}/{seed}/{block}")
            pipe.send(
                run_block(name, READERS[name], (seed, block), range(BLOCK), Path(folder), say)
            )


class _Worker:
    """A process with the block that it works on."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.mark = context.Array("c", 200)
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.mark), daemon=True)
        self.process.start()
        theirs.close()
        self.blocks = 0
        self.name = ""
        self.since = 0.0

    def give(self, name: str, seed: int, block: int) -> None:
        self.name, self.since = name, time.monotonic()
        self.blocks += 1
        self.pipe.send((name, seed, block))

    def lost(self, why: str) -> Failure:
        address = self.mark.value.decode() or self.name
        self.process.kill()
        self.process.join()
        return Failure(f"{self.name}: {why}", address, f"exit code {self.process.exitcode}")

    def end(self) -> None:
        self.pipe.send(None)
        self.process.join()


class _Turns:
    """Which reader is next: those with little time and few inputs so far."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.blocks: Counter[str] = Counter()

    def next(self, done: Tally) -> tuple[str, int]:
        seconds = sum(done.seconds.values()) or 1.0
        blocks = self.blocks.total() or 1

        def share(name: str) -> float:
            return 0.2 * self.blocks[name] / blocks + done.seconds[name] / seconds

        name = min(self.names, key=share)
        self.blocks[name] += 1
        return name, self.blocks[name] - 1


def run_long(
    names: list[str], seed: int, minutes: float, inputs: int | None = None, jobs: int = 1
) -> Tally:
    """As many inputs as there is time for, or as are asked for."""
    end = time.monotonic() + 60.0 * minutes
    # For such small matrices threads would only wait for each other.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done, turns = Tally(), _Turns(names)
    workers = [_Worker() for _ in range(jobs)]

    def more() -> bool:
        wanted = inputs is None or turns.blocks.total() * BLOCK < inputs
        return wanted and time.monotonic() < end

    def go_on(worker: _Worker) -> None:
        name, block = turns.next(done)
        worker.give(name, seed, block)

    busy = []
    for worker in workers:
        go_on(worker)
        busy.append(worker)
    while busy:
        ready = wait([worker.pipe for worker in busy], timeout=5.0)
        for worker in list(busy):
            why = ""
            if worker.pipe in ready:
                try:
                    done.add(worker.pipe.recv())
                except (EOFError, OSError):
                    why = "the process died"
            elif time.monotonic() - worker.since > _PATIENCE:
                why = "hangs"
            else:
                continue
            if why:
                done.fail(worker.lost(why))
            elif worker.blocks >= _BLOCKS or not more():
                worker.end()
            elif more():
                go_on(worker)
                continue
            busy.remove(worker)
            if more():
                busy.append(_Worker())
                go_on(busy[-1])
    return done
