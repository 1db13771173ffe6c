"""What an organiser does: control items, exclusion, crowds, an order, and the page for it all."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import Counter
from contextlib import closing

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi")
from sqlalchemy import text

from deltableu.corpus import Item, Reference, Study
from deltableu.rate import BlockPlan, server
from deltableu.rate.server import schema
from tests.cli.test_rate import answer_all
from tests.rate.server.kit import Rater, export, make_campaign, raters, running, small_study, status

CHROMIUM = shutil.which("chromium")
WORDS = [
    "river",
    "stone",
    "cloud",
    "paper",
    "window",
    "garden",
    "bottle",
    "mirror",
    "candle",
    "forest",
    "engine",
    "basket",
]


def wordy_study(items: int = 40, seed: int = 0) -> Study:
    """Outputs that can be degraded: ten words each, the worse system's with fewer good ones."""
    rng = np.random.default_rng(seed)

    def sentence() -> str:
        return " ".join(rng.choice(WORDS, 10))

    return Study(
        tuple(
            Item(f"i{place}", (Reference("r0", sentence()),), (), f"message {place}")
            for place in range(items)
        ),
        {"one": tuple(sentence() for _ in range(items))},
    )


def controlled(folder, study, **settings):
    values = {
        **server.preset("slider"),
        "what": "outputs",
        "per_item": 1,
        "practice": [],
    } | settings
    return server.new_campaign(
        folder,
        server.settings_from(values, "test"),
        study,
        raters=["careful", "random"],
        controls=BlockPlan(),
        seed=3,
    )


