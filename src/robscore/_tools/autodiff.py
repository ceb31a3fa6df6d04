"""First and second derivatives of a function of one row, by JAX in double precision or as a user gives them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from robscore._tools.optional import require
from robscore._tools.typing import Array

Function: TypeAlias = Callable[..., Any]
_NUMBERS_AT_ONCE = 2**18  # guards memory only: rows are differentiated in pieces of about so many numbers


def double_precision() -> AbstractContextManager[None]:
    """Return a context in which functions written with ``jax.numpy`` compute in double precision."""
    if "jax" not in sys.modules:
        return nullcontext()
    import jax

    return jax.enable_x64(True)  # noqa: FBT003


def have_jax() -> bool:
    """Return whether JAX is installed."""
    return importlib.util.find_spec("jax") is not None


def derivatives_along_columns(
    function: Function, X: Array, name: str, *, columns: slice = slice(None)
) -> tuple[Array, Array]:
    """Return first and second derivatives of function(x) in (some) columns of x, each of shape (n, columns, ...).

    Parameters
    ----------
    function : callable
        One row, shape (m,), to an array; written with ``jax.numpy``.
    X : array of shape (n, m)
    name : for messages
    columns : slice, default all
    """
    require("jax")
    import jax

    directions = np.eye(X.shape[1])[columns]
    size = min(len(X), max(1024, _NUMBERS_AT_ONCE // max(directions.size, 1)))
    parts = []
    try:
        with double_precision():
            both = _compiled(function)
            for start in range(0, len(X), size):
                some = X[start : start + size]
                # Another number of rows would be compiled anew.
                padded = np.concatenate([some, np.repeat(some[-1:], size - len(some), axis=0)])
                parts.append([np.asarray(part)[: len(some)] for part in both(padded, directions)])
    except (TypeError, jax.errors.JAXTypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"JAX cannot differentiate {name} ({reason}). Write it with jax.numpy instead of numpy, so that it gives "
            "real numbers, or give its derivatives by hand."
        ) from None
    first, second = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return first, second


@lru_cache(maxsize=64)
def _compiled(function: Function) -> Function:
    """Compile the first two derivatives along given directions, for all rows at once."""
    import jax
    import jax.numpy as jnp

    def real(x: Any) -> Any:
        values = jnp.asarray(function(x))
        if jnp.iscomplexobj(values):
            raise TypeError("it gives complex numbers")
        return values.astype(float)

    def along(x: Any, direction: Any) -> Any:
        def slope(y: Any) -> Any:
            return jax.jvp(real, (y,), (direction,))[1]

        return jax.jvp(slope, (x,), (direction,))

    return jax.jit(jax.vmap(jax.vmap(along, in_axes=(None, 0)), in_axes=(0, None)))


def check_derivative(function: Function, at: float, claimed: Array, room: float, what: str) -> None:
    """Raise where a derivative given by hand is not that of a function of one number.

    Differences at several steps are tried; the derivative is wrong only if all of them disagree.

    Parameters
    ----------
    function : callable
        A number to an array of shape (r,).
    at : float
    claimed : array of shape (r,)
    room : float
        How far ``at`` may move before the function is no longer defined.
    what : for messages
    """
    wrong = np.ones(claimed.shape, dtype=bool)
    slopes = claimed
    for relative in (1e-4, 1e-6, 1e-8):
        step = min(relative * max(abs(at), 1.0), 1e-2 * room)
        with double_precision(), np.errstate(all="ignore"):
            up, down = (np.asarray(function(at + sign * step), dtype=float) for sign in (1.0, -1.0))
        if up.shape != claimed.shape:
            return  # the family checks shapes itself, and says more about them
        with np.errstate(all="ignore"):
            slopes = (up - down) / (2 * step)
            rounding = 20 * np.finfo(float).eps * np.maximum(np.abs(up), np.abs(down)) / step
            size = np.maximum(np.abs(slopes), np.abs(claimed))
            wrong &= np.abs(slopes - claimed) > 1e-3 * size + rounding + 1e-9
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(
            f"The derivatives given by hand are wrong: {what}{f', statistic {k}' if claimed.size > 1 else ''}, at "
            f"x = {at:.6g} they give {claimed[k]:.6g}, finite differences give {slopes[k]:.6g}."
        )
