"""Examples of two pairs in, places of their texts out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Ints
from deltableu.judges.examples import Examples
from deltableu.judges.training_pairs import TrainingPairs


def quadruples(pairs: TrainingPairs, examples: Examples) -> Ints:
    """The places of U1, R1, U2, R2 of each example among the texts."""
    first, second = examples.first, examples.second
    columns = (
        pairs.utterances[first],
        pairs.responses[first],
        pairs.utterances[second],
        pairs.responses[second],
    )
    return np.stack(columns, axis=1).astype(np.int64)
