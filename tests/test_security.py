"""What SECURITY.md promises: known scripts, and no network, pickle or eval where a user's file is read."""

import ast
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import robscore
from robscore.cli import app

PACKAGE = Path(robscore.__file__).parent
VENDOR = PACKAGE / "report" / "vendor"

MODULES = {
    *("pickle", "marshal", "shelve", "dill", "cloudpickle", "dbm"),
    *("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc", "requests", "httpx", "aiohttp", "urllib3"),
    *("subprocess", "pty", "webbrowser", "code", "runpy", "fsspec", "asyncio", "starlette", "uvicorn"),
}
# The server of `robscore app`, which reads no data.
SERVES = {"socket", "asyncio", "starlette", "uvicorn"}
CALLS = {"eval", "exec", "compile", "__import__", "input"}
METHODS = {
    "os": {"system", "popen", "execv", "execve", "spawnv", "startfile"},
    "np": {"load", "fromregex"},
    "numpy": {"load", "fromregex"},
    "pd": {"read_pickle", "eval", "read_hdf", "read_html", "read_xml"},
    "joblib": {"load"},
    "yaml": {"load"},
}


def forbidden(tree):
    """Imports and calls in a file that could run what a file says, or talk to anybody."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from [node.module] if node.module.split(".")[0] in MODULES else []
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in CALLS:
                yield called.id
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                module, name = called.value.id, called.attr
                yield from [f"{module}.{name}"] if name in METHODS.get(module, ()) else []
            yield from (f"{key.arg}=" for key in node.keywords if key.arg in ("allow_pickle", "shell"))


def test_nothing_in_the_package_runs_a_file_or_talks_to_a_network():
    found = {path: list(forbidden(ast.parse(path.read_text(encoding="utf-8")))) for path in PACKAGE.rglob("*.py")}
    for path in (PACKAGE / "app").iterdir():
        found[path] = [name for name in found.get(path, []) if name.partition(".")[0] not in SERVES]
    assert {str(path.relative_to(PACKAGE)): what for path, what in found.items() if what} == {}
    assert list(forbidden(ast.parse("import pickle\neval('1')\nnp.load(x, allow_pickle=True)"))) == [
        *("pickle", "eval", "np.load", "allow_pickle=")
    ]


WATCHED = """
import sys
from pathlib import Path
from robscore.reading import read_coordinates, read_data
from robscore.report.record import Record

def read_all():
    for path in sorted(Path(sys.argv[1]).glob("x.*")):
        read_data(path)
    Record.from_json(Path(sys.argv[1]) / "out" / "model.json")

def watch(event, arguments):
    if watching and event.startswith(FORBIDDEN):
        print(event, arguments, flush=True)

FORBIDDEN = ("socket.", "pickle.", "marshal.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork",
             "urllib.", "ftplib.", "http.", "exec", "compile", "webbrowser.", "ctypes.dlopen")
watching = False
sys.addaudithook(watch)
read_all()  # libraries are loaded, and may do as they please meanwhile
watching = True
read_all()
print("done")
"""


def test_reading_files_of_all_kinds_runs_nothing(tmp_path):
    """Python itself says when code is compiled, unpickled or run, and when a connection is made."""
    frame = pd.DataFrame(np.random.default_rng(0).gamma(2.0, size=(40, 3)), columns=["a", "b", "__import__('os')"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_csv(tmp_path / "x.csv.gz", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_excel(tmp_path / "x.xlsx", index=False)
    frame.to_feather(tmp_path / "x.feather")
    frame.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    frame.set_axis(["a", "b", "c"], axis=1).to_stata(tmp_path / "x.dta", write_index=False)
    for ending in ("bz2", "xz", "zip"):
        frame.to_csv(tmp_path / f"x.csv.{ending}", index=False)
    CliRunner().invoke(app, ["fit", str(tmp_path / "x.csv"), "--out", str(tmp_path / "out"), "--no-compare"])
    watched = subprocess.run([sys.executable, "-c", WATCHED, tmp_path], check=True, capture_output=True, text=True)
    assert watched.stdout == "done\n"


def test_vendored_scripts_are_those_of_the_table():
    lines = (VENDOR / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]
    assert {row[0] for row in rows} == {path.name for path in VENDOR.glob("*.js")}
    for name, _, version, licence, terms, checksum in rows:
        content = (VENDOR / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum, name
        assert version.encode() in content
        assert licence == "MIT"
        assert "Permission is hereby granted, free of charge" in (VENDOR / terms).read_text(encoding="utf-8")
