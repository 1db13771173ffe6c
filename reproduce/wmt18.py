"""WMT'18, to English: BLEU of systems against Direct Assessment, as published."""

from __future__ import annotations

from pathlib import Path

from deltableu import BLEU
from deltableu.score.metrics.chrf import ChrF
from reproduce.agreement_cells import of_systems
from reproduce.layout import against, table
from reproduce.wmt_systems import read_news_task

__all__ = ["PUBLISHED", "TASK_BLEU", "section"]

#: |r| of BLEU in Ma et al. 2018, as noted with the data.
PUBLISHED = {
    "cs-en": 0.970,
    "de-en": 0.971,
    "et-en": 0.986,
    "fi-en": 0.973,
    "ru-en": 0.979,
    "tr-en": 0.657,
    "zh-en": 0.978,
}
#: The task lower-cased, and split by Unicode's classes (mteval's international tokenisation).
TASK_BLEU = BLEU(tokenize="intl", lowercase=True)

SETTING = """\
Ma et al. 2018. The published values of |r| were noted from memory with the data and not checked
against the paper. Our r has its sign: of tr-en BLEU orders the systems the wrong way round, which
|r| hides; the difference is that of |r|. BLEU is lower-cased, `intl` tokens; *sacreBLEU* is its
default (cased, 13a). The texts are the submissions as they were, all rated systems are there."""


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    rows = []
    for pair, published in PUBLISHED.items():
        task = read_news_task(data / "wmt18_19" / "WMT18", 2018, pair)
        bleu = task.scores(TASK_BLEU)
        r = of_systems(bleu, task.human)
        printed, away = against(abs(r.value), published)
        others = [of_systems(task.scores(metric), task.human) for metric in (BLEU(), ChrF())]
        tau = of_systems(bleu, task.human, "kendall-wei")
        size = str(len(task.systems))
        rows.append([pair, size, printed, str(r), away, str(tau), *map(str, others)])
    header = ["pair", "n", "published \\|r\\|", "BLEU, r", "difference", "BLEU, tau"]
    header += ["sacreBLEU, r", "chrF, r"]
    lines = ["## WMT'18 to English, system level", "", SETTING, "", *table(header, rows), ""]
    return "\n".join(lines)
