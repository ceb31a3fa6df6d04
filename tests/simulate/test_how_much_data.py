"""How much data it takes."""

import numpy as np
import pytest
from designs import first

import robscore as rs


def truth():
    return rs.simulate.random_model(5, 4, min_eigenvalue=0.5, random_state=0)


@pytest.mark.long
def test_more_rows_find_more_edges():
    table = rs.simulate.power(truth(), [60, 1000], n_repeats=4)
    assert list(table.columns) == ["n_rows", "f1", "f1_error", "tpr", "fdr", "edges", "failed"]
    assert table["f1"][1] > table["f1"][0]
    assert table["tpr"][1] > 0.7
    assert (table["failed"] == 0).all()


@pytest.mark.long  # starts processes
def test_the_same_bits_for_any_number_of_processes():
    one, two = (rs.simulate.power(truth(), [80], n_repeats=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.equals(two)


@pytest.mark.parametrize(
    "bad_rows", first(1, [lambda X, share, rng: np.vstack([X[1:], 99 * X[:1]]), "pareto", "other graph"])
)
def test_bad_rows_of_every_kind(bad_rows):
    table = rs.simulate.power(truth(), [100], contamination=0.1, bad_rows=bad_rows, n_repeats=2)
    assert 0 <= table["f1"][0] <= 1


def test_fits_that_fail_are_counted():
    model = rs.RobustGraph("sqrt", n_blocks=50)
    with pytest.raises(ValueError, match="No data set of 20 rows could be fitted: n_blocks=50"):
        rs.simulate.power(truth(), [20, 100], model=model, n_repeats=2)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_rows": []}, "n_rows"),
        ({"n_rows": [100.5]}, "n_rows=100.5"),
        ({"n_rows": [100], "n_repeats": 0}, "n_repeats=0"),
        ({"n_rows": [100], "bad_rows": "ugly"}, "bad_rows='ugly'"),
    ],
)
def test_impossible_arguments_are_errors(options, match):
    with pytest.raises(ValueError, match=match):
        rs.simulate.power(truth(), **options)
