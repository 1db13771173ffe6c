"""Items and logs, programs or n-best lists in; responses to evaluate out."""

from deltableu.respond.features import MESSAGE_FEATURES, message_features
from deltableu.respond.logged_responses import logged_responses
from deltableu.respond.neural import (
    Decoding,
    DecodingMethod,
    NeuralResponder,
    Perplexity,
    ResponderKind,
    ResponderModel,
    ResponderSettings,
    ResponderTraining,
    Seq2SeqSettings,
    Size,
    VHREDSettings,
    read_responder,
    responder_preset,
    train_responder,
    write_responder,
)
from deltableu.respond.program import program_responses
from deltableu.respond.random_responses import random_responses
from deltableu.respond.reranking import (
    HAND_SET,
    SYSTEM_TOTAL,
    best_responses,
    hand_set_weights,
    reranked,
    with_message_features,
)
from deltableu.respond.responses import Responses
from deltableu.respond.retrieval import Query, Retrieval, retrieved_responses

__all__ = [
    "HAND_SET",
    "MESSAGE_FEATURES",
    "SYSTEM_TOTAL",
    "Decoding",
    "DecodingMethod",
    "NeuralResponder",
    "Perplexity",
    "Query",
    "ResponderKind",
    "ResponderModel",
    "ResponderSettings",
    "ResponderTraining",
    "Responses",
    "Retrieval",
    "Seq2SeqSettings",
    "Size",
    "VHREDSettings",
    "best_responses",
    "hand_set_weights",
    "logged_responses",
    "message_features",
    "program_responses",
    "random_responses",
    "read_responder",
    "reranked",
    "responder_preset",
    "retrieved_responses",
    "train_responder",
    "with_message_features",
    "write_responder",
]
