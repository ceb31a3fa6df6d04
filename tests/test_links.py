"""The finding is as certain as the tests and the cautions, in the same words wherever it is read."""

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.links import KnownLinks, LinkTests, PairTest
from robscore.report.sentences import headline, how_sure

EDGES = [(0, 1, 1.3), (0, 2, 0.5), (1, 3, -0.4), (2, 3, 0.1)]


def found(**of):
    """Tests of the four edges: estimates and q-values."""
    estimates = {"estimates": (1.2, 0.5, 0.3, 0.1), "q": (1e-9, 1e-9, 1e-9, 0.5), **of}
    pairs = {
        edge[:2]: PairTest(*numbers)
        for edge, *numbers in zip(EDGES, estimates["estimates"], estimates["q"], strict=True)
    }
    return LinkTests(pairs, 0.1)


@pytest.mark.parametrize(
    ("links", "words"),
    [
        (KnownLinks(4, EDGES, found()), "2 clear links, 2 possible, among 6 pairs of variables"),
        (KnownLinks(4, EDGES, found(q=(1, 1, 1, 1))), "No clear link, 4 possible, among 6 pairs of variables"),
        (
            KnownLinks(4, EDGES, found(), is_doubtful=True),
            "2 links that seem clear, 2 possible, among 6 pairs of variables",
        ),
        (KnownLinks(4, EDGES), "4 possible links among 6 pairs of variables, not tested one by one"),
        (KnownLinks(2, EDGES[:1], found()), "1 clear link among 1 pair of variables"),
        (KnownLinks(4, [], found()), "No direct link was found between the 4 variables"),
    ],
)
def test_the_headline_follows_certainty(links, words):
    assert links.headline == words


def test_what_cannot_be_is_not_among_the_strongest():
    """An association beyond 1, and a sign that the estimate without shrinkage contradicts."""
    assert KnownLinks(4, EDGES, found()).strongest(3) == [(0, 2, 0.5)]
    assert KnownLinks(4, EDGES, found(q=(1, 1, 1, 1))).strongest(3) == [(0, 2, 0.5), (2, 3, 0.1)]
    assert KnownLinks(4, EDGES).strongest(3) == EDGES[1:]


def test_summary_and_report_say_the_same():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    X["b"] += X["a"]
    model = rs.RobustGraph("gaussian", n_edges=3).fit(X)
    assert f"finding    {headline(rs.report.record(model))}" in model.summary()
    assert headline(rs.report.record(model)) == "1 clear link, 2 possible, among 10 pairs of variables"
    assert "strongest  a – b (" in model.summary()
    assert model.summary().count(" – ") == 1  # the others are only possible
    assert "finding" not in model.graph_.summary()  # which was not tested


def test_of_a_link_or_two_nobody_says_how_many_in_ten_are_false():
    rng = np.random.default_rng(0)
    chain = rng.normal(size=(300, 5)) @ np.tri(5)
    told = how_sure(rs.report.record(rs.RobustGraph("gaussian", n_edges=4).fit(chain)))
    assert told == "All 4 links are clearly more than chance."
    longer = rng.normal(size=(300, 12)) @ np.tri(12)
    told = how_sure(rs.report.record(rs.RobustGraph("gaussian", n_edges=11).fit(longer)))
    assert told.startswith("All 11 links are clearly more than chance; about 1 of these 11 may still be false.")
    one = how_sure(rs.report.record(rs.RobustGraph("gaussian", n_edges=1).fit(chain[:, :2])))
    assert one == "The link is clearly more than chance."
