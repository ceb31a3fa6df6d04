"""Options of ``robscore fit`` and the arguments they stand for, once for the command, the page and messages.

From the one table of options come the signature of the command (`with_options`), the arguments of a fit (`requested`),
the same from the form of the page (`requested_on_page`), and the option to name where the library speaks of an
argument (`in_options`).
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from robscore._tools.messages import Phrase, RowAt, Setting
from robscore.cli.console import BAD_ARGUMENTS, stop


def _as_given(value: Any) -> Any:
    return value


def _n_blocks(value: str) -> int | str:
    if value == "auto":
        return value
    try:
        return int(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a whole number.", param_hint="--n-blocks") from None


def _kinds(assignments: list[str]) -> dict[str, str]:
    kinds = {}
    for assignment in assignments:
        name, equals, kind = assignment.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} must be NAME=KIND.", param_hint="--column-kind")
        kinds[name.strip()] = kind.strip()
    return kinds


def _limits(assignments: list[str]) -> dict[str, float]:
    limits = {}
    for assignment in assignments:
        name, equals, number = assignment.rpartition("=")
        try:
            limits[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(f"{assignment!r} must be NAME=NUMBER.", param_hint="--limit")
    return limits


class Option(NamedTuple):
    """An option, and what it stands for.

    Attributes
    ----------
    argument : its name as an argument of RobustGraph ("settings"), of ReadOptions ("reading") or of Plan ("shown")
    names : as they are typed, the one to be shown first
    help : what the help says of it
    kind : the type of its value; bool for an option without one
    metavar : what the help calls its value, where that is not as for others of its kind
    panel : where the help shows it
    part : "settings", "reading" or "shown"; empty for options of the command itself
    read : how its value becomes that of the argument
    least : the least value, or None
    """

    argument: str
    names: str
    help: str
    kind: Any = str
    metavar: str | None = None
    panel: str | None = None
    part: str = ""
    read: Callable[[Any], Any] = _as_given
    least: int | None = None


_METAVARS = {str: "NAME", list[str]: "NAME", int: "NUMBER", float: "NUMBER", Path: "FILE", bool: ""}
_SEPARATORS, _NO_SCALE = {"\\t": "\t", "tab": "\t"}, {"none": None}
_command = partial(Option, panel="Results")
_shown = partial(Option, panel="Results", part="shown")
_reading = partial(Option, panel="Reading the file", part="reading")
_several = partial(_reading, kind=list[str], read=tuple)
_graph = partial(Option, panel="The graph", part="settings")

OPTIONS = (
    _command(
        "out", "--out -o", "Folder for the results. [default: robscore-NAME, or where model.json is]", Path, "FOLDER"
    ),
    _command("force", "--force", "Replace files that robscore did not write.", bool),
    _command("quiet", "--quiet -q", "Print errors only.", bool),
    _command("as_json", "--json", "Print one summary as JSON instead of sentences.", bool),
    _shown("title", "--title", "Title of the report.", metavar="TEXT"),
    _shown("groups", "--groups", "File with name, group: colours the variables by their group.", Path),
    _shown("coordinates", "--coords", "File with name, latitude, longitude: draws a map.", Path),
    _shown("outline", "--outline", "File with latitude, longitude: lines under the map.", Path),
    _shown(
        *("stability", "--stability"),
        "Also fit this many random halves of the rows, to see how often each edge recurs.",
        int,
        least=2,
    ),
    _shown("compare", "--no-compare", "Skip the classic fit for comparison.", bool, read=lambda given: not given),
    _several("columns", "--columns -c", "Columns to take: a name or pattern such as 'rain_*'; may be repeated."),
    _several("exclude", "--exclude -x", "Columns to leave out: a name or pattern; may be repeated."),
    _reading("id", "--id", "Column that labels the rows: a date or an id."),
    _graph(
        *("missing", "--missing"),
        "Incomplete rows: raise, drop, or impute (fill in). [default: raise]",
        Literal["raise", "drop", "impute"],
        panel="Reading the file",
    ),
    _graph("cells", "--cells", "Look for single wrong cells too; they are listed in cells.csv.", bool),
    _several(
        "na",
        "--na",
        "Another text that means missing: -999, or in one column depth=-999; may be repeated.",
        metavar="TEXT",
    ),
    _reading(
        *("limits", "--limit"),
        "Limit of detection: cells such as n.d. of that column lie below it; '<0.05' needs none; may be repeated.",
        list[str],
        metavar="NAME=NUMBER",
        read=_limits,
    ),
    _several(
        *("given", "--given"),
        "Covariate that shifts the columns but is not in the graph: season, batch; may be repeated.",
    ),
    _several("by", "--by", "A column that changes the graph: groups, or numbers; may be repeated."),
    _reading(
        *("separator", "--sep", "Column separator; detected by default."),
        metavar="SIGN",
        read=lambda sign: _SEPARATORS.get(sign, sign),
    ),
    _reading("decimal", "--decimal", "Decimal separator; detected by default.", Literal[".", ","]),
    _reading("header", "--no-header", "The first line holds data, not names.", bool, read=lambda given: not given),
    _reading("sheet", "--sheet", "Sheet of an Excel file: name or number."),
    _graph(
        *("family", "--family -f"),
        "sqrt or gamma (rain, counts, concentrations), truncated-gaussian, log-log, gaussian (any sign), "
        "simplex (shares), copula (any columns: answers, yes/no, counts, zeros). [default: auto, from the data]",
    ),
    _graph(
        *("kinds", "--column-kind"),
        "For the copula: a column taken as continuous, or as ordered (each value an interval); may be repeated.",
        list[str],
        metavar="NAME=KIND",
        read=_kinds,
    ),
    _graph(
        "contamination", "--contamination", "Share of bad rows, if known; otherwise the data decide.", float, "SHARE"
    ),
    _graph(
        *("n_blocks", "--n-blocks", "Blocks for the median of means: a number, auto, or 1 for classic."),
        metavar="NUMBER",
        read=_n_blocks,
    ),
    _graph("alpha", "--alpha", "The penalty, instead of choosing one.", float),
    _graph(
        *("select", "--select"),
        "Rule for the penalty: f1, ebic, cv, stars; or fdr, for the pairs that tests find. [default: f1]",
        metavar="RULE",
        read=lambda rule: rule.split(",") if "," in rule else rule,
    ),
    _graph("n_edges", "--edges -e", "Choose the penalty by its number of edges.", int),
    _graph(
        *("scale", "--scale", "Scale columns robustly first, or not at all. [default: median]"),
        Literal["median", "none"],
        read=lambda scale: _NO_SCALE.get(scale, scale),
    ),
    _graph("shuffle", "--shuffle", "Cut blocks from a random order, for sorted rows.", bool),
    _graph("random_state", "--seed", "Random seed. [default: 0]", int, least=0),
    _graph("n_jobs", "--jobs -j", "Fits at a time for cv, stars and --stability.", int, least=1),
    _graph(
        *("assignments", "--set", "Any other argument of RobustGraph, as NAME=VALUE."), list[str], metavar="NAME=VALUE"
    ),
    Option("repeat", "--from", "Repeat the fit of a model.json; options given here replace its own.", Path),
    Option("debug", "--debug", "Show the full traceback of an error.", bool),
)
_NAMES = {option.argument: option.names.split()[0] for option in OPTIONS}
_OF_SIMULATE = {"n_columns": "--columns", "n_rows": "--rows", "share": "--bad"}
_FLAGS = {option.names.split()[0] for option in OPTIONS if option.kind is bool}
# A page must not make the command read or write files other than its own, so that no option on it names one.
_ON_PAGE = {_NAMES[option.argument] for option in OPTIONS if option.part and option.kind is not Path}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function with ``**options`` the signature that typer reads, with a parameter for every option."""
    parameters = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind != p.VAR_KEYWORD]
    for option in OPTIONS:
        metavar = _METAVARS.get(option.kind) if option.metavar is None else option.metavar
        about: dict[str, Any] = {"metavar": metavar, "help": option.help, "min": option.least}
        declared = typer.Option(*option.names.split(), rich_help_panel=option.panel, **about)
        kind: Any = option.kind if option.kind is bool else option.kind | None
        default = False if option.kind is bool else None
        annotation: Any = Annotated[kind, declared]
        parameters.append(
            inspect.Parameter(option.argument, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


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
    """Sort the options of ``robscore fit`` that were given into what they are for."""
    parts: dict[str, dict[str, Any]] = {"settings": {}, "reading": {}, "shown": {}}
    for option in OPTIONS:
        value = options.get(option.argument)
        is_given = not (value is None or value is False or value in ("", [], ()))
        if option.part and is_given:
            parts[option.part][option.argument] = option.read(value)
    for assignment in parts["settings"].pop("assignments", []):
        name, equals, value = assignment.partition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} must be NAME=VALUE.", param_hint="--set")
        parts["settings"][name.strip()] = as_value(value.strip())
    return FitRequest(**parts)


def requested_on_page(options: Iterable[tuple[str, str]]) -> FitRequest:
    """Return what a form asks for with these options and values, exactly as if they had been typed.

    Examples
    --------
    >>> made = requested_on_page([("family", "sqrt"), ("edges", "45"), ("na", "-999"), ("na", "."), ("no-compare", "")])
    >>> made.settings, made.reading, made.shown
    ({'family': 'sqrt', 'n_edges': 45}, {'na': ('-999', '.')}, {'compare': False})
    """
    options = list(options)
    for option, _ in options:
        if f"--{option}" not in _ON_PAGE:
            raise ValueError(f"--{option}: this page has no such option.")
    request = requested(_parser().make_context("fit", ["file", *_as_words(options)]).params)
    refuse_unknown(request.settings)
    return request


@cache
def _parser() -> Any:
    """Return the parser that typer makes of the signature of ``robscore fit``."""
    from robscore.cli.commands import app

    return typer.main.get_command(app).commands["fit"]  # type: ignore[attr-defined]


def command_line(data: str, options: Iterable[tuple[str, str]]) -> str:
    """Return what to type for the same fit.

    Examples
    --------
    >>> command_line("my rain.csv", [("na", "-999"), ("cells", ""), ("given", "sea son")])
    "robscore fit 'my rain.csv' --na=-999 --cells --given 'sea son'"
    """
    return shlex.join(["robscore", "fit", f"./{data}" if data.startswith("-") else data, *_as_words(options)])


def _as_words(options: Iterable[tuple[str, str]]) -> list[str]:
    """Return options and their values as words of a command line; no value can be taken for an option."""
    words = []
    for option, value in options:
        name = f"--{option}"
        words += [name] if name in _FLAGS else [f"{name}={value}"] if value.startswith("-") else [name, value]
    return words


def pairs_in_form(sent: Any) -> list[tuple[str, str]]:
    """Return options as a page sent them; raise where that is something else.

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
    """Return one part of a message, worded for the command line: arguments are options, and rows count from 1.

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
    option = (_NAMES | _OF_SIMULATE).get(part.name)
    if option in _FLAGS and (part.value is True or not part.has_value):
        return option
    if option is None or option in _FLAGS:
        return f"--set {part.name}={_typed(part.value) if part.has_value else '...'}"
    return f"{option} {_typed(part.value)}" if part.has_value else option


def _typed(value: Any) -> str:
    """Return a value as it is typed after an option."""
    if getattr(value, "ndim", None) == 0:  # a number of NumPy
        value = value.item()
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shlex.quote(value) if value else "''"
    if isinstance(value, Mapping):
        return " --column-kind ".join(shlex.quote(f"{name}={kind}") for name, kind in value.items())
    if isinstance(value, Iterable):
        return ",".join(_typed(entry) for entry in value)
    return str(value)


def as_value(text: str) -> Any:
    """Return a value of ``--set``: a number, true, false, none, or the text itself."""
    known = {"true": True, "false": False, "none": None}
    if text.lower() in known:
        return known[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
