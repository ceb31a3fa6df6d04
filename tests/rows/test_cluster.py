"""Clusters that lose what they need: an error that says so, and never a wait without end."""

import threading
import time

import numpy as np
import pytest

import robscore as rs

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from robscore.rows import dask_cluster as watching  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

X = np.random.default_rng(0).gamma(2.0, size=(600, 3))


def slow(block):
    time.sleep(0.5)
    return block


@pytest.fixture(scope="module")
def lasting():
    yield from clusters()


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(watching, "PATIENCE", 1.0)
    monkeypatch.setattr(watching, "_LOOK", 0.3)
    yield from clusters()


def clusters():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout=5),
    ):
        yield cluster


def rows():
    return da.from_array(X, chunks=(200, 3)).map_blocks(slow, dtype=float)


def test_a_cluster_that_loses_all_workers_is_told_so(cluster):
    threading.Timer(0.3, cluster.scale, (0,)).start()
    with pytest.raises(ValueError, match=r"lost all its workers.*cluster\.scale"):
        watching.compute_watched(distributed.get_client(), [rows().sum()])
    with pytest.raises(ValueError, match="has no workers"):
        rs.RobustGraph("gamma").fit(rows())


def test_workers_that_come_back_are_waited_for(cluster, monkeypatch):
    monkeypatch.setattr(watching, "PATIENCE", 60.0)
    threading.Timer(0.3, cluster.scale, (0,)).start()
    threading.Timer(2.0, cluster.scale, (1,)).start()
    client = distributed.get_client()
    total = watching.compute_watched(client, [rows().sum()])
    assert total[0] == pytest.approx(X.sum())


def test_a_scheduler_that_is_gone_is_told_so(cluster):
    client = distributed.get_client()
    threading.Timer(0.8, lambda: client.sync(cluster.scheduler.close)).start()
    with pytest.raises((ValueError, MemoryError), match=r"gone|lost"):
        rs.RobustGraph("gamma").fit(rows())


def test_workers_that_are_paused_are_told_what_they_lack(lasting, monkeypatch):
    client = distributed.get_client()
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": {"w": {"status": "paused"}}})
    assert isinstance(watching.trouble_with(client), MemoryError)
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": {"w": {"status": "running"}}})
    assert watching.trouble_with(client) is None


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"robscore": None}, r"has no robscore; install robscore \d"),
        ({"robscore": "0.0.1"}, r"has robscore 0\.0\.1, but .* is used here"),
        ({"numpy": "1.26.4"}, r"has numpy 1\.26\.4"),
        ({"python": "3.9.1.final.0"}, r"has python 3\.9\.1.*Install the same versions"),
    ],
)
def test_a_worker_with_another_version_is_refused(lasting, changed, match, monkeypatch):
    client = distributed.get_client()
    found = client.get_versions(packages=["robscore"])
    for about in found["workers"].values():
        about["packages"].update(changed)
    monkeypatch.setattr(distributed.Client, "get_versions", lambda *_, **__: found)
    with pytest.raises(ValueError, match=match):
        rs.RobustGraph("gamma").fit(rows())


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")  # Dask of 2024 says so
def test_without_a_cluster_dask_computes_as_it_is_set_to(lasting):
    with dask.config.set(scheduler="threads"):
        assert watching.client_of([dask.delayed(int)()]) is None
    assert watching.client_of([dask.delayed(int)()]) is distributed.get_client()
