"""How responses are made from a network: what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from deltableu.errors import InputError, Problem, check_at_least, check_choice

DecodingMethod = Literal["greedy", "beam", "sample"]
_BEAM = 5
#: Beyond this nothing is found but the end of the memory.
_MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How responses are made.

    Attributes
    ----------
    method : {"greedy", "beam", "sample"}
        The most likely word, one after the other; the best of several responses that grow side by
        side; or words drawn as likely as the model holds them.
    beam : int, optional
        Responses that grow side by side, 5 by default: each that ends leaves one less to grow.
    length_penalty : float, optional
        Totals of responses, by which beams rank them, are their log-probability over the number of
        their words and the end, to this power: 1, the default, is the mean, 0 the sum.
    temperature : float, optional
        By which log-probabilities are divided before words are drawn; 1 by default.
    top_k : int, optional
        Draw only from so many of the most likely words.
    top_p : float, optional
        Draw only from the fewest of the most likely words that have this probability together
        (Holtzman et al. 2020).
    no_repeat : int, optional
        So many words in a row never occur twice in a response.
    max_length : int
        Largest number of words or pieces of a response.
    candidates : int, optional
        What else is listed for each item: with beams at most all of them (the default), else
        responses drawn independently, 1 by default. Responses that read alike are one.
    seed : int
        Of all that is drawn, for each item and candidate independently.
    """

    method: DecodingMethod = "beam"
    beam: int | None = None
    length_penalty: float | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    no_repeat: int | None = None
    max_length: int = 30
    candidates: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("method", self.method, get_args(DecodingMethod))
        for name in ("beam", "top_k", "no_repeat", "max_length", "candidates"):
            if (value := getattr(self, name)) is not None:
                check_at_least(name, value, 1)
                if name in ("beam", "max_length", "candidates") and value > _MOST:
                    message = f"must be at most {_MOST:,}, got {value}"
                    raise InputError(Problem(message, field=name))
        check_at_least("seed", self.seed, 0)
        self._check_use()
        if not 0 <= self.penalty <= 10:
            message = f"must lie between 0 and 10, got {self.penalty:g}"
            raise InputError(Problem(message, field="length_penalty"))
        if self.temperature is not None and not 0.01 <= self.temperature <= 100:
            message = f"must lie between 0.01 and 100, got {self.temperature:g}"
            raise InputError(Problem(message, field="temperature"))
        if self.top_p is not None and not 0 < self.top_p <= 1:
            message = f"must lie above 0 and up to 1, got {self.top_p:g}"
            raise InputError(Problem(message, field="top_p"))

    def _check_use(self) -> None:
        uses = {
            "beam": ("beam",),
            "length_penalty": ("beam", "sample"),
            "temperature": ("sample",),
            "top_k": ("sample",),
            "top_p": ("sample",),
            "candidates": ("beam", "sample"),
        }
        for name, methods in uses.items():
            if getattr(self, name) is not None and self.method not in methods:
                message = f"is for the method {' or '.join(methods)}, not {self.method}"
                raise InputError(Problem(message, field=name))
        if self.method == "beam" and (self.candidates or 1) > self.width:
            message = f"must be no more than the beam, {self.width}, got {self.candidates}"
            raise InputError(Problem(message, field="candidates"))

    @property
    def penalty(self) -> float:
        """The power of the length by which log-probabilities are divided."""
        return 1.0 if self.length_penalty is None else self.length_penalty

    @property
    def width(self) -> int:
        """Responses that grow side by side for an item, or are drawn for it."""
        if self.method == "beam":
            return self.beam or _BEAM
        return self.candidates or 1

    @property
    def listed(self) -> int:
        """Candidates of an item, at most."""
        return self.candidates or self.width

    @property
    def signature(self) -> str:
        """All that matters of these settings, in one text."""
        parts: list[str] = [self.method]
        if self.method == "beam":
            parts += [f"beam={self.width}", f"length={self.penalty:g}"]
        if self.method == "sample":
            parts += [f"temperature={self.temperature or 1.0:g}"]
            parts += [
                f"{name}={value:g}"
                for name, value in (("top-k", self.top_k), ("top-p", self.top_p))
                if value is not None
            ]
        if self.no_repeat is not None:
            parts.append(f"no-repeat={self.no_repeat}")
        return ",".join([*parts, f"longest={self.max_length}", f"seed={self.seed}"])
