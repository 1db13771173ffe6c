"""Logs in, word vectors out."""

from deltableu.vectors.glove import VectorEpoch, train_vectors
from deltableu.vectors.neighbours import Neighbour, nearest_words, similar_spellings
from deltableu.vectors.vocabulary import CountedWords, count_words, texts_of

__all__ = [
    "CountedWords",
    "Neighbour",
    "VectorEpoch",
    "count_words",
    "nearest_words",
    "similar_spellings",
    "texts_of",
    "train_vectors",
]
