"""Whoever does the work, and however it is cut, the references are the same."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from deltableu.errors import InputError, Problem
from deltableu.mine import (
    BM25,
    MiningPlan,
    Threads,
    dask_engine,
    dask_jobs,
    make_engine,
    mine_references,
)
from deltableu.mine.dask_engine import Dask
from deltableu.mine.run import Progress
from tests.mine import mining_kit as kit

ITEMS = kit.make_items()
PLANS = {
    "both": MiningPlan(),
    "utterance": MiningPlan(BM25("utterance"), top=3),
    "response": MiningPlan(BM25("response", idf="atire")),
    "all": MiningPlan(top=4, random=3, parrot=True, diversity=0.4, seed=5),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mine") / "logs"
    kit.make_logs(folder)
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kit.cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made.address


def mine(logs: object, **settings: Any) -> Any:
    settings.setdefault("partition_bytes", 4000)
    return mine_references(ITEMS, logs, **settings)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_any_number_of_threads(plan, logs):
    wanted = mine(logs, plan=plan, threads=1, partition_bytes=1 << 20)
    assert wanted.rows == 400
    assert wanted.added["mined"] > 30
    for threads in (1, 2, 4):
        kit.same(mine(logs, plan=plan, threads=threads), wanted)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_cluster_of_processes(plan, logs, cluster):
    kit.same(mine(logs, plan=plan, engine=cluster), mine(logs, plan=plan, threads=1))


def equally_long(rows: Sequence[dict[str, str]]) -> tuple[str, int]:
    """One row a line, and the length of every line."""
    lines = [json.dumps(row) for row in rows]
    longest = max(map(len, lines))
    return "".join(f"{line:{longest}}\n" for line in lines), longest + 1


def test_partitions_of_one_row(tmp_path, cluster):
    text, length = equally_long(kit.make_rows(60, seed=7))
    (tmp_path / "logs.jsonl").write_text(text)
    wanted = mine(tmp_path / "logs.jsonl", threads=1, partition_bytes=1 << 20)
    for settings in ({"threads": 1}, {"threads": 4}, {"engine": cluster}):
        events = kit.Events()
        found = mine(tmp_path / "logs.jsonl", partition_bytes=length, log=events, **settings)
        assert [event.rows for event in events.all] == [1] * 2 * 60
        kit.same(found, wanted)


@pytest.mark.parametrize("rows", [1, 40], ids=["one row", "many rows"])
def test_logs_that_are_in_memory(rows, cluster):
    pairs = [(row["utterance"], row["response"]) for row in kit.make_rows(rows, seed=3)]
    kit.same(mine(pairs, engine=cluster), mine(pairs, threads=1))


def test_large_logs_in_memory_travel_without_a_word(cluster, capfd):
    """Dask warns of jobs above 10 MB."""
    pairs = [("w1 w2 " + "x" * 1000, "w3 " + "y" * 1000)] * 7000
    kit.same(mine(pairs, engine=cluster), mine(pairs, threads=1))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("engine", ["threads", "cluster"])
def test_checkpoints_of_one_engine_serve_another(engine, logs, cluster, tmp_path):
    """The run is interrupted, and goes on elsewhere."""
    first, second = "threads", cluster
    if engine == "cluster":
        first, second = second, first
    interrupted = {"engine": first, "work": tmp_path, "log": kit.interrupting("scoring", 5)}
    with pytest.raises(kit.Interrupted):
        mine(logs, **interrupted)
    done = kit.checkpoints(tmp_path, "scoring")
    assert len(done) >= 5
    events = kit.Events()
    found = mine(logs, engine=second, work=tmp_path, log=events)
    assert events.of("scoring", kept=True) == done
    assert events.of("counting", kept=False) == set()
    kit.same(found, mine(logs, threads=1))


def test_processes_of_this_machine_work_quietly(logs, tmp_path):
    """A process of its own, so that all that Dask might print is seen, also at the end."""
    settings = {"study": ITEMS, "logs": str(logs), "partition_bytes": 4000}
    process = kit.mining(tmp_path, engine="dask", threads=2, **settings)
    with kit.ended(process):
        kit.same(kit.mined_by(process, tmp_path), mine(logs, threads=1))


@dataclass
class OldFloors:
    """Does jobs in any order, with floors that were those of any time before."""

    seed: int
    seen: list[float] = field(default_factory=list)

    def __enter__(self) -> OldFloors:
        return self

    def __exit__(self, *error: object) -> None: ...

    def run(self, task: Any, jobs: Any, tell: Any) -> Any:
        rng = random.Random(self.seed)
        jobs = rng.sample(jobs, len(jobs))
        floors = [jobs[0].floors and copy.deepcopy(jobs[0].floors)]
        for job in jobs:
            if job.floors is not None:
                job = copy.copy(job)
                object.__setattr__(job, "floors", rng.choice(floors))
                self.seen.append(float(job.floors.values.max()))
            yield job, task(job, tell)
            now = next(iter(jobs)).floors
            floors.append(now and copy.deepcopy(now))


@pytest.mark.parametrize("seed", range(8))
def test_floors_never_change_the_results(seed, logs):
    engine = OldFloors(seed)
    found = mine(logs, engine=engine, plan=PLANS["all"])
    assert min(engine.seen) == 0.0
    assert max(engine.seen) > 0.0
    kit.same(found, mine(logs, threads=1, plan=PLANS["all"]))


class Board:
    """Something that changes while jobs are done."""

    written = 0


@dataclass
class Note:
    """A job that reads it, and counts how often it was sent."""

    name: str
    board: Board
    sent: list[int]

    def __getstate__(self) -> dict[str, object]:
        self.sent.append(1)
        return {"name": self.name, "board": self.board.__dict__.copy()}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)


class Reading:
    """A task that counts how often it was sent."""

    def __init__(self, sent: list[int]) -> None:
        self.sent = sent

    def __reduce__(self) -> Any:
        self.sent.append(1)
        return Reading, ([],)

    def __call__(self, job: Note, tell: Any) -> tuple[int, int]:
        tell(2, 30)
        time.sleep(0.005)
        return os.getpid(), job.board.get("written", 0)  # type: ignore[attr-defined]


def test_jobs_are_sent_late_and_the_task_once(cluster):
    """So jobs know what others have found, and results do not pile up."""
    board, sent, tasks, told = Board(), [], [], []
    jobs = [Note(str(number), board, sent) for number in range(60)]
    engine = Dask(cluster.removeprefix("dask://"))
    done, workers, read = [], set(), {}
    run = engine.run(Reading(tasks), jobs, lambda rows, size: told.append((rows, size)))
    for job, (worker, number) in run:
        done.append(job.name)
        workers.add(worker)
        read[int(job.name)] = number
        assert len(sent) - len(done) <= 4
        board.written = len(done)
    assert sorted(done, key=int) == [job.name for job in jobs]
    assert len(tasks) == 1
    assert len(sent) == len(told) == 60
    assert set(told) == {(2, 30)}
    assert len(workers) == 2
    assert all(number - 5 < seen <= number for number, seen in read.items())


def test_a_limit_of_jobs_on_their_way(cluster):
    board, sent = Board(), []
    jobs = [Note(str(number), board, sent) for number in range(10)]
    engine = Dask(cluster.removeprefix("dask://"), 1)
    for done, _ in enumerate(engine.run(Reading([]), jobs, lambda rows, size: None), start=1):
        assert len(sent) == done


def test_progress_of_a_cluster_reaches_the_end(logs, cluster):
    heard: list[Progress] = []
    mine(logs, engine=cluster, progress=heard.append)
    for stage in ("counting", "scoring"):
        last = [progress for progress in heard if progress.stage == stage][-1]
        assert last.rows == 400
        assert last.done == last.total == sum(path.stat().st_size for path in logs.iterdir())


def test_ending_early_ends_the_work(cluster):
    """Jobs that nobody waits for any more are taken back."""
    jobs = [Note(str(number), Board(), []) for number in range(20)]
    with closing(Dask(cluster.removeprefix("dask://")).run(Sleeping(), jobs, print)) as run:
        next(run)
    began = time.monotonic()
    assert len(list(Dask(cluster.removeprefix("dask://")).run(Reading([]), jobs, quiet))) == 20
    assert time.monotonic() - began < 10


def quiet(rows: int, size: int) -> None: ...


class Sleeping:
    def __call__(self, job: Note, tell: Any) -> None:
        time.sleep(0.2)


class Failing:
    """A task that raises what it is given."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, job: Note, tell: Any) -> None:
        raise self.error


