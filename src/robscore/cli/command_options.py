"""What a form asks for, in the options of ``robscore fit``: names and values, as a page sends them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import typer

from robscore._tools.messages import Phrase, RowAt, Setting
from robscore.cli.console import BAD_ARGUMENTS, as_value, stop


class _Option(NamedTuple):
    """Where the value of an option goes, what it is called there, and how it is read."""

    part: str
    name: str
    read: Callable[[str, str], Any]


def _text(option: str, value: str) -> str:
    return value


def _whole(option: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"--{option} {value}: it must be a whole number.") from None


def _number(option: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"--{option} {value}: it must be a number.") from None


def _separator(option: str, value: str) -> str:
    return "\t" if value in ("\\t", "tab") else value


# Options with a value, once; those that may be repeated; and those without a value.
_ONCE = {
    "family": _Option("settings", "family", _text),
    "missing": _Option("settings", "missing", _text),
    "contamination": _Option("settings", "contamination", _number),
    "alpha": _Option("settings", "alpha", _number),
    "select": _Option("settings", "select", _text),
    "edges": _Option("settings", "n_edges", _whole),
    "seed": _Option("settings", "random_state", _whole),
    "id": _Option("reading", "id", _text),
    "sep": _Option("reading", "separator", _separator),
    "decimal": _Option("reading", "decimal", _text),
    "sheet": _Option("reading", "sheet", _text),
    "title": _Option("shown", "title", _text),
    "stability": _Option("shown", "stability", _whole),
}
_REPEATED = ("columns", "exclude", "na", "given", "by")
_FLAGS: dict[str, tuple[str, str, Any]] = {
    "cells": ("settings", "cells", True),
    "shuffle": ("settings", "shuffle", True),
    "no-header": ("reading", "header", False),
    "no-compare": ("shown", "compare", False),
}


@dataclass(frozen=True)
class Asked:
    """What was asked for.

    Attributes
    ----------
    settings : arguments of RobustGraph
    reading : how to read the file, as ReadOptions takes it
    shown : title, whether to compare, and how many halves of the rows to fit
    """

    settings: dict[str, Any]
    reading: dict[str, Any]
    shown: dict[str, Any]


def asked(options: Iterable[tuple[str, str]]) -> Asked:
    """Options and their values, sorted into what they are for.

    Examples
    --------
    >>> made = asked([("family", "sqrt"), ("edges", "45"), ("na", "-999"), ("na", "."), ("no-compare", "")])
    >>> made.settings, made.reading, made.shown
    ({'family': 'sqrt', 'n_edges': 45}, {'na': ('-999', '.')}, {'compare': False})
    """
    parts: dict[str, dict[str, Any]] = {"settings": {}, "reading": {}, "shown": {}}
    for option, value in options:
        if option in _ONCE:
            part, name, read = _ONCE[option]
            parts[part][name] = read(option, value)
        elif option in _FLAGS:
            part, name, fixed = _FLAGS[option]
            parts[part][name] = fixed
        elif option in _REPEATED:
            parts["reading"][option] = (*parts["reading"].get(option, ()), value)
        elif option == "scale":
            parts["settings"] |= scaling(value)
        elif option == "set":
            parts["settings"] |= assigned([value])
        else:
            raise ValueError(f"--{option}: this page has no such option.")
    refuse_unknown(parts["settings"])
    return Asked(**parts)


def command(data: str, options: Iterable[tuple[str, str]]) -> str:
    """What to type for the same fit.

    Examples
    --------
    >>> command("my rain.csv", [("na", "-999"), ("cells", ""), ("given", "sea son")])
    "robscore fit 'my rain.csv' --na=-999 --cells --given 'sea son'"
    """
    words = ["robscore", "fit", f"./{data}" if data.startswith("-") else data]
    for option, value in options:
        if option in _FLAGS:
            words.append(f"--{option}")
        elif value.startswith("-"):
            words.append(f"--{option}={value}")
        else:
            words += [f"--{option}", value]
    return shlex.join(words)


def options_of(sent: Any) -> list[tuple[str, str]]:
    """Options as they were sent; raise where that is something else.

    Examples
    --------
    >>> options_of([["family", "sqrt"]])
    [('family', 'sqrt')]
    """
    if not isinstance(sent, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in sent
    ):
        raise ValueError("options must be pairs of names and values.")
    return [(option, value) for option, value in sent]


# Arguments of the library that have an option of their own, and how it is called.
_OPTIONS = {
    "alpha": "alpha",
    "contamination": "contamination",
    "family": "family",
    "missing": "missing",
    "n_blocks": "n-blocks",
    "n_edges": "edges",
    "n_jobs": "jobs",
    "random_state": "seed",
    "scale": "scale",
    "select": "select",
    # of robscore simulate
    "n_columns": "columns",
    "n_rows": "rows",
    "share": "bad",
}


def in_options(part: Setting | RowAt | Phrase) -> str:
    """One part of a message, worded for the command line.

    Examples
    --------
    >>> in_options(Setting("missing", "drop")), in_options(Setting("max_iter", 100)), in_options(Setting("n_edges"))
    ('--missing drop', '--set max_iter=100', '--edges')
    >>> in_options(RowAt(3, "row 3"))
    'data row 4'
    """
    if isinstance(part, RowAt):
        return f"data row {part.number + 1}"
    if isinstance(part, Phrase):
        return part.plain
    if part.name == "shuffle" and (part.value is True or not part.has_value):
        return "--shuffle"
    if part.name == "cells":
        return "--cells"
    if part.name in _OPTIONS:
        return f"--{_OPTIONS[part.name]}" + (f" {_typed(part.value)}" if part.has_value else "")
    return f"--set {part.name}={_typed(part.value) if part.has_value else '...'}"


def _typed(value: Any) -> str:
    """A value as it is typed after an option."""
    if getattr(value, "ndim", None) == 0:  # a number of NumPy
        value = value.item()
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shlex.quote(value) if value else "''"
    if isinstance(value, Iterable):
        return ",".join(_typed(entry) for entry in value)
    return str(value)


def scaling(scale: str | None) -> dict[str, Any]:
    """The argument that --scale stands for, where "none" is a value of its own."""
    return {} if scale is None else {"scale": None if scale == "none" else scale}


def assigned(assignments: list[str]) -> dict[str, Any]:
    """Arguments from --set NAME=VALUE."""
    arguments = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} must be NAME=VALUE.", param_hint="--set")
        arguments[name.strip()] = as_value(value.strip())
    return arguments


def refuse_unknown(settings: dict[str, Any]) -> None:
    """Stop at an argument that RobustGraph does not have."""
    from robscore.estimators import RobustGraph

    known = sorted(RobustGraph().get_params(deep=False))
    unknown = [name for name in settings if name not in known]
    if unknown:
        stop(f"--set {unknown[0]}: RobustGraph has no such argument; it has {', '.join(known)}.", code=BAD_ARGUMENTS)
