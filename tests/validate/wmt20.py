"""WMT20's metrics task: scores of whole systems and what its organisers computed from them."""

from __future__ import annotations

import csv

import numpy as np

#: Systems that WMT20 left out as outliers. Its list is not that of its printed rule; in each
#: language pair only this set gives the published correlation of raw with standardised ratings.
OUTLIERS = {
    "csen": ("zlabs-nlp.1149", "CUNI-DocTransformer.1457"),
    "encs": ("Online-G.1555", "zlabs-nlp.1151"),
    "ende": ("Online-G.1556", "zlabs-nlp.179", "WMTBiomedBaseline.388"),
    "enja": (),
    "enpl": ("Online-A.1576", "zlabs-nlp.180", "Online-Z.1634"),
    "enru": (),
    "enta": ("SJTU-NICT.386", "TALP_UPC.1049", "Online-G.1561"),
    "iuen": ("Facebook_AI.729", "NiuTrans.1206"),
    "kmen": (),
    "plen": ("zlabs-nlp.1162",),
    "psen": (),
    "taen": ("TALP_UPC.192", "Online-G.1568"),
}
PAIRS = [(pair, "newstest2020", "") for pair in OUTLIERS] + [
    ("ende", f"newstest{refs}2020", f"_{refs}") for refs in "BMP"
]


def folder(data):
    return data / "wmt20_metrics/results/output/system-level"


def rows(path, delimiter):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter=delimiter))


def system_scores(data, pair, references, outliers):
    """Each metric's score of every machine system, human scores first."""
    header, *body = rows(folder(data) / f"DA-{references}-{pair}-sys-scores.csv", " ")
    out = OUTLIERS[pair] if outliers == "-excloutl" else ()
    kept = [row for row in body if not row[1].startswith("Human") and row[1] not in out]
    columns = zip(*kept, strict=True)
    named = dict(zip(header, columns, strict=True))
    # Some metrics did not score all systems.
    return {
        name: np.array(column, float)
        for name, column in named.items()
        if "" not in column and name not in ("LP", "SYSTEM")
    }
