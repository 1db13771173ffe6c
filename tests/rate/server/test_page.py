"""The rater's page in a real browser, on a real server: every way to rate, and what goes wrong."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi")
import uvicorn
from PIL import Image

from deltableu.corpus import Item, RatingTable, Reference, Study
from deltableu.rate import server
from deltableu.rate.server.campaign import page_words
from deltableu.rate.server.database import AnswerRow, read_answers

CHROMIUM = shutil.which("chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
OPTIONS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
DESKTOP, PHONE = (1280, 800), (390, 844)
LANGUAGES = ("en", "de", "ja", "ar")
PAGE = resources.files("deltableu.rate.server") / "page"
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@dataclass
class Site:
    """A campaign that is being served."""

    url: str
    tokens: Sequence[str]
    service: server.Service
    database: server.Database
    loop: asyncio.AbstractEventLoop

    def answers(self) -> list[AnswerRow]:
        with self.database.reading() as connection:
            return list(read_answers(connection))

    def refresh(self) -> None:
        """Let the server see what was changed beside it, in its own loop: its lock is of that."""
        asyncio.run_coroutine_threadsafe(self.service.refresh(), self.loop).result(30)

    def values(self) -> list[Any]:
        return [json.loads(one.values) for one in self.answers()]

    def wait_for(self, count: int) -> list[Any]:
        deadline = time.monotonic() + 10
        while len(self.answers()) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(self.answers()) == count
        return self.values()


@dataclass
class Rater:
    """Somebody with an open page, and all that happened on it."""

    page: Any
    site: Site
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, *, begin: bool = True) -> Rater:
        self.page.goto(f"{self.site.url}/r/{self.site.tokens[0]}")
        self.page.wait_for_selector("main h2")
        if begin:
            self.page.click("main button.main")
            self.page.wait_for_selector(".task")
        return self

    def listen(self, page: Any) -> None:
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda asked: self.asked.append(asked.url))

    def reopen(self) -> None:
        """Close the page, and open the link in a new one."""
        context = self.page.context
        self.page.close()
        self.page = context.new_page()
        self.listen(self.page)
        self.open(begin=False)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, where: str) -> str:
        return str(self.page.inner_text(where))

    def judged(self) -> str:
        return str(self.page.locator(".judged .bubble").first.inner_text())

    def wait(self, where: str, **options: Any) -> None:
        self.page.wait_for_selector(where, timeout=5000, **options)

    def wait_for_text(self, where: str, text: str) -> None:
        script = "([where, text]) => document.querySelector(where)?.textContent.includes(text)"
        self.page.wait_for_function(script, arg=[where, text], timeout=6000)

    def wait_for_other(self, text: str) -> None:
        """Wait until another response is there to be judged, or a screen without any."""
        script = "text => document.querySelector('.judged .bubble')?.textContent !== text"
        self.page.wait_for_function(script, arg=text, timeout=5000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


Serve = Callable[..., Site]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve a campaign: `serve(preset, study, **settings)`."""
    running: list[tuple[uvicorn.Server, threading.Thread, server.Database]] = []

    def serve(
        preset: str, study: Study, *, prefix: str = "", raters: int = 1, **settings: Any
    ) -> Site:
        values = {"practice": [], "what": "references", "per_item": 1} | settings
        campaign = server.settings_from(server.preset(preset) | values, "test")
        folder = tmp_path / f"campaign-{len(running)}"
        names = [f"rater-{number}" for number in range(raters)]
        made = server.new_campaign(folder, campaign, study, raters=names)
        _, database = server.open_database(folder)
        service = server.Service(campaign, database, seed=1)
        listening = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}{prefix}"
        app = server.rating_app(service, url=url)
        running_server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        loops: list[asyncio.AbstractEventLoop] = []

        async def run() -> None:
            loops.append(asyncio.get_running_loop())
            await running_server.serve([listening])

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        running.append((running_server, thread, database))
        while not running_server.started:
            time.sleep(0.01)
        return Site(url, [link.token for link in made.links], service, database, loops[0])

    yield serve
    for running_server, thread, database in running:
        running_server.should_exit = True
        thread.join(10)
        database.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Rater]]:
    """Open a site; in the end nothing was said on the console, and nothing asked for elsewhere."""
    visits: list[tuple[Rater, bool]] = []

    def visit(
        site: Site,
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        *,
        begin: bool = True,
        fails: bool = False,
    ) -> Rater:
        phone = size == PHONE
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            is_mobile=phone,
            has_touch=phone,
            reduced_motion="reduce",
        )
        rater = Rater(context.new_page(), site)
        rater.listen(rater.page)
        visits.append((rater, fails))
        return rater.open(begin=begin)

    yield visit
    for rater, fails in visits:
        rater.page.context.close()
        assert [one for one in rater.asked if not one.startswith(rater.site.url)] == []
        said = [one for one in rater.said if not (fails and "Failed to load resource" in one)]
        assert said == []


