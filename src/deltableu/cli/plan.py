"""`deltableu plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deltableu.cli.inputs import check_outputs, check_results, read_people
from deltableu.cli.metric_options import NgramOptions, noted_metrics
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import (
    Digits,
    Flag,
    Output,
    Positive,
    Several,
    Signatures,
    Whole,
    subcommands,
    unused,
)
from deltableu.cli.output import Format, emit, note_groups, note_left_out
from deltableu.cli.plot_files import check_plot, write_plot
from deltableu.cli.progress import ProgressBar
from deltableu.compare import plan_comparison
from deltableu.corpus import item_groups
from deltableu.errors import InputError
from deltableu.io import as_record, named_columns
from deltableu.report import power_plot, verdict

plan = subcommands("plan", "Say how large a study must be.")

plan.command("deltableu.cli.plan_rate:rate", name="rate", help="Say what to rate next, or to stop.")

_DEFAULTS = NgramOptions()


@plan.command
@grouped
def compare(
    study: Path,
    *,
    systems: Annotated[list[str], Several],
    metric: str | None = None,
    options: NgramOptions = _DEFAULTS,
    difference: float | None = None,
    power: float = 0.8,
    significance: float = 0.05,
    items: Annotated[list[str] | None, Several] = None,
    references: Annotated[list[str] | None, Several] = None,
    raters: Annotated[list[str] | None, Several] = None,
    criterion: str | None = None,
    columns: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    group: str | None = None,
    replicates: Whole = 400,
    seed: Whole = 0,
    plot: Path | None = None,
    format: Format = "table",
    signatures: Signatures = False,
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
    threads: Positive | None = None,
) -> None:
    """Say how many items, references and raters a comparison of two systems needs.

    Studies of many sizes are simulated from a pilot study and tested; the power is the share of
    them that find a significant difference.

    Parameters
    ----------
    study
        The pilot: a study folder.
    systems
        Two of its systems, about as far apart as those to be compared.
    metric
        One that `deltableu metrics` lists; by default delta-bleu-2 where the references have
        weights, else bleu-4.
    difference
        The difference in score to be detected, up to the pilot's, which is the default.
    power
        How likely it is to be found.
    significance
        p-values below it are significant.
    items
        Numbers of items to try; by default around what a normal approximation needs.
    references
        Numbers of references per item to try; all is as many as there are.
    raters
        Numbers of raters per reference to try; all takes the weights as they are.
    criterion
        Which ratings of references; may be left out where there is one.
    columns
        What the ratings call their columns: rater=annotator,value=score.
    drop_failed
        Leave out raters who fail deltableu rate check; weights that are means of ratings become
        those of the others.
    group
        A field of the items' meta that names what they belong to (a document, a dialogue, a user):
        whole groups are then drawn, and --items are numbers of groups.
    replicates
        Simulated studies of each sort.
    seed
        Seed of everything random.
    plot
        Draw the curves here: a name that ends in .svg or .png.
    format
        How results are printed.
    signatures
        Spell out the signatures of metrics, which otherwise are hashes of eight digits.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    threads
        For preparing references: all cores by default; no result depends on it.
    """
    form = check_plot(plot, output, [study])
    check_results(output, [study])
    if raters is None:
        unused("no numbers of --raters", criterion=(criterion, None))
    if raters is None and not drop_failed:
        unused("no numbers of --raters", columns=(columns, None))
    mapped = named_columns(columns, "rater=annotator,value=score")
    sizes = None if items is None else [_whole(text, "--items") for text in items]
    wanted = _numbers(references, "--references")
    rater_counts = _numbers(raters, "--raters")
    data = read_people(study, ratings=raters is not None, drop_failed=drop_failed, columns=mapped)
    check_outputs(data, study)
    rated = any(one.weight is not None for item in data.items for one in item.references)
    name = metric or ("delta-bleu" if rated else "bleu")
    (chosen,) = noted_metrics([name], options.changed())
    with ProgressBar() as progress:
        found = plan_comparison(
            data,
            systems,
            chosen,
            difference=difference,
            power=power,
            significance=significance,
            items=sizes,
            references=wanted,
            raters=rater_counts,
            criterion=criterion,
            groups=None if group is None else item_groups(data, group),
            replicates=replicates,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    note_left_out(len(found.dropped), len(data.items))
    note_groups(data.items, group)
    if plot is not None and form is not None:
        write_plot(plot, power_plot(found, form))
    said = verdict(found)
    record = {**as_record(found), "verdict": list(said)}
    table = found.table(digits=digits)
    emit(table, record, format, output, verdict=said, signatures=signatures)


def _numbers(texts: list[str] | None, option: str) -> list[int | None]:
    """Whole numbers; `all` is None."""
    if texts is None:
        return [None]
    if not texts:
        raise InputError(f"{option} names no number")
    return [None if text == "all" else _whole(text, option, " or all") for text in texts]


def _whole(text: str, option: str, more: str = "") -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{option} takes whole numbers{more}, got {text!r}") from None
