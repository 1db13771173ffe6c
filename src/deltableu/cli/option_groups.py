"""Which options stand together in `--help`: for all commands, in this one place."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Annotated, Any, TypeVar, get_type_hints

from cyclopts import Group, Parameter

#: In the order of `--help`; what a command is called for comes first.
COMMON = Group("Common options", sort_key=1)
DATA = Group("Which data, and how they are read", sort_key=2)
METRICS = Group("Settings of metrics", sort_key=3)
METHOD = Group("How it is done", sort_key=4)
TESTS = Group("Tests and intervals", sort_key=5)
SWEEPS = Group("Sweeps: agreement on units of sentences", sort_key=6)
PRINTED = Group("What is printed and written", sort_key=7)
RUNNING = Group("How it runs", sort_key=8)
LLM = Group("An LLM as judge (--kind llm)", sort_key=9)

#: An option is in the same group wherever it occurs, unless it is in a class of options, whose
#: group holds for all of them.
GROUPS = {
    COMMON: (
        *("study", "paths", "files", "logs", "layout", "refs", "weights", "scores", "human"),
        *(
            "systems",
            "system",
            "baseline",
            "metrics",
            "metric",
            "judge",
            "kind",
            "preset",
            "minutes",
            "ci",
            "fail_if",
        ),
        *("mode", "margin", "history", "difference", "power", "items", "references", "raters"),
        *("item", "worst", "best", "against", "html", "title", "dimension", "epochs", "top"),
        *("triples", "as_", "dry_run", "list_layouts", "output", "suite", "campaign", "what"),
        *("examples", "per_item", "links", "order", "reliability"),
        *("ratings", "targets", "target", "kept", "rule", "evidence", "verdicts", "second", "own"),
        *("design", "set_", "outputs", "types", "commands"),
        *("command", "nbest", "keep", "held_out", "held_out_nbest"),
        *("utility",),
    ),
    DATA: (
        *("columns", "human_columns", "lower_is_better", "criterion", "scale", "min_raters"),
        *("unknown", "select", "no_positive", "missing", "group", "runs", "bucket", "which"),
        *("pairs", "count_ratings", "drop_failed"),
        *("separators", "where", "sources", "beside", "documents", "names", "pair", "rename"),
        *("without_references", "first", "period", "exclude", "min_words", "max_words"),
        *("min_bigram_count", "min_count", "max_vocabulary", "tokenize", "keep_junk", "on_error"),
        *("message_features", "allow_empty"),
    ),
    METHOD: (
        *(
            "aim",
            "tau",
            "encoder",
            "draws",
            "estimator",
            "population",
            "allocation",
            "annotators",
            "allowance",
        ),
        *("pool", "quality", "item_effect", "output_effect", "rater_bias", "noise"),
        *("split", "split_seed", "crossing", "drop_overlap", "window", "x_max", "alpha"),
        *(
            "per_rater",
            "pilot",
            "pilot_raters",
            "controls",
            "crowd",
            "practice",
            "lease",
            "expires",
            "settings",
        ),
        *(
            "query",
            "language",
            "learning_rate",
            "parrot",
            "random",
            "diversity",
            "triplets",
            "magnitude",
            "original",
        ),
        *("encoder", "start", "method", "restarts", "directions", "regularization", "strength"),
    ),
    TESTS: (
        *("methods", "levels", "tests", "correction", "significance", "interval", "confidence"),
        *("trials", "resamples", "resample", "replicates", "threshold", "sentinels", "sequential"),
        *("pass_at", "min_pairs", "min_repeats", "min_seconds", "constant_after", "min_run"),
        *("chance", "in_order"),
        *("sensitivity", "past", "past_model", "resample_studies", "limits", "sweep"),
        *("prior", "categories"),
    ),
    PRINTED: (
        *("tables", "format", "form", "signatures", "digits", "segments", "changes", "plot"),
        *("junit", "summary", "commit", "bins", "cases", "by", "note", "nbest_output"),
    ),
    RUNNING: (
        "seed",
        "timeout",
        "threads",
        "memory",
        "partition_size",
        "batch",
        "work",
        "replace",
        "log",
        "url",
        "database",
        "jobs",
        "engine",
    ),
    LLM: ("endpoint",),
}
_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Options = TypeVar("_Options")


def grouped(command: _Command) -> _Command:
    """A command whose options stand in their groups in `--help`."""
    hints = get_type_hints(command, include_extras=True)
    for name, hint in hints.items():
        group = _GROUP_OF.get(name)
        if group is not None:
            hints[name] = Annotated[hint, Parameter(group=group)]
    command.__annotations__ = hints
    command.__doc__ = unfolded(command.__doc__)
    return command


def foldable(options: type[_Options]) -> type[_Options]:
    """A class of options whose texts `--help` folds at the terminal's width alone."""
    options.__doc__ = unfolded(options.__doc__)
    return options


def unfolded(text: str | None) -> str | None:
    """A docstring with a line for each paragraph, which a terminal of any width can fold.

    Examples
    --------
    >>> print(unfolded("Say so.\\n\\nParameters\\n----------\\nmany\\n    How\\n    many."))
    Say so.
    <BLANKLINE>
    Parameters
    ----------
    many
        How many.
    """
    if text is None:
        return None
    lines: list[str] = []
    in_section = False
    for line in cleandoc(text).splitlines():
        in_section = in_section or (line != "" and line.strip("-") == "")
        # In a section, what is not indented is a name of its own.
        starts = in_section and not line.startswith(" ")
        if line and lines and lines[-1] and not starts and _indent(line) == _indent(lines[-1]):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
