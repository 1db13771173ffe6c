"""A small scorer of replies with random parameters, word vectors, and a study to score."""

from __future__ import annotations

import numpy as np

from deltableu.judges.model_file import write_model
from deltableu.judges.ruber_network import RuberNetwork
from deltableu.judges.ruber_settings import RuberSettings
from deltableu.neural.word_vocabulary import WordVocabulary
from deltableu.text import WordVectors
from tests.judges.rater_kit import WORDS

SHAPE = RuberSettings(embedding=6, hidden=5, layer=4, layers=2, max_length=12)
CARD = {"held out": {"examples": 9, "smallest score": 0.25, "largest score": 0.75}}


def small_scorer(path, seed=4, card=CARD):
    state = RuberNetwork(SHAPE, len(WORDS) + 2, seed=seed, scaled=True).state()
    return write_model(path, SHAPE, WordVocabulary(WORDS), state, card)


def small_vectors(seed=0):
    words = sorted(set(WORDS))
    numbers = np.random.default_rng(seed).standard_normal((len(words), 4))
    return WordVectors({word: row for row, word in enumerate(words)}, numbers)
