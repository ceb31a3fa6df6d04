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
