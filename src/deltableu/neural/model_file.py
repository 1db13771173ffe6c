"""A trained model as one safetensors file: numbers and JSON, nothing that could be run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deltableu.errors import InputError, Problem
from deltableu.io import (
    Table,
    as_record,
    atomic_path,
    decode,
    decode_object,
    record_tables,
    tidy_record,
)
from deltableu.neural.extra import need
from deltableu.neural.settings import NetworkShape
from deltableu.neural.vocabulary import Vocabulary, vocabulary_from_bytes

_VOCABULARY = "vocabulary"
_LONGEST_COUNT = 15
#: Bytes to which the header is filled up, so that numbers begin where a processor likes them to.
_ALIGNMENT = 8
#: What numpy's types are called in these files.
_DTYPES = {"u1": "U8", "f4": "F32", "f8": "F64"}
#: What all names of formats begin with, and the rest of them.
_OURS = "deltableu-"
_ELSE = {"rater": "a judge", "relevance": "a relevance model", "responder": "a responder"}


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A trained model.

    Attributes
    ----------
    settings : NetworkShape
        The shape of the network, which says what kind of model it is.
    vocabulary : Vocabulary
        What turns texts into numbers.
    state : mapping of str to ndarray
        The network's parameters, float32.
    card : mapping
        What is known of the training, as JSON holds it.
    digest : str
        A hash of settings, vocabulary and parameters: two models that do the same have the same.
    """

    #: What people call it.
    what: ClassVar[str] = "model"

    settings: Any
    vocabulary: Vocabulary = field(repr=False)
    state: Mapping[str, NDArray[np.float32]] = field(repr=False)
    card: Mapping[str, Any] = field(repr=False)
    digest: str

    @property
    def kind(self) -> str:
        """As the command line's `--kind` calls it."""
        kind: str = self.settings.kind
        return kind

    @property
    def parameters(self) -> int:
        """How many numbers were learnt."""
        return sum(tensor.size for tensor in self.state.values())

    def tables(self) -> list[Table]:
        """All that is known of the model, a table for what belongs together."""
        record = as_record(self)
        card = record.pop("card")
        return [*record_tables(record, self.what), *record_tables(card, "training")]

    def tidy_table(self) -> Table:
        """The same as one table, for programs."""
        return tidy_record(as_record(self))

    def record(self) -> dict[str, Any]:
        """All that is known of the model, but not the numbers it learnt."""
        return {
            "kind": self.kind,
            "digest": self.digest,
            "parameters": self.parameters,
            "settings": self.settings,
            "vocabulary": {"kind": self.vocabulary.kind, "size": len(self.vocabulary)},
            "card": self.card,
        }


Model = TypeVar("Model", bound=StoredModel)


