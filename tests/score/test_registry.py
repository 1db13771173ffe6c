"""Metrics by name: built in, and from other packages."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest

from deltableu.corpus import read_study, reference_set
from deltableu.errors import InputError
from deltableu.judges import train_relevance
from deltableu.score import BLEU, DeltaBLEU, Metric
from deltableu.score.metrics.discriminative import DeltaChrF, DeltaTable, DeltaVectors
from deltableu.score.metrics.rouge import RougeL
from deltableu.score.metrics.ter import TER
from deltableu.score.registry import (
    installed_metrics,
    make_metrics,
    metric_class,
    metric_label,
    metric_names,
)
from deltableu.score.systems import score_systems
from tests.judges.test_relevance import LOGS

NEED_A_FILE = {"delta-vectors": "vectors", "delta-table": "table", "soft-table": "table"}
#: Scorers of replies need a model, and those with word vectors these too.
NEED_MODELS = {
    "ruber": ("model", "vectors"),
    "ruber-referenced": ("vectors",),
    "ruber-unreferenced": ("model",),
    "ruber-upsilon-bleu": ("model",),
    "relevance": ("relevance",),
}
#: They compare with references, so they must tell a person from random answers.
TELLING = {"bleu", "delta-bleu", "sentence-bleu", "chrf", "chrf++", "ter"}
TELLING |= {"rouge-1", "rouge-2", "rouge-l"}
TELLING |= {"scr", "delta-chrf", "delta-chrf++", "delta-rouge-l", "delta-ter"}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package that offers metrics: a module and the metadata that pip would write."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(package, source, **points):
        (tmp_path / f"{package}.py").write_text(source)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {package}:{attribute}\n" for name, attribute in points.items()]
        (info / "entry_points.txt").write_text("[deltableu.metrics]\n" + "".join(lines))

    return install


# --- Built in -------------------------------------------------------------------------------------


def test_names():
    names = metric_names()
    assert len(set(names)) == len(names)
    assert set(names) >= TELLING | NEED_A_FILE.keys()


@pytest.mark.parametrize("name", metric_names())
def test_every_class_says_what_it_is(name):
    found = metric_class(name)
    assert issubclass(found, Metric)
    low, high = found.limits
    assert low < high
    assert found.needs <= {"references", "weights", "messages"}
    assert found.summary
    assert "\n" not in found.summary
    assert ("weights" in found.needs) or not name.startswith("delta-")


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_can_be_made_with_defaults_or_says_what_it_needs(name):
    needed = NEED_MODELS.get(name, (NEED_A_FILE.get(name),))[0]
    if needed is not None:
        with pytest.raises(InputError, match=rf"{name} needs .*--{needed}"):
            make_metrics([name], {})
    else:
        (metric,) = make_metrics([name], {})
        assert metric.name == metric_label(name)
        assert metric.registered_name == name


@pytest.fixture(scope="module")
def study(demo):
    return read_study(demo, ratings=False)


@pytest.fixture(scope="module")
def needed_files(study, tmp_path_factory):
    """A table of all pairs of the demo, and vectors of its most common words."""
    folder = tmp_path_factory.mktemp("needed")
    words = sorted({word for texts in study.outputs.values() for t in texts for word in t.split()})
    vectors = [f"{word} {len(word)} {ord(word[0]) % 7} 1\n" for word in words]
    (folder / "vectors.txt").write_text("".join(vectors))
    rows = {
        (text, reference.text): (len(text) + len(reference.text)) % 11 / 10
        for texts in study.outputs.values()
        for text, item in zip(texts, study.items, strict=True)
        for reference in item.references
    }
    lines = [f"{h}\t{r}\t{score}\n" for (h, r), score in rows.items()]
    (folder / "table.tsv").write_text("hypothesis\treference\tscore\n" + "".join(lines))
    return {"vectors": str(folder / "vectors.txt"), "table": str(folder / "table.tsv")}


#: Models of others, which they would fetch: tests/integrations has models in their place.
NEED_PACKAGES = {"bertscore": ("bert_score",), "comet": ("comet",)}


@pytest.fixture(scope="module")
def scorer(tmp_path_factory):
    """A model of replies that knows nothing."""
    pytest.importorskip("torch")
    from tests.judges.ruber_kit import small_scorer

    path = tmp_path_factory.mktemp("scorer") / "ruber.safetensors"
    small_scorer(path)
    return str(path)


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_scores_the_demo_within_its_limits(name, study, needed_files, request):
    needed = NEED_MODELS.get(name, (NEED_A_FILE[name],) if name in NEED_A_FILE else ())
    if "model" in needed:
        needed_files = {**needed_files, "model": request.getfixturevalue("scorer")}
    if "relevance" in needed:
        pytest.importorskip("wordllama")
        needed_files = {**needed_files, "relevance": train_relevance(LOGS)}
    for package in NEED_PACKAGES.get(name, ()):
        pytest.importorskip(package)
    settings = {one: needed_files[one] for one in needed}
    (metric,) = make_metrics([name], settings)
    outputs = {name: study.outputs[name] for name in ("human", "random")}
    scoring = score_systems(reference_set(study), outputs, [metric])
    low, high = metric.limits
    scores = {one.system: one.score.score for one in scoring.scores}
    assert all(low <= score <= high for score in scores.values())
    for one in scoring.scores:
        assert one.score.name == metric.name == metric_label(name)
        assert one.score.signature["metric"] == name
        if metric.has_segments:
            segments = one.rows.segment_scores()
            assert segments.shape == (68,)
            assert all(math.isfinite(value) and low <= value <= high for value in segments)
    if name in TELLING:
        assert (scores["human"] > scores["random"]) is metric.higher_is_better


def test_settings_go_to_the_metrics_that_have_them():
    found = make_metrics(["bleu", "delta-chrf", "rouge-l", "ter"], {"order": 2, "pool": "best"})
    assert found == (BLEU(order=2), DeltaChrF(pool="best"), RougeL(), TER())
    lower = make_metrics(["delta-chrf", "rouge-l"], {"lowercase": True, "tokenize": "13a"})
    assert lower == (DeltaChrF(lowercase=True), RougeL(tokenize="13a"))


def test_a_metric_named_twice_is_made_once():
    assert make_metrics(["bleu", "delta-bleu", "bleu"], {}) == (BLEU(), DeltaBLEU())


@pytest.mark.parametrize(("name", "found"), [("table", DeltaTable), ("vectors", DeltaVectors)])
def test_files_are_settings(name, found, needed_files):
    (metric,) = make_metrics([f"delta-{name}"], {name: needed_files[name]})
    assert isinstance(metric, found)
    with pytest.raises(InputError, match="no such file"):
        make_metrics([f"delta-{name}"], {name: "nowhere.tsv"})


@pytest.mark.parametrize(
    ("names", "settings", "said"),
    [
        ([], {}, "no metric was named; choose from bleu, "),
        (["blue"], {}, "unknown metric 'blue' (deltableu metrics"),
        (["bleu", "CHRV"], {}, "did you mean 'chrf'?"),
        (["chrf", "ter"], {"pool": "best"}, "chrf and ter have no setting 'pool'"),
        (["delta-chrf"], {"pool": "worst"}, "pool must be one of"),
        (["delta-chrf"], {"similarity": "ter"}, "no setting 'similarity'"),
    ],
)
def test_unknown_names_and_settings(names, settings, said):
    with pytest.raises(InputError, match=re.escape(said)):
        make_metrics(names, settings)


# --- From other packages --------------------------------------------------------------------------

LENGTHS = """
from dataclasses import dataclass
from typing import ClassVar
from deltableu.score import SegmentMetric

