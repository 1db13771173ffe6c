"""The command of a program in, its words and the files among them out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from deltableu.experiment.section import Section
from deltableu.experiment.stage import Given, Named, Words
from deltableu.io import shown

#: Programs whose first argument is a script, unless an option stands there.
_INTERPRETER = re.compile(r"(python|pypy|perl|ruby|node|Rscript|bash|dash|sh|zsh)[0-9.]*(\.exe)?")


def program_command(section: Section) -> Words | None:
    """The program of a section and its arguments, those that are files by where they are.

    Files are found from the configuration's folder, and belong to what the stage depends on; a
    program that is found by its name alone does not.
    """
    given = section.peek("command")
    if given is None:
        return None
    section.only(("command",))
    try:
        words = shlex.split(given) if isinstance(given, str) else given
    except ValueError as error:
        raise section.wrong("command", f"cannot be read: {error}") from None
    if not isinstance(words, list) or not all(isinstance(one, str) for one in words):
        raise section.wrong("command", f"must be a text, or a list of texts, got {shown(given)}")
    if not words or not words[0]:
        raise section.wrong("command", "names no program")
    for word in words:
        if "\0" in word:
            raise section.wrong("command", "holds a zero character, which no argument can")
    return Words((_program(section, words[0]), *_arguments(section, words)))


def _program(section: Section, word: str) -> str | Given:
    if _is_file(section.folder / word):
        if not os.access(section.folder / word, os.X_OK):
            message = f"{word} is not executable: name what runs it, such as python3 {word}"
            raise section.wrong("command", message)
        return section.file_at(word)
    if _is_path(word) or shutil.which(word) is None:
        where = f"in {section.folder}" + ("" if _is_path(word) else ", or among installed ones")
        raise section.wrong("command", f"there is no program {word} {where}")
    return word


def _arguments(section: Section, words: Sequence[str]) -> Iterator[str | Given | Named]:
    script = _INTERPRETER.fullmatch(os.path.basename(words[0]))
    for number, word in enumerate(words[1:]):
        option, equals, value = word.partition("=")
        if _is_input(section.folder, word):
            yield section.file_at(word)
        elif option.startswith("-") and equals and _is_input(section.folder, value):
            yield Named(option, section.file_at(value))
        elif script and number == 0 and not word.startswith("-"):
            raise section.wrong("command", f"there is no file {word} in {section.folder}")
        else:
            yield word


def _is_path(word: str) -> bool:
    return os.sep in word or (os.altsep is not None and os.altsep in word)


def _is_input(folder: Path, word: str) -> bool:
    """Whether a word is a file; or a folder, if it is written as a path."""
    place = folder / word
    if _is_file(place):
        return True
    # What holds the configuration holds the results too, which are no input.
    own = folder.resolve()
    return _is_path(word) and os.path.isdir(place) and place.resolve() not in (own, *own.parents)


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError:  # no file has a name this long
        return False
