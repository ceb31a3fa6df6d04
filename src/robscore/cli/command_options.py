"""Options of ``robscore fit`` and the arguments they stand for: said once, for the command, the page and messages.

The parameters of :func:`~robscore.cli.fit_command.fit` are called like the arguments that their options stand for
(``--edges`` is declared for ``n_edges``), so that its signature is the only list of both names. From it come the
arguments of a fit (`requested`), the same from the form of the page (`requested_on_page`), and the option to be named
where the library speaks of an argument (`in_options`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer

from robscore._tools.messages import Phrase, RowAt, Setting
from robscore.cli.console import BAD_ARGUMENTS, stop

# What the parameters of `fit` are for: arguments of RobustGraph, of ReadOptions, and of the plan (see FitRequest).
_SETTINGS = (
    *("family", "contamination", "n_blocks", "alpha", "select", "n_edges"),
    *("missing", "cells", "scale", "shuffle", "random_state", "n_jobs"),
)
_READING = ("columns", "exclude", "id", "separator", "decimal", "sheet", "na", "given", "by")
_SHOWN = ("coordinates", "outline", "groups", "title", "stability")
_FILES = ("coordinates", "outline", "groups")
# What a page may ask for. Options that name files are not among them: a page must not read or write any but its own.
_ON_PAGE = frozenset(
    (
        *("family", "missing", "contamination", "alpha", "select", "edges", "seed", "scale", "cells", "shuffle", "set"),
        *("columns", "exclude", "id", "sep", "decimal", "sheet", "na", "given", "by", "no-header"),
        *("title", "stability", "no-compare"),
    )
)


@dataclass(frozen=True)
class FitRequest:
    """What the options of a fit ask for; what was not given is absent.

    Attributes
    ----------
    settings : arguments of RobustGraph
    reading : how to read the file, as ReadOptions takes it
    shown : what else is done with the fit: title, map, comparison, halves of the rows, as Plan takes it
    """

    settings: dict[str, Any]
    reading: dict[str, Any]
    shown: dict[str, Any]


def requested(options: Mapping[str, Any]) -> FitRequest:
    """Sort the options of ``robscore fit``, by the names of its parameters, into what they are for."""
    given = {name: value for name, value in options.items() if not (value is None or value is False)}
    settings = {name: given[name] for name in _SETTINGS if name in given}
    if settings.get("scale") == "none":
        settings["scale"] = None
    if "n_blocks" in settings and settings["n_blocks"] != "auto":
        settings["n_blocks"] = _whole_number(settings["n_blocks"], "--n-blocks")
    if "," in settings.get("select", ""):
        settings["select"] = settings["select"].split(",")
    for assignment in given.get("assignments", ()):
        name, equals, value = assignment.partition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} must be NAME=VALUE.", param_hint="--set")
        settings[name.strip()] = as_value(value.strip())
    reading = {name: given[name] for name in _READING if given.get(name)}
    reading = {name: value if isinstance(value, str) else tuple(value) for name, value in reading.items()}
    if reading.get("separator") in ("\\t", "tab"):
        reading["separator"] = "\t"
    if "no_header" in given:
        reading["header"] = False
    shown = {name: Path(given[name]) if name in _FILES else given[name] for name in _SHOWN if name in given}
    if "no_compare" in given:
        shown["compare"] = False
    return FitRequest(settings, reading, shown)


def requested_on_page(options: Iterable[tuple[str, str]]) -> FitRequest:
    """What a form asks for with these options and values, exactly as if they had been typed.

    Examples
    --------
    >>> made = requested_on_page([("family", "sqrt"), ("edges", "45"), ("na", "-999"), ("na", "."), ("no-compare", "")])
    >>> made.settings, made.reading, made.shown
    ({'family': 'sqrt', 'n_edges': 45}, {'na': ('-999', '.')}, {'compare': False})
    """
    options = list(options)
    for option, _ in options:
        if option not in _ON_PAGE:
            raise ValueError(f"--{option}: this page has no such option.")
    request = requested(_parser("fit").make_context("fit", ["file", *_as_words(options)]).params)
    refuse_unknown(request.settings)
    return request


def command_line(data: str, options: Iterable[tuple[str, str]]) -> str:
    """What to type for the same fit.

    Examples
    --------
    >>> command_line("my rain.csv", [("na", "-999"), ("cells", ""), ("given", "sea son")])
    "robscore fit 'my rain.csv' --na=-999 --cells --given 'sea son'"
    """
    return shlex.join(["robscore", "fit", f"./{data}" if data.startswith("-") else data, *_as_words(options)])


def _as_words(options: Iterable[tuple[str, str]]) -> list[str]:
    """Options and their values as words of a command line; no value can be taken for an option."""
    flags = {param.opts[0] for param in _parser("fit").params if _is_flag(param)}
    words = []
    for option, value in options:
        name = f"--{option}"
        words += [name] if name in flags else [f"{name}={value}"] if value.startswith("-") else [name, value]
    return words


def pairs_in_form(sent: Any) -> list[tuple[str, str]]:
    """Options as a page sent them; raise where that is something else.

    Examples
    --------
    >>> pairs_in_form([["family", "sqrt"]])
    [('family', 'sqrt')]
    """
    if not isinstance(sent, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in sent
    ):
        raise ValueError("options must be pairs of names and values.")
    return [(option, value) for option, value in sent]


def refuse_unknown(settings: Mapping[str, Any]) -> None:
    """Stop at an argument that RobustGraph does not have."""
    from robscore.estimators import RobustGraph

    known = sorted(RobustGraph().get_params(deep=False))
    unknown = [name for name in settings if name not in known]
    if unknown:
        stop(f"--set {unknown[0]}: RobustGraph has no such argument; it has {', '.join(known)}.", code=BAD_ARGUMENTS)


def in_options(part: Setting | RowAt | Phrase) -> str:
    """One part of a message, worded for the command line: arguments are options, and rows count from 1.

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
    every = (param for command in ("fit", "simulate") for param in _parser(command).params)
    param = next((param for param in every if param.name == part.name), None)
    if param is None or (_is_flag(param) and part.has_value and part.value is not True):
        return f"--set {part.name}={_typed(part.value) if part.has_value else '...'}"
    return f"{param.opts[0]} {_typed(part.value)}" if part.has_value and not _is_flag(param) else str(param.opts[0])


@cache
def _parser(command: str) -> Any:
    """The parser that typer makes of a command's signature."""
    from robscore.cli.commands import app

    return typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]


def _is_flag(param: Any) -> bool:
    return bool(getattr(param, "is_flag", False))


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


def as_value(text: str) -> Any:
    """A value of ``--set``: a number, true, false, none, or the text itself."""
    known = {"true": True, "false": False, "none": None}
    if text.lower() in known:
        return known[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _whole_number(value: str, option: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a whole number.", param_hint=option) from None
