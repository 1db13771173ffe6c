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
    lanes,
    pair_keys,
    span_keys,
)
from deltableu.text.same import TextKeys, same_text, text_keys
from deltableu.text.texts import NotUnicodeError, Texts
from deltableu.text.tf_idf import rarity, tf_idf
from deltableu.text.tokens import TOKENIZERS, Normalization, TokenArrays, Tokenize, Tokenizer
from deltableu.text.vectors import WordVectors, read_vectors, write_vectors
from deltableu.text.word_numbers import WordNumbers
from deltableu.text.words import WORD_RULES, WordRule, hash_texts, word_form

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
    "characters",
    "chrf_words",
    "dot_products",
    "empty_keys",
    "halves",
    "hash_texts",
    "joined_keys",
    "key_numbers",
    "key_order",
    "lanes",
    "pair_keys",
    "rarity",
    "read_vectors",
    "same_text",
    "span_keys",
    "text_keys",
    "text_vectors",
    "tf_idf",
    "word_form",
    "write_vectors",
]
