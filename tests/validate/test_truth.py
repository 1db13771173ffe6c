"""Truth by simulation: what docs/statistics-validate.md says of tests and intervals of agreement.

What the page says of its figures is held to the printed ones, and in the long tests to those of
2,000 studies drawn anew from every population. The other short tests draw 80 from a few
populations and allow for more chance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pytest
from scipy.stats import binom

from deltableu.stats.resampling import stream
from deltableu.validate.levels import agreement
from deltableu.validate.metric_tests import compare_metrics
from simulations import replications, validate
from simulations.__main__ import REPLICATIONS, SEED, VALIDATION_PAGE
from simulations.tables import Row
from simulations.validate import NoAgreement, OtherSystems, TheseSystems
from simulations.validate_corpus import CorpusScores
from simulations.validate_groups import Dialogues
from simulations.validate_people import FewRatings, RatedSystems
from simulations.validate_populations import (
    BIAS,
    LEVELS,
    POOL,
    SETS,
    Items,
    draw,
    item_pools,
    true_value,
)
from simulations.validate_tables import FEWER_STUDIES, everything, tables
from simulations.validate_winners import Winners

FEW = 80

Found = TypeVar("Found")


def only(rows: Sequence[Found], **wanted: object) -> list[Found]:
    found = [
        row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())
    ]
    assert found, wanted
    return found


def in_wide_band(row: Row) -> bool:
    """One in ten thousand falls outside by chance."""
    low, high = binom.ppf((5e-5, 1 - 5e-5), row.replications, row.nominal) / row.replications
    return bool(low <= row.rate <= high)


# --- The populations ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["normal", "skewed"])
@pytest.mark.parametrize("bias", [0.0, BIAS])
def test_two_metrics_agree_equally_well_with_these_systems(shape, bias):
    pools = item_pools(shape, bias, 6)
    assert len(pools) == SETS
    for pool in pools:
        assert pool.x.shape == pool.human.shape == (6, POOL)
        for level in LEVELS:
            x, y = (
                float(agreement(side, pool.human, level=level)) for side in (pool.x, pool.y[level])
            )
            assert x == pytest.approx(y, abs=1e-9)
            assert not np.array_equal(pool.x, pool.y[level])
        errors = [
            side.mean(axis=1) - pool.human.mean(axis=1) for side in (pool.x, pool.y["system"])
        ]
        if bias and shape == "normal":
            assert abs(errors[0] - errors[1]).max() > 0.2


@pytest.mark.parametrize("bias", [0.0, BIAS])
def test_true_values_of_normal_scores(bias):
    """Variances: systems 1, items 1, outputs 1, people's noise .49, metrics' noise 2.25."""

    def true(level, items=None):
        return true_value("normal", bias, level, "pearson", 6, items)

    people, metric = 1 + (1 + 0.49) / 50, 1 + bias**2 + (1 + 2.25) / 50
    assert true("system", 50) == pytest.approx((1 + 1 / 50) / math.sqrt(people * metric), abs=0.002)
    assert true("system") == pytest.approx(1 / math.sqrt(1 + bias**2), abs=0.002)
    assert true("pooled") == pytest.approx(3 / math.sqrt(3.49 * (5.25 + bias**2)), abs=0.003)
    # Less than the correlation of all outputs of an item, as there are six systems only.
    within = 2 / math.sqrt(2.49 * (4.25 + bias**2))
    assert within - 0.05 < true("item") < within - 0.01


def test_skewed_scores_are_skewed_and_ranks_do_not_see_it():
    table = draw(stream(0), "skewed", BIAS, 400, 50)
    cells = table.human.ravel()
    assert ((cells - cells.mean()) ** 3).mean() / cells.std() ** 3 > 2
    normal, skewed = (
        true_value(shape, BIAS, "pooled", "kendall-b", 0, None) for shape in ("normal", "skewed")
    )
    assert normal == skewed


def test_results_do_not_depend_on_processes_and_batches(monkeypatch):
    cells = [NoAgreement("normal", 0.0, 4, 6), FewRatings("normal", 12)]
    one = validate.simulate(5, 3, chosen=cells, processes=1)
    assert validate.simulate(5, 4, chosen=cells, processes=1) != one
    monkeypatch.setattr(replications, "_BATCH", 2)
    assert validate.simulate(5, 3, chosen=cells, processes=2) == one


def test_every_cell_has_its_own_name():
    names = [
        (type(cell), cell.data, cell.relation, cell.n, getattr(cell, "level", ""))
        for cell in everything()
    ]
    assert len(set(names)) == len(names)


# --- Reduced --------------------------------------------------------------------------------------


def few(cell) -> list[Row]:
    return validate.simulate(FEW, SEED, chosen=[cell], processes=1)[cell]


def test_few_studies_of_other_systems():
    rows = few(OtherSystems("normal", BIAS, 10, 50, ("system",)))
    for method in ("PERM-SYS", "Williams, two-sided"):
        (row,) = only(rows, method=method)
        assert in_wide_band(row), row
    for method in ("PERM-BOTH", "PERM-INPUT"):
        (row,) = only(rows, method=method)
        assert row.rate > 0.25, row
    for method in ("pearson", "spearman", "kendall-b"):
        (row,) = only(rows, method=f"formula, {method}")
        assert in_wide_band(row), row
    for row in only(rows, method="percentile, items"):
        assert row.rate < 0.8, row


def test_few_studies_of_these_systems():
    rows = few(TheseSystems("normal", BIAS, 6, 50, ("item",)))
    for method in ("PERM-BOTH", "PERM-INPUT", "BOOT-INPUT"):
        (row,) = only(rows, method=method)
        assert row.rate <= row.nominal or in_wide_band(row), row
    for row in only(rows, method="bca, items"):
        assert in_wide_band(row), row


def test_few_metrics_that_know_nothing():
    rows = few(NoAgreement("normal", BIAS, 10, 30))
    for row in only(rows, method="by formula"):
        if row.target.startswith("system"):
            assert in_wide_band(row), row
    for row in only(rows, method="by bootstrap of items"):
        if row.target.startswith("item"):
            assert row.rate > 0.1, row


def test_few_studies_of_dialogues():
    """Whole dialogues hold; single scores, and errors that outputs share, do not."""
    rows = few(Dialogues("normal", 300))
    for what in ("PERM-INPUT", "interval"):
        (row,) = only(rows, method=f"{what}, by dialogue")
        assert in_wide_band(row), row
    (row,) = only(rows, method="PERM-BOTH, by item")
    assert row.rate > 0.1, row


def test_few_studies_of_five_equal_metrics():
    rows = few(Winners("five-point", "pooled", 4, 50))
    rates = {row.method: row.rate for row in rows}
    assert rates["wmt"] > 0.2 > rates["none"] - 0.2
    assert rates["holm"] <= rates["bh"] <= rates["none"] <= rates["wmt"]
    (row,) = only(rows, method="holm")
    assert row.rate <= row.nominal or in_wide_band(row), row


def test_few_studies_of_corpus_scores():
    corpus, means = few(CorpusScores("normal", 10, 200))
    assert in_wide_band(corpus), corpus
    assert means.rate > 0.1, means


def test_few_studies_of_equal_systems():
    rows = few(RatedSystems("normal", 12, 100, same_items=False, model=False))
    first, doubled = rows
    assert in_wide_band(doubled), doubled
    assert 0.03 < first.rate < 0.2, first


# --- The page -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A printed rate in per cent; `holds` unless it is printed in bold."""

    data: str
    null: str
    n: str
    target: str
    method: str
    rate: float
    holds: bool

    @property
    def key(self) -> tuple[str, ...]:
        return (self.data, self.null, self.n, self.target, self.method)

    @property
    def level(self) -> str:
        return self.target.split(",")[0]

    @property
    def shape(self) -> str:
        return self.data.split(",")[0]


