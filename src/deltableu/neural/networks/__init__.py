"""The parts of neural models that need torch: texts as numbers in, vectors and gradients out."""

from deltableu.neural.networks.gru import Scratch
from deltableu.neural.networks.learning import Learner, threads_of_torch
from deltableu.neural.networks.network import TextNetwork, encode_chosen, scale_gru

__all__ = [
    "Learner",
    "Scratch",
    "TextNetwork",
    "encode_chosen",
    "scale_gru",
    "threads_of_torch",
]
