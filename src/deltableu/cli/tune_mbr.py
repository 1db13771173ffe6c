"""`deltableu tune mbr`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.metric_options import MetricOptions, noted_metrics
from deltableu.cli.option_groups import METHOD, grouped
from deltableu.cli.options import STANDARD_INPUT, Flag, Output, Positive
from deltableu.cli.output import Format, emit
from deltableu.cli.progress import ProgressBar
from deltableu.cli.response_files import (
    check_outputs_file,
    read_asked_items,
    study_inputs,
    write_texts,
)
from deltableu.corpus import NBestLists, read_nbest
from deltableu.errors import InputError
from deltableu.tune import MBRPlan, minimum_bayes_risk, utility_name

_METRICS = MetricOptions()


@Parameter(name="*", group=METHOD)
@dataclass(frozen=True, kw_only=True)
class MBROptions:
    """How candidates are weighed and compared.

    Parameters
    ----------
    probabilities
        How probable candidates are: uniform (as samples are, the default), total, or the name of a
        feature that is a log-probability.
    scale
        What totals or features are multiplied by before the softmax; 1 by default.
    aggregate
        Compare each candidate with the expected n-gram counts of all (BLEU and chrF), which takes
        time that grows with the number of candidates and not with its square.
    compare_exact
        With --aggregate, also choose by all pairs, and say how often the two agree.
    own_reference
        Whether a candidate is compared with itself too (keep, the default) or not (leave, the
        default of metrics with weighted references).
    """

    probabilities: str = "uniform"
    scale: float | None = None
    aggregate: Annotated[bool, Flag] = False
    compare_exact: Annotated[bool, Flag] = False
    own_reference: Literal["default", "keep", "leave"] = "default"

    def plan(self) -> MBRPlan:
        """The same for the library."""
        if self.probabilities == "uniform" and self.scale is not None:
            raise InputError("--scale goes with --probabilities total, or those of a feature")
        if self.compare_exact and not self.aggregate:
            raise InputError("--compare-exact goes with --aggregate: all pairs are exact already")
        return MBRPlan(
            self.probabilities,
            1.0 if self.scale is None else self.scale,
            self.aggregate,
            self.own_reference,
            self.compare_exact,
        )


_CHOICE = MBROptions()


@grouped
def mbr(
    nbest: str,
    *,
    output: Annotated[Path, Output],
    utility: str = "bleu",
    study: str | None = None,
    choice: MBROptions = _CHOICE,
    options: MetricOptions = _METRICS,
    allow_empty: Annotated[bool, Flag] = False,
    replace: Annotated[bool, Flag] = False,
    threads: Positive | None = None,
    format: Format = "table",
) -> None:
    """Choose the candidate most like what else is probable: minimum Bayes risk.

    deltableu tune mbr NBEST -o outputs.jsonl --utility chrf. Each candidate is scored with the
    others as references, weighted by how probable they are.

    Parameters
    ----------
    nbest
        N-best or sampled lists: .jsonl with id, text, features and total, or Moses' form, which is
        also what - reads from standard input. Samples may lack features and totals: id ||| text.
    output
        A file of outputs that ends in .jsonl, .tsv, .parquet or .txt, or - for JSON Lines on
        standard output.
    utility
        The metric that compares candidates; by default bleu, which is smoothed sentence BLEU (see
        --method). delta-bleu takes all other candidates as weighted references at once.
    study
        A study, or a file of items, whose items the lists are about: numbers of lists become its
        ids.
    allow_empty
        Take candidates without a text; otherwise they are an error.
    replace
        Put the new file in the place of an old one.
    threads
        All cores by default; no result depends on it.
    format
        How the summary is printed.
    """
    plan = choice.plan()
    if nbest == study == STANDARD_INPUT:
        raise InputError("NBEST and --study cannot both be standard input: save one of them")
    folder = None if study in (None, STANDARD_INPUT) else Path(str(study))
    given = [Path(one) for one in (nbest, *options.files) if one and one != STANDARD_INPUT]
    check_outputs_file(output, folder, [*study_inputs(folder), *given], replace)
    (metric,) = _metric(utility, options)
    lists = _read_lists(nbest, study, allow_empty)
    with ProgressBar() as bar:
        chosen = minimum_bayes_risk(
            lists,
            metric,
            plan,
            threads=threads,
            progress=lambda done, items: bar("choosing", done, items),
        )
    write_texts(output, lists.item_ids, chosen.texts)
    emit(
        chosen.table(),
        chosen.record(),
        format,
        verdict=chosen.sentences(),
        beside=(output,),
    )


def _metric(utility: str, options: MetricOptions) -> tuple[Any, ...]:
    if len(utility.replace(",", " ").split()) != 1:
        raise InputError(f"--utility takes one metric, got {utility!r}")
    made = replace(options, judge=None).changed()
    if options.judge is not None:
        raise InputError("--judge is of no use here: a judge rates references, not candidates")
    return noted_metrics([utility_name(utility.strip(", "))], made)


def _read_lists(nbest: str, study: str | None, allow_empty: bool) -> NBestLists:
    return read_nbest(
        Path("-" if nbest == STANDARD_INPUT else nbest),
        item_ids=None if study is None else [item.id for item in read_asked_items(study)],
        complete=study is None,
        allow_empty=allow_empty,
        samples=True,
    )
