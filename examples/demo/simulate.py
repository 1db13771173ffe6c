"""Build the demo study from `written.jsonl`, with SIMULATED ratings.

No person rated anything here. The texts in `written.jsonl`, those of the "systems" too, were
written by hand for this project, and the author gave each of them a latent quality in [-1, 1].
Every rating is drawn by this script:

- A simulated rater has a bias, a spread and a noise of its own. It feels
  `bias + spread * quality + normal(0, noise)`, cut to [-1, 1], and answers with the nearest whole
  number on its scale.
- References: five of twelve raters (sim-01 to sim-12) rate each one on a 1-5 Likert scale; its
  weight is the mean, moved to [-1, 1].
- System outputs: five of eighteen raters (sim-13 to sim-30) rate each one on a 0-100 slider. Among
  these rows every rater also meets hidden controls: the original reference as if it were an output
  (kind `reference`), a damaged version of the same text (`bad-reference`; only its lower quality is
  simulated) and outputs it has already seen (`repeat`).
- One rater of the second pool is careless: it answers at random, and fast.
- Preferences: two of twelve other raters (sim-31 to sim-42) see two systems' outputs, five such
  pairs for each item, and prefer the one they feel better about; nearly equal feelings are a tie.
  What is shown first feels a little better, so that there is an effect of position to find.

Everything is deterministic from one seed. Usage: `python examples/demo/simulate.py [--check]`;
`--check` writes nothing and fails if a file on disk is not what the script would write.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SEED = 20150731
NOTE = (
    "The texts of this study were written for deltableu; the systems are imitations, and all "
    "ratings are SIMULATED by a seeded script: no person gave them."
)
RATERS_PER_TEXT = 5
CONTROLS_PER_RATER = 6  # of each of the three kinds: about 5 % of the slider rows
CARELESS_RATER = "sim-22"
PAIRS_PER_ITEM, RATERS_PER_PAIR = 5, 2
TIED = 0.2  # feelings no further apart are a tie
SHOWN_FIRST = 0.06  # what being shown first adds to a feeling
REFERENCE_WEEK = datetime.fromisoformat("2026-03-02T08:00:00+00:00")
OUTPUT_WEEK = datetime.fromisoformat("2026-03-09T08:00:00+00:00")
PAIR_WEEK = datetime.fromisoformat("2026-03-16T08:00:00+00:00")
HEADER = "rater,item,target,criterion,value,scale,kind,pair,position,started,finished"
SYSTEMS: Mapping[str, tuple[str, str]] = {
    "human": ("human", "Answers a person might give; nearly always good."),
    "careful-neural": ("neural", "Fluent and mostly relevant; sometimes bland or off the point."),
    "bland-neural": ("neural", "Safe stock phrases, the same ones again and again."),
    "retrieval": ("retrieval", "Fluent whole sentences that often answer another conversation."),
    "phrase-smt": ("statistical", "Recycled words of the message in broken order."),
    "random": ("random", "A fluent sentence from an unrelated conversation."),
}

Row = tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    id: str
    text: str
    origin: str
    quality: float


@dataclass(frozen=True)
class Output:
    text: str
    quality: float


@dataclass(frozen=True)
class Item:
    id: str
    domain: str
    context: tuple[str, ...]
    message: str
    references: tuple[Reference, ...]
    outputs: Mapping[str, Output]


@dataclass(frozen=True)
class Scale:
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    def answer(self, feeling: float) -> int:
        """The whole number nearest to a feeling in [-1, 1]."""
        return round(self.low + (feeling + 1) / 2 * (self.high - self.low))


LIKERT = Scale(1, 5)
SLIDER = Scale(0, 100)


@dataclass(frozen=True)
class Rater:
    """A simulated rater; `pace` is its typical time for one judgement, in seconds."""

    name: str
    bias: float
    spread: float
    noise: float
    pace: float
    careless: bool = False

    def feel(self, quality: float, rng: np.random.Generator) -> float:
        if self.careless:
            return float(rng.uniform(-1, 1))
        feeling = self.bias + self.spread * quality + rng.normal(0, self.noise)
        return float(np.clip(feeling, -1, 1))


@dataclass(frozen=True)
class Task:
    """One text put before one rater."""

    item: str
    target: str
    quality: float
    kind: str = "item"


def read_item(line: str) -> Item:
    record = json.loads(line)
    item = Item(
        id=record["id"],
        domain=record["domain"],
        context=tuple(record["context"]),
        message=record["message"],
        references=tuple(Reference(**fields) for fields in record["references"]),
        outputs={name: Output(*pair) for name, pair in record["outputs"].items()},
    )
    if set(item.outputs) != set(SYSTEMS):
        raise SystemExit(f"{item.id}: outputs must be those of {', '.join(SYSTEMS)}")
    qualities = [reference.quality for reference in item.references]
    qualities += [output.quality for output in item.outputs.values()]
    if not all(-1 <= quality <= 1 for quality in qualities):
        raise SystemExit(f"{item.id}: a quality is outside [-1, 1]")
    return item


def read_items(path: Path) -> list[Item]:
    return [read_item(line) for line in path.read_text(encoding="utf-8").splitlines()]


def draw_raters(numbers: Iterable[int], rng: np.random.Generator) -> list[Rater]:
    raters = []
    for number in numbers:
        name = f"sim-{number:02d}"
        careless = name == CARELESS_RATER
        raters.append(
            Rater(
                name=name,
                bias=float(rng.normal(0, 0.1)),
                spread=float(rng.uniform(0.7, 1.05)),
                noise=float(rng.uniform(0.12, 0.3)),
                pace=2.5 if careless else float(rng.uniform(6, 14)),
                careless=careless,
            )
        )
    return raters


def share_out(
    tasks: Sequence[Task], raters: Sequence[Rater], rng: np.random.Generator
) -> dict[str, list[Task]]:
    """Give each task to five different raters, keeping the raters' loads even."""
    queues: dict[str, list[Task]] = {rater.name: [] for rater in raters}
    for task in tasks:
        ties = rng.random(len(raters))
        order = sorted(range(len(raters)), key=lambda i: (len(queues[raters[i].name]), ties[i]))
        for index in order[:RATERS_PER_TEXT]:
            queues[raters[index].name].append(task)
    return queues


