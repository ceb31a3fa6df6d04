"""First and second derivatives of a function of one row, by JAX in double precision or as a user gives them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import numpy as np

from robscore._optional import require
from robscore._typing import Array

Function: TypeAlias = Callable[..., Any]
_ROWS_AT_ONCE = 4096


def double_precision() -> AbstractContextManager[None]:
    """Where functions written with ``jax.numpy`` compute in double precision."""
    if "jax" not in sys.modules:
        return nullcontext()
    import jax

    return jax.enable_x64(True)  # noqa: FBT003


def have_jax() -> bool:
    """Whether JAX is installed."""
    return importlib.util.find_spec("jax") is not None


def derivatives_along_columns(function: Function, X: Array, name: str) -> tuple[Array, Array]:
    """First and second derivatives of function(x) in every column of x, each of shape (n, m, ...).

    Parameters
    ----------
    function : callable
        One row, shape (m,), to an array; written with ``jax.numpy``.
    X : array of shape (n, m)
    name : for messages
    """
    require("jax")
    import jax

    def along(x: Any, direction: Any) -> Any:
        def slope(y: Any) -> Any:
            return jax.jvp(function, (y,), (direction,))[1]

        return jax.jvp(slope, (x,), (direction,))

    try:
        with double_precision():
            both = jax.jit(jax.vmap(jax.vmap(along, in_axes=(None, 0)), in_axes=(0, None)))
            directions = np.eye(X.shape[1])
            parts = [both(X[i : i + _ROWS_AT_ONCE], directions) for i in range(0, len(X), _ROWS_AT_ONCE)]
            first, second = (np.concatenate([np.asarray(part[k]) for part in parts]) for k in (0, 1))
    except (TypeError, jax.errors.JAXTypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"JAX cannot differentiate {name} ({reason}). Write it with jax.numpy instead of numpy, or give its "
            "derivatives by hand."
        ) from None
    return first, second
