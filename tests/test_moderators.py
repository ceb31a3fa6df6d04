"""Interactions that change with groups and numbers: ``moderators=`` of both estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import robscore as rs
from robscore._tools.messages import UsageError
from robscore.cli import app
from robscore.elements import LossWeights
from robscore.families import get_family
from robscore.families.given_covariates import Moderated, Moderation
from robscore.losses import Parts, both_ends, matrices
from robscore.report.sections import is_given

FAMILIES = ("gaussian", "sqrt", "gamma", "log-log", "truncated-gaussian")
GROUPS = ("a", "b", "c")


def rows(n: int = 120, m: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positive rows of three groups, of which the second has an edge of its own."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(3 * n, m))
    group = np.repeat(GROUPS, n)
    z[:, 1] += z[:, 0]
    z[group == "b", 3] += z[group == "b", 2]
    return np.exp(z / 2), group


def moderated(family: str, X: np.ndarray, w: np.ndarray) -> tuple[Moderated, np.ndarray]:
    """A family whose moderators are its covariates as they are, and rows with these."""
    Q = w.shape[1]
    moderation = Moderation(np.eye(Q, 1 + Q, 1), Parts(1 + Q), w.mean(axis=0), w)
    return Moderated(get_family(family), Q, moderation), np.concatenate([X, w], axis=1)


def parameters(m: int, Q: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Stacked symmetric K and eta."""
    K = np.random.default_rng(seed).normal(size=(1 + Q, m, m))
    return (K + K.transpose(0, 2, 1)).reshape(-1, m), np.random.default_rng(seed + 1).normal(size=(m, 1 + Q))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_of_a_row_is_that_of_the_interactions_at_its_moderators(family):
    X = np.exp(np.random.default_rng(0).normal(size=(7, 3)) / 2)
    w = np.random.default_rng(1).normal(size=(7, 2))
    whole, joined = moderated(family, X, w)
    K, eta = parameters(3, 2)
    losses = whole.elements(joined).row_losses(K, eta)
    for i in range(7):
        K_i, eta_i = whole.interaction_at(K, w[i]), eta[:, 0] + eta[:, 1:] @ w[i]
        assert losses[i] == pytest.approx(get_family(family).elements(X[[i]]).row_losses(K_i, eta_i)[0], rel=1e-10)
    assert whole.log_density(joined, K, eta)[2] == pytest.approx(
        get_family(family).log_density(X[[2]], whole.interaction_at(K, w[2]), eta[:, 0] + eta[:, 1:] @ w[2])[0]
    )


