"""Which family: compared under one weight, taken by "auto", and scored alike."""

import numpy as np
import pandas as pd
import pytest
from designs import first
from scipy.optimize import check_grad
from sklearn.model_selection import GridSearchCV

import robscore as rs
from robscore._tools.messages import About
from robscore.family_choice import (
    CommonWeight,
    Coordinates,
    DistanceWeight,
    block_losses,
    fitted_loss,
    fitted_losses_without,
    gradients_of_node,
    losses_of,
)

POWER = rs.families.Power(1.5, 0.5)
FAMILIES = ["sqrt", "gamma", "truncated-gaussian", "log-log", POWER]


def data(family, n=1000, m=5, seed=0, locations=(0.5, -0.5)):
    truth = rs.simulate.shaped_model("chain", m, locations=locations, min_eigenvalue=0.3, random_state=seed)
    return rs.simulate.sample(
        family, truth.interaction, truth.location, n_rows=n, burn_in=60, thin=5, random_state=seed + 1
    )


def verdicts(table):
    return dict(zip(table["family"], table["verdict"], strict=True))


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_the_true_family_is_not_called_worse_and_bad_rows_do_not_decide(family):
    X = data(family)
    name = family if isinstance(family, str) else repr(family)
    dirty = rs.simulate.contaminate_pareto(X, 0.05, random_state=3).X
    for rows in (X, dirty):
        table = rs.compare_families(rows, FAMILIES)
        assert next(iter(table["verdict"])) == "best"
        assert verdicts(table)[name] != "worse"
        wrong = "log-log" if family != "log-log" else "truncated-gaussian"
        assert verdicts(table)[wrong] == "worse"
        assert (np.diff(table["loss"]) >= 0).all()


def test_families_that_coincide_are_not_told_apart():
    table = rs.compare_families(data("sqrt", n=1500, locations=(0.0,)), ["sqrt", "gamma", "gaussian"])
    assert {verdicts(table)[name] for name in ("sqrt", "gamma")} <= {"best", "not told apart"}


def test_gaussian_and_truncated_gaussian_share_a_line_on_positive_data():
    table = rs.compare_families(pd.DataFrame(data("truncated-gaussian")))
    assert isinstance(table, pd.DataFrame)
    assert "gaussian" not in set(table["family"])
    assert table["reason"][0] == "gaussian has the same score on these data"
    assert list(table.columns) == ["family", "loss", "difference", "error", "verdict", "reason"]


def test_what_the_data_exclude_is_said():
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(200, 3))
    X[:7, 1] = 0.0
    reasons = dict(zip(*(rs.compare_families(X)[name] for name in ("family", "reason")), strict=True))
    assert reasons["gamma"] == "7 exact zeros, in 1 column"
    assert reasons["simplex"] == "sums of rows are not constant"
    reasons = dict(zip(*(rs.compare_families(X - 1)[name] for name in ("family", "reason")), strict=True))
    assert "negative values" in reasons["sqrt"]
    shares = X[10:] / X[10:].sum(axis=1, keepdims=True)
    table = rs.compare_families(shares)
    assert verdicts(table)["simplex"] == "best"
    assert verdicts(table)["sqrt"] == "excluded"
    boxed = rs.families.TruncatedGaussian(domain=rs.domains.Intervals([(0, 50)]))
    assert verdicts(rs.compare_families(X, ["sqrt", boxed]))[repr(boxed)] == "excluded"
    with pytest.raises(ValueError, match="12 complete rows"):
        rs.compare_families(X[:12])


@pytest.mark.parametrize("family", [*FAMILIES, "gaussian"], ids=str)
def test_gradients_of_nodes_are_derivatives(family):
    member = rs.families.get_family(family)
    assert hasattr(member, "a")
    is_real = family == "gaussian"
    rng = np.random.default_rng(0)
    t = np.exp(rng.normal(size=(1, 3))) * (rng.choice([-1, 1], size=(1, 3)) if is_real else 1)
    K, eta = rng.normal(size=(3, 3)), rng.normal(size=3)
    K += K.T
    for j in range(3):
        z = np.append(K[:, j], eta[j])

        def moved(x, j=j):
            other = t.copy()
            other[0, j] = x[0]
            return other

        def slope(x, j=j, z=z, moved=moved):
            V, _ = gradients_of_node(member, moved(x), j, np.arange(3), is_real=is_real)
            return float(V[0] @ z) / (1.0 if is_real else x[0])

        V, W = gradients_of_node(member, t, j, np.arange(3), is_real=is_real)
        factor = 1.0 if is_real else t[0, j]
        assert V[0] @ z / factor == pytest.approx(slope(t[:, j]))
        log_density = lambda x, moved=moved: float(member.log_density(moved(x), K, eta)[0])  # noqa: E731
        assert check_grad(log_density, lambda x, slope=slope: np.array([slope(x)]), t[:, j]) < 1e-4
        assert check_grad(slope, lambda x, W=W, z=z, f=factor: np.array([W[0] @ z / f**2]), t[:, j]) < 1e-4


