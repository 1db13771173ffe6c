"""Every vector of the peers is tested somewhere, or it is said here why not."""

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
    "paired_significance_wmt17_en_de": "tests/compare/test_peers.py",
}
NOT_APPLICABLE = {
    "williams": "a test of correlations: no such command yet",
    "williams_wmt12_es_en": "a test of correlations: no such command yet",
    "kendall_like": "a correlation with people: no such command yet",
}


def test_every_vector_is_covered_or_named(data: Path) -> None:
    vectors = json.loads((data / "test_vectors" / "peer_vectors.json").read_text("utf-8"))
    assert set(vectors) == set(COVERED) | set(NOT_APPLICABLE)


def test_the_tests_that_cover_them_are_there() -> None:
    root = Path(__file__).parents[2]
    for name, path in COVERED.items():
        assert (root / path).is_file(), name
