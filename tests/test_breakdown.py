"""Bad rows in fewer than half of the blocks do bounded harm, whatever their size; in more, unbounded harm."""

import numpy as np
import pytest
from registry import CASES, STATISTICS

import robscore as rs

SIZES = [1e2, 1e6, 1e30, 1e300]


def clean_data(family):
    truth = rs.simulate.random_model(4, 3, min_eigenvalue=0.5, random_state=1)
    X = rs.simulate.sample(
        "gaussian" if family == "gaussian" else "sqrt", truth.interaction, truth.location, n_rows=500, random_state=2
    )
    return np.sqrt(X) if family == "truncated-gaussian" else X


def spoil(X, n_bad_blocks, size):
    """One bad row in each of so many blocks of five rows."""
    rng = np.random.default_rng(3)
    rows = np.arange(n_bad_blocks) * 5 + rng.integers(5, size=n_bad_blocks)
    bad = size * rng.uniform(0.5, 1.0, size=(n_bad_blocks, X.shape[1]))
    X = X.copy()
    X[rows] = bad
    return X


@pytest.mark.parametrize("family", ["sqrt", "gaussian", "truncated-gaussian", "gamma"])
@pytest.mark.parametrize("scale", ["median", None])
def test_45_of_100_blocks(family, scale):
    X = clean_data(family)
    clean = rs.RobustScoreMatching(family, n_blocks=100, scale=scale).fit(X)
    bound = 2 * np.abs(clean.theta_).max()
    for size in SIZES:
        model = rs.RobustScoreMatching(family, n_blocks=100, scale=scale).fit(spoil(X, 45, size))
        assert np.isfinite(model.theta_).all()
        assert np.isfinite(model.row_weights_).all()
        assert np.abs(model.theta_ - clean.theta_).max() < bound
        assert np.linalg.eigvalsh(model.interaction_)[0] > 0


@pytest.mark.parametrize("family", ["sqrt", "gaussian"])
def test_gamma_hat_stays_with_45_bad_blocks_and_goes_with_60(family):
    X = clean_data(family)

    def norm(n_bad, size):
        elements = rs.score_elements(family, spoil(X, n_bad, size))
        return np.linalg.norm(elements.average(*rs.robust_weights(elements, 100)).gamma)

    assert norm(45, 1e30) < 3 * norm(45, 1e2)
    assert norm(60, 1e30) > 1e20 * norm(60, 1e2)
    with pytest.raises(ValueError, match="60 of 100 blocks"):
        norm(60, 1e300)


def bad_rows(case, X, size, rng):
    """Rows that are far out wherever the domain lets them be: large, or next to a boundary; None where it is small."""
    shape = (45, X.shape[1])
    if case.last_is_special:
        rows = np.full(shape, 1 / size)
        rows[:, 0] = 1 - rows[:, 1:].sum(axis=1)
        return rows
    rows = size * rng.uniform(0.5, 1.0, size=shape)
    return rows if case.family.domain.contains(rows).all() else None


@pytest.mark.parametrize("case", CASES + STATISTICS, ids=str)
def test_gamma_hat_stays_with_45_of_100_bad_blocks_in_every_family(case):
    rng = np.random.default_rng(0)
    X = case.draw(rng, 300, 3)
    norms = []
    for size in (1e2, 1e6, 1e12):
        rows = bad_rows(case, X, size, rng)
        if rows is None:
            pytest.skip("no row of the domain is far out")
        dirty = X.copy()
        dirty[np.arange(45) * 3 + rng.integers(3, size=45)] = rows
        elements = rs.score_elements(case.family, dirty)
        loss = elements.average(*rs.robust_weights(elements, 100))
        norms.append(np.linalg.norm(loss.gamma))
    assert np.isfinite(norms).all()
    assert max(norms) < 5 * min(norms)


def test_the_estimate_itself_breaks_down_beyond_half():
    X = clean_data("sqrt")
    clean = rs.RobustScoreMatching("sqrt", n_blocks=100).fit(X)
    broken = rs.RobustScoreMatching("sqrt", n_blocks=100).fit(spoil(X, 60, 1e6))
    assert np.abs(broken.interaction_).max() < 0.05 * np.abs(clean.interaction_).max()


def test_classic_score_matching_breaks_down_at_one_row():
    X = clean_data("sqrt")
    clean = rs.RobustScoreMatching("sqrt", n_blocks=1).fit(X)
    broken = rs.RobustScoreMatching("sqrt", n_blocks=1).fit(spoil(X, 1, 1e6))
    assert np.abs(broken.interaction_ - clean.interaction_).max() > np.abs(clean.interaction_).max()
