"""Scores in one call: a function for each metric, all of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, check_at_least, check_choice, check_kind, check_share
from deltableu.score.engine.credit_tables import Variant
from deltableu.score.engine.formula import Method, Smoothing
from deltableu.score.engine.inputs import as_list, as_reference_set
from deltableu.score.engine.soft_pool import with_shares
from deltableu.score.engine.statistics import IntervalMethod
from deltableu.score.metric import Metric
from deltableu.score.registry import metric_class
from deltableu.score.results import BLEUScore, Score
from deltableu.text import Normalization, Tokenize

References = ReferenceSet | Sequence[Sequence[str]]
Weights = Sequence[Sequence[float]]


class ScoreOptions(TypedDict, total=False):
    """What every function takes.

    Attributes
    ----------
    select : str
        `all` references, `single` (the first of each item) or `w>=T`, which keeps the first and
        those with a weight of at least T.
    interval : {"jackknife", "percentile", "bca"}, optional
        Adds a confidence interval: where the score would lie on other items like these.
    confidence : float
        Confidence of the interval, 0.95 by default.
    resamples : int
        Samples of the bootstrap, 1000 by default.
    rng : numpy Generator or int
        Randomness of the bootstrap, 0 by default.
    threads : int, optional
        All cores by default; the score does not depend on it.
    """

    select: str
    interval: IntervalMethod | None
    confidence: float
    resamples: int
    rng: np.random.Generator | int | None
    threads: int | None


class TextOptions(ScoreOptions, total=False):
    """The same, and how texts are changed before they become tokens: see `text.Tokenizer`."""

    lowercase: bool
    normalize: Normalization | None
    strip_punctuation: bool


def bleu(
    hypotheses: Sequence[str],
    references: References,
    *,
    weights: Weights | None = None,
    order: int = 4,
    tokenize: Tokenize = "13a",
    smooth: Smoothing | None = "exp",
    smooth_value: float | None = None,
    effective_order: bool = False,
    combine: Literal["geometric", "arithmetic"] = "geometric",
    **options: Unpack[TextOptions],
) -> BLEUScore:
    """Corpus BLEU of one system.

    Parameters
    ----------
    hypotheses : list of str
        One text per item.
    references : list of lists of str
        The references of each item, any number of them.
    weights : list of lists of float, optional
        Only to select references by: BLEU itself does not weight them.
    order, tokenize, smooth, smooth_value, effective_order, combine
        See `BLEU`.
    **options
        lowercase, normalize, strip_punctuation; select, interval, confidence, resamples, rng,
        threads: see `ScoreOptions`.

    Returns
    -------
    BLEUScore

    Examples
    --------
    >>> score = bleu(["the dog bit the man ."], [["the dog bit the man .", "it bit him ."]])
    >>> score.score, score.precisions
    (100.0, (100.0, 100.0, 100.0, 100.0))
    """
    metric = _metric("bleu", locals())
    return _bleu_score(metric, hypotheses, as_reference_set(references, weights), options)


def delta_bleu(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    order: int = 2,
    variant: Variant = "paper",
    tokenize: Tokenize = "13a",
    smooth: Smoothing | None = None,
    smooth_value: float | None = None,
    effective_order: bool = False,
    combine: Literal["geometric", "arithmetic"] = "geometric",
    brevity: Literal["all", "positive"] = "all",
    no_positive: Literal["error", "skip"] = "error",
    **options: Unpack[TextOptions],
) -> BLEUScore:
    """delta-BLEU of one system: BLEU with weighted references (Galley et al. 2015).

    Parameters
    ----------
    hypotheses : list of str
        One text per item.
    references : list of lists of str
        The references of each item, any number of them.
    weights : list of lists of float
        A weight in [-1, 1] for every reference.
    order, variant, tokenize, smooth, smooth_value, effective_order, combine, brevity
        See `DeltaBLEU`.
    no_positive : {"error", "skip"}
        What to do with items that have no positively weighted reference.
    **options
        See `bleu`.

    Returns
    -------
    BLEUScore
        `numerators` are the raw sums, negative ones included.

    Examples
    --------
    >>> score = delta_bleu(
    ...     ["the food tasted terrible .", "the music was awful ."],
    ...     [["the food was delicious .", "it tasted terrible ."], ["it was great .", "awful"]],
    ...     [[1, -1], [1, -1]],
    ... )
    >>> score.numerators, score.score
    ((2.0, -1.0), 0.0)
    """
    metric = _metric("delta-bleu", locals())
    check_choice("no_positive", no_positive, ("error", "skip"))
    chosen = _selected(as_reference_set(references, weights), options)
    if no_positive == "skip":
        hypotheses, chosen = _with_positive(hypotheses, chosen)
    return _bleu_score(metric, hypotheses, chosen, options)


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    *,
    order: int = 4,
    method: Method = "bleu+1",
    tokenize: Tokenize = "13a",
    **options: Unpack[TextOptions],
) -> BLEUScore:
    """BLEU of one sentence, smoothed.

    Parameters
    ----------
    hypothesis : str
    references : list of str
    order, method, tokenize
        See `SentenceBLEU`, which also scores many sentences at once.
    **options
        See `bleu`; one sentence has no interval.

    Returns
    -------
    BLEUScore

    Examples
    --------
    >>> score = sentence_bleu("the cat sat on mat", ["the cat is on the mat"], order=2)
    >>> round(score.score, 2)
    46.31
    """
    if not isinstance(hypothesis, str):
        raise InputError("hypothesis must be one string; SentenceBLEU(...).compute takes lists")
    metric = _metric("sentence-bleu", locals())
    texts = as_list(references, "references")
    return _bleu_score(metric, [hypothesis], as_reference_set([texts], None), options)


def nist(
    hypotheses: Sequence[str],
    references: References,
    *,
    order: int = 5,
    tokenize: Tokenize = "13a",
    **options: Unpack[TextOptions],
) -> Score:
    """NIST of one system: matches count by their information (Doddington 2002).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    order, tokenize
        See `NIST`.

    Returns
    -------
    Score

    Examples
    --------
    >>> nist(["a b", "c d"], [["a b"], ["c e"]], order=2).score
    1.5
    """
    return _score(_metric("nist", locals()), hypotheses, references, options)


def ibleu(
    hypotheses: Sequence[str],
    references: References,
    messages: Sequence[str] | None = None,
    *,
    alpha: float = 0.8,
    order: int = 4,
    tokenize: Tokenize = "13a",
    smooth: Smoothing | None = "exp",
    smooth_value: float | None = None,
    effective_order: bool = False,
    **options: Unpack[TextOptions],
) -> Score:
    """iBLEU of one system: BLEU less likeness to the message (Sun and Zhou 2012).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    messages : list of str
        What each item answers or paraphrases; may be left out where a ReferenceSet has them.
    alpha, order, tokenize, smooth, smooth_value, effective_order
        See `IBLEU`.

    Returns
    -------
    Score

    Examples
    --------
    >>> score = ibleu(["how do they feel"], [["i am fine thanks"]], ["how do they feel"])
    >>> round(score.score, 2)
    -20.0
    """
    metric = _metric("ibleu", locals())
    given = as_reference_set(references, None)
    if messages is not None:
        texts = as_list(messages, "messages")
        for place, text in enumerate(texts):
            check_kind(f"messages[{place}]", text, str)
        given = replace(given, messages=tuple(texts))
    return _score(metric, hypotheses, given, options)


def cider(
    hypotheses: Sequence[str],
    references: References,
    *,
    order: int = 4,
    tokenize: Tokenize = "13a",
    **options: Unpack[TextOptions],
) -> Score:
    """CIDEr of one system, 0-100: cosine of tf-idf weighted n-grams (Vedantam et al. 2015).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    order, tokenize
        See `CIDEr`.

    Returns
    -------
    Score

    Examples
    --------
    >>> round(cider(["a cat sat", "a bird"], [["a cat sat down"], ["two dogs"]], order=2).score, 2)
    42.06
    """
    return _score(_metric("cider", locals()), hypotheses, references, options)


def cider_d(
    hypotheses: Sequence[str],
    references: References,
    *,
    order: int = 4,
    sigma: float = 6.0,
    tokenize: Tokenize = "13a",
    **options: Unpack[TextOptions],
) -> Score:
    """CIDEr-D of one system, 0-10: with clipped counts and a length penalty.

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    order, sigma, tokenize
        See `CIDErD`.

    Returns
    -------
    Score

    Examples
    --------
    >>> cider_d(["a cat sat", "fish"], [["a cat sat"], ["two dogs"]], order=2).score
    5.0
    """
    return _score(_metric("cider-d", locals()), hypotheses, references, options)


def chrf(
    hypotheses: Sequence[str],
    references: References,
    *,
    char_order: int = 6,
    beta: float = 2.0,
    lowercase: bool = False,
    **options: Unpack[ScoreOptions],
) -> Score:
    """chrF of one system: F-score of character n-grams (Popović 2015).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    char_order, beta, lowercase
        See `ChrF`.

    Returns
    -------
    Score

    Examples
    --------
    >>> round(chrf(["the cat sat"], [["the cat sat down", "a cat"]]).score, 2)
    66.02
    """
    return _score(_metric("chrf", locals()), hypotheses, references, options)


def chrf_plus_plus(
    hypotheses: Sequence[str],
    references: References,
    *,
    char_order: int = 6,
    word_order: int = 2,
    beta: float = 2.0,
    lowercase: bool = False,
    **options: Unpack[ScoreOptions],
) -> Score:
    """chrF++ of one system: chrF with words and word bigrams (Popović 2017).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    char_order, word_order, beta, lowercase
        See `ChrFPlusPlus`.

    Returns
    -------
    Score

    Examples
    --------
    >>> chrf_plus_plus(["the cat sat"], [["the cat sat", "a cat"]]).score
    100.0
    """
    return _score(_metric("chrf++", locals()), hypotheses, references, options)


def ter(
    hypotheses: Sequence[str],
    references: References,
    *,
    lowercase: bool = True,
    **options: Unpack[ScoreOptions],
) -> Score:
    """TER of one system: edits per reference word, lower being better (Snover et al. 2006).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    lowercase : bool

    Returns
    -------
    Score

    Examples
    --------
    >>> ter(["the cat sat"], [["the cat sat down"]]).score
    25.0
    """
    return _score(_metric("ter", locals()), hypotheses, references, options)


def rouge(
    hypotheses: Sequence[str],
    references: References,
    *,
    kind: Literal["1", "2", "L"] = "L",
    tokenize: Tokenize = "rouge",
    **options: Unpack[ScoreOptions],
) -> Score:
    """ROUGE of one system: F1 with the best reference, averaged over items (Lin 2004).

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    kind : {"1", "2", "L"}
        Shared words, shared bigrams, or the longest common subsequence.
    tokenize
        `rouge` is ROUGE's own, which sees nothing but ASCII.

    Returns
    -------
    Score

    Examples
    --------
    >>> round(rouge(["the cat sat"], [["a cat sat down"]], kind="1").score, 2)
    57.14
    """
    check_choice("kind", kind, ("1", "2", "L"))
    metric = _metric(f"rouge-{kind.lower()}", {"tokenize": tokenize})
    return _score(metric, hypotheses, references, options)


def discriminative(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    similarity: Any = "chrf++",
    pool: Literal["mean", "best"] = "mean",
    **options: Unpack[ScoreOptions],
) -> Score:
    """Any sentence similarity weighted by good and bad references: delta-chrF++ and the like.

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    weights : list of lists of float
        A weight in [-1, 1] for every reference.
    similarity : str, callable, mapping or Similarity
        `chrf`, `chrf++`, `rouge-l`, `ter`, or one of your own: see `Discriminative`.
    pool : {"mean", "best"}

    Returns
    -------
    Score

    Examples
    --------
    >>> discriminative(["i hate it"], [["i like it", "i hate it"]], [[0.5, -1.0]]).score < 0
    True
    """
    from deltableu.score.metrics.discriminative import Discriminative

    metric = Discriminative(similarity, pool)
    return _score(metric, hypotheses, as_reference_set(references, weights), options)


def soft(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    similarity: Any = "cosine",
    tau: float = 0.1,
    **options: Unpack[ScoreOptions],
) -> Score:
    """Any sentence similarity, between the best reference and the weighted mean: soft-cosine, ...

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    weights : list of lists of float, optional
        A weight in [-1, 1] for every reference; those above 0 count. Without, all count alike.
    similarity : str, callable, mapping or Similarity
        `cosine`, `chrf++`, `rouge-l`, or one of your own: see `Soft`.
    tau : float
        How far below the best a reference may lie and still count.

    Returns
    -------
    Score

    Examples
    --------
    >>> round(soft(["i like it"], [["i like it", "i hate it"]], similarity="chrf").score, 1)
    93.1
    """
    from deltableu.score.metrics.soft import Soft

    metric = Soft(similarity, tau)
    given = with_shares(as_reference_set(references, weights))
    return _score(metric, hypotheses, given, options)


def distinct(
    hypotheses: Sequence[str],
    *,
    n: Literal[1, 2] = 1,
    tokenize: Tokenize = "13a",
    **options: Unpack[TextOptions],
) -> Score:
    """Different n-grams per hundred n-grams of all hypotheses (Li et al. 2016).

    Parameters
    ----------
    hypotheses : list of str
        One text per item; there are no references.
    n : {1, 2}
        Words, or bigrams.
    tokenize, **options
        See `bleu`.

    Returns
    -------
    Score

    Examples
    --------
    >>> distinct(["i do", "i do not"]).score
    60.0
    """
    return _diversity("distinct", n, 2, hypotheses, tokenize, options)


def entropy(
    hypotheses: Sequence[str],
    *,
    n: Literal[1, 2, 3, 4] = 4,
    tokenize: Tokenize = "13a",
    **options: Unpack[TextOptions],
) -> Score:
    """Entropy, in nats, of the n-grams of all hypotheses (Zhang et al. 2018).

    Parameters
    ----------
    hypotheses : list of str
        One text per item; there are no references.
    n : {1, 2, 3, 4}
    tokenize, **options
        See `bleu`.

    Returns
    -------
    Score

    Examples
    --------
    >>> round(entropy(["a b", "a b"], n=1).score, 4)  # log 2
    0.6931
    """
    return _diversity("entropy", n, 4, hypotheses, tokenize, options)


def _diversity(
    name: str, n: object, most: int, hypotheses: Any, tokenize: Tokenize, options: TextOptions
) -> Score:
    if isinstance(n, bool) or n not in range(1, most + 1):
        raise InputError(f"n must be a whole number from 1 to {most}, got {n!r}")
    metric = _metric(f"{name}-{n}", {"tokenize": tokenize, "options": options})
    texts = as_list(hypotheses, "hypotheses")
    return _score(metric, texts, ReferenceSet([("",)] * len(texts)), options)


def _metric(name: str, given: dict[str, Any]) -> Metric:
    """The metric with those of a function's arguments that are its settings."""
    found = metric_class(name)
    options = given.get("options", {})
    settings = {**given, **{key: one for key, one in options.items() if key in _TEXT}}
    for key in options:
        if key not in _OPTIONS and key not in _TEXT:
            raise TypeError(f"{name} has no setting or option {key!r}")
    known = getattr(found, "__dataclass_fields__", {})
    return found(**{key: one for key, one in settings.items() if key in known and known[key].init})