def study_of(*rows: tuple[Sequence[str], str | None, Sequence[str]]) -> Study:
    """Items of (context, message, responses): references, and outputs of as many systems."""
    items = tuple(
        Item(
            f"i{place}",
            tuple(
                Reference(f"r{number}", text, origin="written" if number else "original")
                for number, text in enumerate(responses)
            ),
            tuple(context),
            message,
        )
        for place, (context, message, responses) in enumerate(rows)
    )
    systems = len(rows[0][2])
    outputs = {f"s{n}": tuple(responses[n] for _, _, responses in rows) for n in range(systems)}
    return Study(items, outputs, RatingTable.from_records([]), {}, None, None)


def talk(count: int, responses: int = 1) -> Study:
    return study_of(
        *(
            (
                [f"How was day {place}?"],
                f"Day {place} was long.",
                [f"Response {place}{'abc'[number]}" for number in range(responses)],
            )
            for place in range(count)
        )
    )


TWO_CRITERIA = [
    {"name": one, "question": f"How {one}?", "labels": ["no", "hardly", "so so", "rather", "yes"]}
    for one in ("relevant", "fluent")
]


# ------------------------------------------------------------------------------- to the end


@in_browser
def test_a_campaign_is_rated_to_the_end_with_the_mouse(serve, visit):
    site = serve("delta-bleu", talk(4))
    rater = visit(site)
    expected = []
    for number, value in enumerate((4, 1, 5, 3)):
        assert rater.text("#progress-words") == f"{number} of 4 completed"
        judged = rater.judged()
        assert rater.page.locator(".turn .bubble").count() == 3
        rater.page.click(f".option:nth-child({value})")
        rater.page.click("button.main")
        expected.append([[value]])
        rater.wait_for_other(judged)
    rater.wait_for_text("h2", "All done")
    assert rater.text("#progress-words") == "4 of 4 completed"
    assert rater.text("#saved").endswith("Saved")
    assert site.values() == expected


@in_browser
def test_a_campaign_is_rated_to_the_end_with_keys_alone(serve, visit):
    """Digits, arrows and Enter; several criteria on a page; no mouse even to begin."""
    site = serve("delta-bleu", talk(3), criteria=TWO_CRITERIA)
    rater = visit(site, begin=False)
    rater.wait("main button.main")
    rater.page.wait_for_timeout(320)
    rater.press("Enter")
    rater.wait(".task")
    ways = [("2", "5", "Enter"), ("ArrowRight", "ArrowRight", "Enter", "ArrowLeft", "Enter")]
    ways.append(("4", "Enter", "3", "ArrowUp", "Enter"))
    for keys in ways:
        judged = rater.judged()
        rater.page.wait_for_timeout(320)
        rater.press(*keys)
        rater.wait_for_other(judged)
    rater.wait_for_text("h2", "All done")
    assert site.values() == [[[2, 5]], [[2, 5]], [[4, 2]]]