def test_gradients_of_rows_are_slopes_of_their_losses():
    X, w = np.exp(np.random.default_rng(0).normal(size=(6, 3)) / 2), np.random.default_rng(1).normal(size=(6, 1))
    family, joined = moderated("sqrt", X, w)
    elements, (K, eta) = family.elements(joined), parameters(3, 1)
    rows_of, nodes = np.array([0, 4, 2, 5, 3, 6, 7]), np.array([0, 0, 1, 2, 1, 1, 2])  # from 6 on locations
    found = elements.row_gradients(K, eta, rows_of, nodes, symmetric=True)
    for c, (row, node) in enumerate(zip(rows_of, nodes, strict=True)):
        step_K, step_eta = np.zeros_like(K), np.zeros_like(eta)
        if row < 6:
            step_K[row, node] = step_K[row - row % 3 + node, row % 3] = 1.0
        else:
            step_eta[node, row - 6] = 1.0
        at = [elements.row_losses(K + s * step_K, eta + s * step_eta) for s in (-1e-4, 1e-4)]
        np.testing.assert_allclose(found[:, c], (at[1] - at[0]) / 2e-4, rtol=1e-6, atol=1e-6)
    counts = LossWeights(np.ones(6), np.ones(6), np.zeros(6))
    alone, across = elements.pair_squares(counts, (K, eta), (), np.zeros((4, 3, 6)))
    i, j = Parts(2).pairs(3)
    gradients = elements.row_gradients(K, eta, i, j, symmetric=True)
    together = both_ends(alone, (i, j)).sum(axis=0) + 2 * both_ends(across, (i, j))[0]
    np.testing.assert_allclose(together, (gradients**2).sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_without_a_penalty_groups_are_as_if_alone(family):
    X, group = rows()
    whole = rs.RobustScoreMatching(family, n_blocks=1, scale=None).fit(X, moderators={"group": group})
    for name in GROUPS:
        alone = rs.RobustScoreMatching(family, n_blocks=1, scale=None).fit(X[group == name])
        np.testing.assert_allclose(whole.interaction_for(name), alone.interaction_, rtol=1e-6, atol=1e-8)
    c = whole.effects_ @ np.array([1.0, 0.0])  # what being in group b adds to the location of group a
    of_b = rs.RobustScoreMatching(family, n_blocks=1, scale=None).fit(X[group == "b"])
    np.testing.assert_allclose(whole.location_ + c, of_b.location_, rtol=1e-6, atol=1e-8)


def test_the_order_and_names_of_groups_do_not_matter():
    X, group = rows()
    first = rs.RobustGraph("sqrt", alphas=30).fit(X, moderators={"group": group})
    names = {"a": "z", "b": "y", "c": "x"}
    other = rs.RobustGraph("sqrt", alphas=30).fit(X, moderators=np.array([names[name] for name in group]))
    assert other.fitted_.prepared.preparation.moderators[0].moderator.name == "moderator0"
    for name in GROUPS:
        np.testing.assert_allclose(
            first.interaction_for(name), other.interaction_for(names[name]), rtol=1e-3, atol=1e-5
        )


def test_units_of_a_number_do_not_matter():
    X, _ = rows()
    c = np.random.default_rng(3).normal(size=len(X))
    one = rs.RobustGraph("gaussian", alphas=30).fit(np.log(X), moderators={"c": c})
    two = rs.RobustGraph("gaussian", alphas=30).fit(np.log(X), moderators={"c": 50 + 10 * c})
    np.testing.assert_allclose(one.interaction_for(0.5), two.interaction_for(55.0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one.moderations_["c"], 10 * two.moderations_["c"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one.interaction_, two.interaction_, rtol=1e-6, atol=1e-8)


def test_interactions_follow_a_number():
    rng = np.random.default_rng(0)
    c = rng.uniform(-1, 1, size=3000)
    X = rng.normal(size=(3000, 3))
    X[:, 1] = X[:, 1] - 0.5 * (1 + c) * X[:, 0]  # given the others, K_01 = (1 + c) / 2
    model = rs.RobustGraph("gaussian").fit(X, moderators={"c": c})
    assert model.interaction_for(0.9)[0, 1] > 0.75
    assert abs(model.interaction_for(-0.95)[0, 1]) < 0.15
    table = model.differences()
    first = table.iloc[0]
    assert (first.source, first.target, first.moderator, first["of"]) == ("x0", "x1", "c", "")
    assert first.difference_low < 0.5 < first.difference_high
    assert table["significant"].sum() == 1


def test_what_moderators_add_to_what_is_common():
    X, group = rows()
    model = rs.RobustGraph("sqrt", alphas=30).fit(X, moderators={"group": group})
    for name in GROUPS:
        np.testing.assert_allclose(model.interaction_ + model.moderations_[f"group={name}"],
                                   model.interaction_for(name), atol=1e-12)  # fmt: skip
    assert model.graph_.interaction is not None
    assert model.graph_for("b").adjacency[2, 3]
    assert not model.graph_for("a").adjacency[2, 3]
    assert model.graph_for("a").adjacency[0, 1]


def test_differences_of_gaussian_groups_have_the_errors_of_theory():
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(3000, 3)), np.repeat(["a", "b", "c"], [1500, 1000, 500])
    X[:, 1] += X[:, 0]
    model = rs.RobustGraph("gaussian", n_blocks=1).fit(X, moderators={"group": group})
    table = model.differences(against="c")
    assert set(table["against"]) == {"c"}
    K = {name: np.linalg.inv(np.cov(X[group == name].T, bias=True)) for name in GROUPS}
    for row in table.itertuples():
        i, j = int(row.source[1]), int(row.target[1])
        assert row.difference == pytest.approx(K[row.of][i, j] - K["c"][i, j], abs=1e-9)
        variance = sum((k[i, i] * k[j, j] + k[i, j] ** 2) / np.sum(group == name)
                       for name, k in K.items() if name in (row.of, "c"))  # fmt: skip
        assert row.difference_error == pytest.approx(np.sqrt(variance), rel=0.15)
    effects = model.effects()
    assert len(effects) == 6
    assert np.isfinite(effects["effect_error"]).all()


def test_effects_with_moderators_are_those_of_theory():
    rng = np.random.default_rng(0)
    X, group = 100 + rng.normal(size=(2000, 2)), np.repeat(["a", "b"], 1000)
    table = rs.RobustGraph("gaussian", n_blocks=1).fit(X, moderators={"group": group}).effects()
    K = [np.linalg.inv(np.cov(X[group == name].T, bias=True)) for name in ("a", "b")]
    expected = K[1] @ X[group == "b"].mean(axis=0) - K[0] @ X[group == "a"].mean(axis=0)
    for row in table.itertuples():
        assert row.effect == pytest.approx(expected[int(row.column[1])], rel=1e-6)
        assert abs(row.effect) < 4 * row.effect_error  # groups are the same: the error holds that of K times 100


def test_bad_rows_are_left_out_group_by_group():
    K = np.diag([1.5, 1.5, 1.5, 1.5])
    K[0, 1] = K[1, 0] = -1.0
    other = K.copy()
    other[2, 3] = other[3, 2] = -1.0
    draws = [
        rs.simulate.sample("sqrt", own, np.ones(4), n_rows=300, random_state=k) for k, own in enumerate([K, other])
    ]
    clean, group = np.concatenate(draws), np.repeat(["a", "b"], 300)
    assert rs.RobustGraph("sqrt", alphas=10).fit(clean, moderators={"group": group}).share_dropped_ < 0.01
    X, bad = rs.simulate.contaminate_pareto(clean, 0.05, random_state=3)
    model = rs.RobustGraph("sqrt").fit(X, moderators={"group": group})
    left_out = model.row_weights_[:, 0] == 0
    assert left_out[bad].mean() > 0.75
    assert np.count_nonzero(left_out) < bad.size + 6
    assert model.graph_for("b").adjacency[2, 3]
    assert not model.graph_for("a").adjacency[2, 3]
    assert model.suspicious_rows()["flagged"].sum() >= np.count_nonzero(left_out)
    assert len(model.row_losses(X, covariates={"group": group})) == len(X)


def test_a_row_of_weight_two_is_two_rows():
    X, group = rows(60)
    often = np.random.default_rng(0).integers(0, 3, size=len(X))
    copies = np.repeat(np.arange(len(X)), often)
    weighted = rs.RobustGraph("sqrt", n_blocks=1, alphas=20).fit(X, sample_weight=often, moderators={"g": group})
    copied = rs.RobustGraph("sqrt", n_blocks=1, alphas=20).fit(X[copies], moderators={"g": group[copies]})
    for name in GROUPS:
        np.testing.assert_allclose(weighted.interaction_for(name), copied.interaction_for(name), atol=1e-5)


def test_streamed_rows_give_the_same():
    X, group = rows(600)
    c = (group == "b").astype(float)
    whole = rs.RobustGraph("sqrt", alphas=8).fit(X, moderators={"b": c})
    streamed = rs.RobustGraph("sqrt", alphas=8, max_memory="1 MB").fit(X, moderators={"b": c})
    assert streamed.fitted_.elements().streams
    np.testing.assert_allclose(whole.interaction_for(1), streamed.interaction_for(1), atol=1e-8)


@pytest.mark.parametrize("select", ["f1", "ebic", "cv", "stars"])
def test_every_rule_chooses_among_moderated_graphs(select):
    X, group = rows()
    model = rs.RobustGraph("sqrt", select=select, alphas=20, n_blocks=1).fit(X, moderators={"group": group})
    assert model.graph_for("b").adjacency[0, 1]
    assert model.path_.converged.all()


def test_blocks_weigh_rows_too():
    X, group = rows(60)
    model = rs.RobustGraph("sqrt", contamination=0.05, alphas=20).fit(X, moderators={"group": group})
    assert model.graph_for("a").n_edges >= 1


def test_degrees_of_freedom_count_distinct_values():
    parts = Parts(4, ((1, 2, 3),))
    edges = np.zeros((4, 3, 3), dtype=bool)
    edges[:, 0, 1] = edges[:, 1, 0] = True  # K_0 and all three groups: three values
    edges[1:, 0, 2] = edges[1:, 2, 0] = True  # all three groups: three values
    edges[:3, 1, 2] = edges[:3, 2, 1] = True  # K_0 and two groups: three values
    kept = matrices(parts.distinct(edges.reshape(12, 3)))
    assert [int(kept[:, i, j].sum()) for i, j in ((0, 1), (0, 2), (1, 2))] == [3, 3, 3]
    two = Parts(5, ((1, 2), (3, 4)))
    assert matrices(two.distinct(np.ones((15, 3), dtype=bool)))[:, 0, 1].tolist() == [True, False, True, False, True]


def test_names_of_columns_and_covariates_beside_moderators():
    X, group = rows()
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(group=group, season=np.arange(len(X)) % 4)
    by_name = rs.RobustGraph("sqrt", alphas=10).fit(frame, covariates=["season"], moderators="group")
    assert by_name.covariates_.terms == ["season", "group=b", "group=c"]
    assert len(by_name.graph_.names) == 4
    given = {"season": frame["season"].to_numpy(), "group": group}
    by_data = rs.RobustGraph("sqrt", alphas=10).fit(X, covariates=given, moderators=["group"])
    np.testing.assert_allclose(by_name.interaction_for("b"), by_data.interaction_for("b"), rtol=1e-6)
    assert by_name.score(frame) == pytest.approx(by_data.score(X, covariates=given))
    as_list = rs.RobustGraph("sqrt", alphas=10).fit(X, moderators=group.tolist())
    assert as_list.graph_for("b").n_edges


def test_several_moderators_at_once():
    X, group = rows()
    age = np.random.default_rng(0).uniform(20, 60, size=len(X))
    half = np.where(np.arange(len(X)) % 2, "odd", "even")
    given = {"group": group, "age": age, "half": half}
    model = rs.RobustGraph("sqrt", alphas=15).fit(X, moderators=given)
    assert model.graph_for({"group": "b", "age": 30, "half": "odd"}).n_edges
    assert set(model.differences()["moderator"]) == {"group", "age", "half"}
    assert list(model.moderations_) == ["group=a", "group=b", "group=c", "age", "half=even", "half=odd"]
    with pytest.raises(UsageError, match=r"moderators 'group', 'age', 'half'.*dictionary"):
        model.graph_for("b")


def test_whole_numbers_may_be_codes_of_groups():
    X, _ = rows()
    codes = np.repeat([1, 2, 3], 120)
    model = rs.RobustGraph("sqrt", alphas=10).fit(X, moderators={"arm": codes})
    (caution,) = [caution for caution in model.cautions_ if "'arm'" in caution]
    assert "values 1, 2, 3" in caution
    assert "turn them into texts" in caution
    with pytest.raises(ValueError, match=r"arm='2' must be one number.*codes of groups.*texts"):
        model.graph_for("2")
    for other in ({"arm": codes.astype(str)}, {"arm": codes > 1}, {"arm": codes + 0.5}, {"arm": (codes > 1) * 1}):
        assert not any(
            "'arm'" in str(caution) for caution in rs.RobustGraph("sqrt", alphas=10).fit(X, moderators=other).cautions_
        )


def test_what_is_wrong_with_moderators_is_said_of_moderators():
    X, group = rows()
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(group=group)
    fit = rs.RobustGraph("sqrt", alphas=10).fit
    with pytest.raises(UsageError, match=r"moderators: X has no column 'grup'; it has w, x, y, z, group"):
        fit(frame, moderators="grup")
    with pytest.raises(
        UsageError, match=r"moderators=\['group'\] are names of columns.*Pass the moderators themselves"
    ):
        fit(X, moderators="group")
    with pytest.raises(UsageError, match=r"moderators='group' is constant"):
        fit(X, moderators={"group": np.repeat("a", len(X))})
    without = group.astype(object)
    without[[3, 5]] = None
    with pytest.raises(
        UsageError, match=r"moderator 'group' is missing in 2 rows \(first in row 3\).*missing='drop'.*'unknown'"
    ):
        fit(X, moderators={"group": without})
    assert rs.RobustGraph("sqrt", alphas=10, missing="drop").fit(X, moderators={"group": without}).n_rows_used_ == 358
    holes, number = np.where(np.arange(X.size).reshape(X.shape) % 50 == 7, np.nan, X), np.arange(len(X)) / 10
    with pytest.raises(UsageError, match=r"the moderator 'age' is a number; cut it into groups.*missing='drop'"):
        rs.RobustGraph("sqrt", missing="impute").fit(holes, moderators={"age": number})


def test_what_all_groups_have_is_common_whatever_part_it_is_in():
    _, joined = moderated("gaussian", *(np.ones((4, k)) for k in (3, 2)))
    parts = Parts(3, ((1, 2),))
    means = np.array([0.6, 0.8])
    family = Moderated(get_family("gaussian"), 1, Moderation(np.zeros((2, 2)), parts, means, joined[:, :2]))
    K = np.zeros((3, 3, 3))
    K[1, 0, 1], K[2, 0, 1] = -1.0 * 0.6, -3.0 * 0.8  # both groups, at -1 and -3
    K[1, 0, 2], K[2, 0, 2] = 1.0, -1.0  # of opposite sign
    K[1, 1, 2] = 1.0  # one group only
    K = K + K.transpose(0, 2, 1)
    found = matrices(family.with_shared(K.reshape(9, 3)))
    assert found[0, 0, 1] == found[0, 1, 0] == -1.0
    assert not found[1, 0, 1]
    assert np.count_nonzero(found[0]) == 2
    for k in (1, 2):
        np.testing.assert_allclose(found[0] + found[k] / means[k - 1], K[0] + K[k] / means[k - 1])


def test_a_fit_can_be_pickled():
    X, group = rows(60)
    model = rs.RobustGraph("sqrt", alphas=10).fit(X, moderators={"group": group})
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.interaction_for("c"), other.interaction_for("c"))


def test_dates_moderate():
    X, _ = rows(60)
    days = np.datetime64("2001-01-01") + np.arange(len(X)).astype("timedelta64[D]")
    model = rs.RobustGraph("sqrt", alphas=10).fit(X, moderators={"day": days})
    assert model.graph_for("2001-03-01").names == ("x0", "x1", "x2", "x3")
    with pytest.raises(ValueError, match="nothing is claimed beyond it"):
        model.graph_for("2011-03-01")


def test_rows_without_a_density_are_counted():
    rng = np.random.default_rng(0)
    c = rng.uniform(-1, 1, size=400)
    X = rng.gamma(2.0, size=(400, 3))
    X[:, 1] = np.where(c > 0, X[:, 0] * rng.uniform(0.9, 1.1, size=400), X[:, 1])
    model = rs.RobustScoreMatching("sqrt", n_blocks=1).fit(X, moderators={"c": c})
    K = [np.linalg.eigvalsh(model.interaction_for(value))[0] for value in c]
    without = int(np.sum(np.array(K) <= 0))
    assert without
    assert any(f"For {without} of 400 rows" in str(caution) for caution in model.cautions_)


def test_edges_that_all_rows_share_are_stable():
    X, group = rows()
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(group=group)
    found = rs.edge_stability(rs.RobustGraph("sqrt", alphas=8), frame, n_pairs=2, progress=False, moderators="group")
    assert found.frequency[0, 1] == 1.0
    given = rs.edge_stability(rs.RobustGraph("sqrt", alphas=8), frame, n_pairs=2, progress=False, covariates=["group"])
    assert given.frequency.shape == (4, 4)


@pytest.mark.parametrize(
    ("moderators", "words"),
    [
        ({"g": np.repeat(["a", "b"], [355, 5])}, r"Groups of 'g' with too few rows: 'b' \(5\).*at least 10"),
        ({"c": np.full(360, 3.0)}, r"'c' is constant"),
        ({"g": np.repeat("a", 360)}, r"is constant"),
        ({"c": np.arange(360.0), "d": 2 * np.arange(360.0)}, r"'c' and 'd' determine each other|determine each other"),
        ({"c": np.arange(12.0)}, r"shape \(12,\) and X has 360 rows"),
        ("group", r"names of columns, so X must be a data frame"),
    ],
)
def test_moderators_that_say_nothing_are_refused(moderators, words):
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph("sqrt").fit(rows()[0], moderators=moderators)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "or"}, r"rule='or' does not go with moderators"),
        ({"storage": "matrix-free"}, r"storage='matrix-free'"),
        ({"penalize_diagonal": True}, r"penalize_diagonal=True"),
        ({"family": "simplex"}, r"coupled"),
        ({"fit_location": False}, r"fit_location=False"),
        ({"missing": "impute", "select": "cv"}, r"select='cv' does not go with moderators such as 'group' where cells"),
        ({"cells": True}, r"cells=True does not go with moderators such as 'group'"),
    ],
)
def test_options_that_do_not_go_with_moderators_are_refused(options, words):
    X, group = rows()
    X = X / X.sum(axis=1, keepdims=True) if options.get("family") == "simplex" else X
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph(**{"family": "sqrt", **options}).fit(X, moderators={"group": group})


