"""The site that `make docs` builds: pages are in its navigation, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deltableu.cli.app import COMMANDS
from tests.docs.pages import PAGES, ROOT
from website.commands import command_pages
from website.modules import ROOMS, module_index
from website.notebooks import FOLDER, Output, kept_outputs, read_notebook, run_notebook

NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
#: What the site writes itself, and where its source is.
WRITTEN = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "examples/index.md": "examples/README.md",
    "examples/gate.md": "examples/gate/README.md",
    "notebooks/compare.md": "examples/notebooks/compare.ipynb",
    "notebooks/validate.md": "examples/notebooks/validate.ipynb",
    "reference/commands/index.md": "website/commands.py",
    "reference/library/index.md": "website/modules.py",
}
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

_FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!\!)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
#: What differs from one version of deltableu to the next.
_VERSION = re.compile(r"\b[0-9a-f]{8}\b|\b\d+\.\d+\.\d+\w*")


def _in_nav() -> list[str]:
    return re.findall(r"[\w/.-]+\.(?:md|ipynb)\b", NAV)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(_in_nav()) == sorted([*pages, *WRITTEN])
    for source in WRITTEN.values():
        assert (ROOT / source).is_file()


def _anchors(page: Path) -> set[str]:
    """Ids of a page's headings, as GitHub and the site make them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\s-]", "", words).strip().lower().replace(" ", "-")
        found.add(slug)
    return found


def _links(page: str) -> Iterator[str]:
    text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    yield from _LINK.findall(text)
    yield from _IMAGE.findall(text)


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_and_to_headings_resolve(page: str) -> None:
    for link in _links(page):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in _anchors(target), f"{page}: {link}"


def test_every_command_and_room_has_a_page() -> None:
    pages = dict(command_pages())
    assert list(pages) == list(COMMANDS)
    for name, text in pages.items():
        assert text.startswith(f"# deltableu {name}\n")
        assert "None" not in re.findall(r"default `(\w+)`", text)
    assert "**[required]**" not in "".join(pages.values())
    rooms = {path.parent.name for path in (ROOT / "src" / "deltableu").glob("*/__init__.py")}
    assert rooms - {"cli", "neural"} == {room for room in ROOMS if "." not in room} - {"testing"}
    offered = {f"deltableu.{room}" for room in ROOMS}
    assert offered <= set(re.findall(r"`(deltableu\.[\w.]+)`", module_index()))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("COLUMNS", "100")
    notebook = read_notebook(path)
    shown = [_without_version(output) for output in run_notebook(notebook, path.name)]
    assert shown == [_without_version(output) for output in kept_outputs(notebook)]
    assert any(output.html for output in shown)


def _without_version(output: Output) -> Output:
    return Output(*(_VERSION.sub("", text) for text in (output.printed, output.text, output.html)))


@pytest.mark.long
def test_the_site_is_built_without_a_warning() -> None:
    """In an environment that `make` sets up: it needs a network, or a cache of packages."""
    done = subprocess.run(["make", "docs"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    site = ROOT / "out" / "site"
    assert (site / "search" / "search_index.json").is_file()
    loads = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"https?:|<link[^>]*\shref=\"https?:")
    for page in site.rglob("*.html"):
        found = loads.search(page.read_text(encoding="utf-8"))
        assert found is None, f"{page}: {found and found[0]}"
