"""docs/mined-examples.md: what `deltableu mine` finds for real items in real logs."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from deltableu.cli.app import main
from deltableu.corpus import read_study, write_study
from deltableu.corpus.types import Item, Study
from reproduce.dialogue_items import CORPORA, grade_items, multirefeval_items
from reproduce.dialogue_logs import LOGS, write_pairs
from reproduce.layout import table

__all__ = ["MinedSet", "mine", "page", "shown_items"]

INTRODUCTION = """# Mined examples

Written by `python -m reproduce mined` from public data sets, which are not part of this project:
references that `deltableu mine STUDY --logs LOGS -o NEWSTUDY` finds with its default options.
Nothing is edited or chosen: the items are the first two of multirefeval and the first of each
corpus of GRADE, with all 15 mined references, the utterances that they were responses to, and their
scores. Nobody has rated them. How to mine: [mine references](how-to/mine.md).

Items whose own pair is in the logs may be leaks (dailydialog-147 is) or commonplaces (57_8 is
"thanks ." and "you are welcome .").

The logs are any two turns that follow on each other in:
"""

SETS: dict[str, tuple[str, Callable[[Path], Study]]] = {
    "multirefeval": (
        "DailyDialog, multirefeval (Gupta et al. 2019): 100 contexts with four references.",
        multirefeval_items,
    ),
    "GRADE": (
        "GRADE (Huang et al. 2020): all different contexts of DailyDialog, ConvAI2 and "
        "EmpatheticDialogues, with one reference.",
        grade_items,
    ),
}


@dataclass(frozen=True, slots=True)
class MinedSet:
    """The new study, and what the command printed."""

    study: Study
    out: str
    err: str


def mine(study: Study, logs: Path, *options: str) -> MinedSet:
    """Run `deltableu mine` on a study."""
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old"), Path(folder, "new")
        write_study(study, old)
        out, err = io.StringIO(), io.StringIO()
        command = ["mine", str(old), "--logs", str(logs), "-o", str(new), *options]
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main(command)
            except SystemExit as end:
                if end.code:
                    raise RuntimeError(err.getvalue()) from None
        return MinedSet(read_study(new), out.getvalue(), err.getvalue())


def shown_items(name: str, study: Study) -> Iterator[Item]:
    """The items on the page, by a rule that was fixed before anything was mined."""
    if name == "multirefeval":
        yield from study.items[:2]
    else:
        for corpus in CORPORA:
            yield next(item for item in study.items if item.id.startswith(corpus))


def page(data: Path) -> str:
    """The whole page."""
    lines = [INTRODUCTION, *(f"- `{name}`: {source}" for name, source in LOGS.items()), ""]
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        write_pairs(data, logs)
        for name, (about, items) in SETS.items():
            mined = mine(items(data), logs, "--format", "markdown")
            lines += [f"## {name}", "", about, "", mined.out]
            lines += ["```text elsewhere", *mined.err.splitlines(), "```", ""] if mined.err else []
            for item in shown_items(name, mined.study):
                lines += _item(item)
    return "\n".join(lines)


def _item(item: Item) -> Iterable[str]:
    original = item.references[0]
    yield from (f"### {item.id}", "")
    yield from (f"> {_plain(turn)}  " for turn in (*item.context, item.message or ""))
    yield from (">", f"> *original response:* {_plain(original.text)}", "")
    yield from table(["", "score", "mined response", "to", "from"], _rows(item))
    yield ""


def _rows(item: Item) -> Iterator[Sequence[str]]:
    for reference in item.references:
        if reference.origin == "mined" and (source := reference.source) is not None:
            texts = (reference.text, source.utterance or "", source.id or "")
            yield [str(source.rank), f"{source.score:.2f}", *map(_plain, texts)]


def _plain(text: str) -> str:
    """As Markdown shows it unchanged."""
    for mark in "\\`*_|[]<>#~$":
        text = text.replace(mark, f"\\{mark}")
    return text
