"""What is built and installed, with a compiler and without one."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import deltableu
from deltableu import _kernels

KERNELS = tuple("deltableu/" + name.replace(".", "/") for name in _kernels.names())
CORPUS = {
    "hypotheses": ["the cat was on the mat , it seems", "no clue at all", "ça va bien 系统"],
    "references": [
        ["the cat sat on the mat", "a cat was on the mat , or so it seems"],
        ["no idea at all", "no clue at all , sorry"],
        ["ça va bien , 系统"],
    ],
    "weights": [[1, 0.5], [0.8, -0.4], [0.6]],
}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_a_wheel_has_the_compiled_kernels_and_everything_else_it_needs(call, uv, project, tmp_path):
    # The compiler's optimiser is most of the time, and no matter here.
    quick = tmp_path / "quick-cc"
    quick.write_text(f'#!/bin/sh\nexec {shutil.which("gcc")} "$@" -O0\n')
    quick.chmod(0o755)
    command = [uv, "build", "--wheel", "--python", sys.executable, "-o", tmp_path, project]
    assert call(*command, CC=str(quick)).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for kernel in KERNELS:
        assert f"{kernel}{EXTENSION_SUFFIXES[0]}" in names
        assert f"{kernel}.py" in names
    assert {"deltableu/py.typed", "deltableu/report/page.html", "deltableu/__main__.py"} <= names
    sources = Path(project, "src").rglob("*.py")
    assert {str(path.relative_to(project / "src")) for path in sources} <= names
    folders = {name.split("/")[0] for name in names}
    assert folders == {"deltableu", f"deltableu-{deltableu.__version__}.dist-info"}
    assert not [
        name
        for name in names
        if "/test_" in name or "/tests/" in name or name.endswith((".c", ".pyc"))
    ]
    metadata = f"deltableu-{deltableu.__version__}.dist-info"
    archive = zipfile.ZipFile(wheel)
    assert (
        "deltableu = deltableu.cli.app:main"
        in archive.read(f"{metadata}/entry_points.txt").decode()
    )
    required = [
        line.removeprefix("Requires-Dist: ")
        for line in archive.read(f"{metadata}/METADATA").decode().splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]
    assert sorted(name.split(">")[0] for name in required) == [
        "cyclopts",
        "msgspec",
        "numpy",
        "rich",
        "sacrebleu",
        "scipy",
    ]
    archive.extractall(tmp_path / "installed")
    script = (
        "import sys, deltableu;"
        "from deltableu import _kernels as k;"
        "print(*(k.compiled(k.load(n)) for n in k.names()));"
        "print(deltableu.__file__)"
    )
    done = call(sys.executable, "-c", script, PYTHONPATH=str(tmp_path / "installed"))
    compiled, place = done.stdout.splitlines()
    assert compiled.split() == ["True"] * len(KERNELS)
    assert place.startswith(str(tmp_path / "installed"))
    assert done.stderr == ""


def assert_works_uncompiled(call, python, tmp_path):
    """Right scores, one warning in all, and neither Cython nor machine code in sight."""
    script = """
import json, sys, warnings
corpus = json.loads(sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import deltableu
    hypotheses, references = corpus["hypotheses"], corpus["references"]
    scores = [deltableu.bleu(hypotheses, references).score for _ in range(2)]
    scores.append(deltableu.delta_bleu(hypotheses, references, corpus["weights"]).score)
    scores.append(deltableu.sentence_bleu(hypotheses[0], references[0]).score)
from importlib.util import find_spec
from deltableu import _kernels
print(json.dumps({
    "scores": scores,
    "warnings": [[w.category.__name__, str(w.message)] for w in caught],
    "cython": find_spec("Cython") is not None,
    "compiled": [_kernels.compiled(_kernels.load(n)) for n in _kernels.names()],
    "place": deltableu.__file__,
}))
"""
    done = call(python, "-c", script, json.dumps(CORPUS))
    assert done.returncode == 0
    found = json.loads(done.stdout)
    hypotheses, references = CORPUS["hypotheses"], CORPUS["references"]
    bleu = deltableu.bleu(hypotheses, references).score
    delta = deltableu.delta_bleu(hypotheses, references, CORPUS["weights"]).score
    sentence = deltableu.sentence_bleu(hypotheses[0], references[0]).score
    assert found["scores"] == [bleu, bleu, delta, sentence]
    assert 0 < delta < bleu < 100
    ((category, message),) = found["warnings"]
    assert category == "RuntimeWarning"
    assert "compiler" in message
    assert found["cython"] is False
    assert found["compiled"] == [False] * len(KERNELS)
    assert found["place"].startswith(str(tmp_path))


def assert_command_works(call, python, tmp_path):
    """The command says once that it is slow, and prints what it should."""
    (tmp_path / "r.txt").write_text("\n".join(row[0] for row in CORPUS["references"]))
    (tmp_path / "h.txt").write_text("\n".join(CORPUS["hypotheses"]))
    arguments = ["score", tmp_path / "h.txt", "--refs", tmp_path / "r.txt", "--format", "json"]
    done = call(Path(python).parent / "deltableu", *arguments)
    assert done.returncode == 0
    (record,) = json.loads(done.stdout)
    references = [row[:1] for row in CORPUS["references"]]
    assert record["score"] == deltableu.bleu(CORPUS["hypotheses"], references).score
    assert done.stderr.count("compiler: its kernels run as plain Python") == 1
    assert "Traceback" not in done.stderr


def make_environment(call, uv, path):
    assert call(uv, "venv", "--quiet", "--python", sys.executable, path).returncode == 0
    return path / "bin" / "python"


def test_it_installs_and_works_where_there_is_no_compiler(call, uv, project, tmp_path):
    python = make_environment(call, uv, tmp_path / "env")
    install = [uv, "pip", "install", "--python", python, project]
    done = call(*install, CC="/bin/false", PATH="/nonexistent")
    assert done.returncode == 0, done.stderr[-2000:]
    assert_works_uncompiled(call, python, tmp_path)
    assert_command_works(call, python, tmp_path)


def test_it_installs_and_works_where_cython_is_missing_when_it_is_built(
    call, uv, project, tmp_path
):
    python = make_environment(call, uv, tmp_path / "env")
    install = [uv, "pip", "install", "--python", python]
    assert call(*install, "setuptools>=77").returncode == 0
    done = call(*install, "--no-build-isolation", project)
    assert done.returncode == 0, done.stderr[-2000:]
    assert_works_uncompiled(call, python, tmp_path)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_pip_builds_and_installs_it_with_full_optimisation(call, project, tmp_path):
    command = [sys.executable, "-m", "build", "--outdir", tmp_path / "dist", project]
    assert call(*command).returncode == 0
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (source,) = (tmp_path / "dist").glob("*.tar.gz")
    # One more holds what they share.
    compiled = sum(name.endswith(".so") for name in zipfile.ZipFile(wheel).namelist())
    assert compiled == len(KERNELS) + 1
    # The wheel was made from the source archive, so that holds all it takes.
    assert source.stat().st_size > 10_000
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", tmp_path / "to"]
    assert call(*command, wheel).returncode == 0
    assert (tmp_path / "to" / "deltableu" / "py.typed").exists()
