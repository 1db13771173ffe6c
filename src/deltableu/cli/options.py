"""Kinds of options that several commands take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from deltableu.errors import InputError, hint_at

#: How `-` passes the parser, which takes it for an option without a name; as a path it is `-`.
STANDARD_INPUT = ".//-"

Several = Parameter(consume_multiple=True, negative=())
Flag = Parameter(negative=())
Output = Parameter(name=["--output", "-o"])
#: A flag that several commands have.
Signatures = Annotated[bool, Flag]


def _whole(
    least: int | None = None, most: int | None = None
) -> Callable[[object, Sequence[Any]], int]:
    """A whole number in some range; the parser would round 1.5."""

    def convert(_: object, tokens: Sequence[Any]) -> int:
        option, text = f"--{tokens[0].keyword.lstrip('-')}", tokens[0].value
        try:
            number = int(text)
        except ValueError:
            raise InputError(f"{option} takes a whole number, got {text!r}") from None
        if least is not None and most is not None and not least <= number <= most:
            raise InputError(f"{option} must lie between {least} and {most}, got {number}")
        if least is not None and number < least:
            wrong = "be 0 or more" if least == 0 else f"be at least {least}"
            raise InputError(f"{option} must {wrong}, got {number}")
        return number

    return convert


Whole = Annotated[int, Parameter(converter=_whole())]
Count = Annotated[int, Parameter(converter=_whole(0))]
Positive = Annotated[int, Parameter(converter=_whole(1))]
Digits = Annotated[int, Parameter(converter=_whole(0, 15))]


def listed(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def chosen_tables(text: str, known: Sequence[str]) -> list[str]:
    """The tables that `--tables` names."""
    names = listed(text)
    for name in names or [""]:
        if name not in known:
            meant = hint_at(name, known)
            raise InputError(f"--tables takes {', '.join(known)}, got {name!r}{meant}")
    return names


def one_tidy_table(
    tables: str | None, format: str, known: Sequence[str], usual: Sequence[str], tidy: str
) -> list[str]:
    """The tables that `--tables` names; TSV and CSV hold one, by default the tidy one."""
    if format not in ("tsv", "csv"):
        return list(usual) if tables is None else chosen_tables(tables, known)
    names = [tidy] if tables is None else chosen_tables(tables, known)
    if len(names) > 1:
        raise InputError(
            f"--format {format} writes one table, and --tables names {len(names)}: choose one of "
            f"{', '.join(names)}"
        )
    return names


def check_logs(logs: Sequence[str], option: str = "") -> None:
    """Complain where no logs are named, or such as cannot be read twice."""
    if not logs or "" in logs:
        missing = "name at least one file or folder of logs"
        raise InputError(f"{option} names no file or folder" if option else missing)
    if STANDARD_INPUT in logs:
        reason = "cannot be standard input, because they are read twice: save them"
        raise InputError(f"{option or 'logs'} {reason}")


def no_use(settings: Mapping[str, object], where: str) -> None:
    """Complain about options where nothing heeds them."""
    for name in settings:
        raise InputError(f"--{name.replace('_', '-')} is of no use with {where}")


def unused(where: str, **options: tuple[object, object]) -> None:
    """Complain about options, each with its default, that were given where they are of no use."""
    no_use({name: value for name, (value, default) in options.items() if value != default}, where)


def subcommands(name: str, help: str) -> App:
    """A command that has commands of its own."""
    return App(name=name, help=help, help_format="plaintext", suppress_keyboard_interrupt=False)
