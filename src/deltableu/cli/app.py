"""The `deltableu` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from deltableu._version import __version__
from deltableu.errors import InputError

__all__ = ["app", "main"]

app = App(
    name="deltableu",
    help="Judge generated text when many answers are right.",
    version=__version__,
    help_format="plaintext",
)

# Commands are imported when they run, so that `--help` stays quick.
_COMMANDS = {
    "check": "Say what is in a study, and everything that is wrong with it.",
    "score": "Score systems against many references of different quality.",
    "report": "Write one HTML page with a study's contents and scores.",
    "doctor": "Say how this installation is set up.",
}
for _name, _help in _COMMANDS.items():
    app.command(f"deltableu.cli.{_name}:{_name}", name=_name, help=_help)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2."""
    try:
        status = app(
            None if arguments is None else list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except (InputError, CycloptsError) as error:
        _complain(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; do not complain at shutdown either.
        sys.stderr.close()
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)


def _complain(message: str) -> None:
    print(f"deltableu: {' '.join(message.split())}", file=sys.stderr)
