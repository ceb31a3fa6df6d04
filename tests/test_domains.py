"""Distances to the boundary by brute force, one coordinate at a time."""

import numpy as np
import pytest
from designs import first
from reference import full_gamma
from registry import TANH, half_square, minus, tanh_pair

import robscore as rs

D = rs.domains
BALL_OUT = D.Inequality(1.0, ">=", 1.0, power=2)
BALL_IN = D.Inequality(1.0, "<=", 4.0, power=2)
LINE = D.Inequality([1.3, 1.0], "<=", 2.0)
ROOT = D.NonNegative() & D.Inequality(1.0, "<=", 3.0, power=0.5)
DOMAINS = [
    D.Real(),
    D.NonNegative(),
    D.Intervals([(0, 1), (2, 3)]),
    D.Box([-1.0, 0.0], [2.0, np.inf]),
    BALL_OUT,
    BALL_IN,
    LINE,
    D.NonNegative() & LINE,
    BALL_OUT & BALL_IN,
    BALL_IN | D.Inequality([1.0, 0.0], ">=", 1.0),
    D.Intervals([(-3, -1), (1, 3)]) & (BALL_OUT | LINE),
    D.Inequality([1.0, -1.0], ">=", 0.0, power=3),
    D.Inequality([1.0, -2.0], "<=", 0.5, power=2),
    ROOT,
    D.Box(0.0, 1.0) | D.Box(0.5, 3.0),
    D.Intervals([(-2, -1), (0, 1)]) | (D.NonNegative() & LINE),
    (D.Box(-2.0, -1.0) | D.Box(1.0, 2.0)) & BALL_IN,
]


def member(domain, point):
    """Membership from the definition, not from intervals."""
    if isinstance(domain, D.Both):
        return member(domain.left, point) and member(domain.right, point)
    if isinstance(domain, D.Either):
        return member(domain.left, point) or member(domain.right, point)
    if isinstance(domain, D.Inequality):
        with np.errstate(invalid="ignore"):
            total = np.sum(np.asarray(domain.coefficients) * point**domain.power)
        return total <= domain.bound if domain.relation == "<=" else total >= domain.bound
    return all(
        any(np.broadcast_to(low, 2)[j] <= point[j] <= np.broadcast_to(high, 2)[j] for low, high in domain.intervals)
        for j in range(2)
    )


def walk(domain, point, j, direction):
    """How far coordinate j can go in a direction before the domain ends, by small steps and bisection."""

    def at(distance):
        moved = point.copy()
        moved[j] += direction * distance
        return member(domain, moved)

    steps = np.arange(1, 601) * 2e-2
    outside = next((step for step in steps if not at(step)), None)
    if outside is None:
        return np.inf
    low, high = outside - 2e-2, outside
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) else (low, middle)
    return low


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_distances_agree_with_walking_to_the_boundary(domain):
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-2.8, 2.8, size=(300, 2))
    inside = np.array([member(domain, point) for point in drawn])
    np.testing.assert_array_equal(domain.contains(drawn).all(axis=1), inside)
    points = drawn[inside][:8]
    assert len(points) > 1
    near = domain.nearest(points)
    for point, distances, slopes in zip(points, near.distance, near.slope, strict=True):
        for j in range(2):
            down, up = (walk(domain, point, j, direction) for direction in (-1, 1))
            assert distances[j] == pytest.approx(min(down, up), abs=1e-6)
            assert slopes[j] == (0 if np.isinf(min(down, up)) else 1 if down <= up else -1)


def test_the_boundary_at_zero_is_known_as_such():
    near = (D.NonNegative() & LINE).nearest([[0.1, 0.2], [1.2, 0.3]])
    np.testing.assert_array_equal(near.from_zero, [[True, True], [False, False]])


@pytest.mark.parametrize(
    "case",
    first(
        7,
        [
            (rs.families.Gaussian, BALL_OUT),
            (rs.families.SquareRoot, D.NonNegative()),
            (rs.families.Gamma, D.NonNegative() & LINE),
            (rs.families.SquareRoot, D.Intervals([(0, 1), (2, 3)])),
            (rs.families.LogLog, D.NonNegative()),
            (rs.families.TruncatedGaussian, D.Box(0.0, 1.0) | D.Box(0.5, 3.0)),
            (lambda **options: rs.families.Power(1.5, 0.5, **options), D.Box(0.0, 3.0)),
            (rs.families.Gaussian, BALL_IN),
            (rs.families.TruncatedGaussian, D.NonNegative() & LINE),
            (rs.families.SquareRoot, D.NonNegative() & LINE),
            (rs.families.SquareRoot, D.NonNegative() & BALL_IN & BALL_OUT),
            (rs.families.Gaussian, D.Real()),
            (rs.families.TruncatedGaussian, D.Box([-1.0, 0.0], [2.0, 1.5])),
            (rs.families.SquareRoot, D.Box(0.5, 3.0) | (D.NonNegative() & LINE)),
        ],
    ),
    ids=lambda case: f"{getattr(case[0], '__name__', 'power')}-{case[1]!r}",
)
def test_at_the_true_parameter_the_expected_gradient_is_zero(case):
    """The score-matching identity, by a fine grid in two dimensions."""
    family, domain = case
    chosen = family(domain=domain)
    K, eta = np.array([[1.2, -0.4], [-0.4, 1.0]]), np.array([0.6, 0.8])
    if chosen.b == 0:
        eta = eta + 0.5
    low, high = (0.0, 12.0) if domain.is_non_negative else (-6.0, 6.0)
    middles = low + (np.arange(1200) + 0.5) * (high - low) / 1200
    logarithmic = domain == D.NonNegative()  # for densities that live near zero and far out
    if logarithmic:
        middles = np.exp(np.linspace(-9, 11, 1400))
    X = np.array(np.meshgrid(middles, middles)).reshape(2, -1).T
    X = X[domain.contains(X).all(axis=1)]
    a, b = chosen.a, chosen.b
    u = X**a if a else np.log(X)
    v = X**b if b else np.log(X)
    log_p = -np.einsum("ij,jk,ik->i", u, K, u) / (2 * (a or 0.5) if a else 2) + (v @ eta) / (b or 1)
    p = np.exp(log_p - log_p.max())
    if logarithmic:
        p *= X.prod(axis=1)
    p /= p.sum()
    keep = p > 1e-14
    elements = chosen.elements(X[keep])
    loss = elements.average(p[keep], p[keep])
    z = np.concatenate([K, eta[None]]).T
    expected = np.einsum("jkl,jl->jk", loss.gamma, z)
    np.testing.assert_allclose(expected, loss.g, atol=0.01 * np.abs(loss.g).max())
    assert np.abs(loss.g).max() > 0.01


