"""Compositions: whichever part is the reference, it is as if that one were the last."""

import numpy as np
import pytest
from registry import compositions

import robscore as rs

M, REFERENCE = 6, 2
ORDER = np.array([0, 1, 3, 4, 5, REFERENCE])
BACK = np.argsort(ORDER)


def pair_of_elements(*, zero_sums=False, n=80):
    """With the reference in its place, and with the columns put in an order in which it is the last."""
    X = compositions(np.random.default_rng(0), n, M)
    family = rs.families.Simplex(zero_sums=zero_sums, reference=REFERENCE)
    last = rs.families.Simplex(zero_sums=zero_sums)
    return rs.score_elements(family, X), rs.score_elements(last, X[:, ORDER])


@pytest.mark.parametrize("zero_sums", [False, True])
def test_losses_and_inner_products_agree(zero_sums):
    here, there = pair_of_elements(zero_sums=zero_sums)
    K = np.random.default_rng(1).normal(size=(M, M))
    K, eta = K + K.T, np.arange(M) / 3
    turned = K[np.ix_(ORDER, ORDER)], eta[ORDER]
    np.testing.assert_allclose(here.row_losses(K, eta), there.row_losses(*turned), rtol=1e-9)
    losses = here.average(), there.average()
    assert losses[0].value(K, eta) == pytest.approx(losses[1].value(*turned), rel=1e-9)
    entries = np.append(BACK, M)
    np.testing.assert_allclose(
        losses[0].gamma_times(K, eta), losses[1].gamma_times(*turned)[np.ix_(BACK, entries)], rtol=1e-8, atol=1e-9
    )
    blocks = [np.arange(k, 80, 10) for k in range(10)]
    for one, other in zip(here.block_gram(blocks), there.block_gram(blocks), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    for part in ("gamma", "g"):
        nodes = range(here.cost(part).nodes)
        norms = sum((here.node_features(part, node, here.rows) ** 2).sum(axis=1) for node in nodes)
        np.testing.assert_allclose(norms, here.squared_norms(part), rtol=1e-9)


@pytest.mark.parametrize("rule", ["symmetric", "and"])
def test_paths_agree_with_weights_of_the_penalty_too(rule):
    here, there = (elements.average() for elements in pair_of_elements())
    weights = np.ones((M, M))
    weights[0, 2] = weights[2, 0] = np.inf
    weights[4, 5] = weights[5, 4] = 0.3
    options = {"rule": rule, "alpha_min_ratio": 0.05}
    one = rs.solve_path(here, 10, penalty_weights=weights, **options)
    other = rs.solve_path(there, 10, penalty_weights=weights[np.ix_(ORDER, ORDER)], **options)
    np.testing.assert_array_equal(one.n_edges, other.n_edges)
    assert one.n_edges[-1] > 3
    np.testing.assert_allclose(
        np.asarray(one.interactions), np.asarray(other.interactions)[:, BACK][:, :, BACK], atol=1e-9
    )
    np.testing.assert_allclose(one.locations, other.locations[:, BACK], atol=1e-9)
    with pytest.raises(ValueError, match="penalty_weights"):
        rs.solve_path(here, 5, penalty_weights=np.ones((3, 3)))


def test_the_estimators_take_the_largest_part_whatever_the_order_of_the_columns():
    X = compositions(np.random.default_rng(0), 200, M)
    order = np.random.default_rng(1).permutation(M)
    one, other = (rs.RobustScoreMatching("simplex", n_blocks=1).fit(Y) for Y in (X, X[:, order]))
    chosen = one.fitted_.prepared.preparation.scaled_family.reference
    assert chosen == np.median(X, axis=0).argmax()
    np.testing.assert_allclose(one.interaction_[np.ix_(order, order)], other.interaction_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.location_[order], other.location_, rtol=1e-6, atol=1e-8)
    assert one.fitted_.prepared.preparation.family == rs.families.Simplex()
    last = rs.RobustScoreMatching("simplex", n_blocks=1, scale=None).fit(X)
    given = rs.RobustScoreMatching(rs.families.Simplex(reference=M - 1), n_blocks=1).fit(X)
    np.testing.assert_array_equal(last.interaction_, given.interaction_)


def test_a_reference_that_is_not_there_is_refused():
    X = compositions(np.random.default_rng(0), 50, 4)
    with pytest.raises(ValueError, match="reference=4"):
        rs.RobustGraph(rs.families.Simplex(reference=4)).fit(X)
    with pytest.raises(ValueError, match="reference=-1"):
        rs.families.Simplex(reference=-1)
    assert repr(rs.families.Simplex(reference=1)) == "Simplex(reference=1)"
