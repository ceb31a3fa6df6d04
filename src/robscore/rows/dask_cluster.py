"""Rows of a Dask array or data frame: every pass over the rows runs where they are, with the same estimate.

Chunks are cut anew only so far that no block of rows lies in two of them, which moves a few rows between neighbours.
What workers find is added up in a tree; what comes back is small, or one number per row. Nothing is kept on a worker
between passes, so one that is lost costs the time to do its part again. Keep the rows in the workers' memory with
``X = X.persist()`` where they fit: otherwise they are read or computed again in every pass.

Work on a cluster always ends: in results, or in an error that says what the cluster lacks (:func:`compute_watched`).
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from robscore._tools.memory import describe
from robscore._tools.messages import first_few
from robscore._tools.optional import require
from robscore._tools.progress import announce
from robscore._tools.threads import one_thread
from robscore._tools.typing import AnyArray, AnyData, Array, IntArray
from robscore._version import __version__
from robscore.rows.row_source import Rows, Work, added, cut, joined, some_of
from robscore.rows.tables import check_names

# These numbers guard memory, and decide no answer.
_SHARE_OF_WORKER = 0.5  # of a worker's memory that one chunk may take
_SHARE_USED = 0.8  # of a worker's memory that Dask uses before it gives the worker no more work
_COPIES = 3  # of a chunk in a worker that works on it
_PROGRAM = 240e6  # bytes that Python and the libraries take in a worker
PATIENCE = 120.0  # seconds that a cluster may be without a scheduler, or without a worker at work, and still come back
_LOOK = 2.0  # seconds between looks at it


class DaskRows(Rows):
    """The rows of a Dask array of shape (n, m), or of a Dask data frame.

    Parameters
    ----------
    collection : dask.array.Array or dask.dataframe.DataFrame
        Arrays must know their chunk sizes; of a data frame the lengths of the partitions are computed.

    Raises
    ------
    ValueError
        If it is not a matrix of numbers with known chunk sizes, or a chunk does not fit on any worker.
    """

    is_remote = True

    def __init__(self, collection: AnyData) -> None:
        require("dask")
        import dask.array as da

        self.names: list[str] | None = None
        _check_workers()
        array = collection
        if not isinstance(collection, da.Array):
            if type(collection).__name__ != "DataFrame":
                raise TypeError(
                    f"X is a {type(collection).__module__}.{type(collection).__name__}; of Dask's collections, use an "
                    "array or a data frame."
                )
            array = self._array_of(collection)
        if array.ndim != 2:
            raise ValueError(f"X must have shape (rows, columns); the Dask array has {array.ndim} dimension(s).")
        if np.isnan(array.shape[0]) or np.isnan(array.shape[1]):
            raise ValueError(
                "X is a Dask array with unknown chunk sizes; call X.compute_chunk_sizes() first, which counts the rows."
            )
        if 0 in array.shape:
            raise ValueError(f"X has {array.shape[0]} rows and {array.shape[1]} columns; both must be at least 1.")
        if array.dtype.kind not in "fiub":
            raise ValueError(f"X must be numeric; the Dask array is of type {array.dtype}.")
        self.n_rows, self.n_columns = (int(size) for size in array.shape)
        filled = tuple(size for size in array.chunks[0] if size)  # partitions may be empty
        self.array = array.rechunk((filled, -1))
        self.ends: list[int] = np.cumsum(filled).tolist()
        self._check_chunks()

    def _array_of(self, frame: AnyData) -> Any:
        """Return a data frame as an array; raise unless its columns are numbers."""
        self.names = check_names(list(frame.columns))
        wrong = [f"{str(name)!r} ({kind})" for name, kind in frame.dtypes.items() if kind.kind not in "fiub"]
        if wrong:
            raise ValueError(f"Columns that are not numeric: {first_few(wrong)}; drop or convert them.")
        # Types of pandas with missing values have no array, and truth values beside numbers one of objects.
        if not all(isinstance(kind, np.dtype) and kind.kind != "b" for kind in frame.dtypes):
            frame = frame.map_partitions(_as_floats, meta=_as_floats(frame._meta))
        (lengths,) = _computed([frame.map_partitions(len)], "Parts of the data frame do not fit into their memory.")
        return frame.to_dask_array(lengths=tuple(int(length) for length in lengths))

    def _check_chunks(self) -> None:
        """Raise where a chunk does not fit on any worker."""
        limits = _memory_limits()
        if not limits:
            return
        sizes = np.diff(self.ends, prepend=0)
        largest = int(np.argmax(sizes))
        chunk = 8.0 * _COPIES * int(sizes[largest]) * self.n_columns
        most = min(_SHARE_OF_WORKER * max(limits), _SHARE_USED * max(limits) - _PROGRAM)
        if chunk > most:
            rows = max(1, int(sizes[largest] * most / chunk / 2))
            needed = max(chunk / _SHARE_OF_WORKER, (chunk + _PROGRAM) / _SHARE_USED)
            raise ValueError(
                f"Chunk {largest} of X has {sizes[largest]} rows and takes {chunk / _COPIES / 1e6:.0f} MB, too much "
                f"for workers with {max(limits) / 1e6:.0f} MB of memory; use smaller chunks, for example "
                f"X.rechunk(({rows}, -1)), or workers with at least {describe(needed)} each."
            )

    def __repr__(self) -> str:
        return f"DaskRows({len(self.ends)} chunks, {self.n_rows} rows, {self.n_columns} columns)"

    def place(self, row: int) -> str:
        """Describe a row, and its chunk."""
        return f"row {row}, in chunk {bisect_right(self.ends, row)}"

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Bring pieces here one by one."""
        for low, high in pairwise(bounds.tolist()):
            yield np.asarray(self._computed([self.array[low:high]])[0], dtype=float)

    def each(
        self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Work on the pieces where they are, and bring the results here."""
        bounds, tasks = self._tasks(partial(_each, work), along, length, starts)
        for low, results in zip(bounds, self._computed(tasks), strict=True):
            for first, result in results:
                yield low + first, result

    def total(
        self,
        work: Work,
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
        onto: Any = None,
    ) -> Any:
        """Add up the results in a tree where the rows are, and bring the sum here."""
        from dask import delayed

        _, tasks = self._tasks(partial(_total, work), along, length, starts)
        plus = delayed(_merged, pure=False)
        while len(tasks) > 1:
            tasks = [plus(*tasks[k : k + 2]) for k in range(0, len(tasks), 2)]
        (result,) = self._computed(tasks)
        return result if onto is None else added(onto, result)

    def _tasks(
        self, work: Callable[..., Any], along: tuple[AnyArray, ...], length: int | None, starts: IntArray | None
    ) -> tuple[list[int], list[Any]]:
        """Return the first rows of the chunks, and a task for each."""
        from dask import delayed

        ends = self._aligned(starts)
        array = self.array.rechunk((tuple(np.diff(ends, prepend=0).tolist()), -1))
        blocks = array.to_delayed().ravel()
        shared = delayed(work, pure=False, traverse=False)
        call = delayed(_call, pure=False)
        lows, tasks = [0, *ends[:-1]], []
        for low, high, block in zip(lows, ends, blocks, strict=True):
            own = None if starts is None else _within(starts, low, high)
            bounds = cut(high - low, length or self.length, own)
            tasks.append(call(shared, block, bounds, *(np.ascontiguousarray(array[low:high]) for array in along)))
        return lows, tasks

    def _aligned(self, starts: IntArray | None) -> list[int]:
        """Return ends of chunks, moved to where blocks start; chunks in which none starts are joined with others."""
        if starts is None:
            return self.ends
        after = np.minimum(np.searchsorted(starts, self.ends[:-1]), len(starts) - 1)
        before = np.maximum(after - 1, 0)
        inner = np.asarray(self.ends[:-1])
        nearest = np.where(inner - starts[before] <= np.abs(starts[after] - inner), starts[before], starts[after])
        return [*(end for end in np.unique(nearest).tolist() if end > 0), self.n_rows]

    def _computed(self, tasks: list[Any]) -> tuple[Any, ...]:
        """Compute the results of the tasks together, wherever Dask is configured to run."""
        largest = max(np.diff(self.ends, prepend=0).tolist())
        size = describe(8.0 * largest * self.n_columns)
        announce("reading rows on the cluster")
        with one_thread():  # Dask has a thread for every core
            return _computed(tasks, f"Chunks of X have up to {largest} rows, {size} each.")

    def take(self, index: IntArray) -> Array:
        """Bring some rows here."""
        order = np.argsort(index, kind="stable")
        result = np.empty((index.size, self.n_columns))
        result[order] = np.asarray(self._computed([self.array[index[order]]])[0], dtype=float)
        return result

    def selected(self, index: IntArray) -> Rows:
        """Select some rows, which stay where they are."""
        if index.size == self.n_rows:
            return self
        some = DaskRows(self.array[index])
        some.names, some.frequency = self.names, some_of(self.frequency, index)
        return some


def _as_floats(frame: AnyData) -> AnyData:
    """Return a data frame of any numbers in double precision, NaN where they are missing."""
    return type(frame)(frame.to_numpy(dtype=float, na_value=np.nan), columns=frame.columns, index=frame.index)


def _computed(tasks: list[Any], sizes: str) -> tuple[Any, ...]:
    """Compute the results of the tasks; raise with an explanation if workers are lost, perhaps because of ``sizes``."""
    from dask import compute

    client = client_of(tasks)
    try:
        return tuple(compute(*tasks)) if client is None else compute_watched(client, tasks)
    except BaseException as error:  # a cancelled future is no Exception
        kind = type(error).__name__
        if isinstance(error, MemoryError) and "paused" in str(error):
            raise
        if kind in ("KilledWorker", "MemoryError", "CommClosedError"):
            raise MemoryError(
                f"The Dask workers were lost or ran out of memory ({kind}). {sizes} Use smaller chunks "
                "(X.rechunk, or X.repartition of a data frame), workers with more memory, or fewer threads per worker."
            ) from error
        if "Cancelled" in kind or str(error).startswith("Missing dependency"):
            raise ValueError(
                f"The rows are no longer where they were: the Dask cluster is gone, or gave up the work ({kind}). "
                "Connect a client to a running cluster, and make X again."
            ) from error
        raise


def _client() -> Any | None:
    """Return the client of a cluster, if there is one."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _memory_limits() -> list[float]:
    """Return bytes of memory of the workers; nothing if there is no cluster, or a worker without a limit."""
    client = _client()
    if client is None:
        return []
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        raise ValueError("The Dask cluster has no workers; start some, for example with cluster.scale(2).")
    limits = [float(worker["memory_limit"] or 0) for worker in workers]
    return limits if all(limits) else []


def _check_workers() -> None:
    """Raise, before any work, if no worker can do it: no workers, or none with enough memory."""
    limits = _memory_limits()
    if (client := _client()) is not None:
        check_versions(client)
    needed = _PROGRAM / _SHARE_USED
    if limits and max(limits) < needed:
        raise ValueError(
            f"The Dask workers have {max(limits) / 1e6:.0f} MB of memory each, hardly more than Python and its "
            f"libraries take; at least {describe(needed)} are needed, and {8 * _COPIES} bytes for every number of the "
            "largest chunk on top of that."
        )


def _within(starts: IntArray, low: int, high: int) -> IntArray:
    """Return the starts between two rows, counted from the first of these."""
    return starts[np.searchsorted(starts, low) : np.searchsorted(starts, high)] - low


def _call(work: Callable[..., Any], block: AnyData, bounds: IntArray, *along: AnyArray) -> Any:
    """Work on a chunk, on the worker that has it."""
    with one_thread():
        return work(np.asarray(block), bounds, *along)


def _pieces(work: Work, block: AnyArray, bounds: IntArray, along: tuple[AnyArray, ...]) -> Iterator[tuple[int, Any]]:
    """Yield the first row of every piece of a chunk, and the result of the work."""
    for low, high in pairwise(bounds.tolist()):
        yield low, work(np.asarray(block[low:high], dtype=float), *(array[low:high] for array in along))


def _each(work: Work, block: AnyArray, bounds: IntArray, *along: AnyArray) -> list[tuple[int, Any]]:
    """Return one result per piece; arrays are joined before they travel."""
    results = list(_pieces(work, block, bounds, along))
    if isinstance(results[0][1], np.ndarray):
        return [(0, joined([result for _, result in results]))]
    return results


def _total(work: Work, block: AnyArray, bounds: IntArray, *along: AnyArray) -> Any:
    return reduce(added, (result for _, result in _pieces(work, block, bounds, along)))


def _merged(first: Any, *others: Any) -> Any:
    """Add up the results of other tasks, which are not changed: they may be needed again."""
    return reduce(added, others, deepcopy(first)) if others else first


def client_of(tasks: list[Any]) -> Any | None:
    """Return the client of the cluster that Dask would run the tasks on; None if it would run them here."""
    try:
        from distributed import Client
    except ImportError:
        return None
    from dask.base import get_scheduler

    client = getattr(get_scheduler(collections=tasks), "__self__", None)
    return client if isinstance(client, Client) else None


def compute_watched(client: Any, tasks: list[Any]) -> tuple[Any, ...]:
    """Compute the results of the tasks; raise if no worker has made progress for too long."""
    from distributed import wait

    futures = client.compute(tasks)
    since: float | None = None
    while True:
        try:
            wait(futures, timeout=_LOOK)
            return tuple(client.gather(futures))
        except TimeoutError:
            trouble = trouble_with(client)
        if trouble is None:
            since = None
            continue
        since = time.monotonic() if since is None else since
        if time.monotonic() - since > PATIENCE:
            _let_go(client, futures)
            raise trouble


def trouble_with(client: Any) -> Exception | None:
    """Return why no worker can work at the moment; None where one may."""
    workers = _workers_of(client)
    if workers is None:
        return ValueError(
            "The Dask cluster is gone: its scheduler no longer answers. Connect a client to a running cluster, make "
            "X again, and fit again."
        )
    if not workers:
        return ValueError(
            "The Dask cluster has lost all its workers, and none has returned; start some, for example with "
            "cluster.scale(2), and fit again."
        )
    if all(worker.get("status") == "paused" for worker in workers.values()):
        return MemoryError(
            "All Dask workers are paused, because their memory is nearly full: use workers with more memory, smaller "
            "chunks, or fewer rows that are kept there by persist()."
        )
    return None


def _workers_of(client: Any) -> dict[str, Any] | None:
    """Return the workers of a cluster by address; None where the scheduler does not answer."""
    answer: list[dict[str, Any]] = []

    def ask() -> None:
        try:
            answer.append(client.scheduler_info(n_workers=-1)["workers"])
        except Exception:  # a lost connection raises errors of many kinds
            return

    if client.status not in ("running", "connecting"):
        return None
    asking = threading.Thread(target=ask, daemon=True)  # a scheduler that hangs never answers
    asking.start()
    asking.join(timeout=5 * _LOOK)
    if not answer or client.status != "running":
        return None
    return answer[0]


def _let_go(client: Any, futures: list[Any]) -> None:
    """Cancel tasks, if the scheduler still runs."""
    if client.status == "running":
        threading.Thread(target=client.cancel, args=(futures,), kwargs={"force": True}, daemon=True).start()


def check_versions(client: Any) -> None:
    """Raise where a worker has no robscore, or another version of it, of Python or of NumPy."""
    import platform

    own = {
        "robscore": __version__, "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__.split(".")[0],
    }  # fmt: skip
    found = client.get_versions(packages=["robscore"])["workers"]
    for address, about in found.items():
        theirs = {name: about["packages"].get(name) for name in own}
        if theirs["robscore"] is None:
            raise ValueError(
                f"The Dask worker {address} has no robscore; install robscore {__version__} where the workers run."
            )
        for name, version in own.items():
            if not f"{theirs[name]}.".startswith(f"{version}."):
                raise ValueError(
                    f"The Dask worker {address} has {name} {theirs[name]}, but {version} is used here: results could "
                    "differ. Install the same versions on all workers."
                )
