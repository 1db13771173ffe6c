"""A server of chat completions on this machine that behaves as it is told, and remembers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from deltableu.corpus import Item, Reference, Study

KEY = "sk-test-0123456789-never-to-be-seen"


@dataclass(frozen=True)
class Asked:
    """A request, and what became of it."""

    body: dict[str, Any]
    headers: dict[str, str]
    number: int
    times: int  # how often this was asked before
    prompt: str


@dataclass(frozen=True)
class Says:
    """What a server says to a request."""

    text: str = '{"reason": "It fits.", "rating": 4}'
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    usage: bool = True


def error(status: int, message: str, code: str = "", **headers: str) -> Says:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Says(status=status, body=body, headers=named)


class Server:
    """Serves until the block ends; `answered` counts answers that were sent whole, by prompt."""

    def __init__(self, behave: Callable[[Asked], Says] = lambda asked: Says()) -> None:
        self.behave = behave
        self.asked: list[Asked] = []
        self.answered: Counter[str] = Counter()
        self.most_at_once = 0
        self._at_once = 0
        self._times: Counter[str] = Counter()

    def __enter__(self) -> Server:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 20)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await self._end.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connection(self, reader: Any, writer: Any) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                headers = {
                    name.lower(): value
                    for name, _, value in (line.partition(": ") for line in lines[1:] if line)
                }
                content = await reader.readexactly(int(headers["content-length"]))
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                try:
                    whole = await self._respond(json.loads(content), headers, writer)
                finally:
                    self._at_once -= 1
                if not whole:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _respond(self, body: dict[str, Any], headers: dict[str, str], writer: Any) -> bool:
        prompt = json.dumps(body["messages"])
        asked = Asked(body, headers, len(self.asked), self._times[prompt], prompt)
        self._times[prompt] += 1
        self.asked.append(asked)
        says = self.behave(asked)
        if says.delay:
            await asyncio.sleep(says.delay)
        content = says.body
        if content is None:
            made: dict[str, Any] = {
                "choices": [{"message": {"content": says.text}, "finish_reason": "stop"}]
            }
            if says.usage:
                made["usage"] = {"prompt_tokens": 100, "completion_tokens": 10}
            content = json.dumps(made).encode()
        lines = [f"HTTP/1.1 {says.status} X", f"content-length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in says.headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        writer.write(content[: len(content) // 2] if says.cut else content)
        await writer.drain()
        if says.status == 200 and not says.cut:
            self.answered[prompt] += 1
        return not says.cut

    def nobody_was_asked_twice(self) -> bool:
        """Whether no answer was sent whole more than once."""
        return max(self.answered.values(), default=0) <= 1


def llm_study(items: int = 6) -> Study:
    """Items with an original and two other references, and outputs of three systems."""
    made = tuple(
        Item(
            f"q{number}",
            (
                Reference("r0", f"the answer to {number}", origin="original"),
                Reference("r1", f"something like {number}", origin="mined"),
                Reference("r2", f"nothing of the kind {number}", origin="random"),
            ),
            message=f"what about {number}?",
        )
        for number in range(items)
    )
    outputs = {
        name: tuple(f"{name} says {number}" for number in range(items)) for name in ("A", "B", "C")
    }
    return Study(made, outputs)
