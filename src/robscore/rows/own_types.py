"""Numbers given back in the types that a data frame had: truth values, ordered categories, whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from robscore._tools.typing import AnyData, Array


class OwnType(NamedTuple):
    """The type of a column, and what its numbers 0, 1, ... stand for where it has words."""

    dtype: nw.Enum | nw.Boolean | nw.Int64 | nw.String
    levels: tuple[Any, ...] = ()


def own_types(X: AnyData, levels: Mapping[str, Sequence[Any]] | None = None) -> dict[str, OwnType]:
    """The types of the columns of a data frame that are not plain floats, by name; none where X is no frame.

    ``levels`` has, by name, what numbers 0, 1, ... stand for of columns that were read as words.

    Examples
    --------
    >>> import pandas as pd
    >>> from robscore.rows.own_types import own_types
    >>> found = own_types(pd.DataFrame({"sex": [True, False], "age": [30, 40], "x": [0.5, 1.5]}))
    >>> {name: kind.dtype for name, kind in found.items()}
    {'sex': Boolean, 'age': Int64}
    """
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return {}
    known = levels or {}
    found = ((str(column.name), _own_type(column, known.get(str(column.name), ()))) for column in frame.iter_columns())
    return {name: kind for name, kind in found if kind is not None}


def _own_type(column: nw.Series[AnyData], levels: Sequence[Any]) -> OwnType | None:
    if isinstance(column.dtype, nw.Enum):
        return OwnType(column.dtype, tuple(levels or column.dtype.categories))
    if column.dtype == nw.Boolean:
        return OwnType(nw.Boolean())
    if column.dtype.is_integer():
        return OwnType(nw.Int64())
    if column.dtype == nw.Object and all(isinstance(value, bool | np.bool_) for value in column.drop_nulls().to_list()):
        return OwnType(nw.Boolean())
    return OwnType(nw.String(), tuple(levels)) if levels else None


def in_own_types(table: AnyData, types: Mapping[str, OwnType]) -> AnyData:
    """A table of numbers with some columns in these types, where every value is one of the type; others stay numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from robscore.rows.own_types import in_own_types, own_types
    >>> given = pd.DataFrame({"mood": pd.Categorical(["low", "high"], ["low", "high"], ordered=True)})
    >>> in_own_types(pd.DataFrame({"mood": [1.0, 0.0]}), own_types(given))["mood"].tolist()
    ['high', 'low']
    """
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not types:
        return table
    changed = []
    for name, kind in types.items():
        if name in frame.columns:
            values = _as(kind, np.asarray(frame[name].to_numpy(), dtype=float))
            if values is not None:
                changed.append(nw.new_series(name, values, kind.dtype, backend=frame.implementation))
    return frame.with_columns(*changed).to_native()


def _as(kind: OwnType, values: Array) -> Any:
    """The values as those of a type; None where some are not."""
    if not np.isfinite(values).all() or (values != np.round(values)).any():
        return None
    codes = values.astype(np.int64)
    if kind.levels:
        inside = ((codes >= 0) & (codes < len(kind.levels))).all()
        return [kind.levels[code] for code in codes] if inside else None
    if kind.dtype == nw.Boolean:
        return codes.astype(bool) if np.isin(codes, (0, 1)).all() else None
    return codes
