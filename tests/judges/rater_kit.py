"""A small real network with random parameters, and a study for it to rate."""

from __future__ import annotations

import random

import torch

from deltableu.corpus.types import Item, Reference, Source, Study
from deltableu.judges.model_file import write_model
from deltableu.judges.network import RaterNetwork
from deltableu.judges.settings import RaterSettings
from deltableu.neural.word_vocabulary import WordVocabulary

# Small matrices: threads would only wait for each other.
torch.set_num_threads(1)

SETTINGS = RaterSettings(embedding=6, hidden=5, layer=8, layers=2, max_length=12)
SAID = "where is my tea it on the table in kitchen who knows i do not know a cat sat"
WORDS = SAID.split()
CARD = {
    "made_by": "a test",
    "rows": 1234567,
    "epochs": [
        {"epoch": 1, "training_loss": 0.69314718, "validation_loss": 0.7},
        {"epoch": 2, "training_loss": 0.5, "validation_loss": 0.625, "kept": True},
    ],
    "validation": {
        "accuracy": 0.75,
        "calibration": [{"from": 0.5, "to": 0.6, "examples": 10, "share": 0.52}],
    },
    "languages": ["en", "ja"],
}


def small_state(seed=4):
    """Parameters that are large enough for weights to differ."""
    state = RaterNetwork(SETTINGS, len(WORDS) + 2, seed=seed).state()
    return {name: 3 * array for name, array in state.items()}


def small_model(path, seed=4, card=CARD):
    return write_model(path, SETTINGS, WordVocabulary(WORDS), small_state(seed), card)


def said(rng, most=8):
    return " ".join(rng.choices([*WORDS, "unheard"], k=rng.randint(1, most)))


def small_item(number, rng):
    message = said(rng)
    references = [
        Reference("r0", said(rng)),
        Reference("r1", said(rng), origin="written"),
        *(
            Reference(f"m{n}", said(rng), None, "mined", Source(said(rng), f"log-{n}", 0.5, n))
            for n in range(rng.randint(0, 4))
        ),
        Reference("p", message, None, "parrot"),
        Reference("x", said(rng), None, "random", Source(said(rng))),
    ]
    return Item(f"q{number}", tuple(references), (), message)


def small_study(items, seed=0):
    rng = random.Random(seed)
    made = tuple(small_item(number, rng) for number in range(items))
    return Study(made, {"echo": tuple(item.message or "" for item in made)})
