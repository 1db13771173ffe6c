"""Raters of references, trained on public logs; a model that was trained before is used again."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.judges.model_file import RaterModel, read_model, write_model
from deltableu.judges.settings import Negatives, RaterSettings, TrainingSettings, preset
from deltableu.judges.training import train_rater
from deltableu.text import text_keys
from reproduce.dialogue_items import grade_items, multirefeval_items
from reproduce.layout import number, table

__all__ = [
    "EPOCHS",
    "RATERS",
    "LeftOut",
    "Plan",
    "card_tables",
    "evaluated_turns",
    "train_models",
    "write_positives",
    "write_unjudged",
]

Keys = np.ndarray[Any, np.dtype[np.uint64]]

EPOCHS = 3
#: The last digits of a model depend on it.
THREADS = 2
POSITIVES = "dailydialogpp.tsv"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rater learns from.

    Attributes
    ----------
    name : str
        Of its file, and in tables.
    title : str
    positives : bool
        Whether the responses of DailyDialog++ are added to the logs.
    negatives : {"matched", "random"}
    """

    name: str
    title: str
    positives: bool
    negatives: Negatives


RATERS = (
    Plan("a", "five logs", False, "matched"),
    Plan("b", "five logs and DailyDialog++", True, "matched"),
    Plan("c", "as b, negatives as in the paper", True, "random"),
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Contexts of DailyDialog++ that a rater must not learn from, of all there are."""

    contexts: int
    of: int
    pairs: int
    """That are left to learn from."""


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def evaluated_turns(data: Path) -> list[str]:
    """Every message that a rater is judged on."""
    items = (*multirefeval_items(data).items, *grade_items(data).items)
    rows = read_rows(data / "dailydialogpp" / "dev.jsonl.gz")
    return [item.message or "" for item in items] + [row["context"][-1] for row in rows]


def write_positives(data: Path, path: Path, judged: Sequence[str]) -> LeftOut:
    """Write DailyDialog++ as a log: the last turn of a context and each good response.

    Contexts whose last turn has the words of one of the judged turns are left out.
    """
    rows = list(read_rows(data / "dailydialogpp" / "data_positives.jsonl.gz"))
    turns = [row["context"][-1] for row in rows]
    kept = ~np.isin(text_keys(turns).keys, text_keys(judged).keys)
    pairs = 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("utterance\tresponse\n")
        for row, turn, keep in zip(rows, turns, kept, strict=True):
            for response in row["positive_responses"] if keep else ():
                file.write(f"{_cell(turn)}\t{_cell(response)}\n")
                pairs += 1
    return LeftOut(int((~kept).sum()), len(rows), pairs)


def write_unjudged(logs: Path, folder: Path, judged: Sequence[str]) -> int:
    """Copy logs without the pairs whose utterance has the words of a judged turn; how many."""
    keys = text_keys(judged).keys
    left_out = 0
    for path in sorted(logs.glob("*.tsv")):
        header, *rows = path.read_text("utf-8").removesuffix("\n").split("\n")
        kept = ~np.isin(text_keys([row.split("\t", 1)[0] for row in rows]).keys, keys)
        left_out += int((~kept).sum())
        lines = [header, *(row for row, keep in zip(rows, kept, strict=True) if keep), ""]
        (folder / path.name).write_text("\n".join(lines), "utf-8", newline="\n")
    return left_out


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\")


def train_models(
    logs: Path,
    folder: Path,
    *,
    plans: Iterable[Plan] = RATERS,
    settings: RaterSettings | None = None,
    training: TrainingSettings | None = None,
) -> dict[str, RaterModel]:
    """The raters by name, from a folder of logs; files of models are kept in another folder.

    The name of a file has a digest of what the logs hold and of all settings: where there is one,
    nothing is trained.
    """
    shape, how = preset("small")
    shape, how = settings or shape, training or replace(how, epochs=EPOCHS)
    folder.mkdir(parents=True, exist_ok=True)
    digests = {path: _digest(path) for path in sorted(logs.iterdir())}
    models = {}
    for plan in plans:
        own = replace(how, negatives=plan.negatives)
        used = {path: told for path, told in digests.items() if plan.positives or not _is_it(path)}
        key = f"{shape} {own} {THREADS} {[(path.name, told) for path, told in used.items()]}"
        name = f"rater-{plan.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.safetensors"
        path = folder / name
        if not path.is_file():
            made = train_rater(
                [str(one) for one in used], settings=shape, training=own, threads=THREADS
            )
            write_model(path, made.settings, made.vocabulary, made.state, made.card)
        models[plan.name] = read_model(path)
    return models


def _is_it(path: Path) -> bool:
    return path.name == POSITIVES


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def card_tables(
    models: Mapping[str, RaterModel], calibration: str, plans: Iterable[Plan] = RATERS
) -> Iterator[str]:
    """What the models' cards say of data, held-out utterances and (below that text) calibration."""
    titles = {plan.name: f"{plan.name}: {plan.title}" for plan in plans}
    heading = ["rater", "pairs in the logs", "different utterances", "with several responses"]
    heading += ["held out", "responses of these", "vocabulary", "parameters", "best epoch"]
    rows = []
    for name, model in models.items():
        card, data = model.card, model.card["data"]
        counts = [data[what] for what in ("rows", "utterances", "several", "validation")]
        counts += [data["responses"], len(model.vocabulary), model.parameters]
        best = [epoch["number"] for epoch in card["epochs"] if epoch["best"]][-1]
        row = [titles[name], *(f"{count:,}" for count in counts)]
        rows.append([*row, f"{best} of {len(card['epochs'])}"])
    yield from table(heading, rows)
    yield ""
    heading = ["rater", "held-out examples", "loss", "accuracy", "AUC"]
    heading += ["accuracy of word overlap", "AUC of word overlap"]
    rows = []
    for name, model in models.items():
        held_out = model.card["held out"]
        figures = [held_out[what] for what in _QUALITY]
        rows.append([name, f"{held_out['examples']:,}", *map(number, figures)])
    yield from table(heading, rows)
    yield from ("", calibration)
    yield from _calibration(models)


_QUALITY = (
    "loss",
    "accuracy",
    "area under curve",
    "accuracy of word overlap",
    "area under curve of word overlap",
)


def _calibration(models: Mapping[str, RaterModel]) -> Iterator[str]:
    heading = ["probability"]
    bins: dict[int, dict[str, tuple[str, str, str]]] = {}
    for name, model in models.items():
        heading += [f"{name}: said", "so", "examples"]
        for one in model.card["held out"]["calibration"]:
            place = min(int(one["probability"] * 10), 9)
            cells = number(one["probability"]), number(one["positive"]), f"{one['examples']:,}"
            bins.setdefault(place, {})[name] = cells
    nothing = ("-", "-", "0")
    yield from table(
        heading,
        [
            [
                f"{place / 10:.1f} to {(place + 1) / 10:.1f}",
                *(cell for name in models for cell in bins[place].get(name, nothing)),
            ]
            for place in sorted(bins)
        ],
    )
    yield ""
