"""What tuning gains on other items: the tables of docs/how-to/tune.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.nbest import loglinear_lists
from deltableu.compare import Comparison
from deltableu.corpus import NBestLists, ReferenceSet
from deltableu.io import Cell, Column, Table
from deltableu.score import BLEU, DeltaBLEU, Metric
from deltableu.tune import (
    MertSettings,
    PerceptronSettings,
    TunedScore,
    compare_weights,
    tune_weights,
)

__all__ = ["gains", "main"]

ITEMS, CANDIDATES = 800, 30

Way = tuple[Metric, MertSettings | PerceptronSettings]


def ways(tokenize: str = "none") -> dict[str, Way]:
    """What is tuned for, and how."""
    delta, bleu = DeltaBLEU(tokenize=tokenize), BLEU(order=2, tokenize=tokenize)
    return {
        "MERT for delta-BLEU": (delta, MertSettings()),
        "the same with L2": (delta, MertSettings(regularization="l2")),
        "perceptron, ordinal": (delta, PerceptronSettings()),
        "perceptron, splitting": (delta, PerceptronSettings(rule="splitting")),
        "MERT for BLEU-2": (bleu, MertSettings()),
    }


def gains(
    seen: NBestLists,
    unseen: NBestLists,
    references: ReferenceSet,
    start: Mapping[str, float] | None = None,
) -> Table:
    """A row per way of tuning: delta-BLEU on the items tuned on and on others."""
    rows: list[Sequence[object]] = []
    for name, (metric, settings) in ways().items():
        weights = tune_weights(seen, references, metric, start=start, settings=settings).weights
        judge = DeltaBLEU(tokenize="none")
        ours, theirs = (
            compare_weights(lists, references, judge, weights=weights, start=start)
            for lists in (seen, unseen)
        )
        if not rows:
            rows.append(["untuned", ours.start, theirs.start, None, None])
        rows.append([name, ours.tuned, theirs.tuned, _difference(theirs), _p_value(theirs)])
    columns = [
        "weights",
        Column("tuned on", ".2f"),
        Column("held out", ".2f"),
        Column("gain there", ".2f"),
        Column("p", "p"),
    ]
    return Table(columns, rows)


def _difference(score: TunedScore) -> Cell:
    return Cell(score.tuned - score.start, score.comparisons[0].pair("tuned", "start").interval)


def _p_value(score: TunedScore) -> float:
    decisive: Comparison = score.comparisons[-1]
    return decisive.deciding(decisive.pair("tuned", "start"))


def main() -> None:
    lists, references = loglinear_lists(ITEMS, CANDIDATES)
    half = ITEMS // 2
    print(
        f"delta-BLEU of what weights choose: lists of {CANDIDATES} candidates with "
        f"{len(lists.names)} features, {half} items tuned on and {ITEMS - half} held out"
    )
    seen, unseen = lists.select(range(half)), lists.select(range(half, ITEMS))
    print(gains(seen, unseen, references).to_markdown())


if __name__ == "__main__":
    main()
