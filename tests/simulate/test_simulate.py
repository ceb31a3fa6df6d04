import numpy as np
import pytest
from registry import TANH, half_square, minus, tanh_pair
from scipy.stats import ks_2samp, kstest

import robscore as rs
from robscore.families.samplers import draw_truncated_normal


def test_square_root_samples_have_the_moments_of_the_density():
    K, eta = np.array([[1.0, -0.6], [-0.6, 1.2]]), np.array([0.5, -0.5])
    X = rs.simulate.sample("sqrt", K, eta, n_rows=40_000, thin=3, random_state=0)
    y = np.linspace(0, 12, 1500)
    a, b = np.meshgrid(y, y, indexing="ij")
    log_density = -(K[0, 0] * a**2 + K[1, 1] * b**2 + 2 * K[0, 1] * a * b) + 2 * (eta[0] * a + eta[1] * b)
    p = a * b * np.exp(log_density - log_density.max())
    p /= p.sum()
    expected = [(p * a**2).sum(), (p * b**2).sum(), (p * a * b).sum(), (p * (a * b) ** 2).sum()]
    Y = np.sqrt(X)
    observed = [X[:, 0], X[:, 1], Y[:, 0] * Y[:, 1], X[:, 0] * X[:, 1]]
    for values, value in zip(observed, expected, strict=True):
        assert abs(values.mean() - value) < 6 * values.std() / np.sqrt(len(values) / 3)


def test_gaussian_samples_have_the_right_mean_and_covariance():
    K, eta = np.array([[2.0, 0.7], [0.7, 1.0]]), np.array([1.0, -1.0])
    X = rs.simulate.sample("gaussian", K, eta, n_rows=100_000, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), np.linalg.solve(K, eta), atol=0.02)
    np.testing.assert_allclose(np.cov(X.T), np.linalg.inv(K), atol=0.03)


D = rs.domains
SLICED = [
    (rs.families.SquareRoot(domain=D.Intervals([(0, 1), (2, 3)])), (0.0, 3.0)),
    (rs.families.Gamma(), (0.0, 40.0)),
    (rs.families.TruncatedGaussian(), (0.0, 10.0)),
    (rs.families.TruncatedGaussian(domain=D.Box(-1.0, 2.0)), (-1.0, 2.0)),
    (rs.families.Power(1.5, 0.5), (0.0, 8.0)),
    (rs.families.Gaussian(domain=D.Inequality(1.0, ">=", 1.0, power=2)), (-8.0, 8.0)),
    (rs.families.SquareRoot(domain=D.NonNegative() & D.Inequality([1.3, 1.0], "<=", 2.0)), (0.0, 2.0)),
    (rs.families.TruncatedGaussian(domain=D.Box(0.0, 1.0) | D.Box(0.5, 3.0)), (0.0, 3.0)),
    (rs.families.Gamma(domain=D.Box([0.2, 0.5], [2.0, 4.0])), (0.2, 4.0)),
]


@pytest.mark.parametrize(("family", "ends"), SLICED, ids=lambda value: repr(value))
def test_slice_samples_have_the_moments_of_the_density(family, ends):
    """Against integrals on a fine grid: moments within their noise, and the margin by Kolmogorov and Smirnov."""
    K, eta = np.array([[1.0, -0.3], [-0.3, 1.2]]), np.array([0.7, 0.4])
    X = rs.simulate.sample(family, K, eta, n_rows=4000, burn_in=60, random_state=0)
    assert family.domain.contains(X).all()
    middles = ends[0] + (np.arange(900) + 0.5) * (ends[1] - ends[0]) / 900
    grid = np.array(np.meshgrid(middles, middles, indexing="ij")).reshape(2, -1).T
    a, b = family.a, family.b
    with np.errstate(invalid="ignore"):
        log_p = -np.einsum("ij,jk,ik->i", grid**a, K, grid**a) / (2 * a)
        log_p += (grid**b / b if b else np.log(grid)) @ eta
    inside = family.domain.contains(grid).all(axis=1)
    p = np.where(inside, np.exp(log_p - log_p[inside].max()), 0.0)
    p /= p.sum()
    for statistic in (lambda x: x[:, 0], lambda x: x[:, 1] ** 2, lambda x: x[:, 0] * x[:, 1]):
        values = statistic(X)
        assert abs(values.mean() - p @ statistic(grid)) < 5 * values.std() / np.sqrt(4000) + 0.003 * abs(values).mean()
    margin = p.reshape(900, 900).sum(axis=1).cumsum()
    edges = middles + (middles[1] - middles[0]) / 2
    assert kstest(X[:, 0], lambda x: np.interp(x, edges, margin)).pvalue > 1e-3


