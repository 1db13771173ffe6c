"""People with bad intentions: nothing leaks, nothing breaks, nobody else waits."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from deltableu.corpus import Item, Reference, Study
from deltableu.rate import server
from deltableu.rate.server import guard, serving
from deltableu.rate.server.security import Session, Signer, Ticket
from tests.rate.server.kit import (
    Rater,
    ServerProcess,
    export,
    make_campaign,
    new_key,
    raters,
    running,
    status,
)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "'; DROP TABLE answers; --",
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }} ${7*7} <img src=x onerror=alert(1)>",
    "<!-- \u2028 \u2029 & \u202e",
    "Robert'); DELETE FROM raters WHERE ('1'='1",
)
HEADERS = {
    "content-security-policy": re.compile("default-src 'none'; script-src 'self'"),
    "x-content-type-options": re.compile("nosniff"),
    "x-frame-options": re.compile("DENY"),
    "referrer-policy": re.compile("no-referrer"),
    "cross-origin-opener-policy": re.compile("same-origin"),
    "cache-control": re.compile("no-store|no-cache"),
}


@dataclass
class Site:
    """A campaign with a secret in every text, its server, and two raters at their pages."""

    url: str
    new: server.NewCampaign
    folder: Path
    ann: Rater
    bob: Rater

    def raw(self, request: str | bytes, seconds: float = 10.0) -> bytes:
        """Send bytes; what comes until the connection ends, or for so long."""
        parts = urlsplit(self.url)
        data = request.encode("latin-1") if isinstance(request, str) else request
        with socket.create_connection((parts.hostname, parts.port), timeout=seconds) as one:
            one.sendall(data)
            found = b""
            try:
                while part := one.recv(65536):
                    found += part
            except (TimeoutError, ConnectionResetError):
                pass
            return found

    def get(self, path: str, *headers: str) -> bytes:
        """GET, byte by byte as it is written."""
        head = "".join(f"{one}\r\n" for one in headers or ("Host: localhost",))
        return self.raw(f"GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n")


SECRET = "xyzzy-secret"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("attacks") / "campaign"
    references = tuple(
        Reference(f"r{place}", f"{SECRET} {text}") for place, text in enumerate(HOSTILE)
    )
    study = Study(
        tuple(
            Item(f"{SECRET}-{place}", references, HOSTILE, f"{SECRET} {place}")
            for place in range(30)
        )
    )
    new = make_campaign(
        folder, study=study, raters=(f"{SECRET} ann", f"{SECRET} bob"),
        title=f"{SECRET} {HOSTILE[0]}", instructions=list(HOSTILE),
        criteria=[{"name": "overall", "question": HOSTILE[0], "labels": list(HOSTILE[:5])}],
    )  # fmt: skip
    with running(folder, haste=10_000.0) as url, raters(url, new) as (ann, bob):
        yield Site(url, new, folder, ann, bob)


def assert_guarded(answer: httpx.Response | bytes, *statuses: int) -> None:
    """An answer has one of the statuses, all headers, and no secret."""
    if isinstance(answer, bytes):
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        headers = {line.partition(":")[0].lower(): line.partition(":")[2] for line in lines[1:]}
        text = body.decode("utf-8", "replace")
    else:
        status, headers, text = answer.status_code, dict(answer.headers), answer.text
    assert status in statuses, (status, text[:300])
    for name, wanted in HEADERS.items():
        assert wanted.search(headers.get(name, "")), (name, headers)
    assert "server" not in headers
    for word in (SECRET, "Traceback", "sqlite", "SELECT", "/work", "campaign.toml"):
        assert word not in text


STRANGE_PATHS = (
    "/", "/api/tasks", "/api/last", "/api/admin/status", "/api/admin/ratings.csv", "/docs",
    "/redoc", "/openapi.json", "/admin", "/status",
    "/campaign.toml", "/answers.sqlite", "/.env", "/r/", "/r", "/static/", "/static", "/api",
    "/api/", "/api/answers/1", "/raters", "/export", "/static/rate.html", "/static/message.html",
)  # fmt: skip


def test_without_a_link_there_is_nothing(site: Site):
    with httpx.Client(base_url=site.url) as stranger:
        for path in STRANGE_PATHS:
            assert_guarded(stranger.get(path), 401, 404, 429)
        assert_guarded(stranger.post("/api/answers", json={}), 401, 429)
        assert_guarded(stranger.get("/health"), 200)
        assert_guarded(stranger.get("/static/rate.js"), 200)


ORGANISERS = ("state", "raters", "link", "exclude", "revoke")


def test_the_organisers_addresses_are_for_the_organiser(site: Site):
    with Rater(site.url) as stranger:
        for one in (site.ann, stranger):
            for path in ("admin", "api/admin/status", "api/admin/ratings.csv"):
                assert_guarded(one.client.get(path), 401, 429)
            for path in ORGANISERS:
                sent = {"X-CSRF-Token": one.csrf}
                answer = one.client.post(f"api/admin/{path}", json={"paused": True}, headers=sent)
                assert_guarded(answer, 401, 429)
    # A rater's session is none of the organiser's, whatever its cookie is called.
    (name,) = site.ann.client.cookies.keys()
    planted = {"cookie": f"{name}-admin={site.ann.client.cookies[name]}"}
    assert_guarded(httpx.get(f"{site.url}/api/admin/status", headers=planted), 401, 429)
    for wrong in ("x", site.new.admin[:-1], site.new.links[0].token, "a" * 3000):
        assert_guarded(httpx.get(f"{site.url}/admin/{wrong}"), 404, 429)


def test_an_organiser_whose_browser_is_used_by_others(site: Site):
    with httpx.Client(base_url=site.url) as organiser:
        entered = organiser.get(f"/admin/{site.new.admin}")
        assert entered.status_code == 303
        assert "; HttpOnly; SameSite=Lax" in entered.headers["set-cookie"]
        page = organiser.get("/admin")
        assert page.headers["cache-control"] == "no-store"
        csrf = re.search(r'name="csrf" content="([^"]+)"', page.text)[1]
        (name,) = organiser.cookies.keys()
        for headers in (
            {},
            {"X-CSRF-Token": site.ann.csrf},
            {"X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"},
        ):
            for path in ORGANISERS:
                answer = organiser.post(f"/api/admin/{path}", json={}, headers=headers)
                assert_guarded(answer, 403)
        sent = {"X-CSRF-Token": csrf}
        for body in (
            b"",
            b"[" * 9_000,
            b'{"names": ["' + b"x" * 300 + b'"]}',
            b"\xff",
            b'{"count": 1e9}',
        ):
            for path in ORGANISERS:
                kind = {**sent, "Content-Type": "application/json"}
                assert_guarded(
                    organiser.post(f"/api/admin/{path}", content=body, headers=kind), 422
                )
        for text in (*HOSTILE, "\x00", "\n", "\U0001f600", "a/b", ".."):
            for path in ("link", "exclude", "revoke"):
                answer = organiser.post(f"/api/admin/{path}", json={"name": text}, headers=sent)
                assert answer.status_code == 409, answer.text
        for text in ("\x00", "a\nb", "\x1b[31m"):
            answer = organiser.post("/api/admin/raters", json={"names": [text]}, headers=sent)
            assert answer.status_code == 409, answer.text
        # The organiser's session rates nothing.
        planted = {"cookie": f"{name.removesuffix('-admin')}={organiser.cookies[name]}"}
        assert_guarded(httpx.get(f"{site.url}/api/tasks", headers=planted), 401, 429)


def test_wrong_tokens(site: Site):
    token = site.new.links[0].token
    for wrong in ("x", token[:-1], token + "x", token.swapcase(), "a" * 5000, quote(HOSTILE[1])):
        answer = httpx.get(f"{site.url}/r/{wrong}")
        assert_guarded(answer, 404, 429)
        assert "set-cookie" not in answer.headers


def test_many_wrong_tokens_have_to_wait_and_right_ones_never(tmp_path: Path):
    new = make_campaign(tmp_path / "campaign")
    with running(tmp_path / "campaign") as url, httpx.Client(base_url=url) as stranger:
        statuses = [stranger.get(f"/r/{place}").status_code for place in range(40)]
        assert statuses[0] == 404
        assert statuses[-1] == 429
        refused = stranger.get("/r/x")
        assert_guarded(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1
        assert stranger.get("/api/tasks").status_code == 429
        with raters(url, new) as (ann, _):
            ann.answer(ann.task())


def test_a_link_for_a_crowd(tmp_path: Path):
    """Whoever has it becomes a rater, but one worker only one, and not without an end."""
    new = make_campaign(tmp_path / "campaign", crowd="PROLIFIC_PID")
    with (
        running(tmp_path / "campaign") as url,
        ThreadPoolExecutor(8) as pool,
        httpx.Client(base_url=url) as crowd,
    ):
        link = f"/j/{new.join}?PROLIFIC_PID="
        at_once = list(pool.map(lambda _: crowd.get(f"{link}w1"), range(8)))
        assert {one.status_code for one in at_once} == {303}
        assert len({one.headers["set-cookie"].partition(".")[0] for one in at_once}) == 1
        for worker in ("", "a b", "a'--", "<b>", "../x", "%00", "x" * 65):
            assert_guarded(crowd.get(f"{link}{worker}"), 404)
        assert_guarded(crowd.get(f"/j/{new.join}x?PROLIFIC_PID=w1"), 404)
        assert_guarded(crowd.get(f"/r/{new.join}"), 404)
        statuses = [crowd.get(f"{link}w{place}").status_code for place in range(90)]
        assert statuses[-1] == 429
    assert sum(one.name == "crowd-w1" for one in status(tmp_path / "campaign").raters) == 1


def test_one_rater_in_a_hurry(tmp_path: Path):
    new = make_campaign(tmp_path / "campaign")
    with running(tmp_path / "campaign", haste=2.0) as url, raters(url, new) as (ann, bob):
        statuses = [ann.client.get("api/tasks").status_code for _ in range(20)]
        assert statuses[0] == 200
        assert statuses[-1] == 429
        assert bob.client.get("api/tasks").status_code == 200, "others do not wait"


def test_another_raters_ticket(site: Site):
    task = site.bob.task()
    refused = site.ann.send(task)
    assert_guarded(refused, 403)
    assert refused.json()["error"] == "ticket"
    kind, rater, number, flipped, issued, signature = task["ticket"].split(".")
    for forged in (
        f"{kind}.1.{number}.{flipped}.{issued}.{signature}",
        f"{kind}.{rater}.{int(number) + 1}.{flipped}.{issued}.{signature}",
        f"p.{rater}.{number}.{flipped}.{issued}.{signature}",
        f"{kind}.{rater}.{number}.{flipped}.{issued}.",
        f"{kind}.{rater}.{number}.{flipped}.{issued}.{'A' * 24}",
        "." * 40,
        "é" * 40,
    ):
        for one in (site.ann, site.bob):
            assert_guarded(one.send({"ticket": forged}), 403)


def test_csrf(site: Site):
    task = site.ann.task()
    body = {"key": new_key(), "ticket": task["ticket"], "values": [[3]]}
    csrf = site.ann.csrf
    for headers in (
        {},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": site.bob.csrf},
        {"X-CSRF-Token": csrf[:-1]},
        {"X-CSRF-Token": csrf + "x"},
        {"X-CSRF-Token": "é".encode()},
        {"X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"},
        {"X-CSRF-Token": csrf, "Sec-Fetch-Site": "same-site"},
    ):
        refused = site.ann.client.post("api/answers", json=body, headers=headers)
        assert_guarded(refused, 403)
        assert refused.json()["error"] == "csrf"
    form = site.ann.client.post("api/answers", data={"key": new_key()})
    assert_guarded(form, 403)


def test_forged_cookies(site: Site):
    (name,) = site.ann.client.cookies.keys()
    value = site.ann.client.cookies[name]
    rater, token, until, signature = value.split(".")
    other = Signer("00" * 32)
    ticket = site.ann.task()["ticket"]
    for forged in (
        f"2.{token}.{until}.{signature}",
        f"0.{token}.{until}.{signature}",
        f"{rater}.{token}.{int(until) + 1}.{signature}",
        f"{rater}.{'0' * 16}.{until}.{signature}",
        f"{rater}..{until}.{signature}",
        f"{rater}.{token}.{until}.",
        Session(1, token, int(until)).signed(other),
        Ticket(1, 1, False, 0).signed(other),
        ticket,
        site.ann.csrf,
        "",
        "." * 100,
        "A" * 5000,
        value.upper(),
    ):
        with httpx.Client(base_url=site.url, headers={"cookie": f"{name}={forged}"}) as stranger:
            assert_guarded(stranger.get("/api/tasks"), 401, 429, 431)
    admin = httpx.get(f"{site.url}/r/{site.new.admin}")
    assert_guarded(admin, 404, 429)


def test_cookies_say_how_they_may_be_used(site: Site, tmp_path: Path):
    cookie = httpx.get(f"{site.url}/r/{site.new.links[0].token}").headers["set-cookie"]
    assert "; HttpOnly" in cookie
    assert "; SameSite=Lax" in cookie
    assert "; Path=/" in cookie
    assert "Domain" not in cookie
    assert "Secure" not in cookie, "this one goes over plain http"
    assert site.new.links[0].token not in cookie
    new = make_campaign(tmp_path / "campaign")
    with running(tmp_path / "campaign", url="https://rate.example.org/x") as url:
        answer = httpx.get(f"{url}/r/{new.links[0].token}", headers={"host": "rate.example.org"})
    assert answer.headers["set-cookie"].endswith("; Secure")
    assert "; Path=/x/;" in answer.headers["set-cookie"]


def test_a_session_is_not_chosen_by_others(site: Site):
    """Whatever cookie somebody brings, a link makes a session of its own."""
    (name,) = site.bob.client.cookies.keys()
    planted = {"cookie": f"{name}={site.bob.client.cookies[name]}"}
    answer = httpx.get(f"{site.url}/r/{site.new.links[0].token}", headers=planted)
    assert re.match(rf"{name}=1\.", answer.headers["set-cookie"])


def test_large_requests(site: Site):
    ann = site.ann
    headers = {"X-CSRF-Token": ann.csrf, "Content-Type": "application/json"}
    large = b'{"key": "' + b"x" * 70_000 + b'"}'
    assert_guarded(ann.client.post("api/answers", content=large, headers=headers), 413)

    def parts() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * 4_000

    assert_guarded(ann.client.post("api/answers", content=parts(), headers=headers), 413)
    cookie = "; ".join(f"{name}={value}" for name, value in ann.client.cookies.items())
    head = (
        f"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n"
        f"X-CSRF-Token: {ann.csrf}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    )
    for length in ("99999999999999999999", "-1", "1e3", "0x10", "+5", "5, 5"):
        assert_guarded(site.raw(f"{head}Content-Length: {length}\r\n\r\nhello"), 400, 413)
    both = f"{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert_guarded(site.raw(both), 400)
    twice = f"{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"
    assert_guarded(site.raw(twice), 400)
    assert_guarded(site.raw(f"{head}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"), 400)
    assert_guarded(site.get("/", "Host: localhost", f"X-Long: {'x' * 300_000}"), 431)
    many = [f"X-{place}: {'x' * 90}" for place in range(4_000)]
    assert_guarded(site.get("/", "Host: localhost", *many), 431)
    assert_guarded(site.get(f"/{'x' * 300_000}"), 400, 404, 431)
    ann.answer(ann.task())


def test_slow_requests_end_and_others_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serving, "_HEAD_SECONDS", 0.6)
    monkeypatch.setattr(guard, "_SECONDS", 0.6)
    folder = tmp_path / "campaign"
    new = make_campaign(folder)
    with running(folder) as url, raters(url, new) as (ann, _):
        cookie = "; ".join(f"{name}={value}" for name, value in ann.client.cookies.items())
        parts = urlsplit(url)
        post = (
            f"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n"
            f"X-CSRF-Token: {ann.csrf}\r\nContent-Type: application/json\r\n"
        )
        beginnings = (
            b"",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
            post.encode(),
            f"{post}Content-Length: 500\r\n\r\n".encode(),
            f"{post}Transfer-Encoding: chunked\r\n\r\n".encode(),
            # A stranger's body is not waited for, and neither is what is left of it.
            b"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n",
            # A second request after one that is answered.
            b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nX-Slow:",
        )
        lines = []
        for beginning in beginnings:
            one = socket.create_connection((parts.hostname, parts.port), timeout=10)
            one.sendall(beginning)
            lines.append(one)
        start = time.monotonic()
        going = list(lines)
        while going:
            assert time.monotonic() - start < 8, "a slow request was waited for"
            for one in list(going):
                try:
                    # Chunks of one byte; elsewhere these are part of a header or a body.
                    one.sendall(b"1\r\nx\r\n" if one is lines[4] else b"x")
                    one.settimeout(0.01)
                    while one.recv(4096):
                        pass
                    going.remove(one)
                except TimeoutError:
                    continue
                except OSError:
                    going.remove(one)
            asked = time.monotonic()
            ann.tasks()
            assert time.monotonic() - asked < 2
        for one in lines:
            one.close()
        ann.answer(ann.task())


def test_strings_for_databases_and_browsers_are_only_strings(site: Site):
    ann = site.ann
    page = ann.open_page()
    for text in HOSTILE:
        assert "<" not in text or text not in page
    config = json.loads(
        re.search(r'<script type="application/json" id="config">(.*?)</script>', page, re.S)[1]
    )
    assert config["title"] == f"{SECRET} {HOSTILE[0]}"
    assert tuple(config["instructions"]) == HOSTILE
    answer = ann.client.get("api/tasks")
    assert answer.headers["content-type"] == "application/json"
    task = answer.json()["tasks"][0]
    assert tuple(task["context"]) == HOSTILE, "as it was written"
    for text in HOSTILE:
        for changes in ({"ticket": text + " " * 10}, {"key": text}, {"values": text}):
            assert_guarded(ann.send(task, **{"values": [[3]], **changes}), 403, 422)
        assert_guarded(ann.client.get("api/tasks", params={"count": text}), 422)
        assert_guarded(httpx.get(f"{site.url}/r/{quote(text, safe='')}"), 404, 429)
        assert_guarded(ann.client.get(f"static/{quote(text, safe='')}"), 404)
        lost = ann.client.get(f"{quote(text)}")
        assert_guarded(lost, 404)
        assert text not in lost.text
    ann.answer(task)
    assert len(export(site.folder)) >= 1


@pytest.mark.parametrize(
    "path",
    [
        "/static/../campaign.toml",
        "/static/..%2fcampaign.toml",
        "/static/%2e%2e/%2e%2e/campaign.toml",
        "/static/..%5c..%5ccampaign.toml",
        "/static/....//campaign.toml",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/rate.js%00.html",
        "/static/%00",
        "/static/%ff%fe",
        "/r/../../../../etc/passwd",
        "/r/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/..",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/rate.html",
        "http://localhost/static/../campaign.toml",
        "http://evil.example/campaign.toml",
    ],
)
def test_paths_lead_nowhere_else(site: Site, path: str):
    answer = site.get(path)
    assert_guarded(answer, 400, 404, 429)
    assert b"root:" not in answer


def test_hosts(site: Site):
    for host in ("localhost", "LOCALHOST:1234", "127.0.0.1", "[::1]:80"):
        assert_guarded(site.get("/health", f"Host: {host}"), 200)
    for host in (
        "evil.example", "", "localhost.evil.example", "evil.example:127.0.0.1", "[::1", "127.0.0.2",
        "localhost@evil.example", "localhost/", "\xff", "localhost:evil", "::1",
    ):  # fmt: skip
        assert_guarded(site.get("/health", f"Host: {host}"), 400)
    assert_guarded(site.get("/health", "X: y"), 400)
    # Whatever a request says of where it came from is not believed, and not shown.
    sent = site.get("/", "Host: localhost", "X-Forwarded-Host: evil.example", "Forwarded: for=1")
    assert b"evil.example" not in sent


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b'"text"', b"{}", b"\xff\xfe", b"\x00", b"{]", b"[" * 30_000,
        b'{"key":' * 9_000, b'{"values": ' + b"[" * 20_000, b'{"key": "\\ud800"}',
        b"\xef\xbb\xbf{}", b'{"key": 1e999}', b"1" * 60_000, b'{"a": "' + b"\\u0000" * 999 + b'"}',
    ],
)  # fmt: skip
def test_malformed_answers(site: Site, body: bytes):
    headers = {"X-CSRF-Token": site.ann.csrf, "Content-Type": "application/json"}
    answer = site.ann.client.post("api/answers", content=body, headers=headers)
    assert_guarded(answer, 422)
    assert answer.json()["error"] == "invalid"


@pytest.mark.parametrize(
    "changes",
    [
        '"values": [[6]]', '"values": [[0]]', '"values": [[3.5]]', '"values": [[-1]]',
        '"values": [[1e400]]', '"values": [[NaN]]', '"values": [[Infinity]]', '"values": [["3"]]',
        '"values": [[true]]', '"values": [[null]]', '"values": [[]]', '"values": []',
        '"values": [[3], [3]]', '"values": [[3, 3]]', '"values": 3', '"values": {"0": [3]}',
        f'"values": [[{"9" * 5000}]]', f'"values": {"[" * 500}3{"]" * 500}',
        '"elapsed": -1', '"elapsed": 1e11', '"elapsed": NaN', '"waited": "0"', '"waited": -0.1',
        '"revises": 0', '"revises": -1', '"revises": 1.5', '"revises": 99999999999999999999999',
        '"revises": true', '"key": "short"', '"key": null', f'"key": "{"x" * 65}"',
        '"key": "ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ"', '"rater": 2', '"__proto__": {}', '"ticket": 5',
        '"task": 1',
    ],
)  # fmt: skip
def test_answers_that_are_none(site: Site, changes: str):
    task = site.ann.task()
    fields = {"key": f'"{new_key()}"', "ticket": f'"{task["ticket"]}"', "values": "[[3]]"}
    name, _, value = changes.partition(": ")
    fields[name.strip('"')] = value
    body = "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"
    headers = {"X-CSRF-Token": site.ann.csrf, "Content-Type": "application/json"}
    answer = site.ann.client.post("api/answers", content=body.encode(), headers=headers)
    assert_guarded(answer, 422)
    assert site.ann.task()["task"] == task["task"]


def test_other_kinds_of_requests(site: Site):
    ann = site.ann
    headers = {"X-CSRF-Token": ann.csrf}
    body = json.dumps({"key": new_key(), "ticket": ann.task()["ticket"], "values": [[3]]})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        sent = {**headers, "Content-Type": kind}
        assert_guarded(ann.client.post("api/answers", content=body, headers=sent), 415)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "PROPFIND"):
        for path in ("", "api/tasks", "api/answers", "static/rate.js", "r/x", "health"):
            assert_guarded(ann.client.request(method, path), 405)
    assert_guarded(ann.client.get("api/answers"), 405)
    assert_guarded(ann.client.post("api/tasks"), 405)
    for count in ("0", "6", "-1", "1e9", "NaN", "1" * 5000, "x", "", "1;2"):
        assert_guarded(ann.client.get("api/tasks", params={"count": count}), 422)


@pytest.mark.parametrize(
    "request_",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET \xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_what_is_no_request(site: Site, request_: bytes):
    assert_guarded(site.raw(request_, 2), 400, 404)


def test_a_websocket_is_not_had_here(site: Site):
    upgrade = ("Host: localhost", "Upgrade: websocket", "Sec-WebSocket-Key: x")
    assert_guarded(site.get("/api/tasks", *upgrade), 401, 429)
    sent = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert_guarded(site.raw(sent, 1), 401, 429)


def test_too_many_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serving, "_CONNECTIONS", 20)
    make_campaign(tmp_path / "campaign")
    with running(tmp_path / "campaign") as url:
        parts = urlsplit(url)
        lines = [socket.create_connection((parts.hostname, parts.port)) for _ in range(21)]
        lines[-1].settimeout(10)
        assert_guarded(lines[-1].recv(65536), 503)
        for one in lines:
            one.close()
        for _ in range(100):
            try:
                assert httpx.get(f"{url}/health").status_code == 200
                break
            except (httpx.HTTPError, AssertionError):
                time.sleep(0.05)
        else:
            raise AssertionError("it does not recover")


def test_logs_hold_no_secrets(tmp_path: Path):
    new = make_campaign(tmp_path / "campaign")
    tokens = [link.token for link in new.links]
    process = ServerProcess(tmp_path / "campaign")
    with process, raters(process.address, new) as (ann, _):
        task = ann.task()
        secrets = [*tokens, *ann.client.cookies.values(), ann.csrf, task["ticket"], new.admin]
        ann.answer(task)
        ann.send(task)
        ann.client.get(f"r/{tokens[1]}x")
        ann.client.get(f"{tokens[1]}")
        host = f"{urlsplit(process.address).hostname}"
        port = int(urlsplit(process.address).port or 0)
        for sent in (
            f"GET /r/{tokens[0]} HTTP/1.1\r\nHost: x\r\n\r\n",
            f"GET /r/{tokens[0]} HTTP/1.1\r\nBad Header: {tokens[0]}\r\n\r\n",
            f"GET /r/{tokens[0]} nonsense\r\n\r\n",
            f"GET /r/{tokens[0]} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\n\r\n",
        ):
            with socket.create_connection((host, port), timeout=5) as one:
                one.sendall(sent.encode())
                one.recv(100)
    for secret in secrets:
        assert secret not in process.said
    assert "Traceback" not in process.said
    for path in (tmp_path / "campaign").iterdir():
        content = path.read_bytes()
        for token in (*tokens, new.admin):
            assert token.encode() not in content, f"{path.name} holds a link"
