"""Items to respond to, n-best lists and responses as files, for all commands that make outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from deltableu.cli.options import STANDARD_INPUT
from deltableu.cli.output import Format, emit, note, remark
from deltableu.corpus import (
    Item,
    NBestLists,
    TunedOn,
    line_text,
    read_items,
    read_study,
    write_nbest,
    write_outputs,
)
from deltableu.errors import InputError
from deltableu.io import check_apart, check_new_file, file_form, is_standard_stream
from deltableu.respond import Responses


def study_inputs(folder: Path | None) -> Iterator[Path]:
    """What may not be overwritten: all of the study but its outputs."""
    if folder is not None and folder.is_dir():
        yield from (place for place in folder.iterdir() if place.name != "outputs")
    elif folder is not None:
        yield folder


def check_outputs_file(
    path: Path, folder: Path | None, inputs: Sequence[Path], replace: bool
) -> None:
    """Complain where a file cannot be written; the first outputs of a study need their folder."""
    new = folder is not None and folder.is_dir() and not path.parent.exists()
    if folder is None or not new or path.parent.resolve() != folder.resolve() / "outputs":
        check_new_file(path, inputs, replace=replace)


def check_response_files(
    output: Path,
    nbest_output: Path | None,
    folder: Path | None,
    inputs: Sequence[Path],
    replace: bool,
) -> None:
    """The same for responses and their candidates, which go to two files."""
    for path in filter(None, (output, nbest_output)):
        check_outputs_file(path, folder, inputs, replace)
    if nbest_output is not None:
        check_apart(nbest_output, [output], "written")


def read_asked_items(study: str) -> Sequence[Item]:
    """The items of a study's folder, of a file of them, or of standard input."""
    if study != STANDARD_INPUT and Path(study).is_dir():
        return read_study(study, ratings=False, systems=()).items
    return tuple(read_items("-" if study == STANDARD_INPUT else study))


def give_responses(
    responses: Responses, output: Path, nbest_output: Path | None, format: Format
) -> None:
    """Write responses and candidates, and print what they are like."""
    _write_responses(responses, output, nbest_output)
    if warning := responses.missing_warning():
        note(warning)
    emit(responses.table(), responses, format, beside=(output, nbest_output))


def _write_responses(responses: Responses, output: Path, nbest_output: Path | None) -> None:
    """Write the candidates, then the responses; then what was kept for going on is needed no more.

    Who finds the responses finds the candidates too.
    """
    ids, texts = responses.given()
    if not ids:
        raise InputError("no item has a response, so that nothing was written")
    if nbest_output is not None and responses.nbest is None:
        raise InputError("--nbest-output has nothing to write: there are no candidates")
    by_id = is_standard_stream(output) or file_form(output) in ("jsonl", "tsv", "parquet")
    if responses.missing and not by_id:
        raise InputError(
            f"{output}: plain text has a line for every item, and "
            f"{responses.missing_warning()}: choose a name that ends in .jsonl"
        )
    if not by_id:
        for id, text in zip(ids, texts, strict=True):
            line_text(text, id, "text")  # before the candidates are written
    if nbest_output is not None and responses.nbest is not None:
        nbest_output.parent.mkdir(exist_ok=True)
        write_nbest(nbest_output, responses.nbest)
    write_texts(output, ids, texts)
    if responses.work is not None:
        responses.work.end()


def write_texts(output: Path, ids: Sequence[str], texts: Sequence[str]) -> None:
    """Write outputs; the first ones of a study get their folder."""
    output.parent.mkdir(exist_ok=True)
    write_outputs(output, ids, texts)


def note_tuned_on(
    file: Path | None, tuned: TunedOn | None, lists: NBestLists, items: Sequence[Item]
) -> None:
    """Warn where weights choose among candidates of items that they were tuned on."""
    if tuned is not None and (warning := tuned.warning(lists, items)):
        remark(f"warning: {file}: {warning}")
