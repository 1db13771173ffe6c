"""One case: a number in, a world with a command line in it, and whatever was wrong out."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.commands import Command, commands
from tests.fuzz.line import FAULTS, CommandLine
from tests.fuzz.spoil import spoil
from tests.fuzz.trees import Entry, changed, new, plant_strangers, snapshot
from tests.fuzz.values import hostile_text
from tests.fuzz.world import File, World

ROOT = Path(__file__).parents[2]
#: Seconds of computing that a case may take. Those on the clock say nothing on a busy machine,
#: unless a process hardly computes in all of IDLE seconds: then it waits for what never comes.
PATIENCE, IDLE = 20, 60

#: How often each command is drawn: the slow ones less often.
_SHARES = {
    "report": 0.25,
    "judge train": 0.25,
    "validate": 0.7,
    "plan compare": 0.5,
    "doctor": 0.05,
    "metrics": 0.05,
    "vectors near": 0.5,
    "judge show": 0.6,
}
#: A pilot needs some items.
_ITEMS = {"plan compare": 10, "rate seeds": 8, "rate pilot": 4, "rate agree": 3, "rate rank": 3}
#: Where results may go, and what everybody else on the machine needs as it is.
_DEVICES = ("/dev/null", "/dev/full")
_API = 0.12
_PROCESSES = 0.004
_TWICE = 0.02
_AGAIN = 0.05
#: How many things are wrong in a case, and which: most code lies behind the first check.
_COUNTS = (0, 1, 2), (35, 45, 20)
_SORTS = ("file", "left behind", *FAULTS), (6, 1, 4, 1, 1)
_OVER_AND_OVER = re.compile(
    r"(seconds\S*|started|finished|made)\W+[-0-9.:T+Z]+|0x[0-9a-f]+| \([^()]* keeps what was done\)"
)


class Hang(BaseException):
    """A case took too long."""


@dataclass(frozen=True)
class Failure:
    """What a case did that it must not do."""

    seed: int
    sort: str
    place: str
    details: str

    @property
    def signature(self) -> str:
        """Failures that share it have the same cause, probably."""
        return f"{self.sort}: {self.place}"


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int | None
    out: bytes
    err: bytes
    error: BaseException | None = None


@dataclass(frozen=True)
class Result:
    """What came of a case."""

    seed: int
    what: str  # the command, or the function
    end: str  # exit code, or exception
    failures: list[Failure]


def run_case(seed: int, folder: Path) -> Result:
    """Run a case in a folder that is there for it alone; everything follows from its number."""
    rng = random.Random(seed)
    if rng.random() < _API:
        from tests.fuzz.api import run_api_case

        return run_api_case(seed, rng, folder)
    process, twice = rng.random() < _PROCESSES, rng.random() < _TWICE
    found, first = _command_case(seed, folder, process=process)
    if twice and not found and not process:
        again, second = _command_case(seed, folder, process=False)
        found += again
        if not again and first.left != second.left:
            details = f"{_difference(first, second)}\n{first.story}"
            found.append(Failure(seed, "not the same twice", first.command, details))
    return Result(seed, first.command, first.left["code"].decode(), found)


@dataclass(frozen=True)
class _Left:
    """What must be the same when a case is run again."""

    command: str
    left: dict[str, bytes]
    story: str


def _difference(first: _Left, second: _Left) -> str:
    names = {k for k in {*first.left, *second.left} if first.left.get(k) != second.left.get(k)}
    return "\n".join(
        f"{name}: {first.left.get(name, b'')[:500]!r}\n  {second.left.get(name, b'')[:500]!r}"
        for name in sorted(names)
    )


def _command_case(seed: int, folder: Path, *, process: bool) -> tuple[list[Failure], _Left]:
    # Each part draws by itself, so that a case stays what it is when others get options.
    rng = random.Random(f"{seed} spoils")
    shutil.rmtree(folder, ignore_errors=True)
    command = max(commands(), key=lambda one: _draw(seed, one))
    world = World(folder, random.Random(f"{seed} world"), _ITEMS.get(command.name, 1))
    faults = rng.choices(_SORTS[0], _SORTS[1], k=rng.choices(*_COUNTS)[0])
    line = CommandLine(world, command, seed, faults)
    arguments = line.make()
    own: set[str] = set()
    if rng.random() < (0.5 if "history" in line.sense.given else _AGAIN) and not process:
        own = _run_before(arguments, world, rng)
    for file in rng.sample(world.files, min(len(world.files), faults.count("file"))):
        spoil(file, rng)
    if "left behind" in faults:
        _leave_behind(world, line)
    stdin = world.files[0].content() if world.files and "-" in arguments else b""
    before = snapshot(folder)
    devices = {name: os.stat(name).st_mode for name in _DEVICES}
    outcome = (_in_process if process else _in_this_process)(arguments, stdin, world)
    after = snapshot(folder)
    wrong = [*_check(command, arguments, outcome), *_check_tree(line, outcome, before, after, own)]
    for name, mode in devices.items():
        if os.stat(name).st_mode != mode:
            os.chmod(name, mode)
            wrong.append(("a device was changed", command.name, name))
    shown = _story(arguments, outcome, world)
    failures = [Failure(seed, sort, place, f"{detail}\n{shown}") for sort, place, detail in wrong]
    fresh = {path: after[path].content for path in new(before, after)}
    left = {"code": b"%r" % outcome.code, "out": outcome.out, "err": outcome.err, **fresh}
    # A picture knows its date, and a judge how long it learned.
    timed = (".png", ".gz", ".safetensors", *(["out"] if command.name == "judge train" else []))
    if command.path[0] == "rate":  # links are secrets, and forgotten names are random
        timed = (*timed, ".sqlite", "new-links.csv", "out", "err")
    if outcome.code != 0:  # what is done when another thread fails is a matter of chance
        timed = (*timed, *fresh)
    masked = {k: _masked(v) for k, v in left.items() if not k.endswith(timed) and "/tmp/" not in k}
    return failures, _Left(command.name, masked, shown)


def _draw(seed: int, command: Command) -> float:
    """The largest wins, as often as its share says (Efraimidis and Spirakis 2006)."""
    return random.Random(f"{seed} {command.name}").random() ** (1 / _SHARES.get(command.name, 1.0))


def _masked(content: bytes) -> bytes:
    text = _OVER_AND_OVER.sub("", content.decode("latin-1"))
    # A history says when each gate was.
    text = re.sub(r'^\{"time": "[^"]*"', "", text, flags=re.MULTILINE)
    # The partitions of a log of progress end in any order.
    if text.startswith('{"stage": '):
        text = "\n".join(sorted(text.splitlines()))
    return text.encode("latin-1")


def _run_before(arguments: list[str], world: World, rng: random.Random) -> set[str]:
    """What the same line leaves when all is well, sometimes spoilt later on; the paths of it."""
    before = snapshot(world.root)
    _in_this_process(arguments, b"", world)
    made = new(before, snapshot(world.root))
    files = [path for path in made if os.path.isfile(path)]
    if files and rng.random() < 0.3:
        path = Path(rng.choice(files))
        spoil(File(path, "bytes", [path.read_bytes()]), rng)
    return {*made}


def _leave_behind(world: World, line: CommandLine) -> None:
    """What interrupted jobs, other tools and other people may have left where results go."""
    rng = world.rng
    for path in dict.fromkeys(line.outputs):
        if path.exists() or not path.parent.is_dir() or rng.random() < 0.4:
            continue
        match rng.randrange(5):
            case 0:
                path.write_text("somebody's\n")
            case 1:
                path.mkdir()
            case 2:
                plant_strangers(path)
            case 3:
                path.symlink_to(rng.choice((world.inputs, world.root / "nowhere")))
            case _:
                for ending in ("mining", "rating", "training", "work"):
                    left = Path(f"{path}.{ending}")
                    with contextlib.suppress(OSError):
                        plant_strangers(left)
                        (left / "journal.jsonl").write_bytes(
                            hostile_text(rng).encode(errors="replace")
                        )


# Running


@contextlib.contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    old = sys.stdin, sys.stdout, sys.stderr
    made = [
        io.TextIOWrapper(one, "utf-8", write_through=True) for one in (io.BytesIO(stdin), out, err)
    ]
    sys.stdin, sys.stdout, sys.stderr = made
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = old
        for stream in made:
            with contextlib.suppress(ValueError):
                stream.detach()  # else the buffers would be closed with it


@contextlib.contextmanager
def _elsewhere(world: World) -> Iterator[None]:
    """Folders and settings that a command may change, put back at the end."""
    cwd, temporary, shows = os.getcwd(), tempfile.tempdir, warnings.showwarning
    environment = dict(os.environ)
    os.environ["TMPDIR"] = str(world.root / "tmp")
    tempfile.tempdir = str(world.root / "tmp")
    os.chdir(world.cwd)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("error", RuntimeWarning)  # arithmetic that went wrong
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        os.chdir(cwd)
        tempfile.tempdir, warnings.showwarning = temporary, shows
        os.environ.clear()
        os.environ |= environment


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Raise Hang in a case that computes for too long, or not at all."""
    computed = time.process_time()

    def busy(*_: object) -> None:
        raise Hang(f"took more than {PATIENCE} seconds of computing")

    def idle(*_: object) -> None:
        nonlocal computed
        last, computed = computed, time.process_time()
        if computed - last < IDLE / 1000:
            raise Hang(f"waited for {IDLE} seconds")

    clocks = {signal.SIGALRM: signal.ITIMER_REAL, signal.SIGPROF: signal.ITIMER_PROF}
    old = {signal.SIGALRM: signal.signal(signal.SIGALRM, idle)}
    old[signal.SIGPROF] = signal.signal(signal.SIGPROF, busy)
    signal.setitimer(signal.ITIMER_REAL, IDLE, IDLE)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        for number, clock in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, old[number])