def shuffled(tasks: Sequence[Task], rng: np.random.Generator) -> list[Task]:
    return [tasks[index] for index in rng.permutation(len(tasks))]


def sample(tasks: Sequence[Task], rng: np.random.Generator) -> list[Task]:
    return [tasks[i] for i in rng.choice(len(tasks), size=CONTROLS_PER_RATER, replace=False)]


def as_kind(task: Task, kind: str, quality: float | None = None) -> Task:
    return Task(task.item, task.target, task.quality if quality is None else quality, kind)


def add_controls(
    queue: Sequence[Task], originals: Sequence[Task], rng: np.random.Generator
) -> list[Task]:
    """Mix hidden controls into a rater's queue.

    The damaged and the intact original come in pairs, so that one rater's two answers to one item
    can be compared. A repeat has to come after the first sight, hence the two halves.
    """
    chosen = sample(originals, rng)
    intact = [as_kind(task, "reference") for task in chosen]
    damaged = [as_kind(task, "bad-reference", float(rng.uniform(-0.9, -0.4))) for task in chosen]
    mixed = shuffled([*queue, *intact, *damaged], rng)
    middle = len(mixed) // 2
    early, late = mixed[:middle], mixed[middle:]
    seen = [task for task in early if task.kind == "item"]
    repeats = [as_kind(task, "repeat") for task in sample(seen, rng)]
    return early + shuffled(late + repeats, rng)


def rate_session(
    rater: Rater, tasks: Sequence[Task], scale: Scale, first_day: datetime, rng: np.random.Generator
) -> list[Row]:
    """One rater's rows, in the order in which it worked."""
    clock = first_day + timedelta(days=int(rng.integers(5)), seconds=int(rng.integers(10 * 3600)))
    rows: list[Row] = []
    for task in tasks:
        value = scale.answer(rater.feel(task.quality, rng))
        started = clock
        finished = started + timedelta(seconds=max(1, round(rater.pace * rng.lognormal(0, 0.35))))
        clock = finished + timedelta(seconds=int(rng.integers(1, 4)))
        judgement = (rater.name, task.item, task.target, "overall", str(value), str(scale))
        times = (started.isoformat(), finished.isoformat())
        rows.append((*judgement, task.kind, "", "", *times))
    return rows


def rate_references(items: Sequence[Item], rng: np.random.Generator) -> list[Row]:
    raters = draw_raters(range(1, 13), rng)
    tasks = [
        Task(item.id, f"reference:{reference.id}", reference.quality)
        for item in items
        for reference in item.references
    ]
    queues = share_out(tasks, raters, rng)
    rows: list[Row] = []
    for rater in raters:
        queue = shuffled(queues[rater.name], rng)
        rows += rate_session(rater, queue, LIKERT, REFERENCE_WEEK, rng)
    return rows


def rate_outputs(items: Sequence[Item], rng: np.random.Generator) -> list[Row]:
    raters = draw_raters(range(13, 31), rng)
    tasks = [
        Task(item.id, f"system:{system}", item.outputs[system].quality)
        for item in items
        for system in SYSTEMS
    ]
    originals = [Task(item.id, "reference:r0", item.references[0].quality) for item in items]
    queues = share_out(tasks, raters, rng)
    rows: list[Row] = []
    for rater in raters:
        queue = add_controls(queues[rater.name], originals, rng)
        rows += rate_session(rater, queue, SLIDER, OUTPUT_WEEK, rng)
    return rows


