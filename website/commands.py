"""The reference of the command line, a page per command, from what `--help` is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deltableu.cli.app import COMMANDS, parser

_COMMAND = re.compile(r"^## deltableu (\S+)$", re.MULTILINE)
#: `* `--name`: what it does *[default: 1]*`, of which what it does is not Markdown.
_OPTION = re.compile(
    r"^\* (`[^`]*`): (.*?)((?: \*\*\[required\]\*\*| \*\[[^\n]*\]\*)*)$", re.DOTALL
)
_USAGE = re.compile(r"^(deltableu .*?)(, or|\.)$", re.MULTILINE)
_SETTING = re.compile(r"\*+\[(required|choices|default)(?:: ([^\n]*?))?\]\*+")
_LIKE_MARKDOWN = str.maketrans({**{sign: f"\\{sign}" for sign in "*_[]>"}, "<": "&lt;"})


def command_pages() -> Iterator[tuple[str, str]]:
    """Each command, and its page in Markdown."""
    whole = parser().generate_docs(output_format="markdown", recursive=True)
    _, *parts = _COMMAND.split(whole)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        raised = re.sub(r"^##(#+ )", r"#\1", text, flags=re.MULTILINE)
        yield name, f"# deltableu {name}\n\n{_readable(raised).strip()}\n"


def command_index() -> str:
    """The page that lists the commands."""
    rows = "\n".join(f"| [`{name}`]({name}.md) | {text} |" for name, text in COMMANDS.items())
    return (
        "# The command line\n\n"
        "These pages are written from what `deltableu COMMAND --help` is made of. Every command\n"
        "also takes `--max-line` and `--max-unpacked`: how long a line, and how large an unpacked\n"
        "file may be. A user's mistake is one sentence on standard error and exit code 2.\n\n"
        f"| command | what it does |\n|---|---|\n{rows}\n"
    )


def _readable(text: str) -> str:
    """Words of options and descriptions as words, and what is to be typed as code."""
    blocks = re.split(r"\n(?=\* `|\n|#)", text.replace("```console", "```text"))
    return "\n".join(_readable_block(block) for block in blocks)


def _readable_block(block: str) -> str:
    option = _OPTION.match(block)
    if option:
        return _plain(option)
    if "```" in block or block.startswith("* "):
        return block
    # How a command is called stands in its description, a line each.
    return _USAGE.sub(r"`\1`\2  ", block)


def _plain(option: re.Match[str]) -> str:
    name, what, settings = option.groups()
    parts = re.split(r"(`[^`]*`)", what)
    parts[::2] = [part.translate(_LIKE_MARKDOWN) for part in parts[::2]]
    said = "; ".join(filter(None, map(_setting, _SETTING.finditer(settings))))
    return f"* {name}: {''.join(parts)}{said and f' *({said})*'}"


def _setting(found: re.Match[str]) -> str:
    """`required`, the choices, or the default, with values as code; nothing of a plain flag."""
    kind, value = found.groups()
    if kind == "choices":
        return "one of " + ", ".join(f"`{one}`" for one in value.split(", "))
    if value == "False":
        return ""
    return f"{kind} `{value}`" if value else str(kind)
