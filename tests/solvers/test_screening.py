"""Without ever forming Gamma, and looking at a growing set of coordinates only, the path is the same."""

import joblib
import numpy as np
import pytest
from designs import swept
from sklearn.exceptions import ConvergenceWarning

import robscore as rs
from robscore.losses import FactoredLoss
from robscore.solvers import Interactions, screening

FAMILIES = ("sqrt", "gamma", "truncated-gaussian", "log-log", "gaussian")
OPTIONS = {
    "free location": {},
    "penalised location": {"location_ratio": 2.0},
    "no location": {"fit_location": False},
    "multiplier": {"diagonal_multiplier": 0.3},
    "penalised diagonal": {"penalize_diagonal": True},
}


def both(family, other="matrix-free", n=80, m=12, n_blocks=20):
    X = np.random.default_rng(0).gamma(2.0, size=(n, m))
    elements = rs.score_elements(family, X)
    weights = rs.robust_weights(elements, n_blocks)
    return [elements.average(*weights, storage=storage) for storage in ("dense", other)]


def weights_of_pairs(m=12):
    rng = np.random.default_rng(1)
    W = rng.uniform(0.5, 2.0, size=(m, m))
    W = (W + W.T) / 2
    W[0, 1] = W[1, 0] = 0.0
    W[2, 3] = W[3, 2] = np.inf
    return W


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_is_the_same(family):
    dense, factored = both(family)
    assert isinstance(factored, FactoredLoss)
    np.testing.assert_allclose(factored.gamma, dense.gamma, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(factored.g, dense.g)
    np.testing.assert_allclose(factored.diagonal(), dense.diagonal(), rtol=1e-10)
    rng = np.random.default_rng(0)
    K, eta = rng.normal(size=(12, 12)), rng.normal(size=12)
    np.testing.assert_allclose(factored.gamma_times(K, eta), dense.gamma_times(K, eta), rtol=1e-8, atol=1e-9)
    assert factored.value(K, eta) == pytest.approx(dense.value(K, eta))
    some, other = np.array([3, 12, 0]), np.array([12, 5])
    np.testing.assert_allclose(factored.block(4, some, other), dense.block(4, some, other), atol=1e-12)


@pytest.mark.parametrize(
    ("options", "family", "rule"), swept(OPTIONS, ("sqrt", "gamma", "gaussian"), ("symmetric", "or"), times=2)
)
def test_the_path_is_the_same(family, rule, options):
    dense, factored = both(family)
    settings = {"rule": rule, "tol": 1e-8, "penalty_weights": weights_of_pairs(), **OPTIONS[options]}
    first, second = (rs.solve_path(loss, 15, **settings) for loss in (dense, factored))
    assert second.alpha_max == pytest.approx(first.alpha_max)
    assert second.converged.all()
    np.testing.assert_allclose(second.interactions, first.interactions, atol=1e-6)
    np.testing.assert_allclose(second.locations, first.locations, atol=1e-5)
    np.testing.assert_array_equal(second.n_edges, first.n_edges)


@pytest.mark.parametrize("family", ["sqrt", "gaussian"])
def test_many_columns_are_never_held_whole_and_yet_solved_to_optimality(family):
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(120, 160))
    X[:, 1:] += X[:, :-1]
    elements = rs.score_elements(family, X / np.median(X, axis=0))
    loss, dense = elements.average(), elements.average(storage="dense")
    path = rs.solve_path(loss, 8, alpha_min_ratio=0.4, tol=1e-6)
    assert path.converged.all()
    assert path.n_edges[-1] > 100
    for k in (3, 7):
        K, eta = path.interactions[k], path.locations[k]
        gradient = dense.gamma_times(K, eta) - dense.g
        slope = gradient[:, :160] + gradient[:, :160].T
        off = ~np.eye(160, dtype=bool)
        zero = (K == 0) & off
        alpha = path.alphas[k]
        assert np.abs(slope[zero]).max() <= 2 * alpha + 1e-4 * path.alpha_max
        away = (K != 0) & off
        np.testing.assert_allclose(slope[away], -2 * alpha * np.sign(K[away]), atol=1e-4 * path.alpha_max)


def test_a_path_that_fills_the_memory_ends_there(monkeypatch):
    _, factored = both("sqrt")
    whole = rs.solve_path(factored, 20, alpha_min_ratio=0.01)
    monkeypatch.setattr(screening, "_MOST_NUMBERS", 300)
    with pytest.warns(UserWarning, match="denser graphs would take too much memory"):
        short = rs.solve_path(factored, 20, alpha_min_ratio=0.01)
    assert 1 < short.alphas.size < 20
    np.testing.assert_allclose(short.interactions[0], whole.interactions[0])


def test_without_a_minimum_no_penalty_is_said_to_have_converged():
    X = np.random.default_rng(0).gamma(1.0, size=(12, 25))
    loss = rs.score_elements("sqrt", X).average(storage="matrix-free")
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        path = rs.solve_path(loss, 15)
    first = int(np.argmin(path.converged))
    assert 1 < first < 10
    assert not path.converged[first:].any()
    assert path.kkt[-1] > 0.1


