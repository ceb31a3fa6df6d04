"""The child that reads and fits for the page: what it tells, in whose words, and that nothing hostile ends it."""

import gzip
import json
import os

import numpy as np
import pandas as pd
import pytest

from robscore.cli import worker

STORED = "0123456789abcdef"


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Asks a child, within this process, for a look at a file; what it tells."""
    monkeypatch.chdir(tmp_path)

    def ask(content, ending=".csv", called="mine.csv", options=(), task="look"):
        (tmp_path / "job").mkdir()
        (tmp_path / f"{STORED}{ending}").write_bytes(content)
        request = {"task": task, "folder": str(tmp_path / "job"), "data": f"../{STORED}{ending}", "called": called}
        told = []
        worker.serve_request({**request, "options": list(options)}, told.append)
        os.chdir(tmp_path)
        return told

    return ask


ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)).round(3), columns=["a", "b", "=c"]).to_csv(
    index=False
)
BROKEN = {
    "cut off": (gzip.compress(ROWS.encode())[:-20], ".csv.gz", "mine.csv is broken or cut off"),
    "no gzip": (ROWS.encode(), ".csv.gz", "mine.csv is broken or cut off"),
    "unknown": (b"%PDF-1.4", ".pdf", "mine.csv: files ending in .pdf are not known"),
    "empty": (b"", ".csv", "mine.csv is empty"),
    "binary": (bytes(range(256)) * 20, ".csv", "mine.csv"),
    "no parquet": (ROWS.encode(), ".parquet", "mine.csv is not a Parquet file"),
    "no excel": (ROWS.encode(), ".xlsx", "mine.csv cannot be read as an Excel file"),
    "text": (b"a,b\n1,x\n2,5\n3,4\n", ".csv", "mine.csv: column 'b'"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_cannot_be_read_is_called_by_its_own_name(asked, kind):
    content, ending, words = BROKEN[kind]
    *_, last = asked(content, ending)
    assert words in last["error"]
    assert STORED not in last["error"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([["family", "no"]], "--family"),
        ([["edges", "x"]], "--edges"),
        ([["set", "no=1"]], "--set no: RobustGraph has no such argument"),
        ([["set", "no"]], "must be NAME=VALUE"),
        ([["exclude", "zz"]], "--exclude zz: no such column in mine.csv"),
        ("x", "pairs of names and values"),
    ],
)
def test_what_cannot_be_done_is_said_in_options(asked, options, words):
    *_, last = asked(ROWS.encode(), options=options, task="fit")
    assert words in last["error"]


def test_a_look_tells_what_was_read(asked, tmp_path):
    told = asked(f"{ROWS}1,,2\n".encode())
    assert [line.get("step") for line in told] == ["reading mine.csv", "choosing a family", None]
    assert told[-1] == {"over": True}
    answer = json.loads((tmp_path / "job" / worker.ANSWER).read_text())
    assert [column["name"] for column in answer["columns"]] == ["a", "b", "=c"]
    assert answer["rows"] == 41
    assert answer["missing"] == {"cells": 1, "rows": 1, "columns": 1}
    assert answer["family"]["name"] == "gaussian"
    assert answer["family"]["reason"].startswith("chosen because")


def test_the_family_of_a_look_is_that_of_the_fit(asked, tmp_path):
    import robscore as rs

    X = rs.simulate.sample("sqrt", np.eye(3) + 0.2, np.ones(3), n_rows=200, random_state=0)
    asked(pd.DataFrame(X, columns=list("abc")).to_csv(index=False).encode())
    answer = json.loads((tmp_path / "job" / worker.ANSWER).read_text())
    model = rs.RobustGraph("auto", random_state=0).fit(X)
    assert answer["family"]["name"] == model.family_