@dataclass(frozen=True, kw_only=True)
class Lengths(SegmentMetric):
    name: ClassVar[str] = "lengths"
    limits: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    higher_is_better: ClassVar[bool] = False
    lowercase: bool = False

    def segments(self, hypotheses, encoded):
        return [len(text) for text in hypotheses]

    def settings(self):
        return ()

class Messages(Lengths):
    name = "messages"
    needs = frozenset({"references", "messages"})

    def segments(self, hypotheses, encoded):
        return [len(text) for text in encoded.messages()]

class Few(Lengths):
    name = "few"

    def segments(self, hypotheses, encoded):
        return [1.0]

function = len
"""


def test_a_metric_of_another_package(install):
    install("lengths_metric", LENGTHS, lengths="Lengths")
    assert "lengths" in metric_names()
    (metric,) = make_metrics(["lengths"], {"lowercase": True})
    assert dataclasses.asdict(metric) == {"lowercase": True}
    rows = metric.compute(["a", "abc"], [["x"], ["y", "z"]])
    assert rows.score().score == 2.0
    assert rows.segment_scores().tolist() == [1.0, 3.0]
    assert str(rows.score().signature).startswith("metric:lengths|items:2|refs:1-2|")


def test_messages_reach_a_metric_that_needs_them(install, study):
    install("message_metric", LENGTHS, messages="Messages")
    (metric,) = make_metrics(["messages"], {})
    outputs = {"human": study.outputs["human"], "random": study.outputs["random"]}
    one, two = score_systems(reference_set(study), outputs, [metric]).scores
    expected = [float(len(item.message)) for item in study.items]
    assert one.rows.segment_scores().tolist() == expected == two.rows.segment_scores().tolist()
    with pytest.raises(InputError, match="needs the message"):
        metric.compute(["a"], [["b"]])


@pytest.mark.parametrize(
    ("source", "attribute", "said"),
    [
        ("import nothing_of_that_name", "Metric", "nothing_of_that_name"),
        ("raise RuntimeError('no GPU')", "Metric", "no GPU"),
        ("def broken(:", "Metric", "invalid syntax"),
        ("", "Metric", "Metric"),
        (LENGTHS, "function", "is no subclass of deltableu.score.Metric"),
        ("Metric = 5", "Metric", "is no subclass of deltableu.score.Metric"),
    ],
)
def test_a_broken_metric_says_why_and_breaks_nothing_else(source, attribute, said, install):
    package = f"broken_{abs(hash((source, attribute)))}"
    install(package, source, broken=attribute)
    with pytest.raises(InputError) as raised:
        make_metrics(["broken"], {})
    assert "'broken'" in str(raised.value)
    assert said in str(raised.value)
    found = dict(installed_metrics())
    assert isinstance(found.pop("broken"), InputError)
    assert all(isinstance(one, type) for one in found.values())
    assert make_metrics(["bleu"], {}) == (BLEU(),)


def test_no_package_can_take_a_built_in_name(install):
    install("usurper", LENGTHS, bleu="Lengths")
    assert metric_names().count("bleu") == 1
    assert make_metrics(["bleu"], {}) == (BLEU(),)


def test_a_metric_that_gives_too_few_scores_is_named(install):
    install("few_metric", LENGTHS, few="Few")
    (metric,) = make_metrics(["few"], {})
    with pytest.raises(ValueError, match="few must give one score a segment"):
        metric.compute(["a", "b"], [["x"], ["y"]])
