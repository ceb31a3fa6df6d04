"""Codes for missing values that are read as numbers: suspected where they are repeated and far from all others."""

import numpy as np
import pandas as pd
import pytest
from registry import CASES
from sklearn import datasets

import robscore as rs
from robscore._tools.messages import About
from robscore.cli.command_options import in_options
from robscore.family_choice import suspected_codes


def measured(n=150, m=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.round(np.exp(rng.normal(size=(n, m)) @ (np.eye(m) + np.diag(np.full(m - 1, 0.5), 1)) * 0.5 + 3), 1)


@pytest.mark.parametrize("code", [-999.0, 9999.0, -9.99e20, 1e30])
def test_a_code_is_found_wherever_it_is_and_however_often(code):
    for count in (3, 40, 100):
        X = measured()
        X[:count, 2] = code
        assert suspected_codes(X) == []  # in one column alone it may be a measurement
        X[7, 3] = code
        others, (first, second) = X[count:, 2], suspected_codes(X)
        assert first == (2, code, count, others.min(), others.max())
        assert second[:3] == (3, code, 1)
        X[5, 0] = np.nan
        assert len(suspected_codes(X)) == 2


def test_few_cells_count_in_several_columns_and_codes_may_be_beyond_others():
    X = measured()
    X[3, 1] = -999
    assert suspected_codes(X) == []  # one cell may be an error
    X[7, 3] = -999
    assert [code[:3] for code in suspected_codes(X)] == [(1, -999, 1), (3, -999, 1)]
    X = measured()
    X[:5, :2], X[5:9, :2], X[9:12, :2] = -999, -9999, 99999
    assert {code.value for code in suspected_codes(X)} == {-999, -9999, 99999}
    rng = np.random.default_rng(0)
    X = measured(m=30)
    X[0] = rng.choice([300.0, 400.0, 500.0], size=30)  # a row in another unit
    assert suspected_codes(X) == []
    copies = measured()
    copies[0, 0] = 5000
    assert suspected_codes(np.column_stack([copies, copies[:, 0]])) == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_clean_rows_of_every_family_have_none(case):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert suspected_codes(case.draw(rng, int(rng.integers(20, 400)), 5)) == []


def test_real_tables_zeros_answers_and_bad_rows_have_none():
    rng = np.random.default_rng(0)
    rain = rng.gamma(0.4, 12.0, size=(300, 4)).round(1)
    rain[rng.random(rain.shape) < 0.5] = 0.0
    assert suspected_codes(rain) == []
    assert suspected_codes(rng.integers(0, 2, size=(100, 3)).astype(float)) == []
    assert suspected_codes(rng.choice([1.0, 2.0, 9.0], size=(100, 3))) == []
    assert suspected_codes(rs.datasets.simulated_alpine_rain().X) == []
    for seed in range(20):
        assert suspected_codes(rs.simulate.contaminate_pareto(measured(seed=seed), 0.1, random_state=seed).X) == []
    loads = datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer, datasets.load_diabetes
    for load in (*loads, datasets.load_linnerud, datasets.load_digits):
        assert suspected_codes(load().data.astype(float)) == []


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("family", "code"), [("gaussian", -999), ("sqrt", 9999), ("auto", 9999), ("auto", -999)])
def test_the_caution_names_column_value_rows_and_remedy(family, code):
    X = pd.DataFrame(measured(), columns=["Ozone", "Sun", "Wind", "Temp"])
    low, high = X["Ozone"][37:].min(), X["Ozone"][37:].max()
    X.loc[:36, "Ozone"] = code
    X.loc[140:, "Sun"] = code
    model = rs.RobustGraph(family, n_edges=2, alphas=10).fit(X)
    caution = model.cautions_[0]
    seen = (
        f"Column 'Ozone' has the value {code} in 37 rows, far from all others ({low:g} to {high:g}), and so has 'Sun'"
    )
    assert caution == f"{seen}: a code for missing values? Replace it by NaN."
    assert caution.message.worded(in_options).endswith(f"Read it as missing with --na {code}.")
    assert caution in " ".join(model.summary().split())
    clean = rs.RobustGraph(family, n_edges=2, alphas=10).fit(measured())
    assert About.CODES not in [one.kind for one in clean.cautions_]


def test_where_others_hold_the_value_it_is_missing_in_some_columns_only():
    X = pd.DataFrame(measured(), columns=["Ozone", "Sun rays", "Wind", "Counts"])
    X.loc[:5, ["Ozone", "Sun rays"]] = 9999
    X["Counts"] = np.arange(150.0) * 1000 - 1  # 9999 is one of them
    caution = rs.RobustGraph("gaussian", n_edges=2, alphas=10).fit(X).cautions_[0]
    assert caution.endswith("Replace it by NaN in these columns.")
    assert caution.message.worded(in_options).endswith("with --na Ozone=9999 --na 'Sun rays=9999'.")


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_code_may_mean_missing_in_one_column_only(tmp_path, ending):
    X = pd.DataFrame({"depth": [1.5, -9.0, 3.0, 2.0], "flow=": [-9.0, 2.5, 1.0, 4.0], "rain": [0.5, -9.0, 2.0, 7.5]})
    path = tmp_path / f"x{ending}"
    X.to_csv(path, index=False) if ending == ".csv" else X.to_json(path, orient="records", lines=True)
    for na in ({"depth": -9}, {"depth": ["-9", "x"]}, ["depth=-9"]):
        assert rs.read_table(path, na=na).isna().sum().tolist() == [1, 0, 0]
    assert rs.read_table(path, na=["flow==-9", "-99"]).isna().sum().tolist() == [0, 1, 0]
    assert rs.read_table(path, na=["-9"]).isna().sum().tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="there is no column 'dept'; it has 'depth'"):
        rs.read_table(path, na={"dept": -9})
