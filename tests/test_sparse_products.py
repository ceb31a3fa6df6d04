"""Products of rows with interactions that are mostly zero."""

import numpy as np
import pytest

from robscore._tools.sparse import is_sparse, quadratic_forms


def interactions(m, entries_a_column, rng):
    K = np.eye(m)
    i, j = rng.integers(0, m, size=(2, entries_a_column * m))
    K[i, j] = rng.normal(size=i.size)
    return K


@pytest.mark.parametrize(("m", "entries", "sparse"), [(5, 1, False), (400, 2, True), (400, 100, False)])
def test_few_entries_and_all_of_them_give_the_same(m, entries, sparse):
    rng = np.random.default_rng(0)
    K, u = interactions(m, entries, rng), rng.gamma(1.0, size=(30, m))
    assert is_sparse(K) == sparse
    np.testing.assert_allclose(quadratic_forms(u, K), np.einsum("ij,ij->i", u @ K, u), rtol=1e-11)
