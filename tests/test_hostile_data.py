"""Data that only look like numbers are refused by name, wherever they are; units never matter, or are refused too."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from designs import swept
from scipy.sparse import csr_array

import robscore as rs

X = np.random.default_rng(0).gamma(2.0, size=(60, 3))
G = np.random.default_rng(0).normal(size=(200, 3)) @ np.tri(3)
NAMES = ["basel", "bern", "chur"]
MASKED = np.ma.masked_greater(X, 5.0)


def readers():
    """Everything that takes rows or points."""
    model = rs.RobustScoreMatching("gaussian").fit(X)
    return {
        "fit": rs.RobustScoreMatching("gaussian").fit,
        "graph": rs.RobustGraph("gaussian").fit,
        "score": model.score,
        "elements": lambda Y: rs.score_elements("gaussian", Y),
        "median": rs.geometric_median,
        "means": lambda Y: rs.median_of_means(Y, 5),
        "contaminated": lambda Y: rs.simulate.contaminate_pareto(Y, 0.1, random_state=0),
    }


READERS = readers()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("data", "match"),
    [
        (np.arange(180).reshape(60, 3).astype("datetime64[h]"), r"holds dates or times \(datetime64\[h\]\)"),
        (np.arange(180).reshape(60, 3).astype("timedelta64[s]"), r"holds dates or times \(timedelta64\[s\]\)"),
        (np.array([[np.timedelta64(3, "ns")] * 3] * 60, dtype=object), "is a date or a time"),
        (X + 1j, r"holds complex numbers \(complex128\)"),
        (np.ma.array(X + 1j, mask=X > 5), r"holds complex numbers \(complex128\)"),
        ((X + 1j).astype(object), r"is not a number"),
        (csr_array(X), r"sparse matrix; pass \w+\.toarray"),
        (np.zeros((60, 3), dtype=[("a", float), ("b", float)]), "structured array"),
        ([[10**400, 1.0, 2.0]] * 60, "is not a number"),
    ],
    ids=["dates", "durations", "objects", "complex", "masked complex", "complex objects", "sparse", "fields", "large"],
)
def test_what_looks_like_numbers_is_refused(reader, data, match):
    with pytest.raises((ValueError, TypeError), match=match) as caught:
        READERS[reader](data)
    assert str(caught.value).partition(":")[2].strip() or str(caught.value).startswith(("X ", "points "))


@pytest.mark.parametrize("masked", [MASKED, list(MASKED), [[np.ma.masked, *row[1:]] for row in X.tolist()]], ids=str)
def test_masks_are_never_ignored(masked):
    for reader in ("fit", "graph", "score", "elements"):
        with pytest.raises(ValueError, match="NaN"):
            READERS[reader](masked)
    for reader in ("median", "means"):
        with pytest.raises(ValueError, match=r"masked|NaN"):
            READERS[reader](masked)
    np.testing.assert_array_equal(rs.geometric_median(np.ma.array(X)).median, rs.geometric_median(X).median)


def test_masked_weights_are_refused():
    ones = np.ma.array(np.ones(60), mask=np.arange(60) == 3)
    with pytest.raises(ValueError, match="weights has 1 masked"):
        rs.geometric_median(X, ones)
    with pytest.raises(ValueError, match="gamma_weights has 1 masked"):
        rs.score_elements("sqrt", X).average(ones / 60)
    with pytest.raises(ValueError, match="penalty_weights has 1 masked"):
        rs.RobustGraph("sqrt", penalty_weights=np.ma.array(np.ones((3, 3)), mask=np.eye(3) * [1, 0, 0])).fit(X)


@pytest.mark.parametrize("make", [pa.table, lambda columns: pa.table(columns).to_batches()[0]], ids=["table", "batch"])
def test_columns_of_arrow_tables_have_their_names(make):
    table = make({name: X[:, j] for j, name in enumerate(NAMES)})
    model = rs.RobustGraph("sqrt", n_edges=1).fit(table)
    assert model.graph_.names == tuple(NAMES)
    assert model.edges().to_pydict()["source"][0] in NAMES
    assert list(rs.RobustGraph("sqrt", n_edges=1).fit(pd.DataFrame(X, columns=NAMES)).association_[0]) == list(
        model.association_[0]
    )
    negative = make({name: -X[:, j] for j, name in enumerate(NAMES)})
    for reader in (lambda Y: rs.score_elements("sqrt", Y), rs.RobustGraph("sqrt").fit):
        with pytest.raises(ValueError, match="column 'basel' has 60"):
            reader(negative)


@pytest.mark.parametrize(
    ("power", "family", "scale"),
    swept(
        [-300, -200, -160, -100, -40, 40, 100, 160, 200, 300],
        ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log"],
        ["median", None],
        times=2,
    ),
)
def test_units_never_matter_or_are_refused_by_name(family, power, scale):
    Y = G if family == "gaussian" else X
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        plain = rs.RobustGraph(family, n_blocks=10, alphas=20, n_edges=2, scale=scale).fit(Y)
        try:
            other = rs.RobustGraph(family, n_blocks=10, alphas=20, n_edges=2, scale=scale).fit(Y * 10.0**power)
        except ValueError as refusal:
            assert scale is None or abs(power) > 100
            words = str(refusal)
            assert all(part in words for part in ("columns 'x0', 'x1', 'x2'", "other units"))
            return
    assert plain.graph_.n_edges == 2
    np.testing.assert_allclose(other.association_, plain.association_, atol=1e-6)
    assert other.converged_


def test_a_column_of_its_own_size_is_named():
    Y = pd.DataFrame(X * [1.0, 1e170, 1.0], columns=NAMES)
    for scale in ("median", None):
        with pytest.raises(ValueError, match="columns 'bern' are so large, or so small"):
            rs.RobustGraph("gaussian", scale=scale).fit(Y)


def test_rows_that_all_overflow_name_a_column():
    family = rs.families.Power(3.0, 1.0)
    with pytest.raises(ValueError, match=r"60 of 60 rows have score-matching elements that overflow.*column 'x1'"):
        rs.RobustGraph(family, scale=None).fit(X * [1.0, 1e28, 1.0])


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "truncated-gaussian"])
@pytest.mark.parametrize("fit_location", [True, False])
@pytest.mark.parametrize("rows", [np.zeros((10, 3)), X * 1e-170], ids=["zeros", "tiny"])
def test_paths_of_nothing_are_refused(family, fit_location, rows):
    loss = rs.score_elements(family, rows).average()
    try:
        path = rs.solve_path(loss, 5, fit_location=fit_location)
    except ValueError as refusal:
        assert "olumn" in str(refusal)  # noqa: PT017
    else:
        assert np.isfinite(np.asarray(path.interactions)).all()
        assert np.isfinite(path.alphas).all()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": 1.5}, r"random_state=1\.5"),
        ({"fit_location": "x"}, "fit_location='x'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": 2.5}, r"n_jobs=2\.5"),
        ({"shuffle": "x"}, "shuffle='x'"),
        ({"verbose": "x"}, "verbose='x'"),
        ({"alphas": [1j]}, "alphas="),
        ({"penalty_weights": np.ones((3, 3)) * 1j}, "penalty_weights holds complex"),
    ],
    ids=str,
)
def test_options_are_named(options, match):
    with pytest.raises(ValueError, match=match):
        rs.RobustGraph("sqrt", **options).fit(X)


def test_a_path_of_no_penalty_finds_a_number_of_edges():
    model = rs.RobustGraph("sqrt", alphas=[0.0], n_edges=2).fit(X)
    assert model.graph_.n_edges == 2


@pytest.mark.parametrize("block_size", [60, 61, 10**6])
def test_blocks_as_long_as_the_rows_are_refused(block_size):
    with pytest.raises(ValueError, match=f"block_size={block_size} leaves 1 blocks"):
        rs.RobustGraph("sqrt").fit(X).edge_intervals(estimate="split", block_size=block_size)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"trace": -1.0}, r"trace=-1\.0"),
        ({"trace": np.nan}, "trace=nan"),
        ({"trace": np.inf}, "trace=inf"),
        ({"n": 0}, "n=0"),
        ({"n": np.nan}, "n=nan"),
        ({"delta": 0.0}, r"delta=0\.0"),
        ({"delta": np.nan}, "delta=nan"),
        ({"tau": 0.5}, r"tau=0\.5"),
        ({"tau": -0.1}, r"tau=-0\.1"),
        ({"tau": "x"}, "tau='x'"),
    ],
    ids=str,
)
def test_a_radius_outside_its_range_is_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        rs.theory.radius(**{"delta": 0.05, "tau": 0.1, "trace": 1.0, "n": 4000, **arguments})


def test_constants_stay_numbers_up_to_the_end_of_the_range():
    for tau in (0.0, 0.4, 0.499999, np.nextafter(0.5, 0)):
        assert 0 < rs.theory.k_of_tau(tau) < np.inf
        assert 0 < rs.theory.c_of_tau(tau) < np.inf
