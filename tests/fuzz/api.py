"""Misuse of what `deltableu` offers to programs: wrong types, shapes and values."""

from __future__ import annotations

import functools
import inspect
import io
import random
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import deltableu
from tests.fuzz.case import Failure, Hang, Result, place_of, watched
from tests.fuzz.commands import metric_names
from tests.fuzz.trees import changed, new, plant_strangers, snapshot
from tests.fuzz.values import HOSTILE_TEXTS, hostile_value, texts

_HYPOTHESES = ["the cat sat", "yes", "no idea at all"]
_REFERENCES = [["the cat sat on it", "a cat"], ["yes , of course"], ["no idea", "no"]]
_WEIGHTS = [[1.0, 0.5], [0.8], [0.6, -0.4]]
_PAIRS = [(texts(random.Random(n)), texts(random.Random(n + 50))) for n in range(20)]

#: What a wrong argument may raise; InputError is a ValueError, and a wrong index is Python's own.
_ALLOWED = (ValueError, TypeError, IndexError)


def run_api_case(seed: int, rng: random.Random, folder: Path) -> Result:
    """Call a public function with arguments of which one or two are wrong."""
    name = rng.choice(sorted(set(deltableu.__all__) - {"__version__", "Rater"}))
    shutil.rmtree(folder, ignore_errors=True)
    plant_strangers(folder)
    call = _Call(name, rng, folder)
    before = snapshot(folder)
    end, failures = "returned", []
    shown = f"deltableu.{name}({call.shown})"
    with warnings.catch_warnings(), watched():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)
        for ours in ("deltableu.errors.InputWarning",):
            warnings.simplefilter("ignore", _class(ours))
        try:
            with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
                call.run()
        except _ALLOWED as error:
            end = type(error).__name__
            if not str(error).strip():
                failures.append(
                    Failure(seed, "an error without a sentence", place_of(error), shown)
                )
        except (Exception, Hang) as error:
            end = type(error).__name__
            details = "".join(traceback.format_exception(error))[-2500:]
            failures.append(Failure(seed, end, place_of(error), f"{shown}\n{details}"))
    if said := out.getvalue() + err.getvalue():
        failures.append(Failure(seed, "prints", name, f"{shown}\n{said[:500]}"))
    after = snapshot(folder)
    if touched := changed(before, after):
        failures.append(Failure(seed, "a stranger's file was touched", name, f"{shown}\n{touched}"))
    if end != "returned" and (left := new(before, after)):
        failures.append(Failure(seed, "a failure leaves files", name, f"{shown}\n{left}"))
    return Result(seed, f"deltableu.{name}", end, failures)


def _class(name: str) -> type[Warning]:
    module, _, attribute = name.rpartition(".")
    found: type[Warning] = getattr(__import__(module, fromlist=[attribute]), attribute)
    return found


