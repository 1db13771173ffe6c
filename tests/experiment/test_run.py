"""Experiments that run, run again, change, fail and are killed."""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from deltableu.errors import InputError
from deltableu.experiment import (
    Design,
    Ran,
    StageEvent,
    downstream,
    experiment_state,
    read_design,
    run_stages,
    unused_results,
)
from deltableu.experiment.keys import FileHashes, stage_keys
from deltableu.experiment.store import StageStore
from deltableu.io import render
from tests.experiment.pipeline import (
    DESIGN,
    finish,
    kill_in_stage,
    results,
    stages_running,
    start,
    write_everything,
    write_small,
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A finished experiment: its configuration and its folder."""
    folder = tmp_path_factory.mktemp("experiment")
    design = write_small(folder)
    finish(design, folder / "out")
    return design, folder / "out"


def ran(design: Path, folder: Path) -> tuple[Ran, dict[str, str]]:
    """Run it here; how each stage ended."""
    ends: dict[str, str] = {}

    def hear(event: StageEvent) -> None:
        if event.kind in ("kept", "finished", "failed"):
            ends[event.stage] = event.kind

    return run_stages(read_design(design).stages, folder, on_event=hear), ends


def test_a_second_run_does_nothing_and_says_the_same(undisturbed: tuple[Path, Path]) -> None:
    design, folder = undisturbed
    before = results(folder)
    out, err = finish(design, folder)
    assert "done before: pairs, mine, study, score, compare, report" in err
    assert "A small experiment" in out
    assert "bleu" in out
    assert results(folder) == before
    state = experiment_state(read_design(design), folder)
    assert {one.state for one in state.stages} == {"done"}
    assert state.others == 0


def test_a_setting_repeats_exactly_what_comes_after_it(undisturbed: tuple[Path, Path]) -> None:
    design, folder = undisturbed
    design.write_text(DESIGN.replace("top = 3", "top = 2"))
    try:
        stages = read_design(design).stages
        begun = {
            one.name
            for one in experiment_state(read_design(design), folder).stages
            if one.state != "done"
        }
        _, ends = ran(design, folder)
        repeated = {name for name, end in ends.items() if end == "finished"}
        assert repeated == begun == downstream(stages, ["mine"])
        assert repeated == {"mine", "study", "score", "compare", "report"}
    finally:
        design.write_text(DESIGN)
    _, ends = ran(design, folder)
    assert set(ends.values()) == {"kept"}


def test_a_cluster_gives_the_same_results(undisturbed: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    design, folder = undisturbed
    stages = read_design(design, engine="dask").stages
    keys = stage_keys(stages, FileHashes())
    wanted = [stage for stage in stages if stage.name in ("pairs", "mine")]
    found = run_stages(wanted, tmp_path / "out").path("mine", "study/items.jsonl")
    local = folder / "stages" / "mine" / keys["mine"] / "study" / "items.jsonl"
    assert found.read_bytes() == local.read_bytes()


def test_keys_change_with_files_and_code_and_nothing_else(tmp_path: Path) -> None:
    stages = read_design(write_small(tmp_path)).stages
    before = stage_keys(stages, FileHashes())
    assert stage_keys(stages, FileHashes()) == before
    (tmp_path / "talks.jsonl").touch()
    assert stage_keys(stages, FileHashes()) == before
    (tmp_path / "other.jsonl").write_text('{"id": "i0", "text": "other"}\n')
    after = stage_keys(stages, FileHashes())
    changed = {name for name, key in after.items() if key != before[name]}
    assert changed == downstream(stages, ["study"])
    assert not set(stage_keys(stages, FileHashes(), "other").values()) & set(before.values())


def test_hashes_are_kept_and_noticed_to_be_old(tmp_path: Path) -> None:
    stages = read_design(write_small(tmp_path)).stages
    memory = tmp_path / "files.json"
    hashes = FileHashes(memory)
    before = stage_keys(stages, hashes)
    hashes.keep()
    assert stage_keys(stages, FileHashes(memory)) == before
    (tmp_path / "talks.jsonl").write_text('{"id": "1", "turns": ["a", "b"]}\n')
    assert stage_keys(stages, FileHashes(memory)) != before
    memory.write_text("no json")
    assert stage_keys(stages, FileHashes(memory)) == stage_keys(stages, FileHashes())


def test_a_failed_stage_is_named_and_what_was_done_stays(tmp_path: Path) -> None:
    design = write_small(tmp_path)
    good = (tmp_path / "other.jsonl").read_text()
    (tmp_path / "other.jsonl").write_text('{"id": "nobody", "text": "x"}\n')
    with pytest.raises(InputError, match=r"stage study: .*other\.jsonl.*nobody"):
        ran(design, tmp_path / "out")
    (tmp_path / "other.jsonl").write_text(good)
    _, ends = ran(design, tmp_path / "out")
    assert (ends["pairs"], ends["mine"], ends["study"]) == ("kept", "kept", "finished")


def test_two_runs_do_not_meet_and_strange_folders_are_left_alone(tmp_path: Path) -> None:
    design = write_small(tmp_path)
    process = start(design, tmp_path / "out")
    while not (tmp_path / "out" / "stages").is_dir() or not list((tmp_path / "out").glob("lock")):
        time.sleep(0.01)
    time.sleep(0.1)
    with pytest.raises(InputError, match="is at work here"):
        ran(design, tmp_path / "out")
    process.kill()
    process.communicate()
    with pytest.raises(InputError, match="holds something else than an experiment"):
        ran(design, tmp_path / "given")


@pytest.fixture(scope="module")
def first_stage(tmp_path_factory: pytest.TempPathFactory) -> tuple[Design, Path]:
    """An experiment of one stage, and a folder in which it is done."""
    folder = tmp_path_factory.mktemp("one")
    design = read_design(write_small(folder))
    one = replace(design, stages=design.stages[:1])
    run_stages(one.stages, folder / "out")
    return one, folder / "out"


@pytest.fixture
def done(first_stage: tuple[Design, Path], tmp_path: Path) -> tuple[Design, Path, Path]:
    """The same, its folder a copy, and the folder of the stage in it."""
    design, folder = first_stage
    shutil.copytree(folder, tmp_path / "out")
    (place,) = (tmp_path / "out" / "stages" / "pairs").iterdir()
    return design, tmp_path / "out", place


def state_of(design: Design, folder: Path) -> str:
    """How far it is, as a table says and as the next run finds."""
    (state,) = experiment_state(design, folder).stages
    ends: list[str] = []
    run_stages(design.stages, folder, on_event=lambda event: ends.append(event.kind))
    assert (ends[-1] == "kept") == (state.state == "done")
    assert experiment_state(design, folder).stages[0].state == "done"
    return state.state


SPOILT = [
    ("stage.json", b""),
    ("stage.json", b"{"),
    ("stage.json", b"[1, 2]"),
    ("stage.json", b"\xff\xfe"),
    ("stage.json", b"[" * 100_000),
    ("stage.json", None),
    ("pairs/system.tsv", None),
    ("pairs/system.tsv", b"utterance\tresponse\n"),
    ("pairs", None),
]


@pytest.mark.parametrize(("name", "content"), SPOILT, ids=lambda one: repr(one)[:20])
def test_spoilt_or_removed_results_are_made_again(
    done: tuple[Design, Path, Path], name: str, content: bytes | None
) -> None:
    design, folder, place = done
    before = {path: path.read_bytes() for path in (place / "pairs").iterdir()}
    if content is not None:
        (place / name).write_bytes(content)
    elif (place / name).is_dir():
        shutil.rmtree(place / name)
    else:
        (place / name).unlink()
    assert "lost: results of pairs were removed" in render(
        [experiment_state(design, folder).table()], "markdown"
    )
    assert state_of(design, folder) == "lost"
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    "wrong", [{"seconds": "long"}, {"notes": 3}, {"files": [1]}, {"key": "x"}, {"stage": None}]
)
def test_a_record_of_other_kinds_is_none(
    done: tuple[Design, Path, Path], wrong: dict[str, object]
) -> None:
    design, folder, place = done
    found = json.loads((place / "stage.json").read_text())
    (place / "stage.json").write_text(json.dumps({**found, **wrong}))
    assert experiment_state(design, folder).stages[0].state == "lost"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"%s": 3}', '{"%s": ["a", 2, []]}', '{"%s": [1, 2, 3]}', "[" * 99999],
)
def test_spoilt_hashes_of_files_are_found_again(
    done: tuple[Design, Path, Path], content: str
) -> None:
    design, folder, _ = done
    talks = folder.parent / "talks.jsonl"
    (folder / "files.json").write_text(content.replace("%s", str(talks)))
    assert state_of(design, folder) == "done"


def test_cleaning_waits_for_nobody(done: tuple[Design, Path, Path]) -> None:
    design, folder, place = done
    other = shutil.copytree(place, place.with_name("0" * 16))
    with StageStore(folder).at_work():
        with pytest.raises(InputError, match="is at work here: wait until it ends"):
            unused_results(design, folder)
        with pytest.raises(InputError, match="is at work here: wait until it ends"):
            run_stages(design.stages, folder)
    assert other.is_dir()
    number, size = unused_results(design, folder)
    assert (number, size > 0, other.exists(), place.is_dir()) == (1, True, False, True)


def test_cleaning_a_new_folder_leaves_nothing_in_it(
    first_stage: tuple[Design, Path], tmp_path: Path
) -> None:
    design, _ = first_stage
    (tmp_path / "empty").mkdir()
    for name in ("empty", "none"):
        assert unused_results(design, tmp_path / name) == (0, 0)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty"]


BOT = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "text": "hello"}))
"""


def test_a_program_belongs_to_what_its_stage_depends_on(tmp_path: Path) -> None:
    path = write_small(tmp_path)
    (tmp_path / "bot.py").write_text(BOT)
    command = f'[systems.bot]\nkind = "program"\ncommand = "{sys.executable} bot.py"\n'
    path.write_text(f'[items]\nstudy = "given"\n{command}')
    stages = read_design(path).stages[:1]

    def says(word: str) -> bool:
        found = run_stages(stages, tmp_path / "out").path("answer-bot", "bot.jsonl")
        return f'"{word}"' in found.read_text()

    assert says("hello")
    (tmp_path / "bot.py").write_text(BOT.replace("hello", "goodbye"))
    assert says("goodbye")


def check_killed(
    design: Path, folder: Path, expected: dict[str, bytes], moments: list[tuple[str, float]]
) -> int:
    """Kill a run at each of these moments, go on, and compare what comes out."""
    killed = 0
    for stage, delay in moments:
        killed += kill_in_stage(start(design, folder), folder, stage, delay)
        deadline = time.monotonic() + 10
        while stages_running(folder) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not stages_running(folder), "a stage outlived the run"
    finish(design, folder)
    assert results(folder) == expected
    return killed


def test_a_killed_run_goes_on_to_the_same_results(
    undisturbed: tuple[Path, Path], tmp_path: Path
) -> None:
    design, folder = undisturbed
    moments = [("mine", 0.3), ("report", 0.6)]
    assert check_killed(design, tmp_path / "out", results(folder), moments) == 2


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_run_killed_in_each_stage_goes_on_to_the_same_results(tmp_path: Path) -> None:
    """Every sort of stage, at random moments of it, beside an undisturbed run."""
    pytest.importorskip("torch")
    design, folder = write_everything(tmp_path), tmp_path / "undisturbed"
    finish(design, folder)
    stages = read_design(design).stages
    keys = stage_keys(stages, FileHashes())
    took = {stage.name: record_seconds(folder, stage.name, keys[stage.name]) for stage in stages}
    expected, rng, killed = results(folder), random.Random(1), 0
    for stage in stages:
        # What comes before it is done; the stage and what comes after it are not.
        place = tmp_path / f"killed-{stage.name}"
        shutil.copytree(folder, place)
        for name in downstream(stages, [stage.name]):
            shutil.rmtree(place / "stages" / name)
        moments = [(stage.name, rng.uniform(0.0, took[stage.name])) for _ in range(2)]
        killed += check_killed(design, place, expected, moments)
    assert killed > len(stages)


def record_seconds(folder: Path, stage: str, key: str) -> float:
    record = StageStore(folder).record(stage, key)
    assert record is not None
    return record.seconds
