"""Settings in, the network of their kind out."""

from __future__ import annotations

from typing import Any

from deltableu.respond.neural.network import ResponderNetwork
from deltableu.respond.neural.seq2seq_network import Seq2SeqNetwork
from deltableu.respond.neural.settings import ResponderSettings, VHREDSettings
from deltableu.respond.neural.vhred_network import VHREDNetwork


def network_of(settings: ResponderSettings) -> type[ResponderNetwork[Any]]:
    """The network of this kind of responder."""
    return VHREDNetwork if isinstance(settings, VHREDSettings) else Seq2SeqNetwork
