"""Whether the first line of a table has the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence

from robscore.cli.reading.cells import PLAIN


def is_header(cells: Sequence[str], decimal: str, notes: list[str]) -> bool:
    """Whether the first line has names: not where most of it are numbers with decimals, or the same ones twice."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    numbers = [cell for cell in filled if PLAIN[decimal].match(cell)]
    if len(numbers) < max(1, len(filled) // 2):
        return True
    with_decimals = [cell for cell in numbers if not cell.lstrip("+-").isdigit()]
    if len(with_decimals) >= max(1, len(filled) // 2) or len(set(numbers)) < len(numbers):
        notes.append("The first line holds numbers, so it was read as data; columns are called column 1, column 2, ...")
        return False
    if len(numbers) == len(filled):
        notes.append("The first line holds numbers only and was taken for names; pass --no-header if it is data.")
    return True
