"""Words of the same conversations begin near each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import svds

from deltableu.judges.latent import _conversations, latent_vectors
from deltableu.judges.log_pairs import read_training_pairs
from deltableu.logs.partitions import find_partitions
from deltableu.neural.word_vocabulary import word_vocabulary
from tests.judges.planted import planted_topics


@pytest.fixture(scope="module")
def planted():
    rows = planted_topics(400, topics=8, topic_words=5, common_words=60, length=10)
    partitions = find_partitions(rows)
    vocabulary = word_vocabulary(partitions, size=1000)
    return vocabulary, read_training_pairs(partitions, vocabulary, validation=0.1)


def numbers(vocabulary, topic):
    words = [f"topic{topic}word{word}" for word in range(5)]
    return [int(vocabulary.encode([word]).numbers[0]) for word in words]


def test_words_of_a_topic_are_near(planted):
    vocabulary, pairs = planted
    vectors = latent_vectors(pairs, len(vocabulary), 8, seed=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for topic in range(8):
        own, other = numbers(vocabulary, topic), numbers(vocabulary, (topic + 1) % 8)
        assert (unit[own] @ unit[own].T).mean() > 0.6
        assert abs(unit[own] @ unit[other].T).mean() < 0.2


def test_as_an_exact_decomposition_has_it(planted):
    vocabulary, pairs = planted
    matrix = _conversations(pairs, len(vocabulary))
    exact = svds(matrix, k=8, v0=np.ones(min(matrix.shape)))[2].T
    exact /= np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1e-12)
    ours = latent_vectors(pairs, len(vocabulary), 8, seed=0)
    there = np.unique(matrix.indices)
    np.testing.assert_allclose(np.linalg.norm(ours[there], axis=1), np.sqrt(8), rtol=1e-4)
    ours = ours[there] / np.sqrt(8)
    # Directions may be turned within the space: what counts is who is near whom.
    near = np.abs(ours @ ours.T - exact[there] @ exact[there].T)
    topics = [place for topic in range(8) for place in numbers(vocabulary, topic)]
    chosen = np.isin(there, topics)
    assert near[np.ix_(chosen, chosen)].max() < 0.02


def test_held_out_utterances_have_no_say(planted):
    vocabulary, pairs = planted
    without = replace(pairs, validation=np.ones_like(pairs.validation))
    without.validation[0] = False
    few = np.unique(_conversations(without, len(vocabulary)).indices)
    vectors = latent_vectors(without, len(vocabulary), 16, seed=0)
    again = latent_vectors(without, len(vocabulary), 16, seed=0)
    assert np.array_equal(vectors, again)
    other = latent_vectors(without, len(vocabulary), 16, seed=1)
    rest = np.setdiff1d(np.arange(len(vocabulary)), few)
    assert len(few) < len(vocabulary) / 2
    assert (vectors[rest] != other[rest]).all()  # drawn
    assert np.isfinite(vectors).all()
