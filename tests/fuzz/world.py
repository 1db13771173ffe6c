"""Files of every kind that commands read, small and whole, for others to spoil."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import random
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.campaigns import make_campaign
from tests.fuzz.trees import plant_strangers
from tests.fuzz.values import WORDS, file_stem, texts

Record = dict[str, Any]


class Raw(str):
    """JSON as it shall stand in the file."""


@dataclass
class File:
    """A file, and the records it was made of."""

    path: Path
    form: str  # jsonl, json, csv, tsv, parquet, lines, bytes
    records: list[Any] = field(default_factory=list)
    packing: str = ""

    def content(self) -> bytes:
        return packed(encoded(self.records, self.form), self.packing)

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.content())


def packed(content: bytes, packing: str) -> bytes:
    if packing == ".gz":
        return gzip.compress(content, 1, mtime=0)
    if packing == ".zst":
        import pyarrow

        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        return bytes(sink.getvalue())
    return content


def encoded(records: Sequence[Any], form: str) -> bytes:
    if form == "bytes":
        return b"".join(records)
    if form == "lines":
        return "".join(f"{line}\n" for line in records).encode("utf-8", "surrogatepass")
    if form == "json":
        inside = ",\n".join(_json_line(one) for one in records)
        return f"[{inside}]\n".encode("utf-8", "surrogatepass")
    if form == "jsonl":
        return "".join(_json_line(one) + "\n" for one in records).encode("utf-8", "surrogatepass")
    if form == "parquet":
        return _parquet(records)
    return _delimited(records, "\t" if form == "tsv" else ",")


def _json_line(record: Any) -> str:
    raw: list[str] = []

    def held(value: Any) -> Any:
        if isinstance(value, Raw):
            raw.append(value)
            return f"@raw{len(raw) - 1}@"
        if isinstance(value, dict):
            return {key: held(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [held(one) for one in value]
        return value

    line = json.dumps(held(record), ensure_ascii=False, default=str)
    for number, text in enumerate(raw):
        line = line.replace(f'"@raw{number}@"', text)
    return line


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json_line(value)


def _columns(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(name for one in records for name in one))


def _delimited(records: Sequence[Record], delimiter: str) -> bytes:
    stream = io.StringIO()
    columns = _columns(records)
    rows = [columns, *([_cell(one.get(name)) for name in columns] for one in records)]
    if delimiter == "\t":  # no quoting there
        stream.write("".join("\t".join(row) + "\n" for row in rows))
    else:
        csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode("utf-8", "surrogatepass")


def _parquet(records: Sequence[Record]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays, names = [], _columns(records)
    for name in names:
        values = [one.get(name) for one in records]
        try:
            array = pa.array(values)
            pq.write_table(pa.table({"x": array}), io.BytesIO())  # some types are Arrow's only
            arrays.append(array)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            cells = [_cell(value).encode("utf-8", "surrogatepass") for value in values]
            # Arrow does not look whether text is UTF-8, so neither may readers rely on it.
            binary = pa.array(cells, pa.binary())
            arrays.append(
                pa.StringArray.from_buffers(len(cells), binary.buffers()[1], binary.buffers()[2])
            )
    safe = [name.encode("utf-8", "replace").decode() for name in names]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=safe), sink)
    return sink.getvalue()


@functools.cache
def model_bytes() -> bytes:
    """A small judge, made once per process."""
    from tests.judges.rater_kit import small_model

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judge.safetensors"
        small_model(path)
        return path.read_bytes()


@functools.cache
def history_bytes() -> bytes:
    """Two runs of a gate, made once per process."""
    from datetime import UTC, datetime

    import deltableu
    from deltableu.compare import GatePlan, add_to_history, gate_systems

    scores = {"alpha": [0.1, 0.5, 0.7, 0.2], "beta": [0.2, 0.1, 0.9, 0.3]}
    table = deltableu.ScoreTable.of({"comet": scores}, items=["q0", "q1", "q2", "q3"])
    found = gate_systems(table, baseline="alpha", plan=GatePlan(trials=20))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.jsonl"
        for number in range(2):
            add_to_history(path, found, f"abc{number}", datetime(2026, 3, number + 1, tzinfo=UTC))
        return path.read_bytes()


class World:
    """A folder of files that a case needs; `files` are those that may be spoiled.

    Parameters
    ----------
    root
        An empty folder; commands run in `cwd`, deep inside, so that `../..` stays inside, too.
    rng
        What everything is drawn with.
    items
        How many a study has at least.
    """

    def __init__(self, root: Path, rng: random.Random, items: int = 1) -> None:
        self.root, self.rng = root, rng
        self.cwd = root / "home" / "project" / "here"
        self.inputs = root / "home" / "project" / "inputs"
        self.results = root / "home" / "project" / "results"
        self.work = root / "home" / "project" / "work"
        for folder in (self.cwd, self.inputs, self.results, root / "tmp"):
            folder.mkdir(parents=True)
        self.files: list[File] = []
        count = rng.choices((1, 2, 3, 4, 8), (1, 12, 12, 5, 2))[0]
        self.systems = ["alpha", "beta", "gamma", "delta", *"efgh"][:count]
        if rng.random() < 0.1:
            self.systems = ["alpha@1", "alpha@2", "beta@1", "beta@2"]
        if rng.random() < 0.03:
            self.systems[0] = file_stem(rng).replace("\\", "")
        count = rng.choices((1, 2, 3, 5, 8, 12, 20), (1, 2, 4, 8, 12, 12, 4))[0]
        self.items = [f"q{number}" for number in range(max(count, items))]
        self.rated = rng.random() < 0.7
        self.bare = False  # whether items are plain lines, without messages and meta
        self.judged = rng.random() < 0.8  # whether the study has ratings
        #: What raw logs hold, and whether their speakers are roles.
        self.raw_kind = rng.choice(("posts", "posts", "turns", "conversations"))
        self.raw_roles = rng.random() < 0.5
        self._study: Path | None = None
        self._campaign: Path | None = None
        self._plain: list[Path] | None = None
        #: Outputs and references by the item's place.
        self._said: dict[int, list[str]] = {}
        self._right: dict[int, list[str]] = {}
        plant_strangers(self.work)
        plant_strangers(self.results)
        for folder in (root, self.cwd, self.inputs):
            (folder / "thesis.txt").write_text("three years of work\n")

    def add(self, path: Path, form: str, records: list[Any], packing: str = "") -> Path:
        file = File(path, form, records, packing)
        file.write()
        self.files.append(file)
        return path

    def table(
        self, stem: str, records: list[Record], forms: Sequence[str], gz: bool = True
    ) -> Path:
        form = self.rng.choice(forms)
        packing = ".gz" if gz and form != "parquet" and self.rng.random() < 0.1 else ""
        return self.add(self.inputs / f"{stem}.{form}{packing}", form, records, packing)

    def names(self) -> list[str]:
        """The systems, of which runs are one."""
        return list(dict.fromkeys(name.partition("@")[0] for name in self.systems))

    def has_runs(self) -> bool:
        return len(self.names()) < len(self.systems)

    def text(self) -> str:
        return texts(self.rng)

    # A study

    def study(self) -> Path:
        """A study folder; the same one for every use in a case."""
        if self._study is None:
            self._study = self.inputs / (
                file_stem(self.rng) if self.rng.random() < 0.05 else "study"
            )
            self._study.mkdir()
            self._fill_study(self._study)
        return self._study

    def _fill_study(self, folder: Path) -> None:
        rng = self.rng
        form = rng.choices(("jsonl", "tsv", "parquet", "plain"), (6, 2, 2, 1))[0]
        items = [self._item(id) for id in self.items]
        for place, item in enumerate(items):
            self._right[place] = [one["text"] for one in item["references"]]
        packing = ".gz" if form in ("jsonl", "tsv") and rng.random() < 0.1 else ""
        if form == "plain":
            self.bare = True
            self.items = [str(number) for number in range(1, len(self.items) + 1)]
            self._write_plain(folder)
        elif form == "tsv":
            rows = [row for item in items for row in _rows(item)]
            self.add(folder / f"items.tsv{packing}", "tsv", rows, packing)
        else:
            if form == "parquet":
                items = [{**item, "meta": json.dumps(item["meta"])} for item in items]
            self.add(folder / f"items.{form}{packing}", form, items, packing)
        for name in self.systems:
            self._write_outputs(folder / "outputs", name)
        if self.judged:
            form = rng.choice(("csv", "tsv", "jsonl", "parquet"))
            self.add(folder / f"ratings.{form}", form, self._ratings(items))
        if rng.random() < 0.5:
            lines = ['note = "made by a fuzzer"', ""]
            for name in self.systems:
                quoted = json.dumps(name.encode("utf-8", "replace").decode())
                lines += [f"[systems.{quoted}]", 'type = "neural"', ""]
            self.add(folder / "systems.toml", "lines", lines)
        if rng.random() < 0.3:
            (folder / "plan.docx").write_text("somebody's plan\n")
            (folder / "outputs" / ".keep").write_text("")

    def _write_outputs(self, folder: Path, name: str) -> Path:
        form = self.rng.choices(("jsonl", "txt", "tsv", "parquet"), (5, 3, 1, 1))[0]
        said = [(id, self.text()) for id in self.items]
        for place, (_, text) in enumerate(said):
            self._said.setdefault(place, []).append(text)
        path = folder / f"{name}.{form}"
        if form == "txt":
            return self.add(path, "lines", [text for _, text in said])
        return self.add(path, form, [{"id": id, "text": text} for id, text in said])

    def _item(self, id: str) -> Record:
        rng = self.rng
        origins = ["original", *rng.choices(("written", "mined", "random"), k=rng.randint(0, 3))]
        references = [
            {
                "id": f"r{number}",
                "text": self.text(),
                "weight": rng.choice((1.0, 0.8, 0.5, -0.3, 0.0)) if self.rated else None,
                "origin": origin,
                "source": {"utterance": self.text(), "id": "log-1", "score": 0.5, "rank": 1}
                if origin in ("mined", "random")
                else None,
            }
            for number, origin in enumerate(origins)
        ]
        if self.rated:
            references[0]["weight"] = 1.0
        return {
            "id": id,
            "context": [self.text()],
            "message": self.text(),
            "references": references,
            "meta": {"document": f"d{rng.randint(0, 2)}"},
        }

    def _ratings(self, items: list[Record]) -> list[Record]:
        rng = self.rng
        targets = [(id, f"system:{name}") for id in self.items for name in self.systems]
        targets += [
            (item["id"], f"reference:{r['id']}") for item in items for r in item["references"]
        ]
        if len(self.items) != len(items) or self.items[0] != items[0]["id"]:
            targets = targets[: len(self.items) * len(self.systems)]
        return [
            {
                "rater": f"p{rater}",
                "item": item,
                "target": target,
                "criterion": "overall",
                "value": rng.randint(1, 5),
                "scale": "1-5",
                "kind": "item",
                "started": "2026-03-03T14:02:18+00:00",
                "finished": "2026-03-03T14:02:28+00:00",
            }
            for rater in range(rng.randint(1, 3))
            for item, target in targets
            if rng.random() < 0.9
        ]

    # Plain files

    def _write_plain(self, folder: Path) -> tuple[list[Path], Path]:
        streams = self.rng.randint(1, 3)
        texts = [[self.text() for _ in self.items] for _ in range(streams)]
        self._right = {place: list(said) for place, said in enumerate(zip(*texts, strict=True))}
        paths = [
            self.add(folder / f"r{stream}.txt", "lines", lines)
            for stream, lines in enumerate(texts)
        ]
        lines = [
            "\t".join(["1", *(self.rng.choice(("1", "0.5", "-0.25")) for _ in paths[1:])])
            for _ in self.items
        ]
        weights = folder / ("weights.tsv")
        if self.rated:
            self.add(weights, "lines", lines)
        return paths, weights

    def references(self) -> list[Path]:
        if self._plain is None:
            self.bare, self.judged = True, False
            self.items = [str(number) for number in range(1, len(self.items) + 1)]
            self._plain, self.weights_file = self._write_plain(self.inputs / "plain")
        return self._plain

    def weights(self) -> Path:
        self.references()
        return self.weights_file

    def outputs(self) -> list[Path]:
        self.references()
        return [self._write_outputs(self.inputs / "said", name) for name in self.systems]

    # Tables

    def scores(self, metric: str = "comet", stem: str = "scores") -> Path:
        records = [
            {"system": name, "item": id, "score": round(self.rng.random(), 3), "metric": metric}
            for name in self.systems
            for id in self.items
        ]
        return self.table(stem, records, ("csv", "tsv", "jsonl", "parquet"))

    def nbest(self) -> Path:
        """Lists of all items in one of both forms."""
        rows = [
            (id, self.text() or "well", round(self.rng.uniform(-5, 0), 2))
            for id in self.items
            for _ in range(self.rng.randint(1, 4))
        ]
        if self.rng.random() < 0.5:
            lines = [f"{id} ||| {text} ||| LM= {score} ||| {score}" for id, text, score in rows]
            return self.add(self.inputs / "lists.nbest", "lines", lines)
        records = [
            {"id": id, "text": text, "features": {"LM": score}, "total": score}
            for id, text, score in rows
        ]
        return self.add(self.inputs / "lists.jsonl", "jsonl", records)

    def human(self) -> Path:
        return self.scores("overall", "human")

    def ratings(self) -> Path:
        """A study, or a file of ratings alone."""
        if self.rng.random() < 0.5:
            return self.study()
        records = [
            {"rater": f"p{rater}", "item": id, "target": f"system:{name}", "value": value}
            for rater in range(self.rng.randint(2, 4))
            for id in self.items
            for name in self.systems
            for value in [self.rng.randint(1, 5)]
        ]
        return self.table("ratings", records, ("csv", "tsv", "jsonl", "parquet"))

    def preferences(self) -> Path:
        """Two rows a judgement; everybody wins and loses now and then."""
        rng, names = self.rng, [*self.systems, "one more"][: max(2, len(self.systems))]
        pairs = [(a, b) for a in names for b in names if a < b] * rng.randint(2, 5)
        records = [
            {
                "rater": rater,
                "item": item,
                "target": f"system:{name}",
                "value": value,
                "scale": "0-1",
                "pair": f"{number}",
                "position": position,
            }
            for number, pair in enumerate(pairs)
            for rater, item in [(f"p{rng.randint(0, 3)}", rng.choice(self.items))]
            for values in [rng.choice(((1, 0), (0, 1), (0.5, 0.5)))]
            for position, (name, value) in enumerate(zip(pair, values, strict=True), start=1)
        ]
        return self.table("preferences", records, ("csv", "tsv", "jsonl", "parquet"))

    def history(self) -> Path:
        """What gates of a study wrote, or of another one than the case is about."""
        records = [json.loads(line) for line in history_bytes().splitlines()]
        return self.add(self.inputs / "history.jsonl", "jsonl", records)

    def past(self) -> Path:
        records = [
            {
                "difference": round(self.rng.gauss(0, 2), 2),
                "verdict": self.rng.choice((1, 0, 1)),
                "metric": ("bleu-4", "delta-bleu-2", "bleu-2", "comet")[number % 4],
                "group": f"g{number % 3}",
            }
            for number in range(48)
        ]
        return self.table("past", records, ("csv", "tsv", "jsonl", "parquet"))

    def similarity_table(self) -> Path:
        pairs = {
            (said, right)
            for place, texts in self._said.items()
            for said in texts
            for right in self._right[place]
        } or {(self.text(), self.text())}
        records = [
            {"hypothesis": said, "reference": right, "score": 0.5} for said, right in sorted(pairs)
        ]
        return self.table("similar", records, ("csv", "tsv", "jsonl", "parquet"))

    # Campaigns

    def campaign(self, what: str) -> Path:
        """A campaign with answers; the same one for every use in a case."""
        if self._campaign is None:
            self._campaign = make_campaign(self, self.inputs / "campaign", what)
        return self._campaign

    def backup(self, what: str) -> Path:
        """The answers of a campaign, which has mostly lost them."""
        campaign = self.campaign(what)
        kept = next(file for file in self.files if file.path == campaign / "answers.sqlite")
        self.files.remove(kept)
        if self.rng.random() < 0.9:
            kept.path.unlink()
        return self.add(self.inputs / "backup.sqlite", "bytes", kept.records)

    # Logs

    def logs(self) -> Path:
        """Pairs of utterance and response, in a file or a folder."""
        rng = self.rng
        folder = self.inputs / "logs"
        asked = [self.text() for _ in range(5)]
        for number in range(rng.choice((1, 1, 2, 3))):
            form = rng.choice(("jsonl", "tsv", "parquet"))
            packing = "" if form == "parquet" else rng.choice(("", "", "", ".gz", ".zst"))
            records = [
                {
                    "utterance": rng.choice(asked),
                    "response": self.text(),
                    "id": f"{number}-{row}",
                    "thread": f"t{row // 3}",
                }
                for row in range(rng.choices((0, 3, 12, 25), (1, 5, 40, 40))[0])
            ]
            stem = file_stem(rng) if rng.random() < 0.05 else f"log{number}"
            path = self.add(folder / f"{stem}.{form}{packing}", form, records, packing)
        if rng.random() < 0.1:
            (folder / "README.md").write_text("# not a log\n")
        return rng.choice((folder, path, Path(f"{folder}/*")))

    def raw_logs(self) -> Path:
        """Posts, turns or conversations."""
        rng = self.rng
        kind, threads = self.raw_kind, range(rng.randint(2, 8))
        records: list[Record] = []
        for thread in threads:
            length = rng.randint(2, 6)
            said = [self.text() for _ in range(length)]
            if kind == "conversations":
                turns = [{"speaker": f"u{n % 2}", "text": one} for n, one in enumerate(said)]
                chat = [
                    {"role": ("user", "assistant")[n % 2], "content": one}
                    for n, one in enumerate(said)
                ]
                chats = ({"messages": chat}, {"id": f"c{thread}", "turns": turns})
                records.append(chats[not self.raw_roles])
                continue
            for number, one in enumerate(said):
                if kind == "turns":
                    row = {"dialog": f"c{thread}", "turn": number, "speaker": f"u{number % 2}"}
                else:
                    # A reply to the one before, or of the other user to the first one.
                    back = rng.choice((1, number, number)) if number % 2 else 1
                    row = {
                        "id": f"p{thread}-{number}",
                        "user": f"u{number % 2}",
                        "time": f"201{7 + thread % 3}-03-04T09:{10 + number}:00Z",
                        "reply_to": f"p{thread}-{number - back}" if number else None,
                    }
                records.append({**row, "text": one})
        forms = ("jsonl",) if kind == "conversations" else ("jsonl", "tsv", "parquet")
        form = rng.choice(forms)
        packing = "" if form == "parquet" else rng.choice(("", "", "", ".gz", ".zst"))
        folder = self.inputs / "raw"
        path = self.add(folder / f"{kind}.{form}{packing}", form, records, packing)
        return rng.choice((path, folder))

    # Models

    def vectors(self) -> Path:
        rng = self.rng
        size = rng.randint(1, 4)
        rows = [(word, [rng.gauss(0, 1) for _ in range(size)]) for word in dict.fromkeys(WORDS)]
        ending = rng.choice((".txt", ".txt", ".bin"))
        packing = ".gz" if rng.random() < 0.15 else ""
        path = self.inputs / f"vectors{ending}{packing}"
        if ending == ".bin":
            parts = [f"{len(rows)} {size}\n".encode()]
            parts += [f"{w} ".encode() + struct.pack(f"<{size}f", *v) + b"\n" for w, v in rows]
            return self.add(path, "bytes", parts, packing)
        lines = [" ".join([word, *(f"{one:.4f}" for one in vector)]) for word, vector in rows]
        if rng.random() < 0.2:
            lines.insert(0, f"{len(rows)} {size}")
        return self.add(path, "lines", lines, packing)

    def model(self) -> Path:
        return self.add(self.inputs / "judge.safetensors", "bytes", [model_bytes()])


def _rows(item: Record) -> list[Record]:
    return [
        {
            "id": item["id"],
            "context": json.dumps(item["context"]),
            "message": item["message"],
            "reference_id": one["id"],
            "reference": one["text"],
            "weight": one["weight"],
            "origin": one["origin"],
            "meta": json.dumps(item["meta"]),
        }
        for one in item["references"]
    ]
