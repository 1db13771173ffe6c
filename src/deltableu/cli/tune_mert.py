"""`deltableu tune mert`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from deltableu.cli.inputs import read_people
from deltableu.cli.metric_options import TextMetricOptions
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import (
    Digits,
    Flag,
    Output,
    Positive,
    Several,
    Signatures,
    Whole,
    unused,
)
from deltableu.cli.output import Format, emit, note_groups, note_left_out, remark
from deltableu.cli.progress import ProgressBar
from deltableu.cli.response_files import note_tuned_on
from deltableu.corpus import (
    NBestLists,
    Study,
    TunedOn,
    item_groups,
    merge_nbest,
    read_nbest,
    read_tuned_weights,
    reference_set,
    write_feature_weights,
)
from deltableu.errors import InputError
from deltableu.io import as_record, check_new_file
from deltableu.report import verdict
from deltableu.respond import hand_set_weights, with_message_features
from deltableu.tune import (
    MertSettings,
    PerceptronSettings,
    Regularization,
    Tuning,
    tune_weights,
)

_DEFAULTS = TextMetricOptions()
_MERT = MertSettings()
_PERCEPTRON = PerceptronSettings()


@grouped
def mert(
    *nbest: Path,
    study: Path,
    output: Annotated[Path, Output],
    metric: str | None = None,
    held_out: float | None = None,
    held_out_nbest: Annotated[list[Path] | None, Several] = None,
    message_features: Annotated[bool, Flag] = False,
    allow_empty: Annotated[bool, Flag] = False,
    options: TextMetricOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    group: str | None = None,
    start: Path | None = None,
    method: Literal["mert", "perceptron", "splitting"] = "mert",
    restarts: Positive = _MERT.restarts,
    directions: Whole | None = None,
    regularization: Regularization = _MERT.regularization,
    strength: float = _MERT.strength,
    epochs: Positive = _PERCEPTRON.epochs,
    margin: float = _PERCEPTRON.margin,
    seed: Whole = 0,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
    signatures: Signatures = False,
    digits: Digits = 2,
    threads: Positive | None = None,
) -> None:
    """Find weights of features with which the best candidates score best.

    deltableu tune mert NBEST --study STUDY --metric delta-bleu --held-out 0.3 -o weights.json, and
    then deltableu tune rerank. The search is minimum error rate training (Och 2003): from many
    starts, exact along each line.

    Parameters
    ----------
    nbest
        N-best lists: .jsonl with id, text, features and perhaps total, or Moses' form. Lists of
        several iterations are put together.
    study
        A folder with the items and their references.
    output
        A file for the weights, as JSON, or - for standard output.
    metric
        One that `deltableu metrics` lists; by default delta-bleu where the references have weights,
        else bleu.
    held_out
        Share of the items, drawn at random, on which nothing is tuned and the weights are compared.
    held_out_nbest
        Lists of other items of the study in place of a share.
    message_features
        Add how candidates are related to the message they answer: edit distance, cosine, Jaccard
        index, length ratio; and the lists' totals.
    allow_empty
        Take candidates without a text; otherwise they are an error.
    select
        Which references count: all, single (the original) or a threshold such as "w>=0.6".
    no_positive
        Items without a positively weighted reference are an error, or left out.
    group
        A field of the items' meta that names what they belong to (a document, a dialogue, a user):
        whole groups are then held out, and resampled where weights are compared.
    start
        The weights so far, as JSON: those that are compared with. By default 1 for every feature,
        or with --message-features those that are set by hand in deltableu respond.
    method
        mert; or Shen and Joshi's perceptrons: perceptron puts all candidates in order, splitting
        the best above the worst.
    restarts
        Searches: one from the weights so far, the others from random ones.
    directions
        Random directions per sweep, beside that of each feature; by default as many as features.
    regularization
        Make distance from the weights so far cost something: its square (l2), or the sum of all
        changes (l1).
    strength
        Points of score that it costs per unit.
    epochs
        Passes of a perceptron over the items.
    margin
        By how much a perceptron puts better candidates above worse ones.
    seed
        Seed of everything random.
    replace
        Put the new file in the place of an old one.
    format
        How the summary is printed.
    signatures
        Spell out the signature, which otherwise is a hash of eight digits.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    threads
        All cores by default; no result depends on it.
    """
    settings = _settings(method, restarts, directions, regularization, strength, epochs, margin)
    if not nbest:
        raise InputError("name at least one file of n-best lists")
    if held_out is not None and held_out_nbest is not None:
        raise InputError("give --held-out or --held-out-nbest, not both")
    read = [study, *nbest, *(held_out_nbest or ()), *filter(None, (start, *options.files))]
    check_new_file(output, read, replace=replace)
    data = read_people(study, ratings=False, drop_failed=False, systems=())
    lists = _lists(nbest, data, message_features, allow_empty)
    others = None
    if held_out_nbest is not None:
        others = _lists(held_out_nbest, data, message_features, allow_empty)
    began, seen = (None, None) if start is None else read_tuned_weights(start)
    if began is None and message_features:
        began = hand_set_weights(lists)
    references = reference_set(data)
    name = metric or ("bleu" if references.weights is None else "delta-bleu")
    chosen = options.make(name, references)
    if len(chosen) != 1:
        raise InputError(f"--metric takes one metric, got {len(chosen)}")
    with ProgressBar() as progress:
        found = tune_weights(
            lists,
            references.select(select),
            chosen[0],
            start=began,
            settings=settings,
            held_out=held_out if others is None else others,
            groups=None if group is None else item_groups(data, group),
            no_positive=no_positive,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    said = verdict(found)
    used = TunedOn.of(lists.select(_places(lists, found.tuned_on)), data.items)
    if seen is not None:
        used = used.with_those_of(seen)
    write_feature_weights(output, found.weights, _about(found, said, used))
    note_left_out(len(found.dropped), len(data.items))
    if found.held_out is not None:
        note_groups(data.items, group)
    if seen is not None and found.held_out is not None:
        if others is None:
            others = lists.select(_places(lists, found.tuned_on, among=False))
        note_tuned_on(start, seen, others, data.items)
    for text in found.warnings:
        remark(f"warning: {text}")
    record = {**as_record(found), "verdict": list(said)}
    tables = (found.table(digits=digits), found.weights_table())
    emit(tables, record, format, verdict=said, signatures=signatures, beside=(output,))


def _settings(
    method: str,
    restarts: int,
    directions: int | None,
    regularization: Regularization,
    strength: float,
    epochs: int,
    margin: float,
) -> MertSettings | PerceptronSettings:
    """How to search; what the other method takes is an error."""
    if method == "mert":
        unused(
            "--method mert",
            epochs=(epochs, _PERCEPTRON.epochs),
            margin=(margin, _PERCEPTRON.margin),
        )
        if regularization == "none":
            unused("--regularization none", strength=(strength, _MERT.strength))
        return MertSettings(
            restarts=restarts,
            directions=directions,
            regularization=regularization,
            strength=strength,
        )
    unused(
        f"--method {method}",
        restarts=(restarts, _MERT.restarts),
        directions=(directions, None),
        regularization=(regularization, _MERT.regularization),
        strength=(strength, _MERT.strength),
    )
    rule: Literal["ordinal", "splitting"] = "ordinal" if method == "perceptron" else "splitting"
    return PerceptronSettings(rule=rule, margin=margin, epochs=epochs)


def _lists(
    paths: Sequence[Path], study: Study, message_features: bool, allow_empty: bool
) -> NBestLists:
    """The lists of all files together; several must be about the same items."""
    ids = [item.id for item in study.items]
    lists = merge_nbest(
        [read_nbest(one, item_ids=ids, complete=False, allow_empty=allow_empty) for one in paths]
    )
    return with_message_features(lists, study.items) if message_features else lists


def _places(lists: NBestLists, ids: Sequence[str], *, among: bool = True) -> list[int]:
    """The lists of these items, or those of all others."""
    some = frozenset(ids)
    return [place for place, id in enumerate(lists.item_ids) if (id in some) == among]


def _about(found: Tuning, said: Sequence[str], used: TunedOn) -> dict[str, Any]:
    """What stands beside the weights in their file."""
    record = as_record(found)
    kept = ("method", "metric", "start", "training", "held_out", "warnings", "signature")
    about = {name: record[name] for name in kept}
    for name in ("training", "held_out"):
        if about[name] is not None:
            del about[name]["comparisons"]
    return {**about, "verdict": list(said), "tuned_on": as_record(used)}
