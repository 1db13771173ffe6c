"""How alike items and logged pairs are, and who does the work, as `deltableu mine` takes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import METHOD, RUNNING, foldable
from deltableu.cli.options import Positive
from deltableu.errors import InputError
from deltableu.mine import (
    BM25,
    Embedding,
    Encoder,
    Engine,
    PairSimilarity,
    TfIdf,
    WordAverages,
    client_certificates,
    make_engine,
)
from deltableu.text import ENCODERS, read_vectors, text_vectors

#: The options that each method has, beside `method` and `on`.
_PRODUCT = ("product", "alpha", "epsilon")
_METHODS = {
    "bm25": ("k1", "b", "idf", *_PRODUCT),
    "tfidf": (),
    "embedding": ("vectors", "unknown", *_PRODUCT),
    "encoder": ("encoder", *_PRODUCT),
}


@Parameter(name="*", group=METHOD)
@foldable
@dataclass(frozen=True, kw_only=True)
class SimilarityOptions:
    """Settings of similarities.

    Parameters
    ----------
    method
        How alike two texts are: by their words (bm25, or the cosine of tfidf, which is on one
        field), by the mean of their word vectors (embedding), or by what a sentence encoder says of
        them (encoder).
    on
        Compare utterances with messages, responses with the original response, or both. By default
        both for bm25, and the utterance for others, which finds more diverse responses.
    vectors
        File of word vectors for embedding (GloVe's .txt or word2vec's .bin).
    unknown
        Whether embedding gives words without a vector that of the word unk, if there is one, or
        skips them.
    encoder
        Sentence encoder: wordllama, sentence-transformers:MODEL, or a function of a list of texts,
        as package.module:function.
    product
        On both: s_u * (alpha * s_r + (1 - alpha) * epsilon), or s_u * s_r.
    k1
        How soon repeated words stop counting in BM25.
    b
        How much long texts lose in BM25.
    idf
        How much rare words count in BM25.
    alpha
        Share of the response similarity in the damped product.
    epsilon
        Floor of the response similarity in the damped product.
    """

    method: Literal["bm25", "tfidf", "embedding", "encoder"] = "bm25"
    on: Literal["both", "utterance", "response"] | None = None
    vectors: str | None = None
    unknown: Literal["unk", "skip"] = "unk"
    encoder: str | None = None
    product: Literal["damped", "plain"] = "damped"
    k1: float = 1.5
    b: float = 0.75
    idf: Literal["lucene", "robertson", "atire"] = "lucene"
    alpha: float = 0.5
    epsilon: float = 0.1

    def make(self, tokenize: str) -> PairSimilarity:
        """The similarity that was asked for; an option that it does not heed is a mistake."""
        on = self.on or ("both" if self.method == "bm25" else "utterance")
        changed = [
            field.name for field in fields(self) if getattr(self, field.name) != field.default
        ]
        for name in changed:
            if name not in ("method", "on", *_METHODS[self.method]):
                raise InputError(f"--{name} is of no use with --method {self.method}")
            if name in _PRODUCT and on != "both":
                raise InputError(f"--{name} is of no use with --on {on}")
            if name in ("alpha", "epsilon") and self.product == "plain":
                raise InputError(f"--{name} is of no use with --product plain")
        if self.method == "bm25":
            return BM25(on, self.k1, self.b, self.idf, self.product, self.alpha, self.epsilon)
        if self.method == "tfidf":
            if on == "both":
                raise InputError("--method tfidf compares one field: --on utterance or response")
            return TfIdf(on)
        source: WordAverages | Encoder
        if self.method == "embedding":
            if self.vectors is None:
                raise InputError("--method embedding needs --vectors: train some, or give a file")
            source = WordAverages(read_vectors(self.vectors), self.unknown, tokenize)
        else:
            if self.encoder is None:
                known = ", ".join(ENCODERS)
                raise InputError(
                    f"--method encoder needs --encoder: {known}, or package.module:function"
                )
            source = text_vectors(self.encoder)
        return Embedding(source, on, self.product, self.alpha, self.epsilon)


@Parameter(name="*", group=RUNNING)
@foldable
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Where the work is done.

    Parameters
    ----------
    engine
        Where the work is done: threads, dask (a cluster on this machine), or a Dask scheduler as
        dask://HOST:PORT or, with TLS, tls://HOST:PORT.
    threads
        Or processes of a Dask cluster on this machine; all cores by default. No result depends on
        it.
    tls_ca
        PEM file of the authority that signed the certificate of a TLS scheduler. By
        default as Dask's configuration has it.
    tls_cert
        The certificate to show there, as a PEM file.
    tls_key
        The key of that certificate, unless it is in the same file.
    """

    engine: str = "threads"
    threads: Positive | None = None
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None

    def make(self) -> str | Engine:
        """The engine, or its name where that says all."""
        if self.tls_ca is None and self.tls_cert is None and self.tls_key is None:
            return self.engine
        if self.tls_ca is None or self.tls_cert is None:
            raise InputError("--tls-ca, --tls-cert and --tls-key go together")
        if "://" not in self.engine:
            raise InputError(f"--tls-ca is of no use with --engine {self.engine}")
        security = client_certificates(self.tls_ca, self.tls_cert, self.tls_key)
        return make_engine(self.engine, self.threads, security)
