"""An item and a text in, the messages that ask a model about it out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deltableu.corpus import Item, Reference, Scale
from deltableu.errors import InputError, Problem
from deltableu.io import number_text
from deltableu.judges.llm.answers import AnswerForm
from deltableu.judges.llm.rubric import Rubric, filled

#: Who speaks, and what is said.
Message = tuple[str, str]

_TAGS = ("context", "message", "references", "reference", "response", "first", "second", "turn")
_TAG = re.compile(rf"<(/?\s*(?:{'|'.join(_TAGS)})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked, and what it is asked about.

    Attributes
    ----------
    messages : tuple of (str, str)
        Speaker and text.
    form : AnswerForm
        What the answer must look like.
    about : str
        Such as `item 'q1', system:A`, for people.
    repetition : int
        From 1 on: the same may be asked several times.
    """

    messages: tuple[Message, ...]
    form: AnswerForm
    about: str
    repetition: int = 1

    def key(self, model: str, sampling: Sequence[object]) -> str:
        """A name for all that the answer depends on; where the model is served is no part of it."""
        parts = [model, list(sampling), self.repetition, self.messages, repr(self.form)]
        text = json.dumps(parts, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def repaired(self, answer: str, problem: str) -> Question:
        """The same, after an answer that was none."""
        complaint = f"This cannot be used: {problem}. {self.form.described()}"
        messages = (*self.messages, ("assistant", answer or "(nothing)"), ("user", complaint))
        return Question(messages, self.form, self.about, self.repetition)


def ask_about(
    item: Item, texts: Sequence[str], rubric: Rubric, references: Sequence[Reference], about: str
) -> Question:
    """The question about one text, or about two that are compared.

    Parameters
    ----------
    item : Item
    texts : sequence of str
        One, or two in the order in which they are shown.
    rubric : Rubric
    references : sequence of Reference
        What is shown beside; may be empty.
    about : str
        What messages and the journal call it.
    """
    if not (item.message or item.context or references) and (
        rubric.uses("message") or rubric.uses("context")
    ):
        raise InputError(
            Problem(
                "has neither message nor context to judge by: show references, or write a rubric "
                "whose prompt has no place for them",
                item=item.id,
            )
        )
    ends = Scale.parse(rubric.scale)
    names = ("response",) if len(texts) == 1 else ("first", "second")
    values = {
        "low": number_text(ends.low),
        "high": number_text(ends.high),
        "answer": rubric.form.described(),
        "context": _block("context", *(_block("turn", turn) for turn in item.context), raw=True),
        "message": _block("message", item.message) if item.message else "",
        "references": _block(
            "references", *(_block("reference", one.text) for one in references), raw=True
        ),
        **{name: _block(name, text) for name, text in zip(names, texts, strict=True)},
    }
    prompt = rubric.prompt if rubric.uses("answer") else f"{rubric.prompt}\n\n{{answer}}"
    messages = (
        ("system", filled(rubric.instructions, values)),
        ("user", filled(prompt, values)),
    )
    return Question(messages, rubric.form, about)


def _block(tag: str, *texts: str, raw: bool = False) -> str:
    """Texts between tags, none of which they can end themselves; nothing where there are none."""
    if raw and not texts:
        return ""
    inner = "\n".join(text if raw else _TAG.sub(r"&lt;\1", text) for text in texts)
    return f"<{tag}>\n{inner}\n</{tag}>"
