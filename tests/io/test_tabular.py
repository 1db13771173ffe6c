"""Results show themselves as their tables in notebooks."""

from __future__ import annotations

import ast
from pathlib import Path

import deltableu
from deltableu import compare_systems

PACKAGE = Path(deltableu.__file__).parent


def test_a_result_shows_itself_as_its_table() -> None:
    (comparison,) = compare_systems({"A": [3, 4, 6, 5, 7, 6], "B": [2, 2, 5, 3, 6, 4]})
    shown = comparison._repr_html_()
    assert shown == comparison.table()._repr_html_()
    assert "<table>" in shown


def test_so_does_every_result_that_has_one() -> None:
    without = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and _has_table(node) and not _is_tabular(node)
    ]
    assert without == []


def _has_table(node: ast.ClassDef) -> bool:
    return any(
        isinstance(part, ast.FunctionDef)
        and part.name == "table"
        and isinstance(part.returns, ast.Name)
        and part.returns.id == "Table"
        for part in node.body
    )


def _is_tabular(node: ast.ClassDef) -> bool:
    names = {base.id for base in node.bases if isinstance(base, ast.Name)}
    return bool(names & {"Tabular", "Protocol"})
