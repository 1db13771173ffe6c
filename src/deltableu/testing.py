"""Helpers for other people's tests: `assert_not_worse`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deltableu.compare import Gate, GateMode
    from deltableu.corpus import ReferenceSet
    from deltableu.score import Metric

__all__ = ["assert_not_worse"]

#: One text per item, or the file that holds them.
Texts = Sequence[str] | str | PathLike[str]


def assert_not_worse(
    hypotheses: Texts,
    baseline: Texts,
    references: Sequence[Sequence[str]] | Sequence[PathLike[str]] | ReferenceSet | None = None,
    weights: Sequence[Sequence[float | None]] | str | PathLike[str] | None = None,
    *,
    study: str | PathLike[str] | None = None,
    metric: str | Metric | None = None,
    margin: float = 0.0,
    mode: GateMode = "worse",
    significance: float = 0.05,
    groups: Sequence[str] | None = None,
    rng: int = 0,
) -> Gate:
    """Raise an AssertionError if outputs are significantly worse than those of a baseline.

    It says what `deltableu gate` says, and does what it does: a score that cannot be tested fails.

    Parameters
    ----------
    hypotheses, baseline : list of str, or path
        One text per item; or a file with one text per line; or, with `study`, the name of a system.
    references : list of lists of str, list of paths, or ReferenceSet
        The references of every item; or files with one reference per line.
    weights : list of lists of float, or path, optional
        In [-1, 1], in the shape of the references.
    study : path, optional
        A study folder, in place of references and weights.
    metric : str or Metric, optional
        By default delta-bleu of order 2 where there are weights, else bleu.
    margin : float
        How many points of the metric do not matter.
    mode : {"worse", "non-inferior", "equivalent"}
        See `GatePlan`.
    significance : float
        The chance that equal systems fail (mode worse), or that worse ones pass.
    groups : list of str, optional
        What each item belongs to, such as a dialogue.
    rng : int
        Seed.

    Returns
    -------
    Gate

    Examples
    --------
    >>> references = [[f"it is {n} miles to town"] for n in range(20)]
    >>> old = [f"it is {n} miles to the town" for n in range(20)]
    >>> assert_not_worse(old, old, references, metric="chrf").passed
    True
    >>> new = [text[: 9 + n % 3] for n, text in enumerate(old)]
    >>> assert_not_worse(new, old, references, metric="chrf")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: hypotheses fails: worse than baseline by ...
    """
    # Imported here, so that collecting tests does not wait for numpy.
    from deltableu.compare import GatePlan, gate_systems, testable
    from deltableu.errors import InputError
    from deltableu.score import Scoring, make_metrics, score_systems

    plan = GatePlan(mode=mode, margin=margin, significance=float(significance), seed=rng)
    names = ("hypotheses", "baseline")
    if study is not None:
        if references is not None or weights is not None:
            raise InputError("give references, or a study that has them; not both")
        known, outputs, names = _from_study(study, hypotheses, baseline)
    else:
        if references is None:
            raise InputError("give references, or a study that has them")
        known, outputs = _from_texts(hypotheses, baseline, references, weights)
    if metric is None:
        metric = "bleu" if known.weights is None else "delta-bleu"
    chosen = make_metrics([metric], {}) if isinstance(metric, str) else (metric,)

    def scored(metrics: Sequence[Metric]) -> Scoring:
        return score_systems(known, outputs, metrics, groups=groups)

    source, _ = testable(scored, chosen)
    gate = gate_systems(source, baseline=names[1], runs="off", plan=plan)
    if not gate.passed:
        raise AssertionError(" ".join(gate.sentences()))
    return gate


def _from_study(
    path: str | PathLike[str], hypotheses: Texts, baseline: Texts
) -> tuple[ReferenceSet, Mapping[str, Sequence[str]], tuple[str, str]]:
    from deltableu.corpus import read_study, reference_set
    from deltableu.errors import InputError

    if not isinstance(hypotheses, str) or not isinstance(baseline, str):
        raise InputError("with a study, hypotheses and baseline are names of its systems")
    names = (hypotheses, baseline)
    study = read_study(path, ratings=False, systems=names)
    return reference_set(study), {name: study.outputs[name] for name in names}, names


def _from_texts(
    hypotheses: Texts,
    baseline: Texts,
    references: Sequence[Sequence[str]] | Sequence[PathLike[str]] | ReferenceSet,
    weights: Sequence[Sequence[float | None]] | str | PathLike[str] | None,
) -> tuple[ReferenceSet, Mapping[str, Sequence[str]]]:
    from deltableu.corpus import ReferenceSet, read_plain, reference_set
    from deltableu.errors import InputError
    from deltableu.io import PathLike as AnyPath

    outputs = {"hypotheses": _texts(hypotheses), "baseline": _texts(baseline)}
    if isinstance(references, ReferenceSet):
        return references, outputs
    files = [one for one in references if isinstance(one, str | PathLike)]
    if files:
        if len(files) < len(references):
            raise InputError("references must be lists of texts, or files; not both")
        if weights is not None and not isinstance(weights, str | PathLike):
            raise InputError("weights of reference files must be a file too")
        paths: list[AnyPath] = list(files)
        return reference_set(read_plain(paths, weights)), outputs
    if isinstance(weights, str | PathLike):
        raise InputError("a file of weights goes with files of references")
    texts = [[str(text) for text in some] for some in references if not isinstance(some, PathLike)]
    return ReferenceSet(texts, weights), outputs


def _texts(given: Texts) -> Sequence[str]:
    from deltableu.io import read_lines

    if isinstance(given, str | PathLike):
        return [line for _, line in read_lines(given)]
    return list(given)
