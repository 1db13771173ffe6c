"""The rating server under 200 raters, beside a plain server that commits once per request."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bench.raters import Plan, Seen, rate
from deltableu.corpus import Item, Reference, Study
from deltableu.rate import server

__all__ = ["main"]

RATERS, PER_TASK = 200, 5
RATINGS, PLAIN_RATINGS = 20_000, 3_000


def main() -> None:
    """Print ratings/s, and how long requests took.

    All raters rate as fast as they can: they ask for a task, answer it, and wait for nothing but
    the server. Both keep answers in SQLite that writes ahead and waits for the disk.
    """
    print(
        f"rating server: {RATERS} raters at a time, each asks for a task and answers it; SQLite, "
        f"every answer on the disk"
    )
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(Path(folder), RATINGS)
        plain = _plain(Path(folder), PLAIN_RATINGS)
    for name, seen in (("deltableu rate serve", ours), ("a commit per request", plain)):
        assert not seen.wrong, seen.wrong[:3]
        asked, answered = np.array(seen.asking), np.array(seen.answering)
        print(
            f"{name}: {seen.confirmed:>6,} ratings in {seen.seconds:5.1f} s, "
            f"{seen.confirmed / seen.seconds:5,.0f}/s; {_times('asking', asked)}; "
            f"{_times('answering', answered)}"
        )
    ratio = ours.confirmed / ours.seconds / (plain.confirmed / plain.seconds)
    print(f"{ratio:.1f} times as many ratings per second")


def _times(what: str, seconds: np.ndarray) -> str:
    middle, late = np.quantile(seconds, [0.5, 0.99])
    return f"{what} p50 {middle:.3f} s, p99 {late:.3f} s"


def _ours(folder: Path, ratings: int) -> Seen:
    study = Study(
        tuple(
            Item(f"i{place}", (Reference("r", f"response {place}"),), message=f"message {place}")
            for place in range(ratings // PER_TASK)
        )
    )
    settings = {
        **server.preset("delta-bleu"),
        "what": "references",
        "per_item": PER_TASK,
        "practice": [],
    }
    campaign = server.settings_from(settings, "bench")
    names = server.random_names(RATERS)
    new = server.new_campaign(folder / "campaign", campaign, study, raters=names)
    port = _free_port()
    program = str(Path(sys.executable).with_name("deltableu"))
    command = [program, "rate", "serve", str(folder / "campaign"), "--port", str(port)]
    with _serving([*command, "--haste", "1000"], port) as address:
        return rate(Plan(address, [link.token for link in new.links]))


def _plain(folder: Path, ratings: int) -> Seen:
    port = _free_port()
    numbers = (port, ratings // PER_TASK, PER_TASK)
    command = [sys.executable, "-m", "bench.plain_rating_server", str(folder / "plain.sqlite")]
    with _serving([*command, *map(str, numbers)], port) as address:
        return rate(Plan(address, [str(place + 1) for place in range(RATERS)]))


@contextmanager
def _serving(command: Sequence[str], port: int) -> Iterator[str]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
            except urllib.error.HTTPError:
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.05)
            else:
                break
        yield address
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


if __name__ == "__main__":
    main()
