"""A validation in; a paragraph that says how it was done, for a paper, out."""

from __future__ import annotations

from deltableu._version import __version__
from deltableu.report.phrases import count, listed
from deltableu.stats import Method
from deltableu.validate import MetricComparison, Validation

_METHODS: dict[Method, str] = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall-b": "Kendall's tau-b",
    "kendall-c": "Kendall's tau-c",
    "kendall-wei": "Kendall's tau without tied pairs",
    "kendall-like": "the Kendall-like tau of the WMT metrics tasks",
}
_SCALES = {
    "z": "standardised by rater as in Direct Assessment (Graham et al. 2015)",
    "raw": "averaged as they are",
    "mixed": "freed of rater effects by a mixed model",
}
_LEVELS = {
    "system": "whole systems",
    "pooled": "all outputs together",
    "item": "the systems within each item, averaged over items",
}
_TESTS = {
    "perm-both": "exchanges of the metrics' standardised scores (PERM-BOTH, Deutsch et al. 2021)",
    "perm-systems": "exchanges of the metrics' standardised scores of whole systems (PERM-SYS, "
    "Deutsch et al. 2021)",
    "perm-items": "exchanges of the metrics' standardised scores of whole items (PERM-INPUT, "
    "Deutsch et al. 2021)",
    "bootstrap-both": "a bootstrap over items and systems",
    "bootstrap-systems": "a bootstrap over systems",
    "bootstrap-items": "a bootstrap over items",
    "williams": "Williams' test (Graham and Baldwin 2014)",
}
_CORRECTIONS = {
    "holm": "two-sided, with Holm's correction",
    "bh": "two-sided, with the correction of Benjamini and Hochberg",
    "none": "two-sided, without correction",
    "wmt": "one-sided, without correction, as in the WMT metrics tasks",
}
_INTERVALS = {
    "fisher": "Fisher's z",
    "bonett-wright": "Fisher's z with the standard error of Bonett and Wright (2000)",
    "fieller": "Fisher's z with the standard error of Fieller et al. (1957)",
}


def methods_paragraph(validation: Validation) -> str:
    """How a validation was done, in sentences that a paper can take over.

    Examples
    --------
    >>> from deltableu import validate_metrics
    >>> from deltableu.corpus import ScoreTable
    >>> people = ScoreTable.of({"people": {"A": [5, 4, 5], "B": [3, 3, 4], "C": [1, 2, 3]}})
    >>> metric = ScoreTable.of({"m": {"A": [9, 7, 8], "B": [6, 5, 7], "C": [2, 3, 4]}})
    >>> methods_paragraph(validate_metrics(metric, people)).partition(".")[0]
    'We compared metrics with the human scores of 3 systems on 3 items'
    """
    human = validation.human
    sizes = count(len(human.systems), "system")
    if human.items:
        sizes += f" on {count(len(human.items), 'item')}"
    raters = validation.raters
    whose = "simulated, not human, scores" if validation.simulated else "human scores"
    sentences = [f"We compared metrics with the {whose} of {sizes}."]
    if raters is not None:
        scale = validation.source.partition("-")[0]
        made = _SCALES.get(scale, f"made by {validation.source}")
        who, by = "rater", "two people or more"
        if validation.simulated:
            who, by = "simulated rater", "two or more"
        sentences.append(
            f"{count(raters.raters, who)} judged {raters.outputs:,} outputs, "
            f"{raters.doubly_rated:,} of them by {by}; their ratings were {made}."
        )
    methods = list(dict.fromkeys(one.method for one in validation.agreements))
    levels = list(dict.fromkeys(one.level for one in validation.agreements))
    intervals = [one.interval for one in validation.agreements if one.interval is not None]
    sentences.append(
        f"Agreement is {listed([_METHODS[one] for one in methods], 6)} of "
        f"{listed([_LEVELS[one] for one in levels])}."
    )
    if intervals:
        ways = dict.fromkeys(_INTERVALS.get(one.method, one.method) for one in intervals)
        level = f"{100 * intervals[0].confidence:g}%"
        sentences.append(f"Its {level} intervals are those of {listed(list(ways))}.")
    tested: dict[str, list[str]] = {}
    for one in validation.comparisons:
        if not one.unranked:
            tested.setdefault(_test(one), []).append(_LEVELS[one.level or "system"])
    sentences += [
        f"Metrics were compared on {listed(where)} by {how}." for how, where in tested.items()
    ]
    if validation.sentinels:
        sentences.append(
            f"{listed(list(validation.sentinels))} know nothing of quality and show what agreement "
            "comes for free."
        )
    sentences.append(
        f"Computed by deltableu {__version__} (delta-BLEU: Galley et al. 2015; signature "
        f"{validation.signature})."
    )
    return " ".join(sentences)


def _test(comparison: MetricComparison) -> str:
    test = _TESTS.get(comparison.test or "", comparison.test or "no test")
    correction = _CORRECTIONS[comparison.correction]
    return f"{test}, {correction}, at a significance of {comparison.significance:g}"
