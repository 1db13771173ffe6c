"""The page in a real browser: no errors, no requests, nothing wider than the window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
OPTIONS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(params=["demo_page", "trap_page"], scope="module")
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=WIDTHS, scope="module")
def visit(request: pytest.FixtureRequest, browser: Any, path: Path) -> Iterator[dict[str, Any]]:
    """The open page and everything that happened while it loaded."""
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    page = context.new_page()
    seen: dict[str, Any] = {"page": page, "said": [], "asked": [], "width": request.param}
    page.on("console", lambda message: seen["said"].append(message.text))
    page.on("pageerror", lambda error: seen["said"].append(str(error)))
    page.on("dialog", lambda dialog: (seen["said"].append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: seen["asked"].append(asked.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    yield seen
    context.close()


def test_nothing_is_said_on_the_console(visit):
    assert visit["said"] == []


def test_nothing_but_the_file_is_asked_for(visit, path):
    assert visit["asked"] == [path.as_uri()]


def test_the_page_is_not_wider_than_the_window(visit):
    size = "[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]"
    root, body, window = visit["page"].evaluate(size)
    assert window == visit["width"]
    assert root <= window
    assert body <= window


def test_text_outside_tables_is_not_cut_off(visit):
    """Each block lies within the window; wide tables and plots scroll in a box of their own."""
    script = """() => [...document.querySelectorAll(
        'h1, h2, h3, p, figure, .scroll, code, li, footer')]
        .filter(e => e.getBoundingClientRect().right > window.innerWidth + 0.5
                     || e.getBoundingClientRect().left < 0)
        .map(e => e.tagName + ': ' + e.textContent.slice(0, 40))"""
    assert visit["page"].evaluate(script) == []


def test_plots_are_drawn(visit):
    script = (
        "() => [...document.querySelectorAll('svg')].map(e => e.getBoundingClientRect().height)"
    )
    heights = visit["page"].evaluate(script)
    assert len(heights) == 2
    assert min(heights) > 60


def test_plot_labels_can_be_read(visit):
    """No label of a plot is smaller on the screen than small print."""
    script = """() => [...document.querySelectorAll('svg text')]
        .map(e => e.getBoundingClientRect().height)"""
    heights = visit["page"].evaluate(script)
    assert len(heights) > 20
    assert min(heights) >= 8


def test_plot_labels_do_not_leave_their_plot(visit):
    script = """() => [...document.querySelectorAll('svg text')]
        .filter(e => {
            const box = e.getBoundingClientRect(), svg = e.closest('svg').getBoundingClientRect();
            return box.left < svg.left - 2 || box.right > svg.right + 2;
        }).map(e => e.textContent)"""
    assert visit["page"].evaluate(script) == []


def test_what_a_plot_refers_to_is_unambiguous(visit):
    """Two plots on one page share a space of ids; one must not clip with the other's shapes."""
    script = """() => {
        const used = new Set();
        for (const e of document.querySelectorAll('svg *')) {
            for (const {value} of e.attributes) {
                const found = value.match(/^url\\(#(.*)\\)$|^#([a-z].*)$/i);
                if (found) used.add(found[1] || found[2]);
            }
        }
        const wrong = [...used].filter(id => {
            const all = [...document.querySelectorAll('[id]')].filter(e => e.id === id);
            return new Set(all.map(e => e.outerHTML)).size !== 1;
        });
        return [used.size, wrong];
    }"""
    used, wrong = visit["page"].evaluate(script)
    assert used > 2
    assert wrong == []


def test_wide_tables_can_be_scrolled_to_their_end(visit):
    """What does not fit in the window is reached inside its box, with nothing cut off."""
    script = """() => [...document.querySelectorAll('.scroll')].map(e => {
        e.scrollLeft = 1e6;
        const right = Math.max(...[...e.querySelectorAll('td, th')]
            .map(c => c.getBoundingClientRect().right));
        return right <= e.getBoundingClientRect().right + 1;
    })"""
    reached = visit["page"].evaluate(script)
    assert len(reached) >= 5
    assert all(reached)
