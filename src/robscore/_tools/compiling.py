"""Compiling with numba, with a cache on disk where possible.

This is the one place that imports numba. Where it cannot be had (in a browser, on PyPy), every function that would be
compiled runs as the plain Python function that it is: with the same answers, and many times slower.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from hashlib import sha256
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def _numba() -> Any:
    """Return numba's decorator; None, with a warning, where there is no numba or it is too old for this NumPy."""
    try:
        from numba import njit
    except ImportError as error:
        message = f"numba cannot be imported, so fits run in plain Python and take many times longer: {error}"
        warnings.warn(message, UserWarning, stacklevel=2)
        return None
    return njit


njit = _numba()
COMPILES = njit is not None


def compiled(function: F, *, reassociate: bool = False) -> F:
    """Compile a function; without a cache on disk where neither the package nor the home folder can be written to.

    With ``reassociate`` sums may be added up in any order, several terms at a time.
    """
    fast: Any
    if njit is None:
        # NumPy would warn of numbers that overflow on the way, which compiled code does not.
        fast = np.errstate(all="ignore")(function)
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


def compiled_with(template: Any, /, **parts: Any) -> Callable[..., Any]:
    """Compile a copy of a function in which some names mean the small functions given, compiled in place.

    The copy is kept on disk where its parts read nothing but their arguments. Its name there says what their code is,
    because numba looks for changes in the template's file only.
    """
    code = repr([(name, _code_of(part)) for name, part in sorted(parts.items())])
    name = f"{template.__name__}_{sha256(code.encode()).hexdigest()[:16]}"
    meaning = {name: compiled_in_place(part) for name, part in parts.items()}
    copy = FunctionType(template.__code__, {**template.__globals__, **meaning}, name, template.__defaults__)
    copy.__qualname__ = name
    if njit is None or all(_reads_only_arguments(part) for part in parts.values()):
        return compiled(copy)
    return njit(copy, nogil=True)


def _code_of(function: Any) -> tuple[Any, ...]:
    """Return what makes two functions do the same: instructions, constants, names and defaults."""
    code = function.__code__
    return code.co_code, code.co_consts, code.co_names, code.co_varnames, function.__defaults__


def _reads_only_arguments(function: Any) -> bool:
    """Return whether a function reads neither globals nor variables of a function around it."""
    return function.__closure__ is None and not set(function.__code__.co_names) & set(function.__globals__)
