"""A fit as notebooks and scikit-learn see it."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import empirical_covariance

import robscore as rs
from robscore._tools.networks import circle_svg


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    X[:5] += [9, -9, 9, -9]
    frame = pd.DataFrame(X, columns=["a", "b<b>", "c & d", "x" * 60])
    return rs.RobustGraph("gaussian").fit(frame), frame


def test_a_notebook_shows_a_picture_and_the_summary_without_a_script(model):
    fitted, _ = model
    for shown in (fitted._repr_html_(), fitted.graph_._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert "<script" not in shown
        assert "<b>" not in shown
        assert shown.count("<line") == fitted.graph_.n_edges
        assert "strongest" in shown
        assert len(shown) < 20_000
        ET.fromstring(re.search(r"<svg.*</svg>", shown, re.S)[0])
    assert fitted._repr_mimebundle_()["text/plain"] == fitted.summary()
    assert "RobustGraph" in rs.RobustGraph("sqrt")._repr_html_()


def test_names_in_the_picture_do_not_cover_each_other():
    svg = circle_svg(["x" * 40] * 60, np.eye(60))
    texts = [part for part in ET.fromstring(svg).iter() if part.tag.endswith("text")]
    assert len(texts) == 60
    at = np.array([re.findall(r"[\d.]+", part.get("transform"))[:2] for part in texts], dtype=float)
    apart = np.linalg.norm(at[:, None] - at[None], axis=2) + 1e9 * np.eye(60)
    assert apart.min() > float(ET.fromstring(svg).get("font-size"))


def test_the_report_shows_itself_and_is_written(model, tmp_path):
    fitted, _ = model
    page = fitted.report(tmp_path / "report.html", title="A <chain>")
    assert (tmp_path / "report.html").read_text() == page.html
    assert page._repr_html_().startswith('<iframe title="A &lt;chain&gt;"')
    assert repr(page) == "<Page 'A <chain>'>"


def test_precision_and_covariance_are_those_of_the_rows():
    X = np.random.default_rng(0).normal(size=(1000, 4)) @ np.tri(4)
    fitted = rs.RobustGraph("gaussian", alpha=1e-7, n_blocks=1).fit(X)
    np.testing.assert_allclose(fitted.covariance_, empirical_covariance(X), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(fitted.precision_ @ fitted.covariance_, np.eye(4), atol=1e-10)
    other = rs.RobustGraph("sqrt", alpha=0.1).fit(np.exp(X))
    assert not hasattr(other, "precision_")
    with pytest.raises(AttributeError, match="precision_ is for family='gaussian'"):
        _ = other.precision_


def test_rows_are_judged_as_suspicious_rows_does(model):
    fitted, X = model
    table = fitted.suspicious_rows()
    flagged = np.zeros(len(X), dtype=bool)
    flagged[table["row"][table["flagged"]]] = True
    np.testing.assert_array_equal(fitted.predict(X) == -1, flagged)
    np.testing.assert_array_equal(fitted.decision_function(X) < 0, flagged)
    scores = pd.Series(table["score"].to_numpy(), index=table["row"]).sort_index()
    np.testing.assert_allclose(fitted.score_samples(X), -scores, rtol=1e-12)
    assert flagged[:5].all()
    # A row's answer does not depend on the others that are asked about.
    np.testing.assert_array_equal(fitted.predict(X[3:9]), fitted.predict(X)[3:9])


def test_the_margin_is_what_flags_by_surprise_alone():
    X = np.random.default_rng(1).normal(size=(400, 3))
    fitted = rs.RobustGraph("gaussian", n_blocks=1).fit(X)
    table = fitted.suspicious_rows(X)
    margin = fitted.decision_function(X)[table["row"]]
    np.testing.assert_array_equal(margin < 0, table["flagged"])
    inside = margin > 0
    np.testing.assert_allclose(np.diff(margin[inside] + table["score"][inside]), 0, atol=1e-9)


def test_incomplete_rows_have_no_score():
    X = np.random.default_rng(1).normal(size=(100, 3))
    fitted = rs.RobustGraph("gaussian", missing="drop").fit(X)
    X[0, 0] = np.nan
    assert np.isnan(fitted.score_samples(X)[0])
    assert fitted.predict(X)[0] == -1
