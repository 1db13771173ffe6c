"""Metrics by name: the built-in ones, and those that other packages offer.

A package offers a metric with an entry point of the group `deltableu.metrics`, whose name is the
metric's and whose value is the class. Names of the BLEU family may end in an order: `bleu-2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, TypeGuard

from deltableu.errors import InputError, find_name, hint_at
from deltableu.io import load_offered, offered
from deltableu.score.engine.ordered_metric import OrderedMetric
from deltableu.score.metric import Metric
from deltableu.score.metrics import BUILT_IN

_GROUP = "deltableu.metrics"
_WITH_ORDER = re.compile(r"(.+)-([0-9]{1,4})", re.ASCII)


def metric_names() -> list[str]:
    """The names of all installed metrics."""
    return [*BUILT_IN, *sorted(set(offered(_GROUP)) - set(BUILT_IN))]


def metric_name(name: str) -> str:
    """The registered name of the metric that is meant, whatever its case and its order.

    Examples
    --------
    >>> metric_name("BLEU-2"), metric_name("rouge-2")
    ('bleu', 'rouge-2')
    """
    return _parse(name)[0]


def metric_class(name: str) -> type[Metric]:
    """The class of a metric; the case of its name does not matter, nor an order in it."""
    name, _ = _parse(name)
    if name not in BUILT_IN and name not in offered(_GROUP):
        names = metric_names()
        ending = _WITH_ORDER.fullmatch(name)
        ordered = [one for one in BUILT_IN if _called_by_order(_load(one))] if ending else []
        meant = hint_at(name, [*names, *(f"{one}-{ending[2]}" for one in ordered if ending)])
        if meant:
            # Whoever misspelt one need not read them all to find it.
            raise InputError(f"unknown metric {name!r} (deltableu metrics lists all){meant}")
        raise InputError(f"unknown metric {name!r}; choose from {', '.join(names)}")
    return _load(name)


def metric_label(name: str) -> str:
    """What tables call the metric of this name; a name that no metric has stays as it is.

    Examples
    --------
    >>> metric_label("Delta-BLEU"), metric_label("bleu-2"), metric_label("comet")
    ('delta-bleu-2', 'bleu-2', 'comet')
    """
    known, order = _parse(name)
    if known not in BUILT_IN and known not in offered(_GROUP):
        return name
    found = _load(known)
    if not _called_by_order(found):
        return known
    default = next(one.default for one in fields(found) if one.name == "order")
    return f"{found.family}-{default if order is None else order}"


def _parse(name: str) -> tuple[str, int | None]:
    """A registered name and the order that was given with it; an unknown name as it is."""
    if name in BUILT_IN:
        return name, None
    ending = _WITH_ORDER.fullmatch(name)
    if ending and ending[1] in BUILT_IN and _called_by_order(_load(ending[1])):
        return ending[1], int(ending[2])  # without a look at all that is installed
    found = find_name(name, names := metric_names())
    ending = _WITH_ORDER.fullmatch(found)
    if found in names or ending is None:
        return found, None
    family = find_name(ending[1], names)
    try:
        ordered = family in names and _called_by_order(_load(family))
    except InputError:  # a package's own fault, which does not make this name known
        ordered = False
    return (family, int(ending[2])) if ordered else (name, None)


def _called_by_order(found: type[Metric]) -> TypeGuard[type[OrderedMetric]]:
    # A metric derived from BLEU may have a name of its own instead.
    return issubclass(found, OrderedMetric) and not isinstance(found.name, str)


def _load(name: str) -> type[Metric]:
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(".")
        found: type[Metric] = getattr(import_module(f"deltableu.score.metrics.{module}"), attribute)
        return found
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

    A name of the BLEU family may end in the order. A setting that none of them heeds is a mistake;
    `unheeded_settings` says which do not.

    Examples
    --------
    >>> make_metrics(["bleu", "delta-bleu"], {"order": 3, "variant": "tsuta2020"})
    (BLEU(order=3), DeltaBLEU(order=3, variant='tsuta2020'))
    >>> make_metrics(["bleu-2", "BLEU"], {})
    (BLEU(order=2), BLEU())
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
    found: dict[tuple[str, str], Metric] = {}
    for given in names:
        name, order = _parse(given)
        own = {key: value for key, value in settings.items() if key in known[name]}
        if order is not None and own.setdefault("order", order) != order:
            raise InputError(
                f"{given} has an order in its name, but --order is {own['order']}: give one of them"
            )
        metric = classes[name](**own)
        found.setdefault((name, metric.name), metric)
    made = tuple(found.values())
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
