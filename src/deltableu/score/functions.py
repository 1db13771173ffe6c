"""Scores in one call: a function for each metric, all of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, check_choice, check_kind
from deltableu.score.engine.formula import Method, Smoothing
from deltableu.score.engine.inputs import as_list, as_reference_set
from deltableu.score.one_call import (
    References,
    ScoreOptions,
    TextOptions,
    Weights,
    bleu_score_of,
    named_metric,
    score_of,
)
from deltableu.score.results import BLEUScore, Score
from deltableu.text import Tokenize


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
    metric = named_metric("bleu", locals())
    return bleu_score_of(metric, hypotheses, as_reference_set(references, weights), options)


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
    metric = named_metric("sentence-bleu", locals())
    texts = as_list(references, "references")
    return bleu_score_of(metric, [hypothesis], as_reference_set([texts], None), options)


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
    return score_of(named_metric("nist", locals()), hypotheses, references, options)


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
    metric = named_metric("ibleu", locals())
    given = as_reference_set(references, None)
    if messages is not None:
        texts = as_list(messages, "messages")
        for place, text in enumerate(texts):
            check_kind(f"messages[{place}]", text, str)
        given = replace(given, messages=tuple(texts))
    return score_of(metric, hypotheses, given, options)


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
    return score_of(named_metric("cider", locals()), hypotheses, references, options)


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
    return score_of(named_metric("cider-d", locals()), hypotheses, references, options)


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
    return score_of(named_metric("chrf", locals()), hypotheses, references, options)


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
    return score_of(named_metric("chrf++", locals()), hypotheses, references, options)


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
    return score_of(named_metric("ter", locals()), hypotheses, references, options)


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
    metric = named_metric(f"rouge-{kind.lower()}", {"tokenize": tokenize})
    return score_of(metric, hypotheses, references, options)


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
    metric = named_metric(f"{name}-{n}", {"tokenize": tokenize, "options": options})
    texts = as_list(hypotheses, "hypotheses")
    return score_of(metric, texts, ReferenceSet([("",)] * len(texts)), options)
