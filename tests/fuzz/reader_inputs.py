"""Spoilt files for one reader at a time, in this process: nothing but InputError may come out.

An input has an address, `READER/SEED/BLOCK/NUMBER`, from which it can be made again. The inputs of
a block are made of the same valid files.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from deltableu.errors import InputError, InputWarning, Problem
from deltableu.io import Report, fail
from tests.fuzz.spoil import spoil
from tests.fuzz.values import RAW_JSON, hostile_text
from tests.fuzz.world import File, World, encoded, packed
from tests.mutated_files import mutated, respelt

#: Inputs of a block.
BLOCK = 100
#: What an input of a few kilobytes may take.
SECONDS, MEMORY = 5.0, 500 << 20
#: A page of a spoilt Parquet file may say that it unpacks to so much, which Arrow believes.
PAGE = 1 << 31

#: Reads the files that a maker wrote; called again whenever one of them was spoilt.
Read = Callable[[Report], object]
Maker = Callable[["ReaderWorld"], Read]


class ReaderWorld(World):
    """A world of few items, most of whose files are small and quick to read."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        super().__init__(root, rng)
        self.items = self.items[: rng.choice((1, 2, 2, 3))]
        self.systems = ["alpha", "beta", "alpha@2"][: rng.choice((1, 2, 2, 3))]

    def table(self, stem: str, records: Any, forms: Any, gz: bool = True) -> Path:
        if self.rng.random() < 0.95:
            forms = [form for form in forms if form != "parquet"] or forms
        return super().table(stem, records, forms, gz)

    def lines(self, name: str, lines: Iterable[str]) -> Path:
        return self.add(self.inputs / name, "lines", list(lines))

    def content(self, name: str, content: bytes) -> Path:
        """A file that is known by its bytes only."""
        return self.add(self.inputs / name, "bytes", [content])


@dataclass
class SealedFile(File):
    """A file of JSON in something else, that is put around what was spoilt."""

    seal: Callable[[bytes], bytes] = bytes

    def content(self) -> bytes:
        return self.seal(super().content())


@dataclass(frozen=True)
class Failure:
    """What came out that should not."""

    signature: str
    address: str
    details: str


@dataclass
class Tally:
    """What came of inputs."""

    inputs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    first: dict[str, Failure] = field(default_factory=dict)

    def fail(self, failure: Failure) -> None:
        self.failed[failure.signature] += 1
        self.first.setdefault(failure.signature, failure)

    def add(self, other: Tally) -> None:
        for name in ("inputs", "refused", "seconds", "failed"):
            getattr(self, name).update(getattr(other, name))
        for failure in other.first.values():
            self.first.setdefault(failure.signature, failure)

    def summary(self) -> str:
        lines = [f"{'reader':32} {'inputs':>9} {'refused':>8} {'us each':>8}"]
        for name, count in sorted(self.inputs.items()):
            refused, each = self.refused[name] / count, 1e6 * self.seconds[name] / count
            lines.append(f"{name:32} {count:9,} {refused:8.0%} {each:8.0f}")
        total, seconds = self.inputs.total(), sum(self.seconds.values())
        lines.append(f"{len(self.inputs)} readers, {total:,} inputs, {seconds:.0f} s of processor")
        for signature, count in self.failed.most_common():
            one = self.first[signature]
            lines.append(
                f"\n{count}x {signature}\n    python -m tests.fuzz.readers '{one.address}'"
            )
            lines += [f"    {line}" for line in one.details.splitlines()]
        lines.append(f"{self.failed.total()} failures of {len(self.failed)} sorts")
        return "\n".join(lines)


class TooLongError(BaseException):
    """An input took more of the processor than any reader may."""


def _too_long(_: int, frame: FrameType | None) -> None:
    raise TooLongError


