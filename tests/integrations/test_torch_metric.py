"""A metric in a training loop: batches, devices' worth of processes, and what it refuses."""

from __future__ import annotations

import os
import socket
from multiprocessing import get_context
from multiprocessing.queues import Queue

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, NIST, ChrF, CIDErD, DeltaBLEU, Length, RougeL
from deltableu.errors import InputError

pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from deltableu.integrations import TorchMetric

FOUR = (
    ["yes I do", "no way", "maybe so", "I do not"],
    [["yes I do", "no"], ["no no way", "yes"], ["so so"], ["I do", "I do not know"]],
    [[1.0, -0.5], [0.5, -1.0], [0.25], [-0.5, 1.0]],
)
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6).map(" ".join)
ITEMS = st.lists(
    st.tuples(WORDS, st.lists(st.tuples(WORDS, st.sampled_from([-0.5, 0.5, 1.0])), min_size=1)),
    min_size=1,
    max_size=8,
)


def half(rank: int, port: int, said: Queue[float]) -> None:
    """What a process of two does: it adds its half of the items, and must say the score of all."""
    from torch import distributed

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    distributed.init_process_group("gloo", rank=rank, world_size=2)
    metric = TorchMetric(DeltaBLEU())
    for place in range(rank, 4, 2):
        metric.update(*([part[place]] for part in FOUR))
    said.put(float(metric.compute()))
    metric.reset()
    metric.update(*(part[:1] for part in FOUR))
    said.put(float(metric.compute()))
    distributed.destroy_process_group()


@given(ITEMS, st.integers(1, 4))
@settings(max_examples=50)
def test_batches_add_up_to_the_corpus(items, size):
    texts = [text for text, _ in items]
    references = [[reference for reference, _ in pool] for _, pool in items]
    weights = [[1.0, *(weight for _, weight in pool[1:])] for _, pool in items]
    for metric in (BLEU(), DeltaBLEU(), ChrF(), RougeL()):
        given = weights if "weights" in metric.needs else None
        batched = TorchMetric(metric)
        for start in range(0, len(texts), size):
            part = slice(start, start + size)
            batched.update(texts[part], references[part], given[part] if given else None)
        whole = metric.compute(texts, references, given).score()
        assert float(batched.compute()) == pytest.approx(whole.score, abs=1e-9)
        assert batched.score().segments == len(texts)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_two_processes_say_the_score_of_all():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A fork has torch already; an import of it takes seconds.
    context = get_context("fork")
    said = context.Queue()
    processes = [context.Process(target=half, args=(rank, port, said)) for rank in range(2)]
    for process in processes:
        process.start()
    scores = [said.get(timeout=120) for _ in range(4)]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    whole = DeltaBLEU().compute(*FOUR).score().score
    assert sorted(scores) == pytest.approx(sorted([whole, whole, 100.0, 100.0]), abs=1e-9)


def test_reset_and_empty_batches():
    metric = TorchMetric(BLEU(order=1))
    metric.update([], [])
    with pytest.raises(InputError, match="no batch was added"):
        metric.compute()
    metric.update(["a b"], [["a c"]])
    assert float(metric.compute()) == 50.0
    assert "items:1" in str(metric.score().signature)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (NIST(), "nist-5 looks at the references of all items"),
        (CIDErD(), "cider-d looks at the references"),
        (Length(), "length compares with no reference"),
        ("bleu", "the metric must be a Metric"),
    ],
)
def test_what_cannot_be_summed_is_refused(metric, message):
    with pytest.raises(InputError, match=message):
        TorchMetric(metric)


def test_wrong_batches_are_named():
    metric = TorchMetric(DeltaBLEU())
    with pytest.raises(InputError, match="needs a weight for every reference"):
        metric.update(["a"], [["a"]])
    with pytest.raises(InputError):
        metric.update(["a", "b"], [["a"]], [[1.0]])
    assert int(metric.segments) == 0
