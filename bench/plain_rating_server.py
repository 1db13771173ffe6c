"""A rating server as one would write it in an afternoon: FastAPI, SQLAlchemy, a commit per request.

`python -m bench.plain_rating_server FILE PORT TASKS RATERS_PER_TASK` serves it. It has addresses
of the real one, so that the same simulated raters can use it, and the same database: SQLite that
writes ahead and waits for the disk.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Annotated, Any

import uvicorn
from fastapi import Cookie, FastAPI, Header, HTTPException, Response
from pydantic import BaseModel
from sqlalchemy import ForeignKey, create_engine, event, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

__all__ = ["plain_app"]


class _Base(DeclarativeBase):
    pass


class _Task(_Base):
    __tablename__ = "tasks"
    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
    left: Mapped[int] = mapped_column(index=True)
    """How many raters may still have it."""


class _Given(_Base):
    __tablename__ = "given"
    rater: Mapped[int] = mapped_column(primary_key=True)
    task: Mapped[int] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    answered: Mapped[bool] = mapped_column(default=False)


class _Rating(_Base):
    __tablename__ = "ratings"
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    rater: Mapped[int]
    task: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    value: Mapped[float]


class _Body(BaseModel):
    key: str
    ticket: str
    values: list[list[float]]
    elapsed: float
    waited: float
    revises: int | None = None


def plain_app(file: str, tasks: int, per_task: int) -> FastAPI:
    """The application, with as many tasks."""
    engine = create_engine(
        f"sqlite:///{file}", pool_size=40, max_overflow=10, connect_args={"timeout": 60}
    )

    @event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    _Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(_Task(text=f"response {place}", left=per_task) for place in range(tasks))
        session.commit()
    app = FastAPI()
    # What was committed need not be read again.
    open_session = sessionmaker(engine, expire_on_commit=False)

    @app.get("/r/{rater}")
    def enter(rater: int) -> Response:
        return Response(status_code=303, headers={"Set-Cookie": f"rater={rater}; HttpOnly"})

    @app.get("/")
    def page(rater: Annotated[int, Cookie()]) -> Response:
        return Response(f'<meta name="csrf" content="csrf-{rater}">', media_type="text/html")

    @app.get("/api/tasks")
    def next_task(rater: Annotated[int, Cookie()]) -> dict[str, Any]:
        mine = select(_Given.task).where(_Given.rater == rater)
        begun = select(_Task).where(_Task.id.in_(mine.where(_Given.answered.is_(False))))
        fresh = select(_Task).where(_Task.left > 0, _Task.id.not_in(mine))
        with open_session() as session:
            task = session.scalars(begun.limit(1)).first()
            if task is None:
                task = session.scalars(fresh.order_by(_Task.left.desc()).limit(1)).first()
                if task is None:
                    return {"state": "done", "tasks": []}
                task.left -= 1
                session.add(_Given(rater=rater, task=task.id))
            shown = {"ticket": f"ticket-{task.id}", "task": task.id, "responses": [task.text]}
            session.commit()
        return {"state": "rating", "tasks": [shown]}

    @app.post("/api/answers")
    def answer(
        body: _Body, rater: Annotated[int, Cookie()], x_csrf_token: Annotated[str, Header()]
    ) -> dict[str, Any]:
        if x_csrf_token != f"csrf-{rater}":
            raise HTTPException(403)
        task = int(body.ticket.removeprefix("ticket-"))
        with open_session() as session:
            given = session.get(_Given, (rater, task))
            if given is None:
                raise HTTPException(403)
            rating = _Rating(key=body.key, rater=rater, task=task, value=body.values[0][0])
            session.add(rating)
            given.answered = True
            try:
                session.commit()
            except IntegrityError:
                raise HTTPException(409) from None
            return {"answer": rating.id}

    return app


if __name__ == "__main__":
    file, port, tasks, per_task = sys.argv[1], *map(int, sys.argv[2:])
    uvicorn.run(plain_app(file, tasks, per_task), port=port, log_level="warning")
