"""What is the same text: mining, checking and logs agree on it."""

from __future__ import annotations

import pytest

from deltableu.corpus import Item, Reference, Study, check_study, write_study
from deltableu.judges.log_pairs import read_training_pairs
from deltableu.logs import PairRules, find_partitions, parse_split, write_pairs
from deltableu.mine import BM25, MiningPlan, mine_references
from deltableu.mine.additions import Addition, add_references
from deltableu.neural.word_vocabulary import word_vocabulary
from deltableu.text import same_text
from tests.text.collisions import COLLIDING_WORDS

#: Before there was one rule, three of them disagreed on the first three.
PAIRS = [
    ("it's fine", "it s fine", True),
    ("a_b", "a b", True),
    ("你好 吗", "你好吗", True),
    ("It isn't.", "it is n't", True),
    ("Oh,  REALLY?", "oh really", True),
    ("ÉCOLE", "école", True),
    ("fine 😀", "fine", False),
    ("it is fine", "it was fine", False),
    ("ok 1", "ok 2", False),
    ("か", "が", False),
    (*COLLIDING_WORDS, False),
]


def mined(reference: str, response: str) -> bool:
    """Whether a logged response becomes a reference beside another one."""
    item = Item("1", (Reference("a", reference),), message="how are you")
    found = mine_references([item], [("how are you", response)], plan=PLAN)
    return len(found.study.items[0].references) > 1


PLAN = MiningPlan(BM25("utterance"))


def leaked(reference: str, response: str) -> bool:
    item = Item("1", (Reference("a", "so and so"), Reference("b", reference)), message="and you")
    return bool(mine_references([item], [("And you?", response)], plan=PLAN).leaks)


def is_echo(one: str, other: str) -> bool:
    item = Item("1", (Reference("a", "x"),), message=one)
    return "an echo of its utterance" in mine_references([item], [(one, other)], plan=PLAN).left_out


def checked(folder, reference: str, output: str) -> tuple[bool, bool, bool]:
    """Whether an output equals a reference, a reference the message, and an item another one."""
    items = (
        Item("1", (Reference("a", reference),), message="so"),
        Item("2", (Reference("a", output, origin="mined"),), message=reference),
        Item("3", (Reference("a", "yes"),), message=output),
    )
    write_study(Study(items, {"system": (output, "no", "no")}), folder, replace=True)
    found = [problem.message for problem in check_study(folder).problems]
    signs = ("outputs equal a reference", "repeats the message", "context and message are those")
    return tuple(any(sign in one for one in found) for sign in signs)


def overlaps(folder, one: str, other: str) -> bool:
    """Whether a pair of two periods is the same."""
    folder.mkdir()
    rows = [
        f"{period}{turn}\t{user}\t{time}\t{reply}\t{text}"
        for period, time, text in (("a", "2017-05-01", one), ("b", "2018-05-01", other))
        for turn, user, reply, text in ((1, "x", "", "hello"), (2, "y", f"{period}1", text))
    ]
    log = folder / "posts.tsv"
    log.write_text("\n".join(["id\tuser\ttime\treply_to\ttext", *rows]))
    split = parse_split("early=2017,late=2018")
    return (
        write_pairs([log], folder / "pairs", split=split, rules=PairRules(min_posts=2)).overlap > 0
    )


@pytest.mark.parametrize(("one", "other", "same"), PAIRS)
def test_everybody_agrees(one, other, same, tmp_path):
    assert same_text(one, other) == same_text(other, one) == same
    assert mined(one, other) == (not same)
    assert leaked(one, other) == same
    assert is_echo(one, other) == same
    assert checked(tmp_path / "study", one, other) == (same,) * 3
    assert overlaps(tmp_path / "logs", one, other) == same
    added = add_references((Reference("a", one),), [Addition(other, "mined")])
    assert len(added) == (1 if same else 2)


@pytest.mark.parametrize(("one", "other", "same"), PAIRS)
def test_judges_learn_from_the_same_texts_once(one, other, same):
    logs = [(f"so {number}", text) for number in range(40) for text in (one, other)]
    partitions = find_partitions(logs)
    vocabulary = word_vocabulary(partitions, size=100)
    if same:
        # No utterance has two responses.
        with pytest.raises(ValueError, match="has two different responses"):
            read_training_pairs(partitions, vocabulary, validation=0.5)
    else:
        pairs = read_training_pairs(partitions, vocabulary, validation=0.5)
        assert pairs.counts.utterances == 40
