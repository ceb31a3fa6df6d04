"""The benchmarks' rivals: one signature, skipped with a reason where absent, and a plain reading that agrees."""

import inspect
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import rivals_speed
from benchmarks.rivals import RIVALS, Ours, Rival, Task, genscore
from benchmarks.rivals.base import Kind, kinds_in_r, lasso_by_ebic, not_installed, partial_correlations
from benchmarks.rivals.plain import Plain

X = np.random.default_rng(0).gamma(1.0, size=(100, 5))


class Nowhere(Rival):
    name = "nowhere"
    tasks = ("path",)

    def absent(self):
        return "nobody has it"

    def run(self, task):
        raise AssertionError


def test_every_file_has_a_rival_that_is_listed():
    folder = Path(__file__).parent.parent / "benchmarks" / "rivals"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "base"}
    assert {type(rival).__module__.rsplit(".", 1)[1] for rival in (Ours(), *RIVALS)} == files


@pytest.mark.parametrize("rival", [Ours(), *RIVALS], ids=lambda rival: rival.name)
def test_rivals_obey_the_signature(rival):
    assert rival.name
    assert set(rival.tasks) <= set(get_args(Kind))
    assert list(inspect.signature(rival.run).parameters) == ["task"]
    if reason := rival.absent():
        assert isinstance(reason, str)
        pytest.skip(reason)
    for kind in rival.tasks:
        seconds, result = rival.timed(Task(kind, X, n_blocks=20, n_alphas=4, ratio=0.3))
        assert seconds > 0
        if kind == "mixed":
            assert result.shape == (3, 5, 5)
            assert np.isin(result[1], (0, 1)).all()
            np.testing.assert_allclose(result, np.swapaxes(result, 1, 2), atol=1e-4)
        elif kind == "weights":
            assert [part.shape for part in result] == [(20,), (20,)]
        elif kind in ("median", "path", "robust path"):
            assert result.shape == ((5,) if kind == "median" else (4, 5, 5))
        if kind.endswith("path"):
            np.testing.assert_allclose(result, np.swapaxes(result, 1, 2), atol=1e-4)
            edges = np.count_nonzero(np.triu(result, 1), axis=(1, 2))
            assert edges[0] <= 1 < edges[-1]


@pytest.mark.parametrize(("kind", "tolerance"), [("weights", 1e-6), ("robust path", 1e-5), ("path", 1e-5)])
def test_the_plain_reading_agrees(kind, tolerance):
    task = Task(kind, X, n_blocks=20, n_alphas=8, tol=1e-9)
    for ours, plain in zip(Ours().run(task), Plain().run(task), strict=True):
        np.testing.assert_allclose(ours, plain, atol=tolerance)


def test_the_plain_median_agrees():
    task = Task("median", rivals_speed.far_points(50, 3, 0.1))
    np.testing.assert_allclose(Ours().run(task), Plain().run(task), atol=1e-6)


def test_an_absent_rival_is_skipped_with_its_reason(capsys):
    found = rivals_speed.compare([Task("path", X, n_alphas=3)], [Nowhere()], 1.0)
    assert list(found) == ["robscore"]
    printed = capsys.readouterr().out
    assert "skipped: nobody has it" in printed
    assert "edges" in printed


def test_what_is_missing_is_named(monkeypatch):
    assert not_installed("numpy", "numpy") is None
    assert not_installed("no_such_module", "no-such") == "no_such_module is not installed (pip install no-such)"
    monkeypatch.setenv("PATH", "")
    assert genscore.Genscore().absent() == "R is not installed"


def test_programs_in_r_are_told_kinds_of_columns():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=200)
    columns = [numbers, numbers > 0, np.maximum(numbers, 0), rng.poisson(5, size=200), np.digitize(numbers, [-1, 0, 1])]
    assert kinds_in_r(np.column_stack(columns).astype(float)) == "gczpc"


def test_the_extended_bic_finds_a_chain():
    K = np.eye(5) + np.diag([-0.4] * 4, 1) + np.diag([-0.4] * 4, -1)
    rows = np.random.default_rng(0).multivariate_normal(np.zeros(5), np.linalg.inv(K), size=2000)
    order, graph, association = lasso_by_ebic(np.corrcoef(rows.T), 2000)
    chain = partial_correlations(K) != 0
    assert order[chain].min() > order[~chain & ~np.eye(5, dtype=bool)].max()
    assert graph[chain].all()
    assert np.abs(association - partial_correlations(K)).max() < 0.15


def test_genscore_is_given_the_rows_and_read_back(tmp_path, monkeypatch):
    """With a stand-in for R that returns diagonal matrices of the first number."""
    fake = tmp_path / "Rscript"
    fake.write_text(
        f"#!{sys.executable}\nimport sys\nimport numpy as np\n"
        "script, rows, ratio, many, tol, out = sys.argv[1:]\n"
        "X = np.loadtxt(rows, delimiter=',')\n"
        "np.savetxt(out, np.vstack([X[0, 0] * np.eye(X.shape[1])] * int(many)), delimiter=',')\n"
        "print(1.5)\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    seconds, path = genscore.Genscore().timed(Task("path", X, n_alphas=3))
    assert seconds == 1.5
    np.testing.assert_array_equal(path, np.stack([X[0, 0] * np.eye(5)] * 3))
