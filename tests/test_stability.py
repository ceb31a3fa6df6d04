"""Edge stability: what comes back, what is kept, and what is said."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.certainty import stability as module
from robscore.certainty.stability import _edges_for
from robscore.rows import halves


def rows(m=6, n_edges=5, n=300, seed=0):
    truth = rs.simulate.random_model(m, n_edges, min_eigenvalue=0.5, random_state=seed)
    return truth, rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 1)


MODEL = rs.RobustGraph("sqrt", alphas=20, n_blocks=1)


def test_halves_are_complementary_and_made_of_whole_blocks():
    rng = np.random.default_rng(0)
    for first, second in (halves(103, 5, rng) for _ in range(4)):
        assert sorted([*first, *second]) == list(range(103))
        assert {row // 5 for row in first}.isdisjoint({row // 5 for row in second})
        assert (np.diff(first) > 0).all()


def test_true_edges_come_back_and_the_bound_holds():
    truth, X = rows(m=10, n_edges=6, n=800)
    found = rs.edge_stability(MODEL, X, n_pairs=10, max_false=1.0)
    stable = np.triu(found.frequency >= 0.75, k=1)
    assert (stable & truth.adjacency).sum() >= 2
    assert (stable & ~truth.adjacency).sum() <= 1
    assert found.expected_false() <= 1.0
    assert found.expected_false(0.9) < found.expected_false(0.75)
    np.testing.assert_allclose(found.frequency, found.frequency.T)
    assert found.mean_edges == _edges_for(1.0, 0.75, 45) == 4


def test_signs_are_counted():
    truth, X = rows(n=1000)
    table = rs.edge_stability(MODEL, X, n_pairs=8).table()
    stable = table[table["stable"]]
    for _, row in stable.iterrows():
        K = truth.interaction[int(row["source"][1:]), int(row["target"][1:])]
        if K:
            assert (row["positive"] > 0.5) == (K < 0)
    assert table["frequency"].is_monotonic_decreasing


@pytest.mark.long
def test_the_same_bits_for_any_number_of_processes():
    _, X = rows()
    one, two = (rs.edge_stability(MODEL, X, n_pairs=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.frequency, two.frequency)
    np.testing.assert_array_equal(one.positive, two.positive)


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    _, X = rows()
    whole = rs.edge_stability(MODEL, X, n_pairs=4)
    fit_half, calls = module._fit_half, []

    def stopping(base, X, given, half):
        calls.append(half)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return fit_half(base, X, given, half)

    monkeypatch.setattr(module, "_fit_half", stopping)
    with pytest.warns(UserWarning, match="Stopped after 3 of 8 halves"):
        part = rs.edge_stability(MODEL, X, n_pairs=4, checkpoint=tmp_path / "kept")
    assert part.n_done == 3
    assert "stopped after 3 of 8" in part.summary()
    rest = rs.edge_stability(MODEL, X, n_pairs=4, checkpoint=tmp_path / "kept")
    assert len(calls) == 4 + 5
    np.testing.assert_array_equal(rest.frequency, whole.frequency)
    with pytest.raises(ValueError, match=r"rows differ.*choose another checkpoint"):
        rs.edge_stability(MODEL, X[:-1], n_pairs=4, checkpoint=tmp_path / "kept")
    assert "model" in json.loads((tmp_path / "kept" / "settings.json").read_text())


def test_settings_are_told_apart_and_pairs_that_cannot_be_selected_do_not_count(tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 34))
    X[:, 15] += X[:, 14]
    W = np.ones((34, 34))
    other = W.copy()
    other[14, 15] = other[15, 14] = np.inf
    first, second = (
        rs.RobustGraph("gaussian", n_blocks=1, n_edges=5, alphas=10, penalty_weights=weights) for weights in (W, other)
    )
    assert rs.edge_stability(first, X, n_pairs=1, checkpoint=tmp_path).frequency[14, 15] == 1
    with pytest.raises(ValueError, match="model differ"):
        rs.edge_stability(second, X, n_pairs=1, checkpoint=tmp_path)
    few = np.full((34, 34), np.inf)
    few[:4, :4] = 1.0
    few[0, 1] = few[1, 0] = 0.0
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=10, penalty_weights=few)
    found = rs.edge_stability(model, X, n_pairs=5, max_false=1.0)
    assert found.n_candidates == 5
    assert found.mean_edges == 1
    assert found.frequency[0, 1] == 1
    assert found.n_stable(1.0) >= 1


def test_incomplete_rows_may_be_dropped():
    _, X = rows()
    X[4, 2] = np.nan
    model = rs.RobustGraph("sqrt", alphas=20, n_blocks=1, missing="drop")
    assert rs.edge_stability(model, X, n_pairs=1).n_done == 2
    assert rs.equality_test(model, X[:150], X[150:], n_permutations=9).null.size == 9


def test_halves_that_fail_are_counted_and_named(monkeypatch):
    _, X = rows()
    fit_half, calls = module._fit_half, []

    def failing(base, X, given, half):
        calls.append(half)
        return {"failed": "too few rows"} if len(calls) % 3 == 0 else fit_half(base, X, given, half)

    monkeypatch.setattr(module, "_fit_half", failing)
    with pytest.warns(UserWarning, match="2 of 6 halves could not be fitted; the first: half 2: too few rows"):
        found = rs.edge_stability(MODEL, X, n_pairs=3)
    assert found.n_done == 4
    assert len(found.failures) == 2
    assert "could not be fitted" in found.summary()
    monkeypatch.setattr(module, "_fit_half", lambda *_: {"failed": "no"})
    with pytest.raises(ValueError, match="None of 6 halves"):
        rs.edge_stability(MODEL, X, n_pairs=3)


def test_it_has_a_summary_and_keeps_names():
    _, X = rows()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = rs.RobustGraph("sqrt", alphas=20).fit(frame)
    found = model.edge_stability(frame, n_pairs=2)
    assert set(found.table()["source"]) <= set("abcdef")
    assert str(found) == found.summary()
    assert found.n_stable(1.0) <= found.n_stable(0.6)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_pairs": 0}, "n_pairs=0"),
        ({"block_size": 0}, "block_size=0"),
        ({"block_size": 200}, "too few to be halved"),
        ({"threshold": 0.5}, "threshold=0.5"),
        ({"max_false": 0.01}, "max_false=0.01"),
    ],
)
def test_impossible_arguments_are_errors(options, match):
    _, X = rows()
    with pytest.raises(ValueError, match=match):
        rs.edge_stability(MODEL, X, **options)


@pytest.mark.long
def test_bad_rows_do_not_hide_stable_edges():
    truth, X = rows(n=800)
    dirty, bad = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = rs.edge_stability(MODEL, np.delete(X, bad, axis=0), n_pairs=5, max_false=1.0)
        robust = rs.edge_stability(rs.RobustGraph("sqrt", alphas=20), dirty, n_pairs=5, max_false=1.0)
        classic = rs.edge_stability(MODEL, dirty, n_pairs=5, max_false=1.0)
    upper = np.triu(truth.adjacency)
    assert robust.frequency[upper].mean() > classic.frequency[upper].mean()
    assert robust.frequency[upper].mean() > oracle.frequency[upper].mean() - 0.05
