"""The number of blocks, chosen by the data."""

import numpy as np
import pytest

import robscore as rs
from robscore.elements import row_products
from robscore.selection.n_blocks import block_grid, least_blocks
from robscore.weighting import shared_products, weigh_rows


def rows(share, seed=0):
    truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=600, random_state=seed)
    return rs.simulate.contaminate_pareto(X, share, random_state=seed).X


@pytest.mark.parametrize("estimator", [rs.RobustScoreMatching, rs.RobustGraph])
def test_clean_data_need_one_block_and_bad_rows_many(estimator):
    clean, dirty = (estimator("sqrt", n_blocks="auto", reweight=False).fit(rows(share)) for share in (0.0, 0.1))
    assert clean.n_blocks_ == 1
    assert 90 <= dirty.n_blocks_ <= 510
    assert set(dirty.n_blocks_criterion_) == set(block_grid(600))
    assert dirty.n_blocks_criterion_[dirty.n_blocks_] == min(dirty.n_blocks_criterion_.values())
    same = estimator("sqrt", n_blocks=dirty.n_blocks_, reweight=False).fit(rows(0.1))
    np.testing.assert_allclose(same.row_weights_, dirty.row_weights_, atol=1e-7)


@pytest.mark.parametrize("shuffle", [False, True])
def test_products_computed_once_serve_every_number_of_blocks(shuffle):
    elements = rs.score_elements("sqrt", rows(0.1))
    products = {part: row_products(elements, part) for part in ("gamma", "g")}
    for n_blocks in (7, 100, 600):
        options = {"n_partitions": 1, "shuffle": shuffle, "random_state": 0}
        once, _ = weigh_rows(elements, n_blocks, **options, products=products)
        anew, _ = weigh_rows(elements, n_blocks, **options, way="nodes")
        np.testing.assert_allclose(once, anew, atol=1e-8)
    wide = rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(300, 120)))
    assert set(shared_products(wide)) == {"gamma", "g"}
    narrow = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(5000, 2)))
    assert shared_products(narrow) is None


def test_grids_go_from_one_block_to_one_row_each():
    assert block_grid(1000)[0] == 1
    assert block_grid(1000)[-1] == 1000
    assert block_grid(3) == [1, 2, 3]


def test_unknown_words_and_hopeless_grids_are_errors():
    with pytest.raises(ValueError, match="n_blocks='many' is not known"):
        rs.RobustGraph("sqrt", n_blocks="many").fit(rows(0.0))
    with pytest.raises(ValueError, match="found no number of blocks"):
        least_blocks({1: np.inf, 5: np.inf})
    assert least_blocks({1: 2.0, 5: 1.0, 9: 1.0}) == 5
