"""Any program as a responder: items in as lines of JSON, responses out as lines of JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Literal, NoReturn, cast, get_args

from deltableu._version import __version__
from deltableu.corpus import Item
from deltableu.errors import InputError, Problem, check_choice
from deltableu.io import Limits, decode_object, encode, not_utf8, shown, size_text
from deltableu.respond.program_output import ProgramOutput
from deltableu.respond.responses import Responses, checked_items, make_responses

#: Bytes of what a program complains about that are kept, from the end.
_LAST = 4096
#: Seconds that a program has to end after it has been told to.
_GRACE = 5.0


def program_responses(
    items: Sequence[Item],
    command: Sequence[str],
    *,
    timeout: float = 3600.0,
    missing: Literal["error", "drop"] = "error",
) -> Responses:
    r"""Respond to each item with what a program says.

    The program reads a line `{"id", "context", "message"}` per item and writes a line
    `{"id", "text"}` per item, in any order, while it reads or afterwards. It may write several
    candidates of an item, each with `features` (an object of names and numbers) or a `total`, or
    both; the one with the highest total is the response, without totals the first.

    Parameters
    ----------
    items
    command
        The program and its arguments; no shell is asked.
    timeout : float
        Seconds after which the program is ended, and nothing taken from it.
    missing : {"error", "drop"}
        Whether it is an error if items have no response.

    Examples
    --------
    >>> import sys
    >>> program = (
    ...     "import json, sys\n"
    ...     "for line in sys.stdin:\n"
    ...     "    item = json.loads(line)\n"
    ...     "    print(json.dumps({'id': item['id'], 'text': item['message'] + '?'}))")
    >>> items = [Item("1", (), message="Really"), Item("2", (), message="Why")]
    >>> program_responses(items, [sys.executable, "-c", program]).texts
    ('Really?', 'Why?')
    """
    items = checked_items(items)
    check_choice("missing", missing, get_args(Literal["error", "drop"]))
    if isinstance(command, str) or not command:
        raise InputError(f"command must be a program and its arguments, got {command!r}")
    if not 0.0 < timeout < float("inf"):
        raise InputError(f"timeout must be a number of seconds above 0, got {timeout}")
    name = os.path.basename(command[0])
    output = ProgramOutput(f"output of {name}", [item.id for item in items])
    with _running(command, timeout) as program:
        program.feed(items)
        for number, line in program.lines():
            output.add(number, line)
        program.check_end()
    texts, nbest = output.responses()
    lost = [item.id for item, text in zip(items, texts, strict=True) if text is None]
    if lost and missing == "error":
        examples = ", ".join(map(shown, lost[:3])) + (" and others" if len(lost) > 3 else "")
        count = "1 item has" if len(lost) == 1 else f"{len(lost)} items have"
        raise InputError(Problem(f"{count} no response: {examples}", file=output.name))
    facts = {} if nbest is None else {"candidates": len(nbest.texts)}
    signature = f"program|command:{json.dumps(list(command))}|version:{__version__}"
    return make_responses(items, texts, signature, facts, nbest)


@contextmanager
def _running(command: Sequence[str], timeout: float) -> Iterator[_Program]:
    """Start a program; however the block ends, it and what it started have ended too."""
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{command[0]}: cannot be started: {reason or error}") from None
    program = _Program(process, os.path.basename(command[0]), timeout)
    try:
        yield program
    finally:
        program.end()


class _Program:
    """A program that runs; threads write to it and hear its complaints, so that none waits."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, timeout: float) -> None:
        self._process = process
        self._name = name
        self._timeout = timeout
        self._late = False
        self._complaints = b""
        self._timer = threading.Timer(timeout, self._stop)
        self._timer.daemon = True
        self._timer.start()
        self._threads = [threading.Thread(target=self._hear, daemon=True)]
        self._threads[0].start()

    def feed(self, items: Sequence[Item]) -> None:
        """Begin to write items to it."""
        thread = threading.Thread(target=self._write, args=(items,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _write(self, items: Sequence[Item]) -> None:
        stream = cast(IO[bytes], self._process.stdin)
        # A program need not read all, or anything.
        with suppress(OSError, ValueError):
            for item in items:
                record = {"id": item.id, "context": item.context, "message": item.message}
                stream.write(encode(record).encode("utf-8", "surrogatepass") + b"\n")
        with suppress(OSError, ValueError):
            stream.close()

    def _hear(self) -> None:
        stream = cast(IO[bytes], self._process.stderr)
        with suppress(OSError, ValueError):
            while piece := os.read(stream.fileno(), _LAST):
                self._complaints = (self._complaints + piece)[-_LAST:]

    def lines(self) -> Iterator[tuple[int, dict[str, object]]]:
        """Yield the numbers of lines and the objects they hold, as they come."""
        stream = cast(IO[bytes], self._process.stdout)
        number, longest = 0, Limits.now().line
        while line := stream.readline(longest + 1):
            number += 1
            if len(line) > longest:
                self._complain(number, f"is longer than {size_text(longest)} (--max-line)")
            if not line.strip():
                continue
            try:
                value = decode_object(line.decode().rstrip("\r\n"))
            except UnicodeDecodeError as error:
                self._complain(number, not_utf8(line, error))
            except ValueError as error:
                # What ended early has said half a line.
                if not line.endswith(b"\n"):
                    self.check_end()
                self._complain(number, str(error))
            yield number, value
        self._check_time()

    def _complain(self, number: int, message: str) -> NoReturn:
        raise InputError(Problem(message, f"output of {self._name}", number))

    def check_end(self) -> None:
        """Complain if it does not end, or not well."""
        code = self._process.wait()  # the timer ends what takes too long
        self._check_time()
        if code == 0:
            return
        self._threads[0].join(_GRACE)
        said = self._complaints.decode("utf-8", "replace").strip().splitlines()
        reason = f": {said[-1].strip()}" if said else ""
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"failed (exit {code})"
        raise InputError(f"{self._name} {how}{reason}")

    def _check_time(self) -> None:
        if self._late:
            raise InputError(
                f"{self._name} has not ended after {self._timeout:g} seconds: allow it more time"
            )

    def _stop(self) -> None:
        self._late = True
        self._kill()

    def _kill(self) -> None:
        # The group, for what it has started holds its streams open too.
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it, its threads and its streams."""
        self._timer.cancel()
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        for thread in self._threads:
            thread.join(_GRACE)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError, ValueError):
                cast(IO[bytes], stream).close()
