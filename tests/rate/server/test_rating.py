"""What raters do and get, over HTTP, with either database."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from deltableu.rate import server
from tests.rate.server.kit import (
    Rater,
    export,
    make_campaign,
    new_key,
    raters,
    running,
    small_study,
    status,
)


def test_a_campaign_from_the_first_link_to_the_last_rating(folder: Path, address: str):
    new = make_campaign(folder, address, raters=("ann", "bob", "eve"))
    assert (new.tasks, new.wanted) == (12, 24)
    with running(folder) as url, raters(url, new) as (ann, bob, eve):
        first = ann.tasks(2)
        assert (first["state"], first["done"], first["total"]) == ("rating", 0, 12)
        assert len(first["tasks"]) == 2
        task = first["tasks"][0]
        place = task["message"].removeprefix("message ")
        assert task["context"] == [f"earlier {place}"]
        assert task["reference"] is None
        assert task["responses"][0] in (f"response {place}", f"mined response {place}")
        assert ann.tasks(2)["tasks"][0]["task"] == task["task"], "asking again gives the same"
        values = [[1], [2], [5]]
        said = ann.answer(task, [values[0]])
        assert (said["done"], said["total"], said["feedback"]) == (1, 12, None)
        assert set(ann.answer_all([values[0]])) | {task["task"]} == set(range(1, 13))
        assert ann.tasks() == {"state": "done", "done": 12, "total": 12, "tasks": []}
        while any(one.tasks()["tasks"] for one in (bob, eve)):
            for one, value in ((bob, values[1]), (eve, values[2])):
                if given := one.tasks()["tasks"]:
                    one.answer(given[0], [value])
        for one in (bob, eve):
            assert one.tasks()["state"] == "done"
    found = export(folder)
    by_thing = Counter((one.item, one.target) for one in found)
    assert len(by_thing) == 12
    assert set(by_thing.values()) == {2}
    said = {"ann": 1.0, "bob": 2.0, "eve": 5.0}
    assert all(one.value == said[one.rater] for one in found)
    assert {one.scale for one in found} == {"1-5"}
    state = status(folder)
    assert (state.tasks, state.complete, state.given, state.beyond) == (12, 12, 24, 0)
    assert {one.name: one.answers for one in state.raters}["ann"] == 12


def test_a_key_is_counted_once(folder: Path, address: str):
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, bob):
        task, key = ann.task(), new_key()
        first = ann.answer(task, key=key)
        for _ in range(3):
            assert ann.answer(task, key=key) == first
        assert ann.send(ann.task(), key=key).status_code == 409, "a key belongs to one task"
        assert bob.send(bob.task(), key=key).status_code == 409, "and to one rater"
    assert len(export(folder)) == 1


def test_two_tabs(folder: Path, address: str):
    new = make_campaign(folder, address, raters=("ann",))
    with running(folder) as url, raters(url, new) as (one,), raters(url, new) as (other,):
        task = one.task()
        same = other.task()
        assert same["task"] == task["task"]
        one.answer(task, [[5]])
        refused = other.send(same, [[1]])
        assert refused.status_code == 409
        assert refused.json()["error"] == "answered"
        assert other.task()["task"] != task["task"]
    assert [one.value for one in export(folder)] == [5.0]


def test_the_last_answer_can_be_changed_again_and_again(folder: Path, address: str):
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, bob):
        assert ann.last() == {"task": None, "answer": None, "values": None}
        earlier = ann.answer(ann.task(), [[2]])["answer"]
        task = ann.task()
        number = ann.answer(task, [[1]])["answer"]
        for value in (2, 3, 4):
            last = ann.last()
            assert (last["task"]["task"], last["answer"]) == (task["task"], number)
            assert last["task"]["responses"] == task["responses"]
            assert last["values"] == [[value - 1]]
            key = new_key()
            said = ann.answer(last["task"], [[value]], revises=number, key=key)
            assert (said["done"], said["total"]) == (2, 12)
            assert ann.answer(last["task"], [[value]], revises=number, key=key) == said
            taken = ann.send(last["task"], [[5]], revises=number)
            assert taken.status_code == 409, "it was changed already"
            number = said["answer"]
        assert ann.send(last["task"], [[5]], revises=earlier).status_code == 409, "another task's"
        assert ann.send(last["task"], [[5]], revises=10**6).status_code == 409, "nobody's"
        mine = bob.task()
        assert bob.send(mine, [[5]], revises=number).status_code == 409, "another rater's"
        bob.answer(mine, [[3]])
    with running(folder) as url, raters(url, new) as (ann, _):
        assert ann.last()["answer"] == number, "also after a restart"
        assert ann.last()["values"] == [[4]]
    assert sorted(one.value for one in export(folder)) == [2.0, 3.0, 4.0]
    assert {one.name: one.revised for one in status(folder).raters} == {"ann": 3, "bob": 0}


def test_who_comes_back_goes_on(folder: Path, address: str):
    new = make_campaign(folder, address)
    with running(folder) as url:
        with raters(url, new) as (ann, _):
            ann.answer(ann.task())
            held = ann.task()
        with raters(url, new) as (ann, _):
            assert ann.task()["task"] == held["task"]
    with running(folder) as url, raters(url, new) as (ann, bob):
        found = ann.tasks()
        assert (found["done"], found["total"]) == (1, 12)
        assert found["tasks"][0]["task"] == held["task"], "leases outlast a restart"
        ann.answer(held), "and so do tickets"
        assert len(bob.answer_all()) == 12


def test_who_leaves_does_not_block_others(folder: Path, address: str):
    new = make_campaign(folder, address, study=small_study(1), per_item=1, lease_minutes=0.01)
    with running(folder) as url, raters(url, new) as (ann, bob):
        held = ann.task()
        (other,) = bob.tasks(2)["tasks"]
        bob.answer(other)
        assert bob.tasks()["state"] == "waiting"
        time.sleep(0.65)
        late = bob.task()
        assert late["task"] == held["task"]
        bob.answer(late)
        assert bob.tasks()["state"] == "done"
    state = status(folder)
    assert (state.given, state.beyond) == (2, 0)


def test_an_answer_after_its_lease_is_kept(folder: Path, address: str):
    new = make_campaign(folder, address, study=small_study(1), per_item=1, lease_minutes=0.01)
    with running(folder) as url, raters(url, new) as (ann, bob):
        slow = ann.task()
        time.sleep(0.65)
        bob.answer_all()
        said = ann.answer(slow)
        assert said["done"] == 1
        assert ann.tasks() == {"state": "done", "done": 1, "total": 1, "tasks": []}
    state = status(folder)
    assert (state.wanted, state.given, state.beyond) == (2, 2, 1)


def test_at_most_so_many_tasks_of_one_rater(folder: Path, address: str):
    new = make_campaign(folder, address, per_rater=3)
    with running(folder) as url, raters(url, new) as (ann, _):
        assert ann.tasks()["total"] == 3
        assert len(ann.answer_all()) == 3
        assert ann.tasks() == {"state": "done", "done": 3, "total": 3, "tasks": []}


def test_pause_and_go_on(folder: Path, address: str):
    new = make_campaign(folder, address)
    _, database = server.open_database(folder)
    with running(folder) as url, raters(url, new) as (ann, _):
        task = ann.task()
        database.set_fact("state", "paused")
        until(lambda: ann.tasks()["state"] == "paused")
        assert ann.tasks()["tasks"] == []
        refused = ann.send(task)
        assert (refused.status_code, refused.json()["error"]) == (503, "paused")
        assert int(refused.headers["retry-after"]) > 0
        database.set_fact("state", "open")
        until(lambda: ann.tasks()["state"] == "rating")
        ann.answer(task)
    database.close()


def test_raters_items_and_ratings_are_added_to_a_running_campaign(folder: Path, address: str):
    new = make_campaign(folder, address, study=small_study(1), raters=("ann",), per_item=1)
    _, database = server.open_database(folder)
    with running(folder) as url, raters(url, new) as (ann,):
        assert len(ann.answer_all()) == 2
        assert server.add_items(folder, small_study(2)) == 2
        until(lambda: ann.tasks()["state"] == "rating")
        assert sorted(ann.answer_all()) == [3, 4]
        assert server.add_items(folder, small_study(2)) == 0
        (link,) = database.add_raters(["bob"])
        until(lambda: ann.client.get(f"r/{link.token}").status_code == 303)
        with raters(url, server.NewCampaign(folder, 0, 0, (link,), "")) as (bob,):
            assert bob.tasks()["state"] == "done"
            assert server.set_per_item(folder, 2) == 4
            until(lambda: bob.tasks()["state"] == "rating")
            assert sorted(bob.answer_all()) == [1, 2, 3, 4]
    database.close()
    assert Counter(one.rater for one in export(folder)) == {"ann": 4, "bob": 4}


def test_links_end(folder: Path, address: str):
    new = make_campaign(folder, address, raters=("ann", "bob", "eve"))
    _, database = server.open_database(folder)
    tokens = {link.name: link.token for link in new.links}
    with running(folder) as url, raters(url, new) as (ann, bob, eve):
        task = bob.task()
        database.revoke("ann")
        again = database.new_link("bob")
        (name,) = database.forget("eve")
        until(
            lambda: all(one.client.get("api/tasks").status_code == 401 for one in (ann, bob, eve))
        )
        assert bob.send(task).status_code == 401, "sessions end with the link"
        for token in tokens.values():
            assert ann.client.get(f"r/{token}").status_code == 404
        bob.enter(again.token)
        bob.answer(task)
        assert ann.client.get("").status_code == 401
    assert name.startswith("forgotten-")
    with database.reading() as connection:
        assert {one.name for one in server.read_raters(connection)} == {"ann", "bob", name}
    database.close()


def test_a_forgotten_name_is_nowhere(folder: Path, tmp_path: Path):
    new = make_campaign(folder, raters=("Annabel Leigh", "bob"))
    with running(folder) as url, raters(url, new) as (ann, _):
        ann.answer(ann.task())
        _, database = server.open_database(folder)
        (name,) = database.forget("Annabel Leigh")
        until(lambda: ann.client.get("api/tasks").status_code == 401)
        database.close()
    assert all(b"Annabel" not in one.read_bytes() for one in folder.iterdir())
    assert [one.rater for one in export(folder)] == [name]


def test_links_expire(folder: Path, address: str):
    new = make_campaign(folder, address, expires=timedelta(seconds=1.5))
    with running(folder) as url, raters(url, new) as (ann, bob):
        ann.answer(ann.task())
        until(lambda: ann.client.get("api/tasks").status_code == 401)
        assert bob.client.get(f"r/{new.links[1].token}").status_code == 404


PRACTICE = {
    "context": ["Hello."],
    "message": "How are you?",
    "responses": ["Fine, thanks."],
    "accept": [[4, 5]],
    "right": "That is what most say.",
    "wrong": "Most say it fits well.",
}


def test_practice_comes_first(folder: Path, address: str):
    other = {**PRACTICE, "responses": ["Seven."], "accept": [[1, 2]]}
    new = make_campaign(folder, address, practice=[PRACTICE, other])
    with running(folder) as url, raters(url, new) as (ann, _):
        given = ann.tasks(2)
        assert given["state"] == "practice"
        (task,) = given["tasks"]
        assert (task["kind"], task["responses"]) == ("practice", ["Fine, thanks."])
        assert "accept" not in str(given)
        key = new_key()
        said = ann.answer(task, [[2]], key=key)
        assert said["feedback"] == {"right": False, "text": PRACTICE["wrong"]}
        assert said["done"] == 0
        assert ann.answer(task, [[2]], key=key) == said
        assert ann.task()["responses"] == ["Seven."]
    with running(folder) as url, raters(url, new) as (ann, _):
        task = ann.task()
        assert task["responses"] == ["Seven."], "also after a restart"
        assert ann.answer(task, [[1]])["feedback"]["right"] is True
        assert ann.tasks()["state"] == "rating"
        ann.answer(ann.task())
    assert len(export(folder)) == 1, "practice is no rating"


@pytest.mark.parametrize("scale", ["likert5", "slider100"])
def test_pairs_are_shown_in_either_order_and_exported_as_they_are(
    folder: Path, address: str, scale: str
):
    preset = {"likert5": "delta-bleu", "slider100": "slider"}[scale]
    new = make_campaign(folder, address, preset=preset, what="pairs", study=small_study(12))
    values = {"east": 5.0, "west": 2.0}
    with running(folder) as url, raters(url, new) as both:
        for one in both:
            while given := one.tasks()["tasks"]:
                shown = [text.split()[0] for text in given[0]["responses"]]
                one.answer(given[0], [[values[name]] for name in shown])
    found = export(folder)
    assert len(found) == 48
    assert all(one.value == values[one.target.removeprefix("system:")] for one in found)
    assert {one.pair for one in found} == {"east vs west"}
    positions = Counter((one.target, one.position) for one in found)
    assert set(positions) == {(f"system:{name}", place) for name in values for place in (1, 2)}
    assert positions["system:east", 1] == positions["system:west", 2]
    assert 4 <= positions["system:east", 1] <= 20, "the order is random"


def test_preferences(folder: Path, address: str):
    new = make_campaign(
        folder, address, preset="preference", what="pairs", study=small_study(9, ("a", "b", "c")),
        pairs=[("a", "b"), ("c", "a")],
    )  # fmt: skip
    assert new.tasks == 18
    # What raters think: a is better than b, and c is as good as a.
    with running(folder) as url, raters(url, new) as both:
        for one in both:
            while given := one.tasks()["tasks"]:
                shown = [text.split()[0] for text in given[0]["responses"]]
                value = 0 if "c" in shown else 1 + shown.index("a")
                one.answer(given[0], [[value]])
            assert one.send(given_like(one), [[3]]).status_code == 422
    found = export(folder)
    means = {
        (one.pair, one.target, one.value) for one in found if one.scale == "0-1" and one.position
    }
    assert means == {
        ("a vs b", "system:a", 1.0),
        ("a vs b", "system:b", 0.0),
        ("c vs a", "system:a", 0.5),
        ("c vs a", "system:c", 0.5),
    }
    assert len(found) == 72


def given_like(rater: Rater) -> dict[str, object]:
    """A task that a rater had."""
    found = rater.last()["task"]
    assert isinstance(found, dict)
    return found


def test_several_questions_and_weights(folder: Path, address: str):
    labels = ["1", "2", "3", "4", "5"]
    questions = [
        {"name": name, "question": f"How {name}?", "labels": labels} for name in ("good", "apt")
    ]
    new = make_campaign(folder, address, criteria=questions)
    with running(folder) as url, raters(url, new) as (ann, bob):
        assert ann.send(ann.task(), [[3]]).status_code == 422
        ann.answer_all([[5, 1]])
        bob.answer_all([[4, 1]])
    campaign, database = server.open_database(folder)
    table = server.campaign_ratings(campaign, database)
    database.close()
    weighted = server.weighted_study(small_study(), table, "good")
    assert {one.weight for item in weighted.items for one in item.references} == {0.75}
    assert len(weighted.ratings) == 48


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://127.0.0.1/study", "/"),
        ("http://127.0.0.1/study", "/study/"),
        ("http://127.0.0.1/a/b/", "/a/b/"),
    ],
)
def test_a_proxy_with_a_path_that_it_takes_off_or_leaves_on(folder: Path, url: str, asked: str):
    new = make_campaign(folder)
    outside = "/a/b/" if "/a/" in url else "/study/"
    with running(folder, url=url) as inside, Rater(f"{inside}{asked}") as ann:
        entered = ann.client.get(f"r/{new.links[0].token}")
        assert entered.headers["location"] == "../"
        cookie = entered.headers["set-cookie"]
        assert f"Path={outside};" in cookie
        # A browser sees the path outside; here the cookie is sent by hand.
        ann.client.headers["cookie"] = cookie.partition(";")[0]
        page = ann.open_page()
        assert 'href="/' not in page
        assert 'src="/' not in page
        ann.answer(ann.task())
        assert ann.client.get("static/rate.js").status_code == 200
        lost = ann.client.get("r/x")
        assert 'href="../static/rate.css"' in lost.text
        bare = ann.client.get(f"{inside}{outside.rstrip('/')}")
        assert (bare.status_code, bare.headers["location"]) == (308, outside)


def test_one_server_at_a_time(folder: Path, address: str):
    make_campaign(folder, address)
    with running(folder):
        with pytest.raises(ValueError, match="is at work here"), running(folder):
            pass
        if address:
            elsewhere = folder.parent / "elsewhere"
            elsewhere.mkdir()
            (elsewhere / "campaign.toml").write_bytes((folder / "campaign.toml").read_bytes())
            with pytest.raises(ValueError, match="another server"), running(elsewhere):
                pass
    with running(folder):
        pass


def test_times_are_those_of_the_server_where_the_page_says_odd_things(folder: Path, address: str):
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, _):
        before = server.utc_now()
        ann.answer(ann.task(), elapsed=1e10, waited=1e10)
        ann.answer(ann.task(), elapsed=0, waited=0)
    for one in export(folder):
        assert before <= one.started <= one.finished <= server.utc_now()


def until(true: object, seconds: float = 15.0) -> None:
    """Wait until something is so."""
    assert callable(true)
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
