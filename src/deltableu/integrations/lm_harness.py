"""Functions for tasks of the language model evaluation harness: a result, then a corpus score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deltableu.errors import InputError
from deltableu.score import DeltaBLEU, Metric

#: A prediction, its references, and their weights.
Result = tuple[str, list[str], list[float] | None]


@dataclass(frozen=True)
class HarnessMetric:
    """A metric as a task calls it: `process_results` for each document, `aggregate` for all.

    The harness cannot put objects into a task's file, so the task's `utils.py` makes one of these
    and names its methods.

    Parameters
    ----------
    metric : Metric, optional
        By default delta-BLEU.
    name : str, optional
        The name in `metric_list`; by default the metric's, with underscores.
    references, weights : str
        Fields of a document that hold them. Lines of a study's `items.jsonl` may be documents as
        they are: their references carry the weights.

    Examples
    --------
    >>> from deltableu import BLEU
    >>> harness = HarnessMetric(BLEU(order=2))
    >>> one = harness.process_results({"references": ["a b c", "x"]}, ["a b c"])
    >>> two = harness.process_results({"references": ["x y"]}, ["x z"])
    >>> round(harness.aggregate([one["bleu_2"], two["bleu_2"]]), 2)
    73.03
    """

    metric: Metric = field(default_factory=DeltaBLEU)
    name: str = ""
    references: str = "references"
    weights: str = "weights"

    def __post_init__(self) -> None:
        if "references" not in self.metric.needs or "messages" in self.metric.needs:
            raise InputError(
                f"{self.metric.name} compares with more or less than references, which is all that "
                "a task gives it: choose another metric"
            )
        if not self.name:
            object.__setattr__(self, "name", self.metric.name.replace("-", "_"))

    def process_results(self, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Result]:
        """What the harness keeps of a document: all that the corpus score needs."""
        given = self._field(doc, self.references)
        if all(isinstance(one, Mapping) for one in given):
            # An item of a study, whose references carry their weights.
            texts = [one["text"] for one in given]
            weights = [one["weight"] for one in given]
        else:
            texts = list(given)
            weights = list(self._field(doc, self.weights)) if self._weighted else []
        return {self.name: (results[0], texts, weights if self._weighted else None)}

    def aggregate(self, items: Sequence[Result]) -> float:
        """The corpus score of all documents, on the scale of `deltableu score`."""
        texts, references, weights = zip(*items, strict=True)
        weighted = [list(one or ()) for one in weights] if self._weighted else None
        return self.metric.compute(list(texts), list(references), weighted).score().score

    @property
    def _weighted(self) -> bool:
        return "weights" in self.metric.needs

    def _field(self, doc: Mapping[str, Any], name: str) -> Any:
        if name not in doc:
            raise InputError(f"a document has no field {name!r}, which {self.name} needs")
        return doc[name]
