"""`deltableu explain --html`: one page, also for markup, Hebrew, Chinese and long texts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
OPTIONS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
TRAP = "<script>alert('x')</script> & <b>bold</b> {{ 7 * 7 }} <img src=x onerror=alert(1)>"
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "went", "away", "again"]
LONG = " ".join(WORDS[(7 * i + i // 12) % len(WORDS)] for i in range(300))
TEXTS = {
    "trap": (TRAP, [(TRAP, 1.0), (f"<script> & {'w' * 200}", -0.9)]),
    "hebrew": ("אני לא יודע מה קרה", [("אני לא יודע", 0.9), ("מה קרה ?", -0.6)]),
    "chinese": ("我 不 知道 发生 了 什么", [("我 不 知道", 0.8), ("发生 了 什么 ?", -0.6)]),
    "long": (LONG, [(LONG[:700], 0.7), (LONG[500:], -0.4), ("x", 0.0)]),
    "empty": ("", [("yes", 1.0), ("", -1.0)]),
}
SYSTEM = "<i>&{{ 1 }}" + "s" * 60


def write_trap_study(folder: Path) -> Path:
    (folder / "outputs").mkdir(parents=True)
    items, outputs, others = [], [], []
    for name, (text, references) in TEXTS.items():
        records = [
            {"id": f"r{number}<b>", "text": one, "weight": weight}
            for number, (one, weight) in enumerate(references)
        ]
        items.append({"id": name, "context": [text, TRAP], "message": text, "references": records})
        outputs.append({"id": name, "text": text})
        others.append({"id": name, "text": references[-1][0]})
    for file, records in (
        ("items.jsonl", items),
        (f"outputs/{SYSTEM}.jsonl", outputs),
        ("outputs/other.jsonl", others),
    ):
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        (folder / file).write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def pages(
    run: Callable[..., tuple[int, str, str]], demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("explain")
    study = write_trap_study(folder / "study")
    made = {
        "demo": (demo, "--system", "phrase-smt", "--item", "d01", "--against", "human"),
        "trap": (study, "--system", SYSTEM, "--worst", 9, "--tokenize", "none"),
        "trap pair": (study, "--system", SYSTEM, "--best", 9, "--against", "other", "--order", 4),
    }
    paths = {}
    for name, arguments in made.items():
        paths[name] = folder / f"{name}.html"
        code, out, err = run("explain", *arguments, "--html", paths[name])
        assert (code, out, err) == (0, "", f"deltableu: wrote {paths[name]}\n")
    return paths


NAMES = ("demo", "trap", "trap pair")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_needs_nothing_but_itself(pages, name, parse):
    text = pages[name].read_text(encoding="utf-8")
    parsed = parse(pages[name])
    tags = [tag for tag, _ in parsed.tags]
    assert not set(tags) & {"link", "iframe", "object", "embed", "img", "base", "form", "i"}
    assert tags.count("script") == 1
    for tag, attributes in parsed.tags:
        for attribute in attributes:
            assert not attribute.startswith("on"), (tag, attribute)
            assert attribute not in ("src", "href")
    assert "@import" not in text
    assert "url(" not in text
    assert text.startswith("<!doctype html>")


def test_planted_markup_is_shown_and_not_obeyed(pages):
    text = pages["trap"].read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in text
    assert "<i>" not in text
    assert "{{ 7 * 7 }}" in text
    assert "r0<b>" not in text


@pytest.mark.parametrize("name", NAMES)
def test_every_text_of_the_study_finds_its_own_direction(pages, name, parse):
    for tag, attributes in parse(pages[name]).tags:
        classes = (attributes.get("class") or "").split()
        if {"text", "gram", "message", "context"} & set(classes):
            assert attributes.get("dir") == "auto", (tag, attributes)


def test_the_table_and_the_answer_say_what_was_earned(pages, parse):
    parsed = parse(pages["demo"])
    first, second = parsed.tables
    assert first[0] == ["n", "n-gram", "count", "credit", "from", "weight", "clip"]
    assert ["1", "died", "1", "−0.7", "r9", "−0.7", "1"] in first
    assert ["1", "the", "2", "+0.9", "r0", "+0.9", "1"] in first
    assert ["2", "Oh no", "1", "+0.9", "r0", "+0.9", "1"] in second
    text = pages["demo"].read_text(encoding="utf-8")
    assert re.search(r'class="t penalty"[^>]*>died<sup dir="ltr">−0.7</sup>', text)
    assert "1-grams -0.5/9.9, 2-grams -2.4/9; length 11, closest reference 11 (r1)" in text
    assert "50.28; without this item 49.95 (-0.33)" in text
    assert "How did the presentation go this morning?" in text


# --- In a browser ---------------------------------------------------------------------------------

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(params=[(name, width) for name in NAMES for width in (1280, 390)], scope="module")
def visit(request: pytest.FixtureRequest, browser: Any, pages: dict[str, Path]) -> Iterator[Any]:
    name, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    seen: dict[str, Any] = {"page": page, "said": [], "asked": [], "name": name, "width": width}
    page.on("console", lambda message: seen["said"].append(message.text))
    page.on("pageerror", lambda error: seen["said"].append(str(error)))
    page.on("dialog", lambda dialog: (seen["said"].append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: seen["asked"].append(asked.url))
    page.goto(pages[name].as_uri())
    yield seen
    context.close()


@in_browser
def test_the_page_is_quiet_and_asks_for_nothing(visit, pages):
    assert visit["said"] == []
    assert visit["asked"] == [pages[visit["name"]].as_uri()]


@in_browser
def test_the_page_is_not_wider_than_the_window(visit):
    size = "[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]"
    root, body, window = visit["page"].evaluate(size)
    assert window == visit["width"]
    assert max(root, body) <= window


@in_browser
def test_no_text_is_cut_off(visit):
    """Each token and sentence lies within the window, and tables scroll to their end."""
    script = """() => [...document.querySelectorAll('h1, h2, h3, p, li, dd, code, .t, .scroll')]
        .filter(e => { const box = e.getBoundingClientRect();
                       return box.right > window.innerWidth + 0.5 || box.left < -0.5; })
        .map(e => e.textContent.slice(0, 40))"""
    assert visit["page"].evaluate(script) == []
    script = """() => [...document.querySelectorAll('.scroll')].filter(e => {
        e.scrollLeft = 1e6;
        const right = Math.max(...[...e.querySelectorAll('td')]
            .map(c => c.getBoundingClientRect().right));
        return right > e.getBoundingClientRect().right + 1;
    }).length"""
    assert visit["page"].evaluate(script) == 0


@in_browser
def test_two_systems_stand_side_by_side_where_there_is_room(visit):
    boxes = visit["page"].evaluate(
        """() => [...document.querySelectorAll('section')][0].querySelectorAll('.answer').length
        ? [...document.querySelector('section').querySelectorAll('.answer')]
            .map(e => { const b = e.getBoundingClientRect(); return [b.left, b.top]; }) : []"""
    )
    if visit["name"] == "trap":
        assert len(boxes) == 1
        return
    (left, top), (right, below) = boxes
    if visit["width"] == 1280:
        assert right > left + 400
        assert below == top
    else:
        assert right == left
        assert below > top


@in_browser
def test_hebrew_reads_from_the_right(visit):
    if visit["name"] == "demo":
        return
    first, last = visit["page"].evaluate(
        """() => { const said = [...document.querySelectorAll('.said')]
            .find(e => e.textContent.startsWith('אני'));
            const tokens = said.querySelectorAll('.t');
            return [tokens[0], tokens[tokens.length - 1]].map(
                e => e.getBoundingClientRect().left); }"""
    )
    assert first > last


@in_browser
def test_pointing_at_an_ngram_shows_where_it_stands(visit):
    if visit["name"] != "demo":
        return
    page = visit["page"]
    row = page.locator("tr[data-n]", has_text="projector died")
    for act in (row.hover, row.focus):
        act()
        lit = page.evaluate("[...document.querySelectorAll('.lit')].map(e => e.firstChild.data)")
        assert lit == ["projector", "died", "projector", "died"]
        decides = page.evaluate(
            "[...document.querySelectorAll('.decides small')].map(e => e.innerText)"
        )
        assert decides == ["r9"]
        page.mouse.move(0, 0)
        row.blur()
    assert page.locator(".lit").count() == 0
