"""What commands that train say meanwhile."""

from __future__ import annotations

import math

from deltableu.cli.output import note
from deltableu.cli.progress import duration
from deltableu.neural import TrainingEpoch, TrainingPlan

#: Beyond this loss a perplexity is no finite number.
_LARGEST = 700.0


def say_plan(plan: TrainingPlan) -> None:
    """How long training takes, and what the budget leaves out."""
    epochs = f"{plan.epochs} {'epoch' if plan.epochs == 1 else 'epochs'}"
    said = f"training takes about {duration(plan.seconds)} or less: {epochs} of "
    said += f"{plan.examples:,} examples"
    if plan.cut:
        said += (
            f", drawn at random from {plan.available:,} (all in {plan.epochs_wanted} epochs would "
            f"take {duration(plan.seconds_of_all)}; --minutes {plan.minutes:g}, 0 takes all)"
        )
    note(said)


def say_epoch(epoch: TrainingEpoch, *, perplexity: bool = False) -> None:
    """How good a model is after an epoch; as perplexity, where the loss is per word."""
    left = epoch.seconds / epoch.number * (epoch.of - epoch.number)
    held_out = f"held out {epoch.validation_loss:.4f}, accuracy {epoch.accuracy:.1%}"
    if perplexity:
        told = math.exp(min(epoch.validation_loss, _LARGEST))
        held_out = f"perplexity of what is held out {told:.1f}, accuracy {epoch.accuracy:.1%}"
    note(
        ("goes on after " if epoch.kept else "")
        + f"epoch {epoch.number} of {epoch.of}: loss {epoch.loss:.4f}, {held_out}"
        + (" (the best so far)" if epoch.best else "")
        + (f"; at most {duration(left)} left" if left else "")
    )
