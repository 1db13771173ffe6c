"""What `deltableu doctor` says of an installation."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import deltableu
from deltableu import _kernels
from deltableu.cli import extras
from deltableu.io import WorkFolder

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def names(requirements):
    return {re.match(r"[\w-]+", one)[0] for one in requirements}


def test_it_names_versions_and_says_that_all_kernels_are_compiled(succeeds):
    record = succeeds("doctor", "--format", "json").json
    assert record["deltableu"] == deltableu.__version__
    assert record["kernels"] == dict.fromkeys(_kernels.names(), "compiled")
    number = len(_kernels.names())
    assert record["verdict"][0].endswith(f"is ready: all {number} kernels are compiled.")
    assert set(record["packages"]) == names(PROJECT["dependencies"])
    assert record["packages"]["numpy"] == version("numpy")
    assert record["cores"] >= 1


def test_it_lists_the_kernels_that_are_not_compiled(process):
    result = process("doctor", "--format", "json", DELTABLEU_UNCOMPILED="1")
    assert (result.code, result.err) == (0, "")
    assert set(result.json["kernels"].values()) == {"plain Python (slow)"}
    said = result.json["verdict"][0]
    assert all(name in said for name in _kernels.names())


def test_it_knows_all_extras_and_what_they_are_for(succeeds):
    record = succeeds("doctor", "--format", "json").json
    assert [one["extra"] for one in record["extras"]] == list(extras.PURPOSES)
    assert set(extras.PURPOSES) == set(EXTRAS)
    assert all(one["purpose"] for one in record["extras"])


def test_all_holds_whatever_serves_a_command():
    developers = {"test", "docs", "dev", "all", "standard"}
    whole = set(extras._packages("all", extras._requirements()))
    assert names(p for name in set(EXTRAS) - developers for p in EXTRAS[name]) == whole


def test_an_extra_that_is_missing_comes_with_its_command(succeeds, monkeypatch):
    there = extras._version
    monkeypatch.setattr(extras, "_version", lambda one: None if one == "pyarrow" else there(one))
    monkeypatch.setenv("COLUMNS", "80")
    out = succeeds("doctor").out
    assert "Missing extras: pip install 'deltableu[parquet" in out
    assert re.search(r"^parquet .*  missing: pyarrow$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 80
    record = succeeds("doctor", "--format", "json").json
    (parquet,) = [one for one in record["extras"] if one["extra"] == "parquet"]
    assert (parquet["missing"], parquet["packages"]) == (["pyarrow"], {"pyarrow": None})
    assert parquet["command"] == "pip install 'deltableu[parquet]'"


def test_without_metadata_it_still_says_what_it_knows(succeeds, monkeypatch):
    monkeypatch.setattr(extras, "PACKAGE", "deltableu-is-not-installed")
    record = succeeds("doctor", "--format", "json").json
    assert (record["extras"], record["packages"]) == ([], {})


def test_it_finds_what_killed_runs_left_and_what_to_go_on_with(succeeds, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    work = WorkFolder("mined.mining", "0123456789abcdef")
    work.begin()
    work.release()
    Path("study.answers").mkdir()
    Path("study.answers", "model.jsonl").write_text("x" * 5000)
    record = succeeds("doctor", "--format", "json").json
    found = {Path(one["path"]).name: one for one in record["folders"]}
    assert found["0123456789abcdef"]["what"] == "work to go on with"
    assert found["study.answers"]["bytes"] == 5000
    assert "4.883 KB" in succeeds("doctor").out
