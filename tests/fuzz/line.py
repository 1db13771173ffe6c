"""A command line that makes sense, with as many mistakes in it as a case shall have."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.commands import Command, Option
from tests.fuzz.sense import Sense
from tests.fuzz.values import HUGE_NUMBERS, NUMBER_TEXTS, argument, file_stem, hostile_text
from tests.fuzz.world import World

#: Mistakes that a line can have: a strange value, an option too many, an accident in typing.
FAULTS = ("value", "option", "typing")
#: More of them only takes longer, or more memory: as asked.
_UNBOUNDED = ("resamples", "trials", "replicates", "epochs", "patience")


class CommandLine:
    """A command line in a world.

    Parameters
    ----------
    world, command
    seed
    faults
        Some of `FAULTS`; without any, the line is one that a careful user could type.
    """

    def __init__(self, world: World, command: Command, seed: int, faults: Sequence[str]) -> None:
        self.world, self.command, self.faults = world, command, faults
        self.rng = random.Random(f"{seed} line")
        self.sense = Sense(world, command, seed)
        self.outputs = self.sense.outputs

    def make(self) -> list[str]:
        rng, sense = self.rng, self.sense
        sense.draw()
        for fault in self.faults:
            if fault == "value":
                self._strange_value()
            elif fault == "option":
                self._option_too_many()
        arguments = [one for values in sense.positional.values() for one in values]
        options = [self._spelt(key, values) for key, values in sense.given.items()]
        rng.shuffle(options)
        # Options that take several values would take what stands behind them too.
        line = [*self.command.path, *arguments, *(one for option in options for one in option)]
        if "typing" in self.faults:
            self._mistype(line)
        line = [argument(one) for one in line]
        if self.command.name == "rate new":
            # It makes a folder of whatever stands first.
            self.outputs += [self.world.cwd / one for one in line if one.strip("./")]
        return line

    def _spelt(self, key: str, values: list[str] | None) -> list[str]:
        option = self.command.option(key)
        name = self.rng.choice(option.names) if option and option.names else f"--{key}"
        if values is None:
            return [name]
        joined = self.rng.random() < 0.2 or values[0].startswith("-") if values else False
        if len(values) == 1 and name.startswith("--") and joined:
            return [f"{name}={values[0]}"]
        return [name, *values]

    @property
    def changes_campaign(self) -> bool:
        """Whether the campaign is among what may be changed."""
        return self.world.inputs / "campaign" in self.outputs

    # Mistakes

    def _strange_value(self) -> None:
        """Something else in the place of a value that is given, or of one that could be."""
        sense, rng = self.sense, self.rng
        options = [one for one in self.command.options if one.type is not bool]
        there = [one for one in options if one.key in (*sense.positional, *sense.given)]
        option = rng.choice(there if there and rng.random() < 0.6 else options or [None])
        if option is None:
            return
        values = self._strange(option)
        if option.key in sense.positional or option.position is not None:
            sense.positional[option.key] = values
        else:
            sense.given[option.key] = values

    def _option_too_many(self) -> None:
        sense, rng = self.sense, self.rng
        absent = [
            one
            for one in self.command.options
            if one.key not in sense.given and one.position is None
        ]
        if absent:
            option = rng.choice(absent)
            sense.given[option.key] = sense.value(option)

    def _mistype(self, line: list[str]) -> None:
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
                # Perhaps it was a result's place.
                self.outputs.append(self.world.cwd / (cut.partition("=")[2] or cut))
            case _:
                rng.shuffle(line)

    # Strange values

    def _strange(self, option: Option) -> list[str]:
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
