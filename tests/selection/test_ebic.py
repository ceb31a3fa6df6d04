import numpy as np
import pytest
from reference import exact_row_elements
from registry import CASES

import robscore as rs
from robscore.solvers import refit


def clean(seed=0, m=10, n=500, n_edges=10):
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 50)
    return truth, X


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("symmetric", [True, False])
def test_row_gradients_are_those_of_the_row_losses(case, symmetric):
    elements = rs.score_elements(case.family, case.draw(np.random.default_rng(0), 6, 3))
    edges = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    solution = refit(elements.average(), edges, np.array([True, False, True]), symmetric=symmetric)
    ours = elements.row_gradients(
        solution.interaction, solution.location, solution.rows, solution.nodes, symmetric=symmetric
    )
    z = np.concatenate([solution.interaction, solution.location[None]]).T
    for i in range(6):
        gamma, g = exact_row_elements(elements, i)
        slope = (gamma.reshape(12, 12) @ z.ravel() - g).reshape(3, 4)
        expected = slope[solution.nodes, solution.rows]
        if symmetric:
            both = (solution.rows < 3) & (solution.rows != solution.nodes)
            expected[both] += slope[solution.rows[both], solution.nodes[both]]
        np.testing.assert_allclose(ours[i], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(ours.mean(axis=0), 0, atol=1e-7 * np.abs(ours).max())
    value = elements.average().value(solution.interaction, solution.location)
    assert solution.loss == pytest.approx(value, rel=1e-8)


def test_the_calibration_factor_of_a_standard_gaussian_is_known():
    """At K = I the eigenvalues of H^-1 J are 2 for every K_ij, i <= j, and 1 for every eta; only edges count."""
    X = np.random.default_rng(0).normal(size=(20_000, 4))
    elements = rs.score_elements("gaussian", X)
    loss = elements.average()
    path = rs.solve_path(loss, 1)
    plain, calibrated = (
        rs.selection.ebic(loss, path, n_rows=20_000, elements=elements, calibrate=calibrate)[0]
        for calibrate in (False, True)
    )
    assert plain == pytest.approx(calibrated)  # no edges: the factor multiplies nothing
    whole = rs.solve_path(loss, [0.0])
    plain, calibrated = (
        rs.selection.ebic(loss, whole, n_rows=20_000, elements=elements, calibrate=calibrate)[0]
        for calibrate in (False, True)
    )
    size = 6 * np.log(20_000)
    # The penalty of 6 edges of 6: log C(6, 6) is 0.
    assert (calibrated - plain) / size + 1 == pytest.approx(2.0, abs=0.06)


@pytest.mark.parametrize("factor", [1e-3, 25.4, 1e3])
@pytest.mark.parametrize("scale", ["median", None])
def test_units_do_not_change_the_chosen_graph(factor, scale):
    _, X = clean()
    plain, other = (rs.RobustGraph("sqrt", scale=scale, n_blocks=1).fit(Y) for Y in (X, X * factor))
    np.testing.assert_array_equal(plain.graph_.adjacency, other.graph_.adjacency)
    assert 0 < plain.graph_.n_edges < 45


def test_the_plain_criterion_does_depend_on_units():
    _, X = clean()
    chosen = []
    for factor in (1e-2, 1e2):
        loss = rs.score_elements("sqrt", X * factor).average()
        path = rs.solve_path(loss)
        chosen.append(path.n_edges[np.argmin(rs.selection.ebic(loss, path, n_rows=500, calibrate=False))])
    assert chosen[0] > chosen[1] + 5


def test_bad_rows_do_not_ruin_the_calibration():
    truth, X = clean(m=15, n_edges=15, n=800)
    dirty, _ = rs.simulate.contaminate_pareto(X, 0.05, random_state=9)
    robust = rs.RobustGraph("sqrt").fit(dirty)
    assert rs.metrics.f1_score(robust.interaction_, truth.interaction) > 0.6


def test_patience_only_leaves_out_the_dense_end():
    _, X = clean()
    elements = rs.score_elements("sqrt", X)
    loss = elements.average()
    path = rs.solve_path(loss)
    patient, all_of_it = (
        rs.selection.ebic(loss, path, n_rows=500, elements=elements, patience=patience) for patience in (10, None)
    )
    looked_at = np.isfinite(patient)
    np.testing.assert_allclose(patient[looked_at], all_of_it[looked_at])
    assert np.argmin(patient) == np.argmin(all_of_it)
    assert not looked_at[-1]


def test_a_refit_that_does_not_exist_counts_as_infinite():
    X = np.random.default_rng(0).gamma(1.0, size=(8, 12))
    elements = rs.score_elements("sqrt", X)
    loss = elements.average()
    path = rs.solve_path(loss, 20, diagonal_multiplier=0.5)
    values = rs.selection.ebic(loss, path, n_rows=8, elements=elements, patience=None)
    assert np.isfinite(values[0])
    assert np.isinf(values[-1])


@pytest.mark.parametrize(
    ("options", "match"),
    [({}, "needs elements="), ({"calibrate": False, "gamma": -1}, "gamma=-1"), ({"refit": False}, "elements=")],
)
def test_bad_options(options, match):
    loss = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(30, 3))).average()
    with pytest.raises(ValueError, match=match):
        rs.selection.ebic(loss, rs.solve_path(loss, 3), n_rows=30, **options)


def test_without_refit_the_loss_is_that_of_the_penalised_solution():
    loss = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(30, 3))).average()
    path = rs.solve_path(loss, 3)
    values = rs.selection.ebic(loss, path, n_rows=30, refit=False, calibrate=False, patience=None)
    assert values[0] == pytest.approx(60 * loss.value(path.interactions[0], path.locations[0]))
