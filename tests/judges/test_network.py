"""The network has the paper's shape, and judges the two triplets of each quadruple."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deltableu.judges.network import RaterNetwork, triplet_probabilities  # noqa: E402
from deltableu.judges.settings import RaterSettings, parameter_shapes, preset  # noqa: E402
from deltableu.neural.encoded_texts import EncodedTexts  # noqa: E402

SMALL = RaterSettings(embedding=5, hidden=4, layer=6, layers=2)
TEXTS = EncodedTexts(np.array([2, 3, 4, 5, 6, 2, 7], np.int32), np.array([0, 2, 3, 6, 7]))


@pytest.mark.parametrize(("name", "vocabulary"), [("paper", 33_002), ("small", 8_002)])
def test_parameter_counts(name, vocabulary):
    settings, _ = preset(name)
    with torch.device("meta"):
        network = RaterNetwork(settings, vocabulary)
    shapes = {key: tuple(tensor.shape) for key, tensor in network.state_dict().items()}
    assert shapes == parameter_shapes(settings, vocabulary)
    counts = {
        part: sum(prod(shape) for key, shape in shapes.items() if key.startswith(part))
        for part in ("embedding", "gru", "network")
    }
    if name == "paper":  # semantics: 3,151,872 and 7,347,202, and 512 a word
        expected = {"embedding": 512 * vocabulary, "gru": 3_151_872, "network": 7_347_202}
        assert counts == expected
    assert settings.layers == 5


def test_triplets_are_as_published():
    """(U1, R1, R2) and (U2, R2, R1): each text alone through torch's own layers."""
    network = RaterNetwork(SMALL, 8, seed=3)

    def vector(place):
        text = TEXTS.numbers[TEXTS.bounds[place] : TEXTS.bounds[place + 1]]
        words = network.embedding(torch.from_numpy(text.astype(np.int64)))
        return network.gru(words)[1].reshape(-1)

    def says(*places):
        joined = torch.cat([vector(place) for place in places])
        return network.network(joined).softmax(-1).detach().numpy()

    found = triplet_probabilities(network, TEXTS, np.array([[0, 1, 2, 3], [2, 2, 0, 1]]))
    expected = [[says(0, 1, 3), says(2, 3, 1)], [says(2, 2, 1), says(0, 1, 2)]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_seed_decides_the_first_parameters():
    one, same, other = (RaterNetwork(SMALL, 8, seed, scaled=True) for seed in (1, 1, 2))
    assert all(
        np.array_equal(a, b)
        for a, b in zip(one.state().values(), same.state().values(), strict=True)
    )
    assert not np.array_equal(one.state()["network.0.weight"], other.state()["network.0.weight"])


def test_random_numbers_of_the_caller_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    RaterNetwork(SMALL, 8, seed=1)
    assert torch.equal(torch.rand(3), expected)


def test_state_makes_the_same_network_again():
    network = RaterNetwork(SMALL, 8, seed=3)
    again = RaterNetwork.of(SMALL, network.state())
    chosen = np.array([[0, 1, 2, 3]])
    assert np.array_equal(
        triplet_probabilities(network, TEXTS, chosen), triplet_probabilities(again, TEXTS, chosen)
    )
