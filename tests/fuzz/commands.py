"""Command lines: every command and option that the program itself says it has."""

from __future__ import annotations

import functools
import os
import random
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.values import (
    HUGE_NUMBERS,
    NUMBER_TEXTS,
    WORDS,
    argument,
    file_stem,
    hostile_text,
)
from tests.fuzz.world import World


@dataclass(frozen=True)
class Option:
    """What a command takes: by name, or by position if `names` is empty."""

    key: str
    names: tuple[str, ...]
    type: Any  # str, int, float, bool or Path
    several: bool
    choices: tuple[str, ...]
    required: bool
    position: int | None
    named_only: bool


@dataclass(frozen=True)
class Command:
    """A command with its options."""

    path: tuple[str, ...]
    options: tuple[Option, ...]

    @property
    def name(self) -> str:
        return " ".join(self.path)

    def option(self, key: str) -> Option | None:
        return next((one for one in self.options if one.key == key), None)


@functools.cache
def commands() -> tuple[Command, ...]:
    """As the parser knows them, so that a new option is fuzzed from its first day."""
    from cyclopts import App

    from deltableu.cli.app import _MODULES, COMMANDS

    app = App(name="deltableu")
    for name in COMMANDS:
        module = _MODULES.get(name, name)
        app.command(f"deltableu.cli.{module}:{module}", name=name)
    return tuple(_leaves(app, ()))


def _leaves(app: Any, path: tuple[str, ...]) -> Iterator[Command]:
    inside = [name for name in app if not name.startswith("-")]
    if inside:
        for name in inside:
            yield from _leaves(app[name], (*path, name))
        return
    found = (_option(one) for one in app.assemble_argument_collection() if one.names != ("*",))
    yield Command(path, tuple(found))


def _option(found: Any) -> Option:
    names = tuple(name for name in found.names if name.startswith("-"))
    kind, several, choices = _kind(found.hint)
    named_only = found.index is None
    key = (found.names[0] if named_only else found.field_info.name).lstrip("-").lower()
    return Option(
        key.replace("-", "_"),
        names,
        kind,
        several,
        choices,
        found.required,
        found.index,
        named_only,
    )


def _kind(hint: Any) -> tuple[Any, bool, tuple[str, ...]]:
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _kind(next(one for one in inside if one is not type(None)))
    if origin is typing.Annotated:
        return _kind(inside[0])
    if origin is typing.Literal:
        return str, False, tuple(map(str, inside))
    if origin in (list, tuple):
        return (*_kind(inside[0])[:1], True, ())
    return hint, False, ()


@functools.cache
def metric_names() -> tuple[str, ...]:
    from deltableu.score import installed_metrics

    return tuple(name for name, _ in installed_metrics())


#: Small, since a case that takes seconds costs hundreds of others; a huge one is no mistake there.
_LENGTHS = {
    "resamples": (10, 20),
    "trials": (20, 50),
    "replicates": (3, 5),
    "epochs": (1, 2),
    "dimension": (1, 4),
    "embedding": (2, 4),
    "hidden": (2, 4),
    "layer": (2, 4),
    "batch": (1, 3, 50),
    "vocabulary_size": (20, 50),
    "min_count": (1, 2),
    "window": (1, 3),
    "validation": (0.5, 2, 3),
    "threads": (1, 2),
}
#: More of them only takes longer, or more memory: as asked.
_UNBOUNDED = ("resamples", "trials", "replicates", "epochs", "patience")
_SHORTENED = ("resamples", "trials", "replicates", "epochs", "dimension", "embedding", "hidden")
_SHORTENED += ("layer", "vocabulary", "validation", "min_count")


