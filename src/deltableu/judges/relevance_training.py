"""Logs in; how responses go with utterances out (canonical correlation analysis)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltableu._types import Progress
from deltableu.errors import InputError, check_kind
from deltableu.judges.relevance_model import RelevanceModel, lowercase_vectors
from deltableu.judges.relevance_sums import PairSums, canonical_space
from deltableu.neural import log_teller
from deltableu.text import text_vectors

if TYPE_CHECKING:
    from deltableu.logs import Logs

#: Pairs whose texts are encoded at once.
_BLOCK = 4096
RIDGE = 0.01


def train_relevance(
    logs: Logs,
    *,
    encoder: str = "wordllama",
    ridge: float = RIDGE,
    progress: Progress | None = None,
) -> RelevanceModel:
    """Learn from logs how the vectors of responses go with those of utterances.

    In closed form, from sums over all pairs: memory does not grow with the logs, and neither the
    order of the pairs nor the number of threads changes the model. Pairs with an empty text are
    left out. `write_relevance` writes what comes out.

    Parameters
    ----------
    logs
        As `deltableu.mine_references` takes them.
    encoder : str
        What makes vectors of lower-cased texts: `wordllama`, `sentence-transformers:NAME`,
        `package.module:function`, or a file of word vectors.
    ridge : float
        What is added to the diagonals of both covariances, times their mean variance.
    progress : callable, optional
        Called with (what is done, done, in all).

    References
    ----------
    Hotelling 1936, "Relations between two sets of variates".

    Examples
    --------
    >>> rows = [("where is it ?", "over there"), ("thanks !", "you are welcome")] * 20
    >>> model = train_relevance(rows)
    >>> model.scores(["where is it ?"], ["over there"]) > model.scores(["thanks !"], ["over there"])
    array([ True])
    """
    check_kind("ridge", ridge, int, float)
    if not 0.0 < ridge < float("inf"):
        raise InputError(f"ridge must be a number above 0, got {ridge!r}")
    # Here, so that those who only score need not wait for what reads logs.
    from deltableu.logs import find_partitions, read_blocks

    source = text_vectors(encoder)
    partitions = find_partitions(logs, block_rows=_BLOCK)
    sums: PairSums | None = None
    rows = 0
    tell = log_teller(progress, "pairs", partitions, 1)
    for block in read_blocks(partitions, tell):
        sides = (block.utterances.strings(), block.responses.strings())
        utterances, responses = (lowercase_vectors(source, one) for one in sides)
        if sums is None:
            sums = PairSums.empty(utterances.shape[1])
        sums = sums.with_pairs(utterances, responses)
        rows += len(block)
    if sums is None:
        raise InputError("the logs hold no rows, and relevance is learnt from pairs of texts")
    canonical_space(sums, ridge)  # which complains of logs that nothing can be learnt from
    card = {"rows": rows, "left out": rows - sums.pairs}
    return RelevanceModel(encoder, source.digest(), float(ridge), sums, card)
