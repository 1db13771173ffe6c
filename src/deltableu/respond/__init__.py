"""Items and logs, programs or n-best lists in; responses to evaluate out."""

from deltableu.respond.features import MESSAGE_FEATURES, message_features
from deltableu.respond.logged_responses import logged_responses
from deltableu.respond.program import program_responses
from deltableu.respond.random_responses import random_responses
from deltableu.respond.reranking import (
    HAND_SET,
    SYSTEM_TOTAL,
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
    "Query",
    "Responses",
    "Retrieval",
    "hand_set_weights",
    "logged_responses",
    "message_features",
    "program_responses",
    "random_responses",
    "reranked",
    "retrieved_responses",
    "with_message_features",
]
