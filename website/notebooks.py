"""Notebooks run without Jupyter: `python -m website.notebooks` writes their outputs anew.

A cell's output is what it prints and what its last expression is, as Jupyter shows it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"


@dataclass(frozen=True, slots=True)
class Output:
    """What a cell has printed, and what its last expression shows itself as."""

    printed: str = ""
    text: str = ""
    html: str = ""


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook in nbformat 4."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def run_notebook(notebook: dict[str, Any], name: str) -> Iterator[Output]:
    """The output of each cell of code, run one after another in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] == "code":
            yield _output("".join(cell["source"]), f"{name}, cell {number}", names)


def kept_outputs(notebook: dict[str, Any]) -> Iterator[Output]:
    """The outputs that the notebook holds."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            printed, text, html = "", "", ""
            for output in cell["outputs"]:
                if output["output_type"] == "stream":
                    printed += "".join(output["text"])
                else:
                    text = "".join(output["data"]["text/plain"])
                    html = "".join(output["data"].get("text/html", ""))
            yield Output(printed, text, html)


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as a page of the site."""
    outputs = kept_outputs(notebook)
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        output = next(outputs)
        if output.printed:
            parts.append(_shown(output.printed.rstrip()))
        if output.html:
            parts.append(f'<div class="output">\n{output.html}\n</div>')
        elif output.text:
            parts.append(_shown(output.text))
    return "\n\n".join(parts) + "\n"


def _shown(text: str) -> str:
    """Text whose lines are folded where they are too long for a page."""
    return f'<pre class="output"><code>{escape(text)}</code></pre>'


def _output(source: str, where: str, names: dict[str, Any]) -> Output:
    body = ast.parse(source, where).body
    end = body[-1]
    last: ast.expr = ast.Constant(None, lineno=1, col_offset=0)
    if isinstance(end, ast.Expr):
        last = end.value
        body.pop()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), where, "exec"), names)
        value = eval(compile(ast.Expression(last), where, "eval"), names)
    if value is None:
        return Output(printed.getvalue())
    html = getattr(value, "_repr_html_", str)()
    return Output(printed.getvalue(), repr(value), html)


def _write(path: Path) -> None:
    notebook = read_notebook(path)
    outputs = run_notebook(notebook, path.name)
    for count, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        cell["execution_count"], cell["outputs"] = count, list(_as_json(next(outputs), count))
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _as_json(output: Output, count: int) -> Iterator[dict[str, Any]]:
    if output.printed:
        lines = output.printed.splitlines(keepends=True)
        yield {"name": "stdout", "output_type": "stream", "text": lines}
    if output.text:
        data = {"text/plain": output.text.splitlines(keepends=True)}
        if output.html:
            data = {"text/html": output.html.splitlines(keepends=True), **data}
        yield {
            "data": data,
            "execution_count": count,
            "metadata": {},
            "output_type": "execute_result",
        }


if __name__ == "__main__":
    os.chdir(FOLDER)
    os.environ["COLUMNS"] = "100"
    for found in sorted(Path().glob("*.ipynb")):
        _write(found)
        print(f"ran {found}", file=sys.stderr)