def until(condition) -> None:
    """Wait until a server has seen what was changed beside it."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_blocks_with_controls_go_to_one_rater_in_their_order(folder):
    study = wordy_study(140)
    new = controlled(folder, study, per_item=2, min_seconds=0)
    assert new.tasks == 200
    originals = set(study.outputs["one"])
    draws = np.random.default_rng(0)

    def value(task, rater):
        if rater == 2:
            return [[float(draws.integers(0, 101))]]
        good = task["responses"][0] in originals
        return [[float((75 if good else 20) + draws.integers(0, 20))]]

    assert answer_all(folder, value) == 400
    ratings = export(folder)
    kinds = Counter(one.kind for one in ratings)
    assert kinds == {"item": 280, "bad-reference": 40, "repeat": 40, "reference": 40}
    by_rater = {}
    for one in ratings:
        by_rater.setdefault(one.rater, []).append(one)
    for answers in by_rater.values():
        # Ten of a block in a row, as they were planned.
        for start in range(0, 200, 10):
            found = Counter(one.kind for one in answers[start : start + 10])
            assert found["item"] == 7
        assert len({(one.item, one.target) for one in answers if one.kind == "item"}) == 140
    controls = [one for one in ratings if one.kind == "bad-reference"]
    assert all(one.target == "system:one" for one in controls)
    assert {one.target for one in ratings if one.kind == "reference"} == {"reference:r0"}
    with closing(server.open_database(folder)[1]) as database:
        view = server.organiser_view(server.read_campaign(folder), database)
    verdicts = {one.name: one.verdict for one in view.raters}
    assert verdicts["careful"] == "passed"
    assert verdicts["random"] == "failed"


def test_who_did_a_set_with_controls_can_do_the_others(folder):
    """Outputs of one item are in several sets, and its original is a control in each of them."""
    values = {**server.preset("delta-bleu"), "what": "outputs", "per_item": 2, "practice": []}
    plan = BlockPlan(blocks=2, outputs=3, distance=1, references=3)
    new = server.new_campaign(
        folder, server.settings_from(values, "test"), small_study(), raters=["ann", "bob"],
        controls=plan,
    )  # fmt: skip
    with running(folder) as url, raters(url, new) as both:
        for one in both:
            assert len(one.answer_all()) == new.tasks
    assert status(folder).complete == new.tasks


def test_what_an_excluded_rater_did_goes_to_others(folder):
    new = make_campaign(folder, per_item=1, raters=("ann", "bob"))
    with running(folder) as address, raters(address, new) as (ann, bob):
        ann.answer_all([[1]])
        assert status(folder).given == 12
        with closing(server.open_database(folder)[1]) as database:
            database.exclude("ann")
        assert status(folder).given == 0
        until(lambda: bob.tasks()["tasks"])
        assert len(bob.answer_all([[5]])) == 12
        assert ann.client.get("api/tasks").status_code == 401
    assert {(one.rater, one.value) for one in export(folder)} == {("bob", 5)}
    campaign, database = server.open_database(folder)
    with closing(database):
        everything = server.campaign_ratings(campaign, database, excluded=True)
    assert len(everything) == 24, "nothing is ever lost"
    assert (status(folder).given, status(folder).beyond) == (12, 0)


def test_a_crowd_worker_gets_a_code_that_says_whether_to_pay(folder):
    study = wordy_study(70)
    values = {
        **server.preset("slider"), "what": "outputs", "per_item": 1, "practice": [],
        "crowd": "PROLIFIC_PID", "completion_code": "GOOD1", "failed_code": "BAD1",
        "completion_url": "https://example.org/submit?cc={code}", "exclude_failed": True,
        "min_seconds": 0,
    }  # fmt: skip
    new = server.new_campaign(
        folder, server.settings_from(values, "test"), study, controls=BlockPlan(), seed=1
    )
    originals = set(study.outputs["one"])
    draws = np.random.default_rng(5)
    with running(folder, haste=10_000.0) as address:
        for path in (f"j/{new.join}", f"j/{new.join}?PROLIFIC_PID=", "j/wrong?PROLIFIC_PID=a1"):
            assert httpx.get(f"{address}/{path}").status_code == 404

        def work(worker: str, value) -> dict:
            person = Rater(address)
            assert person.client.get(f"j/{new.join}?PROLIFIC_PID={worker}").status_code == 303
            person.open_page()
            while (given := person.tasks())["tasks"]:
                person.answer(given["tasks"][0], [[value(given["tasks"][0])]])
            person.close()
            return given["completion"]

        def careful(task):
            good = task["responses"][0] in originals
            return int(draws.integers(80, 100) if good else draws.integers(0, 30))

        bad = work("lazy7", lambda _: int(draws.integers(0, 101)))
        assert bad["code"] == "BAD1"
        assert status(folder).given == 0, "the block goes back into the pool"
        good = work("ok5", careful)
        assert (good["code"], good["url"]) == ("GOOD1", "https://example.org/submit?cc=GOOD1")
    assert {one.rater for one in export(folder)} == {"crowd-ok5"}
    found = status(folder)
    assert (found.given, found.wanted) == (100, 100)


def test_what_an_order_names_comes_first(folder, tmp_path):
    new = make_campaign(folder, per_item=1, raters=("ann",))
    order = tmp_path / "order.csv"
    order.write_text("item,target,value\ni3,reference:r1,9\ni0,reference:r0,7\ni5,reference:r1,1\n")
    with running(folder, order=order) as address, raters(address, new) as (ann,):
        ann.answer_all()
    told = [(one.item, one.target) for one in export(folder)][:3]
    assert told == [("i3", "reference:r1"), ("i0", "reference:r0"), ("i5", "reference:r1")]


def test_an_order_that_cannot_be_used(folder, tmp_path):
    make_campaign(folder)
    order = tmp_path / "order.csv"
    for content, said in (("item\ni1\n", "target"), ("item,target\n", "names nothing")):
        order.write_text(content)
        with pytest.raises(ValueError, match=said):
            server.serve_campaign(folder, port=0, order=order)


def test_tables_of_version_1_become_those_of_today(folder, address):
    new = make_campaign(folder, address)
    answer_all(folder, limit=5)
    before = export(folder)
    opened = server.Database.at(folder, address)
    with opened.writing() as connection:
        connection.execute(text("ALTER TABLE raters DROP COLUMN excluded"))
        connection.execute(text("UPDATE facts SET value = '1' WHERE name = 'schema'"))
    opened.close()
    assert export(folder) == before
    with closing(server.open_database(folder)[1]) as database:
        assert database.facts()["schema"] == str(schema.VERSION)
        database.exclude("ann")
    assert {one.rater for one in export(folder)} == {"bob"}
    assert new.links
    newer = server.Database.at(folder, address)
    newer.set_fact("schema", "99")
    newer.close()
    with pytest.raises(ValueError, match="newer deltableu"):
        server.open_database(folder)


class TestOrganiser:
    """The organiser's page and what it asks for."""

    @pytest.fixture
    def site(self, folder):
        new = make_campaign(
            folder, raters=[f"rater-{place}" for place in range(4)], per_item=4, pay_per_hour=20,
            study=small_study(20),
        )  # fmt: skip
        answer_all(folder, lambda task, rater: [[1 + (len(task["message"]) + rater) % 5]], 100)
        with running(folder) as address:
            yield address, new, folder

    @pytest.fixture
    def organiser(self, site):
        address, new, _ = site
        with httpx.Client(base_url=address) as client:
            assert client.get(f"/admin/{new.admin}").status_code == 303
            page = client.get("/admin")
            client.headers["x-csrf-token"] = re.search(r'csrf" content="([^"]+)', page.text)[1]
            yield client

    def test_nobody_else_gets_in(self, site):
        address, new, _ = site
        paths = ("admin", "api/admin/status", "api/admin/ratings.csv")
        for rater in (Rater(address, new.links[0].token), Rater(address)):
            assert [rater.client.get(path).status_code for path in paths] == [401] * 3
            for path in ("state", "raters", "link", "revoke", "exclude"):
                answer = rater.client.post(f"api/admin/{path}", json={"paused": True})
                assert answer.status_code == 401
            rater.close()
        assert httpx.get(f"{address}/admin/wrong").status_code == 404

    def test_writing_needs_the_page(self, organiser):
        token = organiser.headers.pop("x-csrf-token")
        for path in ("state", "raters", "link", "revoke", "exclude"):
            assert organiser.post(f"api/admin/{path}", json={}).status_code == 403
        organiser.headers["x-csrf-token"] = token
        for path in ("state", "raters", "link", "revoke", "exclude"):
            assert organiser.post(f"api/admin/{path}", json={"no": 1}).status_code == 422
            wrong = organiser.post(f"api/admin/{path}", content=b"{}")
            assert wrong.status_code == 415

    def test_the_organiser_is_no_rater(self, organiser):
        assert organiser.get("/api/tasks").status_code == 401

    def test_it_tells_what_the_command_tells(self, organiser, site):
        found = organiser.get("/api/admin/status").json()
        told = status(site[2])
        assert (found["given"], found["wanted"]) == (told.given, told.wanted) == (100, 160)
        assert sum(one["answers"] for one in found["hours"]) == 100
        assert found["cost"]["money"] == pytest.approx(20 * found["cost"]["hours"])
        assert found["criteria"][0]["alpha"] is not None
        lines = organiser.get("/api/admin/ratings.csv").text.splitlines()
        assert len(lines) == 101

    def test_what_it_changes_holds_at_once(self, organiser, site):
        address, new, _ = site
        rater = Rater(address, new.links[0].token)
        assert rater.tasks()["state"] == "rating"
        assert organiser.post("/api/admin/state", json={"paused": True}).status_code == 200
        assert rater.tasks()["state"] == "paused"
        organiser.post("/api/admin/state", json={"paused": False})
        assert rater.tasks()["state"] == "rating"
        made = organiser.post("/api/admin/raters", json={"names": ["<b>new</b>"]}).json()["links"]
        fresh = Rater(address)
        assert fresh.client.get(made[0]["path"]).status_code == 303
        again = organiser.post("/api/admin/raters", json={"names": ["<b>new</b>"]})
        assert (again.status_code, "is there already" in again.json()["message"]) == (409, True)
        other = organiser.post("/api/admin/link", json={"name": "rater-0"}).json()["links"][0]
        assert rater.client.get("api/tasks").status_code == 401
        back = Rater(address)
        assert back.client.get(other["path"]).status_code == 303
        assert organiser.post("/api/admin/revoke", json={"name": "rater-0"}).status_code == 200
        assert back.client.get("api/tasks").status_code == 401
        organiser.post("/api/admin/exclude", json={"name": "rater-1"})
        found = organiser.get("/api/admin/status").json()
        assert [one["excluded"] for one in found["raters"]] == [False, True, False, False, False]
        assert found["given"] == 75
        for one in (rater, fresh, back):
            one.close()

    @pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
    @pytest.mark.parametrize(("size", "colours"), [((1280, 900), "light"), ((390, 800), "dark")])
    def test_the_page_in_a_browser(self, site, size, colours):
        playwright = pytest.importorskip("playwright.sync_api")
        address, new, folder = site
        with playwright.sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(
                viewport={"width": size[0], "height": size[1]}, color_scheme=colours
            )
            said, asked = [], []
            page.on("console", lambda one: said.append(one.text))
            page.on("pageerror", lambda one: said.append(str(one)))
            page.on("request", lambda one: asked.append(one.url))
            page.on("dialog", lambda one: one.accept())
            page.goto(f"{address}/admin/{new.admin}")
            page.wait_for_selector("#raters tr")
            assert "100 of 160 ratings are given" in page.inner_text("#answer")
            assert page.locator("#hours svg rect").count() == 48
            assert "alpha" in page.inner_text("#agreement")
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
            page.fill("#names", "<img src=x onerror=alert(1)>")
            page.click("#add button")
            page.wait_for_selector("#links code")
            assert page.locator("#links img").count() == 0
            link = page.inner_text("#links code")
            assert httpx.get(link).status_code == 303
            page.click("#pause")
            page.wait_for_selector("#pause:has-text('Resume')")
            assert status(folder).state == "paused"
            page.click("#pause")
            page.wait_for_selector("#pause:has-text('Pause')")
            page.click("[aria-label='End the link of rater-0']")
            page.wait_for_selector("tr:has-text('rater-0') >> text=ended")
            with page.expect_download() as got:
                page.click("#export")
            with open(got.value.path()) as file:
                assert len(file.readlines()) == 101
            assert said == []
            assert all(one.startswith(address) for one in asked)
            browser.close()


def test_a_rater_s_view_is_json_without_nan(folder):
    make_campaign(folder)
    with closing(server.open_database(folder)[1]) as database:
        view = server.organiser_view(server.read_campaign(folder), database)
    assert view.per_hour is None
    assert json.dumps([one.seconds for one in view.raters]) == "[null, null]"
