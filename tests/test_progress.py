"""What long work tells, and the line that shows it on a terminal only."""

import io
import time

import numpy as np
import pytest

import robscore as rs
from robscore._tools import progress
from robscore._tools.progress import ProgressLine, announce, stage, watched_by


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_fit_tells_what_it_does():
    told = []
    with watched_by(lambda *words: told.append(words)):
        rs.RobustGraph("gaussian", alphas=7).fit(np.random.default_rng(0).normal(size=(60, 4)))
    steps = [step for step, _, _ in told]
    assert any(step.startswith("looking for bad rows") for step in steps)
    with watched_by(lambda *words: told.append(words)):
        rs.RobustGraph("gaussian", alphas=7, n_blocks=24).fit(np.random.default_rng(0).normal(size=(60, 4)))
    assert any(step.startswith("weighing 24 blocks") for step, _, _ in told)
    assert ("penalty", 7, 7) in told


def test_a_path_that_ends_with_its_edges_is_counted_in_edges():
    told = []
    X = np.random.default_rng(0).normal(size=(100, 12)) @ np.tri(12)
    with watched_by(lambda *words: told.append(words)):
        rs.solve_path(rs.score_elements("gaussian", X).average(), max_edges=10)
    assert ("edges", 10, 10) in told


def test_nobody_hears_what_is_told_outside_or_where_nobody_watches():
    told = []
    with watched_by(lambda *words: told.append(words)):
        with stage("first"):
            announce("step", 1, 2)
        with watched_by(None):
            announce("in silence")
    announce("afterwards")
    assert told == [("first", 0, 0), ("first, step", 1, 2)]


def test_the_line_is_silent_at_first_and_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    import sys

    monkeypatch.setattr(progress, "_SILENT_SECONDS", 1e6)
    with ProgressLine("quick"):
        pass
    assert sys.stderr.getvalue() == ""
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.1)
    monkeypatch.setattr(progress, "_REDRAW_SECONDS", 0.01)
    with ProgressLine("slow", time_left=True) as line:
        line.update(1, 4)
        assert "slow 1 of 4, about" in line.text()
        for _ in range(10_000):  # another thread draws, whenever it gets its turn
            if "slow 1 of 4" in sys.stderr.getvalue():
                break
            time.sleep(0.01)
    written = sys.stderr.getvalue()
    assert "slow 1 of 4" in written
    assert written.endswith("\r\033[K")


def test_the_line_is_silent_where_nobody_looks(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    import sys

    with ProgressLine("work") as line:
        line.update(1, 2)
        time.sleep(0.05)
    assert sys.stderr.getvalue() == ""


def test_a_counted_step_says_how_long_it_may_take(monkeypatch):
    """Its time grows with the square of the count: after half of it, three quarters are to come."""
    now = [0.0]
    monkeypatch.setattr("robscore._tools.progress.time.monotonic", lambda: now[0])
    line = ProgressLine("fit", shown=False)
    for done in range(1, 51):
        now[0] = 0.004 * done**2
        line.announce("penalty", done, 100)
    assert line.text() == "fit: penalty 50 of 100 (10 s), about 30 s left in this step"
    line.announce("choosing", 1, 100)
    assert "left" not in line.text()


@pytest.mark.parametrize("length", [1, 10])
def test_bursts_at_the_beginning_are_not_taken_for_growth(length, monkeypatch):
    """Rows come a file at a time: the first pieces at once, the next ones after a wait."""
    now = [0.0]
    monkeypatch.setattr("robscore._tools.progress.time.monotonic", lambda: now[0])
    line = ProgressLine("fit", shown=False)
    line.announce("reading rows", 0, 1000)
    told = {}
    for done in range(length, 1001, length):
        now[0] = 5.0 * -(-done // 40)  # 125 s in all
        line.announce("reading rows", done, 1000)
        if line.left() is not None:
            told[done] = line.left()
    late = {k: left for k, left in told.items() if k >= 120}  # three files
    assert len(late) > 850 / length
    assert all(0.7 < (left + 5) / (130 - 0.125 * k) < 1.4 for k, left in late.items())


def test_a_slow_machine_is_not_taken_for_growth(monkeypatch):
    """A pass over many pieces takes as long for each; others may keep the machine busy for a while."""
    now = [0.0]
    monkeypatch.setattr("robscore._tools.progress.time.monotonic", lambda: now[0])
    line = ProgressLine("fit", shown=False)
    line.announce("reading rows", 0, 10_000)
    for done in range(1, 4001):
        now[0] += 0.01 if done < 2000 else 0.03
        line.announce("reading rows", done, 10_000)
    assert line.left() == pytest.approx(1.5 * 80, rel=0.01)


def test_a_verbose_fit_shows_its_progress(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_LOG_SECONDS", 0.001)
    X = np.random.default_rng(0).normal(size=(500, 12)) @ np.tri(12)
    rs.RobustGraph("gaussian", verbose=1).fit(X)
    out, err = capsys.readouterr()
    assert "RobustGraph: reweighting" in out
    assert not err  # no terminal
    rs.RobustGraph("gaussian", verbose=2).fit(X)
    assert "RobustGraph: looking for bad rows" in capsys.readouterr().err
