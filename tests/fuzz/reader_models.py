"""Readers of trained models, with files that are whole and files that were forged."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from deltableu.judges import relevance_model, scr_calibration
from deltableu.neural import model_file
from deltableu.neural.vocabulary import vocabulary_from_bytes
from tests.fuzz.reader_inputs import Maker, Read, ReaderWorld, SealedFile
from tests.fuzz.values import WORDS


class _Same:
    """Equal to any digest: whoever changes a file on purpose can write a digest that fits."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


SAME = _Same()


def _judge(path: Path) -> None:
    from tests.judges.rater_kit import small_model

    small_model(path)


def _ruber(path: Path) -> None:
    from tests.judges.ruber_kit import small_scorer

    small_scorer(path)


def _responder(path: Path) -> None:
    from tests.respond.neural_kit import small_responder

    small_responder(path, "vhred")


def _relevance(path: Path) -> None:
    from deltableu.judges.relevance_model import write_relevance
    from deltableu.judges.relevance_training import train_relevance

    vectors = path.with_name("vectors.txt")
    vectors.write_text("".join(f"{word} {n % 5} {n % 7} 1\n" for n, word in enumerate(WORDS)))
    pairs = [(" ".join(WORDS[n : n + 3]), " ".join(WORDS[n + 2 : n + 6])) for n in range(15)]
    write_relevance(path, train_relevance(pairs, encoder=str(vectors)))


@functools.cache
def _bytes(write: Callable[[Path], None]) -> bytes:
    """A small model, made once per process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        write(path)
        return path.read_bytes()


def _sealed(world: ReaderWorld, content: bytes) -> Path:
    """A safetensors file whose header is JSON that may be spoilt as any."""
    size = int.from_bytes(content[:8], "little")
    header, numbers = json.loads(content[8 : 8 + size]), content[8 + size :]

    def seal(text: bytes) -> bytes:
        inner = text.strip().removeprefix(b"[").removesuffix(b"]")
        return len(inner).to_bytes(8, "little") + inner + numbers

    # What stands in texts of the header is JSON, too: it is spoilt inside.
    metadata = header["__metadata__"]
    inside = [name for name in ("settings", "card") if name in metadata]

    def sealed(text: bytes) -> bytes:
        try:
            found = json.loads(text)[0]
            for name in inside:
                if not isinstance(found["__metadata__"][name], str):
                    found["__metadata__"][name] = json.dumps(found["__metadata__"][name])
            text = json.dumps([found]).encode()
        except (ValueError, TypeError, LookupError, RecursionError):
            pass
        return seal(text)

    header["__metadata__"] = {
        name: json.loads(value) if name in inside else value for name, value in metadata.items()
    }
    path = world.inputs / "model.safetensors"
    file = SealedFile(path, "json", [header], seal=sealed)
    file.write()
    world.files.append(file)
    return path


def _model(write: Callable[[Path], None], read: str, forged: bool) -> Maker:
    def make(world: ReaderWorld) -> Read:
        from deltableu.judges.model_file import read_model
        from deltableu.respond.neural.model_file import read_responder

        content = _bytes(write)
        reader: Callable[[Any], Any] = {"rater": read_model, "responder": read_responder}[read]
        if not forged:
            path = world.content("model.safetensors", content)
            return lambda report: reader(path).tables()
        path = _sealed(world, content)

        def unsealed(report: Any) -> None:
            with (
                patch.object(model_file, "_digest", lambda *_: SAME),
                patch.object(model_file, "_sha256", lambda _: SAME),
            ):
                reader(path).tables()

        return unsealed

    return make


def _relevance_model(forged: bool) -> Maker:
    def make(world: ReaderWorld) -> Read:
        content = _bytes(_relevance)
        if not forged:
            path = world.content("model.safetensors", content)
            return lambda report: relevance_model.read_relevance(path).tables()
        path = _sealed(world, content)

        def unsealed(report: Any) -> None:
            with patch.object(relevance_model.RelevanceModel, "digest", SAME):
                relevance_model.read_relevance(path).tables()

        return unsealed

    return make


def _calibration(forged: bool) -> Maker:
    def make(world: ReaderWorld) -> Read:
        whole = scr_calibration.ScrCalibration(
            (5.0, 4.0, 3.0, 2.0, 1.0), (-1.0, -2.0, 0.0, 0.0, -3.0), 0.5,
            tuple(0.1 * n for n in range(11)), "rated", 10, 5, 0, "wordllama", "m",
        )  # fmt: skip
        record = whole.record()
        path = world.inputs / "calibration.json"

        def alone(text: bytes) -> bytes:
            return text.strip().removeprefix(b"[").removesuffix(b"]")

        file = SealedFile(path, "json", [record], seal=alone)
        file.write()
        world.files.append(file)
        if not forged:
            return lambda report: scr_calibration.read_calibration(path).tables()

        def unsealed(report: Any) -> None:
            with patch.object(scr_calibration.ScrCalibration, "digest", SAME):
                scr_calibration.read_calibration(path).tables()

        return unsealed

    return make


def _words(world: ReaderWorld) -> Read:
    from deltableu.neural import WordVocabulary

    words = WordVocabulary(list(dict.fromkeys(WORDS)))
    path = world.content("vocabulary", words.to_bytes())
    return lambda report: vocabulary_from_bytes("words", path.read_bytes())


def _learn_pieces(path: Path) -> None:
    from deltableu.logs import find_partitions
    from deltableu.neural import piece_vocabulary

    rows = [(" ".join(WORDS[n : n + 6]), " ".join(WORDS[n + 3 : n + 9])) for n in range(12)]
    path.write_bytes(piece_vocabulary(find_partitions(rows), size=40).to_bytes())


def _pieces(world: ReaderWorld) -> Read:
    path = world.content("vocabulary", _bytes(_learn_pieces))
    # What a whole model can do after it was read, so can a spoilt one.
    return lambda report: vocabulary_from_bytes("pieces", path.read_bytes()).encode(["tea ünï 茶"])


READERS: dict[str, Maker] = {
    "model of a rater": _model(_judge, "rater", forged=False),
    "model of a rater, forged": _model(_judge, "rater", forged=True),
    "model of RUBER, forged": _model(_ruber, "rater", forged=True),
    "model of a responder": _model(_responder, "responder", forged=False),
    "model of a responder, forged": _model(_responder, "responder", forged=True),
    "model of relevance": _relevance_model(forged=False),
    "model of relevance, forged": _relevance_model(forged=True),
    "calibration of scr": _calibration(forged=False),
    "calibration of scr, forged": _calibration(forged=True),
    "vocabulary of words": _words,
    "vocabulary of pieces": _pieces,
}