def _in_this_process(arguments: list[str], stdin: bytes, world: World) -> Outcome:
    from deltableu.cli.app import main

    code: int | None = None
    error: BaseException | None = None
    with _elsewhere(world), _streams(stdin) as (out, err), watched():
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        except BaseException as raised:
            error = raised
    if error is not None:
        gc.collect()
    return Outcome(code, out.getvalue(), err.getvalue(), error)


def _in_process(arguments: list[str], stdin: bytes, world: World) -> Outcome:
    variables = {
        "TMPDIR": str(world.root / "tmp"),
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "COLUMNS": world.rng.choice(("0", "1", "2", "80", "-1", "x")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "deltableu", *arguments],
            input=stdin,
            capture_output=True,
            cwd=world.cwd,
            env=os.environ | variables,
            timeout=10 * IDLE,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Outcome(None, late.stdout or b"", late.stderr or b"", Hang("a process hangs"))
    return Outcome(done.returncode, done.stdout, done.stderr)


# What is right

_Wrong = tuple[str, str, str]
#: Commands that say on the way how far they are.
_TALKATIVE = ("mine", "judge train", "judge apply", "vectors train", "logs pairs", "logs sample")


def place_of(error: BaseException) -> str:
    """The innermost line of this package, which is where to look first."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if "/deltableu/" in one.filename]
    last = ours[-1] if ours else frames[-1] if frames else None
    where = "?" if last is None else f"{last.filename.rpartition('/deltableu/')[2]}:{last.lineno}"
    return f"{type(error).__name__} at {where}"


def _unfolded(lines: list[str]) -> list[str]:
    """Sentences that were folded to the terminal's width, each in one line again."""
    found: list[str] = []
    for line in lines:
        if found and line.startswith("  "):
            found[-1] += line[1:]
        else:
            found.append(line)
    return found


def _check(command: Command, arguments: list[str], outcome: Outcome) -> Iterator[_Wrong]:
    if outcome.error is not None:
        shown = "".join(traceback.format_exception(outcome.error))[-3000:]
        yield type(outcome.error).__name__, place_of(outcome.error), shown
        return
    out, err = (stream.decode("utf-8", "backslashreplace") for stream in (outcome.out, outcome.err))
    if outcome.code not in (0, 1, 2):
        yield f"exit code {outcome.code}", command.name, ""
    if "Traceback (most recent call last)" in err:
        yield "traceback", _last_line(err), ""
        return
    yield from _check_text(command, "standard output", out)
    yield from _check_text(command, "standard error", err)
    lines = _unfolded(err.splitlines(keepends=False) if "\r" not in err else err.split("\n"))
    # Where results take standard output, the summary is beside the notes.
    beside = outcome.code == 0 and any(one == "-" or one.endswith("=-") for one in arguments)
    for line in lines:
        if line and not beside and not line.startswith("deltableu: "):
            yield "a line without our name", command.name, repr(line)
            break
    if "RuntimeWarning" in err or "encountered in" in err:
        yield "a warning of numpy's", command.name, ""
    if outcome.code == 2:
        if out and command.name != "check":
            yield "output in spite of an error", command.name, ""
        said = [one for one in lines if one and not one.startswith("deltableu: warning: ")]
        if not said and not (command.name == "check" and out):
            yield "an error without a sentence", command.name, ""
        if len(said) > 1 and command.name not in (*_TALKATIVE, "check"):
            yield "more than one sentence", command.name, ""
        if said and len(said[-1]) > 3000 + max(map(len, arguments), default=0) * 3:
            yield "a sentence that nobody reads", command.name, f"{len(said[-1])} characters"
    if outcome.code == 0 and out and _format(arguments) == "json":
        try:
            json.loads(out, parse_constant=_no_number)
        except ValueError as error:
            yield "no JSON", command.name, str(error)


def _format(arguments: list[str]) -> str | None:
    if {"--help", "-h", "--version"} & {*arguments}:
        return None
    given = [b for a, b in itertools.pairwise(arguments) if a == "--format"]
    given += [one.removeprefix("--format=") for one in arguments if one.startswith("--format=")]
    return given[0] if len(given) == 1 else None


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _check_text(command: Command, where: str, text: str) -> Iterator[_Wrong]:
    for character in text:
        if unicodedata.category(character) == "Cc" and character not in "\n\t":
            yield f"a control character on {where}", command.name, repr(character)
            return


def _last_line(err: str) -> str:
    frames = re.findall(r'deltableu/(\S+\.py)", line (\d+)', err)
    last = err.strip().splitlines()[-1][:120]
    return f"{last} at {':'.join(frames[-1])}" if frames else last


def _check_tree(
    line: CommandLine,
    outcome: Outcome,
    before: dict[str, Entry],
    after: dict[str, Entry],
    own: set[str],
) -> Iterator[_Wrong]:
    name = line.command.name
    touched = [path for path in changed(before, after) if not _appended(path, before, after)]
    if "replace" in line.sense.given and outcome.code == 0:
        # A study may be replaced by what was made of it, if its owner says so.
        places = _resolved(line)
        own = own | {path for path in touched if any(_within(path, one) for one in places)}
    if line.changes_campaign:
        own = own | {path for path in touched if path.startswith(f"{line.world.inputs}/campaign/")}
    if strange := [path for path in touched if path not in own]:
        yield "a stranger's file was touched", name, "\n".join(strange[:5])
    # A gate's summary is added to last, when its results are written: a device may be full then.
    elif touched and outcome.code == 2 and not (name == "gate" and b"/dev/full" in outcome.err):
        yield "a failure touches results", name, "\n".join(touched[:5])
    fresh = [path for path in new(before, after) if "torchinductor" not in path]  # torch's own
    hidden = [path for path in fresh if "tmp" in os.path.basename(path) or "/tmp/" in path]
    hidden += [path for path in fresh if os.path.basename(path).startswith(".")]
    wanted = {str(path) for path in line.outputs}
    hidden = [path for path in hidden if path not in wanted]
    if hidden:
        yield "temporaries are left", name, "\n".join(hidden[:5])
    elif outcome.code in (0, 1):  # 1 is a verdict
        allowed = [*_resolved(line), f"{line.world.cwd}/report.html"]
        strays = [one for one in fresh if not any(_within(one, place) for place in allowed)]
        if strays:
            yield "a file where none was asked for", name, "\n".join(strays[:5])
    elif fresh:
        said = outcome.err.decode("utf-8", "surrogateescape")
        if name == "gate" and "cannot be written" in said:
            # Of several results, those before the one that failed are whole; no run is counted.
            fresh = [one for one in fresh if "history" in os.path.basename(one)]
        strays = [one for one in fresh if not _named(one, said) and not _is_log(one, line)]
        if strays:
            yield "a failure leaves files", name, "\n".join(strays[:5])


def _resolved(line: CommandLine) -> list[str]:
    places = (str(path) for path in line.outputs)
    return [one for place in places for one in (place, os.path.realpath(place))]


def _within(path: str, place: str) -> bool:
    """Inside what was asked for, or on the way to it."""
    return path == place or path.startswith(f"{place}/") or place.startswith(f"{path}/")


def _appended(path: str, before: dict[str, Entry], after: dict[str, Entry]) -> bool:
    """A log is continued, whoever began it."""
    entry = after.get(path)
    grows = os.path.basename(path).startswith(("new-log", "new-history", "new-summary"))
    return grows and entry is not None and entry.content.startswith(before[path].content)


def _is_log(path: str, line: CommandLine) -> bool:
    return os.path.basename(path).startswith("new-log")


def _named(path: str, said: str) -> bool:
    """Whether a message says that this is kept, or the folder it is in."""
    found = Path(path)
    return any(str(one) in said for one in (found, *found.parents) if len(one.parts) > 4)


def _story(arguments: list[str], outcome: Outcome, world: World) -> str:
    shown = " ".join(map(_quoted, arguments))
    err = outcome.err.decode("utf-8", "backslashreplace")[-1500:]
    out = outcome.out.decode("utf-8", "backslashreplace")[-600:]
    return f"$ deltableu {shown}\nexit code {outcome.code}\nstderr: {err!r}\nstdout: {out!r}"


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[-\w./=,:@]+", text, re.ASCII) else repr(text[:300])
