"""What a layout is, and which there are: one small class each, also from other packages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from deltableu.errors import InputError, check_known
from deltableu.io import Report, load_offered, offered
from deltableu.layouts.mapping import ColumnMap
from deltableu.layouts.parts import Part, Place

GROUP = "deltableu.layouts"

Parts: TypeAlias = Iterator[tuple[Part, Place]]


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be read, as the user says it.

    Attributes
    ----------
    paths : tuple of Path
        The files or folders of the layout.
    columns : ColumnMap
        Which columns mean what.
    separators : mapping of str to str
        Our names -> what separates the parts of one cell.
    where : mapping of str to str
        Only rows in which a column holds this.
    system : str or None
        The system of outputs that do not say whose they are.
    scale : str or None
        The scale of the ratings, such as `1-5`.
    systems, references, sources, documents : tuple of Path
        Plain text, one line per item.
    names : str or None
        How file names name systems: a pattern in which {} is the name.
    pair : str or None
        The language pair, for layouts that hold several.
    beside : mapping of str to tuple of Path
        Our names -> plain text with a line for each row of the table.
    renamed : mapping of str to str
        Systems that have another name here.
    """

    paths: tuple[Path, ...] = ()
    columns: ColumnMap = field(default_factory=ColumnMap)
    separators: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    scale: str | None = None
    systems: tuple[Path, ...] = ()
    references: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    names: str | None = None
    pair: str | None = None
    beside: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Understanding:
    """What a layout took for what, for people to look at."""

    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    """File -> their column -> what it is."""
    kept: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """File -> columns that mean nothing here and are kept in `meta`."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Reason -> how many rows were left out."""

    def leave_out(self, reason: str) -> None:
        """Count a row that is no part of the study."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


class Layout(ABC):
    """How files are laid out: read, they give the parts of a study.

    A layout of one's own derives from this class and is named by an entry point of the group
    `deltableu.layouts`.
    """

    name: ClassVar[str]
    #: One line for `deltableu import --list`.
    summary: ClassVar[str]
    #: What to write after `deltableu import`.
    example: ClassVar[str]

    @abstractmethod
    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        """Yield parts with the places where they stand; say in `understood` what was what."""


def layout_names() -> tuple[str, ...]:
    """All layouts that are installed."""
    return tuple(sorted(offered(GROUP)))


def load_layout(name: str) -> Layout:
    """The layout of a name."""
    check_known("layout", name, layout_names())
    made: Layout = load_offered(GROUP, name, "layout", _made)
    return made


def _made(kind: type[Layout]) -> Layout:
    made = kind()
    if not isinstance(made, Layout):
        raise TypeError("it does not derive from deltableu.layouts.Layout")
    return made


def one_path(request: Request, what: str) -> Path:
    """The only path of a layout that reads one."""
    if len(request.paths) != 1:
        raise InputError(f"name {what}, got {len(request.paths)} paths")
    return request.paths[0]
