"""Accuracy at m = 5: the robust estimate where rows are bad, and its price where they are not."""

import numpy as np

import robscore as rs


def squared_error(X, truth, n_blocks):
    model = rs.RobustScoreMatching("sqrt", n_blocks=n_blocks, scale=None).fit(X)
    return np.sum((model.interaction_ - truth.interaction) ** 2) + np.sum((model.location_ - truth.location) ** 2)


def test_robust_beats_classic_on_bad_rows_and_is_near_it_on_clean_ones():
    errors = {"classic": [], "robust": [], "clean classic": [], "clean robust": []}
    for graph in range(5):
        truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.5, random_state=graph)
        for repetition in range(4):
            seed = 100 * graph + repetition
            X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed)
            dirty, _ = rs.simulate.contaminate_pareto(X, 0.05, random_state=seed + 10_000)
            errors["clean classic"].append(squared_error(X, truth, 1))
            errors["clean robust"].append(squared_error(X, truth, 50))
            errors["classic"].append(squared_error(dirty, truth, 1))
            errors["robust"].append(squared_error(dirty, truth, 400))
    mean = {name: np.mean(values) for name, values in errors.items()}
    assert mean["robust"] < mean["classic"] / 5
    assert mean["clean robust"] < 2 * mean["clean classic"]
