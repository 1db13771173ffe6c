"""Agreement of metrics with people beside nlpstats, and the exact tie calibration."""

from __future__ import annotations

import numpy as np

from bench.timing import best_of
from deltableu.validate.accuracy import soft_pairwise_accuracy
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.levels import Level, agreement
from deltableu.validate.tie_calibration import calibrated_accuracy

__all__ = ["main"]

#: Our levels and what nlpstats calls them.
LEVELS: dict[Level, str] = {"item": "input", "system": "system", "pooled": "global"}


def exchanged(resamples: int, systems: int, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one metric with random ones exchanged for another's, as PERM-BOTH needs them."""
    generator = np.random.default_rng(0)
    human = np.round(generator.normal(size=(systems, items)) * 2)
    first, second = human + generator.normal(size=(2, systems, items))
    swap = generator.random((resamples, systems, items)) < 0.5
    return np.where(swap, first, second), human


def against_nlpstats(resamples: int, systems: int, items: int) -> None:
    """One thread each; nlpstats is timed on a few resamples, as it takes them one by one."""
    from nlpstats.correlations.correlations import correlate

    metric, human = exchanged(resamples, systems, items)
    for level, peer in LEVELS.items():
        ours = best_of(
            lambda level=level: agreement(  # type: ignore[misc]
                metric, human, method="kendall-b", level=level
            )
        )
        few = metric[:3]
        theirs = best_of(
            lambda few=few, peer=peer: [  # type: ignore[misc]
                correlate(one, human, peer, "kendall") for one in few
            ]
        )
        scaled = theirs / len(few) * resamples
        print(
            f"  {level:6}  deltableu {ours:7.3f} s   nlpstats {scaled:7.2f} s "
            f"(from {len(few)})   ratio {scaled / ours:6.0f}x"
        )


def bootstrap(resamples: int, systems: int, items: int) -> None:
    metric, human = exchanged(1, systems, items)
    for level in LEVELS:
        seconds = best_of(
            lambda level=level: bootstrap_agreement(  # type: ignore[misc]
                metric[0],
                human,
                method="kendall-b",
                level=level,
                resample="both",
                resamples=resamples,
                threads=1,
            ),
            1,
        )
        print(f"  {level:6}  {seconds:7.3f} s")


def tie_calibration(systems: int, items: int) -> None:
    metric, human = exchanged(1, systems, items)
    for level in LEVELS:
        alone = best_of(
            lambda level=level: calibrated_accuracy(  # type: ignore[misc]
                metric[0], human, level=level, shuffles=0
            )
        )
        print(f"  {level:6}  {alone:7.3f} s")
    with_chance = best_of(lambda: calibrated_accuracy(metric[0], human))
    print(f"  item    {with_chance:7.3f} s with its chance level (20 shuffles)")
    soft = best_of(lambda: soft_pairwise_accuracy(metric[0], human, threads=1))
    print(f"  soft pairwise accuracy, 1,000 permutations  {soft:7.3f} s")


def main() -> None:
    print("Kendall's tau-b of 1,000 resamples x 10 systems x 500 items, best of 3")
    against_nlpstats(1000, 10, 500)
    print("\nBCa bootstrap of items and systems, tau-b, 1,000 resamples of the same size")
    bootstrap(1000, 10, 500)
    print("\ntie calibration over all epsilons, 16 systems x 2,000 items")
    tie_calibration(16, 2000)


if __name__ == "__main__":
    main()
