"""Good cells that a model did not expect: unusual ones are not called wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import robscore as rs
from robscore.cells import CellRule, Conditionals, GoodCells, conditionals

TABLES = {
    "wine": lambda: load_wine().data,
    "diabetes": lambda: np.delete(load_diabetes(scaled=False).data, 1, axis=1),  # without the sex, a code
}


def _of_normal(x: np.ndarray) -> GoodCells:
    """Cells of a column of which the model says that it is standard normal."""
    return GoodCells.of(CellRule(), Conditionals(norm.logpdf(x)[:, None], x[:, None]))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
def test_the_density_of_good_cells_integrates_to_one(share: float) -> None:
    def density(x: float) -> float:
        cells = _of_normal(np.array([x]))
        return float(np.exp(cells.log_unit[0, 0]) * cells.density(share)[0, 0])

    assert quad(density, -np.inf, np.inf)[0] == pytest.approx(1.0, abs=1e-8)


def test_the_share_of_unusual_cells_is_the_likeliest() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(3000) < 0.06, 3.0, 1.0) * rng.normal(size=3000)
    cells, share = _of_normal(x), 0.02
    for _ in range(300):
        share = cells.share_of_unusual(share, np.ones((3000, 1)))
    best = minimize_scalar(lambda t: -np.log(cells.density(t)).sum(), bounds=(0.001, 0.3), method="bounded")
    assert share == pytest.approx(best.x, abs=1e-4)


def test_expected_counts_are_those_of_drawn_cells() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(200_000) < 0.1, 3.0, 1.0) * rng.normal(size=200_000)
    far = np.array([0.5, 1.0, 3.0, 5.0])
    found = _of_normal(x).expected(far, 0.1, np.ones((x.size, 1)))
    np.testing.assert_allclose(found, (np.abs(x) >= far[:, None]).sum(axis=1), rtol=0.05)


@pytest.mark.parametrize("name", ["gaussian", "truncated-gaussian", "sqrt", "gamma"])
def test_residuals_are_known_far_into_both_tails(name: str) -> None:
    """They rise as long as x does, beyond where the share above x can be told from 0."""
    family = rs.families.get_family(name)
    x = np.linspace(1.0, 40.0 if name in ("gaussian", "truncated-gaussian") else 300.0, 60)[:, None]
    K, eta = np.eye(1), np.full(1, 0.5)
    found = conditionals(family, x, (K, eta), x, np.arange(1), np.ones(60, dtype=bool), 400)
    inside = found.residual[:, 0] < 36
    assert (np.diff(found.residual[inside, 0]) > 0).all()
    assert found.residual.max() > 15
    if name == "truncated-gaussian":  # the area above x over that above 0
        log_above = log_ndtr(0.5 - x[:, 0]) - log_ndtr(0.5)
        np.testing.assert_allclose(log_ndtr(-found.residual[inside, 0]), log_above[inside], rtol=1e-6)


@pytest.mark.parametrize("table", TABLES)
def test_cells_of_real_tables_are_not_called_wrong_for_being_unusual(table: str) -> None:
    X = TABLES[table]()
    model = rs.RobustGraph("gaussian", cells=True).fit(X)
    assert not model.fitted_.prepared.filling.suspects.likely_wrong.any()


def test_heavy_tails_are_not_wrong_cells() -> None:
    """The columns have Student's t with four degrees of freedom, given those before them."""
    rng = np.random.default_rng(3)
    X = np.zeros((600, 8))
    for j in range(8):
        X[:, j] = 0.7 * (X[:, j - 1] if j else 0.0) + rng.standard_t(4, size=600)
    model = rs.RobustGraph("gaussian", cells=True).fit(X)
    assert not model.fitted_.prepared.filling.suspects.likely_wrong.any()
    X[rng.random(X.shape) < 0.02] = 60.0  # which still are
    suspects = rs.RobustGraph("gaussian", cells=True).fit(X).fitted_.prepared.filling.suspects
    assert (suspects.probability[X == 60.0] > 0.99).all()
    assert suspects.likely_wrong[X != 60.0].mean() < 0.01


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("count", "value"), [(1, 16.0), (3, 11.0)])
def test_a_few_cells_that_are_much_too_far_out_are_wrong(count: int, value: float, seed: int) -> None:
    """Too few to make the whole table much likelier, but farther out than any unusual cell."""
    X = np.random.default_rng(seed).normal(size=(300, 4))
    X[np.arange(count), np.arange(count)] = value
    model = rs.RobustGraph("gaussian", cells=True).fit(X)
    np.testing.assert_array_equal(model.fitted_.prepared.filling.suspects.likely_wrong, value == X)
    assert (model.fitted_.weights.gamma_weights[:count] > 0).all()  # only the cells are lost, not their rows


def test_cells_too_far_out_are_those_that_unusual_ones_do_not_explain() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(2000) < 0.05, 3.0, 1.0) * rng.normal(size=2000)
    counts, share = np.ones((2000, 1)), 0.05
    assert not _of_normal(x).too_far_out(share, counts).any()
    x[:2] = 16.0, -14.0
    np.testing.assert_array_equal(np.flatnonzero(_of_normal(x).too_far_out(share, counts)), [0, 1])
    assert (_of_normal(x).too_far_out(share, counts)[:2] > 0.99).all()


@pytest.mark.long
def test_the_last_digit_and_the_seed_hardly_move_the_associations_of_a_real_table() -> None:
    X = load_breast_cancer().data
    X = X[:, (X > 0).all(axis=0)]
    nearly = X * (1 + 1e-13 * np.random.default_rng(0).normal(size=X.shape))
    fits = [
        rs.RobustGraph("log-log", cells=True, random_state=seed).fit(rows) for rows in (X, nearly) for seed in (0, 1)
    ]
    moved = [np.linalg.norm(fit.graph_.association - fits[0].graph_.association) for fit in fits[1:]]
    assert max(moved) < 0.25 * np.linalg.norm(fits[0].graph_.association)


def test_wrong_cells_by_a_family_that_hardly_fits_come_with_a_caution() -> None:
    X = load_wine().data
    said = [str(caution) for caution in rs.RobustGraph("gamma", cells=True).fit(X).cautions_]
    assert any("hardly fits the data" in caution for caution in said)
    assert any("of the cells were called wrong" in caution for caution in said)
    clean = rs.simulate.random_model(8, 8, random_state=0)
    rows = rs.simulate.sample("sqrt", clean.interaction, clean.location, n_rows=400, random_state=1)
    assert not any("called wrong" in str(caution) for caution in rs.RobustGraph("sqrt", cells=True).fit(rows).cautions_)