@pytest.mark.parametrize("is_real", [False, True])
def test_the_slope_of_the_common_weight_is_its_derivative(is_real):
    rng = np.random.default_rng(0)
    t = rng.normal(size=(400, 3)) @ np.tri(3) if is_real else rng.gamma(2.0, size=(400, 3))
    t[5] = 4.0 if is_real else 12.0
    weight = DistanceWeight.of(t, is_real=is_real)
    phi, slope = weight(t)
    bent = np.flatnonzero((phi > 0.05) & (phi < 0.95))
    assert bent.size > 3
    for i in bent[:3]:
        for j in range(3):
            step = np.zeros(3)
            step[j] = 1e-5
            change = (weight(t[i : i + 1] + step)[0] - weight(t[i : i + 1] - step)[0])[0] / 2e-5
            assert slope[i, j] / (1.0 if is_real else t[i, j]) == pytest.approx(change, rel=1e-4, abs=1e-7)


def test_the_common_loss_is_the_score_matching_loss_of_elements():
    X = data("gamma", n=50)
    coordinates = Coordinates.of(X, is_real=False)
    K, eta = np.eye(5) + 0.1, np.linspace(-0.5, 0.5, 5)
    weight = CommonWeight.weighted(coordinates(X), np.ones(50), np.zeros((50, 5)), is_real=False)
    for name in ("sqrt", "gamma", "truncated-gaussian", "log-log"):
        family = type(rs.families.get_family(name))(boundary=rs.boundary.CappedPower(2.0, 3.0))
        scaled = coordinates.parameters(family, (K, eta))
        literal = family.elements(coordinates(X)).row_losses(*scaled)
        np.testing.assert_allclose(losses_of(family, scaled, weight), literal, rtol=1e-8)
    gamma, g = weight.sums(family, 0, np.arange(5), np.array([0]))
    loss = family.elements(coordinates(X)).average()
    np.testing.assert_allclose(gamma[0] / 50, loss.gamma[0], rtol=1e-8)
    np.testing.assert_allclose(g[0] / 50, loss.g[0], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("family", first(1, ["gamma", "log-log"]))
def test_a_search_over_families_compares_like_with_like(family):
    X = data(family, n=300, m=3)
    search = GridSearchCV(
        rs.RobustScoreMatching(n_blocks=1), {"family": ["sqrt", "gamma", "truncated-gaussian", "log-log"]}, cv=3
    ).fit(X)
    table = rs.compare_families(X)
    assert verdicts(table)[search.best_params_["family"]] in ("best", "not told apart")


def test_auto_takes_what_the_data_say():
    rng = np.random.default_rng(0)
    model = rs.RobustGraph("auto", n_edges=3, n_blocks=1).fit(data("log-log"))
    assert model.family_ == "log-log"
    assert "best of 4 families by held-out loss" in model.summary()
    assert rs.RobustGraph("auto", n_blocks=1).fit(rng.normal(size=(100, 3))).family_ == "gaussian"
    assert rs.RobustGraph("sqrt", n_edges=3).fit(data("sqrt", n=100)).family_ == "sqrt"
    assert rs.RobustScoreMatching("auto", n_blocks=1).fit(data("log-log")).family_ == "log-log"
    holes = data("log-log")
    holes[::10, 1] = np.nan
    assert rs.RobustGraph("auto", n_edges=3, missing="drop").fit(holes).family_ == "log-log"
    with pytest.raises(ValueError, match="NaN"):
        rs.RobustGraph("auto").fit(np.full((30, 3), np.nan))
    one = rng.gamma(2.0, size=(300, 3))
    one[0, 0] = -999.0
    odd = rs.RobustGraph("auto", n_edges=1).fit(one)
    assert odd.family_ == "copula"
    assert "gaussian does not describe the rows" in odd.summary()
    assert any("Only 1 of 900 values is below zero (in 'x0')" in caution for caution in odd.cautions_)


@pytest.mark.parametrize("total", first(2, [1.0, 100.0, 1e6]))
def test_compositions_are_recognised_and_closed(total):
    rng = np.random.default_rng(0)
    parts = rng.dirichlet([3.0, 4.0, 5.0, 6.0], size=300)
    model = rs.RobustGraph("auto", n_edges=2, alphas=10).fit(total * parts)
    assert model.family_ == "simplex"
    assert f"all rows sum to {total:.6g}" in model.summary()
    plain = rs.RobustGraph("simplex", n_edges=2, alphas=10).fit(parts)
    np.testing.assert_allclose(model.interaction_, plain.interaction_, rtol=1e-6)
    assert model.score(total * parts) == pytest.approx(plain.score(parts), rel=1e-6)
    assert len(model.suspicious_rows(total * parts)) == 300


def assert_told(cautions, kind, column):
    """One caution names the column and what it is, and the family that takes it."""
    told = [caution for caution in cautions if kind in caution]
    assert len(told) == 1
    assert column in told[0]
    assert "family='copula', which is for " in told[0]


def test_columns_that_are_no_measurements_are_named_and_stop_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    X["sex"] = (rng.random(300) < 0.3).astype(float)
    X["answer"] = rng.integers(1, 6, size=300).astype(float)
    model = rs.RobustGraph("gaussian").fit(X)
    assert_told(model.cautions_, "only two values", "sex")
    assert "'a'" not in " ".join(model.cautions_)
    auto = rs.RobustGraph().fit(X)
    assert auto.family_ == "copula"
    assert "chosen because 'sex' holds two values; 'answer' holds answers" in auto.summary()
    assert not any(caution.kind is About.COLUMNS for caution in auto.cautions_)
    few = rs.RobustGraph("gaussian").fit(X[:24]).cautions_
    assert [caution for caution in few if caution.kind is About.COLUMNS] == [
        "This family is for measurements, and some columns are not: read their links as rough, or take "
        "family='copula', which is for all of them.\n"
        "  only two values                                     'sex'\n"
        "  a few whole numbers only, as on a scale of answers  'answer'"
    ]
    counts = rng.poisson(2.0, size=(300, 3)).astype(float)
    counts[0] = 30.0, 25.0, 40.0
    assert "small counts" in " ".join(rs.RobustGraph("sqrt", n_edges=1).fit(counts).cautions_)
    assert rs.RobustGraph(n_edges=1).fit(counts).family_ == "copula"


def test_what_a_fit_costs_is_taken_off():
    """Rows that say nothing: held out, more parameters cost more; with the fitted rows they cost nothing."""
    rng = np.random.default_rng(0)
    held, both = [], []
    for _ in range(300):
        V, y = rng.normal(size=(20, 15, 12)), rng.normal(size=(20, 15))
        sums = np.einsum("gnp,gnq->gpq", V, V), np.einsum("gnp,gn->gp", V, y)
        held.append(block_losses(*sums).sum() / 300)
        both.append((held[-1] + fitted_loss(*sums) / 300) / 2)
    error = np.std(held) / np.sqrt(300)
    assert np.mean(held) > 10 * error
    assert abs(np.mean(both)) < 3 * error
    assert np.std(both) < np.std(held)


def test_the_fitted_loss_without_a_block_is_that_of_the_other_blocks():
    rng = np.random.default_rng(1)
    V, y = rng.normal(size=(5, 30, 3)), rng.normal(size=(5, 30))
    gamma, g = np.einsum("gnp,gnq->gpq", V, V), np.einsum("gnp,gn->gp", V, y)
    without = fitted_losses_without(gamma, g)
    for b in range(5):
        others = np.delete(np.arange(5), b)
        assert without[b] == pytest.approx(fitted_loss(gamma[others], g[others]), rel=1e-5)


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_a_column_of_zeros_and_one_other_value_does_not_end_the_fit(scale):
    """A family that ends at zero sees one value of it; a Gaussian sees two."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.gamma(3.0, size=(200, 4)), columns=["a", "b", "c", "yes"])
    X["yes"] = scale * (rng.random(200) < 0.5)
    table = rs.compare_families(X)
    reasons = dict(zip(table["family"], table["reason"], strict=True))
    assert reasons["sqrt"] == "1 column without two different values above zero"
    model = rs.RobustGraph("auto").fit(X)
    assert model.family_ == "copula"
    assert "chosen because 'yes' holds two values" in model.summary()
    plain = rs.RobustGraph("auto", storage="float32").fit(X)  # which the copula does not take
    assert plain.family_ == "gaussian"
    assert "chosen because 'yes' has no two different values above zero" in plain.summary()
    assert_told(plain.cautions_, "only two values", "yes")
    with pytest.raises(ValueError, match=r"'yes'.*family='copula'"):
        rs.RobustGraph("sqrt").fit(X)


@pytest.mark.parametrize("m", [5, 45])
def test_the_order_of_rows_and_columns_does_not_matter(m):
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(300, m))
    moved = X[rng.permutation(300)][:, rng.permutation(m)]
    one, other = (rs.compare_families(Y, ["sqrt", "gamma", "truncated-gaussian"]) for Y in (X, moved))
    assert list(one["family"]) == list(other["family"])
    np.testing.assert_allclose(one["loss"], other["loss"], rtol=1e-6)
    np.testing.assert_allclose(one["error"], other["error"], rtol=1e-5)


def test_zeros_of_incomplete_rows_exclude_families_where_these_rows_are_used():
    X = np.exp(np.random.default_rng(0).normal(size=(600, 3)))
    X[:24, 0], X[:24, 1] = 0.0, np.nan
    assert rs.RobustGraph("auto", missing="drop", n_blocks=1, alphas=10).fit(X).family_ == "log-log"
    assert rs.RobustGraph("auto", missing="impute", n_blocks=1, alphas=10).fit(X).family_ != "log-log"
