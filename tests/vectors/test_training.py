"""GloVe finds what was planted, the loss falls, and nothing but the seed changes the result."""

from __future__ import annotations

import math
import resource
from itertools import pairwise

import numpy as np
import pytest

from deltableu import _kernels
from deltableu.errors import InputError
from deltableu.vectors import VectorEpoch, nearest_words, train_vectors
from deltableu.vectors.glove import UNKNOWN
from tests.uncompiled import run_uncompiled
from tests.vectors.corpora import grid, grouped, literal_counts


@pytest.fixture(scope="module")
def found():
    """Vectors of a corpus with groups, and the epochs of their training."""
    epochs = []
    vectors = train_vectors(
        grouped(), dimension=20, window=5, epochs=15, threads=2, on_epoch=epochs.append
    )
    return vectors, epochs


def test_neighbours_come_from_the_same_group(found):
    vectors, _ = found
    words = [word for word in vectors.rows if word[0] == "g"]
    assert len(words) == 8 * 14
    same = [
        near.word.startswith(word[:2]) for word in words for near in nearest_words(vectors, word, 5)
    ]
    assert np.mean(same) > 0.95


def test_analogies_in_a_grid():
    """r1c1 is to r1c2 as r2c1 to r2c2."""
    vectors = train_vectors(grid(), dimension=16, window=5, epochs=20, threads=2)
    names = [word for word in vectors.rows if word[0] == "r" and word[2:3] == "c"]
    assert len(names) == 25
    unit = vectors.matrix[[vectors.rows[name] for name in names]]
    place = {name: at for at, name in enumerate(names)}
    right = []
    for a in range(5):
        for b in range(5):
            for c in range(5):
                for d in range(5):
                    if a == c or b == d:
                        continue
                    given = [place[f"r{a}c{b}"], place[f"r{a}c{d}"], place[f"r{c}c{b}"]]
                    cosines = unit @ (unit[given[1]] - unit[given[0]] + unit[given[2]])
                    cosines[given] = -2
                    right.append(names[int(cosines.argmax())] == f"r{c}c{d}")
    assert np.mean(right) > 0.95


def test_the_loss_falls(found):
    _, epochs = found
    losses = [epoch.loss for epoch in epochs]
    assert [epoch.number for epoch in epochs] == list(range(1, 16))
    assert all(later < earlier for earlier, later in pairwise(losses))
    assert losses[-1] < losses[0] / 3
    assert epochs[0].tokens == 2 * 6000 * 6
    assert epochs[0].words == 8 * 14 + 4


def test_unknown_words_get_the_mean_of_the_rarest(found):
    vectors, _ = found
    assert list(vectors.rows)[-1] == UNKNOWN
    assert vectors.raw[-1] == pytest.approx(vectors.raw[-101:-1].mean(axis=0), abs=1e-6)
    assert vectors.keys()[-1] == b""
    assert (vectors.keys()[:-1] != b"").all()


OPTIONS = {"dimension": 10, "window": 4, "min_count": 2, "epochs": 3, "seed": 3}


def test_only_the_seed_matters():
    rows = grouped(rows=400)
    first = train_vectors(rows, **OPTIONS, threads=1)
    for options in ({"threads": 1}, {"threads": 2}, {"threads": 5}, {"memory": 1, "threads": 2}):
        again = train_vectors(rows, **OPTIONS, **options)
        assert again.rows == first.rows
        assert again.raw.tobytes() == first.raw.tobytes()
    other = train_vectors(rows, **(OPTIONS | {"seed": 4}))
    assert other.rows == first.rows
    assert not np.array_equal(other.raw, first.raw)


