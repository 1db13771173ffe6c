"""A model's file: the same again, never another one, and one sentence for every fault."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.judges.model_file import read_model, write_model
from deltableu.judges.settings import parameter_shapes, preset
from deltableu.neural.word_vocabulary import WordVocabulary
from tests.judges.rater_kit import CARD, SETTINGS, WORDS, small_model, small_state


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "judge.safetensors"
    small_model(path)
    return path


def header(content):
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def rewritten(path, file, change=lambda head: None, data=None):
    """The same file with another header, and perhaps other numbers."""
    head, numbers = header(file.read_bytes())
    change(head)
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + (data or numbers))
    return path


# --- the same again -------------------------------------------------------------------------------


def test_a_model_comes_back(file):
    written = small_model(file)
    read = read_model(file)
    assert (read.settings, read.card, read.digest) == (SETTINGS, CARD, written.digest)
    assert read.vocabulary.kind == "words"
    texts = ["where is my cat", "", "what"]
    for one in ("numbers", "bounds"):
        again, before = (getattr(m.vocabulary.encode(texts), one) for m in (read, written))
        assert again.tolist() == before.tolist()
    assert read.state.keys() == small_state().keys()
    for name, array in small_state().items():
        assert read.state[name].dtype == np.float32
        assert np.array_equal(read.state[name], array)
    assert read.parameters == sum(array.size for array in small_state().values())


def test_the_same_model_gives_the_same_bytes_and_needs_no_torch(tmp_path, file):
    again = tmp_path / "again"
    backwards = dict(reversed(small_state().items()))
    write_model(again, SETTINGS, WordVocabulary(WORDS), backwards, CARD)
    assert again.read_bytes() == file.read_bytes()
    script = (
        "import sys; from deltableu.judges.model_file import read_model, write_model;"
        "m = read_model(sys.argv[1]);"
        "write_model(sys.argv[2], m.settings, m.vocabulary, m.state, m.card);"
        "assert not {'torch', 'sentencepiece'} & sys.modules.keys()"
    )
    other = tmp_path / "other"
    subprocess.run([sys.executable, "-c", script, file, other], check=True)
    assert other.read_bytes() == file.read_bytes()


def test_any_program_can_read_it(file):
    from safetensors.numpy import load_file

    tensors = load_file(file)
    assert tensors.keys() == {*small_state(), "vocabulary"}
    assert np.array_equal(tensors["network.4.bias"], small_state()["network.4.bias"])


def test_the_digest_is_of_what_rates(tmp_path, file):
    digest = read_model(file).digest
    assert small_model(tmp_path / "card", card={}).digest == digest
    others = [
        small_model(tmp_path / "seed", seed=1),
        write_model(tmp_path / "words", SETTINGS, WordVocabulary(WORDS[::-1]), small_state(), CARD),
        write_model(
            tmp_path / "shorter",
            replace(SETTINGS, max_length=11),
            WordVocabulary(WORDS),
            small_state(),
            CARD,
        ),
    ]
    assert len({digest, *(model.digest for model in others)}) == 4


def test_the_papers_network():
    shapes = parameter_shapes(preset("paper")[0], 33_002)
    numbers = {name: math.prod(shape) for name, shape in shapes.items()}
    assert sum(n for name, n in numbers.items() if name.startswith("gru")) == 3_151_872
    assert sum(n for name, n in numbers.items() if name.startswith("network")) == 7_347_202
    assert numbers["embedding.weight"] == 33_002 * 512


def test_shapes_are_those_of_the_network():
    shapes = {name: array.shape for name, array in small_state().items()}
    assert shapes == parameter_shapes(SETTINGS, len(WORDS) + 2)


# --- never another one ----------------------------------------------------------------------------


def same_or_refused(path, expected):
    try:
        read = read_model(path)
    except InputError as error:
        said = str(error)
    else:
        said = None
    if said is not None:
        assert said.startswith(f"{path}: ")
        assert "\n" not in said
        return
    assert (read.digest, read.card, read.settings) == (expected.digest, CARD, SETTINGS)
    assert all(np.array_equal(read.state[name], array) for name, array in small_state().items())


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_bytes_never_make_another_model(data, file, tmp_path):
    content = bytearray(file.read_bytes())
    # The header is small, and there most can go wrong.
    size = int.from_bytes(content[:8], "little") + 8
    places = st.one_of(st.integers(0, size - 1), st.integers(0, len(content) - 1))
    changes = st.lists(st.tuples(places, st.integers(1, 255)), min_size=1, max_size=3)
    for place, bits in data.draw(changes):
        content[place] ^= bits
    changed = tmp_path / "changed"
    changed.write_bytes(content)
    same_or_refused(changed, read_model(file))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_files_are_refused(data, file, tmp_path):
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little") + 8
    places = st.one_of(st.integers(0, size), st.integers(0, len(content) - 1))
    cut = tmp_path / "cut"
    cut.write_bytes(content[: data.draw(places)])
    with pytest.raises(InputError, match="cut: "):
        read_model(cut)
    cut.write_bytes(content + b"\0" * data.draw(st.integers(1, 9)))
    with pytest.raises(InputError, match="is no whole safetensors file"):
        read_model(cut)


# --- one sentence for every fault -----------------------------------------------------------------


def metadata(**values):
    def change(head):
        head["__metadata__"] |= values

    return change


def renamed(head):
    head["embedding"] = head.pop("embedding.weight")


def reshaped(head):
    head["embedding.weight"]["shape"].reverse()


def retyped(kind):
    def change(head):
        head["network.4.bias"]["dtype"] = kind

    return change


def without_vocabulary(head):
    head["words"] = head.pop("vocabulary")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (metadata(format="other"), "is a safetensors file, but no judge of deltableu"),
        (lambda head: head.pop("__metadata__"), "is a safetensors file, but no judge"),
        (metadata(format_version="3"), r"was written by a newer deltableu \(format 3\)"),
        (metadata(format_version="0"), "has the format version '0', which is none"),
        (metadata(format_version="new"), "has the format version 'new', which is none"),
        (metadata(settings="{"), "its settings are no JSON"),
        (metadata(settings="{}"), "its settings are not those of a judge"),
        (
            metadata(settings=json.dumps(asdict(SETTINGS) | {"layer": 0})),
            "settings are wrong: layer",
        ),
        (metadata(settings=json.dumps(asdict(SETTINGS) | {"layers": 10**12})), "for 1000000000000"),
        (metadata(format_version="9" * 5000), "has the format version '99999999999999999999'"),
        (metadata(vocabulary_size="9" * 5000), "does not say how large its vocabulary is"),
        (metadata(vocabulary_size="many"), "does not say how large its vocabulary is"),
        (
            metadata(vocabulary_size="9"),
            r"embedding.weight has the shape \(21, 6\), but .* \(9, 6\)",
        ),
        (metadata(vocabulary_kind="pieces"), "is damaged: its content is not what was written"),
        (metadata(card="{}"), "is damaged: its content is not what was written"),
        (metadata(digest="0" * 64), "is damaged: its content is not what was written"),
        (renamed, "lacks the tensor embedding.weight"),
        (reshaped, r"the tensor embedding.weight has the shape \(6, 21\)"),
        (retyped("I32"), "the tensor network.4.bias"),
        (retyped("U32"), "the tensor network.4.bias"),
        (without_vocabulary, "has no vocabulary"),
    ],
)
def test_faults_in_the_header(change, sentence, file, tmp_path):
    with pytest.raises(InputError, match=sentence) as raised:
        read_model(rewritten(tmp_path / "changed", file, change))
    assert str(raised.value).startswith(f"{tmp_path / 'changed'}: ")


def test_a_layer_too_many(file, tmp_path):
    def change(head):
        head["extra"] = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}

    with pytest.raises(InputError, match="holds the unknown tensor 'extra'"):
        read_model(rewritten(tmp_path / "changed", file, change))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_that_are_none(number, file, tmp_path):
    head, data = header(file.read_bytes())
    place = head["network.4.bias"]["data_offsets"][0]
    data = data[:place] + np.float32(number).tobytes() + data[place + 4 :]
    with pytest.raises(InputError, match=r"network\.4\.bias holds numbers that are not finite"):
        read_model(rewritten(tmp_path / "changed", file, data=data))


class Impostor:
    """Its bytes are no vocabulary, or one of another size."""

    def __init__(self, data, size, kind="words"):
        self.data, self.size, self.kind = data, size, kind

    def __len__(self):
        return self.size

    def to_bytes(self):
        return self.data


@pytest.mark.parametrize(
    ("vocabulary", "sentence"),
    [
        (Impostor(b"\xff\0", len(WORDS) + 2), "its vocabulary cannot be read: "),
        (Impostor(b"", len(WORDS) + 2), "its vocabulary "),
        (Impostor(b"x", len(WORDS) + 2, "pieces"), "its vocabulary cannot be read: "),
        (Impostor(b"x", len(WORDS) + 2, "runes"), "unknown kind of vocabulary 'runes'"),
        (
            Impostor(WordVocabulary(WORDS[1:]).to_bytes(), len(WORDS) + 2),
            "has 20 entries.* says 21",
        ),
    ],
)
def test_vocabularies_that_are_none(vocabulary, sentence, tmp_path):
    path = tmp_path / "rater"
    write_model(path, SETTINGS, vocabulary, small_state(), CARD)
    with pytest.raises(InputError, match=sentence):
        read_model(path)


def test_files_that_are_none(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("a judge\n" * 100)
    (tmp_path / "pickle").write_bytes(b"\x80\x04\x95\x00")
    for name in ("empty", "text", "pickle"):
        with pytest.raises(InputError, match=f"{name}: is no whole safetensors file"):
            read_model(tmp_path / name)
    with pytest.raises(InputError, match="absent: there is no such file"):
        read_model(tmp_path / "absent")
    with pytest.raises(InputError, match=": is a folder, but a judge is a file"):
        read_model(tmp_path)
    if os.geteuid() != 0:
        (tmp_path / "text").chmod(0)
        with pytest.raises(InputError, match="cannot be read by this user"):
            read_model(tmp_path / "text")


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda state: state.pop("network.0.bias"), "state: lacks the tensor network.0.bias"),
        (lambda state: state.update(more=np.zeros(1)), "state: holds the unknown tensor 'more'"),
        (
            lambda state: state["gru.bias_ih_l0"].fill(np.nan),
            "state: the tensor gru.bias_ih_l0 holds",
        ),
    ],
)
def test_what_could_not_be_read_is_not_written(change, sentence, tmp_path):
    state = small_state()
    change(state)
    with pytest.raises(InputError, match=sentence):
        write_model(tmp_path / "rater", SETTINGS, WordVocabulary(WORDS), state, CARD)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("card", [{"loss": math.nan}, {"made": object()}])
def test_cards_that_json_cannot_hold(card, tmp_path):
    with pytest.raises(InputError, match="card: must be what JSON can hold"):
        small_model(tmp_path / "rater", card=card)
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "rater"
    small_model(path)
    before = path.read_bytes()

    class Cut(Impostor):
        def to_bytes(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_model(path, SETTINGS, Cut(b"", len(WORDS) + 2), small_state(1), CARD)
    assert path.read_bytes() == before
    small_model(path, seed=1)
    assert path.read_bytes() != before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="its folder does not exist"):
        small_model(tmp_path / "no" / "rater")
