"""Tables compare metrics of the same order unless other ones are named."""

from __future__ import annotations


def test_default_tables_compare_like_with_like(run, succeeds, demo):
    found = succeeds("score", demo, "--format", "json").json
    assert list(dict.fromkeys(one["metric"] for one in found)) == ["delta-bleu-2", "bleu-2"]
    named = run("score", demo, "--metrics", "delta-bleu,bleu", "--format", "json")
    assert "delta-bleu-2 and bleu-4 count n-grams up to different lengths" in named.err
    alike = succeeds("score", demo, "--metrics", "delta-bleu,bleu", "--order", "2")
    assert "different lengths" not in alike.err
