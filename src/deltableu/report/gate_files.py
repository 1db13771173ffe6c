"""A gate for other programs: JUnit's XML, and the Markdown of a step's summary."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from deltableu._visible import visible
from deltableu.compare import Gate, GateCheck

#: What XML 1.0 cannot hold, however it is escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What Markdown, or HTML in it, would obey; and what would mention people or link to issues.
_OBEYED = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&@:])")


def junit_xml(gate: Gate) -> str:
    """A test case for each system and metric, as JUnit and its readers write them.

    Examples
    --------
    >>> from deltableu.compare import gate_systems
    >>> scores = {"v1": [3, 4, 6, 5, 7, 6, 5, 4], "v2": [2, 3, 5, 3, 6, 4, 4, 3]}
    >>> print(junit_xml(gate_systems(scores, baseline="v1")).splitlines()[1])
    <testsuites name="deltableu gate" tests="1" failures="1" errors="0">
    """
    failures = sum(not check.passed for check in gate.checks)
    counts = f'tests="{len(gate.checks)}" failures="{failures}" errors="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="deltableu gate" {counts}>',
        f'  <testsuite name="deltableu gate" {counts} skipped="0" time="0">',
    ]
    for check in gate.checks:
        name = f"{check.metric} {gate.mode} {gate.baseline}"
        about = f"classname={_attribute(check.system)} name={_attribute(name)}"
        reason = _text(gate.reason(check))
        told = f"<system-out>{escape(reason)}</system-out>"
        if not check.passed:
            told = f'<failure message={_attribute(reason)} type="gate">{escape(reason)}</failure>'
        lines += [f'    <testcase {about} time="0">', f"      {told}", "    </testcase>"]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def gate_summary(gate: Gate) -> str:
    """Markdown: the verdict, what the sample could show, and a table."""
    mark = "passed" if gate.passed else "failed"
    heading = f"### deltableu gate {mark}"
    told = [f"- {_markdown(sentence)}" for sentence in gate.sentences()]
    rows = [
        "| system | metric | score | baseline | better by | at least | at most | gate |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
        *(_row(check) for check in gate.checks),
    ]
    return "\n".join([heading, "", *told, "", *rows, "", ""])


def _row(check: GateCheck) -> str:
    numbers = (check.score, check.baseline_score, check.gain, check.low, check.high)
    cells = [
        _markdown(check.system),
        _markdown(check.metric),
        *(f"{number:.2f}" for number in numbers),
        "pass" if check.passed else "**fail**",
    ]
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    return _OBEYED.sub(lambda found: f"&#{ord(found[0])};", visible(text))


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", visible(text))


def _attribute(text: str) -> str:
    return quoteattr(_text(text))
