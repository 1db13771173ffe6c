"""Whoever reaches a scheduler can run code: so strangers must not."""

from __future__ import annotations

import os
import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest

from deltableu.cli.app import main
from deltableu.errors import InputError
from deltableu.mine import Dask, client_certificates, dask_engine, make_engine, mine_references
from tests.mine import mining_kit as kit

ITEMS = kit.make_items()
PAIRS = [(row["utterance"], row["response"]) for row in kit.make_rows(40, seed=3)]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECT", 5.0)


def write_certificates(folder: Path) -> list[str]:
    """The files of an authority, a certificate that it signed, and its key."""
    folder.mkdir()
    made = distributed.Security.temporary()
    contents = {"ca": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in contents.items():
        (folder / f"{name}.pem").write_text(text)
    return [str(folder / f"{name}.pem") for name in contents]


def options(*files: str) -> list[str]:
    names = ("--tls-ca", "--tls-cert", "--tls-key")
    return [part for pair in zip(names, files, strict=True) for part in pair]


# --- The cluster of this machine ------------------------------------------------------------------


def own_processes() -> set[int]:
    found, new = set(), {os.getpid()}
    while new:
        found |= new
        new = {child for pid in new for child in kit.children(pid)} - found
    return found


def listening() -> set[int]:
    """The TCP ports at which this process and all that it started listen."""
    ports = set()
    for pid in own_processes():
        held = {
            os.path.basename(os.path.realpath(one)) for one in Path(f"/proc/{pid}/fd").iterdir()
        }
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                cells = line.split()
                if cells[3] == "0A" and f"socket:[{cells[9]}]" in held:
                    ports.add(int(cells[1].rpartition(":")[2], 16))
    return ports


def quiet(rows: int, size: int) -> None: ...


def work(job: kit.Deadly, tell: Any) -> int:
    return os.getpid()


def refusal_by_tls(port: int) -> str:
    """How a port turns down somebody without a certificate."""
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        try:
            with anyone.wrap_socket(plain) as secured:
                secured.recv(1)
        except ssl.SSLError as error:
            return error.reason
    return "none"


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks at /proc")
def test_nobody_else_gets_into_the_cluster_of_this_machine():
    before = listening()
    with Dask(workers=1) as engine:
        jobs = [kit.Deadly("a", deadly=False)]
        ((_, worker),) = engine.run(work, jobs, quiet)
        assert worker != os.getpid()
        ports = listening() - before
        address = engine._client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        # The scheduler, its worker, and who looks after that; no web servers.
        assert len(ports) == 3
        for port in ports:
            assert "CERTIFICATE_REQUIRED" in refusal_by_tls(port)
        strangers = {
            "without TLS": (address.replace("tls://", "tcp://"), None),
            "with other certificates": (address, distributed.Security.temporary()),
        }
        for name, (place, security) in strangers.items():
            with pytest.raises(OSError, match=r"(?i)timed out|connect|does not match"):
                distributed.Client(place, timeout=0.5, security=security, name=name)
        ((_, again),) = engine.run(work, jobs, quiet)
        assert again == worker
    kit.wait_until(lambda: listening() <= before)


def test_no_cryptography(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(InputError, match=r"^the engine dask needs cryptography: run pip install "):
        mine_references(ITEMS, PAIRS, engine="dask", threads=1)


# --- A scheduler with certificates ----------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_certificates(tmp_path_factory.mktemp("tls") / "own")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, files: list[str]) -> Iterator[str]:
    names = ("--tls-ca-file", "--tls-cert", "--tls-key")
    given = [part for pair in zip(names, files, strict=True) for part in pair]
    folder = tmp_path_factory.mktemp("cluster")
    with kit.cluster(folder, workers=1, certificates=given) as made:
        assert made.address.startswith("tls://")
        yield made.address


@pytest.mark.parametrize("kind", ["tls", "dask"])
def test_a_scheduler_with_tls(kind, cluster, files):
    engine = make_engine(cluster.replace("tls", kind), security=client_certificates(*files))
    kit.same(mine_references(ITEMS, PAIRS, engine=engine), mine_references(ITEMS, PAIRS, threads=1))


@pytest.mark.parametrize("kind", ["tls", "dask"])
def test_certificates_of_dasks_configuration(kind, cluster, files):
    ca, cert, key = files
    given = {"tls.ca-file": ca, "tls.client.cert": cert, "tls.client.key": key}
    given |= {"require-encryption": True} if kind == "dask" else {}
    with dask.config.set({f"distributed.comm.{name}": value for name, value in given.items()}):
        mined = mine_references(ITEMS, PAIRS, engine=cluster.replace("tls", kind))
    kit.same(mined, mine_references(ITEMS, PAIRS, threads=1))


def test_certificates_by_option(cluster, files, demo, tmp_path):
    logs = tmp_path / "logs.tsv"
    logs.write_text("utterance\tresponse\n" + "".join(f"{u}\t{r}\n" for u, r in PAIRS))
    arguments = ["mine", str(demo), "--logs", str(logs), "-o", str(tmp_path / "mined")]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--engine", cluster, *options(*files)])
    assert ended.value.code in (0, None)
    assert (tmp_path / "mined" / "items.jsonl").exists()


def test_a_scheduler_with_tls_and_no_or_other_certificates(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECT", 0.5)
    with pytest.raises(InputError, match=r"^the Dask scheduler at tls.* cannot be used without ce"):
        mine_references(ITEMS, PAIRS, engine=cluster)
    with pytest.raises(InputError, match=r"^no Dask scheduler answers .*, and whether it speaks T"):
        mine_references(ITEMS, PAIRS, engine=cluster.replace("tls", "dask"))
    others = client_certificates(*write_certificates(tmp_path / "other"))
    with pytest.raises(InputError, match=r"^no Dask scheduler answers .*, and its certificates$"):
        mine_references(ITEMS, PAIRS, engine=make_engine(cluster, security=others))


def test_files_that_are_no_certificates(files, tmp_path):
    ca, cert, key = files
    with pytest.raises(InputError, match=r"gone\.pem: there is no such file"):
        client_certificates(ca, cert, str(tmp_path / "gone.pem"))
    (tmp_path / "empty.pem").touch()
    other = write_certificates(tmp_path / "other")
    empty = str(tmp_path / "empty.pem")
    for wrong in ([ca, empty, key], [ca, cert], [ca, cert, other[2]], [key, cert, key]):
        with pytest.raises(InputError, match=r"^no certificates with their key are in "):
            client_certificates(*wrong)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tls-ca", "ca"], "--tls-ca, --tls-cert and --tls-key go together"),
        (["--tls-key", "key"], "--tls-ca, --tls-cert and --tls-key go together"),
        (["--tls-ca", "a", "--tls-cert", "b"], "--tls-ca is of no use with --engine threads"),
        (
            ["--engine", "dask", "--tls-ca", "a", "--tls-cert", "b"],
            "--tls-ca is of no use with --engine dask",
        ),
        (
            ["--engine", "tls://a:1", "--tls-ca", "gone", "--tls-cert", "b"],
            "gone: there is no such file",
        ),
    ],
)
def test_options_that_do_not_go_together(arguments, said, demo, tmp_path, capsys):
    (tmp_path / "logs.tsv").write_text("utterance\tresponse\na\tb\n")
    logs = str(tmp_path / "logs.tsv")
    with pytest.raises(SystemExit) as ended:
        main(["mine", str(demo), "--logs", logs, "-o", str(tmp_path / "mined"), *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "mined").exists()
