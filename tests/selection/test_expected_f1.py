"""The rule that chooses by default: scores of pairs, probabilities of edges, expected F1."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import kstest, norm
from sklearn.datasets import load_breast_cancer

import robscore as rs
from robscore.selection.edge_odds import find_odds, log_below
from robscore.selection.entry_scores import EntryScores
from robscore.selection.expected_f1 import _counted
from robscore.selection.standard_errors import _after_graph, on_own_parameters, standard_errors
from robscore.weighting import RowWeights, WeightedRows

FAMILIES = ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex"]


def rows_of(family, n=60, m=5, seed=0):
    X = np.random.default_rng(seed).gamma(2.0, size=(n, m))
    return X / X.sum(axis=1, keepdims=True) if family == "simplex" else X


def tapered(n, m, seed=0):
    """Weights of which some fall with the surprise."""
    rng = np.random.default_rng(seed)
    phi, slopes = rng.uniform(0.2, 1, n), -rng.uniform(0, 0.2, n)
    K0 = np.eye(m) + 0.1
    return RowWeights.tapered(phi, slopes, (K0, np.full(m, 0.3)))


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_of_squared_gradients_equal_those_of_single_rows(family):
    m = 5
    elements = rs.score_elements(family, rows_of(family))
    weighted = WeightedRows.of(elements, tapered(elements.n_rows, m))
    rng = np.random.default_rng(1)
    K = np.eye(m) + rng.normal(scale=0.1, size=(m, m))
    z, own = ((K + K.T) / 2, rng.normal(size=m)), rng.normal(size=(2, m, m))
    if family == "simplex":
        own[0] = 0.0  # where columns of K sum to zero, K_jj is no parameter
    alone, across = weighted.pair_squares(z, own)
    node, entry = (part.ravel() for part in np.meshgrid(np.arange(m), np.arange(m), indexing="ij"))
    gradients = weighted.gradients(z, entry, node, symmetric=False).reshape(-1, m, m)
    diagonal = np.einsum("njj->nj", gradients)
    location = weighted.gradients(z, np.full(m, m), np.arange(m), symmetric=False)
    taken = gradients - own[0] * diagonal[:, :, None] - own[1] * location[:, :, None]
    pairs = ~np.eye(m, dtype=bool)
    np.testing.assert_allclose(alone[pairs], (taken**2).sum(axis=0)[pairs], rtol=1e-8)
    np.testing.assert_allclose(across[pairs], np.einsum("njk,nkj->jk", taken, taken)[pairs], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "gamma"])
def test_both_ways_to_a_standard_error_agree_where_there_is_no_edge(family):
    """After the columns' own parameters, or after all of the graph: the same in the empty graph."""
    elements = rs.score_elements(family, rows_of(family))
    equal = np.full(60, 1 / 60)
    loss, rows = elements.average(), WeightedRows.of(elements, RowWeights(equal, equal))
    path = rs.solve_path(loss, 1)
    pairs = np.triu_indices(5, k=1)
    own = on_own_parameters(loss, fit_location=True)
    quick = standard_errors(loss, path, 0, rows, pairs, own)[0]
    z = path.interactions[0], path.locations[0]
    whole = _after_graph(loss, z, np.zeros((5, 5), dtype=bool), rows, pairs, fit_location=True)
    np.testing.assert_allclose(quick, np.sqrt(whole), rtol=1e-6)


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "gamma"])
@pytest.mark.parametrize("multiplier", [0.0, 0.1])
def test_scores_of_pairs_without_an_edge_are_standard_normal(family, multiplier):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 40)) if family == "gaussian" else rng.gamma(2.0, size=(400, 40))
    model = rs.RobustGraph(family, n_blocks=1, alphas=60, diagonal_multiplier=multiplier).fit(X)
    fit = model.fitted_
    rows = WeightedRows.of(fit.elements(), fit.weights)
    entries = EntryScores(fit.loss, fit.chosen.path, rows, fit.settings.pair_weights(40)).within(200)
    scores = entries.score[entries.entered]
    least = 2.2  # all pairs above it have entered
    assert entries.score[~entries.entered].max() < 3
    among = scores[scores > least]
    expected = entries.score.size * 2 * norm.sf(least)
    assert abs(among.size - expected) < 4 * np.sqrt(expected)
    tail = norm.sf(among) / norm.sf(least)
    assert kstest(tail, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_independent_columns_have_no_edges(family):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 30)) if family == "gaussian" else rng.gamma(2.0, size=(300, 30))
    if family == "simplex":
        X = X[:, :15] / X[:, :15].sum(axis=1, keepdims=True)
    assert rs.RobustGraph(family, n_blocks=1).fit(X).graph_.n_edges <= 1