def test_slice_samples_of_user_given_statistics_have_the_moments_of_the_density():
    family = rs.families.Pairwise(tanh_pair, minus, t_self=half_square, derivatives=TANH)
    K, eta = np.array([[1.0, 1.5], [1.5, 1.2]]), np.array([0.3, -0.4])
    draws = rs.simulate.draw(family, K, eta, n_rows=4000, burn_in=60, random_state=0)
    assert (draws.effective_size > 3900).all()
    middles = np.linspace(-8, 8, 800)
    grid = np.array(np.meshgrid(middles, middles, indexing="ij")).reshape(2, -1).T
    log_p = K[0, 1] * np.tanh(grid[:, 0]) * np.tanh(grid[:, 1]) - (grid**2 / 2) @ K.diagonal() + grid @ eta
    compare(draws.X, grid, np.exp(log_p - log_p.max()), middles)


@pytest.mark.parametrize("zero_sums", [False, True])
def test_samples_on_the_simplex_have_the_moments_of_the_density(zero_sums):
    family = rs.families.Simplex(zero_sums=zero_sums)
    K = np.array([[1.2, -0.5, -0.7], [-0.5, 0.9, -0.4], [-0.7, -0.4, 1.1]])
    if not zero_sums:
        K += 0.3 * np.eye(3)
    eta = np.array([0.5, 1.0, 0.2])
    draws = rs.simulate.draw(family, K, eta, n_rows=4000, burn_in=60, random_state=0)
    np.testing.assert_allclose(draws.X.sum(axis=1), 1, atol=1e-9)
    middles = (np.arange(900) + 0.5) / 900
    grid = np.array(np.meshgrid(middles, middles, indexing="ij")).reshape(2, -1).T
    rest = 1 - grid.sum(axis=1)
    inside = rest > 0
    u = np.log(np.column_stack([grid, np.where(inside, rest, 1.0)]))
    log_p = -0.5 * np.einsum("ij,jk,ik->i", u, K, u) + u @ eta
    compare(draws.X[:, :2], grid, np.where(inside, np.exp(log_p - log_p[inside].max()), 0.0), middles)


def compare(X, grid, p, middles):
    """Moments within their noise, and the margin of the first column by Kolmogorov and Smirnov."""
    p = p / p.sum()
    for statistic in (lambda x: x[:, 0], lambda x: x[:, 1] ** 2, lambda x: x[:, 0] * x[:, 1]):
        values = statistic(X)
        assert (
            abs(values.mean() - p @ statistic(grid)) < 5 * values.std() / np.sqrt(len(X)) + 0.003 * abs(values).mean()
        )
    margin = p.reshape(len(middles), -1).sum(axis=1).cumsum()
    edges = middles + (middles[1] - middles[0]) / 2
    assert kstest(X[:, 0], lambda x: np.interp(x, edges, margin)).pvalue > 1e-3


@pytest.mark.parametrize("shift", [0.0, 12.0, -30.0])
def test_truncated_normal_draws_are_exact_far_from_the_mean_too(shift):
    rng = np.random.default_rng(0)
    lower, upper = np.array([[-1.0, 1.0, 5.0]]) + shift, np.array([[0.5, 2.0, 4.0]]) + shift  # the last one is empty
    X = draw_truncated_normal(np.zeros(20_000), 1.3, np.tile(lower, (20_000, 1)), np.tile(upper, (20_000, 1)), rng)
    grid = np.linspace(-1, 2, 60_001) + shift
    inside = ((grid[:, None] >= lower) & (grid[:, None] <= upper)).any(axis=1)
    log_p = -0.5 * (grid / 1.3) ** 2
    p = np.where(inside, np.exp(log_p - log_p[inside].max()), 0.0).cumsum()
    assert kstest(X, lambda x: np.interp(x, grid, p / p[-1])).pvalue > 1e-3


