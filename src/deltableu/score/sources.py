"""What callers have (frames, dicts, lists, a study or its folder) in; what scoring takes out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from deltableu.corpus import RatingTable, ReferenceSet, Study, read_study, reference_set, with_runs
from deltableu.errors import InputError, check_kind, check_known
from deltableu.io import is_frame, is_table, table_records
from deltableu.score.engine.inputs import as_list, as_reference_set
from deltableu.score.metric import Metric
from deltableu.score.metrics.bleu import BLEU
from deltableu.score.metrics.delta_bleu import DeltaBLEU
from deltableu.score.registry import make_metrics

Columns: TypeAlias = Mapping[str, str | Sequence[str]] | str
Metrics: TypeAlias = str | Metric | Sequence[str | Metric]


@dataclass(frozen=True, slots=True)
class TextSource:
    """References and outputs on the same items, and ratings where there are any."""

    references: ReferenceSet
    outputs: Mapping[str, Sequence[str]]
    ratings: RatingTable | None = None

    def only(self, systems: Sequence[str] | None) -> TextSource:
        """Some of the systems, and their runs."""
        if systems is None:
            return self
        if isinstance(systems, str):
            raise InputError(f"systems must be a list of names, got {systems!r}")
        wanted = with_runs(systems, tuple(self.outputs))
        for name in wanted:
            check_known("system", name, self.outputs)
        return replace(self, outputs={name: self.outputs[name] for name in wanted})


def text_source(
    source: Any,
    *,
    references: Any = None,
    weights: Any = None,
    messages: Any = None,
    columns: Columns | None = None,
) -> TextSource:
    """Read texts from whatever holds them.

    Parameters
    ----------
    source : Study, path, data frame, or mapping of system to texts
        With `references`, the outputs: each system's texts, or one system's. Without, something
        that has references too: a study, its folder, or tables as `study_from` takes them.
    references, weights, messages
        As `deltableu.delta_bleu` and `ibleu` take them.
    columns : mapping or str, optional
        What a table calls its columns, as in `study_from`.
    """
    if references is not None:
        if columns is not None:
            raise InputError("columns goes with a data frame, and references with lists")
        given = as_reference_set(references, weights)
        if messages is not None:
            given = replace(given, messages=tuple(as_list(messages, "messages")))
        outputs = _outputs(source)
        for name, texts in outputs.items():
            _check_length(name, len(texts), given)
        return TextSource(given, outputs)
    for name, value in (("weights", weights), ("messages", messages)):
        if value is not None:
            raise InputError(f"{name} goes with references; a study or table has its own")
    study = _study(source, columns)
    if not study.outputs:
        where = "the study" if study.path is None else str(study.path)
        raise InputError(f"{where} has no outputs of systems to score")
    return TextSource(reference_set(study), study.outputs, study.ratings)


def _study(source: Any, columns: Columns | None) -> Study:
    from deltableu.layouts import study_from

    if isinstance(source, Study):
        _no_columns(columns)
        return source
    if isinstance(source, str | os.PathLike):
        _no_columns(columns)
        if not os.path.isdir(source):
            raise InputError(f"{os.fspath(source)!s:.80}: there is no such study folder or file")
        return read_study(source)
    if is_table(source):
        if isinstance(source, Mapping) and columns is None and not _has_texts(source):
            raise InputError(
                "these are texts of systems, and references are missing: give references=, a list "
                "of texts per item"
            )
        return study_from(source, columns=columns)
    if isinstance(source, list | tuple) and source and all(map(is_frame, source)):
        return study_from(*source, columns=columns)
    raise InputError(
        "give a study, its folder, a data frame, or a mapping of systems to texts with "
        f"references=; got {source!r:.80}"
    )


def _no_columns(columns: Columns | None) -> None:
    if columns is not None:
        raise InputError("columns name those of a data frame, and a study is none")


def _has_texts(table: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a table with outputs, not one of systems."""
    from deltableu.layouts import ColumnMap

    known = ColumnMap().of([str(key) for key in table])
    return "prediction" in known or "outputs" in known


def _check_length(system: str, texts: int, references: ReferenceSet) -> None:
    items = len(references)
    if texts == items:
        return
    message = f"{texts} hypotheses for {items} items: give one for each item"
    if items < texts and all(len(row) == texts for row in references.texts):
        message = (
            f"references holds {items} lists of {texts}, one per reference: it takes a list per "
            f"item, such as list(zip(*references))"
        )
    raise InputError(f"system {system!r}: {message}")


