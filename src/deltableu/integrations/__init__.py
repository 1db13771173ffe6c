"""Metrics for other people's tools, and other people's metrics for these.

Each part imports the package that it is for, and that one alone, at first use.
"""

from typing import TYPE_CHECKING

from deltableu._lazy import at_first_use

if TYPE_CHECKING:
    from deltableu.integrations.hugging_face import EvaluateModule, evaluate_script
    from deltableu.integrations.learned import COMET, BERTScore
    from deltableu.integrations.lightning import TorchMetric
    from deltableu.integrations.lm_harness import HarnessMetric

__all__ = [
    "COMET",
    "BERTScore",
    "EvaluateModule",
    "HarnessMetric",
    "TorchMetric",
    "evaluate_script",
]

__getattr__, __dir__ = at_first_use(__name__)
