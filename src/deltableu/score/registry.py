"""Metrics by name: the built-in ones, and those that other packages offer.

A package offers a metric with an entry point of the group `deltableu.metrics`, whose name is the
metric's and whose value is the class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from deltableu.errors import InputError, find_name, hint_at
from deltableu.io import load_offered, offered
from deltableu.score.metric import Metric
from deltableu.score.metrics import BUILT_IN

_GROUP = "deltableu.metrics"


def metric_names() -> list[str]:
    """The names of all installed metrics."""
    return [*BUILT_IN, *sorted(set(offered(_GROUP)) - set(BUILT_IN))]


def metric_name(name: str) -> str:
    """The name of the metric that is meant, whatever its case."""
    return name if name in BUILT_IN else find_name(name, metric_names())


def metric_class(name: str) -> type[Metric]:
    """The class of a metric; the case of its name does not matter."""
    name = metric_name(name)
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(".")
        found: type[Metric] = getattr(import_module(f"deltableu.score.metrics.{module}"), attribute)
        return found
    if name not in offered(_GROUP):
        names = metric_names()
        meant = hint_at(name, names)
        raise InputError(f"unknown metric {name!r}; choose from {', '.join(names)}{meant}")
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

    A setting that none of them heeds is a mistake; `unheeded_settings` says which do not.

    Examples
    --------
    >>> make_metrics(["bleu", "delta-bleu"], {"order": 3, "variant": "tsuta2020"})
    (BLEU(order=3), DeltaBLEU(order=3, variant='tsuta2020'))
    """
    if not names:
        raise InputError(f"no metric was named; choose from {', '.join(metric_names())}")
    classes = {metric_name(name): metric_class(name) for name in names}
    known = {name: metric_settings(name) for name in classes}
    these = " and ".join(classes)
    for setting in settings:
        if not any(setting in own for own in known.values()):
            verb = "has" if len(classes) == 1 else "have"
            raise InputError(f"{these} {verb} no setting {setting!r}")
    made = tuple(
        found(**{key: value for key, value in settings.items() if key in known[name]})
        for name, found in classes.items()
    )
    for setting, others in unheeded_settings(made, settings).items():
        if len(others) == len(made):
            raise InputError(f"{setting!r} changes nothing in {these} with the other settings")
    return made


def unheeded_settings(
    metrics: Sequence[Metric], settings: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The settings that some metrics do not heed, and the names of these.

    They have no such setting, or it changes nothing beside their others.

    Examples
    --------
    >>> found = make_metrics(["bleu", "chrf", "ter"], {"normalize": "NFC", "lowercase": True})
    >>> unheeded_settings(found, ["normalize", "lowercase"])
    {'normalize': ('chrf', 'ter')}
    """
    others = {
        setting: tuple(
            metric.name
            for metric in metrics
            if setting not in _settings(type(metric)) or setting in metric.idle_settings
        )
        for setting in settings
    }
    return {setting: names for setting, names in others.items() if names}


def metric_settings(name: str) -> set[str]:
    """The names of a metric's settings."""
    return _settings(metric_class(name))


def _settings(found: type[Metric]) -> set[str]:
    return {field.name for field in fields(found) if field.init} if is_dataclass(found) else set()
