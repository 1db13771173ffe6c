"""`deltableu tune rerank`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output
from deltableu.cli.output import Format
from deltableu.cli.response_files import (
    check_response_files,
    give_responses,
    note_tuned_on,
    read_asked_items,
    study_inputs,
)
from deltableu.corpus import Item, merge_nbest, read_nbest, read_tuned_weights
from deltableu.errors import InputError
from deltableu.respond import (
    MESSAGE_FEATURES,
    SYSTEM_TOTAL,
    best_responses,
    with_message_features,
)


@grouped
def rerank(
    *nbest: Path,
    weights: Path,
    output: Annotated[Path, Output],
    study: Path | None = None,
    nbest_output: Path | None = None,
    allow_empty: Annotated[bool, Flag] = False,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Choose the best candidate of each item by weighted features.

    deltableu tune rerank NBEST --weights weights.json -o STUDY/outputs/tuned.jsonl.

    Parameters
    ----------
    nbest
        N-best lists: .jsonl with id, text and features, or Moses' form. Several are put together.
    weights
        What deltableu tune mert wrote, or JSON with a weight of every feature.
    output
        A file of outputs that ends in .jsonl, .tsv, .parquet or .txt, or - for JSON Lines on
        standard output.
    study
        A folder with items, or a file of them: needed where the lists number the items that have
        ids, and where weights are of features of candidates and messages.
    nbest_output
        Also write all candidates with their new totals to this file: .jsonl, or else Moses' form.
    allow_empty
        Take candidates without a text; otherwise they are an error.
    replace
        Put the new files in the place of old ones.
    format
        How the summary is printed.
    """
    if not nbest:
        raise InputError("name at least one file of n-best lists")
    read = [*study_inputs(study), *nbest, weights]
    check_response_files(output, nbest_output, study, read, replace)
    items: Sequence[Item] | None = None if study is None else read_asked_items(str(study))
    ids = None if items is None else [item.id for item in items]
    chosen, tuned_on = read_tuned_weights(weights)
    lists = merge_nbest(
        [read_nbest(one, item_ids=ids, complete=False, allow_empty=allow_empty) for one in nbest]
    )
    lost = [name for name in (*MESSAGE_FEATURES, SYSTEM_TOTAL) if name in chosen]
    lost = [name for name in lost if name not in lists.names]
    if lost and items is None:
        raise InputError(
            f"{weights}: has a weight of {lost[0]}, which the lists lack: name the --study whose "
            "messages the candidates answer"
        )
    note_tuned_on(weights, tuned_on, lists, items or ())
    if items is None:
        items = tuple(Item(id, ()) for id in lists.item_ids)
    elif lost:
        lists = with_message_features(lists, items)
    responses = best_responses(lists, items, chosen)
    give_responses(responses, output, nbest_output, format)
