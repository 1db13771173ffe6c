"""Logs in, word vectors out."""

from deltableu.vectors.glove import Epoch, train_vectors
from deltableu.vectors.neighbours import Neighbour, nearest_words, similar_spellings
from deltableu.vectors.vocabulary import Tell, count_words, texts_of

__all__ = [
    "Epoch",
    "Neighbour",
    "Tell",
    "count_words",
    "nearest_words",
    "similar_spellings",
    "texts_of",
    "train_vectors",
]