def test_draws_from_a_half_line_are_those_from_a_union_with_it():
    """Whatever the mean: without logarithms where it is near, as before where it is far, and not a number never."""
    mean = np.concatenate([np.random.default_rng(0).normal(0, 15, size=500), [-1e300, -1e5, -60.0, 0.0, 9.0, 1e300]])
    lower, upper = np.zeros((mean.size, 1)), np.full((mean.size, 1), np.inf)
    X = draw_truncated_normal(mean, 0.7, lower, upper, np.random.default_rng(1))
    empty = np.hstack([lower, np.ones_like(lower)]), np.hstack([upper, np.zeros_like(upper)])
    Y = draw_truncated_normal(mean, 0.7, *empty, np.random.default_rng(1))
    np.testing.assert_allclose(X, Y, rtol=1e-9)
    assert (X >= 0).all()


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_sample_size_of_an_autoregression_is_known(rho):
    rng = np.random.default_rng(1)
    x = np.zeros(40_000)
    for i, noise in enumerate(rng.normal(size=40_000)):
        x[i] = rho * x[i - 1] + noise
    (size,) = rs.simulate.effective_sample_size(x[:, None])
    assert size == pytest.approx(40_000 * (1 - rho) / (1 + rho), rel=0.12)


def test_chains_say_when_they_have_not_moved_away_from_their_start():
    start = np.random.default_rng(0).gamma(2.0, size=(500, 2))
    family = rs.families.Power(1.5, 0.5)
    short, long = (
        rs.simulate.draw(family, np.eye(2) + 0.9, n_rows=500, burn_in=sweeps, start=start, random_state=0)
        for sweeps in (0, 60)
    )
    assert (short.effective_size < 1).all()
    assert (long.effective_size > 450).all()
    chain = rs.simulate.draw("sqrt", 1.95 * np.eye(2) - 0.95, n_rows=500, thin=1, random_state=0)
    assert (chain.effective_size < 400).all()


@pytest.mark.parametrize("part", [0, 3])
def test_a_small_part_does_not_hold_up_compositions(part):
    """The order of the parts means nothing, whichever of them is small."""
    eta = np.full(4, 20.0)
    eta[part] = -60.0
    draws = rs.simulate.draw(
        rs.families.Simplex(zero_sums=True), 50 * (np.eye(4) - 0.25), eta, n_rows=400, burn_in=300, random_state=0
    )
    assert (draws.effective_size > 350).all()
    spread = np.log(np.delete(draws.X, part, axis=1)).std(axis=0)
    assert (spread < 0.2).all()


@pytest.mark.parametrize(("eta", "K"), [(-1e7, 1.0), (-1e9, 1.0), (-1.0, 1e-16)])
def test_truncated_gaussians_far_in_the_tail_are_exponential(eta, K):
    X = rs.simulate.sample(
        "truncated-gaussian", np.array([[K]]), np.array([eta]), n_rows=4000, burn_in=2, random_state=0
    )
    assert np.unique(X).size > 3900
    assert X.mean() * abs(eta) == pytest.approx(1, abs=0.08)


def test_at_the_far_end_of_a_box():
    family = rs.families.TruncatedGaussian(domain=D.Box(0.0, 1.0))
    X = rs.simulate.sample(family, np.eye(1), np.array([1e200]), n_rows=5, burn_in=2, random_state=0)
    np.testing.assert_array_equal(X, 1.0)


@pytest.mark.parametrize("domain", [D.Box(1000.0, 1001.0), D.Box([0.0, 100.0], [1.0, 101.0]), D.Intervals([(2, 3)])])
def test_rows_to_start_from_are_found_in_any_box(domain):
    rows = domain.some_rows(50, 2, np.random.default_rng(0))
    assert rows.shape == (50, 2)
    assert domain.contains(rows).all()


def test_dirichlet_rows_are_compositions_without_interaction():
    X = rs.simulate.sample(
        "simplex", np.zeros((3, 3)), np.array([1.0, 2.0, 3.0]), n_rows=3000, burn_in=40, random_state=0
    )
    np.testing.assert_allclose(X.mean(axis=0), np.array([2, 3, 4]) / 9, atol=0.015)