def prefer(items: Sequence[Item], rng: np.random.Generator) -> list[Row]:
    """Two rows a judgement: 1 and 0 for the better and the other output, or a half for both."""
    raters = draw_raters(range(31, 43), rng)
    pairs = list(combinations(SYSTEMS, 2))
    queues: dict[str, list[tuple[Item, tuple[str, str]]]] = {rater.name: [] for rater in raters}
    for item in items:
        for place in rng.choice(len(pairs), size=PAIRS_PER_ITEM, replace=False):
            for index in rng.choice(len(raters), size=RATERS_PER_PAIR, replace=False):
                queues[raters[index].name].append((item, pairs[place]))
    rows: list[Row] = []
    for rater in raters:
        clock = PAIR_WEEK + timedelta(days=int(rng.integers(5)), seconds=int(rng.integers(36_000)))
        for index in rng.permutation(len(queues[rater.name])):
            item, pair = queues[rater.name][index]
            shown = pair if rng.random() < 0.5 else pair[::-1]
            first, second = (rater.feel(item.outputs[name].quality, rng) for name in shown)
            lead = first + SHOWN_FIRST - second
            values = ("0.5", "0.5") if abs(lead) < TIED else ("1", "0") if lead > 0 else ("0", "1")
            started = clock
            seconds = round(1.6 * rater.pace * rng.lognormal(0, 0.35))
            finished = started + timedelta(seconds=max(1, seconds))
            clock = finished + timedelta(seconds=int(rng.integers(1, 4)))
            for position, (name, value) in enumerate(zip(shown, values, strict=True), start=1):
                judgement = (rater.name, item.id, f"system:{name}", "overall", value, "0-1", "item")
                times = (started.isoformat(), finished.isoformat())
                rows.append((*judgement, " vs ".join(pair), str(position), *times))
    return rows


def mean_weights(reference_rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """The weight of each (item, target): its mean Likert value moved to [-1, 1]."""
    values: dict[tuple[str, str], list[int]] = {}
    for _, item, target, _, value, *_ in reference_rows:
        values.setdefault((item, target), []).append(int(value))
    return {key: round((sum(given) / len(given) - 3) / 2, 4) for key, given in values.items()}


def item_record(item: Item, weights: Mapping[tuple[str, str], float]) -> dict[str, object]:
    references = [
        {
            "id": reference.id,
            "text": reference.text,
            "weight": weights[item.id, f"reference:{reference.id}"],
            "origin": reference.origin,
            "source": None,
        }
        for reference in item.references
    ]
    # The metric divides by the best weights, so an item without a positive one is of no use.
    if not any(weights[item.id, f"reference:{one.id}"] > 0 for one in item.references):
        raise SystemExit(f"{item.id}: no reference got a positive weight; raise its qualities")
    return {
        "id": item.id,
        "context": list(item.context),
        "message": item.message,
        "references": references,
        "meta": {"domain": item.domain},
    }


def to_jsonl(records: Iterable[Mapping[str, object]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def to_csv(rows: Iterable[Row]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADER.split(","))
    writer.writerows(rows)
    return buffer.getvalue()


def to_toml(systems: Mapping[str, tuple[str, str]]) -> str:
    return f'note = "{NOTE}"\n\n' + "\n".join(
        f'[systems.{name}]\ntype = "{kind}"\ndescription = "{description}"\n'
        for name, (kind, description) in systems.items()
    )


def build(items: Sequence[Item]) -> dict[str, bytes]:
    """The content of every generated file, by its path relative to this folder."""
    rng = np.random.default_rng(SEED)
    reference_rows = rate_references(items, rng)
    output_rows = rate_outputs(items, rng)
    weights = mean_weights(reference_rows)
    files = {"items.jsonl": to_jsonl(item_record(item, weights) for item in items)}
    for system in SYSTEMS:
        files[f"outputs/{system}.jsonl"] = to_jsonl(
            {"id": item.id, "text": item.outputs[system].text} for item in items
        )
    files["ratings.csv"] = to_csv([*reference_rows, *output_rows])
    files["preferences.csv"] = to_csv(prefer(items, np.random.default_rng([SEED, 1])))
    files["systems.toml"] = to_toml(SYSTEMS)
    return {name: text.encode("utf-8") for name, text in files.items()}


def write(files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = HERE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def differing(files: Mapping[str, bytes]) -> list[str]:
    return [
        name
        for name, content in files.items()
        if not (HERE / name).is_file() or (HERE / name).read_bytes() != content
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the demo study with simulated ratings.")
    parser.add_argument("--check", action="store_true", help="only compare with the files on disk")
    check: bool = parser.parse_args().check
    files = build(read_items(HERE / "written.jsonl"))
    if not check:
        write(files)
        return 0
    stale = differing(files)
    if stale:
        print(f"not what simulate.py writes: {', '.join(stale)}; run it again", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