def _outputs(source: Any) -> dict[str, tuple[str, ...]]:
    """Each system's texts."""
    if isinstance(source, str | os.PathLike) or is_frame(source) or isinstance(source, Study):
        raise InputError(
            "references= goes with outputs as lists: a study or table has its references itself"
        )
    given = source if isinstance(source, Mapping) else {"system": source}
    if not given:
        raise InputError("there is nothing to score: no system outputs were given")
    found = {}
    for name, values in given.items():
        if not isinstance(name, str):
            raise InputError(f"names of systems must be strings, got {name!r:.60}")
        what = f"the outputs of system {name!r}" if isinstance(source, Mapping) else "the outputs"
        texts = tuple(as_list(values, what))
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"{what} must be texts, got {text!r:.60} at item {place}")
        found[name] = texts
    return found


def holds_scores(source: Any, columns: Columns | None = None) -> bool:
    """Whether a frame, mapping or list of rows holds scores that are ready, rather than texts.

    The lists of a mapping tell: all numbers, or all texts; a mixture is refused.
    """
    from deltableu.layouts import ColumnMap

    if columns is not None:
        names = ColumnMap.parse(columns).given if isinstance(columns, str) else columns
        check_kind("columns", names, Mapping)
        if {"score", "metrics"} & set(names):
            return True
        if {"prediction", "outputs", "references", "good"} & set(names):
            return False
    there = _names(source)
    known = ColumnMap().of(there)
    if "prediction" in known or "outputs" in known:
        return False
    if "system" in there and "score" in there:
        return True
    if isinstance(source, Mapping):
        kinds = {name: _are_numbers(name, values) for name, values in source.items()}
        if len(set(kinds.values())) > 1:
            first, other = (next(n for n in kinds if kinds[n] is kind) for kind in (True, False))
            raise InputError(
                f"system {first!r} has scores, but system {other!r} has texts: give either for all"
            )
        return all(kinds.values())
    raise InputError(
        f"the table has neither outputs nor scores that are known: its columns are "
        f"{', '.join(there)[:120]}; say which is what with columns="
    )


def _names(source: Any) -> list[str]:
    if isinstance(source, Mapping):
        return [str(key) for key in source]
    return [str(key) for key in next(iter(table_records(source, "the table")), {})]


def _are_numbers(name: object, values: Any) -> bool:
    """Whether a list holds numbers, or what is told to be none later; texts must be all texts."""
    if isinstance(values, str):
        raise InputError(f"the outputs of system {name!r} are one string: give a list, per item")
    if not isinstance(values, list | tuple) and not hasattr(values, "tolist"):
        return True
    cells = values if isinstance(values, list | tuple) else as_list(values, f"system {name!r}")
    texts = [isinstance(one, str) for one in cells]
    if any(texts) and not all(texts):
        place = texts.index(False)
        raise InputError(
            f"system {name!r} has texts, but {cells[place]!r:.40} at item {place}: give a text per "
            "item, with references=, or a number per item"
        )
    return not any(texts) or not texts


def as_metrics(metrics: Metrics | None, references: ReferenceSet) -> tuple[Metric, ...]:
    """Metrics by name or as they are; by default those that suit the references.

    Examples
    --------
    >>> as_metrics(["ter", BLEU(order=2)], ReferenceSet([["yes"]]))
    (TER(lowercase=True), BLEU(order=2))
    """
    if metrics is None:
        return (BLEU(),) if references.weights is None else (DeltaBLEU(), BLEU(order=2))
    if isinstance(metrics, Metric):
        return (metrics,)
    if isinstance(metrics, str):
        metrics = metrics.replace(",", " ").split()
    found: list[Metric] = []
    for one in as_list(metrics, "metrics"):
        if isinstance(one, str):
            found += make_metrics([one], {})
        elif isinstance(one, Metric):
            found.append(one)
        else:
            meant = "; write its name, or make one: BLEU()" if isinstance(one, type) else ""
            raise InputError(f"metrics must be names or metrics, got {one!r:.80}{meant}")
    if not found:
        raise InputError("there is nothing to score with: no metrics were given")
    # A metric that holds a table has no hash.
    return tuple(one for place, one in enumerate(found) if one not in found[:place])
