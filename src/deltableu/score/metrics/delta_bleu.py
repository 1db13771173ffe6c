"""delta-BLEU (Galley et al. 2015): BLEU whose references carry weights in [-1, 1]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from deltableu.corpus import ReferenceSet
from deltableu.errors import check_choice
from deltableu.score.engine.credit_tables import VARIANTS, Recipe, Variant
from deltableu.score.engine.formula import Smoothing
from deltableu.score.engine.neutral import WeightedMetric
from deltableu.score.engine.ngram_reweighting import reweighted_ngrams
from deltableu.score.engine.reweighting import Reweighting
from deltableu.score.metric import Need
from deltableu.score.metrics.bleu import BLEU

_SMOOTHING: dict[str, Smoothing] = {"paper": "none", "galley2019": "exp", "tsuta2020": "none"}


@dataclass(frozen=True, kw_only=True, repr=False)
class DeltaBLEU(WeightedMetric, BLEU):
    """Discriminative BLEU: matches count by the best reference that has them.

    An n-gram g with c occurrences in the hypothesis adds max_j w_j * min(c, #g(r_j)), over the
    references that have it, to the numerator and max_j w_j * c, over all references, to the
    denominator. An n-gram that only badly rated references have subtracts. A reference of
    weight 0 earns nothing, but shields its n-grams from negative references and counts for the
    closest length.

    Parameters
    ----------
    order, tokenize, lowercase, normalize, strip_punctuation, smooth_value, effective_order
        See `BLEU`; the default order is 2, as in the paper.
    variant : {"paper", "galley2019", "tsuta2020"}
        The paper's formula; the first author's fork of sacreBLEU (the weight and the clip may
        come from different references); the upsilon-BLEU code (a match never subtracts).
    smooth : {"none", "floor", "add-k", "exp"}, optional
        By default what the variant does: `exp` for galley2019, none for the others.
    combine : {"geometric", "arithmetic"}
        The paper's geometric mean, in which an order whose numerator sums to less than 0 counts
        as 0, or a signed mean in [-100, 100], for which denominators use the largest absolute
        weight.
    brevity : {"all", "positive"}
        Which references the closest length is chosen from.
    neutral : float or "auto"
        The weight of a reference that is neither good nor bad: it is taken off all weights, which
        are cut to [-1, 1] then. `auto` finds it from the references alone, see `choose_neutral`.

    References
    ----------
    Galley et al. 2015, "deltaBLEU: A Discriminative Metric for Generation Tasks with
    Intrinsically Diverse Targets", Eq. 1-3 (Eq. 1 lacks the exponent 1/N).

    Examples
    --------
    >>> metric = DeltaBLEU(tokenize="none")
    >>> encoded = metric.encode([["no no", "no thanks"]], [[0.3, 0.9]])
    >>> print(metric.statistics(["no no no"], encoded).score())
    delta-bleu-2 = 23.57 33.3/16.7 (BP = 1.000 hyp_len = 3 ref_len = 2)
    """

    family: ClassVar[str] = "delta-bleu"
    summary: ClassVar[str] = "BLEU whose references carry weights (Galley et al. 2015)"
    limits: ClassVar[tuple[float, float]] = (-100.0, 100.0)
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "weights"})

    order: int = 2
    smooth: Smoothing | None = None
    variant: Variant = "paper"
    brevity: Literal["all", "positive"] = "all"

    def __post_init__(self) -> None:
        check_choice("variant", self.variant, VARIANTS)
        check_choice("brevity", self.brevity, ("all", "positive"))
        super().__post_init__()

    def reweighting(
        self, references: ReferenceSet, outputs: Sequence[Sequence[str]]
    ) -> Reweighting:
        return self.counted(references, reweighted_ngrams(self.recipe, references, outputs))

    @property
    def score_limits(self) -> tuple[float, float]:
        return self.limits if self.combine == "arithmetic" else (0.0, 100.0)

    def signed(self) -> SignedDeltaBLEU:
        """The same settings with a signed mean, which has no lowest score to stop at."""
        kept = (one.name for one in fields(SignedDeltaBLEU) if one.init)
        return SignedDeltaBLEU(**{name: getattr(self, name) for name in kept})

    @property
    def mostly_zero(self) -> bool:
        return self.combine == "geometric"

    @property
    def smoothing(self) -> Smoothing:
        return _SMOOTHING[self.variant] if self.smooth is None else self.smooth

    def _make_recipe(self) -> Recipe:
        return Recipe(
            self.tokenizer,
            self.order,
            weighted=True,
            variant=self.variant,
            signed=self.combine == "arithmetic",
            brevity=self.brevity,
        )

    def _stops_without_match(self) -> bool:
        # The fork is older than sacreBLEU's rule, and smooths a corpus without any match too.
        return self.variant != "galley2019"

    def _variant_settings(self) -> tuple[tuple[str, str], ...]:
        return (("variant", self.variant), ("brevity", self.brevity))


@dataclass(frozen=True, kw_only=True, repr=False)
class SignedDeltaBLEU(DeltaBLEU):
    """delta-BLEU as a signed mean of its precisions, from -100 to 100; see `DeltaBLEU`.

    The paper's geometric mean is 0 for all systems whose matches of some order sum to less than
    nothing. This one goes on below 0, so that it can tell such systems apart.
    """

    family: ClassVar[str] = "signed-delta-bleu"
    summary: ClassVar[str] = "delta-BLEU with a signed mean of precisions, which never stops at 0"

    combine: Literal["geometric", "arithmetic"] = field(default="arithmetic", init=False)