@in_browser
def test_tab_reaches_everything_in_the_order_of_the_page(serve, visit):
    rater = visit(serve("delta-bleu", talk(2), criteria=TWO_CRITERIA))
    script = "() => [document.activeElement.type, document.activeElement.name]"
    seen = []
    for _ in range(3):
        rater.press("Tab")
        seen.append(rater.page.evaluate(script))
    assert [kind for kind, _ in seen] == ["radio", "radio", "submit"]
    assert seen[0] != seen[1]
    for _ in range(3):
        rater.press("Shift+Tab")
    assert rater.page.evaluate("document.activeElement.id") == "help"


# ----------------------------------------------------------------------- coming back, undoing


@in_browser
def test_closing_and_coming_back_loses_nothing(serve, visit):
    site = serve("delta-bleu", talk(3), criteria=TWO_CRITERIA)
    rater = visit(site)
    first = rater.judged()
    rater.press("1", "2", "Enter")
    rater.wait_for_other(first)
    second = rater.judged()
    rater.press("5")
    rater.reopen()
    rater.wait(".task")
    assert rater.judged() == second
    assert rater.text("#progress-words") == "1 of 3 completed"
    assert rater.page.locator("input:checked").evaluate_all("all => all.map(e => e.value)") == ["5"]
    rater.press("4", "Enter")
    assert site.wait_for(2) == [[[1, 2]], [[5, 4]]]


@in_browser
def test_the_last_answer_can_be_changed(serve, visit):
    """A new row supersedes; the old one stays. What was begun of the next task is still there."""
    site = serve("delta-bleu", talk(3))
    rater = visit(site)
    first = rater.judged()
    assert rater.page.is_hidden("text=Change last answer")
    rater.press("2", "Enter")
    rater.wait_for_other(first)
    second = rater.judged()
    rater.press("3")
    site.wait_for(1)
    rater.wait_for_text("#saved", "Saved")
    rater.press("Backspace")
    rater.wait(".note")
    assert rater.judged() == first
    assert rater.page.locator("input:checked").evaluate("e => e.value") == "2"
    rater.press("Escape")
    rater.wait_for_other(first)
    assert rater.judged() == second
    rater.page.click("text=Change last answer")
    rater.wait(".note")
    rater.press("5", "Enter")
    assert site.wait_for(2) == [[[2]], [[5]]]
    old, new = site.answers()
    assert (new.supersedes, new.task) == (old.number, old.task)
    rater.wait_for_other(first)
    assert rater.judged() == second
    assert rater.page.locator("input:checked").evaluate("e => e.value") == "3"
    assert rater.text("#progress-words") == "1 of 3 completed"


@in_browser
def test_the_very_last_answer_can_be_changed_too(serve, visit):
    site = serve("delta-bleu", talk(1))
    rater = visit(site)
    rater.press("2", "Enter")
    rater.wait_for_text("h2", "All done")
    rater.page.click("text=Change last answer")
    rater.wait(".note")
    rater.press("4", "Enter")
    rater.wait_for_text("h2", "All done")
    assert site.wait_for(2) == [[[2]], [[4]]]


# ------------------------------------------------------------------------------- no connection


@in_browser
def test_answers_given_without_a_connection_are_sent_when_it_is_back(serve, visit):
    site = serve("delta-bleu", talk(6))
    rater = visit(site, fails=True)
    context = rater.page.context
    context.set_offline(True)
    for value in ("2", "5"):
        judged = rater.judged()
        rater.press(value, "Enter")
        rater.wait_for_other(judged)
    rater.wait_for_text("#saved", "Not sent yet: 2")
    rater.wait_for_text("h2", "No connection")
    assert rater.text("#progress-words") == "2 of 6 completed"
    assert site.values() == []
    context.set_offline(False)
    rater.wait(".task")
    assert site.values() == [[[2]], [[5]]]
    rater.wait_for_text("#notice", "Connected again")
    assert rater.text("#saved").endswith("Saved")
    old, new = site.answers()
    assert old.finished < new.finished


