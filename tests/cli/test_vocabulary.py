"""One name for one thing over all commands and functions, and help texts in plain English."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections import defaultdict

import pytest

from deltableu.cli.option_groups import COMMON, GROUPS, METRICS, SWEEPS
from tests.fuzz.commands import commands

COMMANDS = {one.name: one for one in commands()}
#: What has another name, and which.
FORBIDDEN = {
    "level": "confidence (or --levels: system, pooled, item)",
    "ci_method": "interval",
    "test": "tests",
    "memory_bytes": "memory",
    "partition_bytes": "partition_size",
    "n_resamples": "resamples",
    "rng": "seed",
    "random_state": "seed",
    "out": "output",
    "confidence_level": "confidence",
    "significance_level": "significance",
}
#: The papers' alpha: of GloVe and of the damped product; iBLEU's is where all metrics' options are.
ALPHA = {"mine", "vectors train"}
#: Of the same kind wherever they are.
KINDS = {
    "significance": float,
    "confidence": float,
    "levels": str,
    "metrics": str,
    "tests": str,
    "resamples": int,
    "seed": int,
    "memory": str,
    "threads": int,
}
#: The same everywhere; `logs pairs` has no seed where nothing is drawn.
DEFAULTS = {"significance": 0.05, "confidence": 0.95, "memory": "2GB", "threads": None}

#: A rate is per something.
RATE = re.compile(
    r"\b(?:one|a) (?:file|line|row|column|weight) an? (?:system|item|reference|rater|unit|metric)\b"
    r"|\b(?:rows|posts|pairs|items) a second\b"
    r"|\b(?:references|raters|candidates) an item\b|\braters a reference\b"
    r"|\b(?:numbers|neighbours) a (?:vector|word)\b|\b\d+ bytes a (?:post|pair|row)\b",
    re.IGNORECASE,
)


def arguments():
    """Every argument of every command as the parser knows it."""
    from cyclopts import App

    from deltableu.cli.app import _MODULES
    from deltableu.cli.app import COMMANDS as NAMES

    app = App(name="deltableu")
    for name in NAMES:
        module = _MODULES.get(name, name)
        app.command(f"deltableu.cli.{module}:{module}", name=name)
    for name, command in COMMANDS.items():
        found = app
        for word in command.path:
            found = found[word]
        for one in found.assemble_argument_collection(parse_docstring=True):
            if one.names != ("*",):
                yield name, one


ARGUMENTS = list(arguments())


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_has_a_second_name(name):
    for option in COMMANDS[name].options:
        papers = name in ALPHA or COMMANDS[name].option("judge") is not None
        if option.named_only:
            assert option.key not in FORBIDDEN, f"{option.key} is {FORBIDDEN[option.key]}"
            assert option.key != "alpha" or papers, "alpha is significance"
            assert not option.key.endswith("_bytes"), "sizes are written such as 2GB"
            kind = KINDS.get(option.key)
            assert kind is None or option.type is kind, (option.key, option.type)


def test_shared_options_have_one_default():
    defaults = defaultdict(set)
    for name, one in ARGUMENTS:
        key = one.names[0].lstrip("-").replace("-", "_")
        if key in DEFAULTS:
            defaults[key].add((name, one.field_info.default))
    assert set(defaults) == set(DEFAULTS)
    for key, found in defaults.items():
        for name, default in found:
            assert default == DEFAULTS[key], (name, key)


MANY = 12


@pytest.mark.parametrize("name", COMMANDS)
def test_many_options_stand_in_groups(name):
    groups = {one.names[0]: one.parameter.group[0] for command, one in ARGUMENTS if command == name}
    if len(groups) <= MANY:
        return
    known = {*GROUPS, METRICS, SWEEPS}
    assert set(groups.values()) <= known, [
        option for option, group in groups.items() if group not in known
    ]
    assert 1 <= sum(group is COMMON for group in groups.values()) <= MANY


def test_every_grouped_option_is_one():
    known = {one.field_info.name for _, one in ARGUMENTS} | _gate_options()
    for names in GROUPS.values():
        assert not set(names) - known


def _gate_options():
    from deltableu.cli.gate import run

    return set(inspect.signature(run).parameters)


def test_common_options_come_first_in_the_help(run):
    shown = run("validate", "--help").out
    titles = re.findall("╭─ (.*?) ─", shown)
    assert titles == [
        "Common options",
        "Which data, and how they are read",
        "Settings of metrics",
        "Tests and intervals",
        "Sweeps: agreement on units of sentences",
        "What is printed and written",
        "How it runs",
    ]


ROOMS = ["stats", "logs", "vectors", "mine", "rate", "score", "judges", "compare", "validate"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_seed_is_a_number_and_what_also_takes_a_generator_is_rng(room):
    module = importlib.import_module(f"deltableu.{room}")
    for name in module.__all__:
        made = getattr(module, name)
        functions = [made] if inspect.isroutine(made) or inspect.isclass(made) else []
        if inspect.isclass(made):
            functions += [one for _, one in inspect.getmembers(made, inspect.isfunction)]
        for function in functions:
            try:
                parameters = inspect.signature(function).parameters
            except ValueError:  # an enumeration has none
                continue
            where = f"deltableu.{room}.{name}"
            if "seed" in parameters:
                assert str(parameters["seed"].annotation) in ("int", "int | None"), where
            if "rng" in parameters:
                assert "Generator | int" in str(parameters["rng"].annotation), where


@pytest.mark.parametrize(
    "room", ["score", "stats", "rate", "compare", "validate", "logs", "mine", "judges", "report"]
)
def test_python_says_what_the_command_line_says(room):
    """Functions and settings; `level` is system, pooled or item there and nothing else."""
    module = importlib.import_module(f"deltableu.{room}")
    for name in module.__all__:
        made = getattr(module, name)
        if dataclasses.is_dataclass(made):
            found = {field.name: str(field.type) for field in dataclasses.fields(made)}
        elif inspect.isfunction(made):
            signature = inspect.signature(made)
            found = {key: str(one.annotation) for key, one in signature.parameters.items()}
        else:
            continue
        where = f"deltableu.{room}.{name}"
        assert not {"n_resamples", "ci", "memory_bytes", "random_state"} & set(found), where
        assert "float" not in found.get("level", ""), f"{where}: level is confidence"
        for key in ("confidence", "significance"):
            assert "float" in found.get(key, "float"), where
        for key in ("resamples", "seed"):
            assert "int" in found.get(key, "int"), where


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("score --ci --confidance 0.9", "--confidence"),
        ("validate --test williams", "--tests"),
        ("score --ci --level 0.9", "--confidence"),
        ("validate --level 0.9", "--confidence"),
        ("score --ci --ci-method bca", "--interval"),
        ("plan compare --systems human random --alpha 0.1", "--significance"),
        ("compare --significanse 0.1", "--significance"),
        ("logs pairs --memory-bytes 100 -o pairs.tsv", "--memory"),
    ],
)
def test_near_misses_lead_to_the_name(command, meant, run, demo):
    words = command.split()
    at = 2 if words[0] in ("logs", "plan") else 1
    result = run(*words[:at], demo, *words[at:])
    assert result.code == 2
    assert f"Did you mean {meant}?" in result.err


@pytest.mark.parametrize("name", COMMANDS)
def test_help_texts_are_english_sentences(name):
    for command, one in ARGUMENTS:
        if command != name:
            continue
        text = one.parameter.help or ""
        assert text, f"{one.names[0]} has no help text"
        assert not text.startswith("Of "), f"{one.names[0]}: {text}"
        assert text.endswith("."), f"{one.names[0]}: {text}"
        assert not RATE.search(" ".join(text.split())), f"{one.names[0]}: {text}"
