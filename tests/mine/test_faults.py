"""What happens when something breaks: the results are those of a run where nothing did."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deltableu.corpus.types import Reference, Source
from deltableu.errors import InputError
from deltableu.io import WorkFolder
from deltableu.io.atomic import temporary_beside
from deltableu.mine import BM25, Event, Mined, MiningPlan, RowFilter, dask_jobs, mine_references
from deltableu.mine.checkpoints import keep_counted, kept_counted
from deltableu.mine.dask_engine import Dask
from deltableu.mine.join import Counted
from tests.mine import mining_kit as kit

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ITEMS = kit.make_items()
PLAN = MiningPlan(top=5, random=2)
STAGES = ("counting", "scoring")
MANY, FEW = 10, 5


@pytest.fixture
def many_logs(tmp_path: Path) -> Path:
    kit.make_logs(tmp_path / "logs", MANY)
    return tmp_path / "logs"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    kit.make_logs(tmp_path / "logs", FEW)
    return tmp_path / "logs"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def mine(logs: object, items: Any = ITEMS, **settings: Any) -> Mined:
    settings = {"plan": PLAN, "threads": 1, **settings}
    return mine_references(items, logs, **settings)


def interrupt(logs: object, work: Path, stage: str, after: int = 3, **settings: Any) -> None:
    """Mine until so many partitions are done, and leave checkpoints of these."""
    with pytest.raises(kit.Interrupted):
        mine(logs, work=work, log=kit.interrupting(stage, after), **settings)
    assert len(kit.checkpoints(work, stage)) == after


def files_of(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


# The process is killed.


@pytest.mark.parametrize(
    ("stage", "threads", "blow"),
    [
        ("counting", 2, signal.SIGKILL),
        ("scoring", 1, signal.SIGKILL),
        ("scoring", 2, signal.SIGKILL),
        ("scoring", 2, signal.SIGINT),
    ],
)
def test_killed_and_started_again(stage, threads, blow, many_logs, work, tmp_path):
    settings = {
        "study": ITEMS,
        "logs": str(many_logs),
        "plan": PLAN,
        "work": work,
        "threads": threads,
    }
    with kit.ended(kit.mining(tmp_path, pause=0.05, **settings)) as process:
        kit.wait_until(lambda: len(kit.checkpoints(work, stage)) >= 2)
        process.send_signal(blow)
        assert process.wait(kit.LONG) == -blow
    assert not (tmp_path / "result.pickle").exists()
    done = {one: kit.checkpoints(work, one) for one in STAGES}
    assert 2 <= len(done[stage]) < MANY
    assert len(done["counting"]) == MANY or stage == "counting"

    events = kit.Events()
    found = mine(many_logs, work=work, threads=threads, log=events)
    for one in STAGES:
        assert events.of(one, kept=True) == done[one]
        assert events.of(one, kept=False) == set(range(MANY)) - done[one]
    kit.same(found, mine(many_logs))
    assert not work.exists()


def test_killed_while_a_checkpoint_is_written(logs, work):
    """What is half-written has another name, and goes with the folder in the end."""
    interrupt(logs, work, "scoring")
    (run,) = work.iterdir()
    temporary = temporary_beside(run / "joined-000004.npz")
    temporary.write_bytes(b"PK and half of it")
    kit.same(mine(logs, work=work), mine(logs))
    assert not work.exists()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_killed_many_times(seed, tmp_path, work):
    """Whenever it is killed, and however often, it comes to the same end."""
    kit.make_logs(tmp_path / "logs", files=60, rows=400)
    settings = {"study": ITEMS, "logs": str(tmp_path / "logs"), "plan": PLAN, "work": work}
    rng = np.random.default_rng(seed)
    kills, found = 0, None
    while found is None:
        with kit.ended(kit.mining(tmp_path, pause=0.02, threads=2, **settings)) as process:
            try:
                # It takes about a second to begin, and two to end.
                process.wait(rng.uniform(0.5, 2.0) if kills < 12 else kit.LONG)
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
            else:
                found = kit.mined_by(process, tmp_path)
    assert kills >= 1
    kit.same(found, mine(tmp_path / "logs"))


# A cluster is hurt.


@pytest.mark.parametrize("stage", [pytest.param("counting", marks=pytest.mark.long), "scoring"])
def test_one_of_two_workers_is_killed(stage, many_logs, tmp_path):
    """Amid a job, and with results that were not fetched yet."""
    watch = kit.Watched(tmp_path / "watch")
    plan = replace(PLAN, similarity=watch)
    with kit.cluster(tmp_path / "cluster") as cluster:
        victim, other = cluster.workers
        told: list[Event] = []
        killed = 0

        def log(event: Event) -> None:
            nonlocal killed
            told.extend([event] if event.stage == stage else [])
            if len(told) >= 2 and not killed and watch.at_work(victim.pid):
                victim.kill()
                victim.wait()
                killed = len(told)

        found = mine(many_logs, plan=plan, engine=cluster.address, threads=None, log=log)
    assert 2 <= killed < MANY
    assert watch.at_work(victim.pid)
    assert watch.ended(other.pid)
    kit.same(found, mine(many_logs))


@pytest.mark.long
def test_the_scheduler_is_killed(many_logs, work, tmp_path):
    with kit.cluster(tmp_path / "cluster") as cluster:

        def log(event: Event) -> None:
            if event.stage == "scoring" and len(kit.checkpoints(work, "scoring")) == 3:
                cluster.scheduler.kill()

        sentence = r"^the connection to the Dask cluster at tcp://\S+ was lost; the same call goes"
        with pytest.raises(InputError, match=sentence):
            mine(many_logs, engine=cluster.address, threads=None, work=work, log=log)
    events = kit.Events()
    found = mine(many_logs, work=work, log=events)
    assert len(events.of("scoring", kept=True)) >= 3
    kit.same(found, mine(many_logs))


@pytest.mark.long
def test_all_workers_are_killed(many_logs, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_jobs, "PATIENCE", 2.0)
    with kit.cluster(tmp_path / "cluster") as cluster:

        def log(event: Event) -> None:
            if event.stage == "scoring":
                for worker in cluster.workers:
                    worker.kill()

        sentence = r"^the Dask cluster at tcp://\S+ has had no workers for 2 seconds: start some "
        with pytest.raises(InputError, match=sentence):
            mine(many_logs, engine=cluster.address, threads=None, log=log)


@pytest.mark.long
def test_a_partition_that_kills_every_worker_is_named(tmp_path):
    """Those that only stood beside it are done."""
    jobs = [kit.Deadly(f"partition {number}", number == 5) for number in range(12)]
    done: set[str] = set()
    with kit.cluster(tmp_path / "cluster", options=("--nanny",)) as cluster:
        engine = Dask(cluster.address.removeprefix("dask://"))
        run = engine.run(kit.die, jobs, lambda rows, size: None)
        with pytest.raises(InputError, match=r"^partition 5: every Dask worker that reads it dies"):
            done.update(job.name for job, _ in run)
    # Others may have been as suspicious, and wait behind it.
    assert len(done) >= 8


@pytest.mark.long
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_processes_of_a_killed_cluster_end_themselves(blow, many_logs, work, tmp_path):
    """Ctrl-C reaches all processes of a terminal, and nobody complains."""
    settings = {"study": ITEMS, "logs": str(many_logs), "plan": PLAN, "work": work}
    process = kit.mining(tmp_path, engine="dask", threads=2, pause=0.05, **settings)
    with kit.ended(process):
        kit.wait_until(lambda: len(kit.checkpoints(work, "counting")) >= 2)
        workers = kit.children(process.pid)
        assert len(workers) >= 2
        for pid in (process.pid, *(workers if blow == signal.SIGINT else ())):
            os.kill(pid, blow)
        _, err = process.communicate(timeout=kit.LONG)
        assert process.returncode == -blow
        assert err.count("Traceback") == (blow == signal.SIGINT)
        kit.wait_until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in workers))
    kit.same(mine(many_logs, work=work), mine(many_logs))


# A partition is broken.


def cut_gzip(folder: Path) -> str:
    path = folder / "004.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-200])
    return f"{path}: is not a whole gzip file: copy or compress it again"


def changed_gzip(folder: Path) -> str:
    path = folder / "004.jsonl.gz"
    data = bytearray(path.read_bytes())
    data[-5] ^= 1  # of its length
    path.write_bytes(data)
    return f"{path}: is not a whole gzip file: copy or compress it again"


def parquet(folder: Path, **settings: Any) -> Path:
    """File 4 as Parquet."""
    (folder / "004.jsonl.gz").unlink()
    path = folder / "004.parquet"
    pq.write_table(pyarrow.Table.from_pylist(kit.make_rows(40, seed=4)), path, **settings)
    return path


def cut_parquet(folder: Path) -> str:
    path = parquet(folder)
    path.write_bytes(path.read_bytes()[:-30])
    return f"{path}: is not a readable Parquet file: "


def overwritten_parquet(folder: Path) -> str:
    path = parquet(folder)
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :])
    return f"{path}: is not a readable Parquet file: "


BREAKS = [cut_gzip, changed_gzip, cut_parquet, overwritten_parquet]


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_broken_partition_stops_cleanly(broken, threads, logs, work, tmp_path):
    sentence = broken(logs)
    before = files_of(tmp_path)
    with pytest.raises(InputError) as caught:
        mine(logs, work=work, threads=threads)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    done = kit.checkpoints(work, "counting")
    assert done <= {0, 1, 2, 3}
    assert done == {0, 1, 2, 3} or threads > 1
    after = {name: data for name, data in files_of(tmp_path).items() if "work/" not in name}
    assert after == before
    assert all(path.name.startswith("counted-") for path in work.glob("*/*.npz"))

    # The same run can be had without it, and with the same checkpoints.
    found = mine(logs, work=work, threads=threads, on_error="skip")
    assert len(found.unreadable_parts) == 1
    next(logs.glob("004*")).unlink()
    kit.same(replace(found, unreadable_parts=()), mine(logs))


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_broken_partition_is_skipped_and_told_of(broken, threads, logs):
    sentence = broken(logs)
    found = mine(logs, threads=threads, on_error="skip")
    (problem,) = found.unreadable_parts
    assert str(problem).startswith(sentence)
    assert found.unreadable_rows == 0
    assert found.rows == 4 * 40
    next(logs.glob("004*")).unlink()
    kit.same(replace(found, unreadable_parts=()), mine(logs))


def test_one_row_group_of_several_is_broken(logs):
    """The others of the file are good."""
    path = parquet(logs, row_group_size=10)
    column = pq.ParquetFile(path).metadata.row_group(2).column(0)
    begin = column.dictionary_page_offset or column.data_page_offset
    data = path.read_bytes()
    end = begin + column.total_compressed_size
    path.write_bytes(data[:begin] + bytes(end - begin) + data[end:])
    with pytest.raises(InputError, match=r"004\.parquet"):
        mine(logs, partition_bytes=300)
    found = mine(logs, partition_bytes=300, on_error="skip")
    assert len(found.unreadable_parts) == 1
    assert found.rows == 4 * 40 + 30
    rows = kit.make_rows(40, seed=4)
    good = pyarrow.Table.from_pylist([*rows[:20], *rows[30:]])
    pq.write_table(good, path)
    kit.same(replace(found, unreadable_parts=()), mine(logs))


def bad_json(lines: list[str]) -> str:
    lines[6] = lines[6][:-3]
    return "line 7: is not valid JSON at column "


def missing_field(lines: list[str]) -> str:
    row = json.loads(lines[6])
    del row["response"]
    lines[6] = json.dumps(row)
    return "line 7, response: "


@pytest.mark.parametrize("broken", [bad_json, missing_field])
@pytest.mark.parametrize("name", ["003.jsonl", "004.jsonl.gz"])
def test_a_bad_line(broken, name, logs, work):
    path = logs / name
    packed = name.endswith(".gz")
    data = path.read_bytes()
    lines = (gzip.decompress(data) if packed else data).decode().splitlines()

    def write() -> None:
        text = "".join(line + "\n" for line in lines).encode()
        path.write_bytes(gzip.compress(text) if packed else text)

    where = f"{path}, {broken(lines)}"
    write()
    with pytest.raises(InputError) as caught:
        mine(logs, work=work)
    assert str(caught.value).startswith(where)
    assert kit.checkpoints(work, "counting") == set(range(int(name[:3])))
    found = mine(logs, work=work, on_error="skip")
    assert (found.unreadable_rows, found.unreadable_parts, found.rows) == (1, (), 199)
    del lines[6]
    write()
    kit.same(replace(found, unreadable_rows=0), mine(logs))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("broken", [cut_gzip, None])
def test_who_wants_to_stop_gets_nothing_of_who_skipped(broken, stage, logs, work):
    """Checkpoints may be from a run that left rows out."""
    if broken is None:
        lines = (logs / "003.jsonl").read_text().splitlines(keepends=True)
        lines[3] = "no JSON\n"
        (logs / "003.jsonl").write_text("".join(lines))
    else:
        broken(logs)
    interrupt(logs, work, stage, after=4, on_error="skip")
    with pytest.raises(InputError, match=r"003\.jsonl, line 4: " if broken is None else r"\.gz: "):
        mine(logs, work=work)


# Checkpoints are damaged, or of something else.


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: bytes(len(data)),
        lambda data: data[:300] + bytes([data[300] ^ 4]) + data[301:],
        lambda data: b"not what was written",
    ],
    ids=["empty", "start", "half", "short", "long", "zeros", "a bit", "text"],
)
def test_a_damaged_checkpoint_is_done_again(damage, stage, logs, work):
    interrupt(logs, work, "scoring", after=3)
    name = {"counting": "counted", "scoring": "joined"}[stage]
    (path,) = work.glob(f"*/{name}-000002.npz")
    path.write_bytes(damage(path.read_bytes()))
    events = kit.Events()
    found = mine(logs, work=work, log=events)
    assert events.of(stage, kept=False) == ({2} if stage == "counting" else {2, 3, 4})
    kit.same(found, mine(logs))


def test_no_flipped_bit_goes_unnoticed(tmp_path):
    work = WorkFolder(tmp_path, "run")
    work.begin()
    keep_counted(work, 0, Counted(7, np.arange(5)))
    (path,) = tmp_path.glob("*/*.npz")
    data = path.read_bytes()
    found = kept_counted(work, 0)
    assert found is not None
    assert (found.rows, found.sums.tolist(), found.problem) == (7, [0, 1, 2, 3, 4], None)
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        assert kept_counted(work, 0) is None


def first(**changes: Any) -> tuple[Any, ...]:
    return (replace(ITEMS[0], **changes), *ITEMS[1:])


OTHER_ITEMS = {
    "message": first(message="w1 w2 w3"),
    "reference": first(references=(Reference("a", "w1 w9"),)),
    "another reference": first(references=(*ITEMS[0].references, Reference("b", "w3"))),
    "origin": first(
        references=(replace(ITEMS[0].references[0]), Reference("b", "w3", None, "written"))
    ),
    "source": first(references=(replace(ITEMS[0].references[0], source=Source(id="3-1")),)),
    "id": first(id="3-2"),
    "thread": first(meta={"thread": "7"}),
    "fewer": ITEMS[:-1],
    "order": (ITEMS[1], ITEMS[0], *ITEMS[2:]),
}
OTHER_PLANS = {
    "on": replace(PLAN, similarity=BM25("utterance")),
    "k1": replace(PLAN, similarity=BM25(k1=1.4)),
    "b": replace(PLAN, similarity=BM25(b=0.7)),
    "idf": replace(PLAN, similarity=BM25(idf="robertson")),
    "product": replace(PLAN, similarity=BM25(product="plain")),
    "alpha": replace(PLAN, similarity=BM25(alpha=0.6)),
    "epsilon": replace(PLAN, similarity=BM25(epsilon=0.2)),
    "top": replace(PLAN, top=6),
    "words": replace(PLAN, rows=RowFilter(min_words=3)),
    "junk": replace(PLAN, rows=RowFilter(junk=False)),
    "parrot": replace(PLAN, parrot=True),
    "random": replace(PLAN, random=3),
    "seed": replace(PLAN, seed=1),
    "diversity": replace(PLAN, diversity=0.5),
}


def rewritten(logs: Path) -> None:
    """As long as before, and only in a word."""
    path = logs / "000.jsonl"
    text = path.read_text()
    path.write_text(text.replace("w1 ", "w2 ", 1))
    assert len(path.read_text()) == len(text)


def shorter(logs: Path) -> None:
    (logs / "003.jsonl").unlink()


def longer(logs: Path) -> None:
    (logs / "zzz.jsonl").write_text((logs / "000.jsonl").read_text())


def renamed(logs: Path) -> None:
    """In another order, ties end otherwise."""
    (logs / "000.jsonl").rename(logs / "zzz.jsonl")


@pytest.mark.parametrize(
    "change",
    [
        *(pytest.param({"items": items}, id=name) for name, items in OTHER_ITEMS.items()),
        *(pytest.param({"plan": plan}, id=name) for name, plan in OTHER_PLANS.items()),
        *(
            pytest.param(change, id=change.__name__)
            for change in (rewritten, shorter, longer, renamed)
        ),
        pytest.param({"partition_bytes": 1000}, id="partitions"),
    ],
)
def test_other_items_settings_or_logs_start_anew(change, logs, work):
    interrupt(logs, work, "scoring")
    before = files_of(work)
    settings = change if isinstance(change, dict) else {}
    if callable(change):
        change(logs)
    events = kit.Events()
    found = mine(logs, work=work, log=events, **settings)
    assert not any(event.kept for event in events.all)
    kit.same(found, mine(logs, **settings))
    # The other run may still go on.
    assert files_of(work) == before


def test_the_same_again_goes_on(logs, work):
    """Nothing of what else is said counts as a change."""
    interrupt(logs, work, "scoring")
    events = kit.Events()
    rated = tuple(
        replace(item, references=(replace(item.references[0], weight=0.5),), meta={"note": 1})
        for item in ITEMS
    )
    found = mine(logs, rated, work=work, threads=2, log=events)
    assert len(events.of("scoring", kept=True)) == 3
    assert found.study.items == mine(logs, rated).study.items


def test_no_room_for_checkpoints(logs, work):
    """A disk is full, here by a limit on the size of files."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(InputError, match=r"counted-000000\.npz: cannot be written: File too"):
            mine(logs, work=work)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert files_of(work) == {}


def test_no_folder_for_checkpoints(logs, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be made to keep checkpoints in: Not a directory"):
        mine(logs, work=tmp_path / "file")


# Logs change.


def lose_a_row(logs: Path) -> str:
    path = logs / "003.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    return "had 40 rows when they were counted and 39 when they were scored"


def gain_a_row(logs: Path) -> str:
    path = logs / "004.jsonl.gz"
    text = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(text + text.splitlines(keepends=True)[0]))
    return "had 40 rows when they were counted and 41 when they were scored"


def vanish(logs: Path) -> str:
    (logs / "003.jsonl").unlink()
    return "there is no such file"


@pytest.mark.parametrize("change", [lose_a_row, gain_a_row, vanish])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("threads", [1, 3])
def test_logs_that_change_between_the_passes(change, on_error, threads, logs, work):
    sentence = ""

    def log(event: Event) -> None:
        nonlocal sentence
        if len(kit.checkpoints(work, "counting")) == FEW and not sentence:
            sentence = change(logs)

    with pytest.raises(InputError) as caught:
        mine(logs, work=work, threads=threads, on_error=on_error, log=log)
    assert sentence in str(caught.value)
    assert "00" in str(caught.value)
