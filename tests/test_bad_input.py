"""Bad input gets a clear error that names the argument, the value and the remedy."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import robscore as rs


def frame(**changes):
    rng = np.random.default_rng(0)
    columns = {name: rng.gamma(2.0, size=60) for name in ("basel", "bern", "chur")}
    columns.update(changes)
    return columns


def with_value(value, position=4):
    column = np.random.default_rng(1).gamma(2.0, size=60)
    column[position] = value
    return column


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"bern": with_value(np.nan)}, r"NaN: column 'bern' has 1 \(first in row 4\).*missing='drop'"),
        ({"bern": with_value(np.inf)}, r"infinity: column 'bern' has 1"),
        ({"bern": with_value(-1.0)}, r"^Negative values in data passed to RobustScoreMatching: column 'bern'"),
        ({"bern": np.full(60, 3.0)}, r"Constant columns.*'bern'"),
        ({"bern": ["wet"] * 60}, r"not numeric: 'bern'.*family='copula' reads words that have an order"),
    ],
)
def test_columns_are_named(library, changes, match):
    with pytest.raises(ValueError, match=match):
        rs.RobustScoreMatching().fit(library(frame(**changes)))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_blocks": 0}, "n_blocks=0"),
        ({"n_blocks": 61}, "between 1 and the number of rows, 60"),
        ({"contamination": 0.5}, r"contamination=0.5 must lie in \[0, 0.5\)"),
        ({"contamination": -0.1}, "contamination=-0.1"),
        ({"family": "poisson"}, "family='poisson' is not known; use one of"),
        ({"scale": "mean"}, "scale='mean' is not known"),
        ({"missing": "guess"}, "missing='guess' is not known"),
        ({"n_partitions": 0}, "n_partitions=0"),
    ],
)
def test_arguments_are_named(options, match):
    with pytest.raises(ValueError, match=match):
        rs.RobustScoreMatching(**options).fit(pd.DataFrame(frame()))


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.ones((0, 3)), np.ones(5), "text", None])
def test_too_little_data(X):
    with pytest.raises((ValueError, TypeError, FileNotFoundError)):
        rs.RobustScoreMatching().fit(X)
    with pytest.raises((ValueError, TypeError)):
        rs.score_elements("sqrt", X if X is None or isinstance(X, str) or X.ndim < 2 else np.ones((0, 3)))


def test_a_column_without_spread_is_named():
    mostly_one = np.ones(60)
    mostly_one[:20] = np.linspace(2, 3, 20)
    X = pd.DataFrame({"a": mostly_one, "b": np.random.default_rng(0).normal(size=60)})
    model = rs.RobustScoreMatching("gaussian").fit(X)
    assert any("one value in more than half of the rows" in caution and "a" in caution for caution in model.cautions_)
    assert np.isfinite(model.interaction_).all()


def test_a_singular_gamma_says_what_to_do():
    X = np.random.default_rng(0).gamma(2.0, size=(8, 10))
    with pytest.raises(ValueError, match=r"Gamma-hat is singular.*sure to exist from 11 different rows.*RobustGraph"):
        rs.RobustScoreMatching(n_blocks=4).fit(X)


def test_the_median_on_one_block_with_too_few_rows():
    def draw(seed):
        return np.random.default_rng(seed).gamma(2.0, size=(9, 4))

    weights = [rs.robust_weights(rs.score_elements("sqrt", draw(seed)), 3).gamma_weights for seed in range(60)]
    on_one_block = [seed for seed in range(60) if np.count_nonzero(weights[seed]) == 3]
    assert 0 < len(on_one_block) < 60
    for seed in on_one_block:
        with pytest.raises(ValueError, match=r"Only 3 of 9 rows.*at most 1 blocks"):
            rs.RobustScoreMatching(n_blocks=3, scale=None).fit(draw(seed))


def test_dependent_columns_are_named():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.normal(size=60)})
    X["d"] = X["a"] + X["c"]
    with pytest.raises(ValueError, match=r"Linearly dependent.*'a', 'c', 'd'\. Drop one"):
        rs.RobustScoreMatching("gaussian", n_blocks=1).fit(X)
    with pytest.raises(ValueError, match="scale='median'"):
        rs.RobustScoreMatching("gaussian", scale=None, n_blocks=1).fit(X[["a", "b"]] + 1e8)


def test_rows_are_counted_as_given():
    X = np.random.default_rng(0).gamma(2.0, size=(30, 2))
    X[0, 0], X[5, 1] = np.nan, -1
    with pytest.raises(ValueError, match="first in row 5"):
        rs.RobustScoreMatching(missing="drop").fit(X)


def test_tables_that_cannot_be_read_say_why():
    table = frame()
    with pytest.raises(ValueError, match=r"'bern' \(text such as 'oops'\)"):
        rs.RobustScoreMatching().fit(pd.DataFrame({**table, "bern": pd.Series([1.0] * 59 + ["oops"], dtype=object)}))
    doubled = pd.DataFrame(table)
    doubled.columns = ["a", "b", "a"]
    with pytest.raises(ValueError, match="unique, but 'a'"):
        rs.RobustScoreMatching().fit(doubled)
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        rs.score_elements("sqrt", pl.DataFrame(table).lazy())
    with pytest.raises(ValueError, match="complex"):
        rs.score_elements("gaussian", np.ones((3, 2)) * 1j)
    with pytest.raises(TypeError, match="toarray"):
        rs.score_elements("gaussian", csr_array(np.ones((3, 2))))
    masked = np.ma.masked_greater(np.column_stack(list(table.values())), 5.0)
    with pytest.raises(ValueError, match="NaN"):
        rs.RobustScoreMatching().fit(masked)
    assert rs.RobustScoreMatching(missing="drop").fit(masked).n_rows_used_ < 60


def test_missing_values_of_any_kind():
    holes = pd.DataFrame(frame())
    nullable = holes.astype("Float64")
    nullable.loc[3, "bern"] = pd.NA
    objects = holes.astype(object)
    objects.loc[3, "bern"] = pd.NA
    holes.loc[3, "bern"] = np.nan
    expected = rs.RobustScoreMatching(missing="drop").fit(holes).theta_
    for table in (nullable, objects, pl.DataFrame({name: list(holes[name]) for name in holes}).fill_nan(None)):
        np.testing.assert_allclose(rs.RobustScoreMatching(missing="drop").fit(table).theta_, expected, rtol=1e-9)
        with pytest.raises(ValueError, match=r"NaN.*'bern' has 1 \(first in row 3\)"):
            rs.RobustScoreMatching().fit(table)
        with pytest.raises(ValueError, match=r"NaN.*'bern' has 1 \(first in row 3\)"):
            rs.score_elements("sqrt", table)


def test_mixed_column_names():
    table = pd.DataFrame(frame())
    table.columns = ["a", 1, "b"]
    with pytest.raises(ValueError, match="make all of them strings"):
        rs.RobustScoreMatching().fit(table)


def test_fits_in_threads_leave_the_warnings_alone():
    X = np.random.default_rng(0).gamma(2.0, size=(60, 3))
    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: rs.RobustScoreMatching().fit(X).theta_, range(8)))
    assert list(warnings.filters) == filters
    for theta in fits:
        np.testing.assert_allclose(theta, fits[0], rtol=1e-9)


def test_missing_values_can_be_dropped():
    complete = pd.DataFrame(frame())
    holes = complete.copy()
    holes.loc[[3, 40], "bern"] = np.nan
    model = rs.RobustScoreMatching(missing="drop", n_blocks=5).fit(holes)
    expected = rs.RobustScoreMatching(n_blocks=5).fit(complete.drop(index=[3, 40]))
    np.testing.assert_allclose(model.interaction_, expected.interaction_)
    assert model.n_rows_used_ == 58
    assert (model.row_weights_[[3, 40]] == 0).all()
    losses = model.row_losses(holes)
    assert np.isnan(losses[[3, 40]]).all()
    assert np.isfinite(np.delete(losses, [3, 40])).all()
    assert np.isfinite(model.score(holes))
    with pytest.raises(ValueError, match="NaN"):
        expected.score(holes)


def test_rows_of_zeros():
    X = np.random.default_rng(0).gamma(2.0, size=(100, 3))
    X[:50] = 0.0
    with pytest.raises(ValueError, match="50 of 100 blocks are identical"):
        rs.RobustScoreMatching(n_blocks=100).fit(X)


def test_other_columns_when_scoring():
    model = rs.RobustScoreMatching().fit(np.random.default_rng(0).gamma(2.0, size=(60, 3)))
    with pytest.raises(ValueError, match="3 features"):
        model.score(np.ones((5, 2)))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: rs.families.Power(-1, 0.5), "a=-1"),
        (lambda: rs.families.SquareRoot(domain=rs.domains.Real()), "negative values"),
        (lambda: rs.families.SquareRoot(boundary=1.5), "rs.boundary"),
        (lambda: rs.families.SquareRoot(domain=[(0, 1)]), "rs.domains"),
        (lambda: rs.n_blocks_for(10, "a"), "contamination='a'"),
        (lambda: rs.n_blocks_for(10.5, 0.1), "n=10.5"),
        (lambda: rs.boundary.Power(-1), "p=-1"),
        (lambda: rs.boundary.CappedPower(1, 0), "cap=0"),
        (lambda: rs.domains.Intervals([]), "at least one"),
        (lambda: rs.domains.Intervals([(1, 0)]), "lower < upper"),
        (lambda: rs.domains.Intervals([(0, 2), (1, 3)]), "overlap"),
        (
            lambda: rs.score_elements(rs.families.TruncatedGaussian(domain=rs.domains.Box([0, 0], 1)), np.ones((3, 3))),
            "2 bounds",
        ),
        (
            lambda: rs.score_elements(rs.families.TruncatedGaussian(domain=rs.domains.Box(0, 1)), [[0.5, 2.0]]),
            "outside the domain",
        ),
        (lambda: rs.score_elements("sqrt", [["a", "b"]]), "numeric"),
        (lambda: rs.score_elements("sqrt", [[1.0, np.nan]]), "NaN"),
        (
            lambda: rs.score_elements("sqrt", [[1.0, -2.0]]),
            "^Negative values in data passed to score_elements: column 'x1'",
        ),
    ],
)
def test_families_domains_and_weights_refuse_what_makes_no_sense(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        make()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (
            pd.Series(["wet", "dry"] * 30),
            r"'bern' \(text such as 'wet'\)\. Drop them \(X\.select_dtypes\('number'\) keeps",
        ),
        (pd.Series(["wet", "dry"] * 30, dtype="category"), r"'bern' \(categories such as 'wet'\)"),
        (pd.Series(["1.5", "2"] * 30), r"'bern' \(numbers as text, such as '1.5'\)"),
        (pd.Series(["mm", *[1.0] * 59], dtype=object), r"'bern' \(text such as 'mm'\)"),
        (pd.Series(pd.date_range("2000", periods=60)), r"'bern' \(dates or times\)"),
        (pd.Series(pd.period_range("2000", periods=60, freq="M")), r"'bern' \(period\[M\]\)"),
    ],
)
def test_what_is_no_number_is_shown(column, said):
    with pytest.raises(ValueError, match=said):
        rs.RobustGraph("sqrt").fit(pd.DataFrame(frame()).assign(bern=column))


def test_sparse_columns_of_pandas_are_read():
    X = pd.DataFrame(frame())
    sparse = X.astype(pd.SparseDtype("float"))
    np.testing.assert_array_equal(
        rs.RobustGraph("sqrt").fit(sparse).interaction_, rs.RobustGraph("sqrt").fit(X).interaction_
    )


@pytest.mark.parametrize(("X", "what"), [(frame(), "columns"), (pd.DataFrame(frame()).to_dict("records"), "rows")])
def test_dictionaries_are_to_become_data_frames(X, what):
    with pytest.raises(TypeError, match=rf"X holds {what} by name; pass a data frame, such as pandas.DataFrame\(X\)"):
        rs.RobustGraph("sqrt").fit(X)


def test_data_in_place_of_a_family_are_refused():
    X = pd.DataFrame(frame())
    with pytest.raises(ValueError, match=r"^family=<DataFrame> is not known; use one of"):
        rs.RobustGraph(X).fit(X)


def test_columns_of_zeros_that_end_a_fit_are_said_to_be_so_and_the_advice_works():
    """Counts of species, most of them zero."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.15, size=(120, 6)).astype(float)
    X = pd.DataFrame(counts, columns=[f"species {k}" for k in range(6)])
    words = r"\d\d% of the cells of columns? 'species .* are zero, .*family='copula', which takes zeros"
    with pytest.raises(ValueError, match=words) as error:
        rs.RobustGraph("sqrt").fit(X)
    assert "fit_location" not in str(error.value)
    assert np.abs(rs.RobustGraph("copula").fit(X).association_).max() <= 1
