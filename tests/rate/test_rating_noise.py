"""How weights would differ had other people rated: moments, who errs together, and no cutting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deltableu import RatingTable, ReferenceSet, read_study, reference_set
from deltableu.corpus import Item, Reference
from deltableu.errors import InputError
from deltableu.rate import rating_noise
from simulations.weight_noise import METHODS, Cell, figures

Array = np.ndarray[Any, np.dtype[np.float64]]


def rated(
    size: int, reference: Array, rater: Array, values: Array, weight: float = 0.5
) -> tuple[ReferenceSet, RatingTable]:
    """Items with so many references each, and who said what of reference number so and so."""
    items = [
        Item(str(n), tuple(Reference(str(j), f"t{n} u{j}", weight) for j in range(size)))
        for n in range(int(reference.max()) // size + 1)
    ]
    table = RatingTable.of(
        raters=[f"{one:02d}" for one in rater.tolist()],
        items=[str(one // size) for one in reference.tolist()],
        references=[str(one % size) for one in reference.tolist()],
        values=values,
        scale="-1-1",
    )
    return reference_set(items), table.of_references(items)


def crossed(answers: Array) -> tuple[ReferenceSet, RatingTable]:
    """Answers of everyone on everything: items x references x raters."""
    items, references, people = answers.shape
    reference, rater = (one.ravel() for one in np.mgrid[: items * references, :people])
    return rated(references, reference, rater, answers.ravel())


def test_where_all_rate_all_it_is_the_scaled_residual() -> None:
    """w* = mean + (1/k) sum_r v_r e_r sqrt(k / (k - 1))."""
    rng = np.random.default_rng(1)
    answers = rng.normal(0.0, 0.5, (6, 4, 3)) + np.array([0.3, 0.0, -0.2])
    noise = rating_noise(*crossed(answers))
    residuals = answers - answers.mean(axis=2, keepdims=True)
    expected = residuals.reshape(24, 3) * np.sqrt(3 / 2) / 3
    np.testing.assert_allclose(noise.by_rater.toarray(), expected, atol=1e-12)
    # The variance of a mean of three.
    variances = (noise.by_rater.toarray() ** 2).sum(axis=1)
    np.testing.assert_allclose(variances, answers.reshape(24, 3).var(axis=1, ddof=1) / 3)
    assert noise.degrees == pytest.approx(2.0)


def test_a_rater_moves_as_one() -> None:
    rng = np.random.default_rng(2)
    noise = rating_noise(*crossed(rng.normal(0.0, 0.5, (5, 4, 3))))
    drawn = noise.draw("raters", 7, np.random.default_rng(0))
    multipliers = np.random.default_rng(0).normal(size=(3, 7))
    np.testing.assert_allclose(drawn, (noise.by_rater.toarray() @ multipliers).T)
    assert np.linalg.matrix_rank(drawn) == 2
    assert noise.by_cell.shape == (20, 15)
    assert np.linalg.matrix_rank(noise.draw("answers", 20, np.random.default_rng(0))) == 10


@pytest.mark.parametrize(("people", "each"), [(3, 3), (12, 3), (12, 5), (40, 2)])
def test_variance_of_the_mean_weight(people: int, each: int) -> None:
    """Whoever rates what: the bootstrap's variance is the true one, on average."""
    rng = np.random.default_rng(people)
    references, harsh, rough = 80, 0.3, 0.5
    means, estimates = [], []
    for _ in range(300):
        order = np.argsort(rng.random((references, people)), axis=1)
        who = np.sort(order[:, :each], axis=1)
        answers = rng.normal(0.0, harsh, people)[who] + rng.normal(0.0, rough, who.shape)
        reference = np.repeat(np.arange(references), each)
        noise = rating_noise(*rated(8, reference, who.ravel(), answers.ravel()))
        means.append(answers.mean())
        estimates.append(((noise.by_rater.toarray().mean(axis=0)) ** 2).sum())
    assert np.mean(estimates) == pytest.approx(np.var(means), rel=0.25)


