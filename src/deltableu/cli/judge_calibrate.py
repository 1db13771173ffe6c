"""`deltableu judge calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Whole
from deltableu.cli.output import Format, emit
from deltableu.corpus import read_study, reference_set
from deltableu.io import Own, check_new_file
from deltableu.judges import SCR, write_calibration


@grouped
def calibrate(
    study: Path,
    *,
    output: Annotated[Path | None, Output] = None,
    relevance: str | None = None,
    encoder: str | None = None,
    vectors: str | None = None,
    negatives: Literal["use", "ignore"] = "use",
    tau: float | None = None,
    seed: Whole = 0,
    select: str = "all",
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Learn from a study's references what each similarity counts in scr.

    deltableu judge calibrate STUDY -o calibration.json; then score any study with --metrics scr
    --calibration calibration.json, and scores of different studies are on one scale. No output and
    no rating of one is looked at.

    Parameters
    ----------
    study
        A folder with items, or its file of items.
    output
        Where to keep the calibration, as JSON; without it, it is only shown.
    relevance
        A file from deltableu judge train --kind relevance, if relevance to the message is to count.
    encoder
        What makes the vectors: wordllama (the default), sentence-transformers:MODEL, a file of word
        vectors, or a function of a list of texts as package.module:function.
    vectors
        File of word vectors for the alignment, in GloVe's text format.
    negatives
        Whether references with negative weights count.
    tau
        How far below the best a reference may lie and still count; by default 0.1.
    seed
        Seed of everything that is drawn.
    select
        Which references count: all, or a threshold such as "w>=0.6".
    replace
        Put the new calibration in the place of an old one.
    format
        How the coefficients are printed.
    """
    if output is not None:
        check_new_file(output, [study], own=Own.CALIBRATION, replace=replace)
    given = {"relevance": relevance, "encoder": encoder, "vectors": vectors, "tau": tau}
    settings: dict[str, Any] = {name: one for name, one in given.items() if one is not None}
    metric = SCR(negatives=negatives, seed=seed, **settings)
    references = reference_set(read_study(study, ratings=False)).select(select)
    found = metric.calibrate(references)
    if output is not None:
        write_calibration(output, found)
    emit(found.tables(), found, format, tidy=found.tidy_table())
