"""What all networks and all ways to train one have in common, and complaints of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol

from deltableu.errors import (
    InputError,
    Problem,
    check_at_least,
    check_choice,
    check_share,
    hint_at,
)

_MOST = 2_000_000_000


class NetworkShape(ABC):
    """How large a network is, which says what its parameters are called."""

    __slots__ = ()

    #: What a model of this shape is, as the command line calls it.
    kind: ClassVar[str]

    @abstractmethod
    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        """The names and shapes of all parameters."""

    @abstractmethod
    def size(self, vocabulary: int) -> int:
        """About how many parameters there are, without a list of them."""


class HowTrained(Protocol):
    """What the ways to train all models have in common."""

    @property
    def vocabulary(self) -> Literal["pieces", "words"]:
        """Whether texts are spelt in pieces or in words."""

    @property
    def vocabulary_size(self) -> int:
        """The most pieces or words."""

    @property
    def learning_rate(self) -> float:
        """The first step size."""

    @property
    def batch(self) -> int:
        """Examples per step."""

    @property
    def examples(self) -> int | None:
        """The most examples per epoch; None takes all."""

    @property
    def epochs(self) -> int:
        """The most epochs."""

    @property
    def patience(self) -> int:
        """Epochs without progress after which training ends."""

    @property
    def validation(self) -> float:
        """The share of examples that are held out."""

    @property
    def seed(self) -> int:
        """The seed of everything random."""


def check_how_trained(training: HowTrained) -> None:
    """Complain of settings that no training can have."""
    for name in ("vocabulary_size", "batch", "epochs", "patience"):
        check_at_least(name, getattr(training, name), 1)
    if training.examples is not None:
        check_at_least("examples", training.examples, 4)
    check_choice("vocabulary", training.vocabulary, ("pieces", "words"))
    check_validation(training.validation)
    check_share("learning_rate", training.learning_rate)
    if not 0 <= training.seed < 2**63:
        message = f"must be a whole number from 0 to 2**63 - 1, got {training.seed}"
        raise InputError(Problem(message, field="seed"))


def check_validation(validation: float) -> None:
    """Utterances are held out by their share or by their number."""
    whole = validation >= 1 and float(validation).is_integer()
    if not (0 < validation < 1 or whole):
        message = f"must be a share between 0 and 1 or a whole number, got {validation:g}"
        raise InputError(Problem(message, field="validation"))


def check_preset(name: str, presets: Mapping[Any, object]) -> None:
    """Complain of a preset that does not exist."""
    if name not in presets:
        meant = hint_at(name, presets)
        raise InputError(f"unknown preset {name!r}; choose from {', '.join(presets)}{meant}")


def check_size(settings: NetworkShape, vocabulary: int, what: str, fields: str) -> None:
    """A mistyped number should not end in want of memory.

    Parameters
    ----------
    settings : NetworkShape
    vocabulary : int
    what, fields : str
        Such as `judge`, and which settings make one large.
    """
    most = settings.size(vocabulary)
    if most > _MOST:
        raise InputError(
            f"such a {what} has about {most:.1e} parameters, which is beyond {_MOST:.0e}: choose a "
            f"smaller {fields}"
        )


def check_minutes(minutes: float | None) -> None:
    """Complain of a budget that no training can have."""
    if minutes is not None and not 0 < minutes < float("inf"):
        message = f"must be a number above 0, or none for no limit, got {minutes:g}"
        raise InputError(Problem(message, field="minutes"))


def gru_shapes(prefix: str, inputs: int, hidden: int, ways: int = 1) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a GRU, as torch has them; two ways are a Bi-GRU.

    Examples
    --------
    >>> sorted(gru_shapes("gru.", 3, 2))
    ['gru.bias_hh_l0', 'gru.bias_ih_l0', 'gru.weight_hh_l0', 'gru.weight_ih_l0']
    """
    shapes: dict[str, tuple[int, ...]] = {}
    gates = 3 * hidden
    for way in ("", "_reverse")[:ways]:
        shapes[f"{prefix}weight_ih_l0{way}"] = (gates, inputs)
        shapes[f"{prefix}weight_hh_l0{way}"] = (gates, hidden)
        for bias in ("ih", "hh"):
            shapes[f"{prefix}bias_{bias}_l0{way}"] = (gates,)
    return shapes