@dataclass(frozen=True, eq=False)
class ModelFormat(Generic[Model]):
    """Files of one sort of models.

    Attributes
    ----------
    name : str
        By which a file is known.
    model : type
        What is read.
    shapes : mapping of str to type
        By kind, the shape of the network.
    versions : mapping of str to int
        By kind, the first format version that has it, so that older readers say what they need.
    first : str
        The kind of files that do not name theirs.
    """

    name: str
    model: type[Model]
    shapes: Mapping[str, type[NetworkShape]]
    versions: Mapping[str, int]
    first: str

    def write(
        self,
        path: str | os.PathLike[str],
        settings: NetworkShape,
        vocabulary: Vocabulary,
        state: Mapping[str, NDArray[np.float32]],
        card: Mapping[str, Any],
    ) -> Model:
        """Write a model; the same model and card give the same bytes, and the file appears whole.

        Parameters
        ----------
        path : str or PathLike
            Where the file goes, which is replaced if it is there.
        settings : NetworkShape
            The shape of the network.
        vocabulary : Vocabulary
            What turns texts into numbers.
        state : mapping of str to ndarray
            The network's parameters, as `settings.shapes` names them.
        card : mapping
            What is known of the training: texts, finite numbers, lists and mappings of these, in
            the order in which they are shown.
        """
        try:
            card_text = json.dumps(dict(card), allow_nan=False)  # people read it in its own order
            written_card = decode_object(card_text)
        except (TypeError, ValueError) as error:
            raise InputError(
                Problem(f"must be what JSON can hold: {error}", field="card")
            ) from None
        kept = {name: np.ascontiguousarray(tensor, "<f4") for name, tensor in state.items()}
        if wrong := _wrong_tensors(kept, settings, len(vocabulary)):
            raise InputError(Problem(wrong, field="state"))
        data = vocabulary.to_bytes()
        digest = _digest(self.name, settings, vocabulary.kind, len(vocabulary), data, kept)
        metadata = {
            "format": self.name,
            "format_version": str(self.versions[settings.kind]),
            "settings": _canonical(_settings(settings)),
            "vocabulary_kind": vocabulary.kind,
            "vocabulary_size": str(len(vocabulary)),
            "card": card_text,
            "card_digest": _sha256(card_text),
            "digest": digest,
        }
        if settings.kind != self.first:
            metadata["kind"] = settings.kind
        tensors: dict[str, NDArray[Any]] = {**kept, _VOCABULARY: np.frombuffer(data, np.uint8)}
        with atomic_path(path) as temporary, open(temporary, "wb") as stream:
            stream.write(file_header(tensors, metadata))
            for name in sorted(tensors):
                stream.write(tensors[name].data)
        return self.model(settings, vocabulary, kept, written_card, digest)

    def read(self, path: str | os.PathLike[str]) -> Model:
        """Read a model that `write` wrote; torch is not needed.

        Whatever is wrong with the file is an `InputError` that says so.
        """
        what = self.model.what
        library = need("safetensors", f"reading a {what}")
        name = os.fspath(path)
        metadata, tensors = _read_file(name, library, what)
        if (found := metadata.get("format", "")) != self.name:
            other = _ELSE.get(found.removeprefix(_OURS)) if found.startswith(_OURS) else None
            is_what = other or "a safetensors file"
            raise _fault(name, f"is {is_what}, but no {what} of deltableu: train one first")
        version = metadata.get("format_version", "")
        if not _is_count(version) or int(version) < 1:
            raise _fault(name, f"has the format version {version[:20]!r}, which is none")
        if int(version) > max(self.versions.values()):
            raise _fault(name, f"was written by a newer deltableu (format {version}): install that")
        settings = self._read_settings(name, metadata)
        kind, size = metadata.get("vocabulary_kind", ""), metadata.get("vocabulary_size", "")
        if not _is_count(size):
            raise _fault(name, "does not say how large its vocabulary is: it is damaged")
        data = tensors.pop(_VOCABULARY, None)
        if data is None or data.dtype != np.uint8 or data.ndim != 1:
            raise _fault(name, "has no vocabulary: it is damaged")
        if wrong := _wrong_tensors(tensors, settings, int(size)):
            raise _fault(name, f"{wrong}: it is damaged")
        card_text = metadata.get("card", "")
        digest = _digest(self.name, settings, kind, int(size), data.tobytes(), tensors)
        if digest != metadata.get("digest") or _sha256(card_text) != metadata.get("card_digest"):
            raise _fault(name, "is damaged: its content is not what was written; copy it again")
        try:
            vocabulary = vocabulary_from_bytes(kind, data.tobytes())
        except InputError as error:
            raise _fault(name, f"its vocabulary cannot be read: {error}") from None
        if len(vocabulary) != int(size):
            raise _fault(name, f"its vocabulary has {len(vocabulary)} entries, but says {size}")
        return self.model(settings, vocabulary, tensors, _read_card(name, card_text), digest)

    def _read_settings(self, name: str, metadata: Mapping[str, str]) -> NetworkShape:
        what = self.model.what
        kind = metadata.get("kind", self.first)
        if kind not in self.shapes:
            raise _fault(name, f"is a {what} of the unknown kind {kind[:20]!r}: it is damaged")
        shape: Any = self.shapes[kind]
        try:
            given = decode(metadata.get("settings", ""))
        except ValueError:
            raise _fault(name, "its settings are no JSON: it is damaged") from None
        if not isinstance(given, dict) or given.keys() != {one.name for one in fields(shape)}:
            raise _fault(name, f"its settings are not those of a {what}: it is damaged")
        try:
            made: NetworkShape = shape(**given)
            return made
        except InputError as error:
            raise _fault(name, f"its settings are wrong: {error}") from None


