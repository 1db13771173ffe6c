"""What was learnt of how responses go with utterances: its file, and what it says of texts."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import (
    FoundFile,
    Table,
    as_record,
    atomic_path,
    decode_object,
    record_tables,
    tidy_record,
    unreadable,
)
from deltableu.judges.relevance_sums import CanonicalSpace, PairSums, canonical_space
from deltableu.neural import file_header, read_once
from deltableu.text import Encoder, Texts, WordAverages, text_vectors

FORMAT = "deltableu-relevance"
VERSION = 1
_DIGITS = 12
#: The last bits of a product depend on what else is computed at the same time.
_DECIMALS = 6
_LONGEST_HEADER = 1 << 20
#: Of sums of products of a few numbers, far above what any log gives.
_LARGEST = 1e100
_NAMES = ("x", "y", "xx", "yy", "xy")


@dataclass(frozen=True, eq=False)
class RelevanceModel:
    """How the vectors of utterances and of their responses vary together.

    Attributes
    ----------
    encoder : str
        What makes vectors of texts, as `deltableu.text.text_vectors` takes it.
    encoder_digest : str
        A hash of what it makes of a few texts.
    ridge : float
        See `canonical_space`.
    sums : PairSums
        All that was learnt.
    card : mapping
        What is known of the logs.
    """

    encoder: str
    encoder_digest: str
    ridge: float
    sums: PairSums = field(repr=False)
    card: Mapping[str, Any] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """A hash of everything that scores depend on."""
        about = [FORMAT, VERSION, self.encoder_digest, self.ridge, self.sums.pairs]
        made = hashlib.sha256(_canonical(about).encode())
        for name, array in self.sums.arrays().items():
            made.update(name.encode())
            made.update(np.ascontiguousarray(array, "<f8").data)
        return made.hexdigest()

    @property
    def signature(self) -> str:
        """The first digits of the digest."""
        return self.digest[:_DIGITS]

    @cached_property
    def space(self) -> CanonicalSpace:
        """Where texts are compared."""
        try:
            return canonical_space(self.sums, self.ridge)
        except InputError:
            raise
        except ValueError as error:  # as scipy says that a matrix is none of covariances
            message = f"relevance cannot be told from sums that belong to no vectors: {error}"
            raise InputError(message) from None

    @cached_property
    def _vectors(self) -> WordAverages | Encoder:
        made = text_vectors(self.encoder)
        if made.digest() != self.encoder_digest:
            raise InputError(
                f"the encoder {self.encoder} makes other vectors than when the relevance model was "
                "trained: train it again"
            )
        return made

    def utterances(self, texts: Sequence[str]) -> Array:
        """Utterances in the canonical space, a row each; zeros for those without words."""
        return self._placed(texts, self.space.utterances)

    def responses(self, texts: Sequence[str]) -> Array:
        """Responses in the canonical space."""
        return self._placed(texts, self.space.responses)

    def _placed(self, texts: Sequence[str], place: Any) -> Array:
        vectors = lowercase_vectors(self._vectors, texts)
        placed: Array = place(vectors)
        placed[~vectors.any(axis=1)] = 0.0
        return placed

    def scores(self, messages: Sequence[str], replies: Sequence[str]) -> Array:
        """The cosine of each message and its reply; -1 for an empty reply."""
        if not messages:
            return np.zeros(0)
        return relevance_cosines(self.utterances(messages), self.responses(replies), replies)

    def record(self) -> dict[str, Any]:
        """All that is known of the model, but not the sums."""
        correlations = self.space.correlations
        return {
            "kind": "relevance",
            "digest": self.digest,
            "encoder": self.encoder,
            "encoder_digest": self.encoder_digest,
            "dimension": self.sums.dimension,
            "ridge": self.ridge,
            "pairs": self.sums.pairs,
            "largest_correlations": ", ".join(f"{one:.3f}" for one in correlations[:5]),
            "card": dict(self.card),
        }

    def tables(self) -> list[Table]:
        """All that is known of the model, a table for what belongs together."""
        record = as_record(self)
        card = record.pop("card")
        return [*record_tables(record, "relevance"), *record_tables(card, "training")]

    def tidy_table(self) -> Table:
        """The same as one table, for programs."""
        return tidy_record(as_record(self))


def relevance_cosines(messages: Array, replies: Array, texts: Sequence[str]) -> Array:
    """Cosines of rows in the canonical space, -1 where the reply's text is empty."""
    products = np.einsum("ij,ij->i", messages, replies)
    lengths = np.linalg.norm(messages, axis=1) * np.linalg.norm(replies, axis=1)
    found = np.divide(products, lengths, out=np.zeros(len(messages)), where=lengths > 0.0)
    rounded: Array = np.clip(found, -1.0, 1.0).round(_DECIMALS) + 0.0
    rounded[[not text.strip() for text in texts]] = -1.0
    return rounded


