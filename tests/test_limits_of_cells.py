"""Cells that are known to lie within limits: below a limit of detection, above a cap, between two numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

import robscore as rs

CLASSIC = {"n_blocks": 1, "alphas": 20}


def chain(n: int = 400, m: int = 4, seed: int = 0) -> np.ndarray:
    """Normal rows, each column linked to the next."""
    z = np.random.default_rng(seed).normal(size=(n, m))
    for j in range(1, m):
        z[:, j] = 0.6 * z[:, j - 1] + 0.8 * z[:, j]
    return z


def below(X: np.ndarray, column: int, limit: np.ndarray | float) -> np.ndarray:
    """Upper limits of the cells of a column that lie below the limit, NaN elsewhere."""
    upper = np.full(X.shape, np.nan)
    upper[:, column] = np.where(X[:, column] < limit, limit, np.nan)
    return upper


@pytest.mark.parametrize("family", ["gaussian", "copula"])
def test_limits_that_say_nothing_change_nothing(family: str) -> None:
    X = chain(150)
    plain = rs.RobustGraph(family, **CLASSIC).fit(X)
    nothing = np.full(X.shape, np.nan)
    equal = nothing.copy()
    equal[::3, 1] = X[::3, 1]
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    limited = rs.RobustGraph(family, **CLASSIC).fit(gaps, lower=equal, upper=equal)
    np.testing.assert_array_equal(
        rs.RobustGraph(family, **CLASSIC).fit(X, lower=nothing).interaction_, plain.interaction_
    )
    np.testing.assert_array_equal(limited.interaction_, plain.interaction_)


@pytest.mark.parametrize("family", ["gaussian", "copula"])
def test_covariates_keep_their_effects_where_a_column_is_below_its_limit(family: str) -> None:
    """Taken for values, limits would make effects on the column beside it smaller."""
    X, c = chain(1500), np.random.default_rng(1).normal(size=1500)
    X[:, 0] += c
    given = {"covariates": {"c": c}}
    plain = rs.RobustGraph(family, **CLASSIC).fit(X, **given)
    again = rs.RobustGraph(family, **CLASSIC).fit(X, upper=np.full(X.shape, np.nan), **given)
    np.testing.assert_array_equal(again.interaction_, plain.interaction_)

    upper = below(X, 0, -0.5)
    limited = rs.RobustGraph(family, **CLASSIC).fit(np.where(np.isnan(upper), X, np.nan), upper=upper, **given)
    known, before = (model.effects().set_index("column")["effect"]["x1"] for model in (limited, plain))
    assert abs(known / before - 1) < 0.1
    if family == "gaussian":
        taken = rs.RobustGraph(family, **CLASSIC).fit(np.fmax(X, upper), **given)
        assert taken.effects().set_index("column")["effect"]["x1"] / before < 0.7


@pytest.mark.parametrize("family", ["gaussian", "copula"])
def test_two_columns_have_the_correlation_of_largest_likelihood(family: str) -> None:
    """A third of one column is below its limit; brute force: the likelihood of normal pairs given true margins."""
    X = chain(1500, 2)
    upper = below(X, 1, -0.4)
    cut = ~np.isnan(upper[:, 1])
    model = rs.RobustGraph(family, n_edges=1, **CLASSIC).fit(X, upper=upper)

    def minus_log_likelihood(r: float) -> float:
        exact = multivariate_normal([0, 0], [[1, r], [r, 1]]).logpdf(X[~cut])
        below_limit = norm.logcdf((-0.4 - r * X[cut, 0]) / np.sqrt(1 - r**2))
        return -float(exact.sum() + below_limit.sum())

    best = minimize_scalar(minus_log_likelihood, bounds=(-0.95, 0.95), method="bounded").x
    K = rs.RobustScoreMatching(family, n_blocks=1).fit(X, upper=upper).interaction_
    assert abs(-K[0, 1] / np.sqrt(K[0, 0] * K[1, 1]) - best) < 0.03
    assert model.graph_.n_edges == 1


def test_margins_of_several_limits_are_turnbulls() -> None:
    """Brute force: self-consistency of one column by itself, its limits drawn at random."""
    rng = np.random.default_rng(3)
    X = rng.gamma(2, size=(1500, 2))
    limit = rng.choice([0.7, 1.3, 2.0], size=1500)
    upper = below(X, 0, limit)
    margins = rs.RobustGraph("copula", **CLASSIC).fit(X, upper=upper).fitted_.prepared.preparation.scaling
    cut = ~np.isnan(upper[:, 0])
    support = np.unique(np.append(X[~cut, 0], np.nextafter([0.7, 1.3, 2.0], 0)))
    mass = np.full(support.size, 1 / support.size)
    own = np.bincount(np.searchsorted(support, X[~cut, 0]), minlength=support.size)
    for _ in range(200):
        share = own.astype(float)
        for value in (0.7, 1.3, 2.0):
            may = np.where(support < value, mass, 0)
            share += np.count_nonzero(cut & (limit == value)) * may / may.sum()
        mass = share / share.sum()
    for value in (0.7, 1.0, 1.3, 2.0, 3.0):
        found = np.append(0, margins.upper[0])[np.searchsorted(margins.values[0], value)]
        assert abs(found - mass[support < value].sum()) < 0.02


@pytest.mark.parametrize("family", ["gamma", "sqrt", "log-log"])
def test_positive_families_draw_below_a_limit(family: str) -> None:
    X = np.exp(chain(200, 3) / 2)
    model = rs.RobustGraph(family, n_edges=2, missing="impute", **CLASSIC).fit(X, upper=below(X, 1, 0.8))
    assert (np.triu(model.interaction_, 1) != 0).sum(axis=1).tolist() == [1, 1, 0]


@pytest.mark.parametrize("family", ["gaussian", "copula"])
def test_imputed_values_respect_their_limits(family: str) -> None:
    X = chain(200, 3)
    lower = np.full(X.shape, np.nan)
    lower[:, 0] = np.where(X[:, 0] > 0.9, 0.9, np.nan)
    upper = below(X, 1, -0.3)
    model = rs.RobustGraph(family, **CLASSIC).fit(X, lower=lower, upper=upper)
    (table,) = model.imputations(1)
    capped, cut = ~np.isnan(lower), ~np.isnan(upper)
    assert (table[capped] >= 0.9).all()
    assert (table[cut] < -0.3).all()
    np.testing.assert_allclose(table[~capped & ~cut], X[~capped & ~cut])
    words = f"{np.count_nonzero(capped | cut)} of 600 known to lie within limits"
    assert words in model.fitted_.prepared.describe_missing


def test_data_frames_may_hold_limits_of_some_columns() -> None:
    X = pd.DataFrame(chain(150), columns=list("abcd"))
    upper = below(X.to_numpy(), 1, -0.4)
    whole = rs.RobustGraph("copula", **CLASSIC).fit(X, upper=upper)
    some = rs.RobustGraph("copula", **CLASSIC).fit(X, upper=pd.DataFrame({"b": upper[:, 1]}))
    np.testing.assert_array_equal(whole.interaction_, some.interaction_)


def test_what_limits_cannot_be_is_said() -> None:
    X, nothing = np.exp(chain(60)), np.full((60, 4), np.nan)
    low, high = nothing.copy(), nothing.copy()
    low[3, 1], high[3, 1] = 2.0, 1.0
    with pytest.raises(ValueError, match=r"In row 3 of column 'x1' the lower limit, 2, is above the upper one, 1"):
        rs.RobustGraph("copula").fit(X, lower=low, upper=high)
    with pytest.raises(ValueError, match=r"upper has shape \(60, 3\), but X has 60 rows and 4 columns"):
        rs.RobustGraph("copula").fit(X, upper=nothing[:, :3])
    with pytest.raises(ValueError, match="upper has columns that X does not have: 'z'"):
        rs.RobustGraph("copula").fit(pd.DataFrame(X, columns=list("abcd")), upper=pd.DataFrame({"z": nothing[:, 0]}))
    high[3, 1], low[3, 1] = -1.0, np.nan
    with pytest.raises(ValueError, match=r"upper=-1\.0 in row 3: .* has no values at or below zero"):
        rs.RobustGraph("gamma").fit(X, upper=high)
    with pytest.raises(ValueError, match="not for compositions"):
        rs.RobustGraph("simplex").fit(X / X.sum(axis=1, keepdims=True), upper=nothing + 0.5)
