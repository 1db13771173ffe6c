"""The `deltableu` command."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deltableu._version import __version__
from deltableu.cli.streams import (
    end_by,
    forget_remarks,
    leave_signals,
    note,
    own_process,
    remark,
    tell_remarks,
)
from deltableu.errors import InputError

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

#: All commands and what they do; a command's module is imported when it runs.
COMMANDS = {
    "check": "Say what is in a study, and everything that is wrong with it.",
    "import": "Turn files as they are into a study.",
    "logs": "Turn raw posts or conversations into pairs to mine.",
    "vectors": "Train word vectors on logs, and look at them.",
    "mine": "Find more references for each item in dialogue logs.",
    "rate": "Let people rate references and outputs, and look at what they said.",
    "judge": "Train models that rate references, and rate with them.",
    "respond": "Make baseline systems respond to the items of a study.",
    "score": "Score systems against many references of different quality.",
    "compare": "Say which differences between systems to believe.",
    "gate": "Let a new system pass only if it is no worse than the old one.",
    "plan": "Say how large a study must be.",
    "validate": "Say how well metrics agree with people, and which agree best.",
    "tune": "Tune what chooses candidates, choose, and see how a metric is gamed.",
    "explain": "Show why a response scored as it did, n-gram by n-gram.",
    "metrics": "List the metrics that are installed, and what they need.",
    "experiment": "Carry logs through all stages to a report, and keep what is done.",
    "report": "Write one HTML page with a study's contents and scores.",
    "doctor": "Say how this installation is set up, and how to get what is missing.",
    "completion": "Let the Tab key complete commands and options in a shell.",
}
#: Commands whose names Python keeps for itself.
_MODULES = {"import": "importing"}
#: How alike names must be for one to be asked for in place of the other.
_ALIKE = 0.66
#: Other tools' names of options, which do not look like ours.
_CALLED_HERE = {
    "--alpha": "--significance",
    "--level": "--confidence",
    "--ci-method": "--interval",
    "--partition-bytes": "--partition-size",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2.

    Parameters
    ----------
    arguments
        By default those of this process, whose streams and signals are then taken care of too.
    """
    if arguments is None:
        own_process()
    given = list(sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = lambda message, *_, **__: remark(f"warning: {message}")
    forget_remarks()
    try:
        try:
            status = _run(given)
        finally:
            sys.stdout.flush()
        tell_remarks()
    except InputError as error:
        note(str(error))
        status = 2
    except (KeyboardInterrupt, BrokenPipeError) as error:
        status = _stopped(error)
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        note(f"{place}{error.strerror or error}")
        status = 2
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        note(f"not enough memory{reason}: take less at once, or a machine with more")
        status = 2
    except RecursionError:
        note("something in the input is nested too deeply")
        status = 2
    leave_signals()
    sys.exit(status if isinstance(status, int) else 0)


def _stopped(error: BaseException) -> int:
    if isinstance(error, BrokenPipeError):
        number = signal.SIGPIPE
    else:
        number = signal.Signals(getattr(error, "number", signal.SIGINT))
    # Who reads no further wants to read nothing of it either.
    if number is not signal.SIGPIPE:
        note(f"stopped by {number.name}")
    return end_by(number)


def _run(arguments: list[str]) -> Any:
    # What people type most must not wait for the parser to be imported.
    if arguments in ([], ["--help"], ["-h"]):
        print(_overview())
        return 0
    if arguments == ["--version"]:
        print(__version__)
        return 0
    from cyclopts import CycloptsError

    from deltableu.cli.limits import limits_of
    from deltableu.cli.words import settled_words

    with limits_of(_settled_dashes(arguments)) as rest:
        try:
            return parser()(
                settled_words(rest),
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
        except CycloptsError as error:
            raise InputError(_in_our_words(error)) from error


def check_command(arguments: Sequence[str]) -> None:
    """Complain of what a command would not take; it does not run."""
    from cyclopts import CycloptsError

    from deltableu.cli.words import settled_words

    try:
        parser().parse_args(
            settled_words(_settled_dashes(arguments)), exit_on_error=False, print_error=False
        )
    except CycloptsError as error:
        raise InputError(_in_our_words(error)) from error


def parser() -> App:
    """The parser of all commands."""
    from cyclopts import App

    app = App(
        name="deltableu",
        version=__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    for name in COMMANDS:
        module = _MODULES.get(name, name)
        app.command(f"deltableu.cli.{module}:{module}", name=name)
    return app


def _settled_dashes(arguments: Sequence[str]) -> list[str]:
    """The arguments, with standard input as the parser can take it."""
    from deltableu.cli.options import STANDARD_INPUT

    return [
        f"{argument[:-1]}{STANDARD_INPUT}"
        if argument == "-" or (argument.startswith("--") and argument.endswith("=-"))
        else argument
        for argument in arguments
    ]


def _with_our_name(message: str) -> str:
    """The parser's complaint, with our name of an option that others call differently.

    Examples
    --------
    >>> _with_our_name("Unknown option: --level. Did you mean --levels?")
    'Unknown option: --level. Did you mean --confidence?'
    """
    for theirs, ours in _CALLED_HERE.items():
        if message.startswith(f"Unknown option: {theirs}."):
            return f"Unknown option: {theirs}. Did you mean {ours}?"
    return message


def _in_our_words(error: CycloptsError) -> str:
    """The parser's complaint, as a newcomer can use it."""
    from cyclopts import MissingArgumentError, UnknownOptionError

    theirs = str(error)
    message = _with_our_name(theirs)
    argument = error.argument
    helped = f"deltableu {' '.join(error.command_chain or ())} --help"
    if isinstance(error, MissingArgumentError) and argument is not None and not argument.tokens:
        names = " or ".join(argument.names)
        if argument.field_info.is_positional:
            names = argument.name.strip("-").upper()
        if error.keyword is None:
            return f"{names} is missing: {helped} says what it is"
    if isinstance(error, UnknownOptionError) and message == theirs:
        said, question, meant = message.partition(" Did you mean ")
        if question and _unlike(said.split()[-1], meant):
            return f"{said} All are in {helped}."
    return message


def _unlike(option: str, meant: str) -> bool:
    """Whether a name is not what was meant, but the least strange one there is."""
    from difflib import SequenceMatcher

    first, second = (one.strip("-.?") for one in (option, meant))
    return SequenceMatcher(None, first, second).ratio() < _ALIKE


def _overview() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {text}" for name, text in COMMANDS.items())
    return (
        "Usage: deltableu COMMAND ...\n\n"
        "Judge generated text when many answers are right.\n\n"
        f"Commands:\n{commands}\n\n"
        "deltableu COMMAND --help says what a command takes; --version prints the version.\n"
        "Every command also takes --max-line and --max-unpacked: how long a line, and how large\n"
        "an unpacked file may be (64MB; 1GB or 200 times the packed file) before it is refused."
    )