def lowercase_vectors(source: WordAverages | Encoder, texts: Sequence[str]) -> Array:
    """Vectors of lower-cased texts; zeros for empty ones. Equal texts are encoded once."""
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(text.strip().lower(), len(numbers)) for text in texts]
    found = np.asarray(source.vectors(Texts.of(list(numbers))), np.float64)
    if "" in numbers:
        found[numbers[""]] = 0.0
    return found[places]


def write_relevance(path: str | os.PathLike[str], model: RelevanceModel) -> None:
    """Write a model; the same pairs give the same bytes, and the file appears whole."""
    check_kind("model", model, RelevanceModel)
    card = json.dumps(dict(model.card), allow_nan=False)
    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "encoder": model.encoder,
        "encoder_digest": model.encoder_digest,
        "ridge": repr(float(model.ridge)),
        "pairs": str(model.sums.pairs),
        "card": card,
        "card_digest": hashlib.sha256(card.encode()).hexdigest(),
        "digest": model.digest,
    }
    arrays = {k: np.ascontiguousarray(v, "<f8") for k, v in model.sums.arrays().items()}
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        stream.write(file_header(arrays, metadata))
        for name in sorted(arrays):
            stream.write(arrays[name].data)


def holds_relevance(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as those of relevance models do."""
    try:
        with open(path, "rb") as stream:
            return f'"format":"{FORMAT}"'.encode() in stream.read(_LONGEST_HEADER)
    except OSError:
        return False


def load_relevance(path: str | os.PathLike[str]) -> RelevanceModel:
    """A model; one in use already is not read again, unless its file has changed."""
    return read_once(path, read_relevance)


def read_relevance(path: str | os.PathLike[str]) -> RelevanceModel:
    """Read a model that `write_relevance` wrote.

    Whatever is wrong with the file is an `InputError` that says so.
    """
    name = os.fspath(path)
    metadata, arrays = _parsed(name)
    known = metadata.get("format", "")
    if known != FORMAT:
        what = "a judge or a responder" if known.startswith("deltableu-") else "another file"
        message = f"is {what}, but no relevance model: train one with `deltableu judge train "
        raise _fault(name, f"{message}--kind relevance`")
    version = metadata.get("format_version", "")
    if version != str(VERSION):
        newer = version.isascii() and version.isdigit() and int(version[:9]) > VERSION
        if newer:
            raise _fault(name, f"was written by a newer deltableu (format {version[:9]})")
        raise _fault(name, f"has the format version {version[:20]!r}, which is none")
    try:
        sums = PairSums(int(metadata["pairs"]), **{one: arrays[one] for one in _NAMES})
        card = decode_object(metadata["card"])
        model = RelevanceModel(
            metadata["encoder"],
            metadata["encoder_digest"],
            float(metadata["ridge"]),
            sums,
            card,
        )
        written = metadata["digest"], metadata["card_digest"]
        _check_sums(sums, model.ridge)
    except (KeyError, TypeError, ValueError) as error:
        raise _fault(name, f"is damaged: {error}") from None
    if written != (model.digest, hashlib.sha256(metadata["card"].encode()).hexdigest()):
        raise _fault(name, "is damaged: its content is not what was written; copy it again")
    return model


def _check_sums(sums: PairSums, ridge: float) -> None:
    """Refuse what no training gives, and what would not fit into floats when it is multiplied."""
    shapes = {name: (sums.dimension,) * len(name) for name in _NAMES}
    arrays = sums.arrays()
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        raise ValueError("its sums are not of one dimension")
    if not all((np.abs(one) <= _LARGEST).all() for one in arrays.values()):
        raise ValueError("its sums are too large")
    if not (0 <= sums.pairs <= _LARGEST and 0.0 < ridge <= _LARGEST):
        raise ValueError("its number of pairs or its ridge is none that training gives")


def _parsed(name: str) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and float64 arrays of a safetensors file; no library is needed for these."""
    try:
        with open(name, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise unreadable(FoundFile(name), error) from None
    size = int.from_bytes(content[:8], "little")
    try:
        if not 2 <= size <= min(len(content) - 8, _LONGEST_HEADER):
            raise ValueError("its header is of an impossible size")
        head: Any = decode_object(content[8 : 8 + size].decode())
        metadata: Any = head.pop("__metadata__")
        data = content[8 + size :]
        arrays = {}
        for key, one in head.items():
            first, last = one["data_offsets"]
            if one["dtype"] == "F64":
                flat = np.frombuffer(data[first:last], "<f8")
                arrays[key] = flat.reshape(one["shape"]).astype(np.float64)
        if not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError("its metadata are no texts")
        return metadata, arrays
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = str(error).partition("\n")[0]
        raise _fault(name, f"is no whole file of a relevance model: {said}") from None


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _fault(name: str, message: str) -> InputError:
    return InputError(Problem(message, file=name))
