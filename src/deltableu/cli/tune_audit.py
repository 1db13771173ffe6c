"""`deltableu tune audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deltableu.cli.inputs import check_results, read_inputs
from deltableu.cli.metric_options import MetricOptions
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Output, Positive, Several, Whole
from deltableu.cli.output import Format, emit, note_left_out
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import Missing
from deltableu.tune import audit_metrics

_METRICS = MetricOptions()


@grouped
def audit(
    study: str,
    *,
    metrics: str | None = None,
    systems: Annotated[list[str] | None, Several] = None,
    missing: Missing = "error",
    select: str = "all",
    options: MetricOptions = _METRICS,
    trials: Positive = 200,
    seed: Whole = 0,
    format: Format = "table",
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Search for degenerate outputs that a metric scores high.

    deltableu tune audit STUDY --metrics delta-bleu,bleu,chrf. What attacks find is shown beside the
    study's systems. They are tuned on one half of the items and answer the other; only the oracle
    sees an item's own references.

    Parameters
    ----------
    study
        A folder with items and outputs of systems.
    metrics
        Separated by commas or spaces; `deltableu metrics` lists them. By default
        delta-bleu-2,bleu-2 where the references have weights, else bleu-4.
    systems
        Only these systems of the study.
    missing
        What to do with items for which a system has no output: end with an error, score an empty
        text, or drop the item for all systems.
    select
        Which references count: all, single (the original) or a threshold such as "w>=0.6".
    trials
        How many texts each search may score, for each half of the items.
    seed
        Seed of all that is drawn.
    format
        How results are printed.
    output
        Write to this file.
    """
    inputs = read_inputs((study,), None, None, systems, missing)
    references = inputs.references.select(select)
    chosen = options.make(metrics, inputs.references)
    check_results(output, (study, *options.files))
    with ProgressBar() as bar:
        found = audit_metrics(
            references, chosen, outputs=inputs.outputs, trials=trials, seed=seed, progress=bar
        )
    note_left_out(found.dropped, found.dropped + found.items)
    emit(
        found.tables(),
        found.record(),
        format,
        output,
        verdict=found.sentences(),
        tidy=found.tidy_table(),
    )
