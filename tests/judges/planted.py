"""Synthetic dialogues: every text has a topic, which a tenth of its words give away."""

from __future__ import annotations

import numpy as np


def planted_topics(
    utterances: int,
    *,
    topics: int = 50,
    topic_words: int = 20,
    common_words: int = 1000,
    length: int = 20,
    responses: int = 5,
    seed: int = 0,
) -> list[tuple[str, str]]:
    """Pairs of an utterance and a response of the same topic, `responses` to each utterance."""
    rng = np.random.default_rng(seed)
    number = max(1, length // 10)

    def text(topic: int) -> str:
        words = [f"common{word}" for word in rng.integers(common_words, size=length)]
        for place in rng.choice(length, number, replace=False):
            words[place] = f"topic{topic}word{rng.integers(topic_words)}"
        return " ".join(words)

    pairs = []
    for topic in rng.integers(topics, size=utterances).tolist():
        utterance = text(topic)
        pairs += [(utterance, text(topic)) for _ in range(responses)]
    return pairs