@in_browser
def test_answers_survive_the_page_and_a_lost_reply_doubles_none(serve, visit):
    """The server saved the answer, the reply got lost, the page was closed: still one rating."""
    site = serve("delta-bleu", talk(6))
    rater = visit(site, fails=True)

    def lose(route: Any) -> None:
        route.fetch()
        route.abort()

    rater.page.route("**/api/answers", lose)
    judged = rater.judged()
    rater.press("4", "Enter")
    rater.wait_for_other(judged)
    rater.wait_for_text("#saved", "Not sent yet: 1")
    assert site.wait_for(1) == [[[4]]]
    rater.reopen()
    rater.wait(".task")
    assert rater.judged() != judged
    assert rater.page.evaluate("Object.keys(localStorage).filter(k => k.endsWith('outbox'))") == []
    rater.press("1", "Enter")
    assert site.wait_for(2) == [[[4]], [[1]]]


@in_browser
def test_the_next_task_is_there_before_the_answer_has_arrived(serve, visit):
    site = serve("delta-bleu", talk(6))
    rater = visit(site)
    waiting: list[Any] = []
    rater.page.route("**/api/answers", lambda route: waiting.append(route))
    judged = rater.judged()
    rater.press("4", "Enter")
    rater.wait_for_other(judged)
    assert rater.page.locator(".task").count() == 1
    assert site.values() == []
    rater.wait_for_text("#saved", "Saving")
    waiting[0].continue_()
    site.wait_for(1)
    rater.wait_for_text("#saved", "Saved")


@in_browser
def test_why_nothing_is_saved_is_told_and_the_answer_kept(serve, visit):
    site = serve("delta-bleu", talk(6))
    rater = visit(site, fails=True)
    said = {"error": "not-saved", "message": "The disk is full. It will be sent again."}
    rater.page.route(
        "**/api/answers",
        lambda route: route.fulfill(status=503, json=said, headers={"Retry-After": "1"}),
    )
    rater.press("4", "Enter")
    rater.wait_for_text("#notice", "The disk is full.")
    assert rater.text("#saved") == "Not sent yet: 1"
    rater.page.unroute("**/api/answers")
    site.wait_for(1)
    rater.wait_for_text("#notice", "Connected again")


@in_browser
def test_an_answer_that_is_refused_for_good_is_told_and_let_go(serve, visit):
    """The same task answered in two windows: the second is told, and goes on."""
    site = serve("delta-bleu", talk(6))
    rater = visit(site, fails=True)
    other = rater.page.context.new_page()
    other.goto(site.url)
    other.wait_for_selector(".task")
    judged = rater.judged()
    rater.press("4", "Enter")
    site.wait_for(1)
    other.keyboard.press("1")
    other.keyboard.press("Enter")
    other.wait_for_function("() => document.getElementById('notice').textContent.length > 0")
    assert other.inner_text("#notice").startswith("One answer was not accepted. You have answered")
    assert site.values() == [[[4]]]
    assert other.inner_text(".judged .bubble") != judged


@in_browser
def test_a_token_that_is_out_of_date_is_renewed_once(serve, visit):
    """As when the link was opened again in another window: the answer goes with the new token."""
    site = serve("delta-bleu", talk(6))
    rater = visit(site, fails=True)
    served = []

    def spoil(route: Any) -> None:
        answer = route.fetch()
        served.append(answer.status)
        body = answer.text()
        if len(served) == 1:
            body = body.replace('name="csrf" content="', 'name="csrf" content="not')
        route.fulfill(response=answer, body=body)

    rater.page.route(f"{site.url}/", spoil)
    rater.page.reload()
    rater.wait(".task")
    rater.press("4", "Enter")
    rater.wait_for_text("#saved", "Saved")
    assert site.values() == [[[4]]]
    assert served == [200, 200]