def figures(text: str) -> list[Figure]:
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    assert len(lines) > 2, "a table is missing"
    heading, _, *rest = lines
    return [
        Figure(*line[:4], method, float(re.sub(r"\*\*|above|below", "", cell)), "**" not in cell)
        for line in rest
        for method, cell in zip(heading[4:], line[4:], strict=True)
        if cell
    ]


def blocks() -> dict[str, str]:
    page = VALIDATION_PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"<!-- (validated [^>]*) -->\n(.*?)<!-- /\1 -->", page, re.DOTALL))


@pytest.fixture
def sketched(monkeypatch):
    """One study of every cell, without its truth: what lines and columns its tables have."""

    def few_items(shape, bias, systems):
        table = draw(stream(0), shape, bias, systems, 60)
        return (Items(table.x, table.human, dict.fromkeys(LEVELS, table.y)),) * SETS

    monkeypatch.setattr(validate, "item_pools", few_items)
    monkeypatch.setattr(validate, "true_value", lambda *_: 0.0)
    monkeypatch.setattr(validate, "EXCHANGES", 20)
    monkeypatch.setattr(validate, "RESAMPLES", 20)
    return tables(validate.simulate(1, SEED, chosen=everything(), processes=1))


def test_the_page_has_every_table_and_cell(sketched):
    found = blocks()
    # Of these there are fewer studies: see test_simulated_units.py.
    slow = {f"validated {name}" for name in FEWER_STUDIES}
    assert found.keys() - slow == sketched.keys()
    for name, text in sketched.items():
        assert [one.key for one in figures(found[name])] == [one.key for one in figures(text)], name
        assert f"{REPLICATIONS:,} replications" in found[name]


