"""A metric of deltableu inside PyTorch training: rows are summed over batches and processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu.errors import InputError, check_kind
from deltableu.score import DeltaBLEU, Metric, Score, Signature, Statistics

try:
    import torch
    import torchmetrics
except ImportError as error:
    raise InputError(
        f"metrics of training loops need torchmetrics: run pip install torchmetrics ({error})"
    ) from error


class TorchMetric(torchmetrics.Metric):  # type: ignore[misc, unused-ignore]
    """A metric for torchmetrics, Lightning and whatever else calls `update` and `compute`.

    What is kept is the sum of the rows, so that the score over all batches and all processes is
    exactly the corpus score of all texts together, not a mean of batches' scores.

    Parameters
    ----------
    metric : Metric, optional
        By default delta-BLEU. Its rows must depend on nothing but their own items.
    **options
        Those of `torchmetrics.Metric`.

    Examples
    --------
    >>> from deltableu import BLEU
    >>> metric = TorchMetric(BLEU(order=2))
    >>> metric.update(["a b c"], [["a b c", "x"]])
    >>> metric.update(["x z"], [["x y"]])
    >>> round(float(metric.compute()), 2)
    73.03
    """

    is_differentiable = False
    full_state_update = False
    sums: torch.Tensor
    segments: torch.Tensor

    def __init__(self, metric: Metric | None = None, **options: Any) -> None:
        super().__init__(**options)
        metric = DeltaBLEU() if metric is None else metric
        check_kind("the metric", metric, Metric)
        rows = _probe(metric)
        self.judged_by = metric
        self.add_state("sums", torch.zeros(rows.shape[1], dtype=torch.float64), "sum")
        self.add_state("segments", torch.zeros((), dtype=torch.int64), "sum")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override, unused-ignore]
        """Whether a higher score is the better one, for whatever keeps the best checkpoint."""
        return self.judged_by.higher_is_better

    def update(
        self,
        preds: Sequence[str],
        target: Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
    ) -> None:
        """Add a batch: texts, the references of each, and weights in the shape of those."""
        if not len(preds):
            return
        sums = self.judged_by.compute(preds, target, weights, threads=1).sums()
        self.sums += torch.from_numpy(np.asarray(sums)).to(self.sums.device)
        self.segments += len(preds)

    def compute(self) -> Any:
        """The score of all that was added, on the scale of `deltableu score`."""
        return torch.tensor(self.score().score, dtype=torch.float64)

    def score(self) -> Score:
        """The same with its ingredients, of what this process has added or gathered."""
        segments = int(self.segments)
        if segments == 0:
            raise InputError("there is nothing to score: no batch was added")
        settings = (("metric", self.judged_by.registered_name), *self.judged_by.settings())
        signature = Signature((*settings, ("items", str(segments))))
        return self.judged_by.result(self.sums.cpu().numpy(), segments, signature)


def _probe(metric: Metric) -> Any:
    """A row of the metric; an error where rows cannot be summed over batches."""
    reason = None
    if "messages" in metric.needs:
        reason = "needs the message that each item answers"
    elif metric.needs_all_items:
        reason = "weighs words by how rare they are in all items, which a batch does not show"
    elif "references" not in metric.needs:
        reason = "compares with no reference"
    if reason is not None:
        raise InputError(f"{metric.name} {reason}, so it cannot be summed over batches")
    found = metric.compute(["a"], [["a"]], [[1.0]], threads=1)
    if not isinstance(found, Statistics) or not found.adds_up:
        raise InputError(f"{metric.name} is no sum over items, so it cannot be summed over batches")
    return found.rows
