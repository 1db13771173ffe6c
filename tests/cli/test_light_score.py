"""`deltableu score` waits for nothing that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deltableu.corpus.item_columns import LazyItems

_SCRIPT = """
import json, sys
from deltableu.cli.app import main
try:
    main(["score", *sys.argv[1:]])
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def test_score_imports_only_what_it_uses(tmp_path: Path) -> None:
    for name in ("sys.txt", "r0.txt"):
        (tmp_path / name).write_text("yes , i do\nno\n")
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, "sys.txt", "--refs", "r0.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "100.00" in done.stdout
    modules = set(json.loads(done.stderr.splitlines()[-1]))
    idle = {"rich.console", "scipy", "sacrebleu", "pyarrow", "importlib.metadata", "difflib"}
    idle |= {f"deltableu.{room}" for room in ("rate", "compare", "layouts", "judges", "report")}
    assert modules.isdisjoint(idle)


@pytest.mark.parametrize("form", ["plain files", "study", "mined"])
@pytest.mark.parametrize("command", ["score", "compare"])
def test_no_item_is_made_where_columns_will_do(command, form, run, write, tmp_path, monkeypatch):
    """Items are made one by one; of tens of thousands that would take longer than scoring."""
    for name in ("a", "b"):
        write(f"{name}.txt", "yes , i do\nno\nwell\nperhaps\n" * 5)
    write("r0.txt", "yes , i do not\nno\nwell\nmaybe\n" * 5)
    given: list[object] = [tmp_path / "a.txt", tmp_path / "b.txt", "--refs", tmp_path / "r0.txt"]
    if form != "plain files":
        origin = "mined" if form == "mined" else "written"
        for number in range(20):
            reference = {"text": "yes , i do", "origin": origin}
            line = json.dumps({"id": f"{number}", "references": [{"text": "no"}, reference]})
            with (tmp_path / "items.jsonl").open("a") as stream:
                stream.write(line + "\n")
        for name in ("a", "b"):
            texts = (tmp_path / f"{name}.txt").read_text()
            write(f"study/outputs/{name}.txt", texts)
        (tmp_path / "items.jsonl").rename(tmp_path / "study" / "items.jsonl")
        given = [tmp_path / "study"]

    def made(*_: object) -> None:
        raise AssertionError("items were made")

    monkeypatch.setattr(LazyItems, "_all", made)
    done = run(command, *given, "--metrics", "bleu-2")
    assert done.code == 0, done.err
    assert ("20 mined" in done.err) == (form == "mined")
