"""docs/reproductions.md: some of the numbers that it claims, and how it is put together."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu import BLEU
from deltableu.score.metrics.chrf import ChrF, ChrFPlusPlus
from deltableu.stats.correlation import correlate
from deltableu.stats.kendall import kendall_like_pairs
from deltableu.validate.levels import level_agreement
from reproduce import __main__ as command
from reproduce import (
    data_to_text,
    many_references,
    rated_sets,
    set_columns,
    soft,
    soft_sets,
    suite,
    wmt17,
    wmt18,
    wmt19_darr,
    wmt20,
)
from reproduce.agreement_cells import by_item, of_outputs, of_systems
from reproduce.layout import against, p_value, table
from reproduce.negative_references import Context
from reproduce.page import assemble, split
from reproduce.scores import segment_scores, system_scores
from reproduce.wmt_systems import read_news_task


def test_wmt17_segments(data):
    """Sentence BLEU of all seven pairs, to the three digits that were published."""
    for pair, segments in wmt17.read_rated_segments(data).items():
        assert len(segments.human) == 560
        r = float(correlate(wmt17.sentence_bleu(segments), segments.human))
        assert r == pytest.approx(wmt17.SENTENCE_BLEU[pair], abs=5.5e-4), pair
        r = float(correlate(wmt17.chrf(segments), segments.human))
        assert r == pytest.approx(wmt17.CHRF[pair], abs=0.01), pair


def test_wmt17_official_scores(data):
    same = {pair: wmt17.official_scores(data, pair) for pair in wmt17.PAIRS}
    assert same["fi"] == (560, 560)
    assert [same[pair] for pair in ("cs", "de", "zh")] == [(558, 560), (559, 560), (559, 560)]


@pytest.mark.parametrize("pair", ["cs", "fi"])
def test_wmt17_systems(data, pair):
    task = wmt17.system_level(data, pair)
    scores = task.scores(BLEU(tokenize="intl"))
    r = of_systems(scores, task.human).value
    assert r == pytest.approx(wmt17.SYSTEM_BLEU[pair], abs=1e-3)
    tau = of_systems(scores, task.human, "kendall-wei").value
    assert tau == pytest.approx(wmt17.SYSTEM_TAU[pair], abs=5e-4)


def test_wmt18_systems(data):
    task = read_news_task(data / "wmt18_19" / "WMT18", 2018, "ru-en")
    assert len(task.systems) == 8
    r = of_systems(task.scores(wmt18.TASK_BLEU), task.human).value
    assert r == pytest.approx(wmt18.PUBLISHED["ru-en"], abs=5.5e-4)


def test_wmt19_pairs(data):
    """BARTScore's notebook prints chrF of kk-en with six digits."""
    preferences = wmt19_darr.read_preferences(data, "kk-en")
    found, tau = wmt19_darr.with_bootstrap(*preferences.scores(ChrF()), preferences.references)
    assert (found.pairs, found.concordant) == (9728, 6435)
    assert tau.value == pytest.approx(wmt19_darr.BARTSCORE["kk-en", "chrF"], abs=5e-7)
    assert tau.interval.low < tau.value < tau.interval.high


def test_wmt20_winners(data):
    folder = data / "wmt20_metrics" / "results" / "output" / "system-level"
    found = wmt20.recompute(folder, "csen", "newstest2020", "", False)
    assert found.systems == 10
    for same, of in (found.correlations, found.p_values, found.blank, found.winners):
        assert same == of > 0
    assert max(found.correlations_off, found.p_values_off) < 1e-12


def test_multirefeval(data):
    """What Gangal et al. (2021) print, to all digits."""
    rated = rated_sets.read_multirefeval(data)
    assert rated.human.shape == (5, 100)
    for (kind, order), values in many_references.PUBLISHED.items():
        scores = many_references.nlg_eval_bleu(rated, getattr(rated, kind), order)
        for method, value in values.items():
            ours = float(correlate(scores.ravel(), rated.human.ravel(), method))
            assert ours == pytest.approx(value, abs=1e-12)


def test_dstc7_is_read_whole(data):
    rated = rated_sets.read_dstc7(data)
    assert rated.human.shape == (9, 954)
    assert sum(len(references) - 1 for references in rated.every) == 35_161
    # The published means of all 1,000 contexts, to what 46 contexts can change.
    means = dict(zip(rated.systems, rated.human.mean(axis=1).tolist(), strict=True))
    assert means["TeamB"] == pytest.approx(2.93, abs=0.02)
    assert means["TeamA"] == pytest.approx(2.31, abs=0.02)