@contextmanager
def _watched() -> Iterator[None]:
    """Complaints of numpy are failures, and so is whatever does not end."""
    before = signal.signal(signal.SIGPROF, _too_long)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", InputWarning)
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_block(
    name: str,
    maker: Maker,
    place: tuple[int, int],
    numbers: Iterable[int],
    root: Path,
    mark: Callable[[str], None] = lambda address: None,
) -> Tally:
    """Spoil the files of a reader once per number, and read them.

    Parameters
    ----------
    name, maker
        The reader.
    place
        Seed and block.
    numbers
        Of the inputs.
    root
        A folder to work in; the block's files go when it ends.
    mark
        Called with the address of each input before it is read.
    """
    tally = Tally()
    where = f"{name}/{place[0]}/{place[1]}"
    folder = root / "block"
    try:
        with _watched():
            world = ReaderWorld(folder, random.Random(where))
            read = maker(world)
            whole = {file.path: file.content() for file in world.files}
            _read_whole(read, where, tally)
            begin, most = time.process_time(), _most_memory()
            spoilt: list[File] = []
            for number in numbers:
                address = f"{where}/{number}"
                mark(address)
                rng = random.Random(address)
                before = spoilt
                spoilt = world.files
                if len(spoilt) > 1:
                    spoilt = rng.sample(spoilt, rng.choice((1, 1, 1, 2)))
                for file in before:
                    if file not in spoilt:
                        _write(file.path, whole[file.path])
                for file in spoilt:
                    _spoil(file, whole[file.path], rng)
                refused = _read_spoilt(read, rng.random() < 0.5, address, tally)
                tally.inputs[name] += 1
                tally.refused[name] += refused
            allowed = MEMORY + PAGE * any(file.form == "parquet" for file in world.files)
            if (more := _most_memory() - most) > allowed:  # asking takes longer than many an input
                signature = f"{name}: more than {allowed >> 20} MB"
                tally.fail(Failure(signature, where, f"{more >> 20} MB"))
            tally.seconds[name] += time.process_time() - begin  # type: ignore[assignment]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally


def _most_memory() -> int:
    """The bytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _read_whole(read: Read, where: str, tally: Tally) -> None:
    """Before anything is spoilt there is nothing to refuse, or the spoilt files would prove little.

    The reader also learns here what it needs once: modules, caches, patterns.
    """
    try:
        read(fail)
    except Exception:
        tally.fail(Failure(f"{where.partition('/')[0]}: valid files", where, _said()))


def _write(path: Path, content: bytes) -> None:
    """As `Path.write_bytes`, in a third of its time."""
    place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(place, content)
    finally:
        os.close(place)


def _spoil(file: File, whole: bytes, rng: random.Random) -> None:
    """Change the bytes, the values or the lines of a file."""
    how = rng.random()
    share = {"bytes": 0.0, "lines": 0.4}.get(file.form, 0.3)
    if file.records and how < share:
        spoil(file, rng)
    elif file.form in ("jsonl", "json") and how < 0.6:
        lines = encoded(file.records, file.form).decode("utf-8", "surrogatepass").split("\n")
        place = rng.randrange(len(lines))
        lines[place] = _hurt(rng, lines[place])
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
        _write(file.path, packed(data, file.packing))
    elif rng.random() < 0.5 and (file.packing or isinstance(file, SealedFile)):
        data = mutated(rng, encoded(file.records, file.form))
        _write(file.path, packed(data, file.packing))
    else:
        _write(file.path, mutated(rng, whole))
        return
    if isinstance(file, SealedFile):
        file.path.write_bytes(file.seal(file.path.read_bytes()))


def _hurt(rng: random.Random, line: str) -> str:
    """A line of JSON with a strange value, or strange in itself."""
    cuts = [place for place, sign in enumerate(line) if sign == ":"]
    if not cuts or rng.random() < 0.5:
        return respelt(rng, line)
    begin = rng.choice(cuts) + 1
    end = min((at for sign in ",}]" if (at := line.find(sign, begin)) >= 0), default=len(line))
    value = rng.choice(RAW_JSON) if rng.random() < 0.8 else f'"{hostile_text(rng)}"'
    return f"{line[:begin]} {value}{line[end:]}"


def _read_spoilt(read: Read, stop: bool, address: str, tally: Tally) -> bool:
    """Whether it was refused; what else comes out is a failure."""
    problems: list[Problem] = []
    refused = False
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        read(fail if stop else problems.append)
    except InputError as error:
        refused = True
        problems.append(error.problem)
    except (Exception, TooLongError) as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        tally.fail(Failure(_signature(address, error), address, _said()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    for problem in problems:
        text = str(problem)
        if "\n" in text or not text.strip() or len(text) > 2_100:
            signature = f"{address.partition('/')[0]}: not one sentence"
            tally.fail(Failure(signature, address, text[:400]))
            break
    return refused or any(one.severity == "error" for one in problems)


def _signature(address: str, error: BaseException) -> str:
    """The kind of error and the line of the package that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if "deltableu/" in one.filename and "/tests/" not in one.filename]
    place = "outside"
    if ours:
        place = f"{ours[-1].filename.rpartition('deltableu/')[2]}:{ours[-1].lineno}"
    return f"{address.partition('/')[0]}: {type(error).__name__} at {place}"


def _said() -> str:
    with suppress(Exception):
        return traceback.format_exc()[-1800:]
    return "a failure that cannot be shown"
