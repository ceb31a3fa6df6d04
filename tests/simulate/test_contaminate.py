"""Which rows go bad, and what they are replaced by."""

import numpy as np
import pytest

import robscore as rs
from robscore.medians import make_blocks

S = rs.simulate


def data(n=400, m=3, seed=0):
    return np.random.default_rng(seed).gamma(2.0, size=(n, m))


@pytest.mark.parametrize(
    "spoil",
    [
        S.contaminate_pareto,
        lambda X, share, **o: S.contaminate_symmetric(X, share, strength=10, **o),
        lambda X, share, **o: S.contaminate_skewed(X, share, strength=10, **o),
        lambda X, share, **o: S.contaminate_wide(X, share, variance=9.0, **o),
        lambda X, share, **o: S.contaminate_other_graph(X, share, n_edges=2, **o),
        lambda X, share, **o: S.contaminate(X, share, lambda rng, n, X: np.full((n, 3), -1.0), **o),
    ],
)
def test_only_the_bad_rows_change_and_their_number_is_as_asked(spoil):
    X = data()
    dirty, bad = spoil(X, 0.1, random_state=1)
    assert bad.size == 40
    changed = (dirty != X).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(changed), bad)
    again = spoil(X, 0.1, random_state=1)
    np.testing.assert_array_equal(again.X, dirty)
    none = spoil(X, 0.0, random_state=1)
    np.testing.assert_array_equal(none.X, X)


def test_tukey_huber_rows_are_bad_on_their_own():
    counts = [S.choose_rows(1000, 0.05, where="tukey-huber", random_state=k).size for k in range(300)]
    assert np.mean(counts) == pytest.approx(50, abs=1.5)
    assert np.var(counts) == pytest.approx(1000 * 0.05 * 0.95, rel=0.3)


@pytest.mark.parametrize(("share", "most"), [(0.1, 1), (0.2, 1), (0.4, 2)])
def test_an_adversary_spreads_bad_rows_over_the_blocks(share, most):
    rows = S.choose_rows(100, share, where="one-to-a-block", n_blocks=20, random_state=0)
    in_block = [np.isin(block, rows).sum() for block in make_blocks(100, 20)]
    assert rows.size == round(100 * share)
    assert max(in_block) == most
    assert max(in_block) - min(in_block) <= 1


def test_scenarios_of_the_appendix_have_the_sizes_they_should():
    X = np.random.default_rng(0).normal(size=(40_000, 2)) * [1.0, 3.0]
    wide, bad = S.contaminate_symmetric(X, 0.3, strength=10.0, random_state=0)
    np.testing.assert_allclose(wide[bad].var(axis=0), [10, 90], rtol=0.05)
    skewed, bad = S.contaminate_skewed(X, 0.3, strength=2.0, random_state=0)
    assert (skewed[bad] >= 0).all()
    np.testing.assert_allclose(np.quantile(skewed[bad], 0.75, axis=0), 2 * np.quantile(X, 0.75, axis=0), rtol=0.05)


def test_rows_from_another_graph_are_of_ordinary_size():
    truth = S.random_model(20, 30, random_state=0)
    X = S.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=1)
    dirty, bad = S.contaminate_other_graph(X, 0.2, n_edges=30, random_state=2)
    assert np.median(dirty[bad]) < 5 * np.median(X)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: S.choose_rows(10, 0.2, where="somewhere"), "where='somewhere'"),
        (lambda: S.choose_rows(10, 0.2, where="one-to-a-block"), "needs n_blocks="),
        (lambda: S.contaminate(data(), 0.1, lambda rng, n, X: np.zeros((n, 2))), "replacement must give 40 rows of 3"),
        (lambda: S.contaminate_skewed(-data(), 0.1, strength=2), "3/4 quantiles"),
        (lambda: S.contaminate_symmetric(data(), 0.1, strength="a"), "strength='a'"),
    ],
)
def test_bad_arguments(call, match):
    with pytest.raises(ValueError, match=match):
        call()
