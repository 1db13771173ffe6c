"""Texts of users as they may be shown: what a terminal would obey is spelt out."""

from __future__ import annotations

import re

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_DIRECTIONS = r"\u202a-\u202e\u2066-\u2069"
#: Control characters, line ends of Unicode, lone surrogates and what reorders a line; tab and line
#: feed are not among them.
UNSEEN = re.compile(f"[{_CONTROLS}{_DIRECTIONS}]")
_CONTROL = re.compile(f"[{_CONTROLS}]")
#: Columns of a terminal below which tables cannot be drawn.
NARROWEST = 20
_LINE_END = re.compile("\r?\n")


def visible(text: str, *, directions: bool = False) -> str:
    r"""A text on one line, without anything that a terminal or a page would obey.

    Parameters
    ----------
    text : str
    directions : bool
        Keep overrides and isolates of right-to-left text, which HTML confines to their element.

    Examples
    --------
    >>> print(visible("two\nlines, \x1b[31mred, \u202edesrever"))
    two lines, \x1b[31mred, \u202edesrever
    """
    if text.isascii() and text.isprintable():
        return text
    unseen = _CONTROL if directions else UNSEEN
    return unseen.sub(_spelt, _LINE_END.sub(" ", text))


def shortened(text: str, most: int = 2_000) -> str:
    """A text without its middle, if it is too long: place and reason stand at its ends.

    Examples
    --------
    >>> shortened("items.jsonl: there is no item yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy here", 30)
    'items.jsonl: there i [...] yyyyy here'
    """
    if len(text) <= most:
        return text
    return f"{text[: 2 * most // 3]} [...] {text[-most // 3 :]}"


def _spelt(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
