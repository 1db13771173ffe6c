"""Whatever a command does, and however it fails, what is not its own stays as it was."""

from __future__ import annotations

import gzip
import hashlib
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deltableu.corpus import read_study, write_study
from deltableu.io import WorkFolder
from tests.judges.planted import planted_topics
from tests.judges.rater_kit import small_model, small_study

EXAMPLES = Path(__file__).parents[2] / "examples"
PARTS = ("key", "lock", "deltableu.json", "scratch", "notes", "journal.jsonl", ".x.deltableu.tmp")
PARTS += ("state.npz", "pairs.npz", "vocabulary.npz", "counted.npz", "counted-000000.npz")


def checksums(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


def strangers(folder: Path) -> None:
    """Files and folders of other people, also with the names that jobs use."""
    for name in PARTS:
        (folder / name).write_text(f"somebody's {name}")
        inside = folder / "shared" / name
        inside.mkdir(parents=True)
        (inside / "photo").write_bytes(os.urandom(99))
    (folder / "empty").mkdir()
    (folder / ("0" * 16)).mkdir()
    (folder / ("0" * 16) / "thesis").write_text("years of work")


@pytest.fixture
def shop(tmp_path):
    """All that jobs need, and a folder that they share with strangers."""
    rows = planted_topics(150, topics=5, length=6)
    text = "utterance\tresponse\n" + "".join(f"{one}\t{other}\n" for one, other in rows)
    (tmp_path / "logs.tsv").write_text(text)
    (tmp_path / "bad.tsv").write_text(text + "only one cell\n")
    (tmp_path / "empty.tsv").write_text("utterance\tresponse\n")
    write_study(small_study(12), tmp_path / "study")
    small_model(tmp_path / "judge.safetensors")
    (tmp_path / "work").mkdir()
    strangers(tmp_path / "work")
    return tmp_path


SMALL = ["--embedding", "8", "--hidden", "8", "--layer", "16", "--batch", "50", "--epochs", "1"]
SMALL += ["--validation", "20", "--vocabulary", "words", "--threads", "1"]
VECTORS = ["--dimension", "4", "--epochs", "2", "--min-count", "2"]
JOBS = {
    "mine": ["mine", "study", "--logs", "LOGS", "-o", "new", "--threads", "1"],
    "judge train": ["judge", "train", "LOGS", "-o", "new.safetensors", *SMALL],
    "judge apply": ["judge", "apply", "study", "--judge", "judge.safetensors", "-o", "new"],
    "vectors train": ["vectors", "train", "LOGS", "-o", "new.txt", *VECTORS],
}


def command(job, logs):
    return [logs if one == "LOGS" else one for one in JOBS[job]]


@pytest.mark.parametrize("job", JOBS)
def test_a_shared_folder_is_left_as_it_was(job, shop, run, monkeypatch):
    """By runs that fail in every way, by one that is interrupted, and by one that ends well."""
    pytest.importorskip("torch")
    monkeypatch.chdir(shop)
    before = checksums(shop)
    logs = ["gone.tsv", "bad.tsv", "empty.tsv"] if job != "judge apply" else []
    for name in logs:
        result = run(*command(job, name), "--work", "work")
        assert result.code == 2
        left = checksums(shop)
        # What was read of the good part of a log may be kept, in a folder of its own.
        assert {name: left[name] for name in before} == before
        for path in (shop / "work").glob("*/deltableu.json"):
            if path.parent.name not in ("shared", "0" * 16):
                shutil.rmtree(path.parent)
        assert checksums(shop) == before
    keep = WorkFolder.keep

    def interrupted(*arguments):
        keep(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WorkFolder, "keep", interrupted)
        result = run(*command(job, "logs.tsv"), "--work", "work")
    assert result.code == 130
    assert "work keeps what was done" in result.err
    left = checksums(shop)
    assert {name: left[name] for name in before} == before
    assert len(left) > len(before)
    assert run(*command(job, "logs.tsv"), "--work", "work").code == 0
    left = checksums(shop)
    assert {name: left[name] for name in before} == before
    assert all(name.startswith("new") for name in left.keys() - before.keys())


@pytest.mark.parametrize("job", ["mine", "vectors train"])
def test_a_stranger_in_the_jobs_own_place(job, shop, run, refusal, monkeypatch):
    """Whatever the name: what the job did not make is neither used nor removed."""
    pytest.importorskip("torch")
    monkeypatch.chdir(shop)
    names = []
    begin = WorkFolder.begin

    def seen(self):
        names.append(self.folder)
        begin(self)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WorkFolder, "begin", seen)
        assert run(*command(job, "logs.tsv"), "--work", "work").code == 130
    shutil.rmtree(names[0])
    names[0].mkdir()
    (names[0] / "state.npz").write_text("somebody's")
    before = checksums(shop)
    result = run(*command(job, "logs.tsv"), "--work", "work")
    refusal(result)
    assert "was not made for checkpoints" in result.err
    assert checksums(shop) == before


