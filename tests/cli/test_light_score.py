"""`deltableu score` waits for nothing that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
