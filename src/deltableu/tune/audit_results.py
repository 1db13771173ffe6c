"""What an audit found, as sentences, tables and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deltableu._visible import shortened, visible
from deltableu.io import Column, Table, Tabular, listed

#: Characters of a text in a table.
_SHOWN = 60
#: Texts of an attack in records.
_KEPT = 3


@dataclass(frozen=True, slots=True)
class AttackScore:
    """One attack on one metric.

    Attributes
    ----------
    attack : str
    sees : {"other items", "outputs", "own references"}
    summary : str
        What it does.
    score : float
        Of all its outputs as a corpus.
    forms : tuple of str
        In which of its forms it does best; two where the halves of the study differ.
    texts : tuple of str
        What it answers to each item.
    """

    attack: str
    sees: str
    summary: str
    score: float
    forms: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def examples(self) -> tuple[str, ...]:
        """Some of its different texts."""
        return tuple(dict.fromkeys(self.texts))[:_KEPT]


@dataclass(frozen=True, slots=True)
class LeftOutReference:
    """The original references as outputs, scored against the other references of these items."""

    score: float
    items: int


@dataclass(frozen=True, slots=True)
class MetricAudit(Tabular):
    """All attacks on one metric, beside the systems of the study.

    Attributes
    ----------
    metric : str
    higher_is_better : bool
    systems : mapping of str to float
        Their scores.
    left_out : LeftOutReference or None
    attacks : tuple of AttackScore
    missing : mapping of str to str
        Attacks that could not be made, and what the study lacks for them.
    """

    metric: str
    higher_is_better: bool
    systems: Mapping[str, float]
    left_out: LeftOutReference | None
    attacks: tuple[AttackScore, ...]
    missing: Mapping[str, str]

    @property
    def best(self) -> AttackScore:
        """The best of the attacks that know nothing of an item but its message."""
        found = self.best_that_sees("other items")
        if found is None:  # repetition needs nothing
            raise LookupError("there are no attacks")
        return found

    def best_that_sees(self, sees: str) -> AttackScore | None:
        """The best of the attacks that may look at this much."""
        known = [one for one in self.attacks if one.sees == sees]
        return max(known, key=lambda one: self._goodness(one.score), default=None)

    def beaten(self, score: float) -> int:
        """How many systems score lower than this, or the same."""
        good = self._goodness(score)
        return sum(self._goodness(other) <= good for other in self.systems.values())

    @property
    def best_system(self) -> str | None:
        """The system with the best score."""
        scores = self.systems
        return max(scores, key=lambda name: self._goodness(scores[name]), default=None)

    @property
    def exploitability(self) -> float:
        """The share of systems that the best attack without knowledge of the answers reaches."""
        return self.beaten(self.best.score) / max(1, len(self.systems))

    def _goodness(self, score: float) -> float:
        return score if self.higher_is_better else -score

    def rows(self) -> list[tuple[str, str, float, str]]:
        """Systems, the left-out reference and attacks: kind, name, score and a text, best first."""
        found = [("system", name, score, "") for name, score in self.systems.items()]
        if self.left_out is not None:
            name = f"left out, {self.left_out.items} items"
            found.append(("reference", name, self.left_out.score, ""))
        for one in self.attacks:
            kind = {"other items": "attack", "outputs": "attack on outputs"}.get(one.sees, "oracle")
            found.append((kind, one.attack, one.score, _text(one)))
        return sorted(found, key=lambda row: -self._goodness(row[2]))

    def table(self) -> Table:
        """Everything in order of its score."""
        columns = [
            Column("kind"),
            Column("output"),
            Column("score", ".2f"),
            Column("says", align="left", room=24, drop=1),
        ]
        rows = [[kind, name, score, text] for kind, name, score, text in self.rows()]
        notes = {f"no {name}": why for name, why in self.missing.items()}
        return Table(columns, rows, caption=self.metric, notes=notes)


def _sentence(gamed: Sequence[MetricAudit]) -> str:
    """The best attack on some metrics, which is the same one, beside the systems."""
    calls = {_called(one.best) for one in gamed}
    called = calls.pop() if len(calls) == 1 else gamed[0].best.attack
    scores = listed([f"{one.best.score:.2f}" for one in gamed])
    said = f"{listed([one.metric for one in gamed])}: {called} scores {scores}"
    if tops := [one.best_system for one in gamed if one.best_system is not None]:
        many = len(gamed[0].systems)
        beaten = [str(one.beaten(one.best.score) or "none") for one in gamed]
        reached = beaten[0] if len(set(beaten)) == 1 else listed(beaten)
        best = [f"{one.systems[top]:.2f}" for one, top in zip(gamed, tops, strict=True)]
        if len(set(tops)) == 1:
            told = f"{tops[0]} has {listed(best)}"
        else:
            told = listed([f"{top} has {score}" for top, score in zip(tops, best, strict=True)])
        said += f", which reaches {reached} of {many} systems ({told})"
    oracles = [one.best_that_sees("own references") for one in gamed]
    if found := [f"{one.score:.2f}" for one in oracles if one is not None]:
        said += f"; garbled references of the item itself would score {listed(found)}"
    return f"{said}."


def _called(attack: AttackScore) -> str:
    """The attack with its text, where that is one; or with its form."""
    if len(set(attack.texts)) <= 2:
        return f"{attack.attack} {_quoted(attack.texts[0])}"
    return f"{attack.attack} ({' / '.join(attack.forms)})"


def _quoted(text: str) -> str:
    return f"“{shortened(visible(text), _SHOWN)}”"


def _text(attack: AttackScore) -> str:
    if len(set(attack.texts)) <= 2:
        return " / ".join(_quoted(text) for text in attack.examples)
    return f"{' / '.join(attack.forms)}: {_quoted(attack.texts[0])}"


@dataclass(frozen=True, slots=True)
class GamingAudit(Tabular):
    """How far each of some metrics can be gamed on one study.

    Attributes
    ----------
    metrics : tuple of MetricAudit
    items : int
    dropped : int
        Items without a positive reference, which were left out.
    trials, seed : int
    """

    metrics: tuple[MetricAudit, ...]
    items: int
    dropped: int
    trials: int
    seed: int

    def most_exploitable(self) -> MetricAudit:
        """The metric whose best attack reaches most systems, and comes nearest to the best."""
        return max(self.metrics, key=lambda one: (one.exploitability, self._nearness(one)))

    @staticmethod
    def _nearness(audit: MetricAudit) -> float:
        """The best attack's score as a share of the best system's, whichever way they point."""
        if audit.best_system is None:
            return 0.0
        own, other = audit.best.score, audit.systems[audit.best_system]
        below, above = (own, other) if audit.higher_is_better else (other, own)
        return below / above if above > 0.0 else 0.0

    def sentences(self) -> tuple[str, ...]:
        """Which metrics are gamed most, and the best attack on each; those gamed alike together."""
        alike: dict[str, list[MetricAudit]] = {}
        for one in self.metrics:
            alike.setdefault(one.best.attack, []).append(one)
        each = tuple(map(_sentence, alike.values()))
        if len(self.metrics) == 1 or not self.metrics[0].systems:
            return each
        worst = self.most_exploitable()
        many = len(worst.systems)
        if worst.exploitability == 0.0:
            first = (
                f"No attack that does not know the answers reaches any of {many} systems under "
                f"any metric; it comes nearest under {worst.metric}."
            )
        else:
            together = [
                one.metric
                for one in alike[worst.best.attack]
                if one.exploitability == worst.exploitability
            ]
            are = "is" if len(together) == 1 else "are"
            first = (
                f"{listed(together)} {are} gamed most easily: an attack that does not know the "
                f"answers reaches {worst.beaten(worst.best.score)} of {many} systems."
            )
        return (first, *each)

    def table(self) -> Table:
        """A row for each metric: its best attacks beside its best system."""
        columns = [
            Column("metric"),
            Column("best attack"),
            Column("score", ".2f"),
            Column("reaches"),
            Column("best system"),
            Column("its score", ".2f", key="best_system_score"),
            Column("reference left out", ".2f", key="left_out_reference", drop=3),
            Column("from outputs", ".2f", key="from_outputs", drop=2),
            Column("oracle", ".2f", drop=1),
        ]
        rows = []
        for one in self.metrics:
            outputs, oracle = one.best_that_sees("outputs"), one.best_that_sees("own references")
            rows.append(
                [
                    *(one.metric, one.best.attack, one.best.score),
                    f"{one.beaten(one.best.score)} of {len(one.systems)}",
                    one.best_system,
                    None if one.best_system is None else one.systems[one.best_system],
                    None if one.left_out is None else one.left_out.score,
                    None if outputs is None else outputs.score,
                    None if oracle is None else oracle.score,
                ]
            )
        notes = {
            "best attack": "knows an item's message, and all of other items",
            "reaches": "systems with the same score or a worse one",
            "reference left out": "the original reference as an output, against the others",
            "from outputs": "garbled outputs of systems",
            "oracle": "garbled references of the item itself",
        }
        return Table(columns, rows, notes=notes)

    def tables(self) -> tuple[Table, ...]:
        """The summary, and every attack on each metric."""
        return (self.table(), *(one.table() for one in self.metrics))

    def tidy_table(self) -> Table:
        """All systems and attacks of all metrics, one a row."""
        rows = [
            [one.metric, kind, name, score, text]
            for one in self.metrics
            for kind, name, score, text in one.rows()
        ]
        return Table(("metric", "kind", "output", "score", "says"), rows)

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {
            "verdict": list(self.sentences()),
            "items": self.items,
            "dropped": self.dropped,
            "trials": self.trials,
            "seed": self.seed,
            "metrics": [_record(one) for one in self.metrics],
        }


def _record(audit: MetricAudit) -> dict[str, Any]:
    return {
        "metric": audit.metric,
        "higher_is_better": audit.higher_is_better,
        "exploitability": audit.exploitability if audit.systems else None,
        "best_attack": audit.best.attack,
        "systems": dict(audit.systems),
        "left_out_reference": audit.left_out,
        "attacks": [
            {
                "attack": one.attack,
                "sees": one.sees,
                "score": one.score,
                "reaches": audit.beaten(one.score),
                "forms": one.forms,
                "examples": one.examples,
            }
            for one in audit.attacks
        ],
        "missing": dict(audit.missing),
    }
