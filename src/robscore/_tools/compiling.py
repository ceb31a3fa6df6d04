"""Compiling with numba, with a cache on disk where one can be had."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from types import FunctionType
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function; without a cache where neither the package nor the home folder can be written to."""
    try:
        fast: F = njit(function, cache=True, nogil=True)
    except RuntimeError:
        fast = njit(function, nogil=True)
    return fast


def compiled_in_place(function: F) -> F:
    """Compile a small function into those that call it: handing over ten arrays costs more than a short loop."""
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
    if all(_reads_only_arguments(part) for part in parts.values()):
        return compiled(copy)
    return njit(copy, nogil=True)


def _code_of(function: Any) -> tuple[Any, ...]:
    code = function.__code__
    return code.co_code, code.co_consts, code.co_names, code.co_varnames, function.__defaults__


def _reads_only_arguments(function: Any) -> bool:
    return function.__closure__ is None and not set(function.__code__.co_names) & set(function.__globals__)
