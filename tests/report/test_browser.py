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
VIEWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


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


@pytest.fixture(params=VIEWS, ids=lambda view: f"{view[0]} {view[1]}", scope="module")
def visit(request: pytest.FixtureRequest, browser: Any, path: Path) -> Iterator[dict[str, Any]]:
    """The open page, all that is folded unfolded, and everything that happened on the way."""
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    seen: dict[str, Any] = {"page": page, "said": [], "asked": [], "width": width}
    page.on("console", lambda message: seen["said"].append(message.text))
    page.on("pageerror", lambda error: seen["said"].append(str(error)))
    page.on("dialog", lambda dialog: (seen["said"].append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: seen["asked"].append(asked.url))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
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
        'h1, h2, h3, p, figure, .scroll, code, li, footer, .track, .value, .word, dd, .t, summary')]
        .filter(e => e.getBoundingClientRect().right > window.innerWidth + 0.5
                     || e.getBoundingClientRect().left < 0)
        .map(e => e.tagName + ': ' + e.textContent.slice(0, 40))"""
    assert visit["page"].evaluate(script) == []


def test_charts_are_drawn(visit, path):
    script = "() => [...document.querySelectorAll('.marks li:not(.axis) .track, figure > svg')]"
    heights = visit["page"].evaluate(f"{script}.map(e => e.getBoundingClientRect().height)")
    assert len(heights) >= 4
    assert min(heights) > 20


def test_chart_labels_can_be_read(visit):
    """No label of a chart is smaller on the screen than small print."""
    script = """() => [...document.querySelectorAll('svg text')]
        .map(e => e.getBoundingClientRect().height)"""
    heights = visit["page"].evaluate(script)
    assert len(heights) > 10
    assert min(heights) >= 11


def test_charts_are_not_cut(visit):
    script = """() => [...document.querySelectorAll('figure > svg')].flatMap(svg => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text, circle, rect')].filter(e => {
            const box = e.getBoundingClientRect();
            return box.left < frame.left - 2 || box.right > frame.right + 2
                || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
        }).map(e => e.outerHTML);
    })"""
    assert visit["page"].evaluate(script) == []


CONTRAST = """() => {
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a));
    const shine = colour => {
        const [r, g, b] = colour.map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = {};
    for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (!own || !e.getClientRects().length || e.closest('script, style, title')) continue;
        const layers = [];
        for (let up = e; up; up = up.parentElement)
            layers.unshift(getComputedStyle(up).backgroundColor);
        const below = layers.map(parse).reduce((under, one) => over(one, under), [255, 255, 255]);
        const style = getComputedStyle(e);
        const ink = e.closest('svg') ? style.fill : style.color;
        const [light, dark] = [shine(over(parse(ink), below)), shine(below)].sort((a, b) => b - a);
        const ratio = (light + 0.05) / (dark + 0.05);
        if (ratio < 4.5) found[`${e.tagName}.${e.getAttribute('class')} ${ink}`] = ratio;
    }
    return found;
}"""


def test_text_is_dark_enough_to_read(visit):
    """WCAG AA: a contrast of 4.5, in both colour schemes, on whatever lies behind the text."""
    assert visit["page"].evaluate(CONTRAST) == {}


def test_a_heading_sorts_its_table(visit, path):
    page = visit["page"]
    table = page.locator(".sortable table").first
    column = "() => [...document.querySelector('.sortable table').tBodies[0].rows]"
    column += ".map(row => parseFloat(row.cells[1].textContent))"
    button = table.locator("th button").nth(1)
    button.click()
    falling = page.evaluate(column)
    assert falling == sorted(falling, reverse=True)
    button.click()
    assert page.evaluate(column) == falling[::-1] or len(set(falling)) < len(falling)
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "ascending"


def test_links_lead_somewhere(visit):
    script = """() => [...document.querySelectorAll('a')].map(a => {
        const target = document.querySelector(a.getAttribute('href'));
        return target !== null && target.getClientRects().length > 0;
    })"""
    reached = visit["page"].evaluate(script)
    assert len(reached) >= 3
    assert all(reached)


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
