"""sacreBLEU's tokenizers by name, imported only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from deltableu.errors import InputError

PEER_TOKENIZERS: dict[str, str] = {
    "char": "tokenizer_char.TokenizerChar",
    "intl": "tokenizer_intl.TokenizerV14International",
    "zh": "tokenizer_zh.TokenizerZh",
    "ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab",
    "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab",
    "spm": "tokenizer_spm.TokenizerSPM",
    "flores101": "tokenizer_spm.Flores101Tokenizer",
    "flores200": "tokenizer_spm.Flores200Tokenizer",
}

_PACKAGES = {"ja-mecab": "'deltableu[ja]'", "ko-mecab": "'sacrebleu[ko]'"}


@cache
def peer_tokenizer(name: str) -> Callable[[str], str]:
    """The tokenizer of that name, ready to call."""
    module, _, attribute = PEER_TOKENIZERS[name].partition(".")
    try:
        made: Callable[[str], str] = getattr(
            import_module(f"sacrebleu.tokenizers.{module}"), attribute
        )()
    except (ImportError, RuntimeError, AssertionError) as error:
        need = f"pip install {_PACKAGES.get(name, 'sentencepiece')}"
        raise InputError(f"the tokenizer {name!r} needs more than is installed: {need}") from error
    except OSError as error:
        # The sentencepiece ones fetch their model at first use.
        raise InputError(f"the tokenizer {name!r} could not get its model: {error}") from error
    return made
