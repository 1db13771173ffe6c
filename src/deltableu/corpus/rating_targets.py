"""Names of what was rated in, `system:NAME` or `reference:ID` out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deltableu.corpus.types import Item, Study


def has_prefix(target: str) -> bool:
    """Whether a target says by itself what it is."""
    sort, colon, name = target.partition(":")
    return sort in ("system", "reference") and bool(colon) and bool(name)


@dataclass(frozen=True, slots=True)
class RatingTargets:
    """What can be rated: systems, and the references of each item.

    Examples
    --------
    >>> targets = RatingTargets(frozenset({"A", "B"}), {"q1": frozenset({"r0"})})
    >>> targets.find("A", "q1"), targets.find("r0", "q1")
    ('system:A', 'reference:r0')
    """

    systems: frozenset[str]
    references: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, items: Iterable[Item], systems: Iterable[str]) -> RatingTargets:
        """What a study has."""
        references = {item.id: frozenset(one.id for one in item.references) for item in items}
        return cls(frozenset(systems), references)

    def find(self, name: str, item: str) -> str:
        """The target with its prefix; a LookupError says why it is not clear."""
        is_system = name in self.systems
        is_reference = name in self.references.get(item, ())
        if is_system and is_reference:
            raise LookupError(
                f"{name!r:.40} is a system and a reference of item {item!r:.40}: write "
                "system:NAME or reference:ID"
            )
        if not is_system and not is_reference:
            raise LookupError(
                f"{name!r:.40} is neither a system ({_some(self.systems)}) nor a reference of item "
                f"{item!r:.40} ({_some(self.references.get(item, ()))})"
            )
        return f"system:{name}" if is_system else f"reference:{name}"


def _some(names: Iterable[str]) -> str:
    there = sorted(names)
    shown = ", ".join(f"{name:.20}" for name in there[:3])
    return (shown + (", ..." if len(there) > 3 else "")) or "none"


def texts_by_target(study: Study) -> dict[tuple[str, str], str]:
    """Every text of a study that can be rated, by item and target."""
    found = {
        (item.id, f"reference:{one.id}"): one.text
        for item in study.items
        for one in item.references
    }
    for name, texts in study.outputs.items():
        for item, text in zip(study.items, texts, strict=True):
            found[item.id, f"system:{name}"] = text
    return found
