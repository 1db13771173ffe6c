"""Text comes in; tokens, and arrays of token hashes, go out."""

from deltableu.text.tokens import TOKENIZERS, TokenArrays, Tokenizer

__all__ = ["TOKENIZERS", "TokenArrays", "Tokenizer"]
