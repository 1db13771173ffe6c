"""The container of the rating server: its commands, in a bare environment instead of an image."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.rate.server.kit import Postgres, free_port

FOLDER = Path(__file__).parents[2] / "examples" / "rating-server"


def listed(text: str, key: str) -> list[str]:
    """The words of a command in the form of a list, after this key."""
    found = re.search(rf'^\s*{key}:?\s*(\[".*"\])$', text, re.MULTILINE)
    assert found, key
    words: list[str] = json.loads(found[1])
    return words


def test_what_compose_starts_is_what_the_image_has():
    compose = (FOLDER / "compose.yaml").read_text()
    image = (FOLDER / "Dockerfile").read_text()
    assert listed(image, "ENTRYPOINT") == ["deltableu"]
    assert listed(image, "CMD")[:2] == ["rate", "serve"]
    assert "dockerfile: examples/rating-server/Dockerfile" in compose
    assert compose.count("DELTABLEU_PASSWORD:?") == 2


@pytest.mark.long
def test_the_same_commands_in_a_bare_environment(call, project, tmp_path):
    image = (FOLDER / "Dockerfile").read_text()
    compose = (FOLDER / "compose.yaml").read_text()
    assert call(sys.executable, "-m", "venv", tmp_path / "bare").returncode == 0
    programs = tmp_path / "bare" / "bin"
    wheels = tmp_path / "wheels"
    for line in re.findall(r"^RUN (pip .*)$", image, re.MULTILINE):
        command = line.replace("/wheels", str(wheels)).replace("/source", str(project))
        done = call("sh", "-c", command, PATH=f"{programs}:{os.environ['PATH']}")
        assert done.returncode == 0, command
    image_command = listed(image, "CMD")
    (made,) = re.findall(r"^#     (rate new .*)$", compose, re.MULTILINE)
    with TemporaryDirectory() as place:
        database = Postgres(Path(place))
        port = free_port()
        environment = {
            "PATH": os.environ["PATH"],
            "PGHOST": "127.0.0.1",
            "PGPORT": str(database.port),
            "PGUSER": "test",
            "PGPASSWORD": "anything",
        }
        here = {
            "/campaign/one": str(tmp_path / "one"),
            "/study": str(FOLDER.parent / "demo"),
            "postgresql:///ratings": "postgresql:///postgres",
            "0.0.0.0": "127.0.0.1",
        }
        command = [here.get(word, word) for word in [*made.split(), "--raters", "5"]]
        assert call(programs / "deltableu", *command, **environment).returncode == 0
        words = [here.get(word, word) for word in image_command]
        server = subprocess.Popen(
            [programs / "deltableu", *words, "--port", str(port)], env=environment
        )
        try:
            assert health(port) == b"ok"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
            database.stop()


def health(port: int) -> bytes:
    """What the server says of itself, once it does."""
    for _ in range(300):
        try:
            with urlopen(f"http://127.0.0.1:{port}/health") as answer:
                said: bytes = answer.read()
                return said.strip()
        except URLError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")
