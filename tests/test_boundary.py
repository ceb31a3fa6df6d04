"""Every boundary weight: its derivative, its behaviour at the boundary, and exact zeros."""

import numpy as np
import pytest

import robscore as rs

B = rs.boundary
WEIGHTS = [
    B.Power(0),
    B.Power(1.5),
    B.CappedPower(1.5, 0.8),
    B.LogPower(2.0),
    B.LogPower(1.5, 0.7),
    B.MCP(1.2, 1.5),
    B.SCAD(0.6, 3.0),
    B.Tanh(),
    B.Asinh(),
    B.Softplus(),
    B.TruncatedSine(),
    B.Constant(),
]


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
def test_the_derivative_is_that_of_the_value(weight):
    kinks = {0.8, 0.6, 1.8, np.pi / 2}
    d = np.array([x for x in np.linspace(0.01, 4, 200) if min(abs(x - k) for k in kinks) > 1e-3])
    numerical = (weight.value(d + 1e-6) - weight.value(d - 1e-6)) / 2e-6
    np.testing.assert_allclose(weight.derivative(d), numerical, atol=1e-6)
    assert (weight.value(d) >= 0).all()


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
def test_the_leading_power_is_the_limit_at_the_boundary(weight):
    coefficient, exponent = weight.leading
    d = np.array([1e-8])
    np.testing.assert_allclose(weight.value(d), coefficient * d**exponent, rtol=1e-6)


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0, 1.0])
def test_combined_powers_are_exact_inside_and_have_their_limit_at_the_boundary(weight, power):
    d = np.array([0.3, 1.1, 3.0])
    expected = 2 * weight.value(d) * d**power - 3 * weight.derivative(d) * d ** (power + 1)
    np.testing.assert_allclose(weight.combined(d, power, 2.0, -3.0), expected, rtol=1e-12, atol=1e-14)
    coefficient, exponent = weight.leading
    if exponent + power >= 0:  # else zero is outside the model
        at_zero = weight.combined(np.zeros(1), power, 2.0, -3.0)[0]
        limit = coefficient * (2 - 3 * exponent) * (1.0 if exponent + power == 0 else 0.0)
        assert at_zero == pytest.approx(limit)


@pytest.mark.parametrize("weight", [w for w in WEIGHTS if w.leading[1] >= 1.5], ids=repr)
def test_exact_zeros_stay_exact_in_the_square_root_family(weight):
    family = rs.families.SquareRoot(boundary=weight)
    losses = [rs.score_elements(family, [[x, 1.0], [2.0, 3.0]]).average() for x in (0.0, 1e-20)]
    np.testing.assert_allclose(losses[0].gamma, losses[1].gamma, atol=1e-9)
    np.testing.assert_allclose(losses[0].g, losses[1].g, atol=1e-9)


@pytest.mark.parametrize("weight", [w for w in WEIGHTS if isinstance(w, B.LogPower | B.CappedPower)], ids=repr)
@pytest.mark.parametrize("power", [-1.5, -1.0, 0.0])
def test_distances_so_small_that_their_powers_vanish_have_the_limit(weight, power):
    exponent = weight.leading[1] + power
    found = weight.combined(np.array([1e-250]), power, 2.0, -3.0)
    np.testing.assert_allclose(found, (2 - 3 * weight.leading[1]) * 1e-250**exponent, rtol=1e-9)


@pytest.mark.parametrize("weight", [B.Power(1.5), B.CappedPower(1.5, (0.8, 0.4)), B.LogPower(1.5, 0.7)], ids=repr)
def test_stretched_weights_are_those_on_another_scale(weight):
    d, r = np.array([[0.1, 3.0], [0.5, 7.0]]), np.array([[2.0, 0.3], [5.0, 1.0]])
    np.testing.assert_allclose(weight.stretched(r).value(d), r**weight.p * weight.value(d / r), rtol=1e-12)


def test_a_cap_at_a_quantile_is_fixed_by_the_data_it_was_fitted_on():
    X = np.random.default_rng(0).gamma(2.0, size=(200, 3)) * [1, 10, 100]
    weight = B.QuantileCappedPower(1.5, 0.7)
    elements = rs.score_elements(rs.families.SquareRoot(boundary=weight), X)
    caps = tuple(np.quantile(X, 0.7, axis=0))
    expected = rs.score_elements(rs.families.SquareRoot(boundary=B.CappedPower(1.5, caps)), X)
    np.testing.assert_allclose(elements.average().gamma, expected.average().gamma)
    for scale in ("median", None):
        model = rs.RobustGraph(rs.families.SquareRoot(boundary=weight), scale=scale).fit(X)
        np.testing.assert_allclose(model.row_losses(X)[:7], model.row_losses(X[:7]))
    with pytest.raises(ValueError, match="resolved"):
        weight.value(np.ones(2))
    with pytest.raises(ValueError, match="no positive, finite cap"):
        weight.resolved(np.full((5, 1), np.inf))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: B.MCP(0), "lam=0"),
        (lambda: B.SCAD(1, 0.5), "c=0.5"),
        (lambda: B.LogPower(-1), "p=-1"),
        (lambda: B.LogPower(2, 0), "scale=0"),
        (lambda: B.QuantileCappedPower(1, 0), "quantile=0"),
        (lambda: B.CappedPower(1, (1.0, -2.0)), "cap="),
    ],
)
def test_bad_numbers(make, match):
    with pytest.raises(ValueError, match=match):
        make()
