"""Hostile data in any container, and hostile options: what fuzzers draw, and what may come of it."""

from __future__ import annotations

import faulthandler
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzzing import count
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from sklearn.exceptions import ConvergenceWarning

NAMES = ["basel", "bern", "chur", "davos", "engelberg"]
KNOWN = [
    "X", "points", "weights", "column", "Column", "row", "sample", "2D array", "Gamma-hat", "features", "family",
    "t_pair", "quantile", "feature", "array with dim",
]  # fmt: skip
HANGS = 300  # seconds
VALUES = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-310, 1e154, 1e16, 1e-17, 3.0]
POWERS = [-320, -300, -200, -160, -100, -40, -20, -8, -3, 0, 0, 0, 0, 0, 3, 8, 20, 40, 76, 100, 154, 200, 300, 308]


seeds = st.integers(0, 2**64 - 1)


class Dice:
    """All that a case is made of, from one number: drawn evenly, where Hypothesis likes the simplest things best."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def options(self, choices, most=2):
        """A few options that are not the default, most of them sensible: the first three of a list are."""
        names = self.rng.permutation(sorted(choices))[: self.rng.integers(most + 1)]
        return {name: self.pick(choices[name][: self.pick([3, 3, 3, 99])]) for name in map(str, names)}

    def blocks(self):
        """Mostly some: the default, without any, simulates rows and takes longer."""
        return self.pick([None, 1, 3, 5])

    def rarely(self):
        """Once in twenty cases."""
        return self.rng.random() < 0.05

    def container(self):
        return self.pick([*(ORDINARY if self.rng.random() < 0.85 else ODD)])

    def matrix(self, case, most_rows=60):
        """Rows of a case, with none, one or several things the matter with them."""
        n = int(self.rng.integers(1, 20) if self.rng.random() < 0.1 else self.rng.integers(20, most_rows))
        m = self.pick([1, 2, 3, 3, 4])
        with np.errstate(all="ignore"):
            X = np.array(case.draw(self.rng, n, m), dtype=float)
            for _ in range(self.pick([0, 0, 1, 1, 2])):
                self.pick(TROUBLES)(self, self.rng, X)
        return X


def units(dice, rng, X):
    X *= 10.0 ** dice.pick(POWERS)


def units_of_a_column(dice, rng, X):
    X[:, rng.integers(X.shape[1])] *= 10.0 ** dice.pick(POWERS)


def some_cells(dice, rng, X):
    for _ in range(rng.integers(1, 5)):
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = dice.pick(VALUES)


def half_a_column(dice, rng, X):
    X[: rng.integers(1, len(X) + 1), rng.integers(X.shape[1])] = dice.pick(VALUES)


def outliers(dice, rng, X):
    X[rng.random(len(X)) < 0.15] *= 10.0 ** dice.pick([1, 3, 10, 50, 100, 160, 250])


def equal_rows(dice, rng, X):
    X[:] = X[rng.integers(0, max(1, len(X) // dice.pick([2, 5, 30])), size=len(X))]


def equal_columns(dice, rng, X):
    X[:, -1] = X[:, 0] * dice.pick([1.0, 2.0, 1.0 + 1e-12])


def rounded(dice, rng, X):
    X[:] = np.round(X, int(rng.integers(-1, 2)))


def moved(dice, rng, X):
    X += dice.pick([-1.0, 5.0, 1e4, 1e8, 1e14, 1e20, -1e200])


def zeros(dice, rng, X):
    X[rng.random(X.shape) < dice.pick([0.1, 0.5, 0.9, 1.0])] = 0.0


TROUBLES = [
    units, units_of_a_column, some_cells, half_a_column, outliers, equal_rows, equal_columns, rounded, moved, zeros,
]  # fmt: skip


def framed(X):
    return {name: X[:, j] for j, name in enumerate(NAMES[: X.shape[1]])}


def strided(X):
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    return wide[::2, ::3][::-1][::-1]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def objects_with_text(X):
    cells = X.astype(object)
    cells[-1, -1] = "wet"
    return cells


def nullable(X):
    frame = pd.DataFrame(framed(X)).astype("Float64")
    frame.iloc[0, 0] = pd.NA
    return frame


ORDINARY = {
    "array": lambda X: X.copy(),
    "Fortran": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "pandas": lambda X: pd.DataFrame(framed(X)),
    "pandas, odd index": lambda X: pd.DataFrame(framed(X), index=np.arange(len(X))[::-1] // 2),
    "polars": lambda X: pl.DataFrame(framed(X)),
    "pyarrow": lambda X: pa.table(framed(X)),
    "pyarrow batch": lambda X: pa.RecordBatch.from_pydict({k: pa.array(v) for k, v in framed(X).items()}),
    "pandas on pyarrow": lambda X: pd.DataFrame(framed(X)).astype("float64[pyarrow]"),
    "masked without a mask": lambda X: np.ma.array(X),
}
ODD = {
    "integers": lambda X: np.nan_to_num(X, nan=0, posinf=9, neginf=-9).clip(-(2**40), 2**40).astype(np.int64),
    "booleans": lambda X: np.median(X) < X,
    "masked": lambda X: np.ma.masked_where(np.arange(X.size).reshape(X.shape) % 17 == 3, X),
    "masked rows": lambda X: [np.ma.array(row, mask=np.arange(row.size) == 0) for row in X],
    "masked cells": lambda X: [[np.ma.masked, *row[1:]] for row in X.tolist()],
    "complex": lambda X: X + 1j,
    "dates": lambda X: np.arange(X.size).reshape(X.shape).astype("datetime64[h]"),
    "durations": lambda X: np.arange(X.size).reshape(X.shape).astype("timedelta64[s]"),
    "objects that are dates": lambda X: np.full(X.shape, np.timedelta64(3, "s"), dtype=object),
    "text": lambda X: X.astype(str),
    "objects with text": objects_with_text,
    "large integers": lambda X: [[10**400 + k for k in range(X.shape[1])] for _ in X],
    "fields": lambda X: np.zeros(X.shape, dtype=[("a", float), ("b", float)]),
    "sparse": csr_array,
    "sparse, other": lambda X: coo_array(X),
    "nullable": nullable,
    "equal names": lambda X: pd.DataFrame(X, columns=["a"] * X.shape[1]),
    "dates in a frame": lambda X: pd.DataFrame({**framed(X), "day": pd.date_range("2000", periods=len(X))}),
    "complex in a frame": lambda X: pd.DataFrame({**framed(X), "z": X[:, 0] + 1j}),
    "text in a frame": lambda X: pl.DataFrame({**framed(X), "place": ["x"] * len(X)}),
    "dates in a table": lambda X: pa.table({**framed(X), "day": np.arange(len(X)).astype("datetime64[s]")}),
    "lazy": lambda X: pl.LazyFrame(framed(X)),
    "one column": lambda X: X[:, 0],
    "a cube": lambda X: X[None],
    "ragged": lambda X: [*X.tolist(), [1.0] * 9],
    "nothing": lambda X: None,
    "empty": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "numpy matrix": lambda X: X.view(np.recarray),
}


def contained(X, container):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**ORDINARY, **ODD}[container](X)


def frozen(X):
    """What X holds, to compare later."""
    if isinstance(X, pa.Table | pa.RecordBatch | pl.LazyFrame) or X is None:
        return None  # cannot be changed
    if isinstance(X, np.ma.MaskedArray):
        return X.data.tobytes() + np.ma.getmaskarray(X).tobytes()
    if isinstance(X, np.ndarray):
        return X.tobytes()
    if isinstance(X, pd.DataFrame):
        return repr(X.to_numpy().tolist()), list(X.columns)
    return repr(X.to_dict(as_series=False)) if isinstance(X, pl.DataFrame) else repr(X)


@contextmanager
def only_ours(kind, arguments=()):
    """One case: it may end in a ValueError or TypeError that names something, and may warn in our words only."""
    count(kind)
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                yield
            except (ValueError, TypeError) as error:
                check_names_something(error, arguments)
                count(f"{kind}, refused")
    finally:
        faulthandler.cancel_dump_traceback_later()
    for warning in heard:
        text = str(warning.message)
        ours = hasattr(warning.message, "message") or text.startswith("The path ends")
        expected = "feature names" in text  # scikit-learn's, of data with names beside a fit without
        assert ours or expected, warning
        assert issubclass(warning.category, UserWarning | ConvergenceWarning), warning


def check_names_something(error, arguments):
    """An argument, a column, or the data by their name."""
    text = str(error)
    assert any(name in text for name in {*arguments, *NAMES, *KNOWN}), repr(error)
    for foreign in ("NoneType", "unsupported operand", "broadcast", "index", "not callable", "unhashable", "ufunc"):
        assert foreign not in text.replace("index=", ""), repr(error)
    assert len(text) < 2000


def finite(*values):
    for value in values:
        assert np.isfinite(np.asarray(value, dtype=float)).all(), value
