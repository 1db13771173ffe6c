"""Every reader of the package with files that were spoilt by chance, a million of them if need be.

`python -m tests.fuzz.readers --minutes 10 --seed 1 --jobs 2` prints inputs per reader and what came
out that should not; `python -m tests.fuzz.readers READER/SEED/BLOCK/NUMBER` reads one input again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from deltableu.corpus import (
    Scale,
    check_study,
    read_items,
    read_nbest,
    read_outputs,
    read_plain,
    read_ratings,
    read_scores,
    read_study,
    read_systems,
    read_tuned_weights,
)
from deltableu.errors import InputError
from deltableu.io import Own, named_columns, parse_size, read_csv, read_table_rows, read_toml
from deltableu.io import was_written_here as begins_as
from deltableu.layouts import (
    ColumnMap,
    Request,
    Understanding,
    import_study,
    layout_names,
    load_layout,
    study_from,
)
from deltableu.logs import PairRules, find_partitions, parse_split, read_posts
from deltableu.logs.raw_logs import Memory, RawLogs
from deltableu.logs.times import parse_span, parse_time, parse_times
from tests.fuzz import reader_models, reader_records
from tests.fuzz.layouts import Foreign
from tests.fuzz.reader_inputs import BLOCK, Maker, Read, ReaderWorld, Tally, run_block
from tests.fuzz.runs import scratch
from tests.fuzz.values import HOSTILE_TEXTS, NUMBER_TEXTS

# A study


def _study(world: ReaderWorld) -> Read:
    path = world.study()

    def read(report: Any) -> None:
        study = read_study(path, report=report)
        list(study.items)
        list(study.ratings)

    return read


def _checked_study(world: ReaderWorld) -> Read:
    path = world.study()
    return lambda report: list(map(str, check_study(path).problems))


def _items(world: ReaderWorld) -> Read:
    records = [world._item(id) for id in world.items]
    path = world.table("items", records, ("jsonl",))
    return lambda report: list(read_items(path, report))


def _outputs(world: ReaderWorld) -> Read:
    path = world._write_outputs(world.inputs, "alpha")
    return lambda report: read_outputs(path, world.items, report)


def _systems(world: ReaderWorld) -> Read:
    lines = ['note = "made by a fuzzer"', "[systems]", 'short = "neural"']
    for name in world.systems:
        lines += [f'[systems."{name}"]', 'type = "neural"', 'variant_of = "short"']
        lines += [f'[systems."{name}".tags]', 'size = "7B"']
    path = world.lines("systems.toml", lines)
    return lambda report: read_systems(path, report)


def _plain(world: ReaderWorld) -> Read:
    paths, weights = world.references(), world.weights()
    given = weights if weights.exists() else None
    return lambda report: list(read_plain(paths, given, report))


def _nbest(world: ReaderWorld) -> Read:
    path = world.nbest()
    ids = world.items if world.rng.random() < 0.5 else None
    return lambda report: read_nbest(path, item_ids=ids, complete=False, allow_empty=True)


def _feature_weights(world: ReaderWorld) -> Read:
    weights: dict[str, Any] = {"LM": 0.5, "length": -0.25, "copy": 1}
    if world.rng.random() < 0.7:
        lists = {name: ["ab12"] for name in ("ids", "messages", "candidates")}
        weights = {"weights": weights, "tuned_on": {"items": 2, **lists}}
    path = world.content("weights.json", json.dumps(weights, indent=1).encode())
    return lambda report: read_tuned_weights(path)


# Tables


def _scores(world: ReaderWorld) -> Read:
    path = world.scores()
    metric = world.rng.choice((None, None, "comet"))
    return lambda report: read_scores(path, metric=metric, report=report).table()


def _ratings(world: ReaderWorld) -> Read:
    world.items, world.judged = world.items[:2], True
    records = world._ratings([world._item(id) for id in world.items])
    path = world.table("ratings", records, ("csv", "tsv", "jsonl", "parquet"))
    return lambda report: list(read_ratings(path, report))


def _preferences(world: ReaderWorld) -> Read:
    from deltableu.rate import preferences

    path = world.preferences()
    return lambda report: len(preferences(read_ratings(path, report)))


def _past(world: ReaderWorld) -> Read:
    from deltableu.compare.past_comparisons import read_past_comparisons

    path = world.past()
    world.files[0].records = world.files[0].records[:: world.rng.choice((5, 7))]
    world.files[0].write()
    metric = world.rng.choice(("comet", "bleu-2"))
    return lambda report: read_past_comparisons(path, metric, report=report)


def _history(world: ReaderWorld) -> Read:
    from deltableu.compare.history import read_history

    path = world.history()
    return lambda report: read_history(path).table()


def _similarities(world: ReaderWorld) -> Read:
    from deltableu.score.engine.similarity import read_similarities

    path = world.similarity_table()
    return lambda report: read_similarities(path)


def _order(world: ReaderWorld) -> Read:
    rows = [{"item": id, "target": "system:alpha", "value": 1} for id in world.items]
    path = world.table("order", rows, ("csv",), gz=False)
    names = ("item", "target")
    return lambda report: list(read_csv(path, names, names, report))


def _table_rows(world: ReaderWorld) -> Read:
    rows = [{"a": id, "b": world.text(), "c": number} for number, id in enumerate(world.items)]
    path = world.table("rows", rows, ("csv", "tsv", "jsonl", "parquet"))
    return lambda report: list(read_table_rows(path, ("a", "b"), report, optional=("c",)))


def _memory_tables(world: ReaderWorld) -> Read:
    """Rows as another program may have made them of its JSON, with NaN and all."""
    rows = [
        {"item": id, "system": name, "prediction": world.text(), "reference": world.text()}
        | {"score": 0.5, "metric": "comet", "rater": "p", "target": f"system:{name}", "value": 3}
        for id in world.items
        for name in world.systems
    ]
    path = world.add(world.inputs / "rows.json", "json", rows)
    ways: tuple[Callable[[Any], Any], ...] = (
        lambda values: study_from(values, scale="1-5"),
        lambda values: study_from({"a": values, "b": values}),
        read_scores,
        read_scores,
        read_ratings,
        read_ratings,
        lambda values: [list(one.blocks()) for one in find_partitions(values)],
    )
    way = world.rng.choice(ways)

    def read(report: Any) -> None:
        try:
            values = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            return
        with suppress(InputError):
            way(values)

    return read


def _time(text: str) -> None:
    # Their callers say where the text stands.
    for parse in (parse_span, parse_time, lambda text: parse_times([text, text])):
        with suppress(ValueError):
            parse(text)


def _small_texts(world: ReaderWorld) -> Read:
    """What is written in options and cells."""
    lines = ["1-5", "0-100", "2 GB", "500MB", "2017", "2017-03..2018", "2018-10-10T20:19:24.25Z"]
    lines += ["train=2016..2017,test=2018", "train:0.9,test:0.1", "item=qid,references=ref*"]
    lines += ["Wed Oct 10 20:19:24 +0000 2018", "1500000000250", "references=tab"]
    lines = world.rng.sample((*lines, *HOSTILE_TEXTS, *NUMBER_TEXTS), 5)
    path = world.add(
        world.inputs / "texts", "lines", [one.replace("\n", "") or "x" for one in lines]
    )
    parsers = (
        Scale.parse,
        lambda text: parse_size(text, "--memory"),
        _time,
        parse_split,
        lambda text: parse_split(text, seed=1),
        ColumnMap.parse,
        lambda text: named_columns(text, "a=b", "--where"),
    )

    def read(report: Any) -> None:
        for line in path.read_bytes().decode("utf-8", "surrogateescape").split("\n"):
            for parse in parsers:
                with suppress(InputError):
                    parse(line)  # type: ignore[operator]

    return read


# Logs


def _pairs(world: ReaderWorld) -> Read:
    while not any(file.records for file in world.files):
        world.logs()
    # One file alone, since finding the files of a folder takes longer than reading one; and not one
    # without rows, as a table then has no columns either.
    file = min((one for one in world.files if one.records), key=lambda one: len(one.records))
    world.files = [file]
    block = world.rng.choice((2, 16384))
    cut = world.rng.choice((None, None, 64))

    def read(report: Any) -> None:
        for part in find_partitions(
            str(file.path), block_rows=block, partition_bytes=cut, report=report
        ):
            for one in part.blocks(report):
                one.utterances.strings()
                one.responses.strings()

    return read


def _posts(world: ReaderWorld) -> Read:
    world.raw_kind = "posts"
    world.raw_logs()
    (path,) = (file.path for file in world.files)
    return lambda report: list(read_posts(str(path), report=report))


def _raw_logs(world: ReaderWorld) -> Read:
    world.raw_logs()
    (path,) = (file.path for file in world.files)
    rules = PairRules(min_posts=2)

    def read(report: Any) -> None:
        skip = report.__name__ == "append"
        logs = RawLogs.find(str(path), None, "skip" if skip else "stop", name_by_file=False)
        with logs.opened(rules, Memory(buckets=1), None) as opened:
            list(opened.threads())
            opened.read_counts()

    return read


def _vectors(world: ReaderWorld) -> Read:
    from deltableu.text.vectors import read_vectors

    path = world.vectors()
    return lambda report: read_vectors(path)


# Layouts


def _layout(name: str) -> Maker:
    def make(world: ReaderWorld) -> Read:
        paths, options = Foreign(world).layouts()[name]()
        request = _request(paths, options)
        if world.rng.random() < 0.8:  # without what is the same for all layouts, and slower
            layout = load_layout(name)
            return lambda report: list(layout.read(request, report, Understanding()))
        return lambda report: import_study(
            name, request, missing="empty", keep_all=True, report=report
        ).tables()

    return make


def _request(paths: list[str], options: Mapping[str, list[str]]) -> Request:
    """As the command line makes it."""

    def files(name: str) -> tuple[Path, ...]:
        return tuple(map(Path, options.get(name, ())))

    def one(name: str) -> str | None:
        return options[name][0] if name in options else None

    def named(name: str) -> dict[str, str]:
        return dict(named_columns(one(name), "a=b", name) or {})

    return Request(
        paths=tuple(map(Path, paths)),
        columns=ColumnMap.parse(one("columns")),
        separators=named("separators"),
        where=named("where"),
        renamed=named("rename"),
        scale=one("scale"),
        pair=one("pair"),
        systems=files("systems"),
        references=files("refs"),
        sources=files("sources"),
    )


# What the program itself wrote


def _toml(world: ReaderWorld) -> Read:
    lines = ["a = 1", "b = [1, 2.5, 1979-05-27T07:32:00Z]", '[c."d.e"]', "f = '''x'''", "[[g]]"]
    path = world.lines("some.toml", lines)
    return lambda report: read_toml(path, report)


def _own_files(world: ReaderWorld) -> Read:
    starts = (b'[{"system": "a"}]', b"system\tbleu\n", b"\\begin{table}\n", b"PAR1", b"item,target")
    path = world.content("some", world.rng.choice(starts) + b"\nx\n\n| a |\n| :- |\n" * 20)
    return lambda report: [begins_as(path, own) for own in Own]


READERS: dict[str, Maker] = {
    "study": _study,
    "study checked": _checked_study,
    "items": _items,
    "outputs": _outputs,
    "ratings": _ratings,
    "systems.toml": _systems,
    "plain text": _plain,
    "n-best lists": _nbest,
    "feature weights": _feature_weights,
    "scores": _scores,
    "preferences": _preferences,
    "past comparisons": _past,
    "history of gates": _history,
    "similarities": _similarities,
    "order of rating": _order,
    "rows of tables": _table_rows,
    "tables in memory": _memory_tables,
    "small texts": _small_texts,
    "logs of pairs": _pairs,
    "posts": _posts,
    "raw logs": _raw_logs,
    "word vectors": _vectors,
    **{f"layout {name}": _layout(name) for name in layout_names()},
    "toml": _toml,
    "own files": _own_files,
    **reader_records.READERS,
    **reader_models.READERS,
}


def run_some(blocks: int, each: int, seed: int = 0) -> Tally:
    """A few inputs of every reader, in this process."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="deltableu-readers-", dir=scratch()) as folder:
        for name, maker in READERS.items():
            for block in range(blocks):
                tally.add(run_block(name, maker, (seed, block), range(each), Path(folder)))
    return tally


def run_again(address: str) -> Tally:
    """One input, or all of a block."""
    name, seed, block, *number = address.split("/")
    numbers = [int(one) for one in number] or range(BLOCK)
    with tempfile.TemporaryDirectory(prefix="deltableu-readers-", dir=scratch()) as folder:
        return run_block(name, READERS[name], (int(seed), int(block)), numbers, Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.readers", description=__doc__)
    parser.add_argument("addresses", nargs="*", help="inputs to read again")
    parser.add_argument("--minutes", type=float, default=1.0, help="at most")
    parser.add_argument("--inputs", type=int, help="end when there were so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--readers", nargs="*", help="only those whose names hold one of these")
    given = parser.parse_args()
    if given.addresses:
        done = Tally()
        for address in given.addresses:
            done.add(run_again(address))
    else:
        from tests.fuzz.reader_runs import run_long

        names = list(_chosen(given.readers))
        done = run_long(names, given.seed, given.minutes, given.inputs, given.jobs)
    print(done.summary())
    return 1 if done.first else 0


def _chosen(parts: list[str] | None) -> Iterator[str]:
    return (name for name in READERS if not parts or any(part in name for part in parts))


if __name__ == "__main__":
    sys.exit(main())
