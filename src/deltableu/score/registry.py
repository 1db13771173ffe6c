"""Metrics by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from deltableu.errors import InputError
from deltableu.score.bleu_metric import BLEU
from deltableu.score.delta_bleu_metric import DeltaBLEU
from deltableu.score.ngrams import NgramMetric
from deltableu.score.sentence_bleu_metric import SentenceBLEU

__all__ = ["METRICS", "make_metrics"]

METRICS: dict[str, type[NgramMetric]] = {
    metric.name: metric for metric in (BLEU, DeltaBLEU, SentenceBLEU)
}


def make_metrics(names: Sequence[str], settings: Mapping[str, Any]) -> tuple[NgramMetric, ...]:
    """The named metrics, each with those of the settings that it has.

    Examples
    --------
    >>> make_metrics(["bleu", "delta-bleu"], {"order": 3, "variant": "tsuta2020"})
    (BLEU(order=3), DeltaBLEU(order=3, variant='tsuta2020'))
    """
    if not names:
        raise InputError(f"no metric was named; choose from {', '.join(METRICS)}")
    for name in names:
        if name not in METRICS:
            raise InputError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}")
    known = {name: {field.name for field in fields(METRICS[name])} for name in names}
    for setting in settings:
        if not any(setting in own for own in known.values()):
            raise InputError(f"{' and '.join(names)} have no setting {setting!r}")
    return tuple(
        METRICS[name](**{key: value for key, value in settings.items() if key in known[name]})
        for name in dict.fromkeys(names)
    )
