"""Is this a record? Every entry that a page or a repeated fit relies on has its kind, its size and its range."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

_MOST_DIGITS = 300  # of a whole number: seeds may be long
_LARGEST = 10**18  # whole number that is not a setting
Check = Callable[[Any], bool]


def parsed(text: str) -> Any:
    """JSON without what it should not hold: absurd numbers, NaN, or endless nesting."""
    try:
        return json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole(digits: str) -> int:
    return int(digits) if len(digits.lstrip("-")) <= _MOST_DIGITS else _refuse(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(digits: str) -> NoReturn:
    raise ValueError(f"{digits[:20]} is not a number that it can hold")


def broken_part(content: Mapping[str, Any]) -> str | None:
    """The name of the first entry of a record that is not as it should be, or None; all of them must be there."""
    if not list_of(text)(content["names"]):
        return "names"
    m = len(content["names"])
    checks: dict[str, Check] = {
        "version": text,
        "libraries": lambda value: isinstance(value, dict) and all(map(text, value.values())),
        "title": text,
        "data": _is_about_data,
        "settings": lambda value: isinstance(value, dict),
        "coordinates": optional(list_of(numbers(2), m)),
        "outline": optional(list_of(list_of(numbers(2)))),
        "fit": _is_fit,
        "diagonal": numbers(m),
        "location": numbers(m),
        "edges": list_of(_pair(m, number, number)),
        "path": lambda value: _is_path(value, m),
        "classic": optional(lambda value: _is_path(value, m)),
        "rows": _is_rows,
        "remarks": list_of(text),
        "cautions": list_of(list_of(text, 2)),
        "certainty": optional(lambda value: _is_certainty(value, m)),
        "predictability": optional(numbers(m)),
        "check": optional(lambda value: _is_check(value, m)),
        "groups": optional(list_of(text, m)),
        "kinds": optional(lambda value: has(value, words=text, columns=list_of(list_of(text, 2), m))),
    }
    wrong = next((name for name, check in checks.items() if not check(content[name])), None)
    return wrong or (None if _fits_together(content) else "classic")


def text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def number(value: Any) -> bool:
    """A number; true and false are not."""
    return isinstance(value, float) or (_whole_number(value) and abs(value) < _LARGEST)


def count(value: Any) -> bool:
    """A whole number from 0 on."""
    return _whole_number(value) and 0 <= value < _LARGEST


def _whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def truth(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def optional(check: Check) -> Check:
    """None, or what passes the check."""
    return lambda value: value is None or check(value)


def list_of(check: Check, size: int | None = None) -> Check:
    """A list, of so many entries, that pass the check."""
    return lambda value: isinstance(value, list) and len(value) == (size or len(value)) and all(map(check, value))


def numbers(size: int | None = None) -> Check:
    """A list of numbers."""
    return list_of(number, size)


def has(value: Any, **checks: Check) -> bool:
    """Whether a dictionary has these entries, and they pass."""
    return isinstance(value, dict) and all(name in value and check(value[name]) for name, check in checks.items())


def tuple_of(*checks: Check) -> Check:
    """A list with one entry for each check, which passes it."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(entry) for check, entry in zip(checks, value, strict=True))
    )


def below(limit: int) -> Check:
    """A whole number from 0 on, below a limit."""
    return lambda value: count(value) and value < limit


def _pair(m: int, *rest: Check) -> Check:
    """A list that begins with two columns i < j of m, followed by what passes the other checks."""
    check = tuple_of(below(m), below(m), *rest)
    return lambda value: check(value) and value[0] < value[1]


def _is_fit(value: Any) -> bool:
    return has(
        value,
        n_rows=count,
        n_rows_used=lambda used: count(used) and used > 0,
        share_dropped=optional(number),
        effective_rows=numbers(2),
        family=text,
        n_blocks=count,
        reweighting=optional(text),
        alpha=number,
        selection=text,
        converged=truth,
        kkt=number,
        n_iter=count,
    )


def _is_path(value: Any, m: int) -> bool:
    if not has(value, alphas=list_of(number), graphs=list_of(lambda graph: _is_graph(graph, m))):
        return False
    size = len(value["alphas"])
    by_alpha = {
        "n_edges": list_of(count, size),
        "kkt": numbers(size),
        "converged": list_of(truth, size),
        "criteria": lambda kept: isinstance(kept, dict) and all(map(list_of(optional(number), size), kept.values())),
        "chosen": below(size),
    }
    return (
        size > 0
        and has(value, **by_alpha)
        and all(graph["position"] < size for graph in value["graphs"])
        and any(graph["position"] == value["chosen"] for graph in value["graphs"])
    )


def _is_graph(value: Any, m: int) -> bool:
    return has(value, position=count, pairs=list_of(below(m * m)), associations=numbers()) and (
        len(value["pairs"]) == len(value["associations"])
    )


def _is_rows(value: Any) -> bool:
    row = {"row": count, "label": optional(text), "score": optional(number), "p_value": optional(number)}
    more = {"weight": number, "flagged": truth, "variables": text}
    return has(
        value,
        level=number,
        n_flagged=count,
        n_drawn=count,
        listed=list_of(lambda entry: has(entry, **row, **more)),
        points=list_of(tuple_of(count, optional(number), count)),
    )


def _is_certainty(value: Any, m: int) -> bool:
    halves = {"n_halves": count, "threshold": number, "expected_false": number}
    return has(
        value,
        level=number,
        fdr=number,
        n_tested=count,
        split=truth,
        why_not=text,
        pairs=list_of(_pair(m, *[optional(number)] * 6)),
        stability=optional(lambda given: has(given, pairs=list_of(_pair(m, number)), **halves)),
    )


def _is_check(value: Any, m: int) -> bool:
    column = tuple_of(*[optional(number)] * 3, text)
    return has(value, verdict=optional(text), p_value=optional(number), why_not=text, columns=list_of(column)) and len(
        value["columns"]
    ) in (0, m)


def _is_about_data(value: Any) -> bool:
    """Empty, or enough to read the rows again."""
    if value == {}:
        return True
    options = {
        **dict.fromkeys(("columns", "exclude", "na"), list_of(text)),
        **dict.fromkeys(("id", "separator", "decimal", "sheet"), optional(text)),
        "all_text": truth,
    }
    return has(
        value,
        file=text,
        sha256=text,
        read=lambda read: (
            has(read, **options)
            and set(read) - {"given", "by", "header", "limits"} == set(options)
            and all(list_of(text)(read.get(name, [])) for name in ("given", "by"))
            and optional(truth)(read.get("header"))
            and isinstance(limits := read.get("limits", {}), Mapping)
            and all(map(number, limits.values()))
            and read["decimal"] in (None, ".", ",")
        ),
        label_name=optional(text),
        coordinates=optional(text),
        outline=optional(text),
        compare=truth,
    ) and optional(count)(value.get("stability"))


def _fits_together(content: Mapping[str, Any]) -> bool:
    """Whether the classic fit has a graph beside each of the robust one's."""
    classic = content["classic"]
    if classic is None:
        return True
    return list_of(below(len(classic["graphs"])), len(content["path"]["graphs"]))(classic.get("beside"))
