"""Wei, "On conducting better validation studies": the bins of his Figure 6 and his Table 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deltableu.corpus import ScoreTable
from deltableu.validate import failure_cases, quality_bins
from reproduce.wmt17 import read_rated_segments, sentence_bleu


@pytest.fixture(scope="module")
def chinese(data: Path) -> tuple[ScoreTable, ScoreTable]:
    """Sentence BLEU and people's scores of the 560 rated segments of zh-en."""
    segments = read_rated_segments(data)["zh"]
    metric = ScoreTable.of({"sentBLEU": {"all": sentence_bleu(segments) / 100.0}})
    return metric, ScoreTable.of({"DA": {"all": segments.human}})


def test_figure_6(chinese: tuple[ScoreTable, ScoreTable]) -> None:
    found = quality_bins(*chinese, rule="width")[0]
    assert [round(one.low, 3) for one in found.bins] == [-1.730, -0.749, 0.228]
    assert [round(one.high, 3) for one in found.bins] == [-0.749, 0.228, 1.205]
    assert [len(one.scores) for one in found.bins] == [70, 301, 189]
    # "significant overlap in scoring bad and average translations, but not the good"
    assert found.apart[0] < found.apart[1]


def test_equal_counts(chinese: tuple[ScoreTable, ScoreTable]) -> None:
    found = quality_bins(*chinese)[0]
    assert [len(one.scores) for one in found.bins] == [187, 187, 186]
    # Terciles without interpolation: an edge is a score that somebody gave.
    assert [one.high for one in found.bins[:2]] == pytest.approx([-0.331, 0.235], abs=0.003)


@pytest.mark.parametrize(
    ("kind", "rank", "human", "score"),
    [
        ("too low", 1, 0.355, 0.066),
        ("too low", 2, 0.247, 0.079),
        ("too low", 4, 0.537, 0.087),
        ("too high", 1, -1.245, 0.707),
        ("too high", 2, -1.081, 0.481),
        ("too high", 5, -0.776, 0.282),
    ],
)
def test_table_1(
    chinese: tuple[ScoreTable, ScoreTable], kind: str, rank: int, human: float, score: float
) -> None:
    cases = failure_cases(*chinese, most=10, rule="width")
    case = next(one for one in cases if (one.kind, one.rank) == (kind, rank))
    assert np.round([case.human, case.score], 3).tolist() == [human, score]
