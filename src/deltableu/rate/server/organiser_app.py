"""What the organiser's page asks for and does: progress, pause, links, ratings to take away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Protocol

import msgspec
from fastapi import FastAPI, Request, Response

from deltableu.corpus import write_ratings
from deltableu.errors import InputError
from deltableu.io import scratch_folder
from deltableu.rate.server.bodies import json_body
from deltableu.rate.server.database import read_raters
from deltableu.rate.server.guard import Refusal
from deltableu.rate.server.organiser import OrganiserView, organiser_view
from deltableu.rate.server.organising import random_names
from deltableu.rate.server.results import campaign_ratings
from deltableu.rate.server.security import Session
from deltableu.rate.server.service import Service

#: Seconds for which a look at the campaign is good enough, as it reads everything.
_FRESH = 2.0
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class _State(msgspec.Struct, forbid_unknown_fields=True):
    paused: bool


class _NewRaters(msgspec.Struct, forbid_unknown_fields=True):
    """Names, or how many."""

    names: Annotated[list[_Name], msgspec.Meta(max_length=1000)] = []
    count: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0


class _OneRater(msgspec.Struct, forbid_unknown_fields=True):
    name: _Name


class Organiser(Protocol):
    """Gives the organiser's session, or refuses."""

    def __call__(self, request: Request, *, writes: bool = False) -> Session: ...


class _Looks:
    """One look at the campaign at a time, kept for a moment."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = asyncio.Lock()
        self._view: OrganiserView | None = None
        self._taken = 0.0

    async def view(self) -> OrganiserView:
        async with self._lock:
            if self._view is None or time.monotonic() - self._taken > _FRESH:
                service = self._service
                self._view = await asyncio.to_thread(
                    organiser_view, service.campaign, service.database
                )
                self._taken = time.monotonic()
            return self._view

    def forget(self) -> None:
        self._view = None


def add_organiser(app: FastAPI, service: Service, organiser: Organiser) -> None:
    """Add what the organiser's page needs to an application."""
    looks = _Looks(service)

    async def change(function: Callable[[], object]) -> object:
        """Change something in the database, and let this server know at once."""
        try:
            done = await asyncio.to_thread(function)
            await service.refresh()
        except InputError as error:
            raise Refusal(409, "refused", str(error)) from None
        looks.forget()
        return done

    @app.get("/api/admin/status")
    async def status(request: Request) -> Response:
        organiser(request)
        try:
            view = await looks.view()
        except InputError as error:
            raise Refusal(503, "not-read", str(error), retry=5) from None
        return Response(msgspec.json.encode(view), media_type="application/json")

    @app.get("/api/admin/ratings.csv")
    async def ratings(request: Request) -> Response:
        organiser(request)
        try:
            content = await asyncio.to_thread(_ratings_file, service)
        except InputError as error:
            raise Refusal(503, "not-read", str(error), retry=5) from None
        return Response(
            content,
            media_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="ratings.csv"'},
        )

    @app.post("/api/admin/state")
    async def set_state(request: Request) -> Response:
        organiser(request, writes=True)
        given = await json_body(request, _State)
        await change(
            lambda: service.database.set_fact("state", "paused" if given.paused else "open")
        )
        return _answer({"paused": given.paused})

    @app.post("/api/admin/raters")
    async def add_raters(request: Request) -> Response:
        organiser(request, writes=True)
        given = await json_body(request, _NewRaters)
        if bool(given.names) == bool(given.count):
            raise Refusal(422, "invalid", "Give names, or how many raters to add.")

        def add() -> list[dict[str, str]]:
            names = given.names
            if given.count:
                with service.database.reading() as connection:
                    there = [row.name for row in read_raters(connection)]
                names = random_names(given.count, there)
            made = service.database.add_raters(names)
            return [{"name": one.name, "path": f"r/{one.token}"} for one in made]

        return _answer({"links": await change(add)})

    @app.post("/api/admin/link")
    async def new_link(request: Request) -> Response:
        organiser(request, writes=True)
        given = await json_body(request, _OneRater)

        def make() -> list[dict[str, str]]:
            made = service.database.new_link(given.name)
            return [{"name": made.name, "path": f"r/{made.token}"}]

        return _answer({"links": await change(make)})

    @app.post("/api/admin/exclude")
    async def exclude(request: Request) -> Response:
        organiser(request, writes=True)
        given = await json_body(request, _OneRater)
        await change(lambda: service.database.exclude(given.name))
        return _answer({})

    @app.post("/api/admin/revoke")
    async def revoke(request: Request) -> Response:
        organiser(request, writes=True)
        given = await json_body(request, _OneRater)
        await change(lambda: service.database.revoke(given.name))
        return _answer({})


def _ratings_file(service: Service) -> bytes:
    """A CSV file with all ratings, as `rate export` writes it."""
    with scratch_folder() as folder:
        table = campaign_ratings(service.campaign, service.database)
        write_ratings(folder / "ratings.csv", table)
        return (folder / "ratings.csv").read_bytes()


def _answer(values: object) -> Response:
    return Response(msgspec.json.encode(values), media_type="application/json")
