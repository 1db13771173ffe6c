"""The files of the examples are what their script writes."""

from __future__ import annotations

import shutil
import sys


def test_the_demo_is_what_its_script_writes(call, demo):
    assert call(sys.executable, demo / "simulate.py", "--check").returncode == 0


def test_the_check_notices_a_changed_file(call, demo, tmp_path):
    shutil.copytree(demo, tmp_path / "demo")
    with open(tmp_path / "demo" / "items.jsonl", "a") as stream:
        stream.write("{}\n")
    done = call(sys.executable, tmp_path / "demo" / "simulate.py", "--check")
    assert done.returncode == 1
    assert "items.jsonl" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
