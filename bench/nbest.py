"""N-best lists of a log-linear model: candidates, what its features know of them, references."""

from __future__ import annotations

import numpy as np

from bench.corpora import zipf_corpus
from deltableu.corpus import NBestLists, ReferenceSet

__all__ = ["loglinear_lists"]

#: Of references and, on average, of candidates.
_WORDS = 12


def loglinear_lists(
    items: int, candidates: int, *, features: int = 15, references: int = 16, seed: int = 0
) -> tuple[NBestLists, ReferenceSet]:
    """Lists of a model whose features know something of quality, each with noise of its own.

    Every item has a good answer, and a bland one that many items share. A reference takes each word
    from the good answer with some probability, else from the bland one, and its weight grows with
    that probability, from -1 to 1. A candidate may also have words that have nothing to do with
    either. Of the features the first four are a language model, which likes frequent words, hence
    bland answers; relevance; how much it is like bland answers; and length. A third of the others
    know a little of relevance, and the rest nothing. They are on scales of their own. Lists are
    ranked by what the model thinks without tuning: the sum of its features.
    """
    rng = np.random.default_rng(seed)
    texts = zipf_corpus(items + 40, 1, seed).hypotheses
    answers = [(text.rstrip(".?").replace(",", "").split() * 2)[:_WORDS] for text in texts]
    frequent: dict[str, int] = {}
    for words in answers:
        for word in words:
            frequent[word] = frequent.get(word, 0) + 1
    others = np.array(sorted(frequent))
    logs = np.log([frequent[word] / (_WORDS * len(answers)) for word in others.tolist()])
    numbers = {word: place for place, word in enumerate(others.tolist())}
    coded = np.array([[numbers[word] for word in words] for words in answers])
    good, bland = coded[:items], coded[items + rng.integers(40, size=items)]

    shares = rng.beta(1.2, 1.2, size=(items, references))
    shares[:, 0] = 1.0
    mine = rng.random((items, references, _WORDS)) < shares[..., None]
    reference_words = np.where(mine, good[:, None], bland[:, None])
    weights = np.round(2.0 * shares - 1.0, 1)

    quality = rng.beta(1.5, 2.5, size=(items, candidates))
    drawn = rng.random((items, candidates, _WORDS))
    is_good = drawn < quality[..., None]
    is_bland = ~is_good & (drawn < quality[..., None] + 0.6 * (1.0 - quality[..., None]))
    noise = rng.integers(len(others), size=drawn.shape)
    candidate_words = np.where(is_good, good[:, None], np.where(is_bland, bland[:, None], noise))
    lengths = rng.integers(_WORDS // 2, _WORDS + 1, size=(items, candidates))
    said = np.arange(_WORDS) < lengths[..., None]

    found = rng.normal(size=(items, candidates, features))
    found[..., 0] = 0.1 * (logs[candidate_words] * said).sum(axis=-1)
    found[..., 1] = 0.4 * (is_good & said).sum(axis=-1) + 1.5 * found[..., 1]
    found[..., 2] = (is_bland & said).sum(axis=-1) + 4.0 * found[..., 2]
    found[..., 3] = 0.5 * lengths
    found[..., 4::3] += 0.5 * quality[..., None]
    found[..., 4:] *= 10.0 ** rng.uniform(-2.0, 0.3, size=features - 4)
    order = np.argsort(-found.sum(axis=-1), axis=1, kind="stable")
    rows = np.arange(items)[:, None]
    found = found[rows, order].reshape(items * candidates, features)
    listed = others[candidate_words[rows, order]].tolist()
    sizes = lengths[rows, order].tolist()

    ids = tuple(str(number) for number in range(items))
    lists = NBestLists(
        ids,
        np.arange(items + 1) * candidates,
        tuple(
            " ".join(words[:size])
            for some, long in zip(listed, sizes, strict=True)
            for words, size in zip(some, long, strict=True)
        ),
        ("LM", "relevance", "bland", "length", *(f"other{k}" for k in range(1, features - 3))),
        found,
        found.sum(axis=1),
    )
    spoken = [[" ".join(words) for words in some] for some in others[reference_words].tolist()]
    return lists, ReferenceSet(spoken, weights.tolist(), item_ids=ids)
