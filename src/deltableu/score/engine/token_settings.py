"""Settings that many metrics share: how texts become tokens, and how long n-grams are."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deltableu.errors import InputError
from deltableu.score.engine.inputs import first_wrong_text
from deltableu.text import Normalization, NotUnicodeError, TokenArrays, Tokenize, Tokenizer

_LARGEST_ORDER = 64


@dataclass(frozen=True, kw_only=True)
class TokenSettings:
    """How texts become tokens; see `deltableu.text.Tokenizer`."""

    tokenize: Tokenize = "13a"
    lowercase: bool = False
    normalize: Normalization | None = None
    strip_punctuation: bool = False

    def __post_init__(self) -> None:
        made = Tokenizer(self.tokenize, self.lowercase, self.normalize, self.strip_punctuation)
        object.__setattr__(self, "_tokenizer", made)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of these settings."""
        made: Tokenizer = self._tokenizer  # type: ignore[attr-defined]
        return made

    def hash_hypotheses(self, hypotheses: Sequence[Any], first: int = 0) -> TokenArrays:
        """Token hashes of hypotheses, of which `first` come before; errors name the wrong one."""
        try:
            return self.tokenizer.hash(hypotheses)
        except NotUnicodeError as error:
            number, reason = error.position, error.reason
        except TypeError:
            found = first_wrong_text(hypotheses)
            if found is None:
                raise
            number, reason = found[0], f"is {found[1]}, no string"
        raise InputError(f"hypotheses[{first + number}] {reason}")

    def text_settings(self) -> tuple[tuple[str, str], ...]:
        """These settings as a signature shows them."""
        return (
            ("case", "lower" if self.lowercase else "mixed"),
            *([("norm", self.normalize)] if self.normalize else []),
            *([("punct", "stripped")] if self.strip_punctuation else []),
            ("tok", self.tokenizer.name),
        )

    def settings(self) -> tuple[tuple[str, str], ...]:
        """All settings of a metric that has no more than these."""
        return self.text_settings()


@dataclass(frozen=True, kw_only=True)
class NgramSettings(TokenSettings):
    """The same, and the length of the longest n-gram."""

    order: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", _checked_order(self.order))
        super().__post_init__()

    def settings(self) -> tuple[tuple[str, str], ...]:
        """All settings of a metric that has no more than these."""
        return (("order", str(self.order)), *self.text_settings())


def _checked_order(order: Any) -> int:
    """The order as an int, if it can be one."""
    try:
        number = operator.index(order)
    except TypeError:
        number = 0
    if isinstance(order, bool) or not 1 <= number <= _LARGEST_ORDER:
        raise InputError(f"order must be a whole number from 1 to {_LARGEST_ORDER}, got {order!r}")
    return number
