"""The `deltableu` command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from deltableu._version import __version__
from deltableu.errors import InputError

#: All commands and what they do; a command's module is imported when it runs.
COMMANDS = {
    "check": "Say what is in a study, and everything that is wrong with it.",
    "logs": "Turn raw posts or conversations into pairs to mine.",
    "vectors": "Train word vectors on logs, and look at them.",
    "mine": "Find more references for each item in dialogue logs.",
    "judge": "Train models that rate references, and rate with them.",
    "score": "Score systems against many references of different quality.",
    "compare": "Say which differences between systems to believe.",
    "plan": "Say how large a study must be.",
    "validate": "Say how well metrics agree with people, and which agree best.",
    "explain": "Show why a response scored as it did, n-gram by n-gram.",
    "metrics": "List the metrics that are installed, and what they need.",
    "report": "Write one HTML page with a study's contents and scores.",
    "doctor": "Say how this installation is set up.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    # What people type most must not wait for the parser to be imported.
    if given in ([], ["--help"], ["-h"]):
        print(_overview())
        sys.exit(0)
    if given == ["--version"]:
        print(__version__)
        sys.exit(0)
    try:
        status = _run(given)
    except InputError as error:
        _complain(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; do not complain at shutdown either.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        _complain(f"{place}{error.strerror or error}")
        sys.exit(2)
    sys.exit(status if isinstance(status, int) else 0)


def _run(arguments: list[str]) -> Any:
    from cyclopts import App, CycloptsError

    from deltableu.cli.options import STANDARD_INPUT

    app = App(
        name="deltableu",
        version=__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    arguments = [STANDARD_INPUT if argument == "-" else argument for argument in arguments]
    for name in COMMANDS:
        app.command(f"deltableu.cli.{name}:{name}", name=name)
    try:
        return app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        raise InputError(str(error)) from error


def _overview() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {text}" for name, text in COMMANDS.items())
    return (
        "Usage: deltableu COMMAND ...\n\n"
        "Judge generated text when many answers are right.\n\n"
        f"Commands:\n{commands}\n\n"
        "deltableu COMMAND --help says what a command takes; --version prints the version."
    )


def _prepare_streams() -> None:
    """Names that a terminal cannot show are no reason to fail; warnings are one line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = lambda message, *_, **__: _complain(f"warning: {message}")


def _complain(message: str) -> None:
    print(f"deltableu: {' '.join(message.split())}", file=sys.stderr)