@pytest.mark.parametrize(
    ("family", "K", "eta", "match"),
    [
        ("gamma", np.eye(2), np.array([0.0, -2.0]), r"location\[1\]=-2 must exceed -1"),
        ("simplex", np.zeros((2, 2)), np.array([0.0, -2.0]), r"location\[1\]=-2 must exceed -1"),
        (
            rs.families.Pairwise(tanh_pair, minus, t_self=minus, derivatives=TANH),
            np.eye(2),
            np.ones(2),
            "not a distribution",
        ),
        ("sqrt", np.full((2, 2), np.nan), np.ones(2), "finite"),
    ],
)
def test_parameters_without_a_distribution_are_refused(family, K, eta, match):
    with pytest.raises(ValueError, match=match):
        rs.simulate.sample(family, K, eta, n_rows=5, burn_in=3, random_state=0)


def test_log_log_samples_are_log_normal():
    K, eta = np.array([[2.0, 0.7], [0.7, 1.0]]), np.array([1.0, -1.0])
    X = rs.simulate.sample("log-log", K, eta, n_rows=100_000, random_state=0)
    np.testing.assert_allclose(np.cov(np.log(X).T), np.linalg.inv(K), atol=0.03)
    sliced = rs.simulate.sample(
        rs.families.LogLog(domain=D.Box(0.0, 1e9)), K, eta, n_rows=2000, burn_in=60, random_state=0
    )
    assert ks_2samp(np.log(X[:, 0]), np.log(sliced[:, 0])).pvalue > 1e-3


def test_random_models_have_the_edges_strengths_and_eigenvalue_asked_for():
    model = rs.simulate.random_model(30, 45, random_state=0)
    K = model.interaction
    strengths = np.abs(K[np.triu_indices(30, k=1)])
    strengths = strengths[strengths > 0]
    assert strengths.size == 45
    assert strengths.min() >= 0.5
    assert strengths.max() <= 1
    assert np.ptp(K.diagonal()) == 0
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0.1)
    assert set(model.location) <= {0.0, 0.5, -0.5}
    assert (K < 0).any()


def test_pareto_rows():
    X = np.random.default_rng(0).gamma(2.0, size=(1000, 3))
    dirty, bad = rs.simulate.contaminate_pareto(X, 0.05, random_state=1)
    assert bad.size == 50
    untouched = np.setdiff1d(np.arange(1000), bad)
    np.testing.assert_array_equal(dirty[untouched], X[untouched])
    assert (dirty[bad] >= X.mean(axis=0)).all()
    # Half of all draws from a Pareto of shape 1 exceed twice its scale.
    assert (dirty[bad] > 2 * X.mean(axis=0)).mean() == pytest.approx(0.5, abs=0.12)


def test_the_same_seed_gives_the_same_bits():
    for draw in (
        lambda: rs.simulate.random_model(6, 5, random_state=3).interaction,
        lambda: rs.simulate.sample("sqrt", np.eye(3), n_rows=4, random_state=3),
        lambda: rs.simulate.sample("gaussian", np.eye(3), n_rows=4, random_state=3),
        lambda: rs.simulate.contaminate_pareto(np.ones((40, 2)), 0.1, random_state=3).X,
    ):
        np.testing.assert_array_equal(draw(), draw())


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: rs.simulate.random_model(4, 7), "between 0 and 6"),
        (lambda: rs.simulate.random_model(4, 2, min_eigenvalue=0), "positive"),
        (lambda: rs.simulate.sample("sqrt", -np.eye(2), n_rows=3), "positive definite"),
        (lambda: rs.simulate.sample("sqrt", np.eye(2), np.ones(3), n_rows=3), "shape"),
        (lambda: rs.simulate.sample("sqrt", np.eye(2), n_rows=0), "n_rows=0"),
        (lambda: rs.simulate.sample("gamma", np.eye(2), n_rows=2, start=-np.ones((2, 2))), "inside"),
        (lambda: rs.simulate.contaminate_pareto(np.ones((4, 2)), 0.7), "share=0.7"),
        (lambda: rs.simulate.contaminate_pareto(-np.ones((4, 2)), 0.1), "positive"),
    ],
)
def test_bad_arguments(call, match):
    with pytest.raises(ValueError, match=match):
        call()
