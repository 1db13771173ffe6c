"""A reward in processes of their own, which import this file by its name."""

from __future__ import annotations

from multiprocessing.queues import Queue
from pathlib import Path

from deltableu.tune import DeltaBLEUReward


def batch(reward: DeltaBLEUReward, demo: Path) -> tuple[list[str], list[str]]:
    """Outputs of a system, each item several times."""
    from deltableu import read_study

    study = read_study(demo)
    ids = [item.id for item in study.items] * 3
    texts = [text for name in sorted(study.outputs)[:3] for text in study.outputs[name]]
    return ids, texts


def score_there(reward: DeltaBLEUReward, demo: Path, queue: Queue[list[float]]) -> None:
    """What a process puts into the queue."""
    queue.put(reward.score(*batch(reward, demo)).tolist())
