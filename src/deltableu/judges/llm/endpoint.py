"""Where a model is served and what it is asked with; the key, which nobody ever sees."""

from __future__ import annotations

import ipaddress
import math
import os
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from deltableu.errors import InputError, Problem
from deltableu.io import shown

#: The key of a server on the internet stands here, unless another variable is named.
KEY_VARIABLE = "OPENAI_API_KEY"
_PATH = "/chat/completions"
_HIDDEN = "[key]"
#: Shorter ones would be found in ordinary words.
_SHORTEST_KEY = 4


class Secret:
    """A text that is shown nowhere: not printed, not compared, not pickled."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one place that sends it."""
        return self._text

    def __repr__(self) -> str:
        return _HIDDEN

    def __reduce__(self) -> Any:
        raise TypeError("a key is not pickled")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that speaks the protocol of OpenAI's chat completions, and a model that it has.

    Parameters
    ----------
    url : str
        Such as `https://api.openai.com/v1` or `http://localhost:8080/v1`.
    model : str
        As the server calls it.
    key_env : str, optional
        The environment variable that holds the key. By default OPENAI_API_KEY for a server on the
        internet, which must have one; a server on this machine or network is sent no key unless a
        variable is named.

    Examples
    --------
    >>> Endpoint("http://localhost:8080/v1/", "qwen3-4b")
    Endpoint(url='http://localhost:8080/v1', model='qwen3-4b')
    """

    url: str
    model: str
    key_env: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model.strip():
            raise InputError(f"the model has no name: give one (--model), got {shown(self.model)}")
        object.__setattr__(self, "url", _checked_url(self.url))

    @property
    def is_near(self) -> bool:
        """Whether the server is on this machine or network, so that it may need no key."""
        host = urlsplit(self.url).hostname or ""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return "." not in host or host.endswith((".localhost", ".local", ".internal"))
        return address.is_private or address.is_loopback

    @property
    def address(self) -> str:
        """Where questions are sent."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + _PATH))

    @property
    def shown_url(self) -> str:
        """How messages call it."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))

    def key(self) -> Secret | None:
        """The key out of the environment, or None where none is needed."""
        name = self.key_env or (None if self.is_near else KEY_VARIABLE)
        if name is None:
            return None
        if "=" in name or name.startswith("sk-"):
            raise InputError(
                "--key-env takes the name of an environment variable, not the key itself"
            )
        text = os.environ.get(name, "").strip()
        if not text:
            raise InputError(
                f"the environment variable {name} is not set: put the key of {self.shown_url} "
                "there, or name another variable with --key-env"
            )
        # What a header cannot hold, a library would quote in its complaint.
        if len(text) < _SHORTEST_KEY or not (text.isascii() and text.isprintable()) or " " in text:
            raise InputError(f"the environment variable {name} does not hold a usable key")
        if self.url.startswith("http:") and not self.is_near:
            raise InputError(
                f"{self.shown_url}: the key would be sent unencrypted: use https, or a server on "
                "this machine or network"
            )
        return Secret(text)


def _checked_url(url: object) -> str:
    def wrong(message: str) -> InputError:
        return InputError(Problem(message, field="endpoint"))

    example = "such as https://api.openai.com/v1 or http://localhost:8080/v1"
    if not isinstance(url, str) or not url.strip():
        raise wrong(f"is missing: give the address of a server, {example}")
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise wrong(f"is not a usable address, {example}") from None
    if parts.username is not None or parts.password is not None:
        raise wrong("holds a password: a key belongs into an environment variable (--key-env)")
    if parts.scheme not in ("http", "https") or not host:
        raise wrong(f"must be an address {example}, got {shown(url)}")
    if parts.fragment or any(
        not one.startswith("api-version=") for one in parts.query.split("&") if one
    ):
        raise wrong("holds more than an address: what follows ? or # may only be api-version=")
    if not url.isascii() or not url.isprintable() or any(sign in url for sign in " \\<>\"'"):
        raise wrong("holds characters that no address has")
    path = parts.path.rstrip("/").removesuffix(_PATH).rstrip("/")
    return urlunsplit(parts._replace(path=path))


def without_key(text: str, key: Secret | None) -> str:
    """A server's words, in which the key is not repeated."""
    return text if key is None else text.replace(key.reveal(), _HIDDEN)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model draws its answers: what they depend on beside the prompt.

    Parameters
    ----------
    temperature : float or "default"
        "default" leaves it to the server, which some models insist on.
    max_tokens : int
        Of one answer; models that think first need thousands.
    """

    temperature: float | Literal["default"] = 0.0
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        value = self.temperature
        if value != "default" and not (
            isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= 2.0
        ):
            raise InputError(f"temperature must lie between 0 and 2, or be default, got {value!r}")
        if self.max_tokens < 1:
            raise InputError(f"max_tokens must be at least 1, got {self.max_tokens}")

    @property
    def parts(self) -> tuple[object, ...]:
        """What a key is made of."""
        value = self.temperature
        return (value if value == "default" else float(value), self.max_tokens)


@dataclass(frozen=True, slots=True)
class Sending:
    """How questions are sent; answers do not depend on it.

    Parameters
    ----------
    concurrency : int
        Requests under way at the same time.
    timeout : float
        Seconds until a request is given up and asked again.
    retries : int
        How often a request is asked again that failed in passing.
    pause : float
        Seconds before the first retry, doubled with each further one.
    """

    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 6
    pause: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= 1024:
            raise InputError(f"concurrency must lie between 1 and 1024, got {self.concurrency}")
        if not (math.isfinite(self.timeout) and self.timeout > 0.0):
            raise InputError(f"timeout must be above 0 seconds, got {self.timeout:g}")
        if not 0 <= self.retries <= 100:
            raise InputError(f"retries must lie between 0 and 100, got {self.retries}")
        if not (math.isfinite(self.pause) and self.pause >= 0.0):
            raise InputError(f"pause must not be negative, got {self.pause:g}")
