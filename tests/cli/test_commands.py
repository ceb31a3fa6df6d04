"""The other commands, their help, and how quickly it comes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from running import run

from robscore.cli.command_options import as_value

COMMANDS = ("demo", "fit", "report", "simulate", "reproduce", "bench")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"robscore {command}" in result.output.split("Usage:")[1].split("\n", 1)[1]


def test_help_is_quick():
    """It loads none of the libraries that take long to load."""
    command = [sys.executable, "-X", "importtime", "-m", "robscore", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[1].strip() for line in result.stderr.splitlines() if line.startswith("import time:")}
    assert "robscore.cli" in loaded
    slow = {
        "numpy",
        "scipy",
        "sklearn",
        "numba",
        "pandas",
        "pyarrow",
        "narwhals",
        "matplotlib",
        "networkx",
        "dask",
        "jax",
    }
    assert loaded & slow == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "x.csv", "--alpha", "x"],
        ["fit", "--nope"],
        ["what"],
        ["simulate", "--bad", "0.9"],
        ["fit", "x", "--n-blocks", "2.5"],
    ],
)
def test_what_cannot_be_understood_is_answered_in_one_line(arguments):
    result = subprocess.run([sys.executable, "-m", "robscore", *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("robscore: ")
    assert len(result.stderr.splitlines()) == 1
    assert "--help" in result.stderr


def test_every_family_can_be_simulated_and_fitted(tmp_path):
    for family in ("sqrt", "gaussian", "gamma", "truncated-gaussian", "log-log"):
        size = ("--rows", 80, "--columns", 3, "--edges", 2)
        made = run("simulate", "--family", family, *size, "--out", tmp_path / family)
        assert made.exit_code == 0, made.output
        data = tmp_path / family / "data.csv"
        fitted = run("fit", data, "--family", family, "--out", tmp_path / family / "out", "--no-compare")
        assert fitted.exit_code == 0, fitted.output
    assert "does not suit" in run("simulate", "--family", "gaussian", "--kind", "pareto").stderr
    assert "is not one to simulate" in run("simulate", "--family", "simplex").stderr


def test_version():
    from robscore import __version__

    assert run("--version").output == f"robscore {__version__}\n"


def test_demo_tells_and_shows_that_robust_beats_classic(tmp_path):
    result = run("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 0, result.output
    assert result.stdout.strip().endswith(f"Now open {tmp_path / 'demo' / 'report.html'}")
    lines = {line.split()[0]: line.split() for line in result.stdout.splitlines() if "that cross the ridge" in line}
    classic, robust = (int(lines[method][2]) for method in ("classic", "robust"))
    assert robust > 35 > 15 > classic
    assert (tmp_path / "demo" / "map.png").read_bytes()[:4] == b"\x89PNG"
    kept = json.loads((tmp_path / "demo" / "model.json").read_text())
    assert len(kept["coordinates"]) == 30
    again = run("fit", "--from", tmp_path / "demo" / "model.json", "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again" / "model.json").read_bytes() == (tmp_path / "demo" / "model.json").read_bytes()


@pytest.mark.parametrize("kind", ["pareto", "other-graph"])
def test_simulated_data_come_with_their_truth(tmp_path, kind):
    arguments = ("--rows", 200, "--columns", 5, "--edges", 4, "--bad", 0.1, "--seed", 3, "--kind", kind)
    result = run("simulate", *arguments, "--out", tmp_path / "a")
    assert result.exit_code == 0, result.output
    data, truth, bad = (pd.read_csv(tmp_path / "a" / f"{name}.csv") for name in ("data", "truth", "bad_rows"))
    assert data.shape == (200, 5)
    assert len(truth) == 4
    assert set(truth["source"]) | set(truth["target"]) <= set(data.columns)
    assert len(bad) == 20
    assert bad["row"].between(1, 200).all()
    run("simulate", *arguments, "--out", tmp_path / "b")
    assert (tmp_path / "b" / "data.csv").read_bytes() == (tmp_path / "a" / "data.csv").read_bytes()
    run("simulate", *arguments, "--bad", 0, "--out", tmp_path / "c")
    clean = pd.read_csv(tmp_path / "c" / "data.csv")
    changed = np.flatnonzero((clean != data).any(axis=1)) + 1
    assert changed.tolist() == bad["row"].tolist()


def test_reports_are_drawn_again_without_the_data(tmp_path):
    run("simulate", "--rows", 200, "--columns", 5, "--edges", 4, "--out", tmp_path / "s")
    run("fit", tmp_path / "s" / "data.csv", "--out", tmp_path / "a")
    page = (tmp_path / "a" / "report.html").read_bytes()
    (tmp_path / "s" / "data.csv").unlink()
    (tmp_path / "a" / "report.html").unlink()
    assert run("report", tmp_path / "a" / "model.json").exit_code == 0
    assert (tmp_path / "a" / "report.html").read_bytes() == page
    result = run("report", tmp_path / "a" / "model.json", "--out", tmp_path / "b.html", "--title", "<b>Mine</b>")
    assert result.exit_code == 0
    assert "&lt;b&gt;Mine&lt;/b&gt;" in (tmp_path / "b.html").read_text()


def test_reports_of_something_else_are_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"a": 1}')
    (tmp_path / "y.json").write_text("no")
    for name, words in (("x.json", "is not a model.json"), ("y.json", "not JSON"), ("z.json", "cannot be read")):
        result = run("report", tmp_path / name)
        assert result.exit_code == 1
        assert words in result.stderr


def test_values_of_set():
    assert [as_value(text) for text in ("3", "0.5", "none", "True", "and")] == [3, 0.5, None, True, "and"]


def test_benchmarks_run_in_a_checkout_only(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # undone afterwards, with what the command puts there
    monkeypatch.chdir(Path(__file__).parents[2])
    listed = run("bench", "--list", "growth", "rivals_speed")
    assert listed.exit_code == 0, listed.output
    assert [line.split(":")[0] for line in listed.stdout.splitlines()] == ["growth", "rivals_speed"]
    unknown = run("bench", "nope")
    assert unknown.exit_code == 2
    assert "growth" in unknown.stderr
    monkeypatch.chdir(tmp_path)
    elsewhere = run("bench")
    assert elsewhere.exit_code == 1
    assert len(elsewhere.stderr.splitlines()) == 1
    assert "git clone" in elsewhere.stderr
    assert "make bench" in elsewhere.stderr
