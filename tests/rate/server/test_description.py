"""Requests made from the OpenAPI description, right and wrong ones: no answer is a fault."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings

pytest.importorskip("schemathesis")

import schemathesis

from deltableu.rate import server
from tests.rate.server.kit import Rater, export, free_port, make_campaign, raters, small_study
from tests.rate.server.test_attacks import assert_guarded

ADDRESSES = {("GET", "/api/tasks"), ("GET", "/api/last"), ("POST", "/api/answers")} | {
    ("GET", "/api/admin/status"),
    ("GET", "/api/admin/ratings.csv"),
    *(("POST", f"/api/admin/{name}") for name in ("state", "raters", "link", "exclude", "revoke")),
}


@contextmanager
def described(folder: Path) -> Iterator[tuple[str, server.Service]]:
    """A server that tells how it is used."""
    campaign, database = server.open_database(folder)
    service = server.Service(campaign, database)
    port = free_port()
    application = server.rating_app(service, haste=1e6, describes_itself=True)
    made = uvicorn.Server(
        uvicorn.Config(application, port=port, log_config=None, server_header=False)
    )
    thread = threading.Thread(target=made.run)
    thread.start()
    while not made.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}", service
    finally:
        made.should_exit = True
        thread.join()
        database.close()


def attack(folder: Path, examples: int) -> dict[str, set[int]]:
    """Send made-up requests; by address the statuses of answers."""
    new = make_campaign(folder, study=small_study(20))
    seen: dict[str, set[int]] = {}
    with described(folder) as (url, _), raters(url, new) as (ann, _):
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
        operations = [one.ok() for one in schema.get_all_operations()]
        assert {(one.method.upper(), one.path) for one in operations} == ADDRESSES
        for operation in operations:
            for mode in schemathesis.GenerationMode:
                right = mode is schemathesis.GenerationMode.POSITIVE
                if not right and operation.path not in ("/api/tasks", "/api/answers"):
                    continue  # nothing is described that could be wrong
                seen.setdefault(operation.path, set()).update(
                    statuses(ann, operation.as_strategy(generation_mode=mode), examples)
                )
        assert ann.tasks()["state"] == "rating", "it goes on as if nothing had been"
    export(folder)
    return seen


def statuses(rater: Rater, strategy: Any, examples: int) -> set[int]:
    found: set[int] = set()

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    @given(case=strategy)
    def run(case: Any) -> None:
        if isinstance(case.body, dict) and "ticket" in case.body and len(str(case.body)) % 2:
            # With a ticket that is right, some get further.
            case.body["ticket"] = rater.task()["ticket"]
        answer = case.call(
            headers={"X-CSRF-Token": rater.csrf}, cookies=dict(rater.client.cookies), timeout=60
        )
        headers = [(name, value) for name, values in answer.headers.items() for value in values]
        found.add(answer.status_code)
        got = httpx.Response(answer.status_code, headers=headers, content=answer.content)
        assert_guarded(got, *range(200, 500))

    run()
    return found


def test_some_requests(folder: Path):
    seen = attack(folder, 15)
    assert 200 in seen["/api/tasks"]
    assert 422 in seen["/api/answers"]


@pytest.mark.long
def test_many_requests(folder: Path):
    seen = attack(folder, 1_000)
    assert {200, 422} <= seen["/api/tasks"]
    assert {403, 422} <= seen["/api/answers"]


def test_a_fault_says_nothing_of_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    new = make_campaign(folder)
    with described(folder) as (url, service), raters(url, new) as (ann, _):

        def fail(*_: object) -> bytes:
            raise RuntimeError("xyzzy-secret")

        for name in ("tasks", "answer"):
            monkeypatch.setattr(service, name, fail)
        task = {"ticket": "x" * 20}
        with caplog.at_level(logging.ERROR, "deltableu.rate"):
            for answer in (ann.client.get("api/tasks"), ann.send(task)):
                assert_guarded(answer, 500)
                assert answer.json()["error"] == "fault"
        assert caplog.text.count("RuntimeError: xyzzy-secret") == 2, "whoever runs it can read why"
        monkeypatch.undo()
        ann.answer(ann.task())