def test_a_single_answer_has_the_noise_of_others() -> None:
    rng = np.random.default_rng(5)
    references, answers = crossed(rng.normal(0.0, 0.4, (60, 5, 4)))
    noise = rating_noise(references, answers[(answers.reference % 5 > 0) | (answers.rater == 0)])
    assert noise.alone.tolist() == list(range(0, 300, 5))
    spread = noise.draw("answers", 2000, rng).std(axis=0).reshape(60, 5).mean(axis=0)
    assert spread[0] == pytest.approx(0.4, rel=0.15)
    assert spread[1:].mean() == pytest.approx(0.4 / 2, rel=0.15)
    three = noise.draw("answers", 2000, rng, raters=3).std(axis=0).reshape(60, 5).mean(axis=0)
    assert three == pytest.approx(np.full(5, 0.4 / np.sqrt(3)), rel=0.25)


def test_what_nobody_rated_stays() -> None:
    references, answers = crossed(np.random.default_rng(3).normal(0.0, 0.4, (10, 2, 3)))
    noise = rating_noise(references, answers[answers.reference != 4])
    drawn = noise.draw("answers", 20, np.random.default_rng(0), raters=1)
    assert (drawn[:, 4] == 0.0).all()
    assert (drawn[:, 5] != 0.0).all()


def test_agreement_is_no_noise() -> None:
    answers = np.repeat(np.random.default_rng(0).uniform(-1, 1, (4, 3, 1)), 3, axis=2)
    noise = rating_noise(*crossed(answers))
    drawn = noise.draw("raters", 5, np.random.default_rng(0))
    np.testing.assert_allclose(drawn, 0.0, atol=1e-14)


@pytest.mark.parametrize("raters", [1, 4, 16])
def test_noise_of_other_numbers_of_raters(demo, raters: int) -> None:
    """The mean of k ratings: unbiased, and with the variance of single ratings over k."""
    study = read_study(demo)
    answers = study.ratings.of_references(study.items)
    noise = rating_noise(reference_set(study), answers)
    # The harshness of a rater is more variable than the deviations from its own items' means show.
    single = noise.harshness**2 + noise.residual**2
    drawn = noise.draw("answers", 400, np.random.default_rng(raters), raters=raters)
    assert drawn.mean() == pytest.approx(0.0, abs=0.01)
    assert drawn.var(axis=0).mean() == pytest.approx(single / raters, rel=0.1)
    assert np.nanmean(noise.variances) == pytest.approx(single, rel=0.1)


def test_who_rates_all_references_errs_on_all_alike() -> None:
    """Two raters, one severe: both references of an item move together."""
    noise = rating_noise(*crossed(np.tile([1.0, 0.0], (20, 2, 1))))
    drawn = noise.draw("answers", 3, np.random.default_rng(0), raters=1)
    np.testing.assert_allclose(drawn[:, ::2], drawn[:, 1::2])
    assert len(np.unique(drawn.round(9))) == 60


def test_cutting_weights_off_makes_them_too_low_and_too_sure() -> None:
    """Planning cut weights off at the ends of the scale and comparing did not: comparing is right.

    The full simulation is `python -m simulations weights`.
    """
    found = dict(zip(METHODS, figures(Cell("1-5", "at the ends", 3, 2), 4), strict=True))
    wild, cut, older = (found[name] for name in ("wild", "wild, cut off", "residuals, cut off"))
    assert abs(wild.weight) < 0.008
    assert wild.spread == pytest.approx(1.0, abs=0.06)
    for one in (cut, older):
        assert one.weight < -0.01
        assert one.spread < 0.93
        assert one.largest < -0.02


def test_references_and_ratings_must_be_the_same() -> None:
    references, answers = crossed(np.zeros((3, 2, 2)))
    with pytest.raises(InputError, match="there are 4 references, but ratings of 6"):
        rating_noise(references.take([0, 1]), answers)
