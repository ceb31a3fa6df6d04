"""`robscore fit` as a new user meets it: one command, files of all kinds, and one line where something is wrong."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from running import FILES, run

import robscore as rs


@pytest.fixture(scope="module")
def rain():
    """Simulated rows of a square-root model with bad ones among them, as a data frame with a column of dates."""
    truth = rs.simulate.random_model(6, 6, random_state=1)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=300, random_state=2)
    X, _ = rs.simulate.contaminate_pareto(X, 0.05, random_state=3)
    frame = pd.DataFrame(X, columns=[f"town {k}" for k in range(6)])
    frame.insert(0, "day", pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d"))
    return frame


def save(frame, path, **options):
    frame.to_csv(path, index=False, **options)
    return path


QUICK = ("--no-compare", "--n-blocks", 1, "--set", "alphas=10")  # where it does not matter what is found


def one_line(result, code=1):
    assert result.exit_code == code, result.output
    lines = result.stderr.strip().splitlines()
    assert lines[-1].startswith("robscore: "), result.stderr
    assert "Traceback" not in result.output
    return lines[-1]


def test_edges_of_a_copula_say_how_many_rows_they_are_worth(tmp_path):
    z = np.random.default_rng(0).normal(size=(200, 3)) @ (np.eye(3) + np.eye(3, k=1))
    X = pd.DataFrame({"x": z[:, 0], "answer": np.round(z[:, 1]), "yes": (z[:, 2] > 0).astype(int)})
    run("fit", save(X, tmp_path / "x.csv"), "--out", tmp_path / "out", "--family", "copula", *QUICK)
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    record = rs.report.Record.from_json(tmp_path / "out" / "model.json")
    worth = {(i, j): rows for i, j, *_, rows in record.certainty["pairs"]}
    assert len(edges) >= 2
    assert edges["effective"].tolist() == pytest.approx([worth[i, j] for i, j, *_ in record.edges])
    assert edges["effective"].between(20, 200).all()


def test_one_command_gives_all_files_and_says_what_was_found(rain, tmp_path):
    path = save(rain, tmp_path / "my rain.csv")
    out = tmp_path / "with spaces" / "out"
    result = run("fit", path, "--out", out)
    assert result.exit_code == 0, result.output
    assert {entry.name for entry in out.iterdir()} == set(FILES)
    assert "pairs of variables" in result.stdout
    assert str(out / "report.html") in result.stdout
    assert "note: Column 'day' labels the rows" in result.stderr


def test_tests_choose_the_graph_at_the_rate_that_is_given(rain, tmp_path):
    options = "--family", "sqrt", "--select", "fdr", "--set", "fdr=0.02"
    result = run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    model = rs.RobustGraph("sqrt", select="fdr", fdr=0.02, random_state=0).fit(rain.drop(columns="day"))
    assert len(edges) == model.graph_.n_edges > 0
    assert (edges["q_value"] <= 0.02).all()
    run("fit", "--from", tmp_path / "out" / "model.json", "--out", tmp_path / "again")
    assert (tmp_path / "again" / "edges.csv").read_bytes() == (tmp_path / "out" / "edges.csv").read_bytes()


def test_what_is_written_is_what_the_library_finds(rain, tmp_path):
    run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "out", "--edges", 5, "--family", "sqrt")
    X = rain.drop(columns="day")
    model = rs.RobustGraph("sqrt", n_edges=5, random_state=0).fit(X)
    exact = dict.fromkeys(["estimate", "low", "q_value"], float)  # pandas 2 does not read to the last bit
    edges = pd.read_csv(tmp_path / "out" / "edges.csv", converters=exact)
    pd.testing.assert_frame_equal(edges.iloc[:, :4], model.edges(), check_dtype=False)
    tests = edges[["source", "target"]].merge(model.edge_intervals(fdr=0.1), on=["source", "target"])
    for column, of_tests in (("estimate", "association"), ("low", "association_low"), ("q_value", "q_value")):
        assert edges[column].tolist() == tests[of_tests].tolist()
    assert "effective" not in edges
    rows = pd.read_csv(tmp_path / "out" / "rows.csv")
    table = model.suspicious_rows()
    assert rows["row"].tolist() == (table["row"] + 1).tolist()
    assert rows["label"].tolist() == rain["day"].iloc[table["row"]].tolist()
    assert rows["flagged"].tolist() == table["flagged"].tolist()
    weights = model.row_weights_[table["row"], 0]
    np.testing.assert_allclose(rows["weight"], weights / model.row_weights_[:, 0].max(), rtol=1e-12)
    tree = ElementTree.parse(tmp_path / "out" / "graph.graphml")
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert {node.get("id") for node in tree.iter(f"{space}node")} == set(X.columns)
    assert len(list(tree.iter(f"{space}edge"))) == 5


def test_a_fit_is_repeated_bit_for_bit(rain, tmp_path):
    path = save(rain, tmp_path / "x.csv")
    first = run(
        "fit", path, "--out", tmp_path / "a", "--select", "stars", "--shuffle", "--seed", 7, "--n-blocks", 40,
        "--exclude", "town 5", "--set", "alphas=10", "--set", "location_ratio=10",
    )  # fmt: skip
    assert first.exit_code == 0, first.output
    second = run("fit", "--from", tmp_path / "a" / "model.json", "--out", tmp_path / "b")
    assert second.exit_code == 0, second.output
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    settings = json.loads((tmp_path / "a" / "model.json").read_text())["settings"]
    assert (settings["random_state"], settings["n_blocks"], settings["alphas"]) == (7, 40, 10)


def test_a_repeated_fit_minds_changed_data_and_takes_new_options(rain, tmp_path):
    path = save(rain, tmp_path / "x.csv")
    run("fit", path, "--out", tmp_path / "a", "--edges", 5, *QUICK)
    model = tmp_path / "a" / "model.json"
    assert run("fit", "--from", model, "--edges", 3, "--out", tmp_path / "b").exit_code == 0
    assert len(pd.read_csv(tmp_path / "b" / "edges.csv")) == 3
    save(rain.iloc[:200], path)
    assert "has changed since model.json was written" in one_line(run("fit", "--from", model))
    assert run("fit", path, "--from", model, "--out", tmp_path / "c").exit_code == 0
    path.unlink()
    assert "no longer exists" in one_line(run("fit", "--from", model))
    assert "is not a model.json of robscore" in one_line(run("fit", "--from", save(rain, tmp_path / "no.json")))


def test_infinite_arguments_survive(rain, tmp_path):
    run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "a", *QUICK)
    assert json.loads((tmp_path / "a" / "model.json").read_text())["settings"]["location_ratio"] == "inf"
    assert run("fit", "--from", tmp_path / "a" / "model.json", "--out", tmp_path / "b").exit_code == 0


def test_german_files(rain, tmp_path):
    plain = run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "a", "--edges", 5, *QUICK)
    path = save(rain, tmp_path / "y.csv", sep=";", decimal=",")
    german = run("fit", path, "--out", tmp_path / "b", "--edges", 5, *QUICK)
    assert "semicolon between columns and decimal commas" in german.stderr
    assert plain.exit_code == german.exit_code == 0
    assert (tmp_path / "a" / "edges.csv").read_bytes() == (tmp_path / "b" / "edges.csv").read_bytes()


def test_columns_that_say_nothing_are_left_out_and_named(rain, tmp_path):
    frame = rain.assign(flat=3.0, kind=np.where(np.arange(len(rain)) % 2, "wet", "dry"))
    result = run("fit", save(frame, tmp_path / "x.csv"), "--out", tmp_path / "a", *QUICK)
    assert "note: Dropped (constant): 'flat'." in result.stderr
    assert "note: Dropped (not numeric): 'kind'." in result.stderr
    assert json.loads((tmp_path / "a" / "model.json").read_text())["names"] == [f"town {k}" for k in range(6)]


def test_missing_values_are_an_error_that_names_the_way_out(rain, tmp_path):
    frame = rain.copy()
    frame.loc[[3, 8], "town 2"] = np.nan
    path = save(frame, tmp_path / "x.csv")
    words = one_line(run("fit", path, "--out", tmp_path / "a"))
    assert "missing values: column 'town 2' has 2 (first in data row 4)" in words
    assert "--missing drop" in words
    assert not (tmp_path / "a").exists()
    dropped = run("fit", path, "--out", tmp_path / "a", "--missing", "drop", *QUICK)
    assert "2 incomplete rows were left out" in dropped.stdout


def test_negative_values_name_the_family_to_take(rain, tmp_path):
    frame = rain.copy()
    frame.loc[0, "town 1"] = -1.0
    path = save(frame, tmp_path / "x.csv")
    words = one_line(run("fit", path, "--out", tmp_path / "a", "--family", "sqrt"))
    assert words.startswith("robscore: Negative values in the data: column 'town 1' has 1 (first in data row 1)")
    assert "--family gaussian" in words
    assert run("fit", path, "--out", tmp_path / "a", "--family", "gaussian", *QUICK).exit_code == 0
    told = run("fit", path, "--out", tmp_path / "a").output
    assert "Caution: Only 1 of 1800 values is below zero (in 'town 1')" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "has 1 row of data"),
        ("a,b\n", "has no rows of data"),
        ("", "is empty"),
        ("a,a\n1,2\n2,3\n", "both named 'a'"),
        ("a,b\n1,x\n2,3\n4,5\n", "first 'x' in data row 1"),
    ],
)
def test_files_that_cannot_be_fitted(tmp_path, text, words):
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert words in one_line(run("fit", path, "--out", tmp_path / "a"))
    assert not (tmp_path / "a").exists()


def test_names_of_all_kinds_come_through(rain, tmp_path):
    names = ["a, b", 'say "hi"', "🌧 rain", "<script>alert(1)</script>", "{{title}}", "$x_1$ & co"]
    frame = rain.set_axis(["day", *names], axis=1)
    result = run("fit", save(frame, tmp_path / "x.csv"), "--out", tmp_path / "a", "--edges", 15, *QUICK)
    assert result.exit_code == 0, result.output
    with (tmp_path / "a" / "edges.csv").open(newline="", encoding="utf-8") as file:
        seen = {name for row in list(csv.reader(file))[1:] for name in row[:2]}
    assert seen == set(names)
    page = (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["--edges", "100"], "--edges 100 cannot be reached", 1),
        (["--alpha", "0.1", "--edges", "3"], "--alpha and --edges contradict each other", 2),
        (["--edges", "3", "--select", "cv"], "--edges and --select contradict each other", 2),
        (["--n-blocks", "5", "--contamination", "0.1"], "give one of them", 2),
        (["--outline", "x.csv"], "give --coords too", 2),
        (["--family", "Poisson"], "--family Poisson is not known", 1),
        (["--contamination", "0.9"], "--contamination 0.9", 1),
        (["--select", "aic"], "--select aic is not known", 1),
        (["--family", "poisson"], "--family poisson", 1),
        (["--n-blocks", "1000"], "--n-blocks 1000", 1),
        (["--set", "colour=red"], "RobustGraph has no such argument", 2),
        (["--coords", "nowhere.csv"], "--coords nowhere.csv does not exist", 1),
        (["--columns", "city*"], "--columns city*: no such column", 1),
    ],
)
def test_wrong_arguments_are_answered_in_one_line(rain, tmp_path, arguments, words, code):
    path = save(rain, tmp_path / "x.csv")
    assert words in one_line(run("fit", path, "--out", tmp_path / "a", *arguments), code)
    assert not (tmp_path / "a").exists()


def test_other_wrong_arguments(rain, tmp_path):
    path = save(rain, tmp_path / "x.csv")
    assert "Name a data file" in one_line(run("fit", "--edges", 3), code=2)
    assert run("fit", path, "--n-blocks", "many").exit_code == 2
    assert "does not exist" in one_line(run("fit", tmp_path / "none.csv"))


def test_debug_shows_the_traceback(tmp_path):
    result = run("fit", tmp_path / "none.csv", "--debug")
    assert isinstance(result.exception, ValueError)


def test_a_folder_that_cannot_be_written_to_is_said_before_any_work(rain, tmp_path, monkeypatch):
    path = save(rain, tmp_path / "x.csv")
    (tmp_path / "file").write_text("")
    fitted = []
    monkeypatch.setattr(rs.RobustGraph, "fit", lambda self, X: fitted.append(X))
    assert "Cannot write to" in one_line(run("fit", path, "--out", tmp_path / "file" / "out"))
    assert fitted == []
    if os.geteuid() != 0:  # root may write everywhere
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        assert "Cannot write to" in one_line(run("fit", path, "--out", locked))


def test_a_map_from_coordinates(rain, tmp_path):
    places = pd.DataFrame({"name": [f"town {k}" for k in range(6)], "latitude": 45.0 + np.arange(6), "longitude": 7.0})
    coords = save(places, tmp_path / "towns.csv")
    run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "a", "--coords", coords, "--edges", 5, *QUICK)
    kept = json.loads((tmp_path / "a" / "model.json").read_text())
    assert kept["coordinates"][2] == [47.0, 7.0]
    assert 'attr.name="latitude"' in (tmp_path / "a" / "graph.graphml").read_text()
    one_line(run("fit", tmp_path / "x.csv", "--coords", save(places.iloc[:3], coords), "--out", tmp_path / "b"))


def test_classic_fits_have_nothing_to_be_compared_with(rain, tmp_path):
    result = run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "a", "--n-blocks", 1)
    assert "Classic score matching: all 300 rows have the same weight" in result.stdout
    assert json.loads((tmp_path / "a" / "model.json").read_text())["classic"] is None


@pytest.mark.long  # in every run, test_signals.py stops a fit
def test_interrupted_fits_leave_nothing_behind(tmp_path):
    X = np.random.default_rng(0).gamma(2.0, size=(3000, 150))
    path = save(pd.DataFrame(X).add_prefix("v"), tmp_path / "x.csv")
    out = tmp_path / "a"
    long = ["--set", "alphas=5000", "--set", "tol=1e-13"]  # longer than any machine takes to get to the next lines
    command = [sys.executable, "-m", "robscore", "fit", str(path), "--out", str(out), *long]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not out.exists() and process.poll() is None:  # it has not begun
        time.sleep(0.05)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "robscore: Stopped; nothing was written."
    assert not out.exists()


def test_nothing_is_shown_where_nobody_looks(rain, tmp_path):
    path = save(rain.drop(columns="day"), tmp_path / "x.csv")
    command = [sys.executable, "-m", "robscore", "fit", str(path), "--out", str(tmp_path / "a"), *map(str, QUICK)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_one_way_to_choose_the_penalty_puts_the_others_aside(rain, tmp_path):
    run("fit", save(rain, tmp_path / "x.csv"), "--out", tmp_path / "a", "--alpha", 0.1, *QUICK)
    model = tmp_path / "a" / "model.json"
    kept = model.read_bytes()
    for option, value, setting in (("--edges", 3, "n_edges"), ("--select", "ebic", "select")):
        result = run("fit", "--from", model, option, value, "--out", tmp_path / setting)
        assert result.exit_code == 0, result.output
        settings = json.loads((tmp_path / setting / "model.json").read_text())["settings"]
        assert settings[setting] == value
        assert settings["alpha"] is None
    assert model.read_bytes() == kept


def test_a_changed_fit_does_not_take_the_place_of_the_one_it_came_from(rain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(rain, tmp_path / "x.csv")
    run("fit", "x.csv", "--out", "a", "--edges", 5, *QUICK)
    before = (tmp_path / "a" / "model.json").read_bytes()
    assert run("fit", "--from", "a/model.json", "--edges", 3).exit_code == 0
    assert (tmp_path / "a" / "model.json").read_bytes() == before
    assert (tmp_path / "robscore-x" / "model.json").exists()


@pytest.fixture(scope="module")
def record(rain, tmp_path_factory):
    """A model.json, as text."""
    folder = tmp_path_factory.mktemp("record")
    run("fit", save(rain, folder / "x.csv"), "--out", folder / "a", "--edges", 5, *QUICK)
    return (folder / "a" / "model.json").read_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept["settings"].update(bogus=1),
        lambda kept: kept["data"].pop("sha256"),
        lambda kept: kept["data"].update(read={"what": 1}),
        lambda kept: kept.update(rows=None),
        lambda kept: kept.update(settings=[1]),
    ],
)
def test_a_broken_model_is_refused_in_one_line(record, tmp_path, change):
    kept = json.loads(record)
    change(kept)
    (tmp_path / "broken.json").write_text(json.dumps(kept))
    assert "is not a whole model.json" in one_line(run("fit", "--from", tmp_path / "broken.json"))


def test_equal_columns_are_left_out_and_named(rain, tmp_path):
    result = run("fit", save(rain.assign(copy=rain["town 1"]), tmp_path / "x.csv"), "--out", tmp_path / "a", *QUICK)
    assert "note: Dropped (same as another column): 'copy' (equal to 'town 1')." in result.stderr


def test_columns_that_hardly_vary_are_named(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.gamma(2.0, size=(60, 4)), columns=list("abcd")).assign(e=rng.integers(0, 2, 60))
    options = "--out", tmp_path / "a", "--scale", "none", "--family", "sqrt"
    words = one_line(run("fit", save(X, tmp_path / "x.csv"), *options))
    assert "% of the cells of column 'e' are zero, and what is left is too little for this family" in words
    assert "Take --family copula, which takes zeros" in words
    assert "fit_location" not in words
