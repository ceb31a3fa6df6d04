"""What is written: never over an input, over other people's files only with --force, and all files or none."""

import errno
import json
import os
import stat
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from designs import first, swept
from running import FILES, run

import robscore as rs
from robscore._tools.files import write_whole, write_whole_together
from robscore.cli.output_files import escaped_formula

QUICK = ("--no-compare", "--edges", 2, "--n-blocks", 1, "--set", "alphas=10")


def refused(result, words):
    assert result.exit_code == 1, result.output
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def frame():
    truth = rs.simulate.random_model(4, 3, random_state=1)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=60, random_state=2)
    return pd.DataFrame(X, columns=list("abcd"))


@pytest.fixture
def data(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", FILES)
def test_the_data_are_never_written_to(data, tmp_path, name, force):
    out = tmp_path / "d"
    out.mkdir()
    mine = out / name
    os.link(data, mine)  # by another name, which ends as a table does
    before = mine.read_bytes()
    refused(run("fit", data, "--out", out, *QUICK, *force), f"{mine} is the data file, which robscore never overwrites")
    assert mine.read_bytes() == before
    assert [entry.name for entry in out.iterdir()] == [name]


def test_neither_is_a_file_of_places_nor_a_record(data, tmp_path):
    out = tmp_path / "d"
    out.mkdir()
    places = out / "edges.csv"
    places.write_text("name,latitude,longitude\n" + "".join(f"{name},46,{k}\n" for k, name in enumerate("abcd")))
    before = places.read_bytes()
    refused(run("fit", data, "--coords", places, "--out", out, "--force"), "edges.csv is the file of --coords")
    assert places.read_bytes() == before
    run("fit", data, "--out", tmp_path / "a", *QUICK)
    model = tmp_path / "a" / "model.json"
    kept = model.read_bytes()
    refused(run("report", model, "--out", model, "--force"), "is the model.json, which robscore never overwrites")
    assert model.read_bytes() == kept


@pytest.mark.parametrize("name", first(2, FILES))
def test_other_peoples_files_are_replaced_only_when_asked(data, tmp_path, name):
    out = tmp_path / "d"
    out.mkdir()
    (out / name).write_text("mine\n1\n")
    result = run("fit", data, "--out", out, *QUICK)
    refused(result, f"{out / name} would be replaced, but robscore did not write it")
    assert "--force" in result.stderr
    assert {entry.name: entry.read_text() for entry in out.iterdir()} == {name: "mine\n1\n"}
    assert run("fit", data, "--out", out, *QUICK, "--force").exit_code == 0
    assert {entry.name for entry in out.iterdir()} == set(FILES)


def test_earlier_results_are_replaced_without_a_word(frame, data, tmp_path):
    out = tmp_path / "d"
    for arguments in (
        QUICK,
        ("--no-compare", "--alpha", 1e6),
        ("--no-compare", *QUICK[3:]),
    ):  # with edges, without, by a rule
        result = run("fit", data, "--out", out, *arguments)
        assert result.exit_code == 0, result.output
    frame.assign(day=[f"d{k}" for k in range(60)]).to_csv(data, index=False)
    assert run("fit", data, "--out", out, *QUICK).exit_code == 0
    assert run("fit", "--from", out / "model.json").exit_code == 0
    assert run("report", out / "model.json", "--title", "again").exit_code == 0
    assert run("fit", data, "--out", out, *QUICK).exit_code == 0


def test_simulations_and_reports_take_the_place_of_their_own_kind_only(data, tmp_path):
    small = ("simulate", "--rows", 20, "--columns", 3, "--edges", 2, "--out")
    (tmp_path / "s").mkdir()
    for name in ("data.csv", "truth.csv", "bad_rows.csv"):
        mine = tmp_path / "s" / name
        mine.write_text("v1,v2,v3\n1,2,3\n")
        refused(run(*small, tmp_path / "s"), f"{name} would be replaced")
        assert mine.read_text() == "v1,v2,v3\n1,2,3\n"
        mine.unlink()
    assert run(*small, tmp_path / "s").exit_code == 0
    assert run(*small, tmp_path / "s", "--columns", 12).exit_code == 0
    assert run(*small, tmp_path / "s", "--bad", 0).exit_code == 0
    (tmp_path / "s" / "data.csv").write_text("a,b\n1,2\n")
    refused(run(*small, tmp_path / "s"), "data.csv would be replaced")
    assert run(*small, tmp_path / "s", "--force").exit_code == 0
    run("fit", data, "--out", tmp_path / "a", *QUICK)
    page = tmp_path / "page.html"
    page.write_text("<!doctype html>\n<html>mine</html>")
    refused(run("report", tmp_path / "a" / "model.json", "--out", page), "page.html would be replaced")
    assert run("report", tmp_path / "a" / "model.json", "--out", page, "--force").exit_code == 0
    assert run("report", tmp_path / "a" / "model.json", "--out", page).exit_code == 0


@pytest.mark.parametrize("name", ["towns.csv", "rain.csv", "ridge.csv", "map.png", "edges.csv"])
def test_demos_too(tmp_path, name, monkeypatch):
    monkeypatch.setattr(rs.RobustGraph, "fit", lambda self, X: pytest.fail("it was looked at too late"))
    (tmp_path / name).write_text("name,latitude,longitude\nBern,46.9,7.4\n")
    refused(run("demo", "--out", tmp_path), f"{name} would be replaced")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_reproductions_too(tmp_path):
    mine = tmp_path / "roc-sqrt" / "roc-sqrt.csv"
    mine.parent.mkdir()
    mine.write_text("mine")
    refused(run("reproduce", "roc-sqrt", "--quick", "--out", tmp_path), "roc-sqrt.csv would be replaced")
    assert [entry.name for entry in mine.parent.iterdir()] == ["roc-sqrt.csv"]


def test_a_folder_in_the_way_leaves_everything_as_it_was(data, tmp_path, monkeypatch):
    out = tmp_path / "d"
    (out / "report.html").mkdir(parents=True)
    for force in ([], ["--force"]):
        refused(run("fit", data, "--out", out, *QUICK, *force), "report.html is in the way and is not a file")
    assert [entry.name for entry in out.iterdir()] == ["report.html"]
    with pytest.raises(IsADirectoryError, match="in the way"):
        write_whole_together({out / "a": "x", out / "report.html": "y"})
    assert [entry.name for entry in out.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("at", "error", "links"),
    swept([0, 1, 2], [PermissionError(errno.EPERM, "no"), KeyboardInterrupt()], [True, False], times=2),
)
def test_files_are_put_in_place_together_or_taken_back(tmp_path, monkeypatch, error, at, links):
    names = ["one", "two", "three"]
    (tmp_path / "two").write_text("old")
    replace, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == at + 1:
            raise error
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    if not links:
        monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(OSError(errno.EPERM, "no links here")))
    with pytest.raises(type(error)):
        write_whole_together({tmp_path / name: "new" for name in names})
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"two": "old"}


