"""Threads of linear algebra are given back, whoever took them."""

import threading
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import robscore as rs
from robscore._tools import repetitions
from robscore._tools.threads import _elsewhere, allowed_threads, in_threads, on_one_thread, one_thread


@pytest.fixture(autouse=True)
def _two_threads():
    """Linear algebra on two threads to begin with, whatever it is where the tests run."""
    limit = _elsewhere(partial(threadpool_limits, 2))
    yield
    _elsewhere(limit.restore_original_limits)


def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_results_come_in_order_and_errors_come_through():
    assert list(in_threads(lambda k: k * k, range(50))) == [k * k for k in range(50)]
    before = blas()
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda k: 1 / (5 - k), range(10)))
    abandoned = in_threads(abs, range(100))
    next(abandoned)
    abandoned.close()
    assert blas() == before


def test_one_thread_inside_and_as_before_outside():
    before = blas()
    with one_thread(), one_thread():
        assert set(blas()) == {1}
        assert allowed_threads() == 1
        assert on_one_thread(blas) == blas()
    assert blas() == before


def test_threads_that_overlap_share_the_limit():
    before = blas()
    first_is_in, second_is_in = threading.Event(), threading.Event()

    def first():
        with one_thread():
            first_is_in.set()
            second_is_in.wait()

    def second():
        first_is_in.wait()
        with one_thread():
            second_is_in.set()
            thread.join()  # the first leaves before
            assert set(blas()) == {1}

    thread, other = threading.Thread(target=first), threading.Thread(target=second)
    thread.start()
    other.start()
    other.join()
    assert blas() == before


def test_tasks_on_threads_leave_filters_and_limits_as_they_were():
    before, filters = blas(), list(warnings.filters)
    with joblib.parallel_config(backend="threading"):
        outcomes = dict(repetitions.run_all(_warns, [(k, k) for k in range(8)], 2))
    assert outcomes == {k: {1} for k in range(8)}
    assert blas() == before
    assert warnings.filters == filters


def _warns(k):
    warnings.warn("many fits would say the same", UserWarning, stacklevel=1)
    return set(blas())


def test_the_same_bits_with_one_thread_and_with_all():
    X = np.random.default_rng(0).gamma(1.0, size=(20_000, 12))
    elements = rs.score_elements("sqrt", X)
    found = rs.robust_weights(elements, 4000, way="streamed")
    with threadpool_limits(1):
        alone = rs.robust_weights(elements, 4000, way="streamed")
    for left, right in zip(found, alone, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-15)


def test_libraries_whose_limits_belong_to_threads_are_limited_by_one_that_is_gone(monkeypatch):
    from robscore._tools import threads

    before, libraries = blas(), threads._libraries(0)[0]
    monkeypatch.setattr(threads, "_libraries", lambda n_modules: (libraries, False))
    with one_thread():
        assert set(blas()) == {1}
    assert blas() == before
