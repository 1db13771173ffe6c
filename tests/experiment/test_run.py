"""Experiments that run, run again, change, fail and are killed."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import pytest

from deltableu.errors import InputError
from deltableu.experiment import (
    Ran,
    StageEvent,
    downstream,
    experiment_state,
    read_design,
    run_stages,
)
from deltableu.experiment.keys import FileHashes, stage_keys
from deltableu.experiment.store import StageStore
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
