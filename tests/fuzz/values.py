"""Values that hurt: texts, numbers, JSON, and names of files."""

from __future__ import annotations

import random
import string
from typing import Any

_SAID = "where is my tea it on the table in kitchen who knows i do not know a cat sat"
WORDS = _SAID.split()

HOSTILE_TEXTS = (
    "",
    " ",
    "\t",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;owned\x07",
    "\x9b31m",
    "\x7f",
    "\x00",
    "a\x00b",
    "\r",
    "a\rb",
    "a\nb",
    "a\r\nb",
    "\u2028",
    "\x85",
    "\ufeff",
    "\u202eabc",
    "\u200b",
    "\ud800",
    "\udcff",
    "=1+1",
    "@SUM(A1)",
    "+1",
    "-1",
    "|a|b|",
    "\\input{evil}",
    "a & b % c $ d # e _ f ~ g ^ h \\",
    "bleu\n\\input{evil}",
    "x" * 5000,
    "x " * 3000,
    "e\u0301\u0301\u0301",
    "\U0001d518",
    "日本語",
    "مرحبا",
    "🙂👨\u200d👩\u200d👧",
    "<script>alert(1)</script>",
    "</script><b onmouseover=alert(1)>",
    "{{7*7}}",
    "{0.__class__}",
    "%s%n%x",
    "[bold]x[/bold]",
    "[/]",
    "[link=file:///]x[/link]",
    "nan",
    "inf",
    "null",
    "None",
    "true",
    "NaN",
    "٣",
    "１",
    "0x10",
    "1_000",
    "*",
    "?",
    "[",
    "[a",
    "{a,b}",
    "..",
    ".",
    "a" * 300,
    "C:\\x",
    "a:b",
    "a,b",
    ",",
    ",,",
    "a=b",
    "=",
    ":",
    '"',
    '"a',
    "'",
    "`id`",
    "$(id)",
    "\ufffe",
    "ﬁ",
    "ß",
    "İ",
)

NUMBER_TEXTS = (
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1.5",
    "-0.0",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e400",
    "-1e400",
    "1e-400",
    "1e5",
    "٣",
    "1_0",
    " 1",
    "0x1",
    "",
    "abc",
    "1,5",
    "+1",
    "1.",
    ".5",
    "--1",
    "9" * 5000,
)
HUGE_NUMBERS = ("99999999999", str(2**31), str(2**63), str(2**64), f"-{2**63}", "9" * 30, "1e18")

#: As they stand in a file: no JSON library would write most of them.
RAW_JSON = (
    "9" * 5000,
    "-" + "9" * 400,
    "1e400",
    "1" + "0" * 400 + ".5",
    "NaN",
    "Infinity",
    "-Infinity",
    "-0",
    "-0.0",
    "1E5",
    "01",
    "1.",
    "12345678901234567890",
    "9223372036854775808",
    "1e-400",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "0.5",
    "1.5",
    "2",
    "[]",
    "{}",
    "[[]]",
    '""',
    '{"":1}',
    '{"a":1,"a":2}',
    '{"id":"x","id":"y"}',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"\\u001b[31m"',
    '"\\u202e"',
    '"\\n"',
    '"\x01"',
    '"\\x"',
    "'x'",
    "undefined",
    "",
    "[1,]",
    "[" * 5000 + "]" * 5000,
    '{"a":' * 3000 + "1" + "}" * 3000,
    '"' + "y" * 20000 + '"',
    '["a","b"]',
    "[null]",
    '[{"id":"r","text":"x"}]',
    '"1e999"',
)


def texts(rng: random.Random, most: int = 8) -> str:
    """A few words, or one of a few sentences: texts overlap as references and answers do."""
    if rng.random() < 0.6:
        first = rng.randrange(len(WORDS) - 4)
        return " ".join(WORDS[first : first + rng.randint(4, most)])
    return " ".join(rng.choices([*WORDS, "unheard", "ünïcode", "茶", "?"], k=rng.randint(1, most)))


def hostile_text(rng: random.Random) -> str:
    if rng.random() < 0.15:
        return "".join(chr(rng.choice((rng.randrange(32), rng.randrange(0x110000)))) for _ in "abc")
    return rng.choice(HOSTILE_TEXTS)


def argument(text: str) -> str:
    """What the system can hand to a program: no NUL, and only surrogates that stand for a byte."""
    surrogates = ("\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" for c in text)
    kept = (c for c in text if c != "\0" and not "\ud800" <= c <= "\udfff")
    return "".join(kept) if any(surrogates) or "\0" in text else text


def file_stem(rng: random.Random) -> str:
    """A strange but legal name of a file."""
    if rng.random() < 0.2:
        return "".join(rng.choices(string.printable.replace("/", ""), k=rng.randint(1, 12))) + "x"
    return rng.choice(
        (
            "a b",
            " lead",
            "trail ",
            "-dash",
            "--help",
            "naïve",
            "日本",
            "new\nline",
            "\x1b[31mred",
            "\udcff\udcfe",
            "[glob]",
            "star*",
            "q?",
            "x" * 200,
            "a@1",
            "a,b",
            "a:b",
            "=cmd",
            "@x",
            "'q'",
            '"q"',
            "$HOME",
            "~",
            "%41",
            "#x",
            "a&b",
            "<b>",
            "tab\tx",
            "a.b.c",
            "con",
            "\u202eabc",
            "e\u0301",
        )
    )


def hostile_value(rng: random.Random) -> Any:
    """What stands in a record where something else should."""
    return rng.choice(
        (
            lambda: hostile_text(rng),
            lambda: rng.choice((None, True, False, [], {}, [[]], [None], {"a": {"b": []}})),
            lambda: rng.choice((0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**30)),
            lambda: rng.choice((0.0, -0.0, 0.5, 1.5, -1.0, 1e308, 5e-324, float("nan"))),
            lambda: rng.choice((float("inf"), float("-inf"))),
            lambda: [hostile_text(rng) for _ in range(3)],
            lambda: {hostile_text(rng): hostile_text(rng)},
        )
    )()
