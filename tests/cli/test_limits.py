"""Every command takes limits of what it reads."""

from __future__ import annotations


def test_as_options(run, tmp_path):
    (tmp_path / "r.txt").write_text("a " * 600 + "\n")
    (tmp_path / "s.txt").write_text("a " * 600 + "\n")
    arguments = ["score", str(tmp_path / "s.txt"), "--refs", str(tmp_path / "r.txt")]
    assert run(*arguments).code == 0
    result = run(*arguments, "--max-line", "1k")
    assert (result.code, result.out) == (2, "")
    assert "line 1: is longer than 1 KB: if that is right, set --max-line" in result.err
    assert run("--max-line=2k", *arguments).code == 0
    for wrong in (["--max-line"], ["--max-line", "much"], ["--max-unpacked=0"]):
        result = run(*arguments, *wrong)
        assert (result.code, result.out) == (2, "")
        assert f"{wrong[0].partition('=')[0]} takes a size such as 500MB" in result.err
    assert run(*arguments).code == 0  # options hold for one run
