"""Strengths by paired comparisons: published fits, a literal likelihood, and what has no end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from deltableu.errors import InputError
from deltableu.stats import Preferred, fit_bradley_terry

#: Agresti 1990, Table 10.6: games of the American League East 1987, home team in rows.
TEAMS = ("Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")
HOME = {
    "Milwaukee": {"Detroit": (4, 3), "Toronto": (4, 2), "New York": (4, 3), "Boston": (6, 1),
                  "Cleveland": (4, 2), "Baltimore": (6, 0)},
    "Detroit": {"Milwaukee": (3, 3), "Toronto": (4, 2), "New York": (4, 3), "Boston": (6, 0),
                "Cleveland": (6, 1), "Baltimore": (4, 3)},
    "Toronto": {"Milwaukee": (2, 5), "Detroit": (4, 3), "New York": (2, 4), "Boston": (4, 3),
                "Cleveland": (4, 2), "Baltimore": (6, 0)},
    "New York": {"Milwaukee": (3, 3), "Detroit": (5, 1), "Toronto": (2, 5), "Boston": (4, 3),
                 "Cleveland": (4, 2), "Baltimore": (6, 1)},
    "Boston": {"Milwaukee": (5, 1), "Detroit": (2, 5), "Toronto": (3, 3), "New York": (4, 2),
               "Cleveland": (5, 2), "Baltimore": (6, 0)},
    "Cleveland": {"Milwaukee": (2, 5), "Detroit": (3, 3), "Toronto": (3, 4), "New York": (4, 3),
                  "Boston": (4, 2), "Baltimore": (2, 4)},
    "Baltimore": {"Milwaukee": (2, 5), "Detroit": (1, 5), "Toronto": (1, 6), "New York": (2, 4),
                  "Boston": (1, 6), "Cleveland": (3, 4)},
}  # fmt: skip


def judgements(rows):
    """Rows of first, second, outcome and order."""
    return Preferred(*(np.array(column) for column in zip(*rows, strict=True)))


def won(names, *pairs):
    return judgements([(names.index(a), names.index(b), 1, 0) for a, b in pairs])


def games():
    return judgements(
        [
            (TEAMS.index(home), TEAMS.index(away), outcome, 1)
            for home, others in HOME.items()
            for away, numbers in others.items()
            for outcome, number in zip((1, -1), numbers, strict=True)
            for _ in range(number)
        ]
    )


@pytest.mark.parametrize(
    ("position", "strengths", "home"),
    [
        (False, [0, 1.1077, 0.6839, 1.4364, 1.5814, 1.2476, 1.2945], None),
        (True, [0, 1.1438, 0.7047, 1.4754, 1.6196, 1.2813, 1.3271], 0.3023),
    ],
)
def test_baseball_as_bradley_terry2_has_it(position, strengths, home):
    """Turner and Firth 2012, "Bradley-Terry Models in R: The BradleyTerry2 Package"."""
    found = fit_bradley_terry(TEAMS, games(), position=position)
    assert (found.strengths - found.strengths[0]).round(4).tolist() == strengths
    assert found.position == (None if home is None else pytest.approx(home, abs=5e-5))
    assert found.tie is None
    assert found.strengths.sum() == pytest.approx(0.0, abs=1e-12)


TOY = (("A", "B"), ("C", "A"), ("A", "D"), ("B", "A"), ("B", "C"))


def test_a_toy_league_as_plackett_luce_has_it():
    """Turner et al. 2020, "Modelling rankings in R: the PlackettLuce package", section 2.3."""
    found = fit_bradley_terry("ABC", won("ABC", *(one for one in TOY if "D" not in one)))
    assert (found.strengths - found.strengths[0]).round(4).tolist() == [0, 0.8392, 0.4196]
    variance = np.diag(found.covariance)
    errors = np.sqrt(variance[0] + variance - 2 * found.covariance[0])
    assert errors.round(4).tolist() == [0, 1.3596, 1.5973]
    # Its half of a win and of a loss against a ghost are a prior of one judgement.
    found = fit_bradley_terry("ABCD", won("ABCD", *TOY), prior=1.0)
    expected = [0, 0.5184185, 0.1354707, -1.1537565]
    assert found.strengths - found.strengths[0] == pytest.approx(expected, abs=1e-6)


def drawn(seed, *, size, number, tie, position, known=1.0):
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=size)
    first = rng.integers(size, size=number)
    second = (first + rng.integers(1, size, size=number)) % size
    order = np.where(rng.random(number) < known, rng.choice((-1, 1), size=number), 0)
    chances = outcome_chances(strengths[first] - strengths[second] + position * order, tie)
    outcome = 1 - (rng.random(number)[:, None] > np.cumsum(chances, axis=1)[:, :2]).sum(axis=1)
    return Preferred(first, second, outcome, order)


def outcome_chances(differences, tie):
    """Davidson and Beaver 1977, written out."""
    first, second = np.exp(differences / 2), np.exp(-differences / 2)
    level = np.full(len(first), 0.0 if tie is None else np.exp(tie))
    return np.stack((first, level, second), axis=1) / (first + level + second)[:, None]


def literal_fit(said, size, prior, ties):
    """Maximise the likelihood, judgement by judgement, with a ghost that has strength 0."""

    def loss(values):
        strengths = values[:size]
        apart = strengths[said.first] - strengths[said.second] + values[size] * said.order
        chances = outcome_chances(apart, values[size + 1] if ties else None)
        total = np.log(chances[np.arange(len(said)), 1 - said.outcome]).sum()
        ghosts = np.append(strengths, values[size])
        total += prior / 2 * np.log(outcome_chances(ghosts, None)[:, [0, 2]]).sum()
        # Only the mean of the strengths is open without a prior.
        return -total + (0.0 if prior else strengths.mean() ** 2)

    found = minimize(loss, np.zeros(size + 2), method="BFGS", options={"gtol": 1e-8}).x
    return np.concatenate((found[:size] - found[:size].mean(), found[size:]))


@pytest.mark.parametrize("prior", [0.0, 0.5, 3.0])
@pytest.mark.parametrize(
    ("size", "number", "tie", "known"),
    [(2, 60, 0.3, 1.0), (4, 300, None, 0.7), (6, 500, -1.0, 0.5)],
)
def test_it_is_the_literal_maximum_likelihood(size, number, tie, known, prior):
    said = drawn(size, size=size, number=number, tie=tie, position=0.4, known=known)
    found = fit_bradley_terry([str(n) for n in range(size)], said, prior=prior)
    expected = literal_fit(said, size, prior, tie is not None)
    assert found.strengths == pytest.approx(expected[:size], abs=2e-6)
    assert found.position == pytest.approx(expected[size], abs=2e-6)
    if tie is None:
        assert found.tie is None
    else:
        assert found.tie == pytest.approx(expected[size + 1], abs=2e-6)
    apart = found.strengths[said.first] - found.strengths[said.second]
    chances = outcome_chances(apart + found.position * said.order, found.tie)
    picked = chances[np.arange(len(said)), 1 - said.outcome]
    assert found.log_likelihood == pytest.approx(np.log(picked).sum())


def test_many_wins_and_extreme_strengths():
    """1,000,000 to 1 is an end, too."""
    rows = [(0, 1, 1, 0)] * 1000 + [(0, 1, -1, 0)] + [(1, 2, 1, 0)] * 1000 + [(1, 2, -1, 0)]
    found = fit_bradley_terry("ABC", judgements(rows))
    assert np.diff(found.strengths) == pytest.approx([-np.log(1000)] * 2)
    assert found.share(found.strengths[0] - found.strengths[2]) == pytest.approx(1 - 1e-6, abs=1e-8)


def test_the_order_and_direction_of_judgements_do_not_matter():
    said = drawn(1, size=5, number=200, tie=0.0, position=0.3)
    turned = Preferred(said.second, said.first, -said.outcome, -said.order)
    names = list("abcde")
    one, other = (fit_bradley_terry(names, made) for made in (said, turned))
    assert one.strengths == pytest.approx(other.strengths, abs=1e-9)
    assert one.position == pytest.approx(other.position, abs=1e-9)


def test_position_is_left_out_where_it_cannot_be_told():
    rows = [(0, 1, 1, 1), (0, 1, -1, 1), (1, 2, 1, 1), (1, 2, -1, 1)]
    assert fit_bradley_terry("ABC", judgements(rows)).position is None
    # Who is first on a circle says more than who is there.
    rows += [(2, 0, 1, 1), (2, 0, -1, 1)]
    assert fit_bradley_terry("ABC", judgements(rows)).position == pytest.approx(0.0)
    rows = [(0, 1, 1, 0), (0, 1, -1, 0)]
    assert fit_bradley_terry("AB", judgements(rows)).position is None


@pytest.mark.parametrize(
    ("names", "rows", "message"),
    [
        ("AB", [(0, 1, 1, 0)] * 3, "A won all 3 judgements with others, so that strengths"),
        (
            "ABC",
            [(0, 1, -1, 0), (0, 2, -1, 0), (1, 2, 1, 0), (1, 2, -1, 0)],
            "A lost all 2 judgements with others, so that strengths",
        ),
        (
            "ABCD",
            [(0, 1, 1, 0), (1, 0, 1, 0), (2, 3, 1, 0), (3, 2, 1, 0), (0, 2, 1, 0)],
            "A and B won the only judgement with others",
        ),
        (
            "ABCDE",
            [(0, 1, 1, 0), (1, 0, 1, 0), (2, 3, 1, 0), (4, 3, 1, 0)],
            "no judgement compares A and B with C, D and E, directly or by way of others",
        ),
        ("AB", [(0, 1, 0, 0)] * 4, "all 4 judgements are ties"),
        ("A", [], "at least two systems"),
        # Ties are not losses: with as many as anybody likes the strength has no end.
        ("AB", [(0, 1, 1, 0)] * 3 + [(0, 1, 0, 0)], "their estimates have no end"),
        ("AB", [(0, 1, 1, 1), (0, 1, -1, -1)] * 3, "their estimates have no end"),
    ],
)
def test_what_has_no_ranking_is_said_in_a_sentence(names, rows, message):
    said = judgements(rows) if rows else Preferred(*np.zeros((4, 0), dtype=np.int64))
    with pytest.raises(InputError, match=message) as error:
        fit_bradley_terry(names, said)
    assert "\n" not in str(error.value)


def test_a_prior_gives_an_end():
    for rows in (
        [(0, 1, 1, 0)] * 3,
        [(0, 1, 1, 0)] * 3 + [(0, 1, 0, 0)],
        [(0, 1, 1, 1), (0, 1, -1, -1)] * 3,
    ):
        found = fit_bradley_terry("AB", judgements(rows), prior=1.0)
        assert np.isfinite(found.strengths).all()
    with pytest.raises(InputError, match="no judgement compares"):
        fit_bradley_terry("ABCD", won("ABCD", ("A", "B"), ("C", "D")), prior=1.0)
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="prior must be"):
            fit_bradley_terry("AB", won("AB", ("A", "B")), prior=wrong)


def test_the_bootstrap_is_the_sandwich():
    """Drawn clusters vary as the sums of their scores say (Liang and Zeger 1986)."""
    said = drawn(3, size=4, number=600, tie=-0.5, position=0.2)
    found = fit_bradley_terry(list("ABCD"), said)
    clusters = np.arange(len(said)) // 6
    draws = found.bootstrap(clusters, 4000, seed=0)
    apart = found.strengths[said.first] - found.strengths[said.second] + found.position * said.order
    chances = outcome_chances(apart, found.tie)
    pull = (said.outcome - chances[:, 0] + chances[:, 2]) / 2
    scores = np.zeros((len(said), 6))
    rows = np.arange(len(said))
    scores[rows, said.first], scores[rows, said.second] = pull, -pull
    scores[:, 4], scores[:, 5] = said.order * pull, (said.outcome == 0) - chances[:, 1]
    sums = np.add.reduceat(scores, np.arange(0, len(said), 6))
    expected = np.sqrt(np.diag(found.covariance @ sums.T @ sums @ found.covariance))
    assert draws.std(axis=0) == pytest.approx(expected, rel=0.06)
    assert (found.bootstrap(clusters, 50, seed=0) == draws[:50]).all()
