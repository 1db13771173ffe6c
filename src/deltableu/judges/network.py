"""The NN-rater's network (Tsuta et al. 2020, section 4.2 and Figure 1)."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import Tensor, nn

from deltableu._types import Ints, Singles
from deltableu.judges.settings import RaterSettings
from deltableu.neural import EncodedTexts
from deltableu.neural.networks import Scratch, TextNetwork, encode_chosen, scale_gru

#: Triplets of the quadruple (U1, R1, U2, R2): the utterances never meet, since in training those
#: of a positive example are the same.
TRIPLETS = ((0, 1, 3), (2, 3, 1))


class RaterNetwork(TextNetwork[RaterSettings]):
    """A shared embedding and Bi-GRU, and a network that judges triplets of texts.

    Parameters
    ----------
    settings : RaterSettings
    vocabulary : int
        Its size, with padding and the unknown word.
    seed : int
        Seed of the first parameters.
    scaled : bool
        Whether these are drawn so that signals neither fade in the layers (He et al. 2015) nor in
        the first steps of the GRU, whose update gates begin rather closed; else as torch does it.
    """

    def __init__(
        self, settings: RaterSettings, vocabulary: int, seed: int = 0, *, scaled: bool = False
    ) -> None:
        super().__init__(settings)
        self._scratch = Scratch()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(vocabulary, settings.embedding)
            self.gru = nn.GRU(settings.embedding, settings.hidden, bidirectional=True)
            widths = [6 * settings.hidden, *[settings.layer] * settings.layers]
            parts: list[nn.Module] = []
            for inner, outer in itertools.pairwise(widths):
                parts += [nn.Linear(inner, outer), nn.ReLU()]
            self.network = nn.Sequential(*parts, nn.Linear(settings.layer, 2))
            if scaled:
                self._scale()

    def _scale(self) -> None:
        for part in self.network:
            if isinstance(part, nn.Linear):
                nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
                nn.init.zeros_(part.bias)
        scale_gru(self.gru)

    def encode(self, texts: EncodedTexts, chosen: Ints) -> Tensor:
        """The vectors of some texts, in the order asked for; each should be named once."""
        return encode_chosen(
            self.embedding, self.gru, texts, chosen, self.settings.max_length, self._scratch
        )

    def forward(self, texts: EncodedTexts, quadruples: Ints) -> Tensor:
        """Logits of both triplets of each (U1, R1, U2, R2): quadruple, triplet, class."""
        distinct, places = np.unique(quadruples, return_inverse=True)
        vectors = self.encode(texts, distinct)
        return self.judge(vectors, places.reshape(quadruples.shape))

    def judge(self, vectors: Tensor, quadruples: Ints) -> Tensor:
        """The same of texts that are encoded already."""
        triplets = torch.from_numpy(np.ascontiguousarray(quadruples[:, TRIPLETS]))
        joined = vectors[triplets.reshape(-1)].reshape(len(quadruples) * 2, -1)
        logits: Tensor = self.network(joined)
        return logits.reshape(len(quadruples), 2, 2)


def triplet_probabilities(network: RaterNetwork, texts: EncodedTexts, quadruples: Ints) -> Singles:
    """The probabilities of both classes, negative then positive, of both triplets.

    Parameters
    ----------
    network : RaterNetwork
    texts : EncodedTexts
    quadruples : array of four columns
        The places of U1, R1, U2, R2 in the texts. A text without a word is a vector of zeros.

    Returns
    -------
    array
        quadruple, triplet (U1, R1, R2 and U2, R2, R1), class
    """
    with torch.no_grad():
        found: Singles = network(texts, quadruples).softmax(-1).numpy()
    return found