@in_browser
def test_a_browser_that_keeps_nothing_can_be_rated_with(serve, visit, browser):
    site = serve("delta-bleu", talk(2))
    context = browser.new_context()
    context.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    rater = Rater(context.new_page(), site)
    rater.listen(rater.page)
    rater.open()
    for value in "25":
        judged = rater.judged()
        rater.press(value, "Enter")
        rater.wait_for_other(judged)
    rater.wait_for_text("h2", "All done")
    assert site.values() == [[[2]], [[5]]]
    assert rater.said == []
    context.close()


@in_browser
def test_a_link_that_ends_leaves_unsent_answers_where_they_are(serve, visit):
    site = serve("delta-bleu", talk(6))
    rater = visit(site, fails=True)
    site.database.revoke("rater-0")
    site.refresh()
    rater.press("4", "Enter")
    rater.wait_for_text("h2", "Please open your link again")
    assert site.values() == []
    link = site.database.new_link("rater-0")
    site.refresh()
    site.tokens = [link.token]
    rater.open(begin=False)
    assert site.wait_for(1) == [[[4]]]


@in_browser
def test_a_paused_campaign_goes_on(serve, visit):
    site = serve("delta-bleu", talk(2))
    site.database.set_fact("state", "paused")
    site.refresh()
    rater = visit(site, begin=False)
    rater.wait_for_text("h2", "A short break")
    site.database.set_fact("state", "open")
    site.refresh()
    rater.page.evaluate("window.dispatchEvent(new Event('online'))")
    rater.wait_for_text("h2", "Instructions")


# ------------------------------------------------------------------------------- the line


def has_marker(screenshot: bytes) -> bool:
    """Whether a line looks different anywhere between its ends."""
    pixels = np.asarray(Image.open(io.BytesIO(screenshot)).convert("L"))[:, 20:-20]
    return bool((pixels != pixels[:, :1]).any())


@in_browser
def test_an_untouched_line_has_no_marker_and_cannot_be_submitted(serve, visit):
    site = serve("slider", talk(3))
    rater = visit(site)
    line = rater.page.locator("input[type=range]")
    assert not has_marker(line.screenshot())
    assert line.get_attribute("aria-valuetext") == "not set"
    rater.page.wait_for_timeout(320)
    rater.press("Enter")
    rater.page.click("button.main", force=True)
    assert rater.text(".reminder") == "Please answer this first."
    assert site.values() == []
    # The middle, where an invisible marker would be, is a choice like any other.
    line.click()
    assert has_marker(line.screenshot())
    assert line.get_attribute("aria-valuetext") == "50%"
    rater.page.click("button.main")
    assert site.wait_for(1) == [[[50]]]
    rater.wait("input.untouched")
    size = line.bounding_box()
    rater.page.mouse.click(size["x"] + 0.8 * size["width"], size["y"] + size["height"] / 2)
    rater.press("Enter")
    assert 78 <= site.wait_for(2)[1][0][0] <= 82


@in_browser
def test_the_line_takes_numbers_and_arrows(serve, visit):
    site = serve("slider", talk(4))
    rater = visit(site)
    ways = [("7", "3"), ("ArrowRight", "PageUp", "ArrowLeft"), ("Tab", "Home"), ("1", "0", "0")]
    for keys in ways:
        judged = rater.judged()
        rater.press(*keys, "Enter")
        rater.wait_for_other(judged)
    assert site.wait_for(4) == [[[73]], [[59]], [[0]], [[100]]]


@in_browser
def test_direct_assessment_is_gray_and_black_by_day_and_night(serve, visit):
    study = study_of(([], "Source", ["The reference.", "The output."]))
    rater = visit(serve("direct-assessment", study, what="outputs"))
    for scheme in ("light", "dark"):
        rater.page.emulate_media(color_scheme=scheme)
        colors = rater.page.evaluate(
            "['.gray', '.black'].map(one => getComputedStyle(document.querySelector(one)).color)"
        )
        gray, black = (set(re.findall(r"\d+", one)) for one in colors)
        assert len(gray) == 1
        assert black == {"0"}
    assert rater.text(".gray") == "The reference."
    assert "The black text adequately expresses" in rater.text("legend")
    assert rater.text(".ends").split() == ["0%", "100%"]
    assert rater.text("#progress-words") == "0 of 2 completed"