def test_a_shrunk_diagonal_is_not_taken_for_edges():
    """With a multiplier every derivative of the gamma model has a mean of its own."""
    X = np.random.default_rng(0).gamma(2.0, size=(80, 120))
    assert rs.RobustGraph("gamma", n_blocks=1, diagonal_multiplier=0.2, alphas=30).fit(X).graph_.n_edges <= 1


def test_noise_has_no_odds_and_signals_have():
    rng = np.random.default_rng(0)
    found = [find_odds(np.abs(rng.normal(size=1000)), np.ones(1000, dtype=bool)).evidence for _ in range(40)]
    assert np.mean(np.array(found) > 1.5) < 0.2
    scores = np.abs(np.append(rng.normal(size=1000), rng.normal(5, 1, size=30)))
    odds = find_odds(scores, np.ones(1030, dtype=bool))
    assert odds.evidence > 30
    assert 22 < odds.n_edges < 50
    order = np.argsort(scores)
    assert (np.diff(odds.probability[order]) >= 0).all()
    assert odds.probability[-30:].mean() > 0.8


def test_bounds_on_scores_count_as_little_as_they_say():
    """A pair that has not entered is at most as likely to have an edge as one that just has."""
    scores = np.append(np.linspace(3, 8, 20), np.full(500, 2.0))
    entered = np.arange(520) < 20
    odds = find_odds(scores, entered)
    all_in = find_odds(np.append(scores, 2.0), np.append(entered, True))
    assert odds.probability[-1] <= all_in.probability[-1] + 1e-9
    assert find_odds(np.zeros(0), np.zeros(0, dtype=bool)).n_edges == 0


@pytest.mark.parametrize("rule", ["symmetric", "and", "or"])
def test_the_choice_is_near_the_best_on_the_path(rule):
    truth = rs.simulate.shaped_model("chain", 12, random_state=2)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1500, random_state=1)
    model = rs.RobustGraph("sqrt", n_blocks=1, rule=rule).fit(X)
    scores = [
        rs.metrics.f1_score(model.fitted_.interaction_at(k), truth.interaction) for k in range(model.path_.alphas.size)
    ]
    assert scores[model.position_] > max(scores) - 0.12
    if rule == "symmetric":  # joined rules are judged by the weaker, or the stronger, of their two ends
        assert model.criterion_.min() == pytest.approx(1 - scores[model.position_], abs=0.2)


def test_pairs_that_are_forbidden_or_free_are_not_judged():
    truth = rs.simulate.shaped_model("chain", 8, random_state=2)
    X = rs.simulate.sample("gaussian", truth.interaction, truth.location, n_rows=800, random_state=1)
    weights = np.ones((8, 8))
    weights[0, 1] = weights[1, 0] = np.inf
    weights[4, 7] = weights[7, 4] = 0.0
    graph = rs.RobustGraph("gaussian", n_blocks=1, penalty_weights=weights).fit(X).graph_
    assert not graph.adjacency[0, 1]
    assert graph.adjacency[4, 7]
    assert graph.adjacency[2, 3]


def test_the_order_of_the_columns_does_not_matter():
    truth = rs.simulate.random_model(15, 15, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=400, random_state=1)
    order = np.random.default_rng(0).permutation(15)
    one, other = (rs.RobustGraph("sqrt", n_blocks=1).fit(Y).graph_.adjacency for Y in (X, X[:, order]))
    np.testing.assert_array_equal(one[np.ix_(order, order)], other)


def test_gamma_of_the_criterion_is_an_argument():
    truth = rs.simulate.random_model(15, 15, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=300, random_state=1)
    loose, strict = (
        rs.RobustGraph("sqrt", n_blocks=1, select="ebic", ebic_gamma=gamma).fit(X).graph_.n_edges
        for gamma in (0.0, 2.0)
    )
    assert strict < loose
    with pytest.raises(ValueError, match="ebic_gamma=-1"):
        rs.RobustGraph("sqrt", ebic_gamma=-1).fit(X)