def test_no_file_has_its_name_before_all_are_on_the_disk(tmp_path, monkeypatch):
    """Else a power cut could leave empty files."""
    done, sync, replace = [], os.fsync, os.replace

    def synced(number):
        done.append("sync")
        assert os.fstat(number).st_size == 3
        sync(number)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *names: done.append("rename") or replace(*names))
    write_whole_together({tmp_path / "one": "new", tmp_path / "two": "new"})
    assert done == ["sync", "sync", "rename", "rename"]

    def cannot(number):
        raise OSError(errors.pop(), "no")

    errors = [errno.EIO, errno.EINVAL]
    monkeypatch.setattr(os, "fsync", cannot)
    write_whole(tmp_path / "one", "newer")  # on a disk that knows no such thing
    with pytest.raises(OSError, match="one"):
        write_whole(tmp_path / "one", "newest")
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"one": "newer", "two": "new"}


def test_a_full_disk_is_one_sentence(data, tmp_path, monkeypatch):
    def full(number, *arguments, **options):
        file = opened(number, *arguments, **options)
        if "b" in arguments[:1][0] and "w" in arguments[0]:
            file.close()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return file

    opened = os.fdopen
    monkeypatch.setattr(os, "fdopen", full)
    out = tmp_path / "d"
    refused(run("fit", data, "--out", out, *QUICK), "the disk is full, so nothing was written; make room")
    assert not out.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_standard_output_is_one_sentence(tmp_path):
    simulate = ["simulate", "--rows", "9", "--columns", "3", "--edges", "2", "--out", "s"]
    command = [sys.executable, "-m", "robscore", *simulate]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "robscore: Cannot write to the standard output (No space left on device).\n"
    assert (tmp_path / "s" / "data.csv").exists()


def test_new_files_have_the_rights_that_the_umask_gives_and_it_is_never_changed(tmp_path, monkeypatch):
    seen = []
    set_umask = os.umask
    monkeypatch.setattr(os, "umask", lambda mask: seen.append(mask) or set_umask(mask))
    write_whole(tmp_path / "x", "text")
    assert seen == []
    set_umask(mask := set_umask(0))
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask
    threads = [threading.Thread(target=write_whole, args=(tmp_path / f"{k}", "text")) for k in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir()} == {0o666 & ~mask}


