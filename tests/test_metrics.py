import numpy as np
import pytest
import sklearn.metrics

import robscore as rs

METRICS = rs.metrics


def random_graphs(seed, m=12):
    rng = np.random.default_rng(seed)
    truth = rs.simulate.random_model(m, 15, random_state=rng).interaction
    score = rng.normal(size=(m, m)) + 2 * (truth != 0)
    return truth, score + score.T


@pytest.mark.parametrize("seed", range(5))
def test_roc_and_auc_agree_with_scikit_learn(seed):
    truth, score = random_graphs(seed)
    pairs = np.triu_indices(len(truth), k=1)
    thresholds = np.sort(score[pairs])[::-1]
    path = np.array([np.where(score >= t, 1.0, 0.0) for t in thresholds])
    curve = METRICS.roc_curve(path, truth)
    expected = sklearn.metrics.roc_auc_score((truth != 0)[pairs], score[pairs])
    assert METRICS.auc(curve) == pytest.approx(expected)
    assert curve.fpr[0] == curve.tpr[0] == 0
    assert curve.fpr[-1] == curve.tpr[-1] == 1


@pytest.mark.parametrize("seed", range(5))
def test_f1_agrees_with_scikit_learn(seed):
    truth, score = random_graphs(seed)
    found = np.where(score > 1, score, 0.0)
    pairs = np.triu_indices(len(truth), k=1)
    assert METRICS.f1_score(found, truth) == pytest.approx(
        sklearn.metrics.f1_score((truth != 0)[pairs], found[pairs] != 0)
    )


def test_a_path_of_raw_matrices_is_joined_by_its_rule():
    X = np.random.default_rng(0).gamma(1.0, size=(60, 5))
    loss = rs.score_elements("sqrt", X).average()
    truth = np.eye(5)
    truth[0, 1] = truth[1, 0] = 1
    rates = {rule: METRICS.roc_curve(rs.solve_path(loss, 20, rule=rule), truth).fpr.sum() for rule in ("and", "or")}
    assert rates["and"] < rates["or"]


def test_empty_graphs():
    assert METRICS.f1_score(np.eye(3), np.eye(3)) == 1.0
    with pytest.raises(ValueError, match="at least one edge"):
        METRICS.roc_curve([np.eye(3)], np.eye(3))
    with pytest.raises(ValueError, match="square"):
        METRICS.f1_score(np.ones((2, 3)), np.eye(3))
    with pytest.raises(ValueError, match="different size"):
        METRICS.f1_score(np.ones((2, 2)), np.eye(3))


@pytest.mark.parametrize("seed", range(5))
def test_edge_scores_agree_with_scikit_learn(seed):
    from sklearn.metrics import f1_score, matthews_corrcoef, precision_score

    rng = np.random.default_rng(seed)
    found, true = (np.triu(rng.random((12, 12)) < share, k=1) for share in (0.3, 0.25))
    found, true = found | found.T, true | true.T
    a, b = (rs.metrics.edge_vector(graph) for graph in (found, true))
    assert rs.metrics.f1_score(found, true) == pytest.approx(f1_score(b, a))
    assert rs.metrics.matthews(found, true) == pytest.approx(matthews_corrcoef(b, a))
    assert rs.metrics.false_discovery_rate(found, true) == pytest.approx(1 - precision_score(b, a))


def test_scores_of_empty_graphs():
    empty, full = np.eye(4), np.ones((4, 4))
    assert rs.metrics.false_discovery_rate(empty, full) == 0
    assert rs.metrics.matthews(empty, full) == 0
    assert rs.metrics.f1_score(empty, empty) == 1


def test_average_curves_and_their_bands():
    rng = np.random.default_rng(0)
    curves = []
    for _ in range(60):
        fpr = np.concatenate([[0, 0], np.sort(rng.random(8)), [1]])
        curves.append(rs.metrics.RocCurve(fpr, np.sort(np.concatenate([[0], rng.random(9), [1]]))))
    average = rs.metrics.average_roc(curves, n_points=21)
    by_hand = np.mean([np.interp(0.5, curve.fpr[1:], curve.tpr[1:]) for curve in curves])
    assert average.tpr[10] == pytest.approx(by_hand)
    assert average.tpr[0] == pytest.approx(np.mean([curve.tpr[1] for curve in curves]))  # the top of the first rise
    inside = slice(1, -1)
    assert (average.lower[inside] < average.tpr[inside]).all()
    assert (average.tpr[inside] < average.upper[inside]).all()
    assert (average.tpr[-1], average.lower[-1]) == pytest.approx((1, 1))


def test_bootstrap_intervals_agree_with_scipy():
    from scipy.stats import bootstrap

    values = np.random.default_rng(0).normal(size=80)
    low, high = rs.metrics.bootstrap_interval(values, n_bootstrap=4000)
    other = bootstrap((values,), np.mean, method="percentile", n_resamples=4000, rng=1).confidence_interval
    assert (low, high) == pytest.approx((other.low, other.high), abs=0.02)
    pairs = np.repeat(values[:40], 2)  # two repetitions of the same thing are worth one
    wide, narrow = (
        np.ptp(rs.metrics.bootstrap_interval(pairs, groups=groups)) for groups in (np.arange(80) // 2, None)
    )
    assert wide / narrow == pytest.approx(np.sqrt(2), rel=0.12)
    with pytest.raises(ValueError, match="at least one repetition"):
        rs.metrics.bootstrap_interval([])
