"""Text comes in; tokens, words and keys go out, as arrays of keys."""

from deltableu.text.characters import characters, chrf_words
from deltableu.text.encoders import (
    ENCODERS,
    Encode,
    Encoder,
    TextVectors,
    WordAverages,
    dot_products,
    text_vectors,
)
from deltableu.text.keys import (
    empty_keys,
    halves,
    joined_keys,
    key_numbers,
    key_order,
    key_places,
    lanes,
    pair_keys,
    span_keys,
)
from deltableu.text.same import (
    TextKeys,
    may_be_same,
    same_text,
    spelt_ends,
    text_ends,
    text_keys,
)
from deltableu.text.texts import NotUnicodeError, Texts, find_bytes, join_cells
from deltableu.text.tf_idf import rarity, tf_idf
from deltableu.text.tokens import TOKENIZERS, Normalization, TokenArrays, Tokenize, Tokenizer
from deltableu.text.vectors import WordVectors, read_vectors, write_vectors
from deltableu.text.word_numbers import WordNumbers
from deltableu.text.words import WORD_RULES, WordRule, blank_texts, hash_texts, word_form

__all__ = [
    "ENCODERS",
    "TOKENIZERS",
    "WORD_RULES",
    "Encode",
    "Encoder",
    "Normalization",
    "NotUnicodeError",
    "TextKeys",
    "TextVectors",
    "Texts",
    "TokenArrays",
    "Tokenize",
    "Tokenizer",
    "WordAverages",
    "WordNumbers",
    "WordRule",
    "WordVectors",
    "blank_texts",
    "characters",
    "chrf_words",
    "dot_products",
    "empty_keys",
    "find_bytes",
    "halves",
    "hash_texts",
    "join_cells",
    "joined_keys",
    "key_numbers",
    "key_order",
    "key_places",
    "lanes",
    "may_be_same",
    "pair_keys",
    "rarity",
    "read_vectors",
    "same_text",
    "span_keys",
    "spelt_ends",
    "text_ends",
    "text_keys",
    "text_vectors",
    "tf_idf",
    "word_form",
    "write_vectors",
]