# --- What the page says of its figures ------------------------------------------------------------

OTHER, THESE = "other systems", "these systems"
Said = dict[str, list[Figure]]

#: Another processor may round a resampled score to the other side of a limit.
_MOVED = 0.3
_ROUNDED = 0.5 + _MOVED


@pytest.fixture(scope="module")
def simulated() -> dict[str, str]:
    return tables(validate.simulate(REPLICATIONS, SEED, chosen=everything()))


@pytest.fixture(
    scope="module", params=["printed", pytest.param("simulated", marks=pytest.mark.long)]
)
def said(request) -> Said:
    found = blocks() if request.param == "printed" else request.getfixturevalue("simulated")
    return {name.removeprefix("validated "): figures(text) for name, text in found.items()}


def spans(found: Sequence[Figure], low: float, high: float, **wanted: object) -> bool:
    """Whether they go from `low` to `high`, which the page says in whole per cent."""
    rates = [one.rate for one in only(found, **wanted)]
    return abs(min(rates) - low) <= _ROUNDED and abs(max(rates) - high) <= _ROUNDED


@pytest.mark.long
def test_the_page_has_these_figures(simulated):
    printed = blocks()
    for name, text in simulated.items():
        again, before = (
            {one.key: one.rate for one in figures(side)} for side in (text, printed[name])
        )
        assert again.keys() == before.keys()
        assert all(abs(again[key] - before[key]) <= _MOVED for key in again), name


def test_only_exchanged_systems_hold_about_other_systems(said):
    tests = said[f"tests, {OTHER}"]
    for one in only(tests, method="PERM-SYS"):
        assert one.holds or 3.3 < one.rate < 7.5, one
    for method in ("PERM-BOTH", "PERM-INPUT"):
        assert all(one.holds for one in only(tests, method=method, null="unbiased"))
        biased = only(tests, method=method, null="biased")
        assert not any(one.holds for one in biased)
        assert spans(biased, 32, 69, level="system") or spans(biased, 33, 67, level="system")
        assert spans(biased, 7, 32, level="pooled")
        assert all(13 < one.rate < 17 for one in only(biased, level="item"))
        few, many = (
            only(biased, data="normal, 10 systems", n=n, level="system")[0].rate
            for n in ("50", "200")
        )
        assert few == pytest.approx(44, abs=0.5)
        assert many == pytest.approx(68, abs=1)


def test_drawn_differences_about_other_systems(said):
    tests = said[f"tests, {OTHER}"]
    assert all(one.rate < 4 for one in only(tests, method="BOOT-BOTH"))
    assert spans(tests, 8, 14, method="BOOT-SYS", level="pooled")
    ten = [one for one in only(tests, method="BOOT-SYS", level="system") if "10 sys" in one.data]
    assert spans(ten, 5, 7)
    biased = only(tests, method="BOOT-INPUT", null="biased")
    assert spans(biased, 16, 55, level="system")
    assert not any(one.holds for one in biased)


