"""One process at a time in a job's folder; a dead one, however it died, blocks nobody."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import asdict, replace

import pytest

from deltableu.errors import InputError
from deltableu.io import WorkFolder, job_lock
from deltableu.io.job_lock import JobLock
from deltableu.io.owner import Owner, is_gone

HOLD = """
import sys
from deltableu.io import WorkFolder
work = WorkFolder(sys.argv[1], "key")
work.begin()
print("begun", flush=True)
sys.stdin.read()
work.release()
"""


@pytest.fixture
def other(tmp_path):
    """A process that is at the same work."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "work")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"begun\n"
        yield process
        process.kill()


def test_a_second_run_is_refused_until_the_first_has_ended(other, tmp_path):
    work = WorkFolder(tmp_path / "work", "key")
    with pytest.raises(InputError) as refused:
        work.begin()
    assert str(refused.value) == (
        f"{work.folder}: process {other.pid} on {socket.gethostname()} is at work here: wait until "
        "it ends, or stop it and start this again"
    )
    WorkFolder(tmp_path / "work", "another").begin()
    other.communicate(timeout=30)
    work.begin()
    work.end()


def test_the_lock_of_a_killed_process_is_taken_over(other, tmp_path):
    other.send_signal(signal.SIGKILL)
    other.wait(30)
    work = WorkFolder(tmp_path / "work", "key")
    assert Owner.from_bytes((work.folder / "lock").read_bytes()).pid == other.pid
    work.begin()
    assert Owner.from_bytes((work.folder / "lock").read_bytes()) == Owner.here()
    # The first run made both folders, and this one ends its work.
    work.end()
    assert os.listdir(tmp_path) == []


def test_two_threads_of_a_process_are_two(tmp_path):
    first, second = (WorkFolder(tmp_path, "key") for _ in range(2))
    first.begin()
    first.begin()
    with pytest.raises(InputError, match=rf"process {os.getpid()} on .* is at work here"):
        second.begin()
    second.end()
    assert first.folder.exists()
    first.release()
    second.begin()
    second.end()


def test_exactly_one_of_many_gets_it(tmp_path):
    """Also while folders come and go."""
    inside, most, errors = 0, 0, []
    guard = threading.Lock()

    def work():
        nonlocal inside, most
        for _ in range(30):
            one = WorkFolder(tmp_path / "work", "key")
            try:
                one.begin()
            except InputError as error:
                if "is at work here" not in str(error):
                    errors.append(error)
                continue
            with guard:
                inside += 1
                most = max(most, inside)
            with guard:
                inside -= 1
            one.end()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, errors) == (1, [])


def elsewhere(**changes):
    owner = replace(Owner.here(), host="elsewhere", place="00000000", boot="other", **changes)
    return json.dumps(asdict(owner)).encode()


def test_another_machine_is_for_people_to_look_after(tmp_path):
    lock = tmp_path / "lock"
    lock.write_bytes(elsewhere(pid=4321))
    with pytest.raises(InputError) as refused:
        JobLock(lock)
    assert str(refused.value) == (
        f"{tmp_path}: process 4321 on elsewhere is at work here: if it runs no more, remove {lock}"
    )
    assert lock.read_bytes() == elsewhere(pid=4321)
    lock.unlink()
    JobLock(lock).release()
    assert lock.read_bytes() == b""


def test_a_container_that_is_gone_blocks_nobody(tmp_path):
    """On the same machine the system's lock is enough, whatever the name of the host."""
    if not Owner.here().boot:
        pytest.skip("this system does not say when it was started")
    lock = tmp_path / "lock"
    lock.write_bytes(json.dumps(asdict(replace(Owner.here(), host="old container"))).encode())
    JobLock(lock).release()


def test_without_locks_of_the_system_processes_are_looked_for(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(job_lock.fcntl, "flock", none)
    lock = tmp_path / "lock"
    held = JobLock(lock)
    with pytest.raises(InputError, match="is at work here: wait until it ends"):
        JobLock(lock)
    held.release()
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    lock.write_bytes(replace(Owner.here(), pid=process.pid).to_bytes())
    JobLock(lock).release()
    # A number that was given to another process since.
    lock.write_bytes(replace(Owner.here(), started=1).to_bytes())
    JobLock(lock).release()
    lock.write_bytes(elsewhere())
    with pytest.raises(InputError, match="on elsewhere"):
        JobLock(lock)


@pytest.mark.parametrize("content", [b"thesis", b"{}", b"[" * 4000, b'{"pid": -1}', b"\xff"])
def test_what_is_no_lock_is_left_alone(content, tmp_path):
    (tmp_path / "lock").write_bytes(content)
    with pytest.raises(InputError, match=r"lock: is not a lock of deltableu"):
        JobLock(tmp_path / "lock")
    assert (tmp_path / "lock").read_bytes() == content
    (tmp_path / "thesis").write_text("years of work")
    (tmp_path / "lock").unlink()
    (tmp_path / "lock").symlink_to("thesis")
    with pytest.raises(OSError, match="symbolic links"):
        JobLock(tmp_path / "lock")
    assert (tmp_path / "thesis").read_text() == "years of work"


def test_who_is_gone():
    here = Owner.here()
    assert not here.is_gone()
    assert not is_gone(0, 0)
    assert not is_gone(-1, 0)
    assert not is_gone(1, 0)
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        if here.started:  # a process that has ended but was not waited for
            assert is_gone(process.pid, 0)
    assert is_gone(process.pid, 0)
    assert not replace(here, pid=process.pid, place="00000000").is_gone()
