"""Logs in, word vectors out."""

from deltableu.text.vectors import WordVectors, read_vectors, write_vectors
from deltableu.vectors.glove import Epoch, train_vectors
from deltableu.vectors.neighbours import Neighbour, nearest_words, similar_spellings

__all__ = [
    "Epoch",
    "Neighbour",
    "WordVectors",
    "nearest_words",
    "read_vectors",
    "similar_spellings",
    "train_vectors",
    "write_vectors",
]
