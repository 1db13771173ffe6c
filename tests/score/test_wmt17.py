"""WMT'17: official sentence scores, published correlations and mteval's scores, from real texts."""

from __future__ import annotations

import csv
import gzip
import html
from pathlib import Path

import numpy as np
import pytest

from deltableu import BLEU, SentenceBLEU

WMT17 = Path(__file__).parents[2].parent / "shared" / "data" / "wmt17"

pytestmark = pytest.mark.skipif(not WMT17.is_dir(), reason=f"the WMT'17 data is not at {WMT17}")


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


def table(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE))


# --- Official sentBLEU ----------------------------------------------------------------------------

#: Pair: (segments that differ, of 560; published Pearson correlation of sentBLEU with people).
SEGMENTS = {"cs-en": (2, 0.435), "de-en": (1, 0.432), "fi-en": (0, 0.571), "zh-en": (1, 0.512)}


@pytest.mark.parametrize("pair", SEGMENTS)
def test_moses_is_the_official_sentbleu(pair):
    segments = table(WMT17 / f"WMT17/testset/testset_{pair}.tsv", "\t")
    assert len(segments) == 560
    differing, correlation = SEGMENTS[pair]
    rows = SentenceBLEU(method="moses", tokenize="none").compute(
        [one["translation"] for one in segments], [[one["reference"]] for one in segments]
    )
    scores = rows.segment_scores() / 100
    official = np.array([float(one["sentBLEU"]) for one in segments])
    assert np.count_nonzero(np.abs(scores - official) > 2e-5) == differing
    people = [float(one["HUMAN_score"]) for one in segments]
    assert np.corrcoef(scores, people)[0, 1] == pytest.approx(correlation, abs=1e-3)


@pytest.mark.parametrize(
    ("method", "at_most"), [("bleu+1", 20), ("nakov", 280), ("nakov-cdec", 20)]
)
def test_no_other_method_is_the_official_sentbleu(method, at_most):
    """Nakov's differs only where a hypothesis is no longer than its reference."""
    segments = table(WMT17 / "WMT17/testset/testset_cs-en.tsv", "\t")
    rows = SentenceBLEU(method=method, tokenize="none").compute(
        [one["translation"] for one in segments], [[one["reference"]] for one in segments]
    )
    official = np.array([float(one["sentBLEU"]) for one in segments])
    agree = np.count_nonzero(np.abs(rows.segment_scores() / 100 - official) <= 2e-5)
    assert agree <= at_most


# --- System BLEU against people -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "systems", "tokenize", "correlation"),
    [
        ("cs-en", 4, "intl", 0.9717),
        ("cs-en", 4, "13a", 0.9764),
        ("de-en", 11, "13a", 0.9243),
        ("fi-en", 6, "13a", 0.8991),
        ("zh-en", 16, "13a", 0.8670),
        ("cs-en", 4, "none", 0.9796),
        ("de-en", 11, "intl", 0.9233),
        ("fi-en", 6, "intl", 0.9033),
        ("zh-en", 16, "intl", 0.8635),
    ],
)
def test_system_bleu_correlates_with_people_as_published(pair, systems, tokenize, correlation):
    people = {
        one["SYSTEM"]: float(one["HUMAN"])
        for one in table(WMT17 / "WMT17/DA-syslevel.csv", " ")
        if one["LP"] == pair
    }
    assert len(people) == systems
    name = f"newstest2017-{pair.replace('-', '')}-ref.en.gz"
    metric = BLEU(tokenize=tokenize)
    encoded = metric.encode(
        [[html.unescape(text)] for text in lines(WMT17 / "WMT17/references" / name)]
    )
    scores = []
    for system in people:
        output = f"WMT17/system-outputs/{pair}/newstest2017.{system}.{pair}.gz"
        hypotheses = [html.unescape(text) for text in lines(WMT17 / output)]
        scores.append(metric.statistics(hypotheses, encoded).score().score)
    found = np.corrcoef(scores, list(people.values()))[0, 1]
    assert found == pytest.approx(correlation, abs=5e-4)


# --- mteval ---------------------------------------------------------------------------------------


def test_cased_13a_equals_mteval_for_all_systems():
    expected = {
        one["system"]: float(one["expected"])
        for one in table(WMT17 / "sacrebleu_expected_scores.tsv", "\t")
        if (one["#kind"], one["testset"], one["lp"]) == ("MTEVAL", "newstest2017", "en-de")
    }
    assert len(expected) == 16
    folder = WMT17 / "en-de-cased"
    metric = BLEU()
    encoded = metric.encode([[text] for text in lines(folder / "newstest2017-ende-ref.de.gz")])
    found = {}
    for path in folder.glob("newstest2017.*.en-de.gz"):
        system = path.name.removeprefix("newstest2017.").removesuffix(".en-de.gz")
        found[system] = round(metric.statistics(lines(path), encoded).score().score, 2)
    assert found == expected