class CommandLine:
    """A random command line in a world, mostly one that makes sense."""

    def __init__(self, world: World, command: Command, seed: int) -> None:
        self.world, self.command, self.seed = world, command, seed
        self.rng = random.Random(f"{seed} line")
        self.strange = self.rng.choices((0.0, 0.05, 0.5), (14, 5, 1))[0]
        self.outputs: list[Path] = []  # where new files may be

    def make(self) -> list[str]:
        rng = self.rng
        positional, named = self._inputs()
        usual = rng.choice((0.0, 0.0, 0.02, 0.04, 0.1))
        for option in self.command.options:
            if option.key in positional or option.key in named or option.position is not None:
                continue
            self.rng = random.Random(f"{self.seed} {option.key}")
            likely = 0.97 if option.key in _SHORTENED else usual
            likely = 1.0 if option.required else 0.5 if option.key == "output" else likely
            likely = 0.3 if option.key in ("format", "work") else likely
            if self.rng.random() < likely:
                named[option.key] = self._value(option)
        self.rng = rng
        arguments = [one for values in positional.values() for one in values]
        options = [self._spelt(key, values) for key, values in named.items()]
        rng.shuffle(options)
        line = [*self.command.path, *arguments, *(one for option in options for one in option)]
        if rng.random() < 0.04:
            self._misspell(line)
        return [argument(one) for one in line]

    def _spelt(self, key: str, values: list[str] | None) -> list[str]:
        option = self.command.option(key)
        name = self.rng.choice(option.names) if option and option.names else f"--{key}"
        if values is None:
            return [name]
        if len(values) == 1 and name.startswith("--") and self.rng.random() < 0.2:
            return [f"{name}={values[0]}"]
        return [name, *values]

    def _misspell(self, line: list[str]) -> None:
        rng = self.rng
        place = rng.randrange(1, len(line) + 1)
        match rng.randrange(6):
            case 0:
                del line[place - 1]
            case 1:
                line.insert(place, line[place - 1])
            case 2:
                line.insert(place, hostile_text(rng))
            case 3:
                line.insert(
                    place, rng.choice(("--", "-", "--help", "-h", "--version", "--no-such"))
                )
            case 4:
                line[place - 1] = cut = line[place - 1][:-1]
                self.outputs.append(Path(cut.partition("=")[2] or cut))  # if it is a result
            case _:
                rng.shuffle(line)

    # Inputs

    def _inputs(self) -> tuple[dict[str, list[str]], dict[str, list[str] | None]]:
        """What the command is about, by position and by name."""
        world, rng = self.world, self.rng
        positional: dict[str, list[str]] = {}
        named: dict[str, list[str] | None] = {}
        for option in self.command.options:
            if option.position is None:
                continue
            if option.key == "paths":
                how = rng.random()
                if how < 0.55:
                    positional["paths"] = [self._shown(world.study())]
                elif how < 0.9 or self.command.option("scores") is None:
                    positional["paths"] = list(map(self._shown, world.outputs()))
                    named["refs"] = list(map(self._shown, world.references()))
                    if world.rated:
                        named["weights"] = [self._shown(world.weights())]
                else:
                    positional["paths"] = []
                    named["scores"] = [self._shown(world.scores())]
            elif not option.required and not option.several and rng.random() < 0.2:
                positional[option.key] = []
                named["scores"] = [self._shown(world.scores())]
                named["human"] = [self._shown(world.human())]
            else:
                positional[option.key] = self._value(option) or []
        return positional, named

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self.world.cwd) if self.rng.random() < 0.3 else str(path)

    # Values

    def _value(self, option: Option) -> list[str] | None:
        """None for a flag."""
        rng = self.rng
        if option.type is bool:
            return None
        if rng.random() < self.strange:
            return self._strange_value(option)
        known = self._known().get(option.key)
        if known is not None:
            made = known()
            return list(map(str, made)) if isinstance(made, list) else [str(made)]
        if option.choices:
            return [rng.choice(option.choices)]
        if option.type is int:
            return [str(rng.choice(_LENGTHS.get(option.key, (0, 1, 2, 3, 5))))]
        if option.type is float:
            return [str(rng.choice(_LENGTHS.get(option.key, (0.5, 0.05, 0.95, 1, 0, 0.1))))]
        if option.type is Path:
            return [str(self._result(option.key))]
        return [hostile_text(rng) for _ in range(rng.randint(1, 2) if option.several else 1)]

    def _strange_value(self, option: Option) -> list[str]:
        rng = self.rng
        if option.type is Path and option.named_only:
            return [self._strange_result()]
        if option.type in (int, float):
            huge = () if option.key in _UNBOUNDED else HUGE_NUMBERS
            return [rng.choice((*NUMBER_TEXTS, *huge))]
        if rng.random() < 0.2:
            return [rng.choice(NUMBER_TEXTS)]
        if rng.random() < 0.2:
            return [self._address()]
        if option.several:
            return [hostile_text(rng) for _ in range(rng.choice((0, 1, 2)))]
        return [hostile_text(rng)]

    def _address(self) -> str:
        """Of what cannot be read, or not so."""
        world = self.world
        return self.rng.choice(
            (
                str(world.inputs),
                str(world.root / "nowhere" / "x.jsonl"),
                str(world.inputs / "thesis.txt"),
                "http://127.0.0.1:9/x.jsonl",
                "https://127.0.0.1:9/x.jsonl",
                "file:///nowhere/x.jsonl",
                "memory://x.jsonl",
                "nosuch://x.jsonl",
                "http://",
                "http://[::1",
                "-",
                "/dev/null",
                f"{world.inputs}/**/*",
                f"{world.inputs}/[",
                file_stem(self.rng),
            )
        )

    def _result(self, key: str) -> Path:
        """Where something new goes."""
        rng = self.rng
        if key == "work":
            path = rng.choice((self.world.work, self.world.results / "scratch"))
        else:
            endings: tuple[str, ...] = (".txt", ".json", "")
            if key == "plot":
                endings = (".svg", ".png")
            elif self.command.path == ("vectors", "train"):
                endings = (".txt", ".bin", ".txt.gz")
            elif self.command.path == ("judge", "train"):
                endings = (".safetensors",)
            elif self.command.path == ("logs", "sample"):
                endings = ("",)
            elif self.command.path[0] == "logs":
                endings = (".tsv", ".jsonl", ".tsv.gz", ".parquet", "")
            elif key == "html" or self.command.path == ("report",):
                endings = (".html",)
            elif self.command.path[0] in ("mine", "judge") and key == "output":
                endings = ("",)
            stem = file_stem(rng) if rng.random() < 0.04 else f"new-{key}"
            path = self.world.results / f"{stem}{rng.choice(endings)}"
        self.outputs.append(path)
        return path

    def _strange_result(self) -> str:
        """Somebody else's file, an input, a folder in the way, a device, a place that is not."""
        world, rng = self.world, self.rng
        taken = world.results / "taken"
        taken.mkdir(exist_ok=True)
        theirs = [str(file.path) for file in world.files] or [str(world.inputs)]
        inputs = [str(world.inputs / name) for name in os.listdir(world.inputs)]
        new = rng.choice(
            (
                str(world.results / "absent" / "x.txt"),
                str(world.results / (file_stem(rng) + rng.choice(("", ".tsv", ".html")))),
                str(world.inputs / "inside"),
                str(Path(rng.choice(theirs)).parent / "inside.txt"),
                str(Path(rng.choice(inputs)) / "inside"),
                "-",
                "/dev/full",
                "/dev/null",
                "",
                ".",
                "..",
            )
        )
        old = rng.choice(
            (
                str(taken),
                str(world.results),
                str(world.results / "key"),
                str(world.inputs / "thesis.txt"),
                str(world.work),
                rng.choice(theirs),
                rng.choice(inputs),
            )
        )
        chosen = rng.choice((new, old))
        if chosen not in ("-", "", ".", "..", "/dev/full", "/dev/null"):
            self.outputs.append(Path(chosen))
        return chosen

    def _known(self) -> dict[str, Callable[[], Any]]:
        world, rng = self.world, self.rng

        def some(names: Any, most: int = 3) -> list[str]:
            return rng.sample(list(names), min(len(names), rng.randint(1, most)))

        def commas(*names: str) -> Callable[[], str]:
            return lambda: ",".join(some(names))

        numbers = lambda: [rng.choice(("1", "2", "4", "all")) for _ in range(rng.randint(1, 2))]  # noqa: E731
        tables = {
            "compare": ("systems", "pairs", "matrix"),
            "validate": ("people", "agreement", "matrix"),
        }
        return {
            "study": world.study,
            "logs": lambda: [world.logs()],
            "files": lambda: [world.raw_logs()],
            "words": lambda: some([*WORDS, "unk"]),
            "model": world.model,
            "judge": world.model,
            "vectors": world.vectors,
            "table": world.similarity_table,
            "past": world.past,
            "human": world.human,
            "scores": lambda: [world.scores()],
            "refs": world.references,
            "weights": world.weights,
            "systems": lambda: (
                rng.sample(world.systems, 2)
                if "plan" in self.command.path and len(world.systems) > 1
                else some(world.systems)
            ),
            "system": lambda: rng.choice(world.systems),
            "against": lambda: rng.choice(world.systems),
            "baseline": lambda: rng.choice(world.systems),
            "item": lambda: rng.choice(world.items),
            "metrics": lambda: ",".join(some(metric_names())),
            "metric": lambda: rng.choice(
                ("delta-bleu", "bleu") if self.command.path == ("explain",) else metric_names()
            ),
            "lower_is_better": lambda: ["comet"],
            "tests": commas(
                "studentized", "randomization", "permutation", "bootstrap", "koehn", "moses",
                "wilcoxon", "t-test",
            ),
            "methods": commas(
                "pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like"
            ),
            "levels": commas("system", "pooled", "item"),
            "test": lambda: rng.choice(
                ("auto", "perm-both", "perm-systems", "perm-items", "bootstrap-both",
                 "bootstrap-systems", "bootstrap-items", "williams")
            ),
            "tables": commas(*tables.get(self.command.path[0], ("systems",))),
            "select": lambda: rng.choice(("all", "single", "w>=0.6", "w>=-1")),
            "group": lambda: "document",
            "criterion": lambda: "overall",
            "tokenize": lambda: rng.choice(
                ("none", "13a", "char", "intl", "zh")
                if self.command.option("order") or "report" in self.command.path
                else ("words", "13a", "char")
            ),
            "columns": lambda: rng.choice(("id=id", "text=body", "user=author.name", "")),
            "split": lambda: rng.choice(
                ("old=2017,new=2018", "a=2017..2018-06,b=2019", "a:0.5,b:0.5", "a:0.9,b:0.1")
            ),
            "memory": lambda: rng.choice(("1k", "1MB", "2GB")),
            "partition_size": lambda: rng.choice(("1", "200", "1MB")),
            "engine": lambda: "threads",
            "encoder": lambda: rng.choice(
                ("nosuch:thing", "math:nan", "builtins:len", "tests.fuzz.encoders:raises",
                 "tests.fuzz.encoders:letters", "tests.fuzz.encoders:nothing")
            ),
            "vocabulary": lambda: "words",
            "items": lambda: [
                rng.choice(("2", "4", "8"))
                for _ in range(1 if "sample" in self.command.path else rng.randint(1, 2))
            ],
            "period": lambda: rng.choice(("old", "new", "a", "b", "2017", "2018..")),
            "exclude": lambda: [world.logs()],
            "roles": lambda: rng.choice(("user,assistant", "u0,u1", "u0")),
            "responder": lambda: rng.choice(("assistant", "u0", "u1")),
            "references": numbers,
            "raters": numbers,
            "original": lambda: rng.choice(("1", "rated")),
            "title": lambda: hostile_text(rng),
        }  # fmt: skip
