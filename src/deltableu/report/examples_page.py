"""Examples of outputs as one self-contained HTML page."""

from __future__ import annotations

from deltableu._version import __version__
from deltableu.report.examples import OutputExamples
from deltableu.report.explain_page import ExplainTools
from deltableu.report.render import render


def examples_page(title: str, examples: OutputExamples) -> str:
    """The page."""
    return render(
        "examples.html",
        title=title,
        examples=examples,
        tools=ExplainTools(),
        version=__version__,
    )
