"""Compiling with numba, with a cache on disk where possible; and what runs where there is no numba.

This is the one place that imports numba. Where it cannot be had (in a browser, on PyPy), every compiled function is
replaced by the one that is given as ``otherwise``: the same in NumPy, slower, in files whose names end in in_numpy.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _numba() -> Any:
    """Return numba's decorator, or None where numba cannot be used."""
    try:
        from numba import njit
    except ModuleNotFoundError:
        return None
    except ImportError as error:  # it is installed and cannot be used, as when it is too old for this NumPy
        warnings.warn(f"numba cannot be imported, so fits take longer: {error}", UserWarning, stacklevel=2)
        return None
    return njit


njit = _numba()
COMPILES = njit is not None


def compiled(function: F, *, otherwise: Callable[..., Any] | None = None, reassociate: bool = False) -> F:
    """Compile a function; without a cache on disk where neither the package nor the home folder can be written to.

    Without numba it is ``otherwise``, or the function as it is where only compiled ones call it. With ``reassociate``
    sums may be added up in any order, several terms at a time.
    """
    fast: Any
    if njit is None:
        fast = otherwise or function
        return fast
    how: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "nsz"}} if reassociate else {"nogil": True}
    try:
        fast = njit(function, cache=True, **how)
    except RuntimeError:
        fast = njit(function, **how)
    return fast


def compiled_in_place(function: F) -> F:
    """Compile a small function into those that call it: handing over ten arrays costs more than a short loop."""
    if njit is None:
        return function
    fast: F = njit(function, nogil=True, inline="always")
    return fast


def compiled_with(template: Any, /, *, otherwise: Callable[..., Any], **parts: Any) -> Callable[..., Any]:
    """Compile a copy of a function in which some names mean the small functions given, compiled in place.

    The copy is kept on disk where its parts read nothing but their arguments. Its name there says what their code is,
    because numba looks for changes in the template's file only. Without numba it is ``otherwise``, which takes the
    parts as keyword arguments.
    """
    if njit is None:
        return partial(otherwise, **parts)
    code = repr([(name, _code_of(part)) for name, part in sorted(parts.items())])
    name = f"{template.__name__}_{sha256(code.encode()).hexdigest()[:16]}"
    meaning = {name: compiled_in_place(part) for name, part in parts.items()}
    copy = FunctionType(template.__code__, {**template.__globals__, **meaning}, name, template.__defaults__)
    copy.__qualname__ = name
    if all(_reads_only_arguments(part) for part in parts.values()):
        return compiled(copy)
    return njit(copy, nogil=True)


def _code_of(function: Any) -> tuple[Any, ...]:
    """Return what makes two functions do the same: instructions, constants, names and defaults."""
    code = function.__code__
    return code.co_code, code.co_consts, code.co_names, code.co_varnames, function.__defaults__


def _reads_only_arguments(function: Any) -> bool:
    """Return whether a function reads neither globals nor variables of a function around it."""
    return function.__closure__ is None and not set(function.__code__.co_names) & set(function.__globals__)
