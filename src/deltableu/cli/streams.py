"""The process around a command: its standard streams, and the signals that stop it."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Any, TextIO

from deltableu._visible import NARROWEST, visible
from deltableu.errors import InputError

_WIDEST = 1000
#: `deltableu.io.TOLD`; to import that here would be too late for signals.
_TOLD = "DELTABLEU_PROGRESS"
#: What asks a process to end; some systems lack some of them.
_ENDINGS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Stopped(KeyboardInterrupt):
    """A signal asks this process to end; like Ctrl-C, it passes everything that cleans up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Results(io.FileIO):
    """Standard output; after a failure nothing is tried again when the interpreter ends."""

    _over = False

    def write(self, data: Any) -> int:
        # Where a signal came while this was written, its buffer would write it once more.
        if self._over or _is_stopping:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except BrokenPipeError:
            # The reader (head, less) has seen enough.
            self._over = True
            raise Stopped(signal.SIGPIPE) from None
        except OSError as error:
            self._over = True
            raise InputError(f"standard output: cannot be written: {error.strerror}") from None


class _Notes(io.FileIO):
    """Standard error; where nobody can hear, results matter all the same."""

    def write(self, data: Any) -> int:
        try:
            # None where a pipe is full that must not be waited for.
            return super().write(data) or memoryview(data).nbytes
        except OSError:
            return memoryview(data).nbytes


def own_process() -> None:
    """Prepare a process that runs one command and then ends."""
    global _has_listener
    # Where a standard stream is closed, the next file that is opened would be taken for it. As
    # in GNU's programs, what stands for a closed output refuses to be written.
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        _claim(descriptor, mode)
    sys.stdout = _text(_Results(1, "w", closefd=False), sys.stdout, lines=os.isatty(1))
    sys.stderr = _text(_Notes(2, "w", closefd=False), sys.stderr, lines=True)
    _bound_size()
    _heed_signals()
    # Processes that this one starts have no such parent.
    if os.environ.pop(_TOLD, None) is not None:
        _has_listener = True
        threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Who listens to this process holds its standard input; nobody waits for it without them."""
    with suppress(OSError):
        while os.read(0, 1):
            pass
    os._exit(1)


def has_listener() -> bool:
    """Whether the process that started this one reads how far it is."""
    return _has_listener


def end_by(number: int) -> int:
    """The exit code after a signal; a process of its own dies of the signal, as shells expect."""
    global _died_of
    _died_of = number
    return 128 + number


def leave_signals() -> None:
    """Nothing is left to be cleaned up: let signals do what they do."""
    global _is_over
    _is_over = True


def terminal_width(stream: TextIO | None = None) -> int | None:
    """How wide the terminal is, or COLUMNS says; else None, and lines are as long as they need."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit():
        return int(given)
    shown = stream or sys.stdout
    try:
        return os.get_terminal_size(shown.fileno()).columns or None if shown.isatty() else None
    except (OSError, ValueError):
        return None


def note(message: str) -> None:
    """A sentence about what was done, beside the results; on one line unless a terminal is near."""
    text = f"deltableu: {visible(' '.join(message.split()))}"
    width = None if has_listener() else terminal_width(sys.stderr)
    if width is not None:
        # Only here: a process heeds signals before it imports what commands need.
        from deltableu.io import folded

        text = "\n".join(folded(text, width, "  ", whole_words=True))
    print(text, file=sys.stderr)


def remark(message: str) -> None:
    """A note for when the command has ended well: after a mistake, only that matters."""
    _remarks.append(message)


def tell_remarks() -> None:
    """Say what is waiting to be said."""
    for message in _remarks:
        note(message)
    forget_remarks()


def forget_remarks() -> None:
    """Leave unsaid what is waiting."""
    _remarks.clear()


_remarks: list[str] = []
_is_stopping = _is_over = _has_listener = False
_died_of: int | None = None


def _claim(descriptor: int, mode: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        opened = os.open(os.devnull, mode)
        if opened != descriptor:
            os.dup2(opened, descriptor)
            os.close(opened)


def _text(raw: io.FileIO, old: Any, *, lines: bool) -> io.TextIOWrapper:
    """The stream in place of an old one, or of none; nothing that it cannot spell is an error."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(old, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=lines,
    )


def _bound_size() -> None:
    """A terminal that says it has no width, or a million columns, is not believed."""
    for name, least, most in (("COLUMNS", NARROWEST, _WIDEST), ("LINES", 2, _WIDEST)):
        given = os.environ.get(name, "")
        known = given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0
        os.environ.pop(name, None)
        if known:
            os.environ[name] = str(min(max(int(given), least), most))
    if "COLUMNS" not in os.environ:
        for descriptor in (1, 2):
            if os.isatty(descriptor) and 0 < os.get_terminal_size(descriptor).columns < NARROWEST:
                os.environ["COLUMNS"] = str(NARROWEST)


def _heed_signals() -> None:
    for number in _ENDINGS:
        # What is ignored already, as under nohup, stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _unraisable
    # Registered first, it is called last.
    atexit.register(_die)


def _stop(number: int, _: FrameType | None) -> None:
    global _is_stopping
    if _is_stopping:
        # A second one must not break off the cleaning up after the first.
        return
    if _is_over:
        _die_of(number)
    _is_stopping = True
    raise Stopped(number)


def _unraisable(what: Any) -> None:
    """Where Python drops exceptions (in a destructor, say), the signal is sent again."""
    global _is_stopping
    if isinstance(what.exc_value, Stopped):
        _is_stopping = False
        # Not at once, when it would be dropped again.
        again = threading.Timer(0.01, os.kill, (os.getpid(), what.exc_value.number))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(what)


def _die() -> None:
    if _died_of is not None:
        _die_of(_died_of)


def _die_of(number: int) -> None:
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
