"""What rating has done so far, batch by batch, found again after being killed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np

from deltableu.corpus import Item, Reference, item_record
from deltableu.io import WorkFolder, fingerprint


class RatedBatches:
    """Weights of batches that a rater has done, in a work folder.

    Parameters
    ----------
    work : WorkFolder
    signature : str
        The rater's.
    """

    def __init__(self, work: WorkFolder, signature: str) -> None:
        self._work = work
        self._signature = signature

    def weights(
        self, batch: Sequence[tuple[Item, Sequence[Reference]]]
    ) -> list[tuple[float, ...]] | None:
        """The weights of a batch, if it was done before."""
        found = self._work.kept(self._name(batch))
        if found is None:
            return None
        ends = np.cumsum([len(references) for _, references in batch])
        rows = np.split(found[0]["weights"], ends[:-1])
        return [tuple(row.tolist()) for row in rows]

    def add(
        self, batch: Sequence[tuple[Item, Sequence[Reference]]], rows: Iterable[Sequence[float]]
    ) -> None:
        """Keep the weights of a batch; they are on the disk when this returns."""
        weights = [weight for row in rows for weight in row]
        self._work.keep(self._name(batch), {"weights": np.array(weights, np.float64)})

    def _name(self, batch: Sequence[tuple[Item, Sequence[Reference]]]) -> str:
        """From all that weights depend on, so that no other batch is taken for this one."""
        asked = ([item_record(item), [one.id for one in references]] for item, references in batch)
        described = (json.dumps(one, sort_keys=True, default=str) for one in asked)
        return f"batch-{fingerprint((self._signature, *described))}"
