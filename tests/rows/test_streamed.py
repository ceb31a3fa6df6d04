"""Elements that are streamed answer as those that are held do, for every family."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from designs import first
from tests.registry import CASES, STATISTICS
from tests.test_taper import parameters_of

import robscore as rs
from robscore.elements import StreamedElements, streamed
from robscore.losses import QuadraticLoss
from robscore.rows import ArrayRows, Partition, SelectedRows, make_blocks

EVERY = CASES + STATISTICS
PIECE = 17  # rows


@pytest.fixture(params=EVERY, ids=repr)
def both(request, monkeypatch):
    """Elements held and streamed, of rows of which one overflows where that can be."""
    monkeypatch.setattr(streamed, "_PIECE_BYTES", 0)
    monkeypatch.setattr(streamed, "_SMALL", 0)
    rng = np.random.default_rng(3)
    X = request.param.draw(rng, 90, 3)
    if request.param.name in ("sqrt", "gamma"):
        X[40] = 1e300
    family = request.param.family.resolved(X)
    elements = family.elements(X)
    stream = StreamedElements(family, ArrayRows(X, whole=False), 1e6)
    stream.length = PIECE
    return rng, elements, stream, request.param


def equal(left, right, rtol=1e-10):
    left, right = np.asarray(left), np.asarray(right)
    np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * np.abs(right[np.isfinite(right)]).max(initial=0.0))


def test_rows(both):
    rng, held, stream, case = both
    np.testing.assert_array_equal(stream.overflow, held.overflow)
    np.testing.assert_array_equal(stream.row_keys(), held.row_keys())
    parameters = parameters_of(case, held.subset(np.flatnonzero(~held.overflow)), rng)
    equal(stream.row_losses(*parameters), held.row_losses(*parameters))
    for part in ("gamma", "g"):
        equal(stream.squared_norms(part), held.squared_norms(part))


def test_sums(both):
    rng, held, stream, case = both
    weights = np.where(held.overflow, 0.0, rng.random(held.n_rows))
    left, right = stream.average(weights, weights), held.average(weights, weights)
    equal(left.gamma, right.gamma)
    equal(left.g, right.g)
    if isinstance(left, QuadraticLoss) and left.gamma_last is not None:
        equal(left.gamma_last, right.gamma_last)
    parameters = parameters_of(case, held.subset(np.flatnonzero(~held.overflow)), rng)
    equal(stream.gamma_times(weights, *parameters), right.gamma_times(*parameters))
    equal(held.gamma_times(weights, *parameters), right.gamma_times(*parameters))
    for part in ("gamma", "g"):
        a, b = stream.mean(part, weights), held.mean(part, weights)
        equal(stream.inner(part, a), held.inner(part, b))
        assert stream.mean_squared_norm(part, a) == pytest.approx(held.mean_squared_norm(part, b), rel=1e-10)


@pytest.mark.parametrize("shuffled", first(1, [False, True]))
def test_blocks(both, shuffled):
    rng, held, stream, _ = both
    blocks = make_blocks(90, 13, rng if shuffled else None)
    finite = [block for block in blocks if not held.overflow[block].any()]
    for left, right in zip(stream.block_gram(finite), held.block_gram(finite), strict=True):
        equal(left, right, 1e-9)
    if not shuffled:
        for part in ("gamma", "g"):
            partition = Partition.from_blocks(finite)
            equal(stream.block_squared_norms(part, partition), held.block_squared_norms(part, partition), 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("way", ["nodes", "streamed"])
@pytest.mark.parametrize("n_blocks", [4, 30, 90])
def test_weights(both, way, n_blocks):
    _, held, stream, _ = both
    if n_blocks == 4 and held.overflow.any():
        held, stream = (elements.subset(np.flatnonzero(~held.overflow)) for elements in (held, stream))
    for left, right in zip(
        rs.robust_weights(stream, n_blocks, way=way), rs.robust_weights(held, n_blocks, way=way), strict=True
    ):
        np.testing.assert_allclose(left, right, atol=1e-9)


def test_some_rows_are_still_streamed(both):
    rng, held, stream, _ = both
    index = np.sort(rng.choice(np.flatnonzero(~held.overflow), 60, replace=False))
    stream.memory = 1.0
    some = stream.subset(index)
    assert some.streams
    stream.memory = 1e9
    assert not stream.subset(index).streams
    weights = np.full(60, 1 / 60)
    for part in ("gamma", "g"):
        mean = held.subset(index).mean(part, weights)
        equal(some.inner(part, mean), held.subset(index).inner(part, mean))


@cache
def rain(n=4000, m=6, seed=0):
    rng = np.random.default_rng(seed)
    truth = rs.simulate.random_model(m, 6, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=2, random_state=seed)
    X[rng.choice(n, n // 50, replace=False)] *= 40
    X.flags.writeable = False
    return X


SETTINGS = [
    {"alphas": 15},
    {"n_blocks": 20, "alphas": 15},
    {"contamination": 0.05, "alphas": 15},
    {"contamination": 0.05, "select": "cv", "alphas": 15},
    {"contamination": 0.02, "select": "stars", "alphas": 8, "random_state": 0},
    {"n_blocks": 30, "shuffle": True, "random_state": 1, "n_edges": 5},
    {"n_blocks": 1, "alphas": 15},
]


@pytest.mark.filterwarnings("ignore:K has diagonal entries", "ignore:Nearly half of the rows")
@pytest.mark.parametrize(
    ("settings", "family"),
    [(SETTINGS[0], "sqrt"), (SETTINGS[1], "sqrt"), (SETTINGS[2], "gaussian"), (SETTINGS[3], "sqrt")]
    + [pytest.param(settings, "sqrt", marks=pytest.mark.long) for settings in (SETTINGS[2], *SETTINGS[4:])],
    ids=str,
)
def test_a_fit_from_disk_is_the_fit_in_memory(settings, family, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "_SMALL", 2e5)
    X = rain()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    for k in range(5):
        frame.iloc[800 * k : 800 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    held = rs.RobustGraph(family, tol=1e-10, **settings).fit(frame)
    found = rs.RobustGraph(family, tol=1e-10, max_memory=1_000_000, **settings)
    monkeypatch.setattr(type(held.fitted_.settings.family), "numbers_a_row", lambda self, m: 1000)  # does not fit
    found.fit(tmp_path)
    scale = np.abs(held.interaction_).max()
    np.testing.assert_allclose(found.interaction_, held.interaction_, atol=1e-8 * scale)
    np.testing.assert_allclose(found.location_, held.location_, atol=1e-8 * np.abs(held.location_).max())
    np.testing.assert_allclose(found.row_weights_, held.row_weights_, atol=1e-8)
    assert found.edges().equals(held.edges()) or len(found.edges()) == len(held.edges())
    assert found.alpha_ == pytest.approx(held.alpha_)
    assert not isinstance(found.fitted_.prepared.rows, ArrayRows)  # it has not kept them
    left, right = found.suspicious_rows(), held.suspicious_rows()
    np.testing.assert_array_equal(left["row"][:50], right["row"][:50])
    np.testing.assert_allclose(found.row_losses(frame), held.row_losses(frame), rtol=1e-6)
    if len(settings) == 1:
        left, right = (model.edge_intervals(block_size=3) for model in (found, held))
        np.testing.assert_allclose(left["interaction_error"], right["interaction_error"], rtol=1e-6)


def test_random_blocks_of_streamed_rows_are_refused_where_they_are_too_many(monkeypatch):
    X = rain()
    monkeypatch.setattr("robscore.elements.inner_products.MEMORY_BYTES", 1e5)
    monkeypatch.setattr(rs.families.SquareRoot, "numbers_a_row", lambda self, m: 1000)
    with pytest.raises(ValueError, match="put them in random order once"):
        rs.RobustGraph("sqrt", n_blocks=1000, shuffle=True, max_memory="1 MB").fit(X)


def test_a_memory_map_is_read_in_pieces(tmp_path, monkeypatch):
    X = rain().astype(np.float32)
    np.save(tmp_path / "rain.npy", X)
    mapped = np.load(tmp_path / "rain.npy", mmap_mode="r")
    held = rs.RobustGraph("sqrt", n_blocks=40).fit(X)
    monkeypatch.setattr(rs.families.SquareRoot, "numbers_a_row", lambda self, m: 1000)
    found = rs.RobustGraph("sqrt", n_blocks=40, max_memory="1 MB").fit(mapped)
    np.testing.assert_allclose(found.interaction_, held.interaction_, rtol=1e-6)
    assert found.fitted_.prepared.rows.rows.values is mapped
    with pytest.raises(ValueError, match="memory map of shape"):
        rs.RobustGraph("sqrt").fit(np.memmap(tmp_path / "line.npy", mode="w+", shape=(5,), dtype=float))


def test_what_does_not_fit_says_so(monkeypatch):
    X = rain()
    monkeypatch.setattr(rs.families.SquareRoot, "numbers_a_row", lambda self, m: 1000)
    model = rs.RobustGraph("sqrt", n_blocks=1, max_memory="1 MB").fit(rain(9000))
    with pytest.raises(ValueError, match=r"9000 rows on 15 pairs takes .* more than max_memory='1 MB'"):
        model.influence_of_rows()
    for storage in ("float32", "matrix-free"):  # arrays are kept then
        assert (
            rs.RobustGraph("sqrt", n_blocks=20, max_memory="1 MB", storage=storage).fit(X).fitted_.prepared.rows.whole
        )
        with pytest.raises(ValueError, match=f"storage='{storage}' keeps the rows in memory, and these take"):
            rs.RobustGraph("sqrt", max_memory="1 MB", storage=storage).fit(Rows(X))
    monkeypatch.setattr(rs.families.SquareRoot, "numbers_of_gamma", lambda self, m: 10_000_000)
    with pytest.raises(ValueError, match=r"Gamma of 6 columns takes 80 MB, more than max_memory allows \(1 MB\)"):
        rs.RobustGraph("sqrt", n_blocks=20, max_memory=1_000_000).fit(Rows(X))
    for bad in ("much", "3 XB", -5, True, None, "10 B"):
        with pytest.raises(ValueError, match="max_memory="):
            rs.RobustGraph("sqrt", max_memory=bad).fit(X)
    with pytest.raises(ValueError, match="storage='sparse' is not known"):
        rs.RobustGraph("sqrt", storage="sparse").fit(X)


class Rows(SelectedRows):
    """Rows that come from somewhere."""

    def __init__(self, X):
        super().__init__(ArrayRows(X, whole=False), np.arange(len(X)))


def test_other_functions_ask_for_rows_in_memory(tmp_path):
    with pytest.raises(TypeError, match="X must be in memory here"):
        rs.edge_stability(rs.RobustGraph("sqrt"), tmp_path)
    with pytest.raises(TypeError, match="first must be in memory here"):
        rs.equality_test(rs.RobustGraph("sqrt"), tmp_path, tmp_path)


def test_reading_rows_is_told(monkeypatch):
    from robscore._tools.progress import watched_by

    monkeypatch.setattr(rs.families.SquareRoot, "numbers_a_row", lambda self, m: 1000)
    monkeypatch.setattr(streamed, "_PIECE_BYTES", 1e5)
    told = []
    with watched_by(lambda *what: told.append(what)):
        rs.RobustGraph("sqrt", n_blocks=20, max_memory="1 MB").fit(rain())
    assert any("reading rows" in step and done == total == 4000 for step, done, total in told)


def test_a_failing_watcher_leaves_no_trace():
    from threadpoolctl import threadpool_info

    from robscore._tools.progress import watched_by

    def fails(*what):
        raise KeyboardInterrupt

    before = [library["num_threads"] for library in threadpool_info()]
    rows = ArrayRows(np.ones((3_000_000, 1)), whole=False)
    with pytest.raises(KeyboardInterrupt), watched_by(fails):
        rows.total(np.sum)
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_a_statistic_that_is_constant_in_some_pieces_only_is_not_constant(monkeypatch):
    def t(x):
        import jax.numpy as jnp

        return jnp.stack([x[0] ** 2, jnp.maximum(x[0], 0.0), x[1] ** 2])

    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30, 0] = -np.abs(X[:30, 0])
    family = rs.families.ExponentialFamily(t)
    stream = StreamedElements(family.resolved(X), ArrayRows(X, whole=False), 1e6)
    stream.length = 10
    stream._varying = stream._first_look()[2]
    stream.check_statistics()
    X[:, 0] = -np.abs(X[:, 0])
    stream = StreamedElements(family.resolved(X), ArrayRows(X, whole=False), 1e6)
    with pytest.raises(ValueError, match="Statistic 1 of t is constant"):
        stream.check_statistics()
