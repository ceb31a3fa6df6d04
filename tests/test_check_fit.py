"""Does the family fit: residuals whose means are zero where it does, and that show where it does not."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

import robscore as rs
from robscore._tools.messages import About
from robscore.certainty import ResidualRows, conditional_ranks, joint_p_value, z_scores

mpl.use("Agg")


def rows(family, n=800, m=4, seed=0):
    truth = rs.simulate.shaped_model("chain", m, locations=(0.5, -0.5), min_eigenvalue=0.3, random_state=seed)
    return rs.simulate.sample(
        family, truth.interaction, truth.location, n_rows=n, burn_in=60, thin=5, random_state=seed + 1
    )


@pytest.mark.parametrize("family", ["sqrt", "gamma", "truncated-gaussian", "log-log", "gaussian"])
def test_the_true_family_fits_also_with_bad_rows(family):
    X = rows(family)
    check = rs.RobustScoreMatching(family).fit(X).check_fit(level=1e-3)
    assert check.verdict == "fits", check.p_value
    assert "fits, as far as the rows can tell" in str(check)
    shift = X.mean(axis=0) - X.std(axis=0) if family == "gaussian" else 0.0
    dirty = rs.simulate.contaminate_pareto(X - shift, 0.05, random_state=0).X + shift
    assert rs.RobustScoreMatching(family).fit(dirty).check_fit(level=1e-3).fits


def test_a_wrong_family_does_not_and_is_cautioned_about():
    X = rows("log-log")
    model = rs.RobustGraph("truncated-gaussian", n_edges=3).fit(X)
    check = model.check_fit()
    assert not check.fits
    assert "does not fit" in check.words
    assert About.MISFIT in [caution.kind for caution in model.cautions_]
    assert list(check.columns["column"]) == ["x0", "x1", "x2", "x3"]
    assert (check.columns["p_value"] < 1e-3).any()
    assert (np.diff(np.abs(check.pairs["z"])) <= 0).all()
    assert len(check.pairs) == 6


def test_what_is_missed_is_named():
    X = rows("gaussian")
    X[:, 1] = np.exp(X[:, 1] / X[:, 1].std())
    words = rs.RobustScoreMatching("gaussian", n_blocks=1).fit(X).check_fit().words
    assert "It misses most: x1 (" in words


@pytest.mark.parametrize("family", ["sqrt", "gaussian"])
def test_residuals_are_those_of_the_estimate_without_a_penalty(family):
    X = rows(family, n=300)
    fit = rs.RobustScoreMatching(family, n_blocks=1).fit(X).fitted_
    checked = ResidualRows.of(fit, np.arange(300))
    node = checked.at(1)
    np.testing.assert_allclose(node.psi.sum(axis=0), 0.0, atol=1e-7 * np.abs(node.psi).max())
    residuals = node.residuals(0, np.ones((300, 1)))[:, 0]
    without = node.checked.some(slice(1, None)).at(1)  # leverage: what the estimate without a row says of it
    assert node.V[0] @ without.z == pytest.approx(node.slopes[0] + node.leverage[0], abs=0.02)
    assert residuals.shape == (300,)


def test_stein_residuals_have_mean_zero_by_quadrature():
    # One column of the square-root family: E[k d log p + dk] over its density is zero.
    family = rs.families.SquareRoot()
    K, eta = np.array([[1.3]]), np.array([0.4])
    density = lambda x: float(np.exp(family.log_density(np.array([[x]]), K, eta)[0]))  # noqa: E731
    step = 1e-5

    def residual(x, degree=1):
        def k(v):
            y = v / (1 + v)
            return y * (1 - y) * np.polynomial.Legendre.basis(degree)(2 * y - 1)

        slope = (np.log(density(x + step)) - np.log(density(x - step))) / (2 * step)
        return k(x) * slope + (k(x + step) - k(x - step)) / (2 * step)

    total = quad(lambda x: residual(x) * density(x), 2 * step, 60, limit=300)[0]
    size = quad(lambda x: abs(residual(x)) * density(x), 2 * step, 60, limit=300)[0]
    assert abs(total) < 1e-3 * size


def test_the_joint_test_has_its_level_with_correlated_residuals():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    p = np.array([joint_p_value(rng.normal(size=(200, 6)) @ root) for _ in range(400)])
    assert 0.02 < np.mean(p < 0.05) < 0.09
    assert kstest(p, "uniform").pvalue > 1e-3
    assert joint_p_value(np.zeros((20, 3))) == 1.0
    assert abs(float(z_scores(np.ones((10, 1)) + rng.normal(size=(10, 1)))[0])) < 20


def test_what_cannot_be_checked_is_refused_in_words():
    X = rows("gaussian", n=30)
    with pytest.raises(ValueError, match="30 rows that count for 4 columns"):
        rs.RobustScoreMatching("gaussian", n_blocks=1).fit(X).check_fit()
    parts = np.random.default_rng(0).dirichlet([3, 4, 5], size=200)
    with pytest.raises(ValueError, match="cannot be checked"):
        rs.RobustGraph("simplex", n_edges=1).fit(parts).check_fit()
    with pytest.raises(ValueError, match="level=2"):
        rs.RobustScoreMatching("gaussian").fit(rows("gaussian")).check_fit(level=2)


def test_predictability_is_the_share_of_variance_of_gaussian_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[:, 1] += X[:, 0]
    table = rs.RobustGraph("gaussian").fit(X).predictability()
    np.testing.assert_allclose(table["predictability"], [0.5, 0.5, 0.0], atol=0.04)
    assert list(table["neighbours"]) == [1, 1, 0]
    values = rs.RobustGraph("sqrt").fit(rows("sqrt")).predictability()["predictability"]
    assert ((values >= 0) & (values <= 1)).all()
    assert (values > 0).any()


@pytest.mark.parametrize("family", ["gamma", "gaussian"])
def test_conditional_ranks_are_uniform_where_the_model_is_right(family):
    X = rows(family, n=600)
    fit = rs.RobustScoreMatching(family).fit(X).fitted_
    ranks = conditional_ranks(fit, np.arange(4))
    assert all(kstest(column, "uniform").pvalue > 1e-3 for column in ranks.T)
    wrong = rs.RobustScoreMatching("log-log", n_blocks=1).fit(np.abs(X) + 1e-6).fitted_
    assert kstest(conditional_ranks(wrong, np.array([0]))[:, 0], "uniform").pvalue < 1e-3


def test_the_figure_names_its_columns():
    model = rs.RobustGraph("gaussian", n_edges=1).fit(rows("gaussian", n=200))
    figure = rs.plot.plot_fit(model, columns=["x2"])
    assert [ax.get_title() for ax in figure.axes] == ["x2"]
    with pytest.raises(ValueError, match="columns='z'"):
        rs.plot.plot_fit(model, columns=["z"])
    mpl.pyplot.close("all")
