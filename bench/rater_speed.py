"""The neural rater: training beside torch's bare GRU on the same tokens, and rating."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np

from bench.logs import pairs
from bench.timing import best_of
from deltableu.corpus.types import Item, Reference, Source
from deltableu.judges import NNRater, RaterModel, RaterSettings, preset
from deltableu.judges.batches import quadruples
from deltableu.judges.examples import draw_examples
from deltableu.judges.log_pairs import read_training_pairs
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.logs.partitions import find_partitions
from deltableu.neural import cut_batches, lengths_of
from deltableu.neural.vocabulary import Vocabulary
from deltableu.neural.word_vocabulary import word_vocabulary

__all__ = ["main"]

UTTERANCES, RESPONSES, BATCH, BATCHES, THREADS, REPEATS = 4_000, 5, 1000, 4, 2, 3
ITEMS, REFERENCES = 1_000, 17


def main() -> None:
    """Print tokens/s and references/s, and ratios.

    The bare GRU gets vectors of the distinct texts of each batch, packed by falling length, and
    does nothing but one forward and one backward pass. Ours draws examples, cuts batches, looks up
    embeddings, encodes, judges both triplets, and updates all parameters.
    """
    torch = import_module("torch")
    torch.set_num_threads(THREADS)
    vocabulary, read = _logs()
    settings, _ = preset("small")
    print(
        f"NN-rater, preset small, {THREADS} threads: {BATCHES} batches of {BATCH} examples, best "
        f"of {REPEATS}"
    )
    ours, tokens = _training(settings, vocabulary, read)
    bare = _bare(torch, settings, read)
    slow, fast = best_of(bare, REPEATS), best_of(ours, REPEATS)
    print(f"torch nn.GRU, forward and backward: {slow:6.2f} s  {tokens / slow:>9,.0f} tokens/s")
    print(
        f"deltableu, whole training steps:    {fast:6.2f} s  {tokens / fast:>9,.0f} tokens/s"
        f"   {slow / fast:.0%} of the bare GRU's throughput"
    )
    _rating(settings, vocabulary)


def _logs() -> tuple[Vocabulary, TrainingPairs]:
    """Utterances with several responses; words are as frequent as in the other benchmarks."""
    texts = [text for pair in pairs(UTTERANCES * (RESPONSES + 1) // 2) for text in pair]
    rows = [
        (texts[one], texts[UTTERANCES + RESPONSES * one + place])
        for one in range(UTTERANCES)
        for place in range(RESPONSES)
    ]
    partitions = find_partitions(rows)
    vocabulary = word_vocabulary(partitions, size=8000)
    return vocabulary, read_training_pairs(partitions, vocabulary)


def _batches(read: TrainingPairs) -> list[tuple[Any, Any]]:
    examples = draw_examples(read, "training", seed=0, epoch=0, most=BATCH * BATCHES // 2)
    chosen, labels = quadruples(read, examples), examples.labels.astype(np.int64)
    rows = cut_batches(lengths_of(read.texts.bounds, chosen), BATCH, seed=0, epoch=0)
    return [(chosen[some], labels[some]) for some in rows]


def _training(
    settings: RaterSettings, vocabulary: Vocabulary, read: TrainingPairs
) -> tuple[Any, int]:
    torch = import_module("torch")
    learning = import_module("deltableu.neural.networks.learning")
    network = import_module("deltableu.judges.network").RaterNetwork(settings, len(vocabulary))
    learner = learning.Learner(network, 1e-3)
    lengths = np.diff(read.texts.bounds)
    batches = _batches(read)
    distinct = [np.unique(chosen) for chosen, _ in batches]
    tokens = sum(int(lengths[texts].sum()) for texts in distinct)

    def run() -> None:
        for chosen, labels in _batches(read):
            logits = network(read.texts, chosen).reshape(-1, 2)
            labels = torch.from_numpy(np.repeat(labels, 2))
            learner.step(torch.nn.functional.cross_entropy(logits, labels))

    return run, tokens


def _bare(torch: Any, settings: RaterSettings, read: TrainingPairs) -> Any:
    gru = torch.nn.GRU(settings.embedding, settings.hidden, bidirectional=True)
    pack = import_module("torch.nn.utils.rnn").pack_sequence
    lengths = np.diff(read.texts.bounds)
    batches = _batches(read)
    packed = []
    for place in range(len(batches)):
        sizes = np.sort(lengths[np.unique(batches[place][0])])[::-1]
        packed.append(pack([torch.randn(int(size), settings.embedding) for size in sizes]))

    def run() -> None:
        for one in packed:
            gru.zero_grad()
            gru(one)[1].sum().backward()

    return run


def _rating(settings: RaterSettings, vocabulary: Vocabulary) -> None:
    network = import_module("deltableu.judges.network").RaterNetwork(settings, len(vocabulary))
    rater = NNRater(RaterModel(settings, vocabulary, network.state(), {}, "0" * 64))
    rows = iter(pairs(ITEMS * REFERENCES))
    items = []
    for number in range(ITEMS):
        message, text = next(rows)
        mined = tuple(
            Reference(f"r{place}", response, origin="mined", source=Source(utterance))
            for place, (utterance, response) in zip(range(1, REFERENCES), rows, strict=False)
        )
        items.append(Item(str(number), (Reference("r0", text), *mined), message=message))
    seconds = time.perf_counter()
    rater.rate_items([(item, item.references) for item in items])
    seconds = time.perf_counter() - seconds
    count = ITEMS * REFERENCES
    print(f"rating {count:,} references: {seconds:.2f} s  {count / seconds:,.0f} references/s")


if __name__ == "__main__":
    main()
