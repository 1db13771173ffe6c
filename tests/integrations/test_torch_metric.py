"""A metric in a training loop: batches, devices' worth of processes, and what it refuses."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, NIST, ChrF, CIDErD, DeltaBLEU, Length, RougeL
from deltableu.errors import InputError

pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from deltableu.integrations import TorchMetric

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6).map(" ".join)
ITEMS = st.lists(
    st.tuples(WORDS, st.lists(st.tuples(WORDS, st.sampled_from([-0.5, 0.5, 1.0])), min_size=1)),
    min_size=1,
    max_size=8,
)

#: Each process adds its half of the items; both must say the score of all.
PROCESS = """
import os, torch.distributed as dist
from deltableu import DeltaBLEU
from deltableu.integrations import TorchMetric

dist.init_process_group("gloo")
rank = dist.get_rank()
texts = ["yes I do", "no way", "maybe so", "I do not"]
references = [["yes I do", "no"], ["no no way", "yes"], ["so so"], ["I do", "I do not know"]]
weights = [[1.0, -0.5], [0.5, -1.0], [0.25], [-0.5, 1.0]]
metric = TorchMetric(DeltaBLEU())
for place in range(rank, 4, 2):
    metric.update(texts[place:place + 1], references[place:place + 1], weights[place:place + 1])
whole = DeltaBLEU().compute(texts, references, weights).score().score
assert abs(float(metric.compute()) - whole) < 1e-12, (float(metric.compute()), whole)
metric.reset()
metric.update(texts[:1], references[:1], weights[:1])
assert abs(float(metric.compute()) - 100.0) < 1e-9
dist.destroy_process_group()
print("equal", rank, round(whole, 6))
"""


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


def test_two_processes_say_the_score_of_all(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = tmp_path / "process.py"
    script.write_text(PROCESS)
    common = os.environ | {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": "2",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, script],
            env=common | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    lines = [out.split() for out, _ in said]
    assert [line[:2] for line in lines] == [["equal", "0"], ["equal", "1"]]
    assert lines[0][2] == lines[1][2]


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
        (NIST(), "nist-5 weighs words by how rare they are in all items"),
        (CIDErD(), "cider-d weighs words by how rare"),
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