HOSTILE = ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-2+3", "\tx", "plain", "red \x1b[31m", "bell\x07", "c1 \x9b31m"]
HOSTILE += ["osc \x1b]0;mine\x07", "turned \u202e", "nul \x01", "nul \\x01"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Results of a Parquet file with hostile names and labels, and what the command said."""
    folder = tmp_path_factory.mktemp("hostile")
    X = np.random.default_rng(0).gamma(2.0, size=(40, len(HOSTILE)))
    table = pd.DataFrame(X, columns=HOSTILE)
    table.insert(0, "label", [f"=1+{k}" if k % 2 else f"-{k}" for k in range(40)])
    table.to_parquet(folder / "x.parquet", index=False)
    result = run(
        "fit", folder / "x.parquet", "--out", folder / "out", "--alpha", 0.001, "--id", "label", "--no-compare"
    )
    assert result.exit_code == 0, result.output
    return folder / "out", result


def test_no_cell_of_text_is_a_formula_and_numbers_stay_numbers(hostile):
    out, _ = hostile
    edges = pd.read_csv(out / "edges.csv", dtype={"interaction": str})  # which pandas 2 does not read to the last bit
    kept = json.loads((out / "model.json").read_text(encoding="utf-8"))
    assert len(edges) == len(kept["edges"]) > 20
    named = set(edges["source"]) | set(edges["target"])
    assert {"'=cmd|' /C calc'!A0", "'+1+1", "'@SUM(A1)", "'-2+3", "'\tx", "plain"} <= named
    assert not {name for name in named if name[0] in "=+-@\t\r"}
    assert [float(text) for text in edges["interaction"]] == [edge[2] for edge in kept["edges"]]
    rows = pd.read_csv(out / "rows.csv", dtype={"label": str})
    assert set(rows["label"]) == {f"'=1+{k}" if k % 2 else f"-{k}" for k in range(40)}
    assert not any(str(text)[:1] in "=+-@\t\r" for text in rows["variables"].dropna() if text)


@pytest.mark.parametrize("cell", ["-5", "+3.5e-7", "-.5", "", "a=b", "x", "-5."])
def test_harmless_cells_stay_as_they_are(cell):
    assert escaped_formula(cell) == cell


@pytest.mark.parametrize("cell", ["=1", "-x", "+x", "@x", "\t=1", "\r=1", " =1", "＝1", "-1-1", "-5\n=1"])
def test_others_are_guarded(cell):
    assert escaped_formula(cell) == f"'{cell}"


def test_graphml_is_xml_whatever_the_names(hostile, tmp_path):
    out, _ = hostile
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = [node.get("id") for node in ElementTree.parse(out / "graph.graphml").iter(f"{space}node")]
    assert len(set(nodes)) == len(HOSTILE)
    assert {"plain", r"red \x1b[31m", r"nul \x01", r"nul \x01 (2)"} <= set(nodes)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a\x00", "b\x1b", "\ufffe"])
    for name in ("x.graphml", "x.graphml.gz"):
        import networkx as nx

        rs.RobustGraph("gaussian").fit(X).graph_.to_graphml(tmp_path / name)
        assert set(nx.read_graphml(tmp_path / name)) == {r"a\x00", r"b\x1b", "\ufffd"}


def test_no_control_character_reaches_the_terminal(hostile, tmp_path):
    _, result = hostile
    wrong = run("fit", tmp_path / "no\x1b[31m.csv", "--out", tmp_path / "a\x9b")
    X = pd.DataFrame(np.ones((9, 3)), columns=["\x1b[2J", "\x9b2J", "\x1b]0;x\x07"])
    X.to_parquet(tmp_path / "x.parquet")
    constant = run("fit", tmp_path / "x.parquet", "--out", tmp_path / "b", "--columns", "\x1b*", "--id", "\x07")
    for text in (result.output, wrong.output, constant.output):
        assert text
        assert not [sign for sign in text if sign != "\n" and (ord(sign) < 32 or 127 <= ord(sign) < 160)]
        assert "\u202e" not in text
    graph = (
        rs.RobustGraph("gaussian", alpha=1e-4)
        .fit(pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["\x1b[2J", "b"]))
        .graph_
    )
    assert "\x1b" not in str(graph)
    shell = subprocess.run(
        [sys.executable, "-m", "robscore", "fit", "--\x1b[31mno"], capture_output=True, text=True, check=False
    )
    assert shell.returncode == 2
    assert "\x1b" not in shell.stderr


def test_names_that_are_no_unicode_do_not_break_the_record(data, tmp_path):
    odd = tmp_path / "x\udc80.csv"
    try:
        data.rename(odd)
    except (OSError, UnicodeError):
        pytest.skip("the file system has no such names")
    assert run("fit", odd, "--out", tmp_path / "a", *QUICK).exit_code == 0
    assert run("fit", "--from", tmp_path / "a" / "model.json", "--out", tmp_path / "b").exit_code == 0


@pytest.mark.parametrize("setting", [("--seed", 10**30), ("--set", f"max_memory={10**30}")])
def test_long_numbers_among_the_settings_do_not_break_the_record(data, tmp_path, setting):
    assert run("fit", data, "--out", tmp_path / "a", *QUICK, *setting).exit_code == 0
    assert run("fit", "--from", tmp_path / "a" / "model.json", "--out", tmp_path / "b").exit_code == 0
