"""A job is interrupted at a random moment, and the same command run again."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.trees import Entry, changed, new, plant_strangers, snapshot
from tests.kills.jobs import JOBS, Job, content, make_inputs

ROOT = Path(__file__).parents[2]
#: Seconds on the clock, of which a busy machine gives a job few.
LONG = 600.0
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass
class Bench:
    """Inputs for all jobs, and what each writes when nobody interrupts it."""

    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)
    expected: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir(parents=True)
        make_inputs(self.inputs)
        plant_strangers(self.inputs)

    def know(self, job: Job) -> None:
        """Run the job undisturbed, once."""
        if job.name in self.expected:
            return
        place = self.folder / "undisturbed" / job.result
        (place / "work").mkdir(parents=True)
        started = time.monotonic()
        out, err, code = _finish(_start(job, self.inputs, place))
        self.seconds[job.name] = time.monotonic() - started
        assert code == 0, (job.name, out, err)
        self.expected[job.name] = content(place / job.result)


def _start(job: Job, inputs: Path, place: Path) -> subprocess.Popen[str]:
    arguments = job.arguments(inputs, place / job.result, place / "work")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "TMPDIR": str(place.parent),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "deltableu", *map(str, arguments)],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(process: subprocess.Popen[str]) -> tuple[str, str, int]:
    try:
        out, err = process.communicate(timeout=LONG)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return out, err, process.returncode


def _heeds_signals(pid: int) -> bool:
    """Whether the command has begun: before that, Python itself answers signals, as it likes."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    caught = re.search(r"SigCgt:\s*([0-9a-f]+)", status)
    return caught is None or bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


