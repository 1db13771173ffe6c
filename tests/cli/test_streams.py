"""What reaches terminals and streams, and how a command ends that cannot write or is stopped."""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from deltableu.cli import app, streams
from deltableu.cli.progress import ProgressBar
from deltableu.io import Table

SCRIPT = str(Path(sys.executable).parent / "deltableu")
#: What a terminal would obey: all control characters but tab and line feed, and reordering.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
EVIL = "\x1b]0;owned\x07\x9b31m\x7f\r\u202etxt[][red]"
BLEU = ["--metrics", "bleu", "--order", "1"]


@pytest.fixture
def evil(study, make_item):
    """A study whose names, ids and texts hold what terminals obey."""
    items = [
        make_item(f"{EVIL}\n{n}", (f"a cat {EVIL} sat", 1.0), (f"{EVIL} dog", 0.5), message=EVIL)
        for n in range(3)
    ]
    study.items(*items)
    for name in ("sys", "other"):
        (study.path / "outputs" / f"{name}.jsonl").unlink()
    for name, text in ((f"=1{EVIL}", f"a cat {EVIL}"), (f"b{EVIL}\nb", "a cat sat")):
        study.outputs(name, [(item["id"], text) for item in items])
    return study


def texts(record):
    for one in record.values() if isinstance(record, dict) else record:
        yield from texts(one) if isinstance(one, dict | list) else [str(one)]


@pytest.mark.parametrize("format", ["table", "tsv", "markdown", "latex", "json"])
@pytest.mark.parametrize("command", ["score", "compare"])
def test_no_format_lets_a_name_command_the_terminal(command, format, run, evil):
    result = run(command, evil.path, *BLEU, "--format", format)
    assert result.code == 0
    assert OBEYED.search(result.out + result.err) is None
    assert "owned" in result.out
    if format == "json":
        assert any(EVIL in text for text in texts(result.json))


def test_explanations_and_complaints_command_no_terminal(run, evil):
    name = f"=1{EVIL}"
    shown = run("explain", evil.path, "--system", name)
    assert shown.code == 0
    assert r"\x1b]0;owned" in shown.out
    evil.file(f"outputs/more{EVIL}.jsonl", '{"id": "nobody\x7f"}\n')
    checked = run("check", evil.path)
    refused = [run("score", evil.path), run("score", f"no{EVIL}"), run(f"no{EVIL}")]
    refused += [run("score", evil.path, f"--o{EVIL}"), run("explain", evil.path, "--system", EVIL)]
    assert {one.code for one in (checked, *refused)} == {2}
    assert "owned" in checked.out
    assert all(one.err.count("\n") == 1 for one in refused)
    for one in (shown, checked, *refused):
        assert OBEYED.search(one.out + one.err) is None


def test_pages_hold_no_control_characters(run, evil):
    for arguments in (["report", evil.path], ["explain", evil.path, "--system", f"=1{EVIL}"]):
        page = run(*arguments, "-o", "-").out
        assert "owned" in page
        # What reorders text is kept: a page confines it to its element.
        assert set(OBEYED.findall(page)) <= {"\u202e", "\u2068", "\u2069"}