class _Call:
    """A call with some arguments in the place of which something else stands."""

    def __init__(self, name: str, rng: random.Random, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.function = getattr(deltableu, name)
        positional, named = _good(folder, rng).get(name, lambda: ((), {}))()
        self.positional, self.named = list(positional), dict(named)
        self.then = _THEN.get(name)
        parameters = inspect.signature(self.function).parameters.values()
        keys = [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            choice = rng.random()
            if choice < 0.5 and self.positional:
                place = rng.randrange(len(self.positional))
                self.positional[place] = self._wrong(self.positional[place])
            elif keys:
                key = rng.choice(keys[len(self.positional) :] or keys)
                if key not in (
                    "progress",
                    "log",
                    "on_epoch",
                    "report",
                    "engine",
                    "threads",
                    "args",
                ):
                    self.named[key] = self._wrong(self.named.get(key))
        if rng.random() < 0.05:
            self.named["no_such"] = 1

    @property
    def shown(self) -> str:
        parts = [_brief(one) for one in self.positional]
        return ", ".join(parts + [f"{key}={_brief(one)}" for key, one in self.named.items()])

    def run(self) -> None:
        made = self.function(*self.positional, **self.named)
        if self.then is not None:
            self.then(made, self)

    def _wrong(self, good: Any) -> Any:
        rng = self.rng
        if isinstance(good, list | tuple) and good and rng.random() < 0.5:
            inside = list(good)
            place = rng.randrange(len(inside))
            match rng.randrange(5):
                case 0:
                    del inside[place]
                case 1:
                    inside.append(inside[place])
                case 2:
                    return (one for one in inside)
                case _:
                    inside[place] = self._wrong(inside[place])
            return type(good)(inside)
        if isinstance(good, Mapping) and good and rng.random() < 0.5:
            changed = dict(good)
            key = rng.choice(list(changed))
            changed[rng.choice((key, "", 7, None))] = self._wrong(changed.pop(key))
            return changed
        return rng.choice(_WRONG)(rng)


def _brief(value: object) -> str:
    try:
        shown = repr(value)
    except Exception as error:  # a result that cannot show itself
        shown = f"<{type(value).__name__}: {error!r}>"
    return shown if len(shown) < 200 else f"{shown[:200]}..."


_WRONG: tuple[Callable[[random.Random], Any], ...] = (
    lambda rng: None,
    lambda rng: rng.choice((True, 0, 1, -1, 2, 7, 10**18, -(2**63), 2**64)),
    lambda rng: rng.choice((0.5, -0.0, 1e308, float("nan"), float("inf"), 1 + 2j)),
    lambda rng: rng.choice(HOSTILE_TEXTS),
    lambda rng: rng.choice((b"", b"bytes", bytearray(b"x"), memoryview(b"x"))),
    lambda rng: rng.choice(([], (), {}, set(), [[]], [[[]]], [None], ["a", None], [[], ["x"]])),
    lambda rng: rng.choice((object(), object, len, Ellipsis, range(3), slice(1))),
    lambda rng: [hostile_value(rng) for _ in range(3)],
    lambda rng: {"a": hostile_value(rng), "b": hostile_value(rng)},
    lambda rng: np.zeros(rng.choice(((), (0,), (3,), (3, 2), (1, 2, 3)))),
    lambda rng: np.array(rng.choice(([1, 2, 3], ["a", "b"], [None, 1], [np.nan, 1.0, 2.0]))),
    lambda rng: np.array(["2020-01-01"], rng.choice(("datetime64[D]", "S10", "U10", object))),
    lambda rng: rng.choice((np.float32(1.5), np.int8(-3), np.bool_(True), np.str_("bleu"))),
    lambda rng: iter(["x", "y", "z"]),
    lambda rng: Path("nowhere"),
    lambda rng: rng.choice(metric_names()),
    lambda rng: "\ud800",
    lambda rng: [["x"] * 3] * 3,
    lambda rng: [float("nan")] * 3,
)


# Calls that are right


@functools.cache
def _study() -> Any:
    from deltableu.corpus import Item, Reference, Study

    items = tuple(
        Item(
            f"q{number}",
            tuple(
                Reference(f"r{n}", text, weight)
                for n, (text, weight) in enumerate(zip(said, weights, strict=True))
            ),
            (),
            "what of it ?",
        )
        for number, (said, weights) in enumerate(zip(_REFERENCES, _WEIGHTS, strict=True))
    )
    return Study(items, {"a": tuple(_HYPOTHESES), "b": ("a cat", "no", "no")})


def _scoring() -> Any:
    study = _study()
    metrics = [deltableu.BLEU(), deltableu.DeltaBLEU()]
    return deltableu.score_systems(deltableu.reference_set(study), study.outputs, metrics)


def _ratings() -> Any:
    from deltableu.corpus import Rating

    rated = [
        Rating(rater=f"p{rater}", item=f"q{item}", target=f"system:{name}", value=rater + item)
        for rater in range(2)
        for item in range(3)
        for name in "ab"
    ]
    return deltableu.RatingTable.from_records(rated)


def _table() -> Any:
    values = {"a": [0.1, 0.5, 0.7], "b": [0.2, 0.1, 0.9], "c": [0.3, 0.3, 0.1]}
    return deltableu.ScoreTable.of({"comet": values}, items=["q0", "q1", "q2"])


@functools.cache
def _rater() -> Any:
    from tests.fuzz.world import model_bytes

    path = Path(tempfile.mkdtemp(prefix="deltableu-fuzz-")) / "judge.safetensors"
    path.write_bytes(model_bytes())
    rater = deltableu.judges.load_rater(str(path))
    shutil.rmtree(path.parent)
    return rater


_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def _good(folder: Path, rng: random.Random) -> dict[str, Callable[[], _Arguments]]:
    """Arguments that are right; a function that is not here gets only wrong ones."""
    nowhere = folder / "nowhere"
    shape = {"embedding": 2, "hidden": 2, "layer": 2, "layers": 1}
    arrays = (("m",), ("a", "b"), ("i", "j"), np.ones((1, 2, 2)), np.ones((1, 2)), (True,), ("s",))
    rated = (("p",), ("i",), ("s",), np.array([0]), np.array([0]), np.array([0]), np.array([1.0]))

    def rater_settings() -> dict[str, Any]:
        from deltableu.judges import RaterSettings, TrainingSettings

        return {
            "settings": RaterSettings(**shape, max_length=5),
            "training": TrainingSettings(epochs=1, batch=5, validation=2, vocabulary="words"),
        }

    return {
        "bleu": lambda: ((_HYPOTHESES, _REFERENCES), {}),
        "delta_bleu": lambda: ((_HYPOTHESES, _REFERENCES, _WEIGHTS), {}),
        "sentence_bleu": lambda: ((_HYPOTHESES[0], _REFERENCES[0]), {}),
        **{
            name: lambda: ((_HYPOTHESES, _REFERENCES), {"interval": "jackknife"})
            for name in ("chrf", "chrf_plus_plus", "cider", "cider_d", "nist", "rouge", "ter")
        },
        "discriminative": lambda: ((_HYPOTHESES, _REFERENCES, _WEIGHTS), {}),
        "soft": lambda: ((_HYPOTHESES, _REFERENCES, _WEIGHTS), {"similarity": "chrf"}),
        "distinct": lambda: ((_HYPOTHESES,), {}),
        "entropy": lambda: ((_HYPOTHESES,), {"n": 2}),
        "ibleu": lambda: ((_HYPOTHESES, _REFERENCES, _HYPOTHESES), {}),
        "Discriminative": lambda: (("chrf",), {}),
        "Soft": lambda: (("chrf",), {}),
        "choose_neutral": lambda: (
            (deltableu.Discriminative("chrf"), deltableu.ReferenceSet(_REFERENCES, _WEIGHTS)),
            {},
        ),
        "NNRater": lambda: ((_rater().model,), {}),
        "RatingTable": lambda: (rated, {}),
        "ReferenceSet": lambda: ((_REFERENCES, _WEIGHTS), {}),
        "ScoreTable": lambda: (arrays, {}),
        "compare_systems": lambda: (
            (
                ({"a": _HYPOTHESES, "b": ["a cat", "no", "no"]},),
                {
                    "references": _REFERENCES,
                    "metrics": ["chrf"],
                    "plan": deltableu.ComparisonPlan(trials=20, resamples=20),
                },
            )
            if rng.random() < 0.5
            else (
                (_scoring(),),
                {"plan": deltableu.ComparisonPlan(trials=20, resamples=20)},
            )
        ),
        "mine_references": lambda: ((_study(), _PAIRS), {}),
        "plan_comparison": lambda: (
            (_study(), ["a", "b"], deltableu.BLEU()),
            {"replicates": 3, "draws": 3, "items": [3, 5]},
        ),
        "rate_study": lambda: ((_study(), _rater()), {}),
        "read_scores": lambda: ((nowhere,), {}),
        "read_study": lambda: ((nowhere,), {}),
        "reference_set": lambda: ((_study(),), {}),
        "study_from": lambda: (
            ([{"id": 1, "output": "x", "ref": "y"}, {"id": 2, "output": "z", "ref": "w"}],),
            {},
        ),
        "score_systems": lambda: (
            (deltableu.reference_set(_study()), _study().outputs, [deltableu.BLEU()]),
            {},
        ),
        "sensitivity": lambda: ((_study(), None, deltableu.DeltaBLEU()), {"draws": 3}),
        "train_rater": lambda: ((_PAIRS,), {**rater_settings(), "work": folder / "work"}),
        "train_vectors": lambda: ((_PAIRS,), {"dimension": 2, "epochs": 1, "min_count": 1}),
        "validate_metrics": lambda: ((_scoring(), _ratings()), {}),
        "williams_test": lambda: ((0.5, 0.4, 0.3, 20), {}),
    }


def _use_metric(metric: Any, call: _Call) -> None:
    """What people do with a metric."""
    rng = call.rng
    given: list[Any] = [_REFERENCES, _WEIGHTS]
    if rng.random() < 0.5:
        place = rng.randrange(2)
        given[place] = call._wrong(given[place])
    encoded = metric.encode(*given)
    said = call._wrong(_HYPOTHESES) if rng.random() < 0.4 else _HYPOTHESES
    rows = metric.statistics(said, encoded)
    rows.score()
    rows.segment_scores()
    chosen = rng.choice(([True, False, True], [0, 2], slice(1), call._wrong([0])))
    rows[chosen].score()


_THEN: dict[str, Callable[[Any, _Call], None]] = {
    **dict.fromkeys(
        ("ChrF", "ChrFPlusPlus", "CIDEr", "CIDErD", "DeltaChrF", "DeltaTER", "NIST"), _use_metric
    ),
    **dict.fromkeys(("Rouge1", "Rouge2", "RougeL", "TER", "SignedDeltaBLEU"), _use_metric),
    "BLEU": _use_metric,
    "DeltaBLEU": _use_metric,
    "SentenceBLEU": _use_metric,
    "Discriminative": _use_metric,
    "Soft": _use_metric,
    **dict.fromkeys(("SoftChrF", "SoftRougeL", "SoftTER"), _use_metric),
    "ReferenceSet": lambda made, call: made.select(call._wrong("all")),
    "ScoreTable": lambda made, call: made.table(),
    "validate_metrics": lambda made, call: made.table(),
    "score_systems": lambda made, call: made.table(),
}