def _fault(name: str, message: str) -> InputError:
    return InputError(Problem(message, file=name))


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_COUNT


def _read_file(
    name: str, library: Any, what: str
) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    if os.path.isdir(name):
        raise _fault(name, f"is a folder, but a {what} is a file")
    try:
        with library.safe_open(name, framework="np") as file:
            metadata = file.metadata() or {}
            # Types that numpy does not have are no parameters of a model, so they stay unread.
            tensors = {
                key: file.get_tensor(key)
                if file.get_slice(key).get_dtype() in ("F32", "U8")
                else np.empty(0, np.uint8)
                for key in file.keys()  # noqa: SIM118
            }
    except FileNotFoundError:
        raise _fault(name, "there is no such file") from None
    except PermissionError:
        raise _fault(name, "cannot be read by this user: change the permissions") from None
    except (OSError, library.SafetensorError) as error:
        # An empty file cannot be mapped to memory, which is an OSError too.
        raise _fault(name, f"is no whole safetensors file: {error}") from None
    return metadata, tensors


def _read_card(name: str, text: str) -> Mapping[str, Any]:
    try:
        return decode_object(text)
    except ValueError:
        raise _fault(name, "its card is no JSON object: it is damaged") from None


def _wrong_tensors(
    tensors: Mapping[str, NDArray[Any]], settings: NetworkShape, vocabulary_size: int
) -> str | None:
    """What is wrong with the parameters, to follow the name of the file."""
    # A damaged number of layers must not make a list of billions of names.
    layers = getattr(settings, "layers", 0)
    if layers > len(tensors):
        return f"has {len(tensors)} tensors for {layers} layers"
    shapes = settings.shapes(vocabulary_size)
    for name, shape in shapes.items():
        if name not in tensors:
            return f"lacks the tensor {name}"
        found = tensors[name]
        if found.shape != shape:
            return f"the tensor {name} has the shape {found.shape}, but should have {shape}"
        if found.dtype != np.float32:
            return f"the tensor {name} is no float32"
        if not np.isfinite(found).all():
            return f"the tensor {name} holds numbers that are not finite"
    strange = sorted(tensors.keys() - shapes.keys())
    return f"holds the unknown tensor {strange[0]!r}" if strange else None


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(
    name: str,
    settings: NetworkShape,
    kind: str,
    size: int,
    vocabulary: bytes,
    state: Mapping[str, NDArray[Any]],
) -> str:
    hashed = hashlib.sha256()
    hashed.update(_canonical([name, _settings(settings), kind, size, len(vocabulary)]).encode())
    hashed.update(vocabulary)
    for tensor in sorted(state):
        hashed.update(_canonical([tensor, state[tensor].shape]).encode())
        hashed.update(np.ascontiguousarray(state[tensor], "<f4").data)
    return hashed.hexdigest()


def file_header(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """What begins a safetensors file, before the tensors in the order of their names.

    The library would put metadata in a different order in every run.
    """
    described: dict[str, object] = {"__metadata__": metadata}
    place = 0
    for name in sorted(tensors):
        tensor = tensors[name]
        described[name] = {
            "dtype": _DTYPES[tensor.dtype.str[-2:]],
            "shape": tensor.shape,
            "data_offsets": [place, place + tensor.nbytes],
        }
        place += tensor.nbytes
    text = _canonical(described).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def _settings(settings: NetworkShape) -> dict[str, Any]:
    found: Any = settings
    return asdict(found)