def test_questions_that_have_no_answer_are_refused():
    X, group = rows()
    model = rs.RobustGraph("sqrt", alphas=10).fit(X, moderators={"group": group})
    with pytest.raises(ValueError, match=r"group='d' is not a group of the fit; it knows 'a', 'b', 'c'"):
        model.graph_for("d")
    with pytest.raises(ValueError, match=r"against='d' is not a group"):
        model.differences(against="d")
    with pytest.raises(UsageError, match=r"edge_intervals is of one graph"):
        model.edge_intervals()
    for ask in (model.influence_of_rows, model.predictability, model.check_fit):
        with pytest.raises(UsageError, match=rf"{ask.__name__} is of one graph"):
            ask()
    plain = rs.RobustGraph("sqrt", alphas=10).fit(X)
    for ask in (lambda: plain.graph_for("a"), plain.differences):
        with pytest.raises(UsageError, match=r"had no moderators"):
            ask()
    unpenalised = rs.RobustScoreMatching("sqrt").fit(X, moderators={"group": group})
    with pytest.raises(TypeError, match=r"interaction_for"):
        unpenalised.graph_for("a")


def test_groups_on_the_command_line(tmp_path):
    X, group = rows(60)
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(group=np.unique(group, return_inverse=True)[1])
    frame.to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "out"
    options = ["fit", str(tmp_path / "data.csv"), "--family", "sqrt", "--by", "group", "--set", "alphas=10"]
    done = CliRunner().invoke(app, [*options, "--out", str(out)])
    assert done.exit_code == 0, done.output
    table = pd.read_csv(out / "differences.csv")
    assert set(table["of"]) | set(table["against"]) == {0, 1, 2}  # few whole numbers name groups
    page = (out / "report.html").read_text()
    assert "group=1: changes" in page
    assert "Effects on single variables" in page
    again = CliRunner().invoke(app, ["fit", "--from", str(out / "model.json"), "--out", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    for name in ("differences.csv", "report.html"):
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    latent = ["fit", str(tmp_path / "data.csv"), "--family", "copula", "--by", "group", "--set", "alphas=5"]
    told = CliRunner().invoke(app, [*latent, "--out", str(tmp_path / "latent")])
    assert told.exit_code == 0, told.output
    assert "No effects.csv: Effects on latent numbers have no common unit" in told.stderr
    assert (tmp_path / "latent" / "differences.csv").exists()
    assert not (tmp_path / "latent" / "effects.csv").exists()
    wrong = CliRunner().invoke(app, ["fit", str(tmp_path / "data.csv"), "--by", "month"])
    assert "--by month: no such column" in wrong.output


def test_what_is_given_is_checked_when_a_record_is_read():
    assert is_given({}, 3)
    assert is_given({"effects": [], "changes": [["g=a", [[0, 1, 0.5]]]], "differences": []}, 3)
    for broken in (
        [],
        {"changes": [["g=a", [[0, 3, 0.5]]]]},
        {"changes": [["g=a"]]},
        {"changes": [[1, []]]},
        {"effects": [["x", "c"]]},
        {"effects": 5},
    ):
        assert not is_given(broken, 3)