@pytest.mark.parametrize("family", ["sqrt", "gaussian"])
def test_the_penalty_is_chosen_between_those_of_the_path(family):
    truth = rs.simulate.shaped_model("random", 15, random_state=1)
    X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=200, burn_in=60, random_state=2)
    fit = rs.RobustGraph(family, alphas=20).fit(X)
    steps = -np.diff(np.log(fit.path_.alphas))
    position = int(np.flatnonzero(~np.isclose(steps, steps[0]))[0]) + 1  # of the penalty that was put in
    assert steps[position - 1] + steps[position] == pytest.approx(steps[0])
    chosen = fit.choices_["f1"]
    assert chosen >= position  # where the graph stays the same, as it is shrunk least
    for later in range(position, chosen + 1):
        assert ((fit.path_.interactions[later] != 0) == (fit.path_.interactions[position] != 0)).all()
    assert fit.alpha_ == fit.path_.alphas[chosen]
    assert fit.path_.alphas.size == fit.criterion_.size == 21
    assert (
        min(fit.criterion_[position - 1 : position + 2 : 2]) <= fit.criterion_[position] <= fit.criterion_[position - 1]
    )


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_one_factor_behind_all_columns_is_a_full_graph(share):
    """Then all pairs enter at once: the path steps over the graphs that are looked at first."""
    rng = np.random.default_rng(0)
    X = np.sqrt(share) * rng.normal(size=(600, 1)) + np.sqrt(1 - share) * rng.normal(size=(600, 8))
    assert rs.RobustGraph("gaussian").fit(X).graph_.adjacency.sum() >= 2 * 26


def test_given_penalties_stay_the_only_ones():
    X = rows_of("sqrt", n=200, m=8)
    given = [0.5, 0.2, 0.1, 0.05, 0.02]
    np.testing.assert_array_equal(rs.RobustGraph("sqrt", alphas=given).fit(X).path_.alphas, given)


def entry_scores(alphas, seed=0):
    X = np.random.default_rng(seed).normal(size=(200, 12))
    X[:, 1] += X[:, 0]
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=alphas, n_edges=5).fit(X)
    fit = model.fitted_
    rows = WeightedRows.of(fit.elements(), fit.weights)
    return EntryScores(fit.loss, fit.chosen.path, rows, fit.settings.pair_weights(12))


def test_looking_further_along_a_path_is_looking_from_its_beginning():
    along = entry_scores(40)
    along.within(5)
    part, whole = along.within(40), entry_scores(40).within(40)
    for name in ("score", "entered", "alpha", "n_looked_at"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name))
    assert along.within(5).n_looked_at == along.within(40).n_looked_at


def test_where_pairs_enter_hardly_depends_on_which_penalties_are_tried():
    few, many = entry_scores(15).within(40), entry_scores(150).within(40)
    both = few.entered & many.entered
    assert both.sum() > 20
    away = np.abs(np.log(few.alpha[both] / many.alpha[both]))
    step = np.log(1 / 0.01) / 14  # or less: between two penalties it would be half of that, as a rule
    assert np.median(away) < 0.1 * step
    np.testing.assert_allclose(few.score[both], many.score[both], rtol=0.25, atol=0.3)


def test_a_pair_counts_in_part_around_where_it_enters():
    alphas, where = np.geomspace(1, 0.1, 11), np.geomspace(0.9, 0.2, 400)
    counts = _counted(where >= alphas[5], SimpleNamespace(alpha=where), alphas, 5)
    assert counts[0] == 1
    assert counts[-1] == 0
    assert (np.diff(counts) <= 0).all()
    assert np.abs(np.diff(counts)).max() < 0.02
    for given in ([0.5], [0.5, 0.5], [0.5, 0.0]):
        some = SimpleNamespace(alpha=np.array([0.5, 0.0]))
        for k in range(len(given)):
            np.testing.assert_array_equal(_counted(np.array([True, False]), some, np.array(given), k), [1, 0])
    entries = SimpleNamespace(alpha=np.array([0.9, 0.5, 0.5, 0.0]))
    inside = np.array([True, True, False, False])
    np.testing.assert_allclose(_counted(inside, entries, np.array([1.0, 0.7, 0.5, 0.4]), 2), [1, 0.5, 0, 0])


def test_odds_are_smooth_where_scores_are_small():
    score = np.geomspace(1e-9, 0.1, 200)
    odds = log_below(score, 1.5) - log_below(score)
    assert np.isfinite(odds).all()
    np.testing.assert_allclose(odds[:100], 3 * np.log(1 / np.sqrt(1 + 1.5**2)), atol=1e-5)


@pytest.mark.parametrize("family", ["gaussian", "log-log"])
def test_how_far_the_path_is_looked_at_first_hardly_matters(family, monkeypatch):
    X = load_breast_cancer().data
    X = X[:, (X > 0).all(axis=0)]
    module = sys.modules["robscore.selection.expected_f1"]
    graphs = []
    for edges_a_column in (1, 2, 12):
        monkeypatch.setattr(module, "_EDGES_A_COLUMN", edges_a_column)
        graphs.append(rs.RobustGraph(family, n_blocks=1).fit(X).graph_.adjacency)
    for graph in graphs[1:]:
        assert np.count_nonzero(graph != graphs[0]) <= 0.1 * np.count_nonzero(graph)
