"""A service in, a web application out: addresses, cookies, pages."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib import resources
from typing import Annotated, Any
from urllib.parse import urlsplit

import jinja2
import markupsafe
import msgspec
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException

from deltableu.errors import InputError
from deltableu.rate.server.bodies import json_body
from deltableu.rate.server.campaign import page_words
from deltableu.rate.server.guard import Guard, Refusal
from deltableu.rate.server.organiser_app import add_organiser
from deltableu.rate.server.security import HasteLimit, Session
from deltableu.rate.server.service import GivenAnswer, Service

_PAGES = resources.files("deltableu.rate.server") / "page"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_log = logging.getLogger("deltableu.rate")
_RIGHT_TO_LEFT = ("ar", "fa", "he", "ur")


def rating_app(
    service: Service, *, url: str = "", haste: float = 20.0, describes_itself: bool = False
) -> Guard:
    """The application that serves a campaign.

    Parameters
    ----------
    service
        The campaign.
    url
        By which raters reach it, such as `https://example.org/study`; then requests for other
        hosts are refused, and cookies go only over https if that has it. By default hosts are
        those of this machine alone.
    haste
        Most requests per second of one rater.
    describes_itself
        Whether there is an OpenAPI description, for tests.
    """
    parts = urlsplit(url)
    prefix = parts.path.rstrip("/")

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(service.watch())
        yield
        watching.cancel()
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="deltableu rate",
        lifespan=running,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if describes_itself else None,
        redirect_slashes=False,
    )
    pages = _Pages(service)
    limit = HasteLimit(haste, 5 * haste)
    strangers = HasteLimit(0.5, 20)
    cookie_name = f"deltableu-{service.id[:12]}"

    def cookie(session: Session) -> str:
        safe = "; Secure" if parts.scheme == "https" else ""
        value = session.signed(service.signer)
        name = cookie_name if session.rater else f"{cookie_name}-admin"
        age = session.until - int(time.time())
        return f"{name}={value}; Path={prefix}/; HttpOnly; SameSite=Lax; Max-Age={age}{safe}"

    def count_stranger(request: Request, cost: float) -> None:
        """Let strangers wait who try too often; whoever has a link never does, beside them."""
        caller = request.client.host if request.client else ""
        if (wait := strangers.wait(caller, cost)) > 0:
            raise Refusal(429, "haste", "Too many tries. Please wait a little.", wait)

    def session_of(request: Request, *, admin: bool = False) -> Session:
        name = f"{cookie_name}-admin" if admin else cookie_name
        found = service.session(request.cookies.get(name))
        if found is None or (found.rater == 0) != admin:
            count_stranger(request, 0.2)
            raise Refusal(401, "session", "Please open your personal link again.")
        if (wait := limit.wait(found.rater)) > 0:
            raise Refusal(429, "haste", "That was very fast. Please wait a little.", wait)
        return found

    def check_forgery(request: Request, session: Session) -> None:
        given = request.headers.get("x-csrf-token", "").encode()
        site = request.headers.get("sec-fetch-site", "same-origin")
        is_ours = hmac.compare_digest(given, session.csrf(service.signer).encode())
        if not is_ours or site not in ("same-origin", "none"):
            raise Refusal(403, "csrf", "This did not come from the page itself.")

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        headers = {"Retry-After": str(int(error.retry) + 1)} if error.retry else {}
        if error.status in (408, 413):
            # There is more of it, which nobody will read.
            headers["Connection"] = "close"
        body = {"error": error.error, "message": error.sentence}
        if "/api/" in request.url.path:
            return JSONResponse(body, error.status, headers)
        return pages.message(request, error.status, error.error, headers)

    @app.exception_handler(InputError)
    async def unanswered(request: Request, error: InputError) -> Response:
        # Of the database, and not for everybody.
        _log.error("a request could not be answered: %s", error)
        sentence = "This is not possible at the moment. Please try again."
        return await refused(request, Refusal(503, "not-read", sentence, retry=5))

    @app.exception_handler(Exception)
    async def failed(request: Request, _: Exception) -> Response:
        sentence = "Something went wrong here. Please try again."
        return await refused(request, Refusal(500, "fault", sentence))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, __: RequestValidationError) -> Response:
        body = {"error": "invalid", "message": "The address of this request is not understood."}
        return JSONResponse(body, 422)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        if "/api/" in request.url.path:
            body = {"error": "not-found", "message": str(error.detail)}
            return JSONResponse(body, error.status_code, error.headers)
        return pages.message(request, error.status_code, "not-found", dict(error.headers or {}))

    @app.get("/health", include_in_schema=False)
    async def health() -> Response:
        return Response("ok", media_type="text/plain")

    @app.get("/r/{token}", include_in_schema=False)
    async def enter(request: Request, token: str) -> Response:
        session = service.enter(token)
        if session is None:
            count_stranger(request, 1.0)
            raise Refusal(404, "link", "This link is not valid any more.")
        return RedirectResponse("../", 303, {"Set-Cookie": cookie(session)})

    @app.get("/j/{secret}", include_in_schema=False)
    async def join(request: Request, secret: str) -> Response:
        # Everybody who has it has the same link, so that it must not be used without an end.
        count_stranger(request, 0.2)
        worker = request.query_params.get(service.campaign.crowd, "")
        session = None
        # A platform shows a task before it is taken, without a worker's id.
        if worker.isalnum() and len(worker) <= 64:
            session = await service.join(secret, worker)
        if session is None:
            count_stranger(request, 1.0)
            raise Refusal(404, "link", "This link is not valid, or has no worker's id.")
        return RedirectResponse("../", 303, {"Set-Cookie": cookie(session)})

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        session = session_of(request)
        return pages.rating(session)

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        return pages.static(name)

    @app.get("/api/tasks")
    async def tasks(request: Request, count: Annotated[int, Query(ge=1, le=5)] = 1) -> Response:
        session = session_of(request)
        found = service.tasks(session.rater, count)
        if found.startswith(b'{"state":"done"'):
            await service.end(session.rater)
            found = service.tasks(session.rater, count)
        return Response(found, media_type="application/json")

    @app.get("/api/last")
    async def last(request: Request) -> Response:
        session = session_of(request)
        return Response(service.last(session.rater), media_type="application/json")

    @app.post("/api/answers", openapi_extra=_described(GivenAnswer))
    async def answers(request: Request) -> Response:
        # Nothing of strangers is read.
        session = session_of(request)
        check_forgery(request, session)
        given = await json_body(request, GivenAnswer)
        return Response(await service.answer(session.rater, given), media_type="application/json")

    def organiser(request: Request, *, writes: bool = False) -> Session:
        session = session_of(request, admin=True)
        if writes:
            check_forgery(request, session)
        return session

    @app.get("/admin/{secret}", include_in_schema=False)
    async def enter_admin(request: Request, secret: str) -> Response:
        session = service.enter_admin(secret)
        if session is None:
            count_stranger(request, 1.0)
            raise Refusal(404, "link", "This link is not valid any more.")
        return RedirectResponse("../admin", 303, {"Set-Cookie": cookie(session)})

    @app.get("/admin", include_in_schema=False)
    async def admin_page(request: Request) -> Response:
        return pages.organiser(organiser(request))

    add_organiser(app, service, organiser)
    return Guard(app, _hosts(parts.hostname), prefix)


def _hosts(name: str | None) -> Sequence[str]:
    """What requests may call this server, as they write it."""
    if not name:
        return ("127.0.0.1", "localhost", "[::1]")
    try:
        written = name.encode("idna").decode()
    except UnicodeError:
        raise InputError(f"{name!r:.80} cannot be the name of a host") from None
    return (f"[{name}]" if ":" in name else written,)


def _described(kind: type) -> dict[str, Any]:
    """The body of a request, for the OpenAPI description."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
    found = parts[kind.__name__]
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": found}}}}