@pytest.mark.parametrize("job", JOBS)
def test_two_at_once(job, shop, run, refusal, monkeypatch):
    """The second one is refused, and the first one ends as if it had been alone."""
    pytest.importorskip("torch")
    monkeypatch.chdir(shop)
    begin = WorkFolder.begin
    others = []

    def another_comes_too(self):
        begin(self)
        if not others:
            others.append(None)
            program = Path(sys.executable).parent / "deltableu"
            arguments = [program, *command(job, "logs.tsv"), "--work", "work"]
            others.append(subprocess.run(arguments, capture_output=True, text=True, check=False))

    monkeypatch.setattr(WorkFolder, "begin", another_comes_too)
    assert run(*command(job, "logs.tsv"), "--work", "work").code == 0
    second = others[1]
    assert (second.returncode, second.stdout) == (2, "")
    assert f"process {os.getpid()} on {os.uname().nodename} is at work here" in second.stderr
    assert second.stderr.count("\n") == 1


# --- a full disk ----------------------------------------------------------------------------------


@pytest.fixture
def full_at():
    """A disk on which no file may be larger, as a full one would have it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("job", [*JOBS, "report"])
def test_a_full_disk_is_one_sentence(job, shop, run, refusal, monkeypatch, full_at):
    """In the middle of the work, or where results are written: what was kept stays."""
    pytest.importorskip("torch")
    monkeypatch.chdir(shop)
    before = checksums(shop)
    given = ["report", "study", "-o", "new.html"]
    given = given if job == "report" else [*command(job, "logs.tsv"), "--work", "work"]
    for size in (400, 2_000, 10_000):
        full_at(size)
        result = run(*given)
        full_at(-1)
        if result.code == 0:
            break
        refusal(result)
        assert "cannot be written: File too large" in result.err
        assert ".tmp" not in result.err
        left = checksums(shop)
        assert {name: left[name] for name in before} == before
        new = left.keys() - before.keys()
        assert all(
            Path(name).parent.parent.name == "work" or left[name] == "folder" for name in new
        )
        assert not any("tmp" in name or "scratch" in name for name in new)
    assert run(*given, *(["--replace"] if result.code == 0 and job != "report" else [])).code == 0


# --- results never overwrite what is read ---------------------------------------------------------

SCORES = "system,item,metric,score\na,1,m,0.5\nb,1,m,0.25\n"
DEMO = "demo"
COMMANDS = [
    ["score", DEMO, "-o"],
    ["score", DEMO, "--metrics", "delta-vectors", "--vectors", "vectors.txt", "-o"],
    ["score", DEMO, "--metrics", "delta-table", "--table", "table.csv", "-o"],
    ["score", DEMO, "--judge", "judge.safetensors", "-o"],
    ["score", "sys.txt", "--refs", "r0.txt", "r1.txt", "--weights", "w.tsv", "-o"],
    ["compare", DEMO, "-o"],
    ["compare", DEMO, "--judge", "judge.safetensors", "-o"],
    ["compare", "--scores", "scores.csv", "-o"],
    ["compare", DEMO, "--past", "scores.csv", "-o"],
    ["validate", DEMO, "-o"],
    ["validate", DEMO, "--human", "human.csv", "-o"],
    ["validate", "--scores", "scores.csv", "--human", "human.csv", "-o"],
    ["report", DEMO, "-o"],
    ["explain", DEMO, "--system", "human", "--html"],
    ["explain", DEMO, "--system", "human", "-o"],
    ["plan", "compare", DEMO, "--systems", "human", "random", "-o"],
    ["plan", "compare", DEMO, "--systems", "human", "random", "--plot"],
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    write_study(read_study(EXAMPLES / "demo"), folder / "demo")
    for name, text in {
        "vectors.txt": "yes 1 2\nno 2 1\n",
        "table.csv": "hypothesis,reference,score\na,b,0.5\n",
        "scores.csv": SCORES,
        "human.csv": SCORES,
        "sys.txt": "the cat\n",
        "r0.txt": "the cat\n",
        "r1.txt": "a cat\n",
        "w.tsv": "1\t0.5\n",
    }.items():
        (folder / name).write_text(text)
    small_model(folder / "judge.safetensors")
    (folder / "links").mkdir()
    (folder / "links" / "svg").mkdir()
    return folder


def targets(folder: Path, arguments: list[str]) -> list[Path]:
    """Everything that a command reads, and other names of it."""
    read = [folder / one for one in arguments if (folder / one).exists()]
    some = ("ratings.csv", "outputs", "outputs/human.jsonl")
    inside = [path / one for path in read if path.is_dir() for one in some]
    files = [one for one in (*read, *inside) if one.is_file()]
    made = [*read, *inside, *(path / "new.svg" for path in read if path.is_dir())]
    for number, file in enumerate(files):
        link, hard = (folder / "links" / f"{kind}{number}.svg" for kind in ("soft", "hard"))
        for path in (link, hard):
            path.unlink(missing_ok=True)
        link.symlink_to(file)
        os.link(file, hard)
        made += [link, hard, folder / "links" / ".." / file.relative_to(folder)]
    return made


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_results_never_overwrite_what_is_read(arguments, desk, run, refusal, monkeypatch):
    monkeypatch.chdir(desk)
    found = targets(desk, arguments)
    before = checksums(desk)
    *_, option = arguments
    for path in found:
        if option == "--plot" and path.suffix != ".svg":
            continue
        result = run(*arguments, os.path.relpath(path))
        refusal(result)
        assert "read here" in result.err or "is a folder" in result.err
    assert checksums(desk) == before


def test_a_log_is_only_added_to_a_log(shop, run, refusal, monkeypatch):
    monkeypatch.chdir(shop)
    shutil.copytree(EXAMPLES / "demo", shop / DEMO)
    arguments = ["mine", DEMO, "--logs", "logs.tsv", "--top", "1", "--log", "log.jsonl"]
    target = Path("log.jsonl")
    target.write_text("three years of work")
    refusal(run(*arguments, "-o", "mined"))
    assert target.read_text() == "three years of work"
    target.unlink()
    for name in ("one", "two"):
        assert run(*arguments, "-o", name).code == 0
    assert len(target.read_text().splitlines()) == 4


# --- only files that this tool wrote are replaced -------------------------------------------------

RESULTS = {
    f"{command[0]} as {form}": [*command, "--format", form, "-o", "result"]
    for command in (["score", DEMO], ["compare", DEMO], ["validate", DEMO, "--levels", "pooled"])
    for form in ("table", "json", "tsv", "latex", "markdown")
}
RESULTS |= {
    "several tables": ["compare", DEMO, "--tables", "systems,pairs", "-o", "result"],
    "CSV": ["compare", DEMO, "--format", "csv", "-o", "result"],
    "segments": ["score", DEMO, "--segments", "--format", "tsv", "-o", "result"],
    "report": ["report", DEMO, "-o", "result"],
    "explain": ["explain", DEMO, "--system", "human", "--worst", "1", "--html", "result"],
    "plan": ["plan", "compare", DEMO, "--systems", "human", "random", "--items", "10",
             "--replicates", "3", "--plot", "result.png", "--format", "json", "-o", "other"],
    "pairs": ["logs", "pairs", "posts.jsonl", "-o", "result.tsv"],
    "packed pairs": ["logs", "pairs", "posts.jsonl", "-o", "result.jsonl.gz"],
    "pairs in Parquet": ["logs", "pairs", "posts.jsonl", "-o", "result.parquet"],
    "vectors": ["vectors", "train", "logs.tsv", "-o", "result.txt", *VECTORS],
    "packed vectors": ["vectors", "train", "logs.tsv", "-o", "result.txt.gz", *VECTORS],
    "binary vectors": ["vectors", "train", "logs.tsv", "-o", "result.bin", *VECTORS],
    "judge": ["judge", "train", "logs.tsv", "-o", "result.safetensors", "--replace", *SMALL],
}  # fmt: skip
FOREIGN = [b"somebody's\n", b"# My notes\n\n| a | b |\n| --- | --- |\n", b"id\ttext\n1\thi\n"]
FOREIGN += [b'{"id": "1", "text": "a"}\n', b"<!doctype html><title>mine</title>"]
FOREIGN += [b"\x89PNG\r\n\x1a\n", gzip.compress(b"mine\n"), b"\\documentclass{article}\n"]
FOREIGN += [b"\x00\xff" * 99, b"one line"]


@pytest.mark.parametrize("name", RESULTS)
def test_only_own_files_are_replaced(name, shop, run, refusal, monkeypatch):
    if "judge" in name:
        pytest.importorskip("torch")
    monkeypatch.chdir(shop)
    shutil.copytree(EXAMPLES / "demo", shop / DEMO)
    (shop / "posts.jsonl").write_text('{"id": "c", "turns": ["how are you ?", "fine"]}\n')
    arguments = RESULTS[name]
    target = Path(next(one for one in arguments if one.startswith("result")))
    for content in FOREIGN:
        target.write_bytes(content)
        result = run(*arguments)
        refusal(result)
        assert "is there already, and no such file of this tool's" in result.err
        assert target.read_bytes() == content
    target.write_bytes(gzip.compress(b"") if target.suffix == ".gz" else b"")
    for _ in range(2):  # an empty file, then one of its own
        result = run(*arguments)
        assert result.code == 0, result.err
    assert target.read_bytes() != b""