@pytest.mark.parametrize("engine", ["threads", "cluster"])
def test_errors_come_home_as_they_are(engine, cluster):
    made = Threads(2) if engine == "threads" else Dask(cluster.removeprefix("dask://"))
    jobs = [Note("a", Board(), [])]
    problem = Problem("is empty", file="logs.tsv", line=7, field="response")
    with pytest.raises(InputError, match=r"^logs.tsv, line 7, response: is empty$") as caught:
        list(made.run(Failing(InputError(problem)), jobs, quiet))
    assert caught.value.problem == problem
    for error in (TimeoutError("of a disk"), OSError(5, "bad disk"), KeyError("bug")):
        with pytest.raises(type(error)) as raised:
            list(made.run(Failing(error), jobs, quiet))
        assert raised.value.args == error.args


@pytest.mark.parametrize("engine", ["threads", "cluster"])
def test_a_broken_partition(engine, cluster, tmp_path):
    """Named, or left out and counted, wherever it was found."""
    kit.make_logs(tmp_path / "logs", files=5)
    path = tmp_path / "logs" / "001.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-100])
    name = engine if engine == "threads" else cluster
    problem = Problem("is not a whole gzip file: copy or compress it again", file=str(path))
    with pytest.raises(InputError) as caught:
        mine(tmp_path / "logs", engine=name)
    assert caught.value.problem == problem
    found = mine(tmp_path / "logs", engine=name, on_error="skip")
    assert found.unreadable_parts == (problem,)
    path.unlink()
    kit.same(replace(found, unreadable_parts=()), mine(tmp_path / "logs"))