@pytest.mark.parametrize("zero_sums", [False, True])
def test_at_the_true_parameter_the_expected_gradient_is_zero_on_the_simplex(zero_sums):
    family = rs.families.Simplex(zero_sums=zero_sums)
    K = np.array([[1.2, -0.5, -0.7], [-0.5, 0.9, -0.4], [-0.7, -0.4, 1.1]]) + (0 if zero_sums else 0.3) * np.eye(3)
    eta = np.array([0.5, 1.0, 0.2])
    middles = (np.arange(1200) + 0.5) / 1200
    grid = np.array(np.meshgrid(middles, middles)).reshape(2, -1).T
    X = np.column_stack([grid, 1 - grid.sum(axis=1)])[grid.sum(axis=1) < 1 - 1e-9]
    check_identity(family, X, family.log_density(X, K, eta), K, eta)


def test_at_the_true_parameter_the_expected_gradient_is_zero_for_user_given_statistics():
    family = rs.families.Pairwise(tanh_pair, minus, t_self=half_square, derivatives=TANH, domain=D.Box(-1.0, 2.0))
    K, eta = np.array([[1.0, 1.5], [1.5, 1.2]]), np.array([0.3, -0.4])
    middles = -1 + (np.arange(900) + 0.5) / 300
    X = np.array(np.meshgrid(middles, middles)).reshape(2, -1).T
    check_identity(family, X, family.log_density(X, K, eta), K, eta)


def check_identity(family, X, log_p, K, eta):
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    X, p = X[p > 1e-12], p[p > 1e-12]
    loss = family.elements(X).average(p, p)
    z = np.concatenate([K, eta[None]]).T
    expected = (full_gamma(loss) @ z.ravel()).reshape(loss.g.shape)
    np.testing.assert_allclose(expected, loss.g, atol=0.01 * np.abs(loss.g).max())
    assert np.abs(loss.g).max() > 0.01


def test_regions_and_custom_domains_do_not_scale_but_can_be_fitted():
    X = np.random.default_rng(0).dirichlet([2, 2, 2], size=300)[:, :2] * 1.5
    domain = D.NonNegative() & D.Inequality(1.0, "<=", 1.5)
    model = rs.RobustScoreMatching(rs.families.TruncatedGaussian(domain=domain), n_blocks=1).fit(X)
    np.testing.assert_array_equal(model.interaction_, model.fitted_.scaled[0])
    same = D.Custom(
        lambda X: domain.nearest(X).distance, lambda X: domain.nearest(X).slope, lambda X: domain.contains(X)
    )
    custom = rs.RobustScoreMatching(rs.families.TruncatedGaussian(domain=same), n_blocks=1).fit(X)
    np.testing.assert_allclose(custom.interaction_, model.interaction_)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: D.Inequality(1.0, "==", 1.0), "relation='=='"),
        (lambda: D.Inequality(1.0, "<=", 1.0, power=0), "power=0"),
        (lambda: rs.families.SquareRoot(domain=BALL_IN), "negative values"),
        (lambda: rs.score_elements(rs.families.Gaussian(domain=LINE), np.zeros((2, 3))), "2 bounds"),
        (lambda: rs.score_elements(rs.families.Gaussian(domain=BALL_OUT), [[2.0, 0.0], [0.1, 0.2]]), "first in row 1"),
        (lambda: D.Custom(lambda X: X[:, 0], lambda X: X).nearest(np.ones((2, 2))), "each entry"),
        (lambda: D.Custom(lambda X: X * np.nan, lambda X: X).nearest(np.ones((2, 2))), "NaN"),
        (lambda: (D.Custom(lambda X: X, lambda X: X) & LINE).contains(np.ones((2, 2))), "cannot be joined"),
    ],
)
def test_bad_domains(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        make()


@pytest.mark.parametrize(
    "domain",
    [
        rs.domains.Intervals([(0, np.inf)]),
        rs.domains.Intervals([(0, 1), (2, np.inf)]),
        rs.domains.Intervals([([0.0, 0.5, -1.0], [1.0, 2.0, np.inf])]),
        rs.domains.Simplex(),
    ],
)
def test_segments_of_one_column_are_those_of_all(domain):
    X = np.full((4, 3), 1 / 3)
    for j in range(3):
        for one, every in zip(domain.segments_of(X, j), domain.segments(X), strict=True):
            np.testing.assert_array_equal(one, every[:, j])