def test_williams_about_other_systems(said):
    tests = said[f"tests, {OTHER}"]
    normal = only(tests, level="system", shape="normal")
    assert spans(normal, 4, 6, method="Williams, two-sided")
    two_sided = only(tests, level="system", method="Williams, two-sided")
    assert all(one.rate < 9 for one in two_sided)
    larger = "Williams, larger r first"
    assert spans(tests, 8, 15, level="system", method=larger)
    assert not any(one.holds for one in only(tests, method=larger))
    assert spans(tests, 9, 51, level="pooled", method=larger)
    wrong = [
        one for one in only(tests, level="pooled") if one.shape == "skewed" or one.null == "biased"
    ]
    assert spans(wrong, 13, 44, method="Williams, two-sided")


def test_exchanged_scores_hold_about_these_systems_but_for_whole_systems(said):
    tests = said[f"tests, {THESE}"]
    for method in ("PERM-BOTH", "PERM-INPUT"):
        found = only(tests, method=method)
        for one in found:
            assert one.holds == (one.level != "system" or one.null == "unbiased"), one
        assert spans(found, 12, 17.5, level="system", null="biased")
    assert spans(tests, 0, 5, method="BOOT-INPUT", level="system")
    assert spans(tests, 0, 8, method="BOOT-INPUT")
    biased = only(tests, level="system", null="biased")
    for one in biased:
        if one.method.startswith("Williams") or one.method == "PERM-SYS":
            assert one.rate <= 2.5, one
    pooled = only(tests, level="pooled", method="Williams, two-sided")
    assert all(one.holds for one in only(pooled, shape="normal"))
    assert spans(pooled, 28, 34, shape="skewed")


def test_formulas_about_other_systems(said):
    found = said[f"intervals, {OTHER}"]
    pearson, spearman, kendall = (
        only(found, method=f"formula, {method}", level="system")
        for method in ("pearson", "spearman", "kendall-b")
    )
    assert all(one.holds for one in only(pearson, shape="normal"))
    assert all(91.4 < one.rate < 93.6 for one in only(pearson, shape="skewed"))
    assert spans(spearman, 94, 99)
    assert [round(one.rate) for one in only(kendall, null="unbiased")] == [84, 89]
    for one in only(kendall, null="biased"):
        assert one.rate > 99 if "6 systems" in one.data else 92 < one.rate < 96, one
    assert spans(found, 47, 73, level="pooled", method="formula, pearson")


def test_draws_about_other_systems(said):
    found = said[f"intervals, {OTHER}"]
    items = [one for one in found if one.method.endswith(" items")]
    assert spans(items, 38, 88)
    assert spans(items, 38, 87, level="system")
    assert spans([one for one in items if one.level != "system"], 50, 88)
    both = [one for one in found if one.method.endswith(" both") and one.level != "system"]
    short = [one for one in both if one.rate < 93.7]
    assert {(one.data, one.n, one.level) for one in short} == {
        ("normal, 10 systems", "200", "pooled")
    }
    assert spans(short, 89, 89)
    assert spans(both, 89, 99)
    assert spans(found, 94, 100, method="percentile, both", level="system")


def test_draws_of_items_about_these_systems(said):
    found = said[f"intervals, {THESE}"]
    percentile, bca = (only(found, method=f"{ci}, items") for ci in ("percentile", "bca"))
    for one in percentile + bca:
        if one.level == "item":
            assert 92.5 < one.rate < 95, one
    assert spans([one for one in percentile if one.level != "system"], 93, 95)
    for one in only(bca, level="pooled"):
        if one.shape == "skewed" and one.target.endswith("pearson"):
            assert 88 < one.rate < 89.5, one
            (formula,) = only(
                found, method="formula", data=one.data, null=one.null, n=one.n, target=one.target
            )
            assert 67 < formula.rate < 77, formula
        else:
            assert 92 < one.rate < 95, one
    assert spans(bca, 77, 87, target="system, kendall-b")
    ten = [one for one in only(percentile, level="system") if "10 systems" in one.data]
    assert spans(ten, 85, 94, n="50")
    assert spans(ten, 92, 97, n="200")
    assert spans(found, 77, 90, level="system", data="skewed, 10 systems", n="50")


