"""Graphs that change with groups, in the report: the common graph, and in colour what changes."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.report.sections import given_section
from robscore.report.sentences import findings

HOSTILE = "<b>b</b>"


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) @ (np.eye(4) + 0.6 * np.eye(4, k=1))
    group = np.repeat(["a", HOSTILE], 300)
    X[300:, 3] += 1.5 * X[300:, 0]  # only there: more together
    X[300:, 2] -= 1.5 * X[300:, 0]  # and more against each other
    model = rs.RobustGraph("gaussian").fit(pd.DataFrame(X, columns=["p", "q", "r", "s"]), moderators={"group": group})
    return model, rs.report.record(model)


def picture(record):
    section = given_section(record, np.random.default_rng(1).random((4, 2)))
    return section, ElementTree.fromstring(section[section.index("<svg") : section.index("</svg>") + 6])


def test_every_change_is_a_line_dashed_where_it_is_against_each_other(fitted):
    model, record = fitted
    section, svg = picture(record)
    lines = {line.find("title").text: line for line in svg.iter("line")}
    expected = {}
    for term, K in model.moderations_.items():
        for i, j in zip(*np.nonzero(np.triu(K, k=1)), strict=True):
            way = "against each other" if K[i, j] > 0 else "together"
            expected[f"{'pqrs'[i]} – {'pqrs'[j]}: {term}, more {way}"] = K[i, j] > 0
    changed = {title: "stroke-dasharray" in line.attrib for title, line in lines.items() if "in all rows" not in title}
    assert changed == expected
    assert set(expected.values()) == {True, False}
    assert len(lines) - len(changed) == model.graph_.n_edges
    assert "dashed: more against each other" in section


def test_the_first_screen_says_that_links_change(fitted):
    model, record = fitted
    changed = np.any([np.triu(K, k=1) != 0 for K in model.moderations_.values()], axis=0)
    words = f"with the groups or numbers given, {changed.sum()} pairs change."
    assert sum(words in told for told in findings(record)) == 1


def test_names_of_groups_are_text(fitted):
    section, _ = picture(fitted[1])
    assert HOSTILE not in section
    assert "&lt;b&gt;" in section


def test_nothing_is_said_without_moderators():
    X = np.random.default_rng(0).normal(size=(100, 3))
    record = rs.report.record(rs.RobustGraph("gaussian", n_edges=1).fit(X))
    assert given_section(record, [[0, 0], [1, 0], [0, 1]]) == ""
    assert not any("in common" in told for told in findings(record))
