"""A module for Hugging Face's `evaluate`: `evaluate.load(evaluate_script(), "delta-bleu")`.

`evaluate` copies this file and runs the copy, so it imports nothing by its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import deltableu
from deltableu.errors import InputError
from deltableu.score import make_metrics

try:
    import datasets
    import evaluate
except ImportError as error:
    raise InputError(
        f"modules of evaluate need the package evaluate: run pip install evaluate ({error})"
    ) from error

_CITATION = """\
@inproceedings{galley-etal-2015-deltableu,
  title = {delta{BLEU}: A Discriminative Metric for Generation Tasks with Intrinsically Diverse
           Targets},
  author = {Galley, Michel and Brockett, Chris and Sordoni, Alessandro and Ji, Yangfeng and Auli,
            Michael and Quirk, Chris and Mitchell, Margaret and Gao, Jianfeng and Dolan, Bill},
  booktitle = {Proceedings of ACL-IJCNLP},
  year = {2015}
}
"""

_INPUTS = """\
predictions: a text for each item.
references: a text, or a list of texts, for each item.
weights: with delta-bleu and other weighted metrics, a list of numbers in [-1, 1] for each item.
settings: fields of the metric, such as order, tokenize and lowercase.
"""


def evaluate_script() -> str:
    """The path to give to `evaluate.load`."""
    return str(Path(__file__).resolve())


class EvaluateModule(evaluate.Metric):  # type: ignore[misc, unused-ignore]
    """Any metric of deltableu that compares with references, by its name as `config_name`.

    Examples
    --------
    >>> module = EvaluateModule("bleu")
    >>> found = module.compute(predictions=["a b c"], references=[["a b d", "a c"]], order=2)
    >>> round(found["score"], 2)
    70.71
    """

    def _info(self) -> Any:
        name = self.config_name if self.config_name != "default" else "delta-bleu"
        self.metric_name = make_metrics([name], {})[0].registered_name
        text = datasets.Value("string")
        shapes = (datasets.Sequence(text), text)
        return evaluate.MetricInfo(
            description=f"{name}, computed by deltableu {deltableu.__version__}",
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[datasets.Features(predictions=text, references=shape) for shape in shapes],
            reference_urls=["https://aclanthology.org/P15-2073"],
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[Any],
        weights: list[list[float]] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        name = self.config_name if self.config_name != "default" else "delta-bleu"
        metric = make_metrics([name], settings)[0]
        if "messages" in metric.needs:
            raise InputError(f"{name} needs messages too: score it with deltableu itself")
        listed = [[one] if isinstance(one, str) else list(one) for one in references]
        if weights is None and "weights" in metric.needs:
            raise InputError(f"{name} needs weights: give a list of numbers for each item")
        found = metric.compute(predictions, listed, weights)
        score = found.score()
        return {
            "score": score.score,
            "segment_scores": found.segment_scores().tolist(),
            "signature": str(score.signature),
        }
