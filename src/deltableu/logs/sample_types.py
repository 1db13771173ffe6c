"""What test items are sampled by, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from deltableu.errors import InputError, Problem
from deltableu.io import Table, Tabular, fact_table
from deltableu.logs.types import ReadLogs

Kind = Literal["upsilon", "triples", "answers"]

#: What is looked at one by one to draw items of each kind.
NOUNS: Mapping[Kind, str] = {"upsilon": "dialogue", "triples": "triple", "answers": "utterance"}


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Which test items to take.

    Parameters
    ----------
    kind : {"upsilon", "triples", "answers"}
        `upsilon`: the first utterance of a dialogue with two replies or more; one of them is the
        original reference, another one what the system `human` says (Tsuta et al. 2020, section
        5.2). `triples`: context, message and response, which is the original reference (Galley et
        al. 2015, section 4.1). `answers`: an utterance that occurs in two dialogues or more with
        replies that differ (`deltableu.text.text_keys` of both), one of which is the original
        reference, and one from another dialogue what the system `human` says; what upsilon items
        are for logs in which an utterance has one reply.
    items : int
        How many; 100 in the first paper, about 33,000 candidates to be rated in the second.
    seed : int
        Another one draws other items.
    min_words, max_words : int
        The fewest and the most words of message and response.
    min_bigram_count : int
        Only triples of which message or response has two words in a row that responses of the logs
        have at least so often; 4 in Sordoni et al. (2015), which delta-BLEU follows.
    """

    kind: Kind
    items: int = 100
    seed: int = 0
    min_words: int = 1
    max_words: int | None = None
    min_bigram_count: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            message = f"must be upsilon, triples or answers, got {self.kind!r}"
            raise InputError(Problem(message, field="kind"))
        for name, least in (("items", 1), ("seed", 0), ("min_words", 0), ("min_bigram_count", 0)):
            if getattr(self, name) < least:
                message = f"must be {least} or more, got {getattr(self, name)}"
                raise InputError(Problem(message, field=name))
        if self.max_words is not None and self.max_words < max(self.min_words, 1):
            message = f"must be at least min_words, got {self.max_words}"
            raise InputError(Problem(message, field="max_words"))
        if self.kind != "triples" and self.min_bigram_count:
            raise InputError(Problem("is of triples", field="min_bigram_count"))


#: Why a dialogue, a triple or an utterance makes no item.
REASONS = {
    "one_dialogue": "in one dialogue only",
    "few_replies": "fewer than two replies to the first utterance",
    "known_thread": "in a thread of the excluded logs",
    "known_pair": "the same pair in training data",
    "length": "too few or too many words",
    "same_reply": "replies that say the same",
    "rare_words": "no frequent bigram",
}


@dataclass(frozen=True, slots=True)
class SampledItems(ReadLogs, Tabular):
    """What was sampled of logs.

    Attributes
    ----------
    kind : {"upsilon", "triples", "answers"}
    period : str
        Empty where all of the logs were sampled from.
    candidates : int
        Dialogues of the period, triples, or different utterances.
    training_pairs : int
        Pairs that no item may have.
    dropped : mapping
        Candidates that make no item, by the reason.
    fit : int
        Candidates that do.
    items : int
        Those that were drawn.
    wanted : int
        As many as were asked for.
    """

    kind: Kind
    period: str
    candidates: int
    training_pairs: int
    dropped: Mapping[str, int]
    fit: int
    items: int
    wanted: int

    def table(self) -> Table:
        """What was drawn from what."""
        noun = f"{NOUNS[self.kind]}s"
        of = f" of {self.period}" if self.period else ""
        facts = {"items sampled": self.items, f"{noun}{of}": self.candidates}
        for name, number in self.dropped.items():
            facts[f"{noun} left out: {REASONS[name]}"] = number
        facts[f"{noun} that fit"] = self.fit
        facts["of them not drawn"] = self.fit - self.items
        facts["pairs of training data"] = self.training_pairs
        return fact_table(("sampled", "number"), facts)

    def read_table(self) -> Table:
        """Posts that were read and left out."""
        return fact_table(("read", "number"), self.read_facts())
