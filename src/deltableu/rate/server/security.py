"""Who may do what: sessions, tickets and forgery protection, signed; and limits of haste."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections import OrderedDict
from dataclasses import dataclass

#: Bytes of a signature.
_SIGNED = 18
#: Callers that a limit remembers.
_CALLERS = 20_000


class Signer:
    """Texts that only this campaign's server can have made."""

    def __init__(self, secret: str) -> None:
        self._key = bytes.fromhex(secret)

    def sign(self, purpose: str, text: str) -> str:
        """A text with its signature, for one purpose."""
        return f"{text}.{self._signature(purpose, text)}"

    def verify(self, purpose: str, signed: str) -> str | None:
        """The text, if this was signed here for that purpose."""
        text, _, signature = signed.rpartition(".")
        expected = self._signature(purpose, text)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            return None
        return text

    def _signature(self, purpose: str, text: str) -> str:
        found = hmac.digest(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(found[:_SIGNED]).decode()


@dataclass(frozen=True, slots=True)
class Session:
    """Who is there: a rater's number, or the organiser (0); `token` begins the digest of the link.

    A new link ends the sessions of the old one.
    """

    rater: int
    token: str
    until: int

    def signed(self, signer: Signer) -> str:
        """For a cookie."""
        return signer.sign("session", f"{self.rater}.{self.token}.{self.until}")

    @classmethod
    def read(cls, signer: Signer, cookie: str | None, now: float) -> Session | None:
        """The session of a cookie, unless it is over or was not made here."""
        text = signer.verify("session", cookie) if cookie and len(cookie) < 200 else None
        if text is None:
            return None
        rater, token, until = text.split(".")
        found = cls(int(rater), token, int(until))
        return found if now < found.until else None

    def csrf(self, signer: Signer) -> str:
        """What the page sends along with everything that it writes."""
        return signer.sign("csrf", f"{self.rater}.{self.token}.{self.until}").rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Ticket:
    """A task that was given to a rater, so that an answer is known to belong to it.

    `practice` tickets are for a place of the practice round. Nothing of it is kept here: an answer
    that comes after a restart, or after its lease ended, is still good.
    """

    rater: int
    task: int
    flipped: bool
    issued: int
    practice: bool = False

    def signed(self, signer: Signer) -> str:
        """As the page gets it."""
        kind = "p" if self.practice else "t"
        return signer.sign(
            "ticket", f"{kind}.{self.rater}.{self.task}.{int(self.flipped)}.{self.issued}"
        )

    @classmethod
    def read(cls, signer: Signer, text: str) -> Ticket | None:
        """The ticket, if it was made here."""
        found = signer.verify("ticket", text)
        if found is None:
            return None
        kind, rater, task, flipped, issued = found.split(".")
        return cls(int(rater), int(task), flipped == "1", int(issued), kind == "p")


class HasteLimit:
    """So many requests a second, and a burst of more, for each caller."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def wait(self, caller: object, cost: float = 1.0) -> float:
        """Seconds until a caller may go on; 0 if at once."""
        now = time.monotonic()
        left, before = self._left.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._rate)
        allowed = left >= cost
        self._left[caller] = (left - cost if allowed else left, now)
        if len(self._left) > _CALLERS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (cost - left) / self._rate