# ------------------------------------------------------------------------------- two responses


@in_browser
def test_two_responses_stand_side_by_side_and_each_is_rated(serve, visit):
    site = serve("delta-bleu", talk(2, responses=2), what="pairs")
    rater = visit(site)
    first, second = (one.bounding_box() for one in rater.page.locator(".pair .card").all())
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] < second["x"]
    rater.press("2", "5", "Enter")
    assert site.wait_for(1) == [[[2], [5]]]
    rater.wait("fieldset:not(:disabled) .options:not(:has(:checked))")
    rater.page.locator(".pair .card").nth(1).locator(".option").nth(0).click()
    rater.page.locator(".pair .card").nth(0).locator(".option").nth(3).click()
    rater.page.click("button.main")
    assert site.wait_for(2)[1] == [[4], [1]]


@in_browser
def test_one_of_two_is_preferred(serve, visit):
    site = serve("preference", talk(5, responses=2), what="pairs")
    rater = visit(site)
    for key in ("1", "2", "0", "ArrowRight", "ArrowLeft"):
        judged = rater.judged()
        rater.press(key, "Enter")
        rater.wait_for_other(judged)
    assert site.wait_for(5) == [[[1]], [[2]], [[0]], [[2]], [[1]]]


# ------------------------------------------------------------------------------- practice


@in_browser
def test_practice_comes_first_with_feedback_and_does_not_count(serve, visit):
    practice = server.preset("delta-bleu")["practice"]
    site = serve("delta-bleu", talk(2), practice=practice[:2])
    rater = visit(site)
    assert "does not count" in rater.text(".note")
    rater.press("5", "Enter")
    rater.wait(".feedback.right")
    assert practice[0]["right"] in rater.text(".feedback")
    assert rater.page.locator("fieldset").evaluate("e => e.disabled")
    rater.page.wait_for_timeout(320)
    rater.press("Enter")
    rater.wait(".feedback", state="detached")
    rater.page.click(".option:nth-child(5)")
    rater.page.click("button.main")
    rater.wait(".feedback.wrong")
    assert practice[1]["wrong"] in rater.text(".feedback")
    rater.page.wait_for_timeout(320)
    rater.page.click("text=Continue")
    rater.wait_for_text("h2", "Practice is over")
    rater.press("Enter")
    rater.wait(".task")
    assert rater.page.locator(".note").count() == 0
    assert rater.text("#progress-words") == "0 of 2 completed"
    rater.press("4", "Enter")
    assert site.wait_for(1) == [[[4]]]


@in_browser
def test_instructions_can_be_read_again(serve, visit):
    rater = visit(serve("delta-bleu", talk(2)))
    rater.press("3")
    rater.page.click("#help")
    assert "many different responses" in rater.text("#instructions")
    rater.press("5", "Escape")
    rater.wait("#instructions", state="hidden")
    assert rater.page.locator("input:checked").evaluate("e => e.value") == "3"


# ------------------------------------------------------------------------------- looks


@in_browser
@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("upsilon-bleu", {}),
        ("delta-bleu", {"criteria": TWO_CRITERIA, "what": "pairs"}),
        pytest.param("preference", {"what": "pairs"}, marks=pytest.mark.long),
        ("slider", {"language": "de"}),
    ],
    ids=["one", "pairs", "preference", "slider"],
)
def test_a_phone_has_room_for_it(serve, visit, preset, settings):
    """Nothing wider than the window, everything to touch large enough; and it can be rated."""
    long = "A" * 90 + " and a longer text that needs several lines on a phone. " * 3
    site = serve(preset, study_of(([long], long, [long, "short"])), **settings)
    rater = visit(site, PHONE, begin=False)
    rater.page.tap("main button.main")
    rater.wait(".task")
    width = "[document.documentElement.scrollWidth, window.innerWidth]"
    assert rater.page.evaluate(width) == [390, 390]
    sizes = rater.page.evaluate(
        "() => [...document.querySelectorAll('button, .option, input[type=range]')]"
        ".filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect())"
        ".map(({width, height}) => [width, height])"
    )
    assert all(width >= 44 and height >= 43.5 for width, height in sizes), sizes
    if "pairs" in settings.values():
        first, second = (one.bounding_box() for one in rater.page.locator(".pair .card").all())
        assert second["y"] > first["y"] + first["height"] - 1
    for group in rater.page.locator("fieldset").all():
        group.locator(".option, input[type=range]").last.tap()
    rater.page.tap("button.main")
    site.wait_for(1)


