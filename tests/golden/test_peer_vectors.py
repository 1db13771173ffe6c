"""Every vector of the peers is tested somewhere."""

from __future__ import annotations

import json
from pathlib import Path

COVERED = {
    "delta_bleu_galley": "tests/score/test_golden.py",
    "sacrebleu_corpus": "tests/score/test_golden.py",
    "sacrebleu_raw": "tests/score/test_golden.py",
    "sacrebleu_sentence": "tests/score/test_golden.py",
    "nltk_bleu": "tests/score/test_golden.py",
    "dstc7_nlp_metrics": "tests/score/test_nist.py",
    "kendall_like": "tests/stats/test_correlation.py",
    "williams": "tests/stats/test_williams.py",
    "williams_wmt12_es_en": "tests/stats/test_williams.py",
    "paired_significance_wmt17_en_de": "tests/compare/test_peers.py",
}


def test_every_vector_is_covered(data: Path) -> None:
    vectors = json.loads((data / "test_vectors" / "peer_vectors.json").read_text("utf-8"))
    assert set(vectors) == set(COVERED)


def test_the_tests_that_cover_them_are_there() -> None:
    root = Path(__file__).parents[2]
    for name, path in COVERED.items():
        assert (root / path).is_file(), name
