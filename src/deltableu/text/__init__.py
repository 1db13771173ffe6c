"""Text comes in; tokens, and arrays of token hashes, go out."""

from deltableu.text.buffer import Buffer, NotUnicodeError, join_texts
from deltableu.text.characters import characters, chrf_words
from deltableu.text.tokens import TOKENIZERS, Normalization, TokenArrays, Tokenize, Tokenizer
from deltableu.text.vectors import WordVectors, read_vectors, write_vectors
from deltableu.text.words import WordArrays, hash_texts, hash_words, word_form, word_spans

__all__ = [
    "TOKENIZERS",
    "Buffer",
    "Normalization",
    "NotUnicodeError",
    "TokenArrays",
    "Tokenize",
    "Tokenizer",
    "WordArrays",
    "WordVectors",
    "characters",
    "chrf_words",
    "hash_texts",
    "hash_words",
    "join_texts",
    "read_vectors",
    "word_form",
    "word_spans",
    "write_vectors",
]