class _Pages:
    """HTML and static files."""

    def __init__(self, service: Service) -> None:
        self._service = service
        templates = {
            one.name: one.read_text("utf-8")
            for one in _PAGES.iterdir()
            if one.name.endswith(".html")
        }
        self._templates = jinja2.Environment(
            loader=jinja2.DictLoader(templates), autoescape=True, undefined=jinja2.StrictUndefined
        )
        self._files = {
            one.name: one.read_bytes()
            for one in _PAGES.iterdir()
            if one.name.endswith(tuple(_TYPES))
        }
        campaign = service.campaign
        self._words = page_words(campaign.language) | dict(campaign.words)
        self._language = {
            "language": campaign.language,
            "direction": "rtl" if campaign.language in _RIGHT_TO_LEFT else "ltr",
        }

    def rating(self, session: Session) -> Response:
        campaign, service = self._service.campaign, self._service
        config: dict[str, Any] = {
            "campaign": service.id,
            "rater": service.opaque_name(session.rater),
            "title": campaign.title,
            **self._language,
            "what": campaign.what,
            "layout": campaign.layout,
            "scale": campaign.scale,
            "criteria": [asdict(one) for one in campaign.criteria],
            "instructions": campaign.instructions,
            "practice": len(campaign.practice),
            "words": self._words,
        }
        return self._page(
            "rate.html",
            title=campaign.title,
            csrf=session.csrf(service.signer),
            config=_script_safe(config),
        )

    def organiser(self, session: Session) -> Response:
        """The organiser's page, which fetches all that it shows."""
        return self._page(
            "organiser.html",
            title=self._service.campaign.title,
            csrf=session.csrf(self._service.signer),
        )

    def message(
        self, request: Request, status: int, error: str, headers: dict[str, str] | None = None
    ) -> Response:
        title = self._words.get(f"{error}_title", self._words["error_title"])
        text = self._words.get(f"{error}_text", self._words["error_text"])
        # All addresses are relative, for a proxy may put the whole under a path of its own.
        base = "../" * (request.url.path.count("/") - 1)
        return self._page("message.html", status, headers, title=title, text=text, base=base)

    def static(self, name: str) -> Response:
        if name not in self._files:
            raise HTTPException(404, "there is no such file")
        kind = _TYPES[name[name.rindex(".") :]]
        return Response(self._files[name], media_type=kind, headers={"Cache-Control": "no-cache"})

    def _page(
        self, template: str, status: int = 200, headers: dict[str, str] | None = None, **values: Any
    ) -> Response:
        made = self._templates.get_template(template)
        html = made.render(words=self._words, **self._language, **values)
        return HTMLResponse(html, status, headers)


def _script_safe(value: object) -> Any:
    """JSON that can stand between script tags: nothing in it ends them."""
    text = json.dumps(value, ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return markupsafe.Markup(text)
