"""A column of text that knows the rows left out is named."""

import numpy as np

from robscore.cli.run_fit import cautions_on_labels
from robscore.reading import DataFile


def data(texts, n=20):
    values = np.ones((n, 2))
    return DataFile(values, ("a", "b"), None, None, (), texts)


def test_a_label_that_coincides_is_named():
    diagnosis = tuple("M" if k < 8 else "B" for k in range(20))
    said = cautions_on_labels(np.arange(6), data({"diagnosis": diagnosis}))
    assert said == [
        "All 6 rows left out have diagnosis = M, as 8 of 20 rows do: diagnosis identifies them. "
        "Fit its groups separately."
    ]
    mixed = tuple("MB"[k % 2] for k in range(20))
    assert cautions_on_labels(np.arange(6), data({"diagnosis": mixed})) == []
    assert cautions_on_labels(np.arange(6), data({"name": tuple(map(str, range(20)))})) == []
    assert cautions_on_labels(np.arange(6), data({"same": ("M",) * 20})) == []


def test_labels_are_those_of_the_rows_that_are_named():
    file = data({"kind": ("x",) * 3 + ("M",) * 6 + ("B",) * 11})
    assert cautions_on_labels(np.arange(3, 9), file)[0].startswith("All 6 rows left out have kind = M")
