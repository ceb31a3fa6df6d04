"""Runs can be stopped, resumed and spread over cores without changing a bit; what is wrong is said in one line."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from robscore.cli import app
from robscore.paper import EXPERIMENTS, InterruptedRunError, reproduce
from robscore.paper.squared_errors import BlocksSqrt

SMALL = {**BlocksSqrt().settings(quick=True), "simulations": 4, "blocks": [1, 20], "n_rows": 100}


class Stopped(BlocksSqrt):
    """An experiment whose user loses patience."""

    def __init__(self, after):
        self.left = after

    def run(self, task, settings, seed):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return super().run(task, settings, seed)


def test_the_number_of_jobs_does_not_change_a_byte(tmp_path):
    one = reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path / "one")
    two = reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path / "two", jobs=2)
    assert one.csv.read_bytes() == two.csv.read_bytes()
    other = reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path / "other", seed=1)
    assert other.csv.read_bytes() != one.csv.read_bytes()


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    seen = []
    with pytest.raises(InterruptedRunError, match="3 of 4 repetitions done"):
        reproduce(Stopped(3), settings=SMALL, out=tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    resumed = reproduce(Stopped(1), settings=SMALL, out=tmp_path)
    whole = reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path / "whole")
    assert resumed.csv.read_bytes() == whole.csv.read_bytes()


def test_results_of_other_settings_are_not_mixed(tmp_path):
    reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path)
    with pytest.raises(ValueError, match=r"results of other settings \(n_rows, seed differ\)"):
        reproduce(BlocksSqrt(), settings={**SMALL, "n_rows": 120}, seed=3, out=tmp_path)
    (tmp_path / "blocks-sqrt" / "settings.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path)


def test_a_damaged_repetition_is_run_again(tmp_path):
    whole = reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path)
    expected = whole.csv.read_bytes()
    (tmp_path / "blocks-sqrt" / "repetitions" / "00002.json").write_text("\n")
    again = reproduce(Stopped(1), settings=SMALL, out=tmp_path)
    assert again.csv.read_bytes() == expected


@pytest.mark.parametrize("content", ["[]", "{"])
def test_settings_that_cannot_be_read(content, tmp_path):
    reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path)
    (tmp_path / "blocks-sqrt" / "settings.json").write_text(content)
    with pytest.raises(ValueError, match="cannot be read"):
        reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="Cannot write to"):
        reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path / "sub")


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "here").write_text("")
    with pytest.raises(ValueError, match="Cannot write to"):
        reproduce(BlocksSqrt(), settings=SMALL, out=tmp_path / "here")


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_the_list_names_all_experiments():
    result = invoke("reproduce", "--list")
    assert result.exit_code == 0
    assert all(name in result.output for name in EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        (["roc"], 2, "'roc' is not an experiment; use one of roc-sqrt"),
        (["theory", "--ecad", "x"], 2, "--ecad is for alps"),
        (["alps", "--ecad", "nowhere.zip"], 1, "nowhere.zip does not exist"),
        (["theory", "--jobs", "0"], 2, "jobs"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, code, match, tmp_path):
    result = invoke("reproduce", *arguments, "--out", str(tmp_path))
    assert result.exit_code == code
    assert match in result.output
    assert "Traceback" not in result.output


def test_a_run_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setattr(BlocksSqrt, "settings", lambda self, *, quick: SMALL)
    result = invoke("reproduce", "blocks-sqrt", "--quick", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "best number of blocks" in result.output
    assert str(tmp_path / "blocks-sqrt" / "blocks-sqrt.csv") in result.output
    known = json.loads((tmp_path / "blocks-sqrt" / "settings.json").read_text())
    assert known["experiment"] == "blocks-sqrt"


def test_the_command_is_installed():
    done = subprocess.run([sys.executable, "-m", "robscore", "reproduce", "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "--quick" in done.stdout
