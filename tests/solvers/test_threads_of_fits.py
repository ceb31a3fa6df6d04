"""Fits at the same time leave the threads of linear algebra as they found them."""

import threading
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import robscore as rs
from robscore._tools.threads import _elsewhere
from robscore.losses import FactoredLoss


@pytest.fixture(autouse=True)
def _two_threads():
    limit = _elsewhere(partial(threadpool_limits, 2))
    yield
    _elsewhere(limit.restore_original_limits)


def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


class WaitingLoss(FactoredLoss):
    """Says when the first block is asked for, and then waits, so that two fits are sure to overlap there."""

    def block(self, node, rows, columns):
        self.begun.set()
        assert self.until.wait(60)
        return super().block(node, rows, columns)


def waiting(loss, begun, until):
    copy = WaitingLoss(loss.u, loss.a, loss.b, loss.s, loss.g)
    copy.begun, copy.until = begun, until
    return copy


def test_two_matrix_free_fits_at_once_give_all_threads_back():
    X = np.random.default_rng(0).gamma(2.0, size=(60, 160))
    loss = rs.score_elements("sqrt", X / np.median(X, axis=0)).average()
    assert isinstance(loss, FactoredLoss)
    alone = rs.solve_path(loss, 3, alpha_min_ratio=0.8)
    before, found = blas(), []
    assert max(before) == 2
    first_is_in, second_is_in, first_is_done = (threading.Event() for _ in range(3))

    def first():
        found.append(rs.solve_path(waiting(loss, first_is_in, second_is_in), 3, alpha_min_ratio=0.8))
        first_is_done.set()

    def second():  # begins later, when one thread is left, and ends later: it used to leave that one behind
        assert first_is_in.wait(60)
        found.append(rs.solve_path(waiting(loss, second_is_in, first_is_done), 3, alpha_min_ratio=0.8))

    threads = [threading.Thread(target=fit) for fit in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas() == before
    assert alone.n_edges[-1] > 0
    for path in found:
        np.testing.assert_allclose(path.interactions, alone.interactions, atol=1e-8)
    assert len(found) == 2
