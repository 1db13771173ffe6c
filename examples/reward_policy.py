"""A policy that learns from delta-BLEU: which kind of answer to give, by REINFORCE.

python examples/reward_policy.py [STUDY]

For every message the policy draws one of the answers that the study's systems gave. What it knows
of an answer are a few features (how long it is, how much it repeats the message, ...), so that what
it learns on one half of the items can be seen on the other. Rewards are asked for as a trainer of a
language model asks for them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from deltableu import read_study
from deltableu.corpus import Study
from deltableu.tune import DeltaBLEUReward

STEPS, BATCH, RATE = 400, 32, 0.5


def features(study: Study) -> np.ndarray:
    """What the policy sees of each answer to each item: [item, answer, feature]."""
    found = []
    for place, item in enumerate(study.items):
        message = set((item.message or "").lower().split())
        for texts in study.outputs.values():
            words = texts[place].lower().split()
            shared = len(message & set(words)) / max(1, len(words))
            often = texts.count(texts[place]) > 1
            found.append([len(words) / 10, shared, texts[place].endswith("?"), often, "i" in words])
    return np.array(found, dtype=float).reshape(len(study.items), len(study.outputs), -1)


def probabilities(weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The policy: a softmax over the answers to an item."""
    scores = seen @ weights
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def learn(study: Study, reward: DeltaBLEUReward, train: np.ndarray) -> np.ndarray:
    """Weights that earn more on the training items."""
    rng = np.random.default_rng(0)
    seen, answers = features(study), list(study.outputs.values())
    weights, baseline = np.zeros(seen.shape[2]), 0.0
    for _ in range(STEPS):
        items = rng.choice(train, BATCH)
        drawn = probabilities(weights, seen[items])
        chosen = np.array([rng.choice(len(row), p=row) for row in drawn])
        completions = [answers[k][i] for i, k in zip(items, chosen, strict=True)]
        ids = [study.items[i].id for i in items]
        earned = np.array(reward(prompts=None, completions=completions, id=ids))
        baseline += 0.1 * (earned.mean() - baseline)
        # The gradient of log p(chosen): its features, less those that were expected.
        expected = (drawn[:, :, None] * seen[items]).sum(axis=1)
        gradient = (earned - baseline)[:, None] * (seen[items, chosen] - expected)
        weights += RATE * gradient.mean(axis=0)
    return weights


def expected_reward(
    study: Study, reward: DeltaBLEUReward, weights: np.ndarray, items: np.ndarray
) -> float:
    """What the policy earns on these items on average."""
    drawn = probabilities(weights, features(study)[items])
    ids = [study.items[i].id for i in items]
    earned = [reward.score(ids, [texts[i] for i in items]) for texts in study.outputs.values()]
    return float((drawn * np.stack(earned, axis=1)).sum(axis=1).mean())


def main(path: Path) -> None:
    """Print what the policy earns before and after, on items it learns from and on others."""
    study = read_study(path)
    reward = DeltaBLEUReward(study)
    order = np.random.default_rng(1).permutation(len(study.items))
    train, held_out = np.array_split(order, 2)
    weights = learn(study, reward, train)
    for name, items in (("training", train), ("held-out", held_out)):
        before = expected_reward(study, reward, np.zeros(len(weights)), items)
        after = expected_reward(study, reward, weights, items)
        print(f"{name} items: expected reward {before:.3f} before, {after:.3f} after")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "demo")
