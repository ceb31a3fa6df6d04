"""Cells such as "<0.05", "> 100" and "n.d." are known by a limit: files say so, and fits use it."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import robscore as rs
from robscore.cli.commands import app
from robscore.cli.worker import overview
from robscore.reading import DataFileError, ReadOptions, read_data

CELLS = (
    "ph;zinc;lead;age\n7,1;<0,05;2;<18\n6,9;0,3; > 1.000,5;18-29\n7,4;n.d.;3;>65\n7,0;≤ 0,1;n.a.;18-29\n7,0;0,6;2;>65\n"
)


def write(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def test_limits_are_read_with_their_side(tmp_path):
    options = ReadOptions(limits={"zinc": 0.02}, na=("n.a.",), exclude=("age",))
    data = read_data(write(tmp_path, CELLS), options)
    np.testing.assert_array_equal(
        data.values[:, 1:], [[np.nan, 2], [0.3, np.nan], [np.nan, 3], [np.nan, np.nan], [0.6, 2]]
    )
    np.testing.assert_array_equal(data.limits["zinc"], [[np.nan] * 5, [0.05, np.nan, 0.02, 0.1, np.nan]])
    np.testing.assert_array_equal(data.limits["lead"], [[np.nan, 1000.5, np.nan, np.nan, np.nan], [np.nan] * 5])
    assert set(data.limits) == {"zinc", "lead"}
    assert "4 cells are known by a limit ('<0,05' in 'zinc': below 0.05)." in data.notes
    assert overview(data)["missing"]["cells"] == 1


def test_groups_of_ages_are_no_limits(tmp_path):
    data = read_data(write(tmp_path, CELLS), ReadOptions(limits={"zinc": 0.02}, na=("n.a.",)))
    assert data.levels["age"] == ("<18", "18-29", ">65")


def test_what_was_not_detected_needs_a_limit(tmp_path):
    with pytest.raises(DataFileError, match=r"say which: --limit 'zinc=0.05'"):
        read_data(write(tmp_path, CELLS), ReadOptions(na=("n.a.",)))
    text = "a,b\n1,2\nnd,3\n2,nd\n4,5\n"
    assert np.isnan(read_data(write(tmp_path, text)).values).sum() == 2  # nothing is known of these
    data = read_data(write(tmp_path, text), ReadOptions(limits={"a": 0.5, "b": 1.0}))
    assert data.limits["a"][1].tolist()[1] == 0.5
    with pytest.raises(DataFileError, match="--limit c: no such column"):
        read_data(write(tmp_path, text), ReadOptions(limits={"c": 0.5}))


def censored(n=300):
    z = np.random.default_rng(0).normal(size=(n, 3)) @ (np.eye(3) + 0.8 * np.eye(3, k=1))
    frame = pd.DataFrame(np.exp(z), columns=["a", "b", "c"]).round(6)
    return frame, frame["b"] < 0.5


def repeat(tmp_path):
    words = ["fit", "--from", str(tmp_path / "out" / "model.json"), "--out", str(tmp_path / "b")]
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0, again.output


def test_the_command_and_python_give_the_same_graph(tmp_path):
    frame, low = censored()
    texts = frame.astype(str)
    texts.loc[low, "b"] = "<0.5"
    path = write(tmp_path, texts.to_csv(index=False))
    read = rs.read_table(path)
    sides = {side: pd.DataFrame(own) for side, own in read.attrs["limits"].items()}
    model = rs.RobustGraph("copula", n_blocks=1, random_state=0).fit(read, **sides)
    upper = pd.DataFrame({"b": np.where(low, 0.5, np.nan)})
    direct = rs.RobustGraph("copula", n_blocks=1, random_state=0).fit(frame.assign(b=frame["b"].mask(low)), upper=upper)
    np.testing.assert_array_equal(model.association_, direct.association_)
    words = ["fit", str(path), "-f", "copula", "--n-blocks", "1", "--stability", "2", "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    edges = pd.read_csv(tmp_path / "out" / "edges.csv")
    np.testing.assert_allclose(edges["association"], model.edges()["association"], rtol=1e-6)
    again = CliRunner().invoke(
        app, ["fit", "--from", str(tmp_path / "out" / "model.json"), "--out", str(tmp_path / "b")]
    )
    assert again.exit_code == 0, again.output
    assert (tmp_path / "b" / "edges.csv").read_text() == (tmp_path / "out" / "edges.csv").read_text()


def test_a_limit_of_the_command_is_kept_in_the_record(tmp_path):
    frame, low = censored(120)
    texts = frame.astype(str)
    texts.loc[low, "b"] = "n.d."
    path = write(tmp_path, texts.to_csv(index=False))
    words = ["fit", str(path), "-f", "copula", "--limit", "b=0.5", "--no-compare", "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    assert json.loads((tmp_path / "out" / "model.json").read_text())["data"]["read"]["limits"] == {"b": 0.5}
    again = CliRunner().invoke(
        app, ["fit", "--from", str(tmp_path / "out" / "model.json"), "--out", str(tmp_path / "b")]
    )
    assert again.exit_code == 0, again.output
    wrong = CliRunner().invoke(app, [*words[:4], "--limit", "b", "--out", str(tmp_path / "c")])
    assert wrong.exit_code != 0
    assert "must be NAME=NUMBER" in wrong.output
