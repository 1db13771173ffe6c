"""What people think of each output and each system, however they were asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.rate.direct_assessment import DirectAssessment, direct_assessment
from deltableu.rate.judgements import Judgements
from deltableu.rate.mixed_effects import fit_mixed_model
from deltableu.stats import row_means

__all__ = ["HumanScale", "HumanScores"]

HumanScale = Literal["z", "raw", "mixed"]


@dataclass(frozen=True, slots=True, eq=False)
class HumanScores:
    """Human scores of outputs and of systems.

    Attributes
    ----------
    systems, items : tuple of str
    segments : array
        Systems x items, NaN where nobody rated the output.
    totals : array
        The score of each system.
    source : str
        How they were made; a signature shows it.
    judgements : Judgements or None
        The raw judgements, where there are any.
    assessment : DirectAssessment or None
        Standardised scores with ranks and tests, where there are raw judgements.

    Examples
    --------
    >>> table = ScoreTable.of({"adequacy": {"A": [80, 60], "B": [40, 50]}})
    >>> HumanScores.from_table(table).totals
    array([70., 45.])
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    segments: Array
    totals: Array
    source: str
    judgements: Judgements | None = None
    assessment: DirectAssessment | None = None

    @classmethod
    def from_table(cls, table: ScoreTable, criterion: str | None = None) -> HumanScores:
        """From ready scores of outputs; of several criteria (its metrics) name one."""
        if criterion is None and len(table.metrics) > 1:
            there = ", ".join(table.metrics)
            raise InputError(f"there are several human scores ({there}): choose a criterion")
        name = criterion or table.metrics[0]
        segments = table.only(name)
        return cls(table.systems, table.items, segments, row_means(segments), f"table-{name}")

    @classmethod
    def from_judgements(
        cls, judgements: Judgements, *, scale: HumanScale = "z", min_raters: int = 1
    ) -> HumanScores:
        """From raw judgements.

        Parameters
        ----------
        judgements
        scale
            `z`: standardised by rater, as Direct Assessment has it; `raw`: as given; `mixed`: with
            the rater effects of a mixed model taken out.
        min_raters
            Of an output, for its score to count.
        """
        if scale not in get_args(HumanScale):
            raise InputError(f"the scale is z, raw or mixed, got {scale!r}")
        rank_by: Literal["z", "raw"] = "z" if scale == "z" else "raw"
        found = direct_assessment(judgements, min_raters=min_raters, rank_by=rank_by)
        segments, totals = {
            "z": (found.segment_z, found.z),
            "raw": (found.segment_raw, found.raw),
            "mixed": (found.segment_raw, found.raw),
        }[scale]
        if scale == "mixed":
            model = fit_mixed_model(judgements, outputs=True)
            segments = np.where(found.raters >= min_raters, model.segment_scores, np.nan)
            totals = model.estimates
        if np.isnan(segments).all():
            raise InputError(f"no output has {min_raters} raters or more")
        source = f"{scale}-{len(judgements.raters)}raters-min{min_raters}"
        return cls(found.systems, found.items, segments, totals, source, judgements, found)

    def select(self, systems: Sequence[str], items: Sequence[str]) -> HumanScores:
        """Some systems and items, in the order asked for."""
        rows = [self.systems.index(name) for name in systems]
        columns = [self.items.index(name) for name in items]
        return replace(
            self,
            systems=tuple(systems),
            items=tuple(items),
            segments=self.segments[np.ix_(rows, columns)],
            totals=self.totals[rows],
        )
