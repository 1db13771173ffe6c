"""`deltableu completion`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag
from deltableu.cli.output import note
from deltableu.io import atomic_write

Shell = Literal["bash", "zsh", "fish"]
#: An argument in the script of zsh that names nothing to complete it with.
_ARGUMENT = re.compile(r"^( +'(?:\*|\d+):(?:[^':\n]|\\:|'\\'')*)(' \\)$", re.MULTILINE)


@grouped
def completion(shell: Shell, *, install: Annotated[bool, Flag] = False) -> None:
    """Let the Tab key complete commands, options and files in a shell.

    deltableu completion bash --install, or
    deltableu completion bash > FILE

    Parameters
    ----------
    shell
        bash, zsh or fish.
    install
        Write the script to where the shell looks for it, in the home folder; else it is printed.
        No file of settings is changed: what a shell must still be told is said.
    """
    script = _script(shell)
    if not install:
        print(script, end="")
        return
    path = _place(shell)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(script)
    note(f"wrote {path}")
    note(_next_step(shell, path))


def _script(shell: Shell) -> str:
    from deltableu.cli.app import parser

    script = parser().generate_completion(prog_name="deltableu", shell=shell)
    # By itself it completes names of files only where a Path is asked for, and many arguments are
    # texts because they may be URLs, patterns or - as well.
    if shell == "zsh":
        return _ARGUMENT.sub(r"\1:_files\2", script)
    return script.replace("complete -F ", "complete -o bashdefault -o default -F ")


def _place(shell: Shell) -> Path:
    """Where the shell, or its package of completions, looks first among a user's own files."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "deltableu",
        # The name of the function in it: zsh would not call one of another name.
        "zsh": home / ".zsh" / "completions" / "_cyclopts_deltableu",
        "fish": config / "fish" / "completions" / "deltableu.fish",
    }[shell]


def _next_step(shell: Shell, path: Path) -> str:
    if shell == "bash":
        without = f"without it, add to ~/.bashrc: source {path}"
        return f"new shells with the package bash-completion find it; {without}"
    if shell == "zsh":
        line = f"fpath=({path.parent} $fpath); autoload -Uz compinit && compinit"
        return f"add to the end of ~/.zshrc: {line}"
    return "new shells find it"
