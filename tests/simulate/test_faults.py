"""Graphs of known shapes, and faults of measurement."""

import numpy as np
import pytest

import robscore as rs

SHAPES = ["random", "chain", "hub", "grid", "scale-free"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("m", [2, 3, 20, 25])
def test_shapes_have_their_edges_and_a_density(shape, m):
    model = rs.simulate.shaped_model(shape, m, min_eigenvalue=0.3, random_state=1)
    K = model.interaction
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0.3)
    edges = np.triu(model.adjacency)
    strengths = np.abs(K[edges])
    assert ((strengths >= 0.5) & (strengths <= 1)).all()
    trees = {"chain": m - 1, "scale-free": m - 1, "hub": m - -(-m // 10), "random": min(m, m * (m - 1) // 2)}
    if shape in trees:
        assert edges.sum() == trees[shape]
    if (shape, m) == ("grid", 25):
        assert edges.sum() == 40
        assert sorted(set(model.adjacency.sum(axis=0))) == [2, 3, 4]
    again = rs.simulate.shaped_model(shape, m, min_eigenvalue=0.3, random_state=1)
    np.testing.assert_array_equal(K, again.interaction)


FAULTS = {
    "cluster": lambda X, **o: rs.simulate.contaminate_cluster(X, 0.1, distance=5.0, **o),
    "zero": lambda X, **o: rs.simulate.contaminate_near_zero(X, 0.1, **o),
    "half": lambda X, **o: rs.simulate.contaminate_near_zero(X, 0.1, cells=0.5, **o),
    "units": lambda X, **o: rs.simulate.contaminate_units(X, 0.1, **o),
    "permuted": lambda X, **o: rs.simulate.contaminate_permuted(X, 0.1, **o),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_change_the_bad_rows_and_nothing_else(fault):
    X = np.random.default_rng(0).gamma(2.0, size=(200, 6))
    given = X.copy()
    dirty, bad = FAULTS[fault](X, random_state=3)
    np.testing.assert_array_equal(X, given)
    assert bad.size == 20
    good = np.delete(np.arange(200), bad)
    np.testing.assert_array_equal(dirty[good], X[good])
    assert (dirty[bad] != X[bad]).any(axis=1).all()
    assert (dirty >= 0).all()
    np.testing.assert_array_equal(FAULTS[fault](X, random_state=3).X, dirty)


def test_a_cluster_is_in_one_place_and_a_dead_sensor_is_near_zero():
    X = np.random.default_rng(0).gamma(2.0, size=(500, 6))
    cluster, bad = FAULTS["cluster"](X, random_state=0)
    assert (cluster[bad].std(axis=0) < 0.1 * X.std(axis=0)).all()
    np.testing.assert_allclose(cluster[bad].mean(axis=0), X.mean(axis=0) + 5 * X.std(axis=0), rtol=0.02)
    half, bad = FAULTS["half"](X, random_state=0)
    assert ((half[bad] < 0.01 * np.median(X, axis=0)).sum(axis=1) == 3).all()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X: rs.simulate.contaminate_near_zero(X, 0.1, cells=0), "cells=0"),
        (lambda X: rs.simulate.contaminate_cluster(X, 0.1, distance="x"), "distance='x'"),
        (lambda X: rs.simulate.contaminate_units(X, 0.7), "share=0.7"),
        (lambda X: rs.simulate.shaped_model("ring", 5), "shape='ring'"),
        (lambda X: rs.simulate.shaped_model("chain", 1), "n_columns=1"),
        (lambda X: rs.simulate.shaped_model("chain", 4, min_eigenvalue=0), "min_eigenvalue=0"),
    ],
)
def test_impossible_arguments_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call(np.ones((30, 3)) + np.eye(30, 3))