def test_metrics_that_know_nothing(said):
    found = said["zero agreement"]
    assert all(one.holds for one in only(found, level="system"))
    drawn = only(found, method="by bootstrap of items")
    assert all(one.holds for one in only(drawn, null="unbiased"))
    assert spans(drawn, 4, 6, null="unbiased")
    assert spans(drawn, 17, 25, null="biased")


def test_systems_that_people_rated(said):
    found = said["people"]
    model = only(found, method="mixed model")
    assert all(one.holds or one.rate < 5 for one in model)
    partial = only(model, data="normal, 6 raters with taste 0.3")
    assert spans(partial, 2, 2)
    assert spans(model, 3, 3, shape="skewed")
    assert spans([one for one in model if one.shape != "skewed" and one not in partial], 4, 5)
    assert spans(found, 7, 14, method="mixed model without tastes")
    tastes = [one for one in found if "taste" in one.data]
    found = [one for one in found if one not in tastes]
    few = [one for one in tastes if re.search(r"\b[35] raters", one.data)]
    assert spans(few, 8, 16, method="rank-sum, higher mean first")
    first, doubled = (
        only(found, method=f"rank-sum, {how}") for how in ("higher mean first", "doubled")
    )
    assert spans(first, 3, 4, null="same items")
    assert spans(first, 9, 10, null="items of their own")
    assert spans(doubled, 1, 2, null="same items")
    assert all(one.holds for one in only(doubled, null="items of their own"))


def test_few_ratings(said):
    found = [one for one in said["few ratings"] if one.method != "ratings"]
    means = [one for one in said["few ratings"] if one.target != "difference of two"]
    assert spans(found, 94, 97, target="difference of two")
    for one in found:
        if one.data != "skewed ratings":
            assert 93 < one.rate < 96.1, one
    hard = only(means, data="skewed ratings")
    for n, low, high in (("12", 91, 93), ("30", 92, 94), ("100", 93, 94)):
        assert spans(hard, low, high, n=n)


def test_items_of_dialogues(said):
    found = said["dialogues"]
    within = [one for one in found if one.null.endswith("0.3")]
    assert spans(within, 89, 91, method="interval, by item")
    assert spans(within, 7, 9, method="PERM-INPUT, by item")
    for what, low, high in (("interval", 94, 95), ("PERM-INPUT", 4, 6)):
        grouped = only(found, method=f"{what}, by dialogue")
        assert all(one.holds for one in grouped)
        assert spans(grouped, low, high)
    both = [one for one in found if one.method.startswith("PERM-BOTH")]
    assert spans(both, 9, 17)
    assert spans([one for one in both if one not in within], 12, 12)


def test_corpus_scores_are_made_anew(said):
    found = said["corpus scores"]
    assert all(one.holds for one in only(found, method="corpus scores"))
    assert spans(found, 5, 6, method="corpus scores")
    assert spans(found, 5, 28, method="means of segments")


def test_winners(said):
    found = said["winners"]
    false = [one for one in found if one.target.endswith("any false claim")]
    equal = [one for one in false if one.null.startswith("all equal")]
    assert spans(equal, 46, 58, method="wmt")
    assert spans(equal, 28, 39, method="none")
    assert all(one.holds for one in only(false, method="holm"))
    assert spans(false, 2, 5, method="holm")
    true = [one for one in found if one.target.endswith("a true one")]
    for level, rates in (("pooled", (65, 32, 19)), ("system", (33, 3, 2))):
        for method, rate in zip(("wmt", "bh", "holm"), rates, strict=True):
            assert spans(true, rate, rate, level=level, method=method)


# --- Winners --------------------------------------------------------------------------------------


def test_two_equal_metrics_are_told_apart_twice_as_often_as_said_at_wmt():
    """There each is tested for being better than the other."""
    studies = 250
    told = dict.fromkeys(("wmt", "holm"), 0)
    for number in range(studies):
        table = draw(stream(number), "normal", 0.0, 10, 20)
        scores = {"X": table.x, "Y": table.y}
        for correction in told:
            found = compare_metrics(
                scores,
                table.human,
                test="perm-systems",
                correction=correction,
                resamples=200,
                seed=number,
                threads=1,
            )
            told[correction] += len(found.winners) == 1
    assert 0.07 < told["wmt"] / studies < 0.15
    assert told["holm"] / studies < 0.08
