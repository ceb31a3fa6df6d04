"""Whether code that was moved still gives the same bits: some ninety cases, recorded before and compared after.

``python -m benchmarks.same_bits record FILE [CASE ...]`` writes what every case gives: a SHA-256 of the bytes of every
array, table and text, and a few of its numbers. ``python -m benchmarks.same_bits compare FILE [CASE ...]`` runs the
cases again and says what differs. Everything is run on one thread, on data that are drawn with NumPy alone, through
public names only. Bits are equal on one machine with one set of libraries; elsewhere, record anew.
"""

import os
from collections.abc import Callable
from typing import Any

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
os.environ.update(ONE_THREAD)  # read when NumPy is loaded

KEPT = 48  # numbers of an array, and lines of a text, that are written for reading

Fields = dict[str, Any]
CASES: dict[str, Callable[[], Fields]] = {}
