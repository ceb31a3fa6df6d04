"""Whether a column of text in the file identifies the dropped rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from robscore._tools.messages import About, Caution, clipped
from robscore._tools.typing import IntArray
from robscore.cli.reading import DataFile

_FEWEST = 5  # rows left out
_MOST = 2 / 3  # of them have the label
_LIFT = 1.5  # times its share among all rows
_MOST_LABELS = 0.5  # different labels, as a share of the rows: more is a name of rows


def cautions_on_labels(left: IntArray, data: DataFile) -> list[Caution]:
    """A caution for every column of text with a label that most of the rows left out have, by their positions."""
    if left.size < _FEWEST:
        return []
    out = left.tolist()
    found = []
    for name, labels in data.texts.items():
        told = _label_of(labels, out)
        if told is not None:
            label, count = told
            who = f"all {len(out)}" if count == len(out) else f"{count} of the {len(out)}"
            everywhere = labels.count(label)
            words = (
                f"{who[0].upper()}{who[1:]} rows left out have {clipped(name)} = {clipped(label)}, as {everywhere} of "
                f"{len(labels)} rows do: {clipped(name)} identifies them. Fit its groups separately."
            )
            found.append(Caution(words, About.GROUP))
    return found


def _label_of(labels: Sequence[str], out: Sequence[int]) -> tuple[str, int] | None:
    """The label that most of the rows have, but far fewer of all rows, and how many; None where there is none."""
    if len(set(labels)) > _MOST_LABELS * len(labels):
        return None
    label, count = Counter(labels[k] for k in out).most_common(1)[0]
    if count < _MOST * len(out) or count / len(out) < _LIFT * labels.count(label) / len(labels):
        return None
    return label, count
