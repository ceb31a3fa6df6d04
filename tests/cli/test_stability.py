"""How often edges recur in halves of the rows, from the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from running import run

import robscore as rs
from robscore._tools.progress import watched_by
from robscore.certainty import stability
from robscore.cli.signals import Ended

HALVES = 4


@pytest.fixture(scope="module")
def frame():
    truth = rs.simulate.random_model(4, 3, random_state=1)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=120, random_state=2)
    return pd.DataFrame(X, columns=list("abcd"))


@pytest.fixture(scope="module")
def fitted(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stability")
    frame.to_csv(folder / "x.csv", index=False)
    options = ("--family", "sqrt", "--no-compare", "--json")
    return folder, run("fit", folder / "x.csv", "--out", folder / "out", "--stability", HALVES, *options)


def test_edges_say_how_often_they_recur(frame, fitted):
    folder, result = fitted
    assert result.exit_code == 0, result.output
    edges = pd.read_csv(folder / "out" / "edges.csv")
    model = rs.RobustGraph("sqrt", random_state=0)
    found = rs.edge_stability(model, frame, n_pairs=HALVES // 2, progress=False)
    column = [frame.columns.get_loc(name) for name in edges["source"]]
    row = [frame.columns.get_loc(name) for name in edges["target"]]
    assert len(edges) > 0
    assert edges["stability"].tolist() == found.frequency[column, row].tolist()
    told = json.loads(result.stdout)
    assert [edge["stability"] for edge in told["edges"]] == edges["stability"].tolist()
    assert f"of {HALVES} fits to half of the rows" in told["how_sure"]
    assert f"the share of {HALVES} fits to random halves" in (folder / "out" / "report.html").read_text()


def test_a_repeated_fit_has_it_too_and_another_fit_replaces_its_files(fitted):
    folder, _ = fitted
    assert run("fit", "--from", folder / "out" / "model.json", "--out", folder / "again").exit_code == 0
    for name in ("edges.csv", "report.html", "model.json"):
        assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes()
    assert run("fit", folder / "x.csv", "--out", folder / "again", "--edges", 2, "--no-compare").exit_code == 0
    assert "stability" not in (folder / "again" / "edges.csv").read_text()


def test_halves_that_cannot_be_fitted_cost_no_results(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in np.random.default_rng(0).normal(size=(3, 2))))
    result = run("fit", path, "--out", tmp_path / "out", "--stability", 2, "--alpha", 1, "--no-compare")
    assert result.exit_code == 0, result.output
    assert "No stability: X has 3 rows, in blocks of 1: too few to be halved" in result.stderr
    assert (tmp_path / "out" / "edges.csv").read_text().startswith("source,target,interaction,association\n")


def test_one_half_is_too_few(fitted):
    folder, _ = fitted
    result = run("fit", folder / "x.csv", "--stability", 1)
    assert result.exit_code == 2
    assert "--stability" in result.stderr


def test_progress_counts_the_halves_and_not_what_happens_in_them(frame):
    seen = []
    with watched_by(lambda *told: seen.append(told)):
        rs.edge_stability(rs.RobustGraph("sqrt", alphas=5), frame, n_pairs=1, progress=False)
    assert seen == [("", 1, 2), ("", 2, 2)]


def test_a_command_that_is_told_to_end_does_not_go_on_with_what_it_has(frame, monkeypatch):
    def interrupted(work, tasks, n_jobs):
        yield 0, {"edges": [[0, 1, 1]]}
        raise ending

    monkeypatch.setattr(stability, "run_all", interrupted)
    ending = Ended(15)
    with pytest.raises(Ended):
        rs.edge_stability(rs.RobustGraph("sqrt"), frame, n_pairs=1, progress=False)
    ending = KeyboardInterrupt()
    with pytest.warns(UserWarning, match="Stopped after 1 of 2 halves"):
        assert rs.edge_stability(rs.RobustGraph("sqrt"), frame, n_pairs=1, progress=False).n_done == 1