_OPTIONS = frozenset(ScoreOptions.__annotations__)
_TEXT = frozenset(TextOptions.__annotations__) - _OPTIONS


def _selected(references: ReferenceSet, options: ScoreOptions) -> ReferenceSet:
    select = options.get("select", "all")
    return references if select in ("all", references.selection) else references.select(select)


def _bleu_score(
    metric: Metric, hypotheses: Sequence[str], references: ReferenceSet, options: ScoreOptions
) -> BLEUScore:
    score = _score(metric, hypotheses, references, options)
    if not isinstance(score, BLEUScore):
        raise TypeError("a metric of the BLEU family gives a BLEUScore")
    return score


def _score(
    metric: Metric, hypotheses: Sequence[str], references: References, options: ScoreOptions
) -> Score:
    for key in options:
        if key not in _OPTIONS and key not in _TEXT:
            raise TypeError(f"{metric.name} has no setting or option {key!r}")
    interval = options.get("interval")
    confidence, resamples = options.get("confidence", 0.95), options.get("resamples", 1000)
    if interval is not None:
        check_choice("interval", interval, get_args(IntervalMethod))
    check_share("confidence", confidence)
    check_at_least("resamples", resamples, 1)
    chosen = _selected(as_reference_set(references, None), options)
    if "weights" in metric.needs and chosen.weights is None:
        raise InputError(f"{metric.name} needs weights: a number in [-1, 1] for every reference")
    rows = metric.compute(hypotheses, chosen, threads=options.get("threads"))
    score = rows.score()
    if interval is None:
        return score
    found = rows.interval(
        interval, confidence=confidence, resamples=resamples, rng=options.get("rng", 0)
    )
    return score if found is None else score.with_interval(found)


def _with_positive(
    hypotheses: Sequence[str], references: ReferenceSet
) -> tuple[Sequence[str], ReferenceSet]:
    texts = as_list(hypotheses, "hypotheses")
    dropped = set(references.without_positive())
    if not dropped:
        return texts, references
    kept = [index for index in range(len(references.texts)) if index not in dropped]
    if not kept:
        raise InputError("no item is left: none has a positively weighted reference")
    if len(texts) != len(references.texts):
        return texts, references  # the next check explains it
    return [texts[index] for index in kept], references.take(kept)