def test_solutions_are_kept_sparse():
    K = np.zeros((200, 200))
    np.fill_diagonal(K, 1.0)
    kept = Interactions.of([K] * 100, 200)
    assert sum(matrix.data.nbytes + matrix.indices.nbytes for matrix in kept.solutions) < K.nbytes
    assert np.asarray(kept).shape == kept.shape == (100, 200, 200)
    np.testing.assert_array_equal(kept[3], K)
    np.testing.assert_array_equal(kept[1:3, 5, 5], [1.0, 1.0])
    assert len(kept[::50]) == 2


def test_storage_is_checked():
    elements = rs.score_elements("sqrt", np.ones((3, 2)) + np.eye(3, 2))
    with pytest.raises(ValueError, match="storage='big' is not known"):
        elements.average(storage="big")


@pytest.mark.parametrize("family", ["sqrt", "gamma", "gaussian"])
def test_single_precision_is_right_to_its_digits(family):
    dense, _ = both(family)
    single = both(family, "float32")[1]
    assert single.u.dtype == single.a.dtype == np.float32
    rng = np.random.default_rng(0)
    K, eta = rng.normal(size=(12, 12)), rng.normal(size=12)
    exact = dense.gamma_times(K, eta)
    product = single.gamma_times(K, eta)
    assert product.dtype == single.block(0, np.arange(5), np.arange(13)).dtype == single.coupling()[0].dtype == float
    assert 0 < np.abs(product - exact).max() < 1e-5 * np.abs(exact).max()
    first, second = (rs.solve_path(loss, 12, alpha_min_ratio=0.02) for loss in (dense, single))
    assert second.converged.all()
    np.testing.assert_allclose(second.interactions, first.interactions, atol=1e-3 * np.abs(first.interactions).max())


def test_what_single_precision_costs_is_shown():
    X = np.random.default_rng(0).gamma(1.0, size=(500, 8))
    settings = {"n_blocks": 50, "n_edges": 5}
    models = {
        name: rs.RobustGraph("sqrt", storage=name, **settings).fit(X) for name in ("dense", "matrix-free", "float32")
    }
    assert models["dense"].rounding_ == models["matrix-free"].rounding_ == 0
    assert 1e-9 < models["float32"].rounding_ < 1e-4
    exact = models["dense"].interaction_
    np.testing.assert_allclose(models["matrix-free"].interaction_, exact, atol=1e-4 * np.abs(exact).max())
    np.testing.assert_allclose(models["float32"].interaction_, exact, atol=1e-3 * np.abs(exact).max())


def test_subsets_keep_the_storage():
    elements = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(40, 3)))
    elements.storage = "float32"
    assert elements.subset(np.arange(20)).average().u.dtype == np.float32
    with pytest.raises(ValueError, match="storage='float32' is for power families"):
        rs.RobustGraph("simplex", storage="float32").fit(np.random.default_rng(0).dirichlet(np.ones(4), size=100))


@pytest.mark.parametrize("rule", ["and", "or"])
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_nodes_on_several_cores_give_the_same_bits(rule, backend):
    loss, _ = both("sqrt", m=25)
    alone = rs.solve_path(loss, 12, rule=rule)
    with joblib.parallel_config(backend=backend):
        found = rs.solve_path(loss, 12, rule=rule, n_jobs=2)
    np.testing.assert_array_equal(np.asarray(found.interactions), np.asarray(alone.interactions))
    np.testing.assert_array_equal(found.n_iter, alone.n_iter)
    assert alone.converged.all()
    ended = rs.solve_path(loss, 12, rule=rule, max_edges=10)
    assert ended.n_edges[-1] >= 10 > ended.n_edges[-2]


def test_estimators_end_wide_paths_at_a_number_of_edges():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 12))
    model = rs.RobustGraph("gaussian", max_edges=20).fit(X)
    assert model.path_.n_edges[-1] >= 20 > model.path_.n_edges[-2]
    with pytest.raises(ValueError, match="max_edges=-1"):
        rs.RobustGraph("gaussian", max_edges=-1).fit(X)


def test_long_steps_take_in_few_pairs_that_stay_out(monkeypatch):
    X = np.random.default_rng(0).gamma(1.0, size=(1000, 160))
    X[:, 1::2] = 0.7 * X[:, ::2] + 0.3 * X[:, 1::2]
    loss = rs.score_elements("sqrt", X).average()
    taken = []
    add = screening.WorkingSet.add

    def counted(self, rows, nodes):
        taken.append(rows.size)
        add(self, rows, nodes)

    monkeypatch.setattr(screening.WorkingSet, "add", counted)
    path = rs.solve_path(loss, 4, alpha_min_ratio=0.15)
    assert path.converged.all()
    assert path.n_edges[-1] > 80
    assert sum(taken) - 160 < 3 * path.n_edges[-1]  # about as many; 7 times by the strong rule alone


def test_rows_of_all_blocks_are_one_product():
    loss, other = both("sqrt")
    np.testing.assert_allclose(other.own_rows(), loss.own_rows())