def test_files_and_pairs_in_memory_give_the_same(tmp_path):
    rows = grouped(rows=200)
    lines = ["utterance\tresponse", *("\t".join(row) for row in rows)]
    (tmp_path / "logs.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "work").mkdir()
    files = train_vectors(tmp_path / "logs.tsv", **OPTIONS, work=tmp_path / "work", memory=1)
    assert np.array_equal(files.raw, train_vectors(rows, **OPTIONS).raw)
    assert list((tmp_path / "work").iterdir()) == []


def literal_epoch(counts, vectors, biases, rate):
    """AdaGrad on equation 8 in double precision, a step for each X in the order given."""
    main, context = vectors
    b, c = biases
    squares = [np.ones_like(one) for one in (main, context, b, c)]
    loss = 0.0
    for i, j, x in counts:
        weight = min(1.0, (x / 100) ** 0.75)
        difference = main[i] @ context[j] + b[i] + c[j] - math.log(x)
        loss += weight * difference**2 / 2
        step = rate * weight * difference
        gradients = (step * context[j], step * main[i], step, step)
        for table, square, at, gradient in zip(
            (main, context, b, c), squares, (i, j, i, j), gradients, strict=True
        ):
            table[at] -= gradient / np.sqrt(square[at])
            square[at] += gradient**2
    return loss


def test_the_kernel_does_what_the_paper_says():
    kernel = _kernels.load("vectors._glove")
    rng = np.random.default_rng(0)
    pairs = [(5, 0), (3, 3), (5, 4), (2, 1), (5, 0), (4, 1)] * 5
    counts = rng.uniform(0.1, 200, size=len(pairs))
    start = rng.uniform(-0.5, 0.5, size=(6, 2, 17))
    vectors = np.zeros((6, 4, 16), np.float32)
    biases = np.ones((6, 4), np.float32)
    vectors[:, :2], vectors[:, 2:], biases[:, :2] = start[:, :, :16], 1.0, start[:, :, 16]
    values = np.stack((np.log(counts), np.minimum(1, (counts / 100) ** 0.75)), axis=1)
    loss = kernel.train(vectors, biases, np.array(pairs, np.int32), values.astype(np.float32), 0.05)
    steps = []
    for (i, j), x in zip(pairs, counts.tolist(), strict=True):
        steps += [(i, j, x)] if i == j else [(i, j, x), (j, i, x)]
    both = (start[:, 0, :16].copy(), start[:, 1, :16].copy())
    offsets = (start[:, 0, 16].copy(), start[:, 1, 16].copy())
    assert loss == pytest.approx(literal_epoch(steps, both, offsets, 0.05), rel=1e-5)
    assert vectors[:, 0] == pytest.approx(both[0], abs=1e-5)
    assert vectors[:, 1] == pytest.approx(both[1], abs=1e-5)
    assert biases[:, 0] == pytest.approx(offsets[0], abs=1e-5)
    assert biases[:, 1] == pytest.approx(offsets[1], abs=1e-5)


def test_vectors_explain_the_counts():
    """Enough numbers, enough epochs: w . c + b + b' is log X where X has full weight."""
    epochs = []
    rows = [("a b c", "a b"), ("c d a", "b d")] * 100
    train_vectors(
        rows,
        dimension=8,
        min_count=1,
        x_max=1,
        epochs=400,
        on_epoch=epochs.append,
    )
    assert epochs[0].steps == len(literal_counts([t for row in rows for t in row], 15, 1))
    assert epochs[-1].loss < 1e-4 < epochs[0].loss


# --- Mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dimension": 0}, "dimension: must be 1 or more, got 0"),
        ({"window": 0}, "window: must be 1 or more"),
        ({"min_count": -1}, "min_count: must be 1 or more"),
        ({"max_vocabulary": 0}, "max_vocabulary: must be 1 or more"),
        ({"epochs": 0}, "epochs: must be 1 or more"),
        ({"threads": 0}, "threads: must be 1 or more"),
        ({"memory": 0}, "memory: must be 1 or more"),
        ({"x_max": 0.0}, "x_max: must be a number above 0"),
        ({"alpha": math.nan}, "alpha: must be a number above 0, got nan"),
        ({"learning_rate": -1.0}, "learning_rate: must be a number above 0"),
        ({"learning_rate": 1e30}, "training went astray in epoch 1"),
        ({"min_count": 10**6}, "no word occurs 1000000 times"),
        ({"work": "/dev/null"}, "cannot be made to keep checkpoints in: Not a directory"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(InputError) as raised:
        train_vectors(grouped(rows=20), **(OPTIONS | options))
    assert said in str(raised.value)


def test_wrong_logs(tmp_path):
    (tmp_path / "bad.tsv").write_text("utterance\tresponse\na\tb\nonly one cell\n")
    with pytest.raises(InputError, match=r"bad\.tsv, line 3"):
        train_vectors(tmp_path / "bad.tsv", **OPTIONS)
    with pytest.raises(InputError, match="nowhere"):
        train_vectors(tmp_path / "nowhere.tsv", **OPTIONS)


# --- Runs that were cut off -----------------------------------------------------------------------


class Stop(KeyboardInterrupt):
    """In place of a kill; the command line's test has a real one."""


def stop_after(number):
    def stop(epoch):
        if epoch.number == number:
            raise Stop

    return stop


def stop_at(what):
    def stop(doing, done, total):
        if doing.startswith(what):
            raise Stop

    return stop


@pytest.mark.parametrize("memory", [1, 1 << 30])
@pytest.mark.parametrize(
    ("interrupt", "done"),
    [
        ({"progress": stop_at("counting pairs")}, None),
        ({"progress": stop_at("epoch 1")}, 0),
        ({"on_epoch": stop_after(2)}, 2),
        ({"progress": stop_at("epoch 3")}, 2),
        ({"save": lambda made: stop_after(3)(VectorEpoch(3, 3, 0, 0, 0, 0, 0))}, 3),
    ],
    ids=["counting", "first epoch", "after an epoch", "last epoch", "saving"],
)
def test_a_run_goes_on_after_its_last_epoch(interrupt, done, memory, tmp_path):
    rows = grouped(rows=200)
    whole = train_vectors(rows, **OPTIONS)
    work = tmp_path / "work"
    with pytest.raises(Stop):
        train_vectors(rows, **OPTIONS, memory=memory, work=work, **interrupt)
    names = {path.name for path in work.glob("*/*.npz")}
    assert names == ({"counted.npz"} if done is not None else set()) | (
        {"state.npz"} if done else set()
    )
    assert list(work.glob("*/scratch")) == []
    seen, saved, told = [], [], set()
    again = train_vectors(
        rows,
        **OPTIONS,
        work=work,
        threads=2,
        on_epoch=seen.append,
        save=saved.append,
        progress=lambda what, *_: told.add(what),
    )
    assert again.raw.tobytes() == whole.raw.tobytes()
    assert again.rows == whole.rows
    assert saved == [again]
    assert [(epoch.number, epoch.kept) for epoch in seen] == [
        (number, number <= (done or 0)) for number in (1, 2, 3)
    ]
    assert ("counting pairs" in told) == (done is None)
    assert not work.exists()


@pytest.mark.parametrize("name", ["counted", "state"])
def test_no_flipped_bit_becomes_a_vector(name, tmp_path):
    rows = grouped(rows=20)
    options = {"dimension": 2, "window": 2, "min_count": 2, "epochs": 2}
    whole = train_vectors(rows, **options)
    with pytest.raises(Stop):
        train_vectors(rows, **options, work=tmp_path, on_epoch=stop_after(1))
    (path,) = tmp_path.glob(f"*/{name}.npz")
    folder, data = path.parent, path.read_bytes()
    kept = {one: one.read_bytes() for one in folder.iterdir()}
    for place in range(0, len(data), max(97, len(data) // 12)):
        folder.mkdir(exist_ok=True)
        for one, content in kept.items():
            one.write_bytes(content)
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        again = train_vectors(rows, **options, work=tmp_path)
        assert again.raw.tobytes() == whole.raw.tobytes()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("size", "said", "kept"),
    [
        (3_000, r"scratch: cannot be written", []),
        (20_000, r"counted\.npz: cannot be written", []),
        (28_000, r"state\.npz: cannot be written", ["counted.npz"]),
    ],
)
def test_no_room(size, said, kept, tmp_path):
    """A disk is full, here by a limit on the size of files."""
    work = tmp_path / "work"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(InputError, match=said):
            train_vectors(grouped(rows=300), **OPTIONS, work=work, memory=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    left = {path.name for path in work.glob("*/*")}
    assert left == {*kept, "deltableu.json", "lock"} if kept else not work.exists()
    made = train_vectors(grouped(rows=300), **OPTIONS, work=work)
    assert made.raw.tobytes() == train_vectors(grouped(rows=300), **OPTIONS).raw.tobytes()
    assert not work.exists()


# --- Neighbours -----------------------------------------------------------------------------------


def test_neighbours(found):
    vectors, _ = found
    near = nearest_words(vectors, "g1m1", 3)
    assert nearest_words(vectors, "G1M1", 3) == near
    assert len(nearest_words(vectors, "g1m1", 10_000)) == len(vectors.rows) - 2
    cosines = vectors.matrix @ vectors.matrix[vectors.rows["g1m1"]]
    cosines[[vectors.rows["g1m1"], vectors.rows[UNKNOWN]]] = -2
    assert [vectors.rows[one.word] for one in near] == np.argsort(-cosines)[:3].tolist()
    assert [one.cosine for one in near] == pytest.approx(np.sort(cosines)[::-1][:3])


def test_words_without_a_vector(found):
    vectors, _ = found
    with pytest.raises(InputError, match=r"no vector for the word 'comon1': did you mean common1"):
        nearest_words(vectors, "comon1")
    with pytest.raises(InputError, match=r"no vector for the word 'zzzzzzzz'$"):
        nearest_words(vectors, "zzzzzzzz")
    with pytest.raises(InputError, match="top must be 1 or more"):
        nearest_words(vectors, "g1m1", 0)


# --- Uncompiled -----------------------------------------------------------------------------------


def plain_results():
    epochs = []
    made = train_vectors(grouped(rows=30), **OPTIONS, threads=2, memory=1, on_epoch=epochs.append)
    return [epoch.loss for epoch in epochs], list(made.rows), made.raw.tolist()


def test_uncompiled_kernels_learn_the_same():
    """Up to rounding: plain Python has no single precision."""
    code = (
        "import json; from tests.vectors.test_training import plain_results, _kernels; "
        "names = 'vectors._pairs', 'vectors._glove'; "
        "states = [_kernels.compiled(_kernels.load(name)) for name in names]; "
        "print(json.dumps([states, plain_results()]))"
    )
    states, (losses, rows, raw) = run_uncompiled(code, warnings="default")
    assert states == [False, False]
    wanted = plain_results()
    assert losses == pytest.approx(wanted[0], rel=1e-4)
    assert rows == wanted[1]
    assert np.array(raw) == pytest.approx(np.array(wanted[2]), abs=1e-4)