@in_browser
def test_hostile_text_stays_text(serve, visit):
    hostile = [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(2)">',
        "</script><script>alert(3)</script><!--",
        "{{ 7 * 7 }} {% raw %} ${alert(4)} javascript:alert(5)",
        "\u202eright to left\u202c \x07 &lt;b&gt; <b>bold</b>",
    ]
    criterion = {"name": "overall", "question": hostile[1], "labels": hostile}
    site = serve(
        "delta-bleu",
        study_of((hostile[:2], hostile[2], hostile[3:])),
        title=hostile[2],
        instructions=hostile,
        criteria=[criterion],
    )
    rater = visit(site, begin=False)
    assert rater.page.title() == hostile[2]
    assert rater.page.locator(".prose > p").all_text_contents() == hostile
    rater.page.click("main button.main")
    rater.wait(".task")
    shown = rater.page.locator(".turns .bubble").all_text_contents()
    assert shown == hostile[:3]
    assert rater.page.locator(".words").all_text_contents() == hostile
    assert rater.page.locator("main script, main img, main b:not(.anchors b)").count() == 0
    assert rater.page.locator("script").count() == 2
    rater.press("3", "Enter")
    site.wait_for(1)


@in_browser
def test_right_to_left_and_chinese_japanese_korean_text(serve, visit):
    """The page runs from right to left where its language does; texts run as they want to."""
    texts = ("كيف حالك اليوم؟", "Fine, thanks.", "今日は元気ですか。")
    study = study_of(([texts[0]], texts[1], [texts[2]]))
    rater = visit(serve("delta-bleu", study, language="ar"))
    assert rater.page.evaluate("document.documentElement.dir") == "rtl"
    directions = rater.page.locator(".bubble").evaluate_all(
        "all => all.map(e => getComputedStyle(e).direction)"
    )
    assert directions == ["rtl", "ltr", "ltr"]
    places = rater.page.locator(".option").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().x)"
    )
    assert places == sorted(places, reverse=True)
    rater.press("ArrowLeft", "ArrowLeft")
    assert rater.page.locator("input:checked").evaluate("e => e.value") == "2"
    drawn = """letters => letters.map(letter => {
        const pen = document.createElement("canvas").getContext("2d");
        pen.textAlign = "left";
        pen.font = "30px " + getComputedStyle(document.body).fontFamily;
        pen.fillText(letter, 2, 32);
        return pen.getImageData(0, 0, 40, 40).data.join();
    })"""
    letters = ["今", "日", "어", "ع", "ش", "ש"]
    if len(set(rater.page.evaluate(drawn, letters))) < len(letters):
        pytest.skip("this machine lacks fonts for some of these scripts")


@in_browser
def test_the_page_works_under_a_path_of_a_proxy(serve, visit):
    site = serve("delta-bleu", talk(2), prefix="/studies/one")
    rater = visit(site)
    assert rater.page.url == f"{site.url}/"
    rater.press("4", "Enter")
    assert site.wait_for(1) == [[[4]]]


@in_browser
def test_a_link_that_is_no_link_gets_a_tidy_page(serve, visit, browser):
    site = serve("delta-bleu", talk(2), language="de")
    page = browser.new_page()
    rater = Rater(page, site)
    rater.listen(page)
    assert page.goto(f"{site.url}/r/nonsense").status == 404
    assert page.inner_text("h1") == "Dieser Link ist nicht gültig"
    card = page.evaluate("getComputedStyle(document.querySelector('.card')).borderRadius")
    assert card != "0px"
    page.close()
    assert [one for one in rater.said if "404" not in one] == []


