"""Labels carry the order of n-grams, and metrics of one table have the same order by default."""

from __future__ import annotations

import pytest

from deltableu.errors import InputError
from deltableu.score import make_metrics, metric_label


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("bleu", "bleu-4"),
        ("BLEU-2", "bleu-2"),
        ("sentence-bleu", "sentence-bleu-4"),
        ("delta-bleu", "delta-bleu-2"),
        ("Delta-BLEU-3", "delta-bleu-3"),
        ("signed-delta-bleu", "signed-delta-bleu-2"),
        ("ibleu", "ibleu-4"),
        ("nist", "nist-5"),
        ("rouge-2", "rouge-2"),
        ("chrf++", "chrf++"),
    ],
)
def test_labels(name, label):
    (metric,) = make_metrics([name], {})
    assert metric.name == metric_label(name) == label


def test_orders_by_option_and_by_name():
    assert [one.name for one in make_metrics(["bleu", "delta-bleu"], {"order": 3})] == [
        "bleu-3",
        "delta-bleu-3",
    ]
    assert [one.name for one in make_metrics(["bleu-2", "bleu-4"], {})] == ["bleu-2", "bleu-4"]
    assert [one.name for one in make_metrics(["bleu", "bleu-4"], {})] == ["bleu-4"]
    with pytest.raises(InputError, match="bleu-4 has an order in its name, but --order is 2"):
        make_metrics(["bleu-4"], {"order": 2})
    with pytest.raises(InputError, match="did you mean 'bleu-2'"):
        make_metrics(["belu-2"], {})
