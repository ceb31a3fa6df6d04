"""Two graphs on one table, two groups of rows in one test, and known structure by names."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import robscore as rs


def rows(seed, n=300, weaker=0.0, m=5):
    K = np.eye(m) * 2
    K[0, 1] = K[1, 0] = -0.9 * (1 - weaker)
    K[2, 3] = K[3, 2] = 0.7
    return rs.simulate.sample("gaussian", K, np.zeros(m), n_rows=n, random_state=seed)


def test_every_kind_of_change_is_told():
    first = rs.RobustGraph("gaussian", n_edges=2).fit(pd.DataFrame(rows(0), columns=list("abcde")))
    other = rows(1)[:, ::-1]
    other[:, 1] *= -1  # d: its edge with c changes sign
    second = rs.RobustGraph("gaussian", n_edges=3).fit(pd.DataFrame(other, columns=list("edcba")))
    compared = rs.compare_graphs(first, second, labels=("before", "after"))
    assert compared.counts["kept"] == 1
    assert compared.counts["changed sign"] == 1
    assert compared.counts["gained"] == 1
    table = compared.table().set_index(["source", "target"])
    assert table.loc[("a", "b"), "change"] == "kept"
    assert table.loc[("c", "d"), "change"] == "changed sign"
    assert table.loc[("c", "d"), "before"] * table.loc[("c", "d"), "after"] < 0
    assert str(compared) == "from before to after: 1 kept, 1 gained, 0 lost, 1 changed sign"
    back = rs.compare_graphs(second.graph_, first.graph_)
    assert back.counts["lost"] == 1


def test_graphs_of_other_columns_cannot_be_compared():
    first, second = (
        rs.RobustGraph("gaussian", n_edges=2).fit(pd.DataFrame(rows(0), columns=names))
        for names in (list("abcde"), list("abcdf"))
    )
    with pytest.raises(ValueError, match="'e', 'f' in one of them only"):
        rs.compare_graphs(first, second)
    with pytest.raises(ValueError, match="labels"):
        rs.compare_graphs(first, first, labels=("one", "one"))


def test_equal_groups_are_rarely_told_apart_and_different_ones_are():
    model = rs.RobustGraph("gaussian", n_blocks=1)
    equal = [rs.equality_test(model, rows(2 * s), rows(2 * s + 1), n_permutations=99).p_value for s in range(25)]
    assert 0.3 < np.mean(equal) < 0.7
    assert np.mean(np.array(equal) <= 0.05) <= 0.15
    found = rs.equality_test(model, rows(0), rows(1, weaker=1.0), n_permutations=199)
    assert found.p_value <= 0.01
    assert found.pair_p_values[0, 1] <= 0.05
    assert found.table()["source"][0] == "x0"
    assert found.difference[0, 1] > 0  # the second group's K_01 is larger: nearer to zero from below
    assert "p = " in str(found)


def test_differences_are_those_of_separate_fits():
    first, second = rows(0, n=2000), rows(1, n=2000, weaker=0.3)
    model = rs.RobustGraph("gaussian", n_blocks=1, scale=None)
    found = rs.equality_test(model, first, second, n_permutations=9)
    apart = [np.linalg.inv(np.cov(X.T, bias=True)) for X in (first, second)]
    np.testing.assert_allclose(found.difference[0, 1], (apart[1] - apart[0])[0, 1], atol=0.1)


def test_bad_rows_in_one_group_are_no_difference():
    first, second = rows(0), rows(1)
    second[:15] = 50.0
    found = rs.equality_test(rs.RobustGraph("gaussian"), first, second, n_permutations=99)
    assert found.p_value > 0.05


def test_groups_must_have_the_same_columns_and_enough_rows():
    model = rs.RobustGraph("gaussian", n_blocks=1)
    with pytest.raises(ValueError, match="same columns"):
        rs.equality_test(model, rows(0), rows(1)[:, :4])
    with pytest.raises(ValueError, match="1 and 1 whole blocks of 200"):
        rs.equality_test(model, rows(0), rows(1), block_size=200)
    with pytest.raises(ValueError, match="n_permutations=0"):
        rs.equality_test(model, rows(0), rows(1), n_permutations=0)
    assert rs.equality_test(model, rows(0), rows(1), n_permutations=19, block_size=10).null.size == 19


def test_unequal_groups_with_blocks_and_bad_rows_keep_the_level():
    rng = np.random.default_rng(0)
    blocks, dirty = [], []
    for _ in range(20):
        A, B = rng.normal(size=(53, 4)), rng.normal(size=(400, 4))
        model = rs.RobustGraph("gaussian", n_blocks=1, alphas=5)
        blocks.append(rs.equality_test(model, A, B, n_permutations=59, block_size=10).p_value)
        B[:80] = 3 * B[:80] + 12
        model = rs.RobustGraph("gaussian", alphas=5)
        dirty.append(rs.equality_test(model, A, B, n_permutations=59).p_value)
    for p_values in (blocks, dirty):
        assert np.mean(np.array(p_values) <= 0.05) < 0.15
        assert np.mean(np.array(p_values) <= 0.2) < 0.4


def test_more_than_two_groups_are_told_apart_and_equal_ones_are_not():
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=5)
    rng = np.random.default_rng(0)
    equal = [rs.equality_test(model, *rng.normal(size=(3, 60, 3)), n_permutations=59).p_value for _ in range(40)]
    assert np.mean(np.array(equal) <= 0.05) < 0.15
    assert np.mean(equal) > 0.35
    A, B, C = rng.normal(size=(3, 200, 3))
    C[:, 1] += 0.6 * C[:, 0]
    found = rs.equality_test(model, A, B, C, n_permutations=99)
    assert found.p_value == 0.01
    assert found.difference.shape == (3, 3, 3)
    apart = [np.linalg.inv(np.cov(X.T, bias=True))[0, 1] for X in (A, B, C)]
    assert found.difference[2, 0, 1] < -0.2 > apart[2] - np.mean(apart)
    table = found.table()
    assert list(table) == ["source", "target", "difference_1", "difference_2", "difference_3", "p_value"]
    assert (table["source"][0], table["target"][0]) == ("x0", "x1")


def test_paired_rows_change_places_with_their_partners_only():
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=5)
    rng = np.random.default_rng(0)
    unpaired, paired = [], []
    for _ in range(40):  # the same patients twice: much in common, nothing different
        person = rng.normal(size=(80, 3))
        A, B = (person + 0.3 * rng.normal(size=(80, 3)) for _ in range(2))
        unpaired.append(rs.equality_test(model, A, B, n_permutations=59).p_value)
        paired.append(rs.equality_test(model, A, B, n_permutations=59, paired=True).p_value)
    assert 0.35 < np.mean(paired) < 0.65
    assert np.mean(np.array(paired) <= 0.05) < 0.15
    assert np.mean(unpaired) > 0.8  # as if nothing could differ
    B = A.copy()
    B[:, 1] += 0.25 * B[:, 0]
    assert rs.equality_test(model, A, B, n_permutations=99, paired=True).p_value <= 0.02
    assert rs.equality_test(model, A, A[::-1], B, n_permutations=19, paired=True, block_size=4).null.size == 19
    with pytest.raises(ValueError, match=r"paired=True needs groups of the same number of rows; they have 80 and 70"):
        rs.equality_test(model, A, B[:70], paired=True)
    with pytest.raises(ValueError, match="2 pairs of whole blocks of 40 rows"):
        rs.equality_test(model, A, B, paired=True, block_size=40)


def test_nothing_to_compare_is_an_error():
    model = rs.RobustGraph("gaussian", n_blocks=1, penalty_weights=np.full((5, 5), np.inf))
    with pytest.raises(ValueError, match="no pair to compare"):
        rs.equality_test(model, rows(0), rows(1))
    with pytest.raises(NotFittedError):
        rs.compare_graphs(model, model)


def test_known_structure_by_names():
    W = rs.penalty_weights(
        list("abcde"),
        must_have=[("a", "e")],
        forbidden=[("b", "c")],
        groups={"one": ["a", "b"], "two": ["c", "d"]},
        within=0.5,
        between=2.0,
    )
    assert W[0, 4] == W[4, 0] == 0
    assert W[1, 2] == np.inf
    assert W[0, 1] == 0.5
    assert W[2, 3] == 0.5
    assert W[0, 2] == W[3, 4] == 2.0
    assert (np.diagonal(W) == 1).all()
    graph = rs.RobustGraph("gaussian", penalty_weights=W, n_blocks=1, n_edges=2).fit(
        pd.DataFrame(rows(0), columns=list("abcde"))
    )
    assert graph.graph_.adjacency[0, 4]
    assert not graph.graph_.adjacency[1, 2]


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"must_have": [("a", "z")]}, ValueError, "must_have: there is no column 'z'"),
        ({"must_have": ["ab"]}, TypeError, "pairs of names"),
        ({"forbidden": [("a", "a")]}, ValueError, "with itself"),
        ({"must_have": [("a", "b")], "forbidden": [("b", "a")]}, ValueError, "must_have and in forbidden"),
        ({"groups": {"g": ["a"], "h": ["a"]}}, ValueError, "'a' is in 'g' and in 'h'"),
        ({"groups": {"g": "ab"}}, TypeError, "list of names"),
        ({"between": 2.0}, ValueError, "give groups="),
        ({"groups": {"g": ["a"]}, "within": -1.0}, ValueError, "within=-1.0"),
    ],
)
def test_structure_that_makes_no_sense_is_an_error(options, error, match):
    with pytest.raises(error, match=match):
        rs.penalty_weights(["a", "b", "c"], **options)
    with pytest.raises(ValueError, match="unique"):
        rs.penalty_weights(["a", "a"])
