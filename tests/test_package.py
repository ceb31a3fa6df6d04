"""What is shipped: complete, with its licences, and of use without any extra."""

import ast
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import robscore

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "robscore").rglob("*"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LICENCES = ["LICENSE", "src/robscore/report/vendor/chart.LICENSE", "src/robscore/report/vendor/cytoscape.LICENSE"]
EXTRAS = [
    *("dask", "distributed", "jax", "matplotlib", "networkx", "openpyxl", "pandas", "polars", "pyarrow", "starlette"),
    *("typer", "uvicorn"),
]


def shipped():
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in SOURCES
        if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc")
    }


def test_the_wheel_is_complete(tmp_path):
    wheel = pytest.importorskip("hatchling.builders.wheel")
    (built,) = wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        names = set(archive.namelist())
        (about,) = (archive.read(name).decode() for name in names if name.endswith("dist-info/METADATA"))
    assert shipped() <= names
    assert "License-Expression: BSD-3-Clause AND MIT\n" in about
    for licence in LICENCES:
        assert any(name.endswith(f"dist-info/licenses/{licence}") for name in names)
    assert not [name for name in names if not name.startswith("robscore")]


def test_the_source_archive_is_complete(tmp_path):
    sdist = pytest.importorskip("hatchling.builders.sdist")
    (built,) = sdist.SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in shipped()} <= names
    assert {*LICENCES, "pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "tests/test_package.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".git/", "demo/", "results/"))]


def test_what_is_imported_is_declared():
    """Libraries that any module imports as it is loaded are dependencies of their own, not of a dependency."""
    declared = {name.partition(">")[0].replace("scikit-learn", "sklearn") for name in PROJECT["dependencies"]}
    for path in SOURCES:
        if path.suffix != ".py" or path.relative_to(ROOT / "src" / "robscore").parts[0] in ("app", "cli", "plot"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            modules = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            outside = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names - {"robscore", ""}
            assert outside <= declared, path


@pytest.mark.parametrize(
    ("machine", "system", "implementation", "wanted"),
    [
        ("x86_64", "linux", "cpython", True),
        ("aarch64", "linux", "cpython", True),
        ("arm64", "darwin", "cpython", True),
        ("AMD64", "win32", "cpython", True),
        ("wasm32", "emscripten", "cpython", False),  # in a browser
        ("x86_64", "darwin", "cpython", False),
        ("x86_64", "linux", "pypy", False),
        ("riscv64", "linux", "cpython", False),
    ],
)
def test_numba_is_asked_for_where_it_can_be_had(machine, system, implementation, wanted):
    requirements = pytest.importorskip("packaging.requirements")
    (numba,) = (line for line in PROJECT["dependencies"] if line.startswith("numba"))
    place = {"platform_machine": machine, "sys_platform": system, "implementation_name": implementation}
    assert requirements.Requirement(numba).marker.evaluate(place) == wanted


WITHOUT_EXTRAS = f"""
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):  # as if the extras were not installed
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {EXTRAS} else PathFinder.find_spec(name, path, target)

sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
import numpy as np, robscore as rs
X = np.random.default_rng(0).normal(size=(100, 3)) @ np.tri(3)
model = rs.RobustGraph("gaussian").fit(X)
print(len(model.edges()), model.edges().dtype.names[0], np.isfinite(model.score(X)), len(model.suspicious_rows()))
for ask in (model.graph_.to_networkx, lambda: model.fit("no.parquet"), lambda: rs.plot.plot_graph(model.graph_),
            lambda: rs.plot.plot_path(model), lambda: rs.plot.plot_criterion(model), lambda: rs.plot.plot_rows(model),
            lambda: rs.report.write_html(model, "no.html"), lambda: rs.families.ExponentialFamily(lambda x: x)):
    try:
        ask()
    except ImportError as error:
        print(error)
sys.argv = ["robscore", "fit"]
from robscore.cli import main
main()
"""


def test_without_extras_fits_work_and_the_extra_is_named():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=False)
    lines = (ran.stdout + ran.stderr).splitlines()
    assert lines[0] == "2 source True 100", lines
    extras = ["plot", "cli", "plot", "plot", "plot", "plot", "plot", "autodiff", "cli"]
    assert len(lines) == 1 + len(extras), lines
    for line, extra in zip(lines[1:], extras, strict=True):
        assert f"robscore[{extra}" in line


def test_version_and_lowest_versions_are_the_same_everywhere():
    from robscore import __version__

    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    extras = PROJECT["optional-dependencies"]
    wanted = {
        line.partition(";")[0].replace("matplotlib", "matplotlib-base")
        for line in PROJECT["dependencies"] + extras["cli"] + extras["plot"]
    }
    run = recipe.partition("  run:\n")[2].partition("\ntest:")[0]
    assert {line.strip("- ").replace(" ", "") for line in run.splitlines() if line.startswith("    - ")} == {
        *wanted,
        "python" + PROJECT["requires-python"],
    }
    assert f'set version = "{__version__}"' in recipe
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    _, newest, *_ = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    assert newest.startswith(f"{__version__} (")  # not yet released, or the date


def test_child_processes_of_tests_run_what_is_tested(tmp_path):
    """In whatever folder they start, and however the tests were told where the sources are."""
    code = "import robscore; print(robscore.__file__)"
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(told.strip()) == Path(robscore.__file__).resolve()
