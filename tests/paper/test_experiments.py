"""The quick version of every experiment shows what the paper says."""

import csv

import pytest

from robscore.paper import EXPERIMENTS, reproduce
from robscore.paper.experiment import select
from robscore.paper.roc_curves import areas, height
from robscore.paper.squared_errors import best_blocks


def figure_1(rows):
    for n in (80, 200, 1000):
        clean, dirty = areas(rows, n=n, data="clean"), areas(rows, n=n, data="contaminated")
        assert abs(clean["GMoM"] - clean["classic"]) < 0.01
        if n > 80:
            assert dirty["GMoM"] > dirty["classic"] + 0.02
    # The prototype's areas, within the noise of few simulations.
    expected = {80: (0.764, 0.722, 0.727), 200: (0.789, 0.707, 0.740), 1000: (0.855, 0.645, 0.786)}
    for n, (clean, classic, gmom) in expected.items():
        dirty = areas(rows, n=n, data="contaminated")
        assert areas(rows, n=n, data="clean")["GMoM"] == pytest.approx(clean, abs=0.05)
        assert dirty["classic"] == pytest.approx(classic, abs=0.05)
        assert dirty["GMoM"] == pytest.approx(gmom, abs=0.05)
    low = {method: height(rows, method, 0.05, n=80, data="contaminated") for method in ("classic", "GMoM")}
    assert low["GMoM"] > low["classic"]
    (bound,) = {row["multiplier_bound"] for row in rows if row["n"] == 80}
    assert 0.3 < bound < 0.45


def more_bad_rows_widen_the_gap_and_another_graph_leaves_a_small_one(rows):
    gap = {
        scenario: areas(rows, scenario=scenario)["GMoM"] - areas(rows, scenario=scenario)["classic"]
        for scenario in ("5 % Pareto", "10 % Pareto", "5 % rows from another graph")
    }
    assert gap["10 % Pareto"] > gap["5 % Pareto"] > 0.05
    assert gap["5 % Pareto"] > gap["5 % rows from another graph"] > 0


def gaussian_methods_agree_on_clean_data_and_robust_ones_lead_on_bad_data(rows):
    clean, dirty = areas(rows, data="clean"), areas(rows, data="contaminated")
    assert max(clean.values()) - min(clean.values()) < 0.03
    robust = ("GMoM", "graphical lasso, MAD-Spearman")
    assert min(dirty[method] for method in robust) > dirty["classic"] + 0.03
    assert abs(dirty[robust[0]] - dirty[robust[1]]) < 0.05


def the_best_number_of_blocks_for_a_mean_and_a_covariance(rows):
    assert min(best_blocks(rows, "mean")) >= 75
    assert all(20 <= best <= 50 for best in best_blocks(rows, "covariance"))


def more_contamination_wants_more_blocks(rows):
    best = [min(select(rows, contamination=share), key=lambda row: row["mse"])["n_blocks"] for share in (0.05, 0.10)]
    assert best[0] <= best[1]
    classic = select(rows, contamination=0.05, n_blocks=1)[0]["mse"]
    assert classic > 3 * select(rows, contamination=0.05, n_blocks=200)[0]["mse"]


def fewest_edges_cross_the_ridge_with_gmom(rows):
    assert select(rows, contamination=0.0, method="classic")[0]["alps_fdr"] == 0
    fdr = {row["method"]: row["alps_fdr"] for row in select(rows, contamination=0.05)}
    assert fdr["GMoM"] < min(fdr["classic"], fdr["Gaussian graphical model"]) - 5
    assert all(row["data"] == "simulated" for row in rows)


def only_the_componentwise_median_is_indefinite(rows):
    assert max(row["indefinite_geometric"] for row in rows) == 0
    assert max(row["indefinite_componentwise"] for row in rows) > 0.5


def the_robust_error_falls_with_n_and_the_classic_one_does_not(rows):
    robust, classic = ([row["squared_error"] for row in select(rows, method=m)] for m in ("GMoM", "classic"))
    assert robust[-1] < 0.5 * robust[0]
    assert classic[-1] > 0.8 * classic[0]


def the_radius_of_theorem_3_1_holds(rows):
    assert max(row["value"] for row in select(rows, quantity="radius_exceeded")) <= 0.1
    assert all(row["value"] > 0 for row in select(rows, quantity="gamma_trace"))


CLAIMS = {
    "roc-sqrt": figure_1,
    "roc-contamination": more_bad_rows_widen_the_gap_and_another_graph_leaves_a_small_one,
    "roc-gaussian": gaussian_methods_agree_on_clean_data_and_robust_ones_lead_on_bad_data,
    "blocks-gaussian": the_best_number_of_blocks_for_a_mean_and_a_covariance,
    "blocks-sqrt": more_contamination_wants_more_blocks,
    "alps": fewest_edges_cross_the_ridge_with_gmom,
    "why-geometric": only_the_componentwise_median_is_indefinite,
    "consistency": the_robust_error_falls_with_n_and_the_classic_one_does_not,
    "theory": the_radius_of_theorem_3_1_holds,
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_quick_run_leaves_its_files_and_bears_out_the_paper(name, tmp_path):
    report = reproduce(EXPERIMENTS[name], quick=True, out=tmp_path)
    with report.csv.open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(report.rows)
    assert report.figure.stat().st_size > 10_000
    assert len(report.text) > 60
    assert report.csv.with_suffix(".txt").read_text().strip() == report.text
    assert "nan" not in report.csv.read_text().lower()
    CLAIMS[name](report.rows)
