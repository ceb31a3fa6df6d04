"""A browser, and the report of simulated rain in it."""

import pandas as pd
import pytest
from report.browser import chromium, opened
from report.pages import fits

import robscore as rs


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def rain_page(tmp_path_factory):
    rain = rs.datasets.simulated_alpine_rain(261)
    X, bad = rs.simulate.contaminate_pareto(rain.X, 0.05, random_state=1)
    robust, classic = fits(pd.DataFrame(X, columns=rain.names))
    path = tmp_path_factory.mktemp("rain") / "report.html"
    months = [f"month {k}" for k in range(261)]
    rs.report.write_html(
        robust,
        path,
        classic=classic,
        title="Simulated Alpine rain",
        labels=months,
        coordinates=rain.coordinates,
        outline=[rs.datasets.alpine_ridge()],
    )
    return path, robust, classic, [months[k] for k in bad]


@pytest.fixture
def page(browser, rain_page):
    with opened(browser, rain_page[0]) as page:
        yield page
        assert page.troubles == []
        assert page.requests == [rain_page[0].as_uri()]
