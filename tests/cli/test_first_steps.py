"""What newcomers do first, and the mistakes they make: each is answered with the way on."""

from __future__ import annotations

import json

import pytest

OUTPUTS = {
    "good": ["make a curry with rice", "try a crime novel", "yes please", "at seven"],
    "dull": ["i do not know", "i do not know", "no", "i do not know"],
}
MESSAGES = ["what shall i cook ?", "which book ?", "tea ?", "when does it leave ?"]
ANSWERS = ["make a curry", "take a crime novel", "yes , please", "it leaves at seven"]


@pytest.fixture
def study(tmp_path):
    """Four items with one reference each, and two systems."""
    folder = tmp_path / "study"
    (folder / "outputs").mkdir(parents=True)
    items = [
        {"id": f"{number}", "message": message, "references": [answer]}
        for number, (message, answer) in enumerate(zip(MESSAGES, ANSWERS, strict=True), start=1)
    ]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "items.jsonl").write_text(lines)
    for name, texts in OUTPUTS.items():
        (folder / "outputs" / f"{name}.txt").write_text("\n".join(texts) + "\n")
    return folder


@pytest.fixture
def logs(tmp_path):
    """A few logged pairs."""
    path = tmp_path / "log.tsv"
    rows = [f"{text}\tanswer {number} to it" for number, text in enumerate(MESSAGES * 3)]
    path.write_text("utterance\tresponse\n" + "\n".join(rows) + "\n")
    return path


def said(result):
    """One line of what went to standard error."""
    return " ".join(result.err.split())


@pytest.fixture
def mined(run, study, logs, tmp_path):
    """The study with mined references that nobody rated."""
    assert run("mine", study, "--logs", logs, "--top", 2, "-o", tmp_path / "mined").code == 0
    return tmp_path / "mined"


@pytest.mark.parametrize("command", ["score", "compare"])
def test_references_that_nobody_rated_are_not_silently_good_ones(run, mined, command):
    result = run(command, mined, "--metrics", "bleu-2,chrf")
    assert result.code == 0
    assert "bleu-2, chrf take every reference for a good one" in said(result)
    assert "8 mined (--select single leaves them out)" in said(result)
    assert "every reference" not in said(run(command, mined, "--select", "single"))
    assert "every reference" not in said(run(command, mined, "--metrics", "soft-chrf"))
