"""Campaigns from the command line: made, answered, exported, and what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import uuid
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deltableu import read_study
from deltableu.corpus import read_ratings

pytest.importorskip("fastapi", reason="campaigns need the extra web")
from deltableu.rate import server
from deltableu.rate.server.service import GivenAnswer


def answer_all(folder: Path, value=None, limit: int = 10**6) -> int:
    """Let all raters answer what they get, as the page would send it; how many answers there were.

    `value` gives the values of a task from its content and the rater's number.
    """
    campaign, database = server.open_database(folder)
    with closing(database):
        service = server.Service(campaign, database, seed=0)
        with database.reading() as connection:
            raters = [row.number for row in server.read_raters(connection)]

        async def rate() -> int:
            given = 0
            busy = True
            while busy and given < limit:
                waiting = []
                for rater in raters[: limit - given]:
                    for task in json.loads(service.tasks(rater, 1))["tasks"]:
                        shape = (campaign.answer_rows, len(campaign.criteria))
                        values = np.full(shape, 4.0) if value is None else value(task, rater)
                        rows = np.array(values, dtype=float).tolist()
                        answer = GivenAnswer(str(uuid.uuid4()), task["ticket"], rows, 1, 0, None)
                        waiting.append(service.answer(rater, answer))
                await asyncio.gather(*waiting)
                given += len(waiting)
                busy = bool(waiting)
            return given

        try:
            return asyncio.run(rate())
        finally:
            service.close()


@pytest.fixture
def done(run):
    """Runs a command that done, whatever it notes."""

    def done(*arguments: object):
        result = run(*arguments)
        assert result.code == 0, result.err
        return result

    return done


@pytest.fixture
def few(demo, tmp_path):
    """A dozen items of the demo study, with outputs and without ratings."""
    study = tmp_path / "few"
    (study / "outputs").mkdir(parents=True)
    for name in ("items.jsonl", *(f"outputs/{one.name}" for one in demo.glob("outputs/*"))):
        lines = (demo / name).read_text().splitlines(keepends=True)
        (study / name).write_text("".join(lines[:12]))
    return study


@pytest.fixture
def campaign(done, few, tmp_path):
    """Makes a campaign on them."""

    def make(*arguments: object, what: str = "references") -> Path:
        folder = tmp_path / "campaign"
        done("rate", "new", folder, "--study", few, "--what", what, *arguments)
        return folder

    return make


def test_weights_are_the_means_of_what_people_said(campaign, done, few, tmp_path):
    folder = campaign("--per-item", 2, "--raters", "ann", "bob", "--no-practice")
    answer_all(folder, lambda task, rater: [[1 + (len(task["responses"][0]) + rater) % 5]])
    done("rate", "export", folder, "-o", tmp_path / "ratings.csv")
    ratings = read_ratings(tmp_path / "ratings.csv")
    before = read_study(few)
    references = [(item.id, one) for item in before.items for one in item.references]
    assert len(ratings) == 2 * len(references)
    values = {}
    for one in ratings:
        values.setdefault((one.item, one.target), []).append(one.value)
        assert one.scale == "1-5"
        assert one.started <= one.finished
    done("rate", "weights", folder, "-o", tmp_path / "rated")
    after = read_study(tmp_path / "rated")
    assert len(after.ratings) == len(before.ratings) + len(ratings)
    for item in after.items:
        for one in item.references:
            mean = np.mean(values[item.id, f"reference:{one.id}"])
            assert one.weight == (mean - 3) / 2


def test_failed_raters_are_dropped_from_ratings_and_weights(campaign, done, tmp_path):
    folder = campaign("--per-item", 2, "--raters", "ann", "eve", "--no-practice")
    # What answers here is no person, and fast.
    server.write_campaign(folder, replace(server.read_campaign(folder), min_seconds=0.0))
    answer_all(
        folder, lambda task, rater: [[3 if rater == 2 else 1 + len(task["responses"][0]) % 5]]
    )
    said = done("rate", "export", folder, "-o", tmp_path / "ratings.csv", "--drop-failed").err
    assert "deltableu: dropped 1 of 2 raters, who failed" in said
    assert read_ratings(tmp_path / "ratings.csv").raters == ("ann",)
    done("rate", "weights", folder, "-o", tmp_path / "rated", "--drop-failed")
    for item in read_study(tmp_path / "rated").items:
        for one in item.references:
            assert one.weight == (1 + len(one.text) % 5 - 3) / 2


def test_a_slider_s_middle_is_zero(campaign, done, tmp_path):
    folder = campaign("--scale", "slider100", "--per-item", 1, "--raters", 1, "--no-practice")
    answer_all(folder, lambda task, rater: [[72.5]])
    done("rate", "weights", folder, "-o", tmp_path / "rated")
    weights = {
        one.weight for item in read_study(tmp_path / "rated").items for one in item.references
    }
    assert weights == {0.45}


def test_same_texts_are_shown_once_and_rated_all(done, tmp_path, write):
    study = tmp_path / "study"
    (study / "outputs").mkdir(parents=True)
    (study / "items.jsonl").write_text('{"id": "1", "references": [{"id": "r", "text": "a"}]}\n')
    for name, text in (("A", "same"), ("B", "same"), ("C", "other")):
        (study / "outputs" / f"{name}.jsonl").write_text(f'{{"id": "1", "text": "{text}"}}\n')
    folder = tmp_path / "c"
    done("rate", "new", folder, "--study", study, "--what", "outputs", "--raters", 1,
             "--per-item", 1, "--no-practice")  # fmt: skip
    assert answer_all(folder) == 2
    done("rate", "export", folder, "-o", tmp_path / "r.jsonl")
    assert {one.target for one in read_ratings(tmp_path / "r.jsonl")} == {
        "system:A",
        "system:B",
        "system:C",
    }


@pytest.mark.parametrize("scale", ["preference", "likert5"])
def test_pairs_are_turned_back_to_their_systems(campaign, done, few, tmp_path, scale):
    """The longer text wins: whichever was shown first, exports must say so."""
    pairs = ("--pairs", "human,random", "human,retrieval")
    folder = campaign(
        "--scale", scale, "--per-item", 2, "--raters", 3, "--no-practice", *pairs, what="pairs"
    )

    def longer(task, rater):
        first, second = map(len, task["responses"])
        if scale == "preference":
            return [[0 if first == second else 1 if first > second else 2]]
        return [[min(5, 1 + first // 20)], [min(5, 1 + second // 20)]]

    answer_all(folder, longer)
    done("rate", "export", folder, "-o", tmp_path / "r.csv")
    study = read_study(few)
    place = {item.id: number for number, item in enumerate(study.items)}
    shown = {}
    for one in read_ratings(tmp_path / "r.csv"):
        key = (one.rater, one.item, one.pair)
        shown.setdefault(key, {})[one.target.removeprefix("system:")] = (one.value, one.position)
    assert len(shown) == 2 * 2 * len(study.items)
    firsts = []
    for (_, item, pair), values in shown.items():
        names = pair.split(" vs ")
        assert set(values) == set(names)
        assert {position for _, position in values.values()} == {1, 2}
        firsts.append(values[names[0]][1] == 1)
        lengths = [len(study.outputs[name][place[item]]) for name in names]
        found = [values[name][0] for name in names]
        if scale == "preference":
            difference = lengths[0] - lengths[1]
            assert found == ([0.5, 0.5] if not difference else [1, 0] if difference > 0 else [0, 1])
        else:
            assert found == [min(5, 1 + one // 20) for one in lengths]
    assert 0.35 < np.mean(firsts) < 0.65


def test_seeds_in_two_steps_as_the_paper_has_them(campaign, done, few, tmp_path):
    """3 raters, mean 4 or more, two parts; then 2 more ratings, which drop nobody."""
    folder = campaign("--per-item", 3, "--raters", 4, "--no-practice", what="seeds")
    good = {}

    def value(task, rater):
        text = task["responses"][0]
        good[text] = len(text) % 2 == 0
        return [[5 if good[text] else 3]]

    items = read_study(few).items
    assert answer_all(folder, value) == 3 * len(items)
    done("rate", "seeds", folder, "-o", tmp_path / "seeds", "--dev", 0.25)
    dev, test = (read_study(tmp_path / "seeds" / part) for part in ("dev", "test"))
    kept = [one for part in (dev, test) for one in part.items]
    assert {one.id for one in kept} == {one.id for one in items if good[one.references[0].text]}
    assert len(dev.items) == round(0.25 * len(kept))
    second = tmp_path / "second"
    done("rate", "new", second, "--study", tmp_path / "seeds" / "test", "--what", "references",
             "--per-item", 5, "--count-ratings", "--raters", 5, "--no-practice")  # fmt: skip
    total = sum(len(one.references) for one in test.items)
    there = len(read_study(few).ratings) > 0
    answered = answer_all(second, lambda task, rater: [[1]])
    assert answered < 5 * total if there else answered == 5 * total - 3 * len(test.items)
    done("rate", "weights", second, "-o", tmp_path / "weighted")
    assert len(read_study(tmp_path / "weighted").items) == len(test.items)


def test_a_pilot_says_how_many_and_opens_the_rest(campaign, done):
    folder = campaign("--pilot", 40, "--pilot-raters", 12, "--raters", 14, "--no-practice")
    draws = np.random.default_rng(1)

    def value(task, rater):
        quality = len(task["responses"][0]) % 5
        return [[int(np.clip(round(1 + quality + draws.normal(0, 0.7)), 1, 5))]]

    assert answer_all(folder, value) == 40 * 12
    status = done("rate", "status", folder, "--format", "json").json
    assert (status["wanted"], status["given"], status["complete"]) == (480, 480, 40)
    found = done("rate", "pilot", folder, "--target", 0.9, "--open", "--format", "json").json
    assert 1 <= found["enough"] <= 4
    after = done("rate", "status", folder, "--format", "json").json
    assert after["waiting"] == 0
    assert after["wanted"] == found["enough"] * after["tasks"]
    assert after["beyond"] == 40 * (12 - found["enough"])


def test_links_are_secrets_that_end(campaign, done, tmp_path):
    folder = campaign("--raters", "ann", "bob", "--links", tmp_path / "links.csv")
    assert stat.S_IMODE(os.stat(tmp_path / "links.csv").st_mode) == 0o600
    assert stat.S_IMODE(os.stat(folder / "answers.sqlite").st_mode) == 0o600
    text = (tmp_path / "links.csv").read_text()
    tokens = re.findall(r"/r/([\w-]+)", text)
    assert len(set(tokens)) == 2
    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    assert not any(token.encode() in kept for token in tokens)

    def works(token: str) -> bool:
        campaign, database = server.open_database(folder)
        with closing(database):
            service = server.Service(campaign, database)
            try:
                return service.enter(token) is not None
            finally:
                service.close()

    assert all(map(works, tokens))
    new = done("rate", "link", folder, "ann", "--format", "json").json[0]["link"].split("/")[-1]
    assert [works(one) for one in (tokens[0], new, tokens[1])] == [False, True, True]
    done("rate", "revoke", folder, "bob")
    assert not works(tokens[1])
    done("rate", "forget", folder, "ann")
    assert not works(new)
    assert b"ann" not in (folder / "answers.sqlite").read_bytes()


def test_what_is_added_is_rated_too(campaign, done, few, tmp_path):
    folder = campaign("--per-item", 1, "--raters", "ann", "--no-practice")
    first = answer_all(folder)
    done("rate", "add", folder, "--study", few, "--raters", "bob", "--per-item", 2)
    names = [
        row["name"] for row in done("rate", "status", folder, "--format", "json").json["raters"]
    ]
    assert names == ["ann", "bob"]
    assert answer_all(folder) == first
    assert done("rate", "status", folder, "--format", "json").json["given"] == 2 * first


def test_a_backup_brings_everything_back(campaign, done, tmp_path):
    folder = campaign("--raters", 2, "--per-item", 1, "--no-practice")
    answer_all(folder, limit=20)
    done("rate", "export", folder, "-o", tmp_path / "before.csv")
    done("rate", "backup", folder, "-o", tmp_path / "backup.sqlite")
    answer_all(folder, limit=5)
    for path in folder.glob("answers.sqlite*"):
        path.unlink()
    done("rate", "restore", tmp_path / "backup.sqlite", folder)
    done("rate", "export", folder, "-o", tmp_path / "after.csv")
    assert (tmp_path / "after.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()
    assert answer_all(folder, limit=3) == 3


def test_pausing_stops_everybody(campaign, done):
    folder = campaign("--raters", 1, "--no-practice")
    done("rate", "pause", folder)
    assert answer_all(folder) == 0
    assert "paused" in done("rate", "status", folder).out
    done("rate", "resume", folder)
    assert answer_all(folder, limit=1) == 1


def test_questions_of_ones_own(campaign, done, write, tmp_path):
    settings = write(
        "own.toml",
        'title = "Two questions"\nscale = "likert5"\ninstructions = []\n'
        + "".join(
            f'[[criteria]]\nname = "{name}"\nquestion = "How {name}?"\nlabels = {list("12345")}\n'
            for name in ("relevant", "fluent")
        ),
    )
    folder = campaign("--settings", settings, "--raters", 1, "--per-item", 1, "--no-practice")
    answer_all(folder, lambda task, rater: [[2, 5]], limit=10)
    done("rate", "export", folder, "-o", tmp_path / "r.csv")
    assert {(one.criterion, one.value) for one in read_ratings(tmp_path / "r.csv")} == {
        ("relevant", 2),
        ("fluent", 5),
    }
    done("rate", "weights", folder, "-o", tmp_path / "w", "--criterion", "fluent")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--what", "references", "--scale", "preference"), "pairs"),
        (("--what", "references", "--preset", "delta"), "delta-bleu"),
        (("--what", "references", "--preset", "slider", "--scale", "likert5"), "slider100"),
        (("--what", "references", "--language", "xx"), "language"),
        (("--what", "references", "--pairs", "human,random"), "pairs"),
        (("--what", "pairs", "--pairs", "human,nobody"), "nobody"),
        (("--what", "pairs", "--pairs", "human,human"), "twice"),
        (("--what", "references", "--raters", "ann", "ann"), "ann"),
        (("--what", "references", "--raters", "0"), "--raters"),
        (("--what", "references", "--pilot", "100000"), "pilot"),
        (("--what", "references", "--expires", "-1"), "--expires"),
        (("--what", "references", "--url", "example.org"), "url"),
        (("--what", "references", "--database", "mysql://x/y"), "PostgreSQL"),
        (("--what", "references", "--database", "postgresql://a:b@h/d"), "password"),
        (("--what", "references", "--lease", "0"), "lease_minutes"),
    ],
)
def test_a_campaign_that_cannot_be(run, refusal, few, tmp_path, arguments, said):
    folder = tmp_path / "campaign"
    result = run("rate", "new", folder, "--study", few, *arguments)
    refusal(result)
    assert said in result.err
    assert not folder.exists()


def test_what_is_no_campaign(run, refusal, few, tmp_path, campaign):
    def says(*arguments):
        result = run("rate", *arguments)
        refusal(result)
        return result.err

    for command in ("status", "pause", "serve"):
        assert "rate new" in says(command, few)
    assert "rate new" in says("weights", tmp_path / "nowhere", "-o", tmp_path / "x")
    folder = campaign("--raters", 1)
    assert "is there already" in says("add", folder, "--raters", "rater-01", "x")
    assert "no rater" in says("revoke", folder, "nobody")
    assert "not empty" in says("new", folder, "--study", few, "--what", "outputs")
    (folder / "campaign.toml").write_text("what = 7\n")
    assert "campaign.toml" in says("status", folder)


def test_the_demo_s_dialogues_are_those_of_the_demo_study(demo):
    inside = (Path(server.__file__).parent / "demo" / "items.jsonl").read_text().splitlines()
    assert len(inside) == 12
    assert set(inside) <= set((demo / "items.jsonl").read_text().splitlines())


def test_preferences_from_the_page_to_a_ranking(campaign, done, tmp_path):
    """Raters prefer by a known quality, lean to the first text, and call some pairs a tie."""
    folder = campaign(
        *("--scale", "preference", "--per-item", 6, "--raters", 8, "--no-practice"), what="pairs"
    )
    study = read_study(tmp_path / "few")
    strength = dict(zip(study.outputs, (0.0, 1.0, 2.2, -1.5, -2.5, 0.5), strict=True))
    systems = {
        (item.message, text): name
        for name, texts in study.outputs.items()
        for item, text in zip(study.items, texts, strict=True)
    }
    draws = np.random.default_rng(2)

    def prefer(task, rater):
        first, second = (strength[systems[task["message"], text]] for text in task["responses"])
        lean = first - second + 0.6 + draws.logistic()
        return [[0 if abs(lean) < 0.4 else 1 if lean > 0 else 2]]

    given = answer_all(folder, prefer)
    assert given == 6 * 15 * len(study.items)
    done("rate", "export", folder, "-o", tmp_path / "preferences.csv")
    found = done("rate", "rank", tmp_path / "preferences.csv", "--format", "json").json
    text = json.dumps(found)
    ranked = sorted(strength, key=strength.get, reverse=True)
    shown = done("rate", "rank", tmp_path / "preferences.csv").out
    places = [re.search(rf"^{name} ", shown, re.MULTILINE).start() for name in ranked]
    assert places == sorted(places)
    assert "position" in text
    assert "first" in shown