def test_logs_that_workers_do_not_see(logs, cluster, monkeypatch):
    """They have another folder to look from."""
    monkeypatch.chdir(logs.parent)
    with pytest.raises(InputError, match=r"^logs/00.*: is not there for the Dask workers: give a "):
        mine("logs", engine=cluster)


def test_errors_survive_pickling():
    problem = Problem("is empty", file="logs.tsv", line=7, field="response")
    error = pickle.loads(pickle.dumps(InputError(problem)))
    assert str(error) == "logs.tsv, line 7, response: is empty"
    assert error.problem == problem


def test_no_scheduler(logs, monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECT", 0.5)
    with pytest.raises(InputError) as caught:
        mine(logs, engine="dask://127.0.0.1:9")
    assert str(caught.value) == (
        "no Dask scheduler answers at tcp://127.0.0.1:9: start one with `dask scheduler`, or "
        "check host and port, and whether it speaks TLS"
    )


@pytest.mark.parametrize("name", ["dask://127.0.0.1:many", "dask://gopher://127.0.0.1:1"])
def test_no_such_address(name, logs):
    with pytest.raises(InputError, match=f"^the Dask scheduler at .*{name[-5:]} cannot be used: "):
        mine(logs, engine=name)


def test_no_dask(logs, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError) as caught:
        mine(logs, engine="dask")
    message = "the engine dask needs Dask: run pip install 'deltableu[cluster]'"
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "name", ["", "thread", "dask:8786", "dask://", "tls", "tls://", "spark://host:1"]
)
def test_no_such_engine(name):
    with pytest.raises(InputError, match=r"^engine must be threads, dask, dask://HOST:PORT or "):
        make_engine(name)


@pytest.mark.parametrize(
    ("there", "what"),
    [(("0.0.0", None), r"deltableu \S+, but who mines has 0\.0\.0"), ((None, "1.1"), "Unicode")],
)
def test_a_worker_of_another_version(there, what, logs, cluster, monkeypatch):
    both = tuple(b or a for a, b in zip(dask_jobs.INSTALLED, there, strict=True))
    monkeypatch.setattr(dask_jobs, "INSTALLED", both)
    with pytest.raises(InputError, match=rf"^the Dask worker at tcp://127\S+ has {what}"):
        mine(logs, engine=cluster)
    monkeypatch.undo()
    assert mine(logs, engine=cluster).rows == 400


def test_finished_work_needs_no_cluster(logs, tmp_path, monkeypatch):
    """All partitions are kept, so that nobody is asked."""
    with pytest.raises(kit.Interrupted):
        mine(logs, work=tmp_path, log=kit.interrupting("scoring", 10), threads=1)
    monkeypatch.setattr(dask_engine, "CONNECT", 0.1)
    found = mine(logs, work=tmp_path, engine="dask://127.0.0.1:9")
    kit.same(found, mine(logs, threads=1))


@pytest.mark.long
def test_a_script_without_a_guard_is_told_what_to_do(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import deltableu, sys\n"
        "from deltableu.mine import mine_references\n"
        "from tests.mine.mining_kit import make_items\n"
        "try:\n"
        "    mine_references(make_items(), [('w1', 'w2')], engine='dask', threads=1)\n"
        "except deltableu.errors.InputError as error:\n"
        "    print(error)\n"
    )
    process = kit.python("-W", "error", script)
    with kit.ended(process):
        out, err = process.communicate(timeout=kit.LONG)
    assert err == ""
    assert out.startswith("the Dask workers of this machine did not start (")
    assert out.endswith('the call must stand under `if __name__ == "__main__":`\n')


@pytest.mark.long
def test_a_worker_without_this_package(logs, tmp_path):
    """It says so, and lives."""
    preload = tmp_path / "preload.py"
    preload.write_text("import sys\nsys.modules['deltableu'] = None\n")
    options = ("--no-nanny", "--preload", str(preload))
    with kit.cluster(tmp_path / "cluster", 1, options) as made:
        with pytest.raises(InputError, match=r"^a worker of the .* has no deltableu .*: install"):
            mine(logs, engine=made.address)
        assert made.workers[0].poll() is None
