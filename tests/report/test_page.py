"""The report in a real browser: what it says, on every kind of screen and on paper."""

import numpy as np
import pandas as pd
from report.browser import opened
from report.pages import fits, told

import robscore as rs

WILD = [
    "a, b",
    'say "hi"',
    "🌧 rain",
    "<script>window.hacked=1;alert(1)</script>",
    "</script><b>x",
    "<img src=x onerror=alert(2)>",
]


def test_it_is_small(rain_page):
    assert rain_page[0].stat().st_size < 6e6


def test_the_finding_is_said_in_words(page, rain_page):
    _, robust, classic, _ = rain_page
    n = robust.graph_.n_edges
    clear, possible = (int(words.split()[0]) for words in page.locator("h1").inner_text().split(", ")[:2])
    assert clear + possible == n
    shared = int(np.count_nonzero(robust.graph_.adjacency & classic.graph_.adjacency)) // 2
    words = page.locator("#findings").inner_text()
    assert "13 of 261 rows (5.0%) do not fit the others" in words
    assert f"finds {shared} of these {n} links" in words
    table = robust.edge_intervals()
    clear = int((table["in_graph"] & table["significant"]).sum())
    assert f"{clear} of the {n} links are clearly more than chance" in page.locator("#sure").inner_text()
    assert page.locator("#caption").inner_text() == f"Robust: {n} links"


def test_intervals_stand_beside_the_links(page, rain_page):
    table = rain_page[1].edge_intervals()
    row = page.locator("#edges tbody tr").first
    one, other = row.locator("td").nth(0).inner_text(), row.locator("td").nth(1).inner_text()
    found = table[(table["source"] == one) & (table["target"] == other)].iloc[0]
    words = row.locator("td").nth(3).inner_text()
    limits = [f"+{found[k]:.2f}" for k in ("association", "association_low", "association_high")]
    assert words == f"{limits[0]} ({limits[1]} to {limits[2]})"
    assert "−0.00" not in page.locator("#edges").inner_text()
    assert "+0.00" not in page.locator("#edges").inner_text()


def test_rows_are_listed_with_their_labels(page, rain_page):
    words = page.locator("#rows-words").inner_text()
    assert words.startswith("14 of 261 rows stand out: 13 are left out, and 1")
    assert "Rows are numbered from 0, as in Python. A row of weight 1 counts in full" in words
    cells = page.locator("#rows tbody tr td:nth-child(2)").all_inner_texts()
    assert set(rain_page[3]) <= set(cells[:14])
    assert ", usually " in page.locator("#rows tbody tr").first.inner_text()


def test_charts_are_drawn(page):
    for chart in ("rows-chart", "criterion-chart", "path-chart"):
        assert page.evaluate(
            """(id) => { const canvas = document.getElementById(id), context = canvas.getContext('2d');
                return context.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0); }""",
            chart,
        )
    assert page.locator("#criterion-chart").get_attribute("aria-label").startswith("1 − expected F1 is smallest at")
    ranges = page.evaluate(
        "['criterion-chart', 'path-chart'].map(id => Chart.getChart(id).scales.x).map(x => [x.min, x.max])"
    )
    assert ranges[0] == ranges[1]


BRIGHTNESS = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"


def brightness(page):
    return page.evaluate(BRIGHTNESS)


def wait_for_brightness(page, condition):
    page.wait_for_function(f"() => {BRIGHTNESS} {condition}")


def test_dark_and_light_and_paper(browser, rain_page):
    with opened(browser, rain_page[0], color_scheme="dark") as page:
        wait_for_brightness(page, "< 150")
        page.emulate_media(media="print", color_scheme="dark")
        wait_for_brightness(page, "=== 765")
        assert page.locator(".controls").first.is_hidden()
        page.emulate_media(media="screen", color_scheme="dark")
        wait_for_brightness(page, "< 150")
        page.locator("#theme").click()
        wait_for_brightness(page, "=== 765")
        assert page.troubles == []


def test_settings_and_optimality_are_shown(page, rain_page):
    facts = page.locator("#facts").inner_text()
    assert "converged\tyes" in facts
    assert "of α_max off the optimum" in facts
    assert "alpha_min_ratio\t0.001" in page.locator("#settings").inner_text()


def test_on_a_telephone(browser, rain_page):
    with opened(browser, rain_page[0], viewport={"width": 390, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.troubles == []


def test_names_are_shown_as_written_and_nothing_in_them_runs(browser, tmp_path):
    truth = rs.simulate.random_model(6, 6, random_state=1)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=200, random_state=2)
    robust, classic = fits(pd.DataFrame(X, columns=WILD), n_edges=15)
    path = tmp_path / "wild.html"
    labels = [f"<i>{k}</i>{{{{data}}}}" for k in range(200)]
    rs.report.write_html(robust, path, classic=classic, title=WILD[3], labels=labels, remarks=[WILD[5]])
    with opened(browser, path) as page:
        assert page.locator(".kicker").inner_text() == WILD[3]
        assert set(page.locator("#edges tbody tr td:nth-child(-n+2)").all_inner_texts()) == set(WILD)
        assert page.evaluate("robscore.picture.nodes('[name]').map(n => n.data('name'))") == WILD
        page.locator("#search").fill("<script>")
        assert told(page).startswith(WILD[3])
        assert page.locator("#rows tbody td:nth-child(2)").first.inner_text().startswith("<i>")
        assert page.locator("#remarks p").inner_text() == WILD[5]
        assert page.evaluate("window.hacked") is None
        assert page.troubles == []
        assert page.requests == [path.as_uri()]


def test_an_empty_graph(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 3))
    rs.report.write_html(rs.RobustGraph("gaussian").fit(X), tmp_path / "none.html")
    with opened(browser, tmp_path / "none.html") as page:
        assert page.locator("h1").inner_text() == "No direct link was found between the 3 variables"
        assert page.locator("#edges-words").inner_text() == "The graph has no links."
        assert page.troubles == []


def test_printed_pages_show_the_pictures(browser, rain_page, tmp_path):
    """As the print dialogue does it, without any time to draw."""
    with opened(browser, rain_page[0], color_scheme="dark", viewport={"width": 700, "height": 1000}) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#graph img.paper").get_attribute("src").startswith("data:image/svg")
        assert page.locator(".chart img.paper").count() == 3
        assert brightness(page) == 765
        page.emulate_media(media="print")
        for image in page.locator("img.paper").all():
            assert image.bounding_box()["width"] > 600
        assert page.evaluate("document.documentElement.scrollWidth") <= 700
        page.emulate_media(media="screen")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator("img.paper").count() == 0
        assert brightness(page) < 150
        page.pdf(path=tmp_path / "report.pdf", format="A4")
        assert (tmp_path / "report.pdf").stat().st_size > 100_000
        assert page.troubles == []


def test_long_names_do_not_break_the_page(browser, tmp_path):
    names = [f"{k} " + "a very long name " * 12 for k in range(4)]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4), columns=names)
    rs.report.write_html(rs.RobustGraph("gaussian").fit(X), tmp_path / "long.html")
    with opened(browser, tmp_path / "long.html") as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 1400
        wide = page.evaluate("document.getElementById('graph').clientWidth")
        assert page.evaluate("(wide) => robscore.state.boxes.every(b => b.left >= 0 && b.right <= wide)", wide)
        assert page.troubles == []
