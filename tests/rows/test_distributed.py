"""The same estimate from Dask: any chunks, any scheduler, workers that come and go."""

import os
import signal
import threading
from concurrent.futures import CancelledError

import joblib
import numpy as np
import pandas as pd
import pytest
from tests.rows.test_streamed import rain

import robscore as rs
from robscore._tools import repetitions

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from robscore.rows.dask_cluster import DaskRows, _merged  # noqa: E402

# Clusters leave sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

X = rain()
OPTIONS = {"tol": 1e-10}


def check(found, held):
    scale = np.abs(held.interaction_).max()
    np.testing.assert_allclose(found.interaction_, held.interaction_, atol=1e-8 * scale)
    np.testing.assert_allclose(found.row_weights_, held.row_weights_, atol=1e-8)
    assert found.graph_.n_edges == held.graph_.n_edges


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes with 1 GB each, which may take their time where the machine is busy."""
    patience = {"comm.timeouts.connect": "120s", "comm.timeouts.tcp": "600s", "scheduler.worker-ttl": "1h"}
    with (
        dask.config.set({f"distributed.{name}": value for name, value in patience.items()}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("settings", "chunks"),
    [
        ({}, (333, 4)),
        ({"contamination": 0.05}, (1000, 6)),
        ({"contamination": 0.05}, ((1, 1999, 2000), 6)),
        ({"n_blocks": 20}, (333, 4)),
        ({"n_blocks": 20}, (4000, 1)),
    ],
    ids=str,
)
def test_any_chunks_give_the_fit_in_memory(settings, chunks):
    held = rs.RobustGraph("sqrt", **OPTIONS, **settings).fit(X)
    check(rs.RobustGraph("sqrt", **OPTIONS, **settings).fit(da.from_array(X, chunks=chunks)), held)


def test_data_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    held = rs.RobustGraph("sqrt", n_blocks=40, **OPTIONS).fit(frame)
    found = rs.RobustGraph("sqrt", n_blocks=40, **OPTIONS).fit(dd.from_pandas(frame, npartitions=5))
    check(found, held)
    assert list(found.feature_names_in_) == list("abcdef")
    assert found.edges()["source"][0] in "abcdef"


@pytest.mark.parametrize("sizes", [(50, 50), (30, 70), (99, 1), (10,) * 10])
@pytest.mark.parametrize("n_blocks", [3, 7, 40])
def test_chunks_end_where_blocks_do(sizes, n_blocks):
    rows = DaskRows(da.zeros((100, 2), chunks=(sizes, 2)))
    starts = np.concatenate([[0], np.cumsum([len(part) for part in np.array_split(np.arange(100), n_blocks)])[:-1]])
    ends = rows._aligned(starts)
    assert ends[-1] == 100
    assert set(ends[:-1]) <= set(starts)
    moved = [min(abs(end - own) for own in rows.ends) for end in ends]
    assert max(moved) <= -(-100 // n_blocks)  # by less than a block
    assert rows._aligned(None) == np.cumsum(sizes).tolist()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: da.from_array(X, chunks=500)[da.from_array(X[:, 0], chunks=500) > 1],
            r"compute_chunk_sizes\(\) first",
        ),
        (lambda: da.from_array(X[:, 0], chunks=500), "has 1 dimension"),
        (lambda: da.from_array(X[:0], chunks=500), "0 rows"),
        (lambda: da.from_array(np.full((9, 2), "a"), chunks=5), "must be numeric"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": [1.0, 2], "place": ["x", "y"]}), npartitions=1), "'place'"),
        (lambda: _with(1700, 2, np.nan), r"column 'x2' has 1 \(first in row 1700, in chunk 3\)"),
        (lambda: _with(1700, 2, np.inf), r"infinity: column 'x2' has 1 \(first in row 1700, in chunk 3\)"),
        (lambda: _with(3999, 0, -1.0), r"Negative values .* column 'x0' has 1 \(first in row 3999, in chunk 7\)"),
    ],
)
def test_what_is_wrong_is_named(make, match):
    with pytest.raises(ValueError, match=match):
        rs.RobustGraph("sqrt").fit(make())


def _filtered():
    array = da.from_array(X, chunks=(500, 6))
    return array[array[:, 0] > 1]


def _with(row, column, value):
    bad = X.copy()
    bad[row, column] = value
    return da.from_array(bad, chunks=(500, 6))


def test_other_collections_are_refused():
    bag = pytest.importorskip("dask.bag")
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    for collection in (bag.from_sequence([1, 2, 3]), dask.delayed(X), frame[0]):
        with pytest.raises(TypeError, match="use an array or a data frame"):
            rs.RobustGraph("sqrt").fit(collection)
    for names, match in ((list("abcdea"), "must be unique"), ([*"abcde", 6], "strings and some are not")):
        with pytest.raises(ValueError, match=match):
            rs.RobustGraph("sqrt").fit(frame.rename(columns=dict(enumerate(names))))


def test_empty_chunks_do_not_matter():
    held = rs.RobustGraph("sqrt", n_blocks=30, **OPTIONS).fit(X)
    check(rs.RobustGraph("sqrt", n_blocks=30, **OPTIONS).fit(da.from_array(X, chunks=((0, 1000, 0, 3000, 0), 6))), held)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(part=np.arange(4000) // 1000)
    some = dd.from_pandas(frame, npartitions=4)
    some = some[some.part != 2][list("abcdef")]
    held = rs.RobustGraph("sqrt", n_blocks=30, **OPTIONS).fit(np.delete(X, np.s_[2000:3000], axis=0))
    check(rs.RobustGraph("sqrt", n_blocks=30, **OPTIONS).fit(some), held)


def test_truth_values_beside_numbers_are_numbers():
    z = np.random.default_rng(0).normal(size=(200, 2))
    frame = pd.DataFrame({"x": z[:, 0], "yes": z.sum(axis=1) > 0, "count": np.arange(200) % 7})
    model = rs.RobustGraph("copula", n_blocks=1, alphas=5).fit(dd.from_pandas(frame, npartitions=2))
    held = rs.RobustGraph("copula", n_blocks=1, alphas=5).fit(frame)
    np.testing.assert_array_equal(model.association_, held.association_)
    assert model.kinds_["yes"] == "two values"


@pytest.mark.parametrize("kind", ["Float64", "float64[pyarrow]", "float32"])
def test_any_kind_of_numbers_in_data_frames(kind):
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcdef")).astype(kind)
    frame.iloc[7, 2] = None
    held = rs.RobustGraph("sqrt", n_blocks=30, missing="drop", **OPTIONS).fit(frame)
    check(
        rs.RobustGraph("sqrt", n_blocks=30, missing="drop", **OPTIONS).fit(dd.from_pandas(frame, npartitions=3)), held
    )
    assert held.n_rows_used_ == 3999


def test_what_is_made_of_remote_rows_is_remote():
    rows = DaskRows(da.from_array(X, chunks=(900, 6)))
    assert rows.mapped(np.sqrt).is_remote
    assert rows.selected(np.arange(50)).mapped(np.sqrt).selected(np.arange(5)).is_remote
    assert rs.RobustGraph("sqrt", n_blocks=20).fit(da.from_array(X, chunks=(900, 6))).fitted_.prepared.rows.is_remote


def test_sums_leave_what_they_add_as_it_is():
    first, second = np.ones(3), np.ones(3)
    assert _merged(first, second).tolist() == [2, 2, 2]
    assert first.tolist() == second.tolist() == [1, 1, 1]


def test_missing_rows_can_be_dropped():
    incomplete = X.copy()
    incomplete[[5, 900, 3999], 1] = np.nan
    held = rs.RobustGraph("sqrt", n_blocks=30, missing="drop", **OPTIONS).fit(incomplete)
    found = rs.RobustGraph("sqrt", n_blocks=30, missing="drop", **OPTIONS).fit(
        da.from_array(incomplete, chunks=(700, 6))
    )
    check(found, held)
    assert found.n_rows_used_ == 3997
    np.testing.assert_allclose(found.row_losses(da.from_array(X, chunks=(700, 6))), held.row_losses(X), rtol=1e-6)


def test_a_cluster_gives_the_fit_in_memory(cluster):
    held = rs.RobustGraph("sqrt", contamination=0.05, **OPTIONS).fit(X)
    check(rs.RobustGraph("sqrt", contamination=0.05, **OPTIONS).fit(da.from_array(X, chunks=(900, 6))), held)


def test_a_lost_worker_costs_time_and_not_the_result(cluster):
    held = rs.RobustGraph("sqrt", contamination=0.05, **OPTIONS).fit(X)
    passes = []
    original = DaskRows._computed

    def computed(self, tasks):
        passes.append(len(tasks))
        if len(passes) == 8:
            process = next(iter(cluster.run(os.getpid).values()))
            threading.Timer(0.02, os.kill, (process, signal.SIGKILL)).start()  # while the next pass is under way
        return original(self, tasks)

    array = da.from_array(X, chunks=(900, 6)).persist()  # half of it is lost too
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DaskRows, "_computed", computed)
        found = rs.RobustGraph("sqrt", contamination=0.05, **OPTIONS).fit(array)
    assert len(passes) > 12
    check(found, held)


def test_a_cluster_that_cannot_do_it_is_told_so(cluster):
    large = da.zeros((8_000_000, 6), chunks=(8_000_000, 6))
    with pytest.raises(ValueError, match=r"Chunk 0 of X has 8000000 rows and takes 384 MB, too much for workers"):
        rs.RobustGraph("sqrt").fit(large)


FRAME = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=3)


@pytest.mark.parametrize("collection", [da.from_array(X, chunks=900), FRAME], ids=["array", "data frame"])
def test_a_cluster_without_workers_is_told_so(collection):
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty),
        pytest.raises(ValueError, match="has no workers"),
    ):
        rs.RobustGraph("sqrt").fit(collection)


@pytest.mark.parametrize("collection", [da.from_array(X, chunks=900), FRAME], ids=["array", "data frame"])
def test_workers_with_too_little_memory_are_told_how_much_is_needed(collection):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, memory_limit="250MB", dashboard_address=":0"
        ) as small,
        distributed.Client(small),
        pytest.raises(ValueError, match=r"have 250 MB of memory each.*at least 300 MB are needed"),
    ):
        rs.RobustGraph("sqrt").fit(collection)


def killed(*_):
    raise distributed.scheduler.KilledWorker("task", None, 3)


def cancelled(*_):
    raise getattr(distributed.client, "FutureCancelledError", CancelledError)("task", "lost")


def test_workers_that_die_are_explained(monkeypatch):
    rows = DaskRows(da.from_array(X, chunks=(900, 6)))
    monkeypatch.setattr("robscore.rows.dask_cluster.client_of", lambda _: None)
    monkeypatch.setattr("dask.compute", killed)
    with pytest.raises(MemoryError, match=r"ran out of memory \(KilledWorker\). Chunks of X have up to 900 rows"):
        rows.gather(np.asarray)
    with pytest.raises(MemoryError, match=r"\(KilledWorker\). Parts of the data frame do not fit"):
        rs.RobustGraph("sqrt").fit(FRAME)


def test_rows_that_are_gone_are_explained(monkeypatch):
    rows = DaskRows(da.from_array(X, chunks=(900, 6)))
    monkeypatch.setattr("robscore.rows.dask_cluster.client_of", lambda _: None)
    monkeypatch.setattr("dask.compute", cancelled)
    with pytest.raises(ValueError, match="no longer where they were"):
        rows.gather(np.asarray)
    with pytest.raises(ValueError, match="no longer where they were"):
        rs.RobustGraph("sqrt").fit(FRAME)


def test_partitions_are_counted_in_the_same_guard():
    """A partition that kills its worker: the raw error of Dask used to come through."""
    deadly = FRAME.map_partitions(_dies, meta=FRAME._meta)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "120s"}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0", silence_logs=50
        ) as doomed,
        distributed.Client(doomed),
        pytest.raises(MemoryError, match="KilledWorker"),
    ):
        rs.RobustGraph("sqrt").fit(deadly)


def _dies(part):
    if len(part) > 10:  # not for the guess of its columns
        os._exit(1)
    return part


def graph_of(**settings):
    model = rs.RobustGraph("sqrt", contamination=0.05, alphas=6, random_state=0, **settings).fit(X[:300])
    return model.interaction_, model.criteria_


@pytest.mark.parametrize("settings", [{"select": ("cv", "stars")}, {"rule": "and"}], ids=str)
def test_joblib_on_dask_gives_the_same_bits(cluster, settings):
    alone, criteria = graph_of(n_jobs=1, **settings)
    for backend in ("dask", "loky", "threading"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            found, others = graph_of(**settings)
        np.testing.assert_array_equal(found, alone)
        for name, values in criteria.items():
            np.testing.assert_array_equal(others[name], values)


def test_repetitions_run_on_dask(cluster):
    cluster.wait_for_workers(2, timeout=600)
    with joblib.parallel_config(backend="dask"):
        outcomes = dict(repetitions.run_all(_where, [(k, k) for k in range(4)], None))
    assert {value for value, _ in outcomes.values()} == {0, 1, 4, 9}
    assert os.getpid() not in {process for _, process in outcomes.values()}


def _where(k):
    return k * k, os.getpid()


@pytest.mark.parametrize("memory", ["1 GB", pytest.param("1 MB", marks=pytest.mark.long)])
def test_missing_cells_are_filled_in(memory):
    """Gathered where they fit in memory; else drawn where the rows are, whenever these are read."""
    incomplete = rain(800 if memory == "1 GB" else 7000)
    incomplete = np.where(np.random.default_rng(0).random(incomplete.shape) < 0.05, np.nan, incomplete)
    model = rs.RobustGraph("gamma", missing="impute", n_blocks=1 if memory == "1 GB" else None, alphas=10)
    model.set_params(max_memory=memory)
    held = model.fit(incomplete).interaction_
    with dask.config.set(scheduler="synchronous"):
        found = model.fit(da.from_array(incomplete, chunks=(300, 6)))
    np.testing.assert_allclose(found.interaction_, held, rtol=1e-7, atol=1e-9)
    assert (found.sampled_ is not None) == (memory == "1 MB")
