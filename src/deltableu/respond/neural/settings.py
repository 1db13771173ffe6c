"""How large a neural responder is and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from deltableu.errors import InputError, Problem, check_at_least
from deltableu.neural import NetworkShape, check_how_trained, check_preset, gru_shapes

ResponderKind = Literal["seq2seq", "vhred"]
Size = Literal["paper", "small"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponderSettings(NetworkShape):
    """The shape of a responder.

    Attributes
    ----------
    embedding : int
        Size of the vector of a word or piece.
    hidden : int
        Units of the decoder's GRU, and of both directions of the encoder's together: an even
        number.
    max_length : int
        Number of words or pieces of a text that are read and learnt; the rest is cut off.
    turns : int
        Number of turns of a conversation that are read, the message among them.
    """

    kind: ClassVar[ResponderKind]

    embedding: int = 128
    hidden: int = 256
    max_length: int = 30
    turns: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value: Any = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                message = f"must be a whole number of 1 or more, got {value!r}"
                raise InputError(Problem(message, field=field.name))
        if self.hidden % 2:
            message = f"must be even, because the encoder has two directions, got {self.hidden}"
            raise InputError(Problem(message, field="hidden"))

    def _shared(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        """The embedding, which the softmax uses too, the encoder, and what is below the softmax."""
        return {
            "embedding.weight": (vocabulary, self.embedding),
            "bias": (vocabulary,),
            **gru_shapes("encoder.", self.embedding, self.hidden // 2, ways=2),
            "start.weight": (self.hidden, self._given),
            "start.bias": (self.hidden,),
            "readout.bias": (self.embedding,),
        }

    @property
    def _given(self) -> int:
        """Size of what the decoder begins with."""
        return self.hidden

    def size(self, vocabulary: int) -> int:
        return vocabulary * (self.embedding + 1) + 12 * self.hidden * (self.hidden + self.embedding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seq2SeqSettings(ResponderSettings):
    """The shape of a sequence-to-sequence model with attention.

    Attributes
    ----------
    embedding, hidden, max_length, turns : int
        See `ResponderSettings`; the turns are read as one text.
    """

    kind: ClassVar[ResponderKind] = "seq2seq"

    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        return {
            **self._shared(vocabulary),
            **gru_shapes("decoder.", self.embedding, self.hidden),
            "attention.weight": (self.hidden, self.hidden),
            "readout.weight": (self.embedding, 2 * self.hidden),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VHREDSettings(ResponderSettings):
    """The shape of a latent variable hierarchical encoder-decoder (Serban et al. 2017).

    Attributes
    ----------
    embedding, hidden, max_length, turns : int
        See `ResponderSettings`; each turn becomes a vector, which a second GRU reads.
    context : int
        Units of that GRU.
    latent : int
        Size of the latent variable.
    """

    kind: ClassVar[ResponderKind] = "vhred"

    turns: int = 3
    context: int = 256
    latent: int = 64

    @property
    def _given(self) -> int:
        return self.context + self.latent

    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        return {
            **self._shared(vocabulary),
            **gru_shapes("conversation.", self.hidden, self.context),
            **_two_layers("prior", self.context, self.context, 2 * self.latent),
            **_two_layers("posterior", self.context + self.hidden, self.context, 2 * self.latent),
            "feed.weight": (self.embedding, self._given),
            "feed.bias": (self.embedding,),
            **gru_shapes("decoder.", 2 * self.embedding, self.hidden),
            "readout.weight": (self.embedding, self.hidden),
        }

    def size(self, vocabulary: int) -> int:
        wide = max(self.hidden, self.context, self.latent)
        own = 12 * wide * (wide + self.embedding)
        return vocabulary * (self.embedding + 1) + 12 * self.hidden * self.hidden + own


def _two_layers(name: str, inner: int, middle: int, outer: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{name}.0.weight": (middle, inner),
        f"{name}.0.bias": (middle,),
        f"{name}.2.weight": (outer, middle),
        f"{name}.2.bias": (outer,),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponderTraining:
    """How a responder is trained.

    Attributes
    ----------
    vocabulary : {"pieces", "words"}
        Pieces of SentencePiece, or the words that mining compares, which have no punctuation.
    vocabulary_size : int
        Largest number of entries beside padding and the unknown word.
    lowercase : bool
        Whether pieces are of lower-cased texts, which then is how the model answers.
    learning_rate : float
        Learning rate of Adam.
    batch : int
        Pairs per step.
    examples : int, optional
        Largest number of pairs per epoch, drawn afresh for each; all of them by default.
    epochs : int
        Largest number of epochs; the parameters with the least held-out loss are kept.
    patience : int
        Epochs without a lower held-out loss, after which training ends.
    validation : float
        Share of the conversations (of utterances, where nothing is known of conversations) that
        is held out; from 1 on, their number.
    max_pairs : int
        Logged pairs that are kept in memory, at most; chance chooses among more.
    dropout : float
        Share of the numbers of embeddings and readouts that a step leaves out (Srivastava et al.
        2014).
    word_dropout : float
        Share of the words that the decoder is not told in training (Bowman et al. 2016).
    clip : float
        Largest norm of a step's gradient; a longer one is scaled to it.
    kl_steps : int
        Steps in which VHRED's divergence comes to count in full, evenly from nothing (Bowman et
        al. 2016); 1 for from the beginning.
    seed : int
    """

    vocabulary: Literal["pieces", "words"] = "pieces"
    vocabulary_size: int = 8000
    lowercase: bool = False
    learning_rate: float = 1e-3
    batch: int = 64
    examples: int | None = None
    epochs: int = 10
    patience: int = 1
    validation: float = 0.05
    max_pairs: int = 1_000_000
    dropout: float = 0.2
    word_dropout: float = 0.0
    clip: float = 1.0
    kl_steps: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_how_trained(self)
        check_at_least("max_pairs", self.max_pairs, 4)
        check_at_least("kl_steps", self.kl_steps, 1)
        for name in ("dropout", "word_dropout"):
            if not 0 <= (share := getattr(self, name)) < 1:
                message = f"must be a share from 0 to below 1, got {share:g}"
                raise InputError(Problem(message, field=name))
        if not 0 < self.clip < float("inf"):
            raise InputError(Problem(f"must be a number above 0, got {self.clip:g}", field="clip"))


#: Serban et al. (2017) clip gradients at 1, leave out a quarter of the words that VHRED's decoder
#: reads, and let the divergence count in full after 60,000 steps of their Twitter model.
PRESETS: dict[ResponderKind, dict[Size, tuple[ResponderSettings, ResponderTraining]]] = {
    "seq2seq": {
        "paper": (
            Seq2SeqSettings(embedding=400, hidden=1000, max_length=50),
            ResponderTraining(
                vocabulary_size=20_000, learning_rate=2e-4, batch=80, epochs=30, patience=5,
                dropout=0.0, max_pairs=3_000_000,
            ),
        ),
        "small": (Seq2SeqSettings(), ResponderTraining()),
    },
    "vhred": {
        "paper": (
            VHREDSettings(
                embedding=400, hidden=1000, context=1000, latent=100, max_length=50, turns=5
            ),
            ResponderTraining(
                vocabulary_size=20_000, learning_rate=2e-4, batch=80, epochs=30, patience=5,
                dropout=0.0, word_dropout=0.25, kl_steps=60_000, max_pairs=3_000_000,
            ),
        ),
        "small": (VHREDSettings(), ResponderTraining(word_dropout=0.25, kl_steps=1000, patience=2)),
    },
}  # fmt: skip


def responder_preset(
    kind: ResponderKind, name: Size = "small"
) -> tuple[ResponderSettings, ResponderTraining]:
    """Settings of the size of the papers', or small ones that train in minutes on two cores.

    Examples
    --------
    >>> responder_preset("seq2seq")[0]
    Seq2SeqSettings(embedding=128, hidden=256, max_length=30, turns=1)
    """
    if kind not in PRESETS:
        raise InputError(f"unknown kind of responder {kind!r}; there are {', '.join(PRESETS)}")
    check_preset(name, PRESETS[kind])
    return PRESETS[kind][name]
