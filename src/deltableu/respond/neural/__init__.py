"""Neural responders: logged conversations in, models out; messages in, responses out."""

from deltableu.respond.neural.decoding import Decoding, DecodingMethod
from deltableu.respond.neural.model_file import ResponderModel, read_responder, write_responder
from deltableu.respond.neural.responder import NeuralResponder, Perplexity
from deltableu.respond.neural.settings import (
    ResponderKind,
    ResponderSettings,
    ResponderTraining,
    Seq2SeqSettings,
    Size,
    VHREDSettings,
    responder_preset,
)
from deltableu.respond.neural.training import train_responder

__all__ = [
    "Decoding",
    "DecodingMethod",
    "NeuralResponder",
    "Perplexity",
    "ResponderKind",
    "ResponderModel",
    "ResponderSettings",
    "ResponderTraining",
    "Seq2SeqSettings",
    "Size",
    "VHREDSettings",
    "read_responder",
    "responder_preset",
    "train_responder",
    "write_responder",
]
