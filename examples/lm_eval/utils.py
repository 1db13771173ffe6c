"""Functions of the task beside this file, which the harness imports by its path."""

from typing import Any

from deltableu import BLEU, DeltaBLEU
from deltableu.integrations import HarnessMetric

DELTA_BLEU = HarnessMetric(DeltaBLEU(), "delta_bleu")
PLAIN_BLEU = HarnessMetric(BLEU(order=2), "bleu_2")

delta_bleu = DELTA_BLEU.aggregate
bleu_2 = PLAIN_BLEU.aggregate


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """What each metric keeps of one answer."""
    return DELTA_BLEU.process_results(doc, results) | PLAIN_BLEU.process_results(doc, results)
