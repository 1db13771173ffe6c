"""Metrics that are called by their order: BLEU-2 and BLEU-4 are two metrics, not one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deltableu.score.engine.token_settings import NgramSettings
from deltableu.score.metric import Metric


@dataclass(frozen=True, kw_only=True)
class OrderedMetric(NgramSettings, Metric):
    """A metric whose name ends in the length of its longest n-gram."""

    #: The name without the order, as in `deltableu metrics`.
    family: ClassVar[str]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The family and the order, such as `bleu-4`."""
        return f"{self.family}-{self.order}"

    @property
    def registered_name(self) -> str:
        # A metric that derives from one of these may have a name of its own.
        return self.family if self.name == f"{self.family}-{self.order}" else self.name
