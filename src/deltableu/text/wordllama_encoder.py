"""The sentence encoder WordLlama, whose weights ship in its package (extra `encoder`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from deltableu.errors import InputError


@cache
def _model() -> Any:
    try:
        import wordllama
    except ImportError:
        raise InputError(
            "the encoder wordllama is not installed: run pip install 'deltableu[encoder]'"
        ) from None
    # Weights and tokenizer lie in the package; without this it would look for them elsewhere.
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def encode(texts: Sequence[str]) -> Any:
    """Vectors of texts, a row each; that of a text does not depend on the others."""
    return _model().embed([text or " " for text in texts])
