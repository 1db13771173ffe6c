"""The settings of metrics, as every command that scores takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import METRICS, foldable
from deltableu.cli.options import Flag, Whole, listed
from deltableu.cli.output import remark
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score import (
    DeltaBLEU,
    Metric,
    OrderedMetric,
    WeightedMetric,
    make_metrics,
    metric_label,
    metric_name,
    metric_settings,
    unheeded_settings,
)

if TYPE_CHECKING:
    from deltableu.compare import Comparison


@Parameter(name="*", group=METRICS)
@foldable
@dataclass(frozen=True, kw_only=True)
class NgramOptions:
    """Settings of the BLEU family.

    Parameters
    ----------
    order
        Longest n-gram of the BLEU family; a name may have it too (bleu-2). By default 2 for
        delta-bleu and upsilon-bleu, and for bleu where it stands beside them unasked; else 4.
    tokenize
        none, 13a, char, intl, zh, ja-mecab, ko-mecab, spm, flores101, flores200. By default 13a,
        and ROUGE's own for rouge.
    lowercase
        Lower-case all text first.
    normalize
        Unicode normalisation of all text; by default none.
    strip_punctuation
        Drop punctuation first.
    variant
        Formula of delta-bleu and upsilon-bleu: the paper's (the default), or a published
        implementation's.
    smooth
        Smoothing of orders without a match. The default is exp for bleu, and as the variant has it
        for delta-bleu.
    smooth_value
        Value of the smoothings floor and add-k.
    effective_order
        Leave out orders longer than every hypothesis.
    combine
        How precisions are averaged: the geometric mean (the default), or the signed arithmetic one.
    brevity
        Which references delta-bleu's brevity penalty looks at; by default all.
    neutral
        The weight of a reference that is neither good nor bad, for metrics with weights: weights
        are counted from it. By default 0; auto finds it from the references alone.
    """

    order: Whole | None = None
    tokenize: str | None = None
    lowercase: Annotated[bool, Flag] = False
    normalize: Literal["default", "none", "NFC", "NFKC"] = "default"
    strip_punctuation: Annotated[bool, Flag] = False
    variant: Literal["default", "paper", "galley2019", "tsuta2020"] = "default"
    smooth: Literal["default", "none", "floor", "add-k", "exp"] = "default"
    smooth_value: float | None = None
    effective_order: Annotated[bool, Flag] = False
    combine: Literal["default", "geometric", "arithmetic"] = "default"
    brevity: Literal["default", "all", "positive"] = "default"
    neutral: float | Literal["auto"] | None = None

    def changed(self) -> dict[str, Any]:
        """What was given: not every metric has every setting."""
        given = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        changed = {name: value for name, (value, default) in given.items() if value != default}
        if self.normalize == "none":
            changed["normalize"] = None
        return changed


@Parameter(name="*", group=METRICS)
@foldable
@dataclass(frozen=True, kw_only=True)
class SoftOptions(NgramOptions):
    """Settings of the BLEU family and of soft pools.

    Parameters
    ----------
    tau
        How far below the best a reference may lie and still count in soft metrics (soft-cosine,
        ...): near 0 the best one alone, at most all by their weights; by default 0.1.
    encoder
        What makes the vectors of soft-cosine and scr: wordllama (the default),
        sentence-transformers:MODEL, a file of word vectors, or a function of a list of texts as
        package.module:function.
    """

    tau: float | None = None
    encoder: str | None = None


@Parameter(name="*", group=METRICS)
@foldable
@dataclass(frozen=True, kw_only=True)
class CalibratedOptions(SoftOptions):
    """Settings of all metrics that can be explained.

    Parameters
    ----------
    vectors
        File of word vectors for delta-vectors, ruber and scr, in GloVe's text format.
    relevance
        Model for relevance and scr: a file from `deltableu judge train --kind relevance`.
    calibration
        What ruber takes for 0 and 1: the lowest and highest score of the set that is scored (set,
        the default), those that the model knows from held-out logs (model), or those of a study.
        What scr counts each similarity: as the references at hand show it (set, the default), those
        of another study, or a file from `deltableu judge calibrate`.
    negatives
        Whether references with negative weights count in scr; by default they do (use).
    """

    vectors: str | None = None
    relevance: str | None = None
    calibration: str | None = None
    negatives: Literal["default", "use", "ignore"] = "default"


@Parameter(name="*", group=METRICS)
@foldable
@dataclass(frozen=True, kw_only=True)
class TextMetricOptions(CalibratedOptions):
    """Settings of all metrics but sentence-bleu, whose --method is another one elsewhere.

    Parameters
    ----------
    pool
        How discriminative metrics (delta-chrf, ...) pool good and bad references; by default mean.
    table
        File for delta-table and soft-table: hypothesis, reference and score in [0, 1] as CSV, TSV,
        JSONL or Parquet.
    alpha
        How much the references count beside the message in ibleu.
    judge
        Model that rates all references for upsilon-bleu and upsilon-chrf: a file from `deltableu
        judge train`, a study that it has rated, or the name of an installed one. By default the
        weights of the references are used.
    triplets
        How the two probabilities that the judge gives become one; by default max.
    magnitude
        Size of a weight, from the probability p that the judge gives; by default 2p-1.
    original
        Whether the original reference has weight 1 (the default), or is rated by the judge too.
    model
        Unreferenced scorer of ruber: a file from `deltableu judge train --kind ruber`.
    referenced
        Referenced scorer of ruber: the cosine of word vectors (the default), or any metric's name.
    pooling
        How ruber pools word vectors: largest and smallest numbers (max-min, the default), avg, all.
    all_references
        Let ruber's word vectors see all references; by default the original one alone.
    blend
        How ruber makes one score of two; by default arithmetic, their mean.
    """

    pool: Literal["default", "mean", "best"] = "default"
    table: str | None = None
    alpha: float | None = None
    judge: str | None = None
    triplets: Literal["default", "max", "mean", "first", "second"] = "default"
    magnitude: Literal["default", "2p-1", "p"] = "default"
    original: Literal["default", 1, "rated"] = "default"
    model: str | None = None
    referenced: str | None = None
    pooling: Literal["default", "max-min", "avg", "all"] = "default"
    all_references: Annotated[bool, Flag] = False
    blend: Literal["default", "arithmetic", "geometric", "min", "max"] = "default"

    @property
    def files(self) -> tuple[str | None, ...]:
        """What is read, where it is given; a judge may also be the name of an installed one."""
        # An encoder too may be a file, or a name.
        return (
            *(self.encoder, self.vectors, self.table),
            *(self.judge, self.model, self.relevance, self.calibration),
        )

    def make(self, names: str | None, references: ReferenceSet) -> tuple[Metric, ...]:
        """The metrics named, or those that suit the references, with these settings."""
        if names is not None:
            chosen = listed(names)
        elif self.judge is not None:
            chosen = ["upsilon-bleu", "bleu"]
        else:
            chosen = ["bleu"] if references.weights is None else ["delta-bleu", "bleu"]
        if names is None:
            chosen = at_one_order(chosen, self.order)
        settings = self.changed()
        if self.judge is not None:
            # Metrics call it as the papers do, where models are raters too.
            settings["rater"] = settings.pop("judge")
            if not any("rater" in metric_settings(name) for name in chosen):
                raise InputError(f"--judge is for upsilon metrics, not for {' and '.join(chosen)}")
        return fitted_metrics(noted_metrics(chosen, settings), references)


@Parameter(name="*", group=METRICS)
@foldable
@dataclass(frozen=True, kw_only=True)
class MetricOptions(TextMetricOptions):
    """Settings of all metrics.

    Parameters
    ----------
    method
        Smoothing of sentence-bleu; by default bleu+1.
    """

    method: Literal["default", "bleu+1", "moses", "nakov", "nakov-cdec"] = "default"


#: They say by themselves which metrics they are for: models and tables, and what to do with those.
_OF_THEIR_METRICS = {"vectors", "table", "rater", "triplets", "magnitude", "original"} | {
    *("model", "relevance", "referenced", "pooling", "all_references", "blend", "calibration"),
    *("neutral", "tau", "encoder", "negatives"),
}


def at_one_order(names: Sequence[str], order: int | None) -> list[str]:
    """The names, those of the BLEU family with the order that the first of them has by default.

    Tables that nobody chose the metrics of compare like with like. An order that was asked for is
    everybody's anyway.

    Examples
    --------
    >>> at_one_order(["delta-bleu", "chrf++", "bleu"], None)
    ['delta-bleu-2', 'chrf++', 'bleu-2']
    """
    if order is not None:
        return list(names)
    labels = {name: metric_label(name) for name in names}
    ordered = [name for name, label in labels.items() if label != name]
    if not ordered:
        return list(names)
    first = labels[ordered[0]].removeprefix(ordered[0])
    return [name + first if name in ordered else name for name in names]


def noted_metrics(names: Sequence[str], settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """The named metrics with those of the settings that they have; a note says which they have not.

    A setting that no metric heeds is an error. Another note says which of the BLEU family cannot be
    compared because of their orders.
    """
    made = make_metrics(names, settings)
    others = unheeded_settings(made, [name for name in settings if name not in _OF_THEIR_METRICS])
    said = [
        f"--{setting.replace('_', '-')} is not heeded by {' and '.join(which)}"
        for setting, which in others.items()
    ]
    if said:
        remark("; ".join(said))
    _note_orders(made, named=any(map(_has_order, names)))
    return made


def fitted_metrics(metrics: Sequence[Metric], references: ReferenceSet) -> tuple[Metric, ...]:
    """The metrics with what they choose by these references, and a note of each neutral weight."""
    made = []
    for metric in metrics:
        found = metric if isinstance(metric, WeightedMetric) else metric.fitted_to(references)
        if isinstance(metric, WeightedMetric) and (choice := metric.neutral_choice(references)):
            remark(f"{metric.name}: {choice.summary}")
            found = replace(metric, neutral=choice.value)
        made.append(found)
    return tuple(made)


def signed_for_clamped(metrics: Sequence[Metric], found: Sequence[Comparison]) -> list[Metric]:
    """What tells systems apart whose delta-BLEU is clamped, unless it was asked for anyway."""
    clamped = {one.metric for one in found if any(pair.interval is None for pair in one.pairs)}
    wanted: list[Metric] = [
        metric.signed()
        for metric in metrics
        if type(metric) is DeltaBLEU and metric.name in clamped
    ]
    return [metric for metric in wanted if metric.name not in {one.metric for one in found}]


def _has_order(name: str) -> bool:
    return metric_label(name) == name.lower() != metric_name(name)


def _note_orders(metrics: Sequence[Metric], *, named: bool) -> None:
    """Say which metrics differ in their orders too; --order does not go with orders in names."""
    families: dict[str, list[OrderedMetric]] = {}
    for one in metrics:
        # NIST adds its orders up: its scores are on a scale of their own.
        if isinstance(one, OrderedMetric) and one.family != "nist":
            families.setdefault(one.family, []).append(one)
    orders = {family: {one.order for one in some} for family, some in families.items()}
    unlike = [
        one
        for family, some in families.items()
        if any(orders[family].isdisjoint(others) for others in orders.values())
        for one in some
    ]
    if unlike:
        *first, last = (one.name for one in unlike)
        order = min(one.order for one in unlike)
        advice = "name equal orders" if named else f"--order {order} makes them alike"
        remark(f"{', '.join(first)} and {last} count n-grams up to different lengths; {advice}")
