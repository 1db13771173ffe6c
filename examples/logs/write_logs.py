"""Write small dialogue logs to mine references from. All of it is INVENTED.

Nobody said any of this: the sentences of `topics.py` were written for this project, and this script
puts utterances and responses of a topic together. Among them are what real logs have too: deleted
posts, links, echoes, the same answer twice, and one item of the demo study with its own response,
as if the test set had leaked into the logs. `talks.jsonl`, beside this folder, has more of them, as
conversations that are not pairs yet.

Everything is deterministic from one seed. Usage: `python examples/logs/write_logs.py [--check]`;
`--check` writes nothing and fails if a file on disk is not what the script would write.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from topics import TOPICS, Topic

HERE = Path(__file__).resolve().parent
SEED = 20150731
PAIRS_A_TOPIC, TALKS_A_TOPIC = 8, 24

Pair = tuple[str, str]

JUNK: Sequence[Pair] = (
    ("Has anybody tried the new cafe?", "[deleted]"),
    ("Where did you get that lamp?", "https://lamps.example/shop"),
    ("I can't believe it.", "I can't believe it!"),
    ("The keys are gone again.", "on the kitchen table, as always"),
    ("So, shall we go?", ""),
)
LEAK: Pair = (
    "The people upstairs were moving furniture at 2 am again.",
    "Again? You should go up and have a word with them.",
)


def pairs_of(topic: Topic, rng: random.Random, number: int = PAIRS_A_TOPIC) -> list[Pair]:
    """Some of a topic's pairs."""
    all_pairs = [
        (utterance.format(x=word), response.format(x=word))
        for word, utterance, response in product(topic.words, topic.utterances, topic.responses)
    ]
    rng.shuffle(all_pairs)
    # Every response once, then some again, as people say the same thing to different things.
    once = {response: (utterance, response) for utterance, response in all_pairs}
    chosen = list(dict.fromkeys([*once.values(), *all_pairs]))[:number]
    return [(as_sentence(utterance), response) for utterance, response in chosen]


def as_sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def to_tsv(pairs: Iterable[Pair]) -> str:
    lines = ["utterance\tresponse\tid\tthread"]
    for number, (utterance, response) in enumerate(pairs):
        lines.append(f"{utterance}\t{response}\tchat-{number:03d}\tday-{number // 20:02d}")
    return "\n".join(lines) + "\n"


def to_jsonl(pairs: Iterable[Pair]) -> str:
    records = (
        {"id": f"forum-{number:03d}", "utterance": utterance, "response": response}
        for number, (utterance, response) in enumerate(pairs)
    )
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def to_talks(pairs: Iterable[Pair]) -> str:
    records = (
        {"id": f"talk-{number:04d}", "turns": [utterance, response]}
        for number, (utterance, response) in enumerate(pairs)
    )
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def build() -> dict[str, str]:
    """The content of every file, by its name."""
    rng = random.Random(SEED)
    pairs = [pair for topic in TOPICS for pair in pairs_of(topic, rng)] + [*JUNK, LEAK]
    rng.shuffle(pairs)
    half = len(pairs) // 2
    talks = [pair for topic in TOPICS for pair in pairs_of(topic, rng, TALKS_A_TOPIC)]
    rng.shuffle(talks)
    return {
        "chats.tsv": to_tsv(pairs[:half]),
        "forum.jsonl": to_jsonl(pairs[half:]),
        "../talks.jsonl": to_talks(talks),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Write invented dialogue logs.")
    parser.add_argument("--check", action="store_true", help="only compare with the files on disk")
    check: bool = parser.parse_args().check
    files = {name: text.encode("utf-8") for name, text in build().items()}
    if not check:
        for name, content in files.items():
            (HERE / name).write_bytes(content)
        return 0
    stale = [
        name
        for name, content in files.items()
        if not (HERE / name).is_file() or (HERE / name).read_bytes() != content
    ]
    if stale:
        print(f"not what write_logs.py writes: {', '.join(stale)}; run it again", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
