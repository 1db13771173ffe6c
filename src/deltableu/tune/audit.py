"""How far a metric can be gamed: a study and metrics in, the best degenerate outputs out."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deltableu._types import Array, Ints, Progress
from deltableu.corpus import ReferenceSet, Study, reference_set
from deltableu.errors import InputError, check_at_least
from deltableu.score import Metric, lacking_weights, make_metrics
from deltableu.tune.audit_attacks import ATTACKS, Attack, Attempt, Round, Target
from deltableu.tune.audit_material import Material
from deltableu.tune.audit_results import AttackScore, GamingAudit, LeftOutReference, MetricAudit

#: Items below which halves are too small to tune an attack on.
_FEWEST = 4


def audit_metrics(
    study: Study | ReferenceSet,
    metrics: Sequence[str | Metric] = ("bleu",),
    *,
    outputs: Mapping[str, Sequence[str]] | None = None,
    trials: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
) -> GamingAudit:
    """Search for outputs that are no answers, and see how a metric scores them.

    Attacks know the metric and may ask it for scores. Most know nothing of an item but its message:
    they are tuned on one half of the items, with all that the study has of these, and answer the
    other half. Two kinds know more, and are listed apart: those that garble what systems said to
    the item, and the oracle, which garbles the item's own references.

    Parameters
    ----------
    study
        Items with references, and outputs of systems to compare attacks with.
    metrics
        Names, or metrics.
    outputs
        Of systems, in the order of the items; by default the study's.
    trials
        How many texts a search may score.
    seed
        Of all that is drawn.
    progress : callable, optional
        Called with (what is done, done, in all).

    Examples
    --------
    >>> from deltableu.corpus import ReferenceSet
    >>> texts = ["I do not know", "yes I do", "I do not think so", "no I do not", "you do not"]
    >>> references = ReferenceSet([[text] for text in texts])
    >>> found = audit_metrics(references, ["bleu-1"], outputs={"sys": ["well"] * 5}, trials=30)
    >>> found.metrics[0].best.score > found.metrics[0].systems["sys"]
    True
    """
    references = study if isinstance(study, ReferenceSet) else reference_set(study)
    given = outputs
    if given is None:
        given = study.outputs if isinstance(study, Study) else {}
    check_at_least("trials", trials, 1)
    check_at_least("seed", seed, 0)
    chosen = [one for one in metrics if isinstance(one, Metric)]
    names = [one for one in metrics if isinstance(one, str)]
    chosen += make_metrics(names, {}) if names else ()
    for name, texts in given.items():
        if len(texts) != len(references):
            raise InputError(
                f"{name} has {len(texts)} outputs for {len(references)} items: give one for each"
            )
    chosen = [metric.fitted_to(references) for metric in chosen]
    kept = _with_positive(chosen, references)
    dropped = len(references) - len(kept)
    if len(kept) < _FEWEST:
        raise InputError(
            f"an audit needs {_FEWEST} items, so that attacks can be tuned on others than they "
            f"answer; there are {len(kept)}"
        )
    if dropped:
        references = references.take(kept)
        given = {name: [texts[place] for place in kept] for name, texts in given.items()}
    material = Material(references, given)
    halves = np.array_split(np.random.default_rng(seed).permutation(len(references)), 2)
    found = []
    for number, metric in enumerate(chosen):
        if progress is not None:
            progress("attacking", number * len(ATTACKS), len(chosen) * len(ATTACKS))
        told = None if progress is None else _Told(progress, number, len(chosen))
        audit = _Audit(metric, material, [np.sort(half) for half in halves], trials, seed)
        found.append(audit(told))
    return GamingAudit(tuple(found), len(references), dropped, trials, seed)


class _Told:
    """Tells how far it is, attack by attack."""

    def __init__(self, progress: Progress, number: int, metrics: int) -> None:
        self._progress, self._first = progress, number * len(ATTACKS)
        self._total = metrics * len(ATTACKS)

    def __call__(self, done: int) -> None:
        self._progress("attacking", self._first + done, self._total)


def _with_positive(metrics: Sequence[Metric], references: ReferenceSet) -> list[int]:
    """Items that all of the metrics can score."""
    dropped: set[int] = set()
    for metric in metrics:
        if "weights" in metric.needs:
            seen = metric.prepare_references(references)
            if seen.weights is None:
                raise lacking_weights(metric.name)
            dropped.update(seen.without_positive())
    return [place for place in range(len(references)) if place not in dropped]


class _Items(Target):
    """A metric on some of the items."""

    def __init__(self, metric: Metric, references: ReferenceSet, places: Ints) -> None:
        self.metric, self.places = metric, places
        self._encoded: Any = metric.encode(references.take(places.tolist()), threads=1)
        self._sign = 1.0 if metric.higher_is_better else -1.0

    def score(self, texts: Sequence[str]) -> float:
        found = self.metric.statistics(list(texts), self._encoded, threads=1).score().score
        return self._sign * found if np.isfinite(found) else -np.inf

    def item_scores(self, texts: Sequence[str]) -> Array | None:
        if not self.metric.has_segments:
            return None
        rows = self.metric.statistics(list(texts), self._encoded, threads=1)
        return self._sign * rows.segment_scores()


class _Audit:
    """All attacks on one metric."""

    def __init__(
        self,
        metric: Metric,
        material: Material,
        halves: Sequence[Ints],
        trials: int,
        seed: int,
    ) -> None:
        self.metric = metric.for_outputs(material.references, material.outputs)
        self.material, self.trials, self.seed = material, trials, seed
        self.everything = _Items(
            self.metric, material.references, np.arange(len(material.references))
        )
        self.halves = [_Items(self.metric, material.references, half) for half in halves]

    def __call__(self, told: _Told | None) -> MetricAudit:
        systems = {
            name: self._shown(self.everything.score(texts))
            for name, texts in self.material.outputs.items()
        }
        attacks, missing = [], {}
        for number, attack in enumerate(ATTACKS):
            lost = attack.missing(self.material)
            if lost:
                missing[attack.name] = lost
            else:
                attacks.append(self._attacked(attack))
            if told is not None:
                told(number + 1)
        return MetricAudit(
            self.metric.name,
            self.metric.higher_is_better,
            systems,
            self._left_out(),
            tuple(attacks),
            missing,
        )

    def _shown(self, score: float) -> float:
        return score if self.metric.higher_is_better else -score

    def _attacked(self, attack: Attack) -> AttackScore:
        """Each half answered by what was found on the other."""
        texts = [""] * len(self.material.references)
        attempts: list[Attempt] = []
        for number, (known, asked) in enumerate((self.halves, self.halves[::-1])):
            rng = np.random.default_rng((self.seed, number, zlib.crc32(attack.name.encode())))
            found = attack.attempt(Round(self.material, known, asked, self.trials, rng))
            attempts.append(found)
            for place, text in zip(asked.places.tolist(), found.texts, strict=True):
                texts[place] = text
        forms = tuple(dict.fromkeys(one.form for one in attempts))
        score = self._shown(self.everything.score(texts))
        return AttackScore(attack.name, attack.sees, attack.summary, score, forms, tuple(texts))

    def _left_out(self) -> LeftOutReference | None:
        """The original reference of each item as an output, scored against the others."""
        references = self.material.references
        originals = [row[0] for row in references.single()]
        others = [
            [place for place in range(len(row)) if place != original]
            for row, original in zip(references.texts, originals, strict=True)
        ]
        kept = [item for item, row in enumerate(others) if row]
        if not kept or "references" not in self.metric.needs:
            return None
        rest = references.take(kept).keep([others[item] for item in kept], "without the original")
        if "weights" in self.metric.needs:
            lost = set(self.metric.prepare_references(rest).without_positive())
            places = [place for place in range(len(kept)) if place not in lost]
            kept, rest = [kept[place] for place in places], rest.take(places)
        if not kept:
            return None
        texts = [references.texts[item][originals[item]] for item in kept]
        target = _Items(self.metric, rest, np.arange(len(kept)))
        return LeftOutReference(self._shown(target.score(texts)), len(kept))
