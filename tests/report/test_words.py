"""A reader without statistics sees on the first screen what was found, how sure it is, and what to be careful about."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report.browser import opened
from sklearn.datasets import load_breast_cancer

import robscore as rs
from robscore._tools.messages import signed
from robscore._tools.networks import centrality, clustered_order
from robscore.report import record as recorded
from robscore.report.record import full_weights
from robscore.report.sentences import about_flagged, findings, headline, how_sure, methods

# 16 years of seven series that grow together, from statsmodels' Longley data: too few to learn a graph from.
LONGLEY = """60323 83 234289 2356 1590 107608 1947;61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949;61187 89.5 284599 3351 1650 110929 1950;63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952;64989 99 365385 1870 3547 115094 1953;63761 100 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955;67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958;68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961;70551 116.9 554894 4007 2827 130081 1962"""


def made(X, family, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, **settings).fit(X)
        classic = rs.RobustGraph(model.family_, n_blocks=1, n_edges=model.graph_.n_edges).fit(X)
        return rs.report.record(model, classic=classic, title="a table")


def longley():
    rows = [[float(cell) for cell in row.split()] for row in LONGLEY.replace("\n", ";").split(";")]
    return pd.DataFrame(rows, columns=["TOTEMP", "GNPDEFL", "GNP", "UNEMP", "ARMED", "POP", "YEAR"])


@pytest.fixture(scope="module")
def records():
    rain = rs.datasets.simulated_alpine_rain(261)
    X, _ = rs.simulate.contaminate_pareto(rain.X, 0.05, random_state=1)
    return {
        "rain": made(pd.DataFrame(X, columns=rain.names), "sqrt", n_edges=45),
        "cancer": made(load_breast_cancer(as_frame=True).data, "sqrt", n_edges=80),
        "failed": made(longley(), "sqrt"),
    }


# What a reader without statistics would say: what was found, how certain it is, and what to be careful about.
SENTENCES = {
    "rain": [
        " possible, among 435 pairs of variables",
        "of the 45 links are clearly more than chance; about ",
        "may still be false",
        "13 of 261 rows (5.0%) do not fit the others and are left out",
        "No cautions: nothing in the rows or columns speaks against this graph, but whether the model fits could not "
        "be checked",
    ],
    "cancer": [
        "links that seem clear, ",
        "of the 80 links are clearly more than chance",
        "This assumes that the model is right; see the cautions",
        "The model hardly fits the data",
        "Some links may only reflect what it misses",
        "are determined by others to more than 99%",
    ],
    "failed": [
        "2 possible links among 21 pairs of variables, not tested one by one",
        "How certain the links are cannot be judged: 16 rows are too few to test 7 variables against each other",
        "The 16 rows say as much as 8 rows of equal weight, and it takes 20 to judge rows by each other",
        "where no link was found there may still be one. Use more rows or fewer columns",
    ],
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_first_screen_says_it(browser, records, tmp_path, name):
    path = tmp_path / "report.html"
    rs.report.write_html(records[name], path)
    with opened(browser, path, viewport={"width": 1400, "height": 900}) as page:
        seen = page.evaluate(
            """() => [...document.querySelectorAll('h1, #sure, #cautions li, #no-cautions, #findings li')]
                .filter((e) => e.getBoundingClientRect().bottom <= innerHeight).map((e) => e.innerText)"""
        )
        for sentence in SENTENCES[name]:
            assert any(sentence in text for text in seen), sentence
        box = page.locator("#graph").bounding_box()
        assert box["y"] < 350
        first = " ".join(page.locator("header, .first").all_inner_texts())
        for riddle in ("ebic", "surprise", "interaction K", "SquareRoot()", " α"):
            assert riddle not in first.replace("alpha", ""), riddle
        assert page.troubles == []


def test_the_same_estimator_is_not_compared_with_itself(browser, tmp_path):
    X = np.random.default_rng(1).normal(size=(60, 4)) @ np.tri(4)
    robust, classic = (rs.RobustGraph("gaussian", **settings).fit(X) for settings in ({}, {"n_blocks": 1}))
    assert robust.share_dropped_ == 0
    record = rs.report.record(robust, classic=classic)
    assert record.classic is None
    assert "All rows have the same weight, so classic score matching gives the same graph." in findings(record)
    rs.report.write_html(record, tmp_path / "same.html")
    with opened(browser, tmp_path / "same.html") as page:
        assert page.locator("#methods").is_hidden()
        assert page.troubles == []


def test_a_full_row_weighs_one():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:10] += 20
    model = rs.RobustGraph("gaussian").fit(X)
    weights = full_weights(model)
    assert set(weights[:10]) == {0.0}
    assert weights.max() == 1.0
    assert np.mean(weights == 1) > 0.8


def test_two_numbers_of_rows_are_explained(records):
    record = records["rain"]
    assert about_flagged(record).startswith("14 of 261 rows stand out: 13 are left out, and 1")
    more = replace(record, rows={**record.rows, "n_flagged": 15})
    assert "15 of 261 rows stand out: 13 are left out, and 2 are unusual but kept." in (about_flagged(more))


def test_stability_is_told_where_it_is_given():
    X = np.random.default_rng(0).normal(size=(200, 4)) @ np.tri(4)
    model = rs.RobustGraph("gaussian", alphas=20).fit(X)
    stability = model.edge_stability(X, n_pairs=2, progress=False)
    record = rs.report.record(model, stability=stability)
    kept = int(np.count_nonzero(np.triu((stability.frequency >= 0.75) & model.graph_.adjacency)))
    start = f"{kept} of the {model.graph_.n_edges} links recur in at least 75% of {stability.n_done} fits"
    assert start in how_sure(record)
    assert how_sure(record).startswith(how_sure(rs.report.record(model)).removesuffix("."))  # the tests are told too


def test_a_bound_that_says_nothing_is_not_given(records):
    record = records["rain"]
    pairs = [[i, j, 1.0] for i, j, _, _ in record.edges[:4]]
    halves = {"n_halves": 10, "threshold": 0.75, "expected_false": 11.0, "pairs": pairs}
    sure = how_sure(replace(record, certainty={**record.certainty, "stability": halves}))
    assert "4 of the 45 links recur in at least 75% of 10 fits to half of the rows; how many of them may be" in sure
    sure = how_sure(replace(record, certainty={**record.certainty, "stability": {**halves, "expected_false": 0.5}}))
    assert "; at most 0.5 of such links are expected to be false." in sure


def test_the_record_is_read_again_as_it_was(records, tmp_path):
    for record in records.values():
        (tmp_path / "model.json").write_text(record.to_json(), encoding="utf-8")
        assert rs.report.Record.from_json(tmp_path / "model.json") == record
        older = json.loads(record.to_json())
        for name in ("certainty", "predictability", "check", "groups", "cautions"):
            del older[name]
        (tmp_path / "model.json").write_text(json.dumps(older), encoding="utf-8")
        assert rs.report.Record.from_json(tmp_path / "model.json").certainty is None


def test_methods_say_what_was_done(records):
    words = methods(records["rain"])
    assert "30 variables from 261 rows" in words
    assert "13 rows (5.0%) received weight zero" in words
    assert "was chosen to give 45 edges" in words
    assert "Benjamini and Hochberg over 435 pairs" in words


def test_groups_must_fit_the_columns():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = rs.RobustGraph("gaussian").fit(X)
    assert rs.report.record(model, groups={"x1": "b"}).groups == ["", "b", ""]
    with pytest.raises(ValueError, match="groups has 2 entries for 3 columns"):
        rs.report.record(model, groups=["a", "b"])


def test_centrality_is_that_of_networkx_and_order_puts_clusters_together():
    import networkx as nx

    rng = np.random.default_rng(0)
    A = np.where(rng.random((12, 12)) < 0.25, rng.uniform(-1, 1, size=(12, 12)), 0)
    A = np.triu(A, 1) + np.triu(A, 1).T + np.eye(12)
    found = centrality(A)
    net = nx.from_numpy_array(1 / np.abs(np.where(A == 0, np.inf, A)) * (A != 0) * (1 - np.eye(12)))
    expected = nx.betweenness_centrality(net, weight="weight")
    np.testing.assert_allclose(found.betweenness, [expected[k] for k in range(12)])
    assert found.degree == (np.count_nonzero(A, axis=1) - 1).tolist()
    np.testing.assert_allclose(found.strength, np.abs(A).sum(axis=1) - 1)
    blocks = np.kron(np.eye(3), np.full((3, 3), 0.5))
    mixed = rng.permutation(9)
    order = mixed[clustered_order(blocks[np.ix_(mixed, mixed)])]
    assert [len(set(order[k : k + 3] // 3)) for k in (0, 3, 6)] == [1, 1, 1]


def test_no_association_is_written_as_minus_zero():
    assert signed(-0.001) == "-0.001"
    assert signed(-0.0049) == "-0.005"
    assert signed(0.005) == "+0.01"


def test_a_link_whose_sign_is_reversed_without_shrinkage_is_not_called_clear(records):
    """As where columns nearly determine each other."""
    rain = records["rain"]
    i, j, _, strength = rain.edges[0]
    pairs = [pair for pair in rain.certainty["pairs"] if (pair[0], pair[1]) != (i, j)]
    opposite = [i, j, -strength, -strength - 0.01, -strength + 0.01, 1e-9, 1e-9]
    agrees = [i, j, strength, strength - 0.01, strength + 0.01, 1e-9, 1e-9]
    told, before = (replace(rain, certainty={**rain.certainty, "pairs": [*pairs, test]}) for test in (opposite, agrees))
    n_told, n_before = (int(headline(record).split()[0]) for record in (told, before))
    assert n_told == n_before - 1
    assert "turns round without shrinkage: do not rely on either" in how_sure(told)
    assert "turns round" not in how_sure(before)
    assert f"({signed(strength)}" not in findings(told)[0]  # nor among the strongest
    assert f"({signed(strength)})" in findings(before)[0]


def test_associations_of_latent_numbers_are_called_so():
    """And columns that have margins are not scaled."""
    X = np.round(np.random.default_rng(0).normal(size=(200, 3)))
    told, plain = (recorded(rs.RobustGraph(family).fit(X)) for family in ("copula", "gaussian"))
    assert "partial correlations of latent normal numbers" in " ".join(findings(told))
    assert "latent" not in " ".join(findings(plain)) + methods(plain)
    assert "fitted to latent normal numbers" in methods(told)
    assert "scaled by robust deviations" in methods(plain)
    assert "scaled" not in methods(told)


def test_long_names_that_begin_alike_are_told_apart():
    z = np.random.default_rng(0).normal(size=(200, 4))
    z[:, 1] += z[:, 0]
    z[:, 3] -= z[:, 2]
    question = "On a scale from one to ten, how much do you agree: you like to {} every day, whatever the weather is"
    X = pd.DataFrame(z, columns=[question.format(what) for what in ("swim", "run", "read", "sleep")])
    told = " ".join(findings(recorded(rs.RobustGraph("gaussian").fit(X))))
    assert all(f"…to {what} every day" in told for what in ("swim", "run", "read", "sleep"))
    assert "1 of the linked pairs moves together (+) and 1 in opposite directions" in told
