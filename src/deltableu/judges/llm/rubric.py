"""A rubric's file in; what a model is told, and what it may answer, out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from deltableu.corpus import Scale
from deltableu.errors import InputError, Problem, check_choice, hint_at
from deltableu.io import PathLike, file_form, fingerprint, read_lines, read_toml, shown
from deltableu.judges.llm.answers import AnswerForm

What: TypeAlias = Literal["references", "outputs", "pairs"]

#: What a template may hold, by what is rated; the texts that are judged must be in it.
_ANYWHERE = ("low", "high", "answer")
_AROUND = ("context", "message", "references")
_JUDGED: Mapping[str, tuple[str, ...]] = {
    "references": ("response",),
    "outputs": ("response",),
    "pairs": ("first", "second"),
}
_TEXTS = ("criterion", "scale", "instructions", "prompt")
_FLAGS = ("whole", "reason", "ties")
_HERE = Path(__file__).parent
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Rubric:
    """How texts are judged.

    Attributes
    ----------
    what : {"references", "outputs", "pairs"}
    criterion : str
        What ratings call it.
    scale : str
        `LOW-HIGH`; of pairs always `0-1`.
    whole, reason, ties : bool
        Whether ratings are whole numbers, whether a sentence of reasons comes before, and whether
        a comparison may end in a tie.
    instructions, prompt : str
        Templates of the two messages that a model gets: as the system, and as the user.
    """

    what: What
    criterion: str
    scale: str
    instructions: str
    prompt: str
    whole: bool = True
    reason: bool = True
    ties: bool = True

    @property
    def form(self) -> AnswerForm:
        """What an answer must look like."""
        return AnswerForm(self.scale, self.whole, self.what == "pairs", self.ties, self.reason)

    @property
    def fingerprint(self) -> str:
        """A short name for all of it."""
        parts = (self.what, self.criterion, self.instructions, self.prompt)
        return fingerprint((*parts, repr(self.form)))[:8]

    def uses(self, name: str) -> bool:
        """Whether a place such as `references` is in the prompt."""
        return name in _PLACE.findall(self.prompt)


def default_rubric(what: What) -> Rubric:
    """The rubric that comes with the package.

    Examples
    --------
    >>> rubric = default_rubric("outputs")
    >>> rubric.criterion, rubric.scale, rubric.uses("references")
    ('overall', '1-5', True)
    """
    check_choice("what", what, get_args(What))
    path = _HERE / f"{what}.toml"
    return _made(what, read_toml(path), str(path), None)


def read_rubric(path: PathLike, what: What) -> Rubric:
    """A rubric of one's own.

    Parameters
    ----------
    path
        TOML with some of `criterion`, `scale`, `whole`, `reason`, `ties`, `instructions` and
        `prompt`; or a text file (.txt, .md) that holds the instructions. What is not said is as in
        the package's rubric.
    what
        What is rated with it.
    """
    base, name = default_rubric(what), str(path)
    if file_form(path) in ("txt", "md"):
        text = "\n".join(line for _, line in read_lines(path))
        return _made(what, {"instructions": text}, name, base)
    if file_form(path) != "toml":
        raise InputError(Problem("a rubric's name ends in .toml, .txt or .md", file=name))
    return _made(what, read_toml(Path(path)), name, base)


def _made(what: What, values: Mapping[str, object], file: str, base: Rubric | None) -> Rubric:
    def wrong(field: str, message: str) -> InputError:
        return InputError(Problem(message, file=file, field=field))

    given: dict[str, Any] = {}
    known = (*_TEXTS, *_FLAGS)
    for field, value in values.items():
        if field not in known:
            message = f"is no field of a rubric; they are {', '.join(known)}"
            raise wrong(field, message + hint_at(field, known))
        if field in _FLAGS and not isinstance(value, bool):
            raise wrong(field, f"must be true or false, got {shown(value)}")
        if field in _TEXTS and (not isinstance(value, str) or not value.strip()):
            raise wrong(field, f"must be a text, got {shown(value)}")
        given[field] = value
    if what == "pairs":
        for field in ("scale", "whole"):
            if field in given:
                raise wrong(field, "is of no use in a comparison, which names the better response")
        given["scale"] = "0-1"
    elif "ties" in given:
        raise wrong("ties", "is of no use where one text is rated at a time")
    rubric = Rubric(what, **given) if base is None else replace(base, **given)
    _check(rubric, wrong)
    return rubric


def _check(rubric: Rubric, wrong: Any) -> None:
    try:
        ends = Scale.parse(rubric.scale)
    except InputError as error:
        raise wrong("scale", error.problem.message) from None
    if rubric.whole and not (ends.low.is_integer() and ends.high.is_integer()):
        raise wrong("scale", f"has ends that are not whole, got {rubric.scale}: add whole = false")
    judged = _JUDGED[rubric.what]
    allowed = {"prompt": (*_AROUND, *judged, *_ANYWHERE), "instructions": _ANYWHERE}
    for field, names in allowed.items():
        for place in _PLACE.findall(getattr(rubric, field)):
            if place not in names:
                there = ", ".join(f"{{{name}}}" for name in names)
                raise wrong(field, f"holds {{{place}}}, but what is filled in here is {there}")
    for name in judged:
        if not rubric.uses(name):
            raise wrong("prompt", f"must hold {{{name}}}, where the text to judge is put")


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its places filled in, once: what a text holds is never filled in.

    Examples
    --------
    >>> filled("{message}\\n\\n{response}", {"message": "", "response": "{message}"})
    '{message}'
    """
    nothing = {name for name, value in values.items() if not value}
    # What is left out leaves no gap; what is filled in stays as it is.
    kept = re.sub(
        r"\{([a-z_]+)\}\n*", lambda found: "" if found[1] in nothing else found[0], template
    )
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), kept.strip())