# ------------------------------------------------------------------------------- accessibility


def axe_script() -> str:
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    return (Path(found.origin).parent / "axe.min.js").read_text("utf-8")


def check_with_axe(rater: Rater, where: str) -> None:
    if not rater.page.evaluate("'axe' in window"):
        rater.page.evaluate(axe_script())
    found = rater.page.evaluate("async () => (await axe.run()).violations")
    bad = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in bad] == [], where


ALL_VIEWS = [(DESKTOP, "light"), (PHONE, "dark"), (DESKTOP, "dark"), (PHONE, "light")]
VIEWS = [ALL_VIEWS[0], *(pytest.param(*one, marks=pytest.mark.long) for one in ALL_VIEWS[1:])]


@in_browser
@pytest.mark.parametrize(("size", "scheme"), VIEWS)
def test_axe_finds_nothing_serious_from_practice_on(serve, visit, size, scheme):
    practice = server.preset("delta-bleu")["practice"]
    rater = visit(serve("delta-bleu", talk(2), practice=practice[:1]), size, scheme, begin=False)
    check_with_axe(rater, "instructions")
    rater.page.click("main button.main")
    rater.wait(".task")
    rater.page.click(".option:nth-child(5)")
    rater.page.click("button.main")
    rater.wait(".feedback")
    check_with_axe(rater, "feedback")
    rater.page.click("#help")
    check_with_axe(rater, "dialog")


@in_browser
@pytest.mark.parametrize(("size", "scheme"), [ALL_VIEWS[1], *VIEWS[2:]])
def test_axe_finds_nothing_serious_about_lines(serve, visit, size, scheme):
    site = serve("slider", talk(2, responses=2), what="pairs", language="ar", layout="assessment")
    rater = visit(site, size, scheme)
    rater.page.wait_for_timeout(320)
    rater.press("Enter")
    check_with_axe(rater, "two lines and a reminder")
    rater.press("4", "Enter", "5", "Enter")
    rater.wait("text=تغيير الإجابة الأخيرة")
    check_with_axe(rater, "the next two, and undo")


# ------------------------------------------------------------------------------- words


def test_every_language_says_everything_the_page_says():
    english = page_words("en")
    scripts = "".join(one.read_text("utf-8") for one in PAGE.iterdir() if one.name.endswith(".js"))
    said = set(re.findall(r'\bsay\(\s*"(\w+)"', scripts)) | {"trouble_text", "done_text"}
    assert said <= set(english)
    for language in LANGUAGES:
        words = page_words(language)
        assert set(words) == set(english)
        for name, text in words.items():
            assert text.strip() == text != "", (language, name)
            allowed = set(re.findall(r"\{(\w+)\}", english[name]))
            places = set(re.findall(r"\{(\w+)\}", text))
            assert places == allowed or name == "why_not-saved", (language, name)


def fits(name: str) -> Mapping[str, object]:
    return {"what": "pairs" if name == "preference" else "outputs"}


@pytest.mark.parametrize("name", ["delta-bleu", "upsilon-bleu", "direct-assessment", "slider"])
def test_presets_are_campaigns(name):
    campaign = server.settings_from(server.preset(name) | fits(name), name)
    assert campaign.practice
    assert campaign.instructions


def test_presets_are_those_that_are_documented():
    names = ["delta-bleu", "direct-assessment", "preference", "slider", "upsilon-bleu"]
    assert server.preset_names() == names
    campaign = server.settings_from(server.preset("preference") | fits("preference"), "preference")
    assert len(campaign.practice[0].responses) == 2
    anchors = server.settings_from(server.preset("upsilon-bleu"), "").criteria[0].labels
    assert anchors[0] == "Inappropriate or unrecognizable"
    assert anchors[-1] == "Very appropriate or seeming to be an actual response"
