"""Where an embedding may begin: latent semantic vectors of the training conversations.

Words that turn up around the same utterances begin near each other (Deerwester et al. 1990), so
that a rater need not find out from single examples which words belong together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deltableu._types import Singles
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.stats import stream
from deltableu.text import tf_idf

_KEY = 20
#: More columns than asked for, and products with the matrix: the usual choices of randomised
#: decompositions (Halko et al. 2011) where singular values fall slowly.
_MORE, _ROUNDS = 10, 4


def latent_vectors(pairs: TrainingPairs, vocabulary: int, dimension: int, seed: int) -> Singles:
    """A vector for each number of the vocabulary, from the utterances that are not held out.

    A conversation is an utterance with all its responses. Counts are damped and weighed by the
    rarity of words, and decomposed; a word's vector is its row among the right singular vectors,
    scaled to the length that random vectors of unit variance have. Numbers that no conversation
    has begin at random.

    Parameters
    ----------
    pairs : TrainingPairs
    vocabulary : int
        Its size, with padding and the unknown word.
    dimension, seed : int

    References
    ----------
    Deerwester et al. 1990, Indexing by latent semantic analysis.
    Halko et al. 2011, Finding structure with randomness.
    """
    rng = stream(seed, _KEY)
    found = rng.standard_normal((vocabulary, dimension)).astype(np.float32)
    matrix = _conversations(pairs, vocabulary)
    columns = min(dimension, *matrix.shape)
    wide = min(columns + _MORE, *matrix.shape)
    turned = matrix.T.tocsr()
    basis = rng.standard_normal((vocabulary, wide))
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(turned @ (matrix @ basis))[0]
    inner = matrix @ basis
    strengths, turns = np.linalg.eigh(inner.T @ inner)
    # Where there are few conversations, the rest of the basis means nothing.
    real = strengths > 1e-9 * strengths.max()
    turns = turns[:, real][:, ::-1][:, :columns]
    columns = turns.shape[1]
    vectors = basis @ turns
    lengths = np.linalg.norm(vectors, axis=1)
    there = (np.bincount(matrix.indices, minlength=vocabulary) > 0) & (lengths > 1e-9)
    scale = np.sqrt(dimension) / lengths[there, None]
    found[there] = 0.0
    found[there, :columns] = vectors[there] * scale
    return found


def _conversations(pairs: TrainingPairs, vocabulary: int) -> Any:
    """Conversations x words, rows of length 1."""
    from scipy import sparse

    rows = np.arange(pairs.counts.responses or len(pairs.groups))
    rows = rows[np.argsort(pairs.groups[rows], kind="stable")]
    rows = rows[~pairs.validation[pairs.groups[rows]]]
    groups = pairs.groups[rows]
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    texts = np.concatenate((pairs.responses[rows], pairs.utterances[rows[firsts]]))
    owners = np.concatenate((groups, groups[firsts]))
    bounds = pairs.texts.bounds
    lengths = bounds[texts + 1] - bounds[texts]
    words = pairs.texts.choose(texts).numbers
    shape = (int(groups.max()) + 1, vocabulary)
    places = (np.repeat(owners, lengths), words)
    counts = sparse.coo_array((np.ones(len(words)), places), shape=shape).tocsr()
    counts.data = np.log1p(counts.data)
    return tf_idf(counts)
