"""scikit-learn's own tables give an answer with the cautions that they deserve, whatever the family."""

import numpy as np
import pytest
from sklearn import datasets

import robscore as rs
from robscore._tools.messages import About

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def kinds(model):
    return [caution.kind for caution in model.cautions_]


@pytest.mark.long
@pytest.mark.parametrize("family", ["sqrt", "gaussian", "auto"])
@pytest.mark.parametrize(
    ("load", "deserved"),
    [
        (datasets.load_breast_cancer, {About.MISFIT, About.DEPENDENT_COLUMNS}),
        (datasets.load_wine, {About.MISFIT}),
        (datasets.load_iris, {About.MISFIT, About.SORTED, About.COPIES}),
    ],
)
def test_tables_of_groups(load, deserved, family):
    X = load(as_frame=True).data
    model = rs.RobustGraph(family, n_edges=10 if X.shape[1] > 4 else 3, alphas=20).fit(X)
    if family == "auto":  # for the copula tied values are ranges, which equal rows share by chance
        deserved = deserved - {About.COPIES}
    assert deserved <= set(kinds(model))
    assert kinds(model) == sorted(kinds(model))
    assert np.isfinite(model.interaction_).all()
    assert model.summary().startswith("caution")


def test_a_family_that_drops_the_malignant_tumours_says_that_they_are_a_group():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    model = rs.RobustGraph("sqrt", n_edges=10, alphas=10, reweight=rs.RowRule(heaviest=1.0)).fit(X)
    dropped = ~model.row_weights_.any(axis=1)
    assert np.mean(y[dropped] == 0) > 0.7  # malignant
    assert kinds(model)[0] is About.GROUP


@pytest.mark.parametrize("family", ["sqrt", "gaussian"])
def test_a_column_of_two_values_among_measurements(family):
    X = datasets.load_diabetes(as_frame=True, scaled=False).data
    model = rs.RobustGraph(family, n_edges=10, alphas=20).fit(X)
    assert any("only two values" in caution and "sex" in caution for caution in model.cautions_)
    scaled = datasets.load_diabetes(as_frame=True).data  # centred: below zero
    if family != "sqrt":
        assert rs.RobustGraph(family, n_edges=10, alphas=20).fit(scaled).family_ == "gaussian"
        return
    with pytest.raises(ValueError, match="Negative values"):
        rs.RobustGraph(family).fit(scaled)
