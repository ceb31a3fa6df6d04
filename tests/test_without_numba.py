"""Where there is no numba, the kernels run as plain Python: slowly, with the same answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robscore as rs

TESTS = Path(__file__).parent
FAMILIES = ("gaussian", "sqrt")


def run_without_numba(*arguments, hidden=TESTS / "hidden"):
    """A Python of its own that finds no numba, nor do its children."""
    places = os.pathsep.join(filter(None, [str(hidden), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, *map(str, arguments)]
    ran = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True, check=False, cwd=TESTS.parent
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def rows_of(family):
    X = np.random.default_rng(0).normal(size=(100, 6)) @ (np.eye(6) + 0.5 * np.eye(6, k=1))
    return X if family == "gaussian" else np.exp(0.4 * X)


def default_fits():
    """Edges and K of a default fit of 100 x 6, for each family."""
    found = {}
    for family in FAMILIES:
        model = rs.RobustGraph(family).fit(rows_of(family))
        edges = [[int(i), int(j)] for i, j in zip(*np.nonzero(np.triu(model.interaction_, 1)), strict=True)]
        found[family] = edges, model.interaction_.tolist()
    return found


def test_a_default_fit_gives_the_same_graph():
    pytest.importorskip("numba")
    code = "import json; from test_without_numba import default_fits; print(json.dumps(default_fits()))"
    there = json.loads(run_without_numba("-c", f"import sys; sys.path.insert(0, {str(TESTS)!r}); {code}"))
    for family, (edges, K) in default_fits().items():
        other_edges, other_K = there[family]
        assert other_edges == edges, family
        assert len(edges) >= 5
        np.testing.assert_allclose(other_K, K, atol=1e-9 * np.abs(K).max())


def test_oracles_hold():
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
    told = run_without_numba("-m", "pytest", *options, TESTS / "oracles" / "test_fits.py")
    assert " passed" in told


REPORT = """
import numpy as np, robscore as rs, sys
model = rs.RobustGraph("gaussian", n_blocks=3).fit(np.random.default_rng(0).normal(size=(60, 3)))
print(sys.modules.get("numba"), sorted(rs.report.record(model).libraries))
"""


def test_a_report_names_what_was_used():
    assert run_without_numba("-c", REPORT).strip() == "None ['numpy', 'python', 'scikit-learn', 'scipy']"


def test_one_warning_says_why_numba_cannot_be_imported(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')", encoding="utf-8")
    code = "import warnings; warnings.simplefilter('error'); import robscore.solvers.descent_kernels"
    with pytest.raises(AssertionError, match="many times longer: Numba needs"):
        run_without_numba("-c", code, hidden=tmp_path)
