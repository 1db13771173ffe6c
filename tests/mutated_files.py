"""Lines of JSON with odd values, and files that were damaged by chance."""

from __future__ import annotations

import json
import random

TEXTS = (
    *("yes", "No, never!", "naïve café", "你好", "😀 ok", 'say "hi"', "back\\slash", "tab\there"),
    *("line\nfeed", "", " ", "\u2028", "\u3000", "\u0085", "\x7f", "&quot;", "a" * 300, "/", "\r"),
)
NUMBERS = ("0", "-0", "-0.0", "1", "1.0", "0.1", "0.30000000000000004", "-1", "5e-1", "1E0", "01")
NUMBERS += ("1.", ".5", "+1", "1e999", "-", "9" * 45, "0." + "3" * 60, "1.0000000000000002", "2")
VALUES = ("null", "true", "[]", "{}", '""', '"x"', "NaN", "Infinity", '"\\ud800"', '"\\u0041"')
VALUES += ('"\\ud83d\\ude00"', '"\\x"', '["a", null]', '{"a": 1, "a": 2}', "-5", *NUMBERS)
PIECES = (b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\r", b"\t")
PIECES += (b" ", b"\\", b'"', b",", b":", b"{", b"}", b"[", b"]", b"\xc2\x85", b"\xe3\x80\x80")
PIECES += (
    b"\\u0000",
    b"\\ud800",
    b"1e5",
    b"-",
    b".",
    b"null",
    b"\xf4\x90\x80\x80",
    b"\xe0\x80\x80",
)


def a_text(rng: random.Random) -> str:
    return rng.choice(TEXTS) if rng.random() < 0.5 else f"a text of number {rng.randrange(99)}"


def shuffled(rng: random.Random, made: dict[str, object]) -> dict[str, object]:
    keys = list(made)
    if rng.random() < 0.2:
        rng.shuffle(keys)
    return {key: made[key] for key in keys}


def a_line(rng: random.Random, record: object) -> str:
    separators = rng.choice(((", ", ": "), (",", ":"), (" ,\t", " : ")))
    return json.dumps(record, ensure_ascii=rng.random() < 0.3, separators=separators)


def respelt(rng: random.Random, line: str) -> str:
    """A value that is another, or a field that is twice there or gone."""
    cuts = [place for place, sign in enumerate(line) if sign == ":"]
    if not cuts:
        return line
    begin = rng.choice(cuts) + 1
    end = min((at for sign in ",}]" if (at := line.find(sign, begin)) >= 0), default=len(line))
    kind = rng.random()
    if kind < 0.6:
        return f"{line[:begin]} {rng.choice(VALUES)}{line[end:]}"
    start = max(line.rfind(sign, 0, begin) for sign in ",{") + 1
    if kind < 0.8:
        return line[:start] + line[end + 1 :]
    return f"{line[:end]},{line[start:end]}{line[end:]}"


def mutated(rng: random.Random, data: bytes) -> bytes:
    """The same bytes, or with some changed."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(8)
        lines = data.split(b"\n")
        if kind == 0 and data:
            data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
        elif kind == 1:
            data = data[:place] + rng.choice(PIECES) + data[place:]
        elif kind == 2:
            data = data[:place] + data[place + rng.choice((1, 2, 30)) :]
        elif kind == 3:
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
            data = b"\n".join(lines)
        elif kind == 4:
            del lines[rng.randrange(len(lines))]
            data = b"\n".join(lines)
        elif kind == 5:
            data = rng.choice(
                (b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data + b"\n\n")
            )
        elif kind == 6:
            data = data.removesuffix(b"\n")
        else:
            data = data.replace(b" ", rng.choice((b"", b"  ", b"\t", b"\r", b"\xc2\xa0")))
    return data