def test_names_in_progress_are_no_markup(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    times = iter(range(100))
    bar = ProgressBar(clock=lambda: next(times))
    bar.visible = True
    with bar:
        bar("[/] [red]\x1b[31m {x}", 1, 2, "[/said]")
    err = capsys.readouterr().err
    assert r"[/] [red]\x1b[31m {x}" in err
    assert "[/said]" in err
    assert "\x1b[31m" not in err


OUTPUTS = {
    "score": ["score", "STUDY", *BLEU],
    "scores as JSON": ["score", "STUDY", *BLEU, "--format", "json"],
    "compare": ["compare", "STUDY", *BLEU, "--trials", "10"],
    "metrics of ratings": ["validate", "STUDY", *BLEU, "--levels", "pooled", "--resamples", "20"],
}


@pytest.mark.parametrize("arguments", OUTPUTS.values(), ids=OUTPUTS)
def test_a_dash_is_standard_output(arguments, run, study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{rater},q{item},system:{name},{(item * rater + (name == 'sys')) % 5}\n"
        for rater in (1, 2, 3)
        for item in (1, 2, 3)
        for name in ("sys", "other")
    ]
    study.file("ratings.csv", "rater,item,target,value\n" + "".join(rows))
    arguments = [study.path if one == "STUDY" else one for one in arguments]
    wanted = run(*arguments)
    assert (wanted.code, bool(wanted.out)) == (0, True)
    for option in (["-o", "-"], ["--output=-"]):
        assert run(*arguments, *option) == wanted
    assert os.listdir(tmp_path) == [study.path.name]


@pytest.mark.parametrize("command", [["report"], ["explain", "--system", "sys"]], ids=str)
def test_pages_go_to_standard_output(command, run, study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *options = command
    result = run(first, study.path, *options, "-o", "-")
    assert (result.code, result.err) == (0, "")
    run(first, study.path, *options, "-o", "page.html")
    assert result.out == Path("page.html").read_text()
    assert sorted(os.listdir(tmp_path)) == ["page.html", study.path.name]


def test_pairs_go_to_standard_output_and_their_summary_beside_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("turns.tsv").write_text("dialog\tturn\tspeaker\ttext\nd\t1\ta\thi\nd\t2\tb\tho\n")
    run("logs", "pairs", "turns.tsv", "-o", "pairs.tsv")
    result = run("logs", "pairs", "turns.tsv", "-o", "-")
    assert result.out == Path("pairs.tsv").read_text()
    assert "pairs" in result.err
    assert sorted(os.listdir(tmp_path)) == ["pairs.tsv", "turns.tsv"]


@pytest.mark.parametrize(
    "command",
    [
        ["mine", "STUDY", "--logs", "turns.tsv"],
        ["judge", "apply", "STUDY", "--judge", "nobody"],
        ["logs", "pairs", "turns.tsv", "--split", "a:0.5,b:0.5"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_folder_is_not_written_to_standard_output(command, run, study, refusal, tmp_path):
    path = tmp_path / "turns.tsv"
    path.write_text("utterance\tresponse\ndialog\tturn\n")
    names = {"STUDY": study.path, "turns.tsv": path}
    result = run(*(names.get(one, one) for one in command), "-o", "-")
    refusal(result)
    assert "is standard output, but" in result.err


SENTENCE = r"deltableu: standard output: cannot be written: [A-Z][a-z ]+\n"
ENDINGS = {
    "deltableu --help >&-": (2, SENTENCE),
    "deltableu --help > /dev/full": (2, SENTENCE),
    "deltableu score --help > /dev/full": (2, SENTENCE),
    "deltableu metrics --format json > /dev/full": (2, SENTENCE),
    "deltableu --help | true": (128 + signal.SIGPIPE, ""),
    "deltableu score --help | true": (128 + signal.SIGPIPE, ""),
    "deltableu --help 2>&- | cat": (0, ""),
    "deltableu --help >&- 2>&-": (2, ""),
    "deltableu nothing 2>/dev/full": (2, ""),
    "deltableu score --refs r0.txt -- - <&-": (2, r"deltableu: standard input is closed.*\n"),
}


def test_streams_that_are_closed_full_or_not_read(plain):
    """No traceback, nothing said while the interpreter ends, and what shells expect."""
    running = {
        line: subprocess.Popen(
            ["bash", "-c", f"set -o pipefail; {line.replace('deltableu', shlex.quote(SCRIPT))}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in ENDINGS
    }
    for line, process in running.items():
        code, sentence = ENDINGS[line]
        _, err = process.communicate(timeout=60)
        assert (line, process.returncode) == (line, code)
        assert re.fullmatch(sentence, err), (line, err)


WIDTHS = {"0": None, "1": "20", "2": "20", "80": "80", "-5": None, "abc": None, "²": None}
WIDTHS |= {"1000000": "1000", "9" * 5000: None}


@pytest.mark.parametrize(("given", "believed"), WIDTHS.items(), ids=lambda text: str(text)[:9])
def test_no_absurd_width_is_believed(given, believed, monkeypatch):
    monkeypatch.setenv("COLUMNS", given)
    monkeypatch.setattr(os, "isatty", lambda _: False)
    streams._bound_size()
    assert os.environ.get("COLUMNS") == believed


LONG = [pytest.param(width, marks=pytest.mark.long, id=width[:9]) for width in WIDTHS]


@pytest.mark.parametrize("columns", ["1", *LONG])
def test_a_terminal_of_any_width(columns, study):
    """At a width of 1, tables once took forever."""
    master, terminal = pty.openpty()
    command = [SCRIPT, "score", study.path, *BLEU, "--segments"]
    variables = os.environ | {"COLUMNS": columns, "LINES": columns, "TERM": "xterm"}
    with subprocess.Popen(command, stdout=terminal, stderr=terminal, env=variables) as process:
        os.close(terminal)
        shown = b""
        # How Linux says that the other end is closed.
        with suppress(OSError):
            while piece := os.read(master, 1 << 16):
                shown += piece
        os.close(master)
    assert process.returncode == 0
    assert b"Traceback" not in shown
    assert b"q1" in shown
    assert len(shown) < 100_000


def test_tables_of_no_width_are_drawn():
    assert "x" in Table(["a", "b", "c", "d"], [["x", 1, 2, "y"]]).to_terminal(1)


HANG = """
import signal, sys, time
from deltableu.cli import app
from deltableu.io import atomic_write

class Swallows:
    def __del__(self):
        say("ready")
        time.sleep(30)

def say(text):
    print(text, flush=True)

def hang(arguments):
    with atomic_write("result") as file:
        try:
            file.write("half")
            file.flush()
            if "destructor" in arguments:
                Swallows()
            say("ready")
            time.sleep(30)
        finally:
            print("cleaning", file=sys.stderr)
            time.sleep(0.5)
            print("cleaned", file=sys.stderr)

app._run = hang
app.main()
"""


@contextmanager
def hanging(folder, *arguments, ignored=()):
    """A command that is in the middle of writing a file."""

    def ignore():
        # Tests may run under nohup, whose children ignore it.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    with subprocess.Popen(
        [sys.executable, "-c", HANG, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ignore,
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_a_command_with_one_sentence_and_leave_nothing(number, tmp_path):
    with hanging(tmp_path) as process:
        process.send_signal(number)
        assert process.stderr.readline() == "cleaning\n"
        # Neither of these breaks off the cleaning up.
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (-number, "")
    assert err == f"cleaned\ndeltableu: stopped by {number.name}\n"
    assert os.listdir(tmp_path) == []


def test_a_signal_in_a_destructor_is_not_lost(tmp_path):
    with hanging(tmp_path, "destructor") as process:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert err == "cleaning\ncleaned\ndeltableu: stopped by SIGTERM\n"
    assert os.listdir(tmp_path) == []


def test_what_the_parent_ignores_stays_ignored(tmp_path):
    """As `nohup` asks for."""
    with hanging(tmp_path, ignored=[signal.SIGHUP]) as process:
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.2)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=20)[1].endswith("stopped by SIGTERM\n")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "not enough memory: take less at once"),
        (MemoryError("Unable to allocate 8 EiB"), "not enough memory (Unable to allocate 8 EiB)"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (OSError(5, "Input/output error", f"a{EVIL}"), "Input/output error"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_no_command_can_help_is_one_sentence(error, sentence, run, refusal, monkeypatch):
    def fails(_):
        raise error

    monkeypatch.setattr(app, "_run", fails)
    result = run("score")
    refusal(result)
    assert sentence in result.err
    assert OBEYED.search(result.err) is None


def test_a_mistake_of_ours_is_not_hidden(run, monkeypatch):
    def fails(_):
        raise KeyError("oops")

    monkeypatch.setattr(app, "_run", fails)
    with pytest.raises(KeyError):
        run("score")
