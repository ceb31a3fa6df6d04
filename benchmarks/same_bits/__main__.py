"""Record or compare; see the head of the package."""

import argparse
import hashlib
import json
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

import robscore as rs
from benchmarks.same_bits import CASES, KEPT, after_fits, beyond_rows, fits  # noqa: F401 - these fill CASES


def fields_of(name: str) -> dict[str, dict[str, Any]]:
    """What a case gives, each field by its hash and a few of its numbers; with the warnings, by their words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            given = CASES[name]()
        except Exception:  # part of the record: an error that goes away, or comes, is a difference
            given = {"error": traceback.format_exc().splitlines()[-1]}
    given["warnings"] = "\n".join(
        f"{each.category.__name__}: {each.message}" for each in caught if not _of_no_interest(each)
    )
    return {field: told for key, value in given.items() for field, told in fingerprints(key, value)}


def _of_no_interest(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, ResourceWarning | DeprecationWarning | FutureWarning)


def fingerprints(key: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Hash, kind and some numbers of a value; of tables and dictionaries, those of their parts."""
    if isinstance(value, pd.DataFrame):
        yield f"{key}.columns", _of_text(" ".join(map(str, value.columns)))
        for column in value.columns:
            yield from fingerprints(f"{key}.{column}", value[column].to_numpy())
    elif hasattr(value, "to_pandas"):
        yield from fingerprints(key, value.to_pandas())
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from fingerprints(f"{key}[{name}]", part)
    elif isinstance(value, str) or value is None:
        yield key, _of_text(str(value))
    else:
        array = np.asarray(value)
        yield key, _of_text(repr(array.tolist())) if array.dtype.kind in "OUT" else _of_array(array)


def _of_text(text: str) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text[:4000]}


def _of_array(array: np.ndarray) -> dict[str, Any]:
    flat = np.ascontiguousarray(array).ravel()
    some = flat[np.unique(np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int))] if flat.size else flat
    return {
        "sha256": hashlib.sha256(flat.tobytes()).hexdigest(),
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "some": some.tolist(),
    }


def surroundings() -> dict[str, Any]:
    """What bits depend on besides the code."""
    libraries = {module: sys.modules[module].__version__ for module in ("numpy", "scipy", "sklearn", "numba")}
    blas = sorted(
        {
            f"{info.get('architecture')} x{info['num_threads']}"
            for info in threadpool_info()
            if info["user_api"] == "blas"
        }
    )
    return {"python": platform.python_version(), **libraries, "linear algebra": ", ".join(blas)}


def run(names: list[str]) -> dict[str, Any]:
    """All fields of all cases."""
    found: dict[str, Any] = {}
    for number, name in enumerate(names, 1):
        start = time.perf_counter()
        found[name] = fields_of(name)
        print(f"{number:>3}/{len(names)}  {time.perf_counter() - start:6.1f} s  {name}", file=sys.stderr, flush=True)
    return {"surroundings": surroundings(), "cases": found}


def difference(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str | None:
    """How a field differs, in words; None where its bits are the same."""
    if old is None or new is None:
        return "was not there before" if old is None else "is gone"
    if all(old.get(part) == new.get(part) for part in ("sha256", "dtype", "shape")):
        return None
    if "text" in old and "text" in new:
        pairs = zip(old["text"].splitlines(), new["text"].splitlines(), strict=False)
        line = next((f"{a[:200]!r} became {b[:200]!r}" for a, b in pairs if a != b), "further on, or in length")
        return f"text: {line}"
    if "text" in old or "text" in new or old["shape"] != new["shape"] or old["dtype"] != new["dtype"]:
        kinds = [f"{each.get('dtype', 'text')} {each.get('shape', '')}" for each in (old, new)]
        return f"{kinds[0]} became {kinds[1]}"
    a, b = np.array(old["some"], dtype=float), np.array(new["some"], dtype=float)
    apart = np.abs(a - b)[~((a == b) | (np.isnan(a) & np.isnan(b)))]
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    if not apart.size:
        return f"equal in the {a.size} numbers kept, but not in all"
    return (
        f"up to {apart.max():.3g} apart in {apart.size} of the {a.size} numbers kept, the largest being {largest:.3g}"
    )


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for every field that differs."""
    lines = []
    for name, fields in new["cases"].items():
        before = old["cases"].get(name)
        if before is None:
            lines.append(f"{name}: was not recorded")
            continue
        for field in dict.fromkeys([*before, *fields]):
            words = difference(before.get(field), fields.get(field))
            if words:
                lines.append(f"{name}: {field}: {words}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_bits", description=__doc__)
    parser.add_argument("action", choices=("record", "compare", "list"))
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all of them by default")
    arguments = parser.parse_args()
    if arguments.action == "list":
        print("\n".join(CASES))
        return
    if arguments.file is None:
        parser.error("a FILE is needed")
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no case called {', '.join(sorted(unknown))}; `list` shows all")
    print(f"robscore from {Path(rs.__file__).parent}", file=sys.stderr)
    old = json.loads(arguments.file.read_text()) if arguments.action == "compare" else None
    new = run(arguments.cases or list(CASES))
    count = sum(map(len, new["cases"].values()))
    if old is None:
        arguments.file.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n")
        print(f"{len(new['cases'])} cases with {count} fields recorded")
        return
    if old["surroundings"] != new["surroundings"]:
        print(f"surroundings: {old['surroundings']} became {new['surroundings']}")
    lines = differences(old, new)
    print("\n".join([*lines, f"{len(new['cases'])} cases with {count} fields compared: {len(lines)} differ"]))
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
