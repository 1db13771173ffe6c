"""Small responders with random parameters, and conversations to learn."""

from __future__ import annotations

import random

import torch

from deltableu.corpus import Item
from deltableu.io import WorkFolder
from deltableu.logs import find_partitions
from deltableu.neural import Drawn, Run, WordVocabulary
from deltableu.respond.neural import Seq2SeqSettings, VHREDSettings, write_responder
from deltableu.respond.neural.conversations import read_conversations
from deltableu.respond.neural.networks import network_of
from deltableu.respond.neural.task import ResponderTask

# Small matrices: threads would only wait for each other.
torch.set_num_threads(1)

SAID = "where is my tea it on the table in kitchen who knows i do not know a cat sat"
WORDS = list(dict.fromkeys(SAID.split()))
VOCABULARY = len(WORDS) + 2
SHAPES = {
    "seq2seq": Seq2SeqSettings(embedding=6, hidden=8, max_length=12, turns=2),
    "vhred": VHREDSettings(embedding=6, hidden=8, context=7, latent=4, max_length=12, turns=3),
}


def small_network(kind, seed=0, words=VOCABULARY, scale=4.0, settings=None):
    """A network whose parameters are large enough for words to differ."""
    settings = settings or SHAPES[kind]
    network = network_of(settings)(settings, words, seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter *= 12.0 if name == "embedding.weight" else scale
    return network


def small_responder(path, kind, seed=0, scale=1.5):
    state = small_network(kind, seed, scale=scale).state()
    return write_responder(path, SHAPES[kind], WordVocabulary(WORDS), state, {"made by": "a test"})


def said(rng, most=7):
    return " ".join(rng.choices(WORDS, k=rng.randint(1, most)))


def small_items(number, seed=0):
    rng = random.Random(seed)
    return [
        Item(f"q{n}", (), tuple(said(rng) for _ in range(rng.randint(0, 4))), said(rng))
        for n in range(number)
    ]


class _Memory(ResponderTask):
    """Nothing is held out: whether what was learnt is known by heart."""

    def draw(self, split, epoch, most=None):
        every = super().draw("training", epoch), super().draw("validation", epoch)
        rows = sorted([*every[0].chosen, *every[1].chosen])
        return Drawn(torch.tensor(rows).numpy(), torch.zeros(len(rows), dtype=int).numpy())


def learnt_by_heart(rows, settings, training):
    """Everything in the logs is learnt, and the parameters with the least loss on it are kept."""
    partitions = find_partitions(rows)
    texts = {text for row in rows for text in (row["utterance"], row["response"])}
    vocabulary = WordVocabulary(sorted({word for text in texts for word in text.split()}))
    found = read_conversations(
        partitions, vocabulary, turns=settings.turns, validation=2, max_length=settings.max_length
    )
    task = _Memory(settings, training, vocabulary, found)
    return Run(task, WorkFolder(None, "none"), 60.0).train()
