"""The optional extras of the installed package: what they are for, and what of them is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

PACKAGE = "deltableu"
#: What each extra is for, in the order in which they are shown.
PURPOSES = {
    "parquet": "Parquet files and Arrow tables",
    "report": "HTML reports and plots",
    "cluster": "mining on Dask; files behind URLs",
    "encoder": "sentence vectors by wordllama",
    "ja": "Japanese words by MeCab",
    "web": "the rating server",
    "llm": "an LLM as judge",
    "neural": "judges and responders trained by torch",
    "standard": "all of these but neural",
    "all": "everything above",
    "test": "developers: the tests",
    "docs": "developers: the documentation site",
    "dev": "developers: tests, checks and peers",
}
#: Those that hold others, and those that no command needs.
_BUNDLES, _DEVELOPERS = ("standard", "all"), ("test", "docs", "dev")


@dataclass(frozen=True, slots=True)
class ExtraState:
    """An extra and what of it is there; `packages` have their versions, or None."""

    name: str
    purpose: str
    packages: dict[str, str | None]

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        return [name for name, found in self.packages.items() if found is None]

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install '{PACKAGE}[{self.name}]'"

    @property
    def serves_commands(self) -> bool:
        """Whether some command or function needs it by itself."""
        return self.name not in (*_BUNDLES, *_DEVELOPERS)


def states_of_extras() -> list[ExtraState]:
    """All extras; none where the package runs without having been installed."""
    requirements = _requirements()
    return [
        ExtraState(name, purpose, {one: _version(one) for one in _packages(name, requirements)})
        for name, purpose in PURPOSES.items()
        if requirements
    ]


def core_packages() -> dict[str, str | None]:
    """What the package always needs, and the versions that are there."""
    return {one: _version(one) for one in _packages("", _requirements())}


def _requirements() -> list[str]:
    try:
        return requires(PACKAGE) or []
    except PackageNotFoundError:
        return []


def _packages(extra: str, requirements: list[str]) -> list[str]:
    """Names of all packages of an extra, and of the extras in it."""
    return list(dict.fromkeys(_gathered(extra, requirements)))


def _gathered(extra: str, requirements: list[str]) -> Iterator[str]:
    for requirement in requirements:
        needed, _, marker = requirement.partition(";")
        of = re.search(r"""extra == ["']([^"']+)["']""", marker)
        elsewhere = re.search(r"""sys_platform != ["']([^"']+)["']""", marker)
        if (of[1] if of else "") != extra or (elsewhere and elsewhere[1] == sys.platform):
            continue
        name = re.match(r"[\w.-]+", needed)
        if name is None:
            continue
        if name[0] != PACKAGE:
            yield name[0]
            continue
        inside = re.search(r"\[(.*)\]", needed)
        for one in inside[1].split(",") if inside else []:
            yield from _gathered(one.strip(), requirements)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