@dataclass(frozen=True)
class Moment:
    """One interruption; its number says which job, what happens, and about when."""

    seed: int
    job: Job
    what: str

    @classmethod
    def of(cls, seed: int, *, disks: bool) -> Moment:
        rng = random.Random(seed)
        sorts = [*(one.name for one in SIGNALS), *(["full disk"] * 2 if disks else [])]
        return cls(seed, JOBS[seed % len(JOBS)], rng.choice(sorts))

    def run(self, bench: Bench, folder: Path) -> None:
        bench.know(self.job)
        shutil.rmtree(folder, ignore_errors=True)
        place = folder / "place"
        place.mkdir(parents=True)
        rng = random.Random(f"moment {self.seed}")
        if self.what == "full disk":
            size = rng.randint(1, 100) * max(8, self._size(bench) // 50)
            with disk(place, size) as enlarge:
                before = self._prepare(bench, place)
                self._fill(bench, place)
                self._check_tree(bench, place, before)
                enlarge()
                self._run_again(bench, place, before)
        else:
            before = self._prepare(bench, place)
            for _ in range(rng.choice((1, 1, 2))):
                self._interrupt(bench, place, rng)
                self._check_tree(bench, place, before)
            self._run_again(bench, place, before)

    def _size(self, bench: Bench) -> int:
        """Kilobytes that the result takes."""
        return sum(map(len, bench.expected[self.job.name].values())) // 1024

    def _prepare(self, bench: Bench, place: Path) -> dict[str, Entry]:
        """Other people's files, everywhere around; what must not change."""
        plant_strangers(place)
        plant_strangers(place / "work")
        return snapshot(place) | snapshot(bench.inputs)

    def _interrupt(self, bench: Bench, place: Path, rng: random.Random) -> None:
        number = signal.Signals[self.what]
        wait = rng.uniform(0.0, 1.1) * bench.seconds[self.job.name]
        process = _start(self.job, bench.inputs, place)
        started = time.monotonic()
        while process.poll() is None and time.monotonic() - started < wait:
            time.sleep(0.002)
        if number is not signal.SIGKILL:
            while process.poll() is None and not _heeds_signals(process.pid):
                time.sleep(0.002)
        process.send_signal(number)
        _, err, code = _finish(process)
        assert code in (0, -number), self._story(code, err)
        done = (place / self.job.result).exists()
        if number is not signal.SIGKILL:
            self._check_no_temporaries(place, err)
            if not done:
                self._check_words(err, code)
                self._check_cleaned(place, err)
        if done:  # all was written before; start again
            assert content(place / self.job.result) == bench.expected[self.job.name]
            _remove(place / self.job.result)

    def _fill(self, bench: Bench, place: Path) -> None:
        _, err, code = _finish(_start(self.job, bench.inputs, place))
        if code == 0:
            assert content(place / self.job.result) == bench.expected[self.job.name]
            _remove(place / self.job.result)
            return
        assert code == 2, self._story(code, err)
        self._check_words(err, code)
        said = [line for line in err.splitlines() if line]
        assert "space" in said[-1], self._story(code, err)
        self._check_no_temporaries(place, err)
        self._check_cleaned(place, err)

    def _check_words(self, err: str, code: int) -> None:
        assert "Traceback" not in err, self._story(code, err)
        lines = err.splitlines()
        assert lines, self._story(code, err)
        assert all(line.startswith("deltableu: ") for line in lines), self._story(code, err)

    def _check_cleaned(self, place: Path, err: str) -> None:
        """No result, and nothing else new than what is kept in the folder for work."""
        left = [path for path in snapshot(place) if "torchinductor" not in path]
        kept = str(place / "work")
        strangers = _strangers(place)
        stray = [one for one in left if not one.startswith(kept) and one not in strangers]
        assert stray == [], (self._story(None, err), stray)

    def _check_no_temporaries(self, place: Path, err: str) -> None:
        strangers = _strangers(place)
        hidden = [one for one in snapshot(place) if re.search(r"/\.[^/]*$", one)]
        temporary = [one for one in hidden if one not in strangers]
        assert temporary == [], (self._story(None, err), temporary)

    def _check_tree(self, bench: Bench, place: Path, before: dict[str, Entry]) -> None:
        touched = changed(before, snapshot(place) | snapshot(bench.inputs))
        assert touched == [], (self._story(None, ""), touched)

    def _run_again(self, bench: Bench, place: Path, before: dict[str, Entry]) -> None:
        parts = [*(place / "work").glob(f"[!.]*/{self.job.parts}")] if self.job.parts else []
        _, err, code = _finish(_start(self.job, bench.inputs, place))
        assert code == 0, self._story(code, err)
        if parts:
            assert "goes on" in err, (self._story(code, err), parts)
        self._check_tree(bench, place, before)
        found = content(place / self.job.result)
        assert found == bench.expected[self.job.name], self._story(code, err)
        after = snapshot(place)
        result = str(place / self.job.result)
        fresh = [one for one in new(before, after) if "torchinductor" not in one]
        stray = [one for one in fresh if one != result and not one.startswith(f"{result}/")]
        assert stray == [], (self._story(code, err), stray)

    def _story(self, code: int | None, err: str) -> str:
        return f"moment {self.seed}, {self.job.name}, {self.what}: exit code {code}\n{err[-3000:]}"


def _strangers(place: Path) -> set[str]:
    """What was there before the job; they are the only files that say whose they are."""
    found = set()
    for path, entry in snapshot(place).items():
        is_folder = stat.S_ISDIR(entry.mode) and os.path.basename(path) in ("work", "sub")
        if is_folder or entry.content.startswith(b"somebody's "):
            found.add(path)
    return found


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def disk(place: Path, kilobytes: int) -> Iterator[object]:
    """A disk of that size, mounted at a folder; what is given makes it large enough."""
    # Room for the strangers, each of which takes a page.
    size = f"size={kilobytes + 120}k"
    _mount("-t", "tmpfs", "-o", size, "none", place)
    try:
        yield lambda: _mount("-o", "remount,size=200m", place)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _mount(*arguments: object) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True, capture_output=True)


def can_mount(folder: Path) -> bool:
    """Whether this account may make small disks."""
    folder.mkdir(exist_ok=True)
    try:
        with disk(folder, 100):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
