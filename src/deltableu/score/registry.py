"""Metrics by name: the built-in ones, and those that other packages offer.

A package offers a metric with an entry point of the group `deltableu.metrics`, whose name is the
metric's and whose value is the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from deltableu.errors import InputError
from deltableu.score.metric import Metric
from deltableu.score.metrics import BUILT_IN
from deltableu.score.plugins import load_offered, offered

_GROUP = "deltableu.metrics"


def metric_names() -> list[str]:
    """The names of all installed metrics."""
    return [*BUILT_IN, *sorted(set(offered(_GROUP)) - set(BUILT_IN))]


def metric_class(name: str) -> type[Metric]:
    """The class of a metric."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(".")
        found: type[Metric] = getattr(import_module(f"deltableu.score.metrics.{module}"), attribute)
        return found
    if name not in offered(_GROUP):
        raise InputError(f"unknown metric {name!r}; choose from {', '.join(metric_names())}")
    loaded = load_offered(_GROUP, name, "metric")
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        raise InputError(f"the metric {name!r} is no subclass of deltableu.score.Metric")
    return loaded


def installed_metrics() -> Iterator[tuple[str, type[Metric] | InputError]]:
    """Every metric with its class, or with why it cannot be loaded."""
    for name in metric_names():
        try:
            yield name, metric_class(name)
        except InputError as error:
            yield name, error


def make_metrics(names: Sequence[str], settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """The named metrics, each with those of the settings that it has.

    Examples
    --------
    >>> make_metrics(["bleu", "delta-bleu"], {"order": 3, "variant": "tsuta2020"})
    (BLEU(order=3), DeltaBLEU(order=3, variant='tsuta2020'))
    """
    if not names:
        raise InputError(f"no metric was named; choose from {', '.join(metric_names())}")
    classes = {name: metric_class(name) for name in names}
    known = {name: metric_settings(name) for name in names}
    for setting in settings:
        if not any(setting in own for own in known.values()):
            raise InputError(f"{' and '.join(names)} have no setting {setting!r}")
    return tuple(
        found(**{key: value for key, value in settings.items() if key in known[name]})
        for name, found in classes.items()
    )


def metric_settings(name: str) -> set[str]:
    """The names of a metric's settings."""
    found = metric_class(name)
    return {field.name for field in fields(found) if field.init} if is_dataclass(found) else set()
