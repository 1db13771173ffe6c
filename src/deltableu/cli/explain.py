"""`deltableu explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from deltableu.cli.explain_examples import NOTHING_LEFT, show_examples
from deltableu.cli.explain_pool import is_soft, show_pool
from deltableu.cli.inputs import check_outputs, check_results, read_people
from deltableu.cli.metric_options import SoftOptions, fitted_metrics
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Positive, Signatures, unused
from deltableu.cli.output import Format, note_left_out, print_parts, terminal_width, write_page
from deltableu.corpus import Item, ReferenceSet, Study, reference_set
from deltableu.errors import InputError, hint_at
from deltableu.io import Own, short_signatures
from deltableu.report import Case, explain_page, explained_case, terminal_view
from deltableu.score import (
    BLEU,
    DeltaBLEU,
    Statistics,
    make_metrics,
    metric_name,
    rank_items,
)

_DEFAULTS = SoftOptions()
_METRICS = (DeltaBLEU.family, BLEU.family)


@grouped
def explain(
    study: Path,
    *,
    system: str | None = None,
    item: str | None = None,
    worst: Positive | None = None,
    best: Positive | None = None,
    examples: Positive | None = None,
    against: str | None = None,
    metric: str | None = None,
    judge: str | None = None,
    options: SoftOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    criterion: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    html: Path | None = None,
    output: Annotated[Path | None, Output] = None,
    format: Format | None = None,
    signatures: Signatures = False,
) -> None:
    """Show why a response scored as it did, n-gram by n-gram or reference by reference.

    Which words and phrases earned credit or cost, from which reference, with which weight and
    clip; and what the corpus score would be without the item. Of soft metrics: which references
    carry the score, and what it loses without each word. Or, with --examples, a table of a few
    items as papers have it: weighted references, the output, how people rated it, and its scores.

    Parameters
    ----------
    study
        The folder.
    system
        Whose responses; with --examples, by default those of the best rated system that is not
        human.
    item
        The id of the item to explain.
    worst
        Explain this many of the system's worst items; without --item and --best, the worst one.
    best
        Explain this many of its best items.
    examples
        Show this many items over the whole range of how people rated the system's outputs, chosen
        without regard to any metric; all scores go from 0 to 1.
    against
        Another system, shown beside it on the same items.
    metric
        delta-bleu or bleu, perhaps with an order (bleu-2), or a soft metric such as soft-cosine; by
        default delta-bleu-2 where the references have weights, else bleu-4. With --examples also
        upsilon-bleu, and without any smoothing unless it is asked for.
    judge
        Model that rates all references for the examples' upsilon-bleu: a file from `deltableu judge
        train`, or the name of an installed one. By default their weights are used.
    select
        Which references count: all, single (the original) or a threshold such as "w>=0.6".
    no_positive
        Items without a positively weighted reference are an error, or left out everywhere.
    criterion
        Which ratings of outputs the examples show; may be left out where there is one.
    drop_failed
        Leave out raters who fail deltableu rate check; weights that are means of ratings become
        those of the others.
    html
        Write one self-contained HTML page here instead of printing; - is standard output.
    output
        The same; with --format or a soft metric, where the tables go in that format.
    format
        How examples and soft metrics are printed; by default as a table.
    signatures
        Spell out the metric's signature, which otherwise is a hash of eight digits; pages have it
        in full.
    """
    choices = {"--item": item, "--worst": worst, "--best": best, "--examples": examples}
    given = [name for name, value in choices.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} exclude each other: give one of them")
    if html is not None and (output is not None or format is not None):
        other = "--format" if output is None else "--output"
        raise InputError(f"--html and {other} exclude each other: give one of them")
    changed = options.changed()
    if examples is not None:
        unused("--examples", against=(against, None))
        show_examples(
            study,
            number=examples,
            system=system,
            metric=metric,
            judge=judge,
            settings=changed,
            select=select,
            no_positive=no_positive,
            criterion=criterion,
            drop_failed=drop_failed,
            page=html if format is not None or html is not None else output,
            output=output,
            format=format or "table",
            signatures=signatures,
        )
        return
    if metric is not None and is_soft(metric):
        unused("a soft metric", against=(against, None), html=(html, None))
        unused("a soft metric", judge=(judge, None), criterion=(criterion, None))
        show_pool(
            study,
            system=system,
            item=item,
            worst=worst,
            best=best,
            metric=metric,
            settings=changed,
            select=select,
            no_positive=no_positive,
            drop_failed=drop_failed,
            output=output,
            format=format or "table",
            signatures=signatures,
        )
        return
    unused(
        "an explanation word by word: add --examples",
        judge=(judge, None),
        criterion=(criterion, None),
        format=(format, None),
    )
    if system is None:
        raise InputError("--system is missing: name the system whose responses to explain")
    if metric is not None:
        _metric(metric, changed)
    html = html or output
    check_results(html, [study], Own.PAGE)
    data = read_people(study, ratings=False, drop_failed=drop_failed)
    systems = [system] if against is None else [system, against]
    check_outputs(data, study, systems)
    if system == against:
        raise InputError(f"--against needs another system than {system!r}")
    references = reference_set(data)
    name = metric or ("bleu" if references.weights is None else "delta-bleu")
    (fitted,) = fitted_metrics([_metric(name, changed)], references)
    chosen = cast(BLEU, fitted)
    scored = _score(data, references, systems, chosen, select, no_positive)
    note_left_out(len(scored.dropped), len(data.items))
    indices, ranking = scored.choose(study, item, worst, best)
    cases = [scored.case(index) for index in indices]
    heading = f"{' against '.join(systems)}, {chosen.name}{ranking and ': '}{ranking}"
    signature = str(scored.rows[system].score().signature)
    if html is None:
        width = terminal_width() or 10_000
        last = signature if signatures else f"sig: {short_signatures({chosen.name: signature})}"
        print_parts(terminal_view(cases, heading, last, width=width))
        return
    page = explain_page(f"Why {system} scored as it did", cases, heading, signature)
    write_page(page, html)


@dataclass(frozen=True, slots=True)
class _Scored:
    """Systems scored on the items that could be, and what explaining one of these needs."""

    items: tuple[Item, ...]
    dropped: tuple[str, ...]
    references: ReferenceSet
    outputs: Mapping[str, Sequence[str]]
    rows: Mapping[str, Statistics]

    def choose(
        self, study: Path, item: str | None, worst: int | None, best: int | None
    ) -> tuple[list[int], str]:
        """The items to show, and in words how they were found."""
        if item is not None:
            ids = [one.id for one in self.items]
            if item in self.dropped:
                raise InputError(f"item {item!r} was left out: it has no positive reference")
            if item not in ids:
                meant = hint_at(item, ids)
                some = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
                raise InputError(f"{study}: there is no item {item!r}; it has {some}{meant}")
            return [ids.index(item)], ""
        end: Literal["worst", "best"] = "worst" if best is None else "best"
        ranking = rank_items(next(iter(self.rows.values())), end)
        count = (worst or 1) if best is None else best
        shown = min(count, len(self.items))
        which = end if shown == 1 else f"{shown} {end}"
        rule = f"the {which} of {len(self.items)} items, ranked by {ranking.rule}"
        return list(ranking.indices[:count]), rule

    def case(self, index: int) -> Case:
        """One item with the answers of all systems."""
        return explained_case(self.references, index, self.outputs, self.rows)


def _metric(name: str, settings: Mapping[str, Any]) -> BLEU:
    if metric_name(name) not in _METRICS:
        meant = hint_at(name, _METRICS)
        known = f"{', '.join(_METRICS)} or a soft metric"
        raise InputError(f"{name!r} cannot be explained; choose from {known}{meant}")
    (made,) = make_metrics([name], settings)
    return cast(BLEU, made)


def _score(
    study: Study,
    references: ReferenceSet,
    systems: Sequence[str],
    metric: BLEU,
    select: str,
    no_positive: Literal["error", "skip"],
) -> _Scored:
    chosen = references.select(select)
    dropped = set(chosen.without_positive()) if no_positive == "skip" else set()
    kept = [index for index in range(len(study.items)) if index not in dropped]
    if not kept:
        raise InputError(NOTHING_LEFT)
    chosen = chosen.take(kept)
    outputs = {name: [study.outputs[name][index] for index in kept] for name in systems}
    encoded = metric.encode(chosen)
    return _Scored(
        items=tuple(study.items[index] for index in kept),
        dropped=tuple(study.items[index].id for index in sorted(dropped)),
        references=chosen,
        outputs=outputs,
        rows={name: metric.statistics(texts, encoded) for name, texts in outputs.items()},
    )
