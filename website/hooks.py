"""What MkDocs asks while it builds the site: pages that are written from code or lie elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from website.commands import command_index, command_pages
from website.modules import module_index, module_pages
from website.notebooks import notebook_page, read_notebook

ROOT = Path(__file__).parents[1]
#: Pages and files outside docs/, and where they are on the site.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples/index.md",
    "examples/gate/README.md": "examples/gate.md",
    "examples/reward_policy.py": "examples/reward_policy.py",
    **{
        f"examples/notebooks/{name}.ipynb": f"notebooks/{name}.md"
        for name in ("compare", "validate")
    },
}
#: Pages that mention everything would else be found first, whatever one looks for.
_FOUND_LAST = "---\nsearch:\n  boost: 0.3\n---\n\n"
#: GitHub knows languages by the first word of a fence; what follows is for our tests.
_FENCE = re.compile(r"^( *)```(\w+) (?:varies|elsewhere)$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(?=[)#])")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the references into the navigation, each below its index."""
    pages = {
        "reference/commands/": [name for name, _ in command_pages()],
        "reference/library/": [name for name, _ in module_pages()],
    }
    for section in _sections(config.nav or []):
        for folder, names in pages.items():
            if f"{folder}index.md" in section:
                section += [f"{folder}{name}.md" for name in names]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    written = {
        "reference/commands/index.md": command_index(),
        "reference/library/index.md": module_index(),
        **{f"reference/commands/{name}.md": text for name, text in command_pages()},
        **{f"reference/library/{name}.md": text for name, text in module_pages()},
    }
    for place, text in written.items():
        files.append(File.generated(config, place, content=f"{_FOUND_LAST}{text}"))
    for source, place in ELSEWHERE.items():
        path = ROOT / source
        if path.suffix == ".ipynb":
            files.append(File.generated(config, place, content=notebook_page(read_notebook(path))))
        else:
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fences and links as MkDocs understands them."""
    where = page.file.src_uri
    source = next((name for name, place in ELSEWHERE.items() if place == where), f"docs/{where}")
    markdown = _FENCE.sub(r"\1```\2", markdown)
    return _LINK.sub(lambda link: _on_site(link[1], source, where), markdown)


def _sections(nav: list[Any]) -> Iterator[list[Any]]:
    """The lists of pages in a navigation."""
    yield nav
    for entry in nav:
        for below in entry.values() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                yield from _sections(below)


def _on_site(link: str, source: str, where: str) -> str:
    """A link between files of the repository as one between pages of the site."""
    target = _resolved(str(PurePosixPath(source).parent / link))
    if target == "examples/gate":
        target = "examples/gate/README.md"
    if target.startswith("docs/"):
        target = target.removeprefix("docs/")
    elif target in ELSEWHERE:
        target = ELSEWHERE[target]
    else:
        return link
    up = "../" * (len(PurePosixPath(where).parts) - 1)
    return f"{up}{target}"


def _resolved(path: str) -> str:
    """A path without `..`, of a file that may not be there."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            if not parts:
                return path
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
