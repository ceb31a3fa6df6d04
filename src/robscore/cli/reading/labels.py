"""Which columns label the rows, and what such a label looks like."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robscore._tools.typing import Array

_ID_NAME = re.compile(
    r"^(id|ids|index|idx|nr|no|number|row|key|code|.*[_ .-]id|date|datum|day|time|year|month)$", re.IGNORECASE
)


def labels_rows(name: str, values: Array) -> bool:
    """Whether a column of numbers names the rows: it counts them, holds dates, or is called so and never repeats."""
    if values.size < 3 or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    if (np.diff(values) == 1).all():
        return True
    different = np.unique(values).size == values.size
    return different and bool(_ID_NAME.match(name) or all(_is_date(value) for value in values[:50]))


def _is_date(value: float) -> bool:
    """Whether a number is a day as in 20240131."""
    year, month, day = int(value) // 10_000, int(value) // 100 % 100, int(value) % 100
    return 1600 <= year <= 2400 and 1 <= month <= 12 and 1 <= day <= 31


def as_label(cell: Any) -> str:
    """A cell as people write it: no ".0" after whole numbers, no midnight after days."""
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    return text.removesuffix(" 00:00:00") if text.endswith(" 00:00:00") else text