def test_e2e(data):
    task, human, _ = data_to_text.read_e2e(data)
    assert (len(task.systems), len(task.items)) == (21, 630)
    place = task.systems.index("tgen")
    bleu = system_scores(BLEU(lowercase=True), task.outputs[place : place + 1], task.references)
    assert bleu[0] == pytest.approx(data_to_text.TGEN["BLEU"], abs=0.005)
    # A share beaten is 1/2 on average. Slug won the challenge, by TrueSkill.
    assert human["quality"].mean() == pytest.approx(0.5, abs=0.02)
    best = np.argsort(-human["quality"])[:3]
    assert "slug" in {task.systems[place] for place in best}


def test_webnlg(data):
    task, totals, segments, ratings = data_to_text.read_webnlg(data)
    assert (len(task.systems), len(task.items), ratings) == (16, 178, 8453)
    scores = segment_scores(ChrFPlusPlus(), task.outputs, task.references)
    published = data_to_text.WEBNLG_SEGMENTS["chrF++"]
    for criterion, value in zip(data_to_text.CRITERIA, published, strict=True):
        found = level_agreement(scores, segments[criterion], level="pooled")
        assert found.value == pytest.approx(value, abs=5.5e-3)
    # As the organisers print them; their standard deviations divide by n, not n - 1.
    last = [totals[criterion][task.systems.index("UPC-POE")] for criterion in data_to_text.CRITERIA]
    assert last == pytest.approx([-0.701, -0.782, -0.508, -0.531, -0.456], abs=0.01)


def test_sections_are_kept():
    page = assemble({"one": "## One\n\ntext\n", "two": "## Two\n"}, ["two", "one"])
    assert page.startswith("# Reproductions\n")
    assert "`make reproduce`" in page
    assert list(split(page).items()) == [("two", "## Two\n"), ("one", "## One\n\ntext\n")]
    assert assemble(split(page), ["two", "one"]) == page
    assert split("no sections") == {}


def test_page_is_complete():
    """Every section is there, and nothing of the machine that wrote it."""
    page = command.PAGE.read_text("utf-8")
    assert list(split(page)) == list(command.SECTIONS)
    assert "/home/" not in page
    assert "/tmp/" not in page


def test_unknown_section(capsys):
    assert command.main(["wmt99"]) == 2
    assert "there is no section 'wmt99'" in capsys.readouterr().err


def test_one_output_an_item():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    for items in (list(range(40)), [i // 3 for i in range(40)], ["same"] * 40):
        tables = by_item(items, x, y)
        assert tables[0].shape[0] >= 2
        for method in ("pearson", "kendall-wei"):
            value = level_agreement(*tables, method=method, level="pooled").value
            assert value == pytest.approx(float(correlate(x, y, method)))
    assert of_outputs(*by_item(range(40), x, y)).interval.low < 0.4


def test_layout():
    assert against(0.4349, 0.435) == ("0.435", "+0.000")
    assert against(0.43, 0.435) == ("0.435", "-0.005")
    assert against(0.43, None) == ("-", "-")
    assert (p_value(0.0004), p_value(0.0451), p_value(float("nan"))) == ("< 0.001", "0.045", "-")
    assert table(["a", "b"], [["1", "2"]]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]


def test_ties_are_discordant():
    better, worse = np.array([1.0, 2.0, 0.0, 3.0]), np.array([0.0, 2.0, 1.0, 1.0])
    found, tau = wmt19_darr.with_bootstrap(better, worse, ["a", "a", "b", "b"])
    assert found == kendall_like_pairs(better, worse)
    assert tau.value == 0.0


def test_a_suite_of_labelled_responses():
    made = suite.labelled_study([Context(["a b", "a c"], ["b d", "b e"], ["x", "y"])] * 3)
    assert [(one.text, one.weight) for one in made.items[0].references] == [
        ("a c", 1.0),
        ("b e", -1.0),
        ("y", -1.0),
    ]
    assert made.outputs == {kind: (text,) * 3 for kind, text in
                            (("good", "a b"), ("adversarial", "b d"), ("random", "x"))}  # fmt: skip
    assert [one.value for one in made.ratings][:3] == [1.0, 0.0, 0.0]


def test_soft_cosine_on_dailydialogpp(data):
    """The column of good against random responses."""
    pytest.importorskip("wordllama")
    judged = soft_sets.labelled_set(data, "random")
    column = set_columns.Column.of("DailyDialog++, random", [judged], soft.METRICS)
    assert column.value("soft-cosine") == pytest.approx(0.834, abs=5e-4)
    assert column.value("BLEU-2, smoothed") == pytest.approx(0.819, abs=5e-4)
    assert "upsilon-BLEU" not in column.scores
