"""The report in a real browser: what a person sees, does and prints."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from report.browser import chromium, opened

import robscore as rs

WILD = [
    "a, b",
    'say "hi"',
    "🌧 rain",
    "<script>window.hacked=1;alert(1)</script>",
    "</script><b>x",
    "<img src=x onerror=alert(2)>",
]


def fits(X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust = rs.RobustGraph("sqrt", **settings).fit(X)
        return robust, rs.RobustGraph("sqrt", n_blocks=1, n_edges=robust.graph_.n_edges).fit(X)


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
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


def told(page):
    return page.locator("#told").inner_text()


def spot(page, picture, element):
    """Where on the screen a part of a picture is."""
    page.locator(f"#{picture}").scroll_into_view_if_needed()
    box = page.locator(f"#{picture}").bounding_box()
    inside = page.evaluate(
        """([picture, id]) => {
            const part = window.robscore.pictures[picture].getElementById(id);
            return part.isNode() ? part.renderedPosition() : part.renderedMidpoint();
        }""",
        [picture, element],
    )
    return box["x"] + inside["x"], box["y"] + inside["y"]


def test_it_is_small_and_quick(page, rain_page):
    assert rain_page[0].stat().st_size < 6e6
    assert float(page.locator("html").get_attribute("data-ready")) < 2000


def test_the_finding_is_said_in_words(page, rain_page):
    _, robust, classic, _ = rain_page
    n = robust.graph_.n_edges
    assert page.locator("h1").inner_text() == f"{n} of 435 pairs of variables are linked directly"
    shared = int(np.count_nonzero(robust.graph_.adjacency & classic.graph_.adjacency)) // 2
    words = page.locator("#findings").inner_text()
    assert "13 of 261 rows (5.0%) do not fit the others" in words
    assert f"agrees on {shared} of them" in words
    assert page.locator("#robust-caption").inner_text() == f"Robust: {n} edges"
    assert page.locator("#classic-caption").inner_text() == f"Classic: {n} edges, {shared} of them in the robust graph"


def test_the_pictures_show_the_edges_and_tell_differences_apart(page, rain_page):
    _, robust, classic, _ = rain_page
    for method, model, other in (("robust", robust, classic), ("classic", classic, robust)):
        drawn = page.evaluate(
            "(m) => robscore.pictures[m].edges('.link').map(e => ['pair', 'colour', 'dash'].map(k => e.data(k)))",
            method,
        )
        pairs = {tuple(divmod(pair, 30)): (colour, dash) for pair, colour, dash in drawn}
        assert set(pairs) == {tuple(pair) for pair in np.argwhere(np.triu(model.graph_.adjacency)).tolist()}
        for pair, (colour, _) in pairs.items():
            assert (colour == "both") == bool(other.graph_.adjacency[pair])
        assert {style for style in pairs.values() if style[0] != "both"} <= {("only", "solid"), ("classic", "dashed")}
    assert "only in the robust graph" in page.locator("#legend").inner_text()


def test_the_slider_goes_along_the_path(page, rain_page):
    robust = rain_page[1]
    slider = page.locator("#penalty")
    steps = int(slider.get_attribute("max"))
    seen = []
    for at in (0, steps // 2, steps):
        slider.fill(str(at))
        caption = page.locator("#robust-caption").inner_text()
        count = int(re.search(r"\d+", caption)[0])
        assert page.evaluate("window.robscore.pictures.robust.edges('.link').length") == count
        assert page.locator("#edges tbody tr").count() == count
        assert f"{count} edge" in page.locator("#penalty-words").inner_text()
        seen.append(count)
    assert seen[0] == 0
    assert seen[0] < seen[1] < seen[2]
    assert set(seen) <= set(robust.path_.n_edges.tolist())
    slider.focus()
    slider.press("ArrowLeft")
    assert slider.input_value() == str(steps - 1)
    page.locator("#to-chosen").click()
    assert page.locator("#robust-caption").inner_text() == f"Robust: {robust.graph_.n_edges} edges"
    assert "chosen by f1" in page.locator("#penalty-words").inner_text()


def test_hovering_names_variables_and_links(page, rain_page):
    graph = rain_page[1].graph_
    i, j = np.argwhere(np.triu(graph.adjacency & ~rain_page[2].graph_.adjacency))[0]
    page.mouse.move(*spot(page, "robust", f"n{i}"))
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.inner_text().startswith(f"{graph.names[i]}: linked to")
    assert f"{graph.names[j]} (+{graph.association[i, j]:.2f})" in tip.inner_text()
    page.mouse.move(*spot(page, "robust", f"e{i * 30 + j}"))
    assert tip.inner_text().split("\n") == [
        f"{graph.names[i]} – {graph.names[j]}",
        f"association +{graph.association[i, j]:.2f}",
        "only in the robust graph",
    ]
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_search_holds_a_variable_and_its_neighbours(page, rain_page):
    graph = rain_page[1].graph_
    page.locator("#search").fill("mun")
    assert told(page).startswith("Munich: linked to")
    near = page.evaluate("window.robscore.pictures.robust.nodes('.near').map(n => n.data('name'))")
    munich = graph.names.index("Munich")
    assert set(near) == {"Munich", *(graph.names[k] for k in np.flatnonzero(graph.adjacency[munich]))}
    assert page.locator("#edges tr.held").count() == int(graph.adjacency[munich].sum())
    page.locator("#search").fill("Atlantis")
    assert told(page) == "No variable is named like “Atlantis”."
    page.locator("#search").fill("")
    assert told(page) == ""


def test_clicking_holds_and_the_keyboard_walks(page, rain_page):
    names = rain_page[1].graph_.names
    page.mouse.click(*spot(page, "robust", "n3"))
    assert told(page).startswith(f"{names[3]}: ")
    page.locator("#robust").press("ArrowRight")
    assert told(page).startswith(f"{names[4]}: ")
    page.locator("#robust").press("Escape")
    assert told(page) == ""


def test_dragging_moves_a_variable_in_both_pictures(page):
    x, y = spot(page, "robust", "n0")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 30, steps=5)
    page.mouse.up()
    here, there = (
        page.evaluate("(p) => window.robscore.pictures[p].getElementById('n0').position()", picture)
        for picture in ("robust", "classic")
    )
    assert here == there
    assert spot(page, "robust", "n0") == pytest.approx((x + 40, y - 30), abs=2)


def test_classic_can_be_put_away_and_then_colours_are_signs(page):
    page.locator("#beside").uncheck()
    assert page.locator("#classic").is_hidden()
    assert "positive association" in page.locator("#legend").inner_text()
    page.locator("#beside").check()
    assert page.locator("#classic").is_visible()


def test_map_and_network(page, rain_page):
    def places():
        at = page.evaluate(
            "window.robscore.pictures.robust.nodes('[name]').map(n => [n.position('x'), n.position('y')])"
        )
        return np.array(at)

    rain = rs.datasets.simulated_alpine_rain(10)
    on_map = places()
    assert np.corrcoef(on_map[:, 0], rain.coordinates[:, 1])[0, 1] > 0.9999
    assert np.corrcoef(on_map[:, 1], rain.coordinates[:, 0])[0, 1] < -0.9999
    assert page.evaluate("window.robscore.pictures.robust.edges('.line').length") > 10
    page.locator("#map").uncheck()
    assert np.abs(places() - on_map).max() > 50
    assert page.evaluate("window.robscore.pictures.robust.edges('.line').length") == 0


@pytest.mark.parametrize("layout", ["map", "network"])
def test_names_do_not_lie_over_each_other(page, layout):
    if layout == "network":
        page.locator("#map").uncheck()
    boxes = page.evaluate(
        """() => window.robscore.pictures.robust.nodes('[name][placed > 0]').map((node) => {
            const box = node.boundingBox({ includeNodes: false, includeEdges: false, includeOverlays: false });
            return [node.data('name'), box.x1 + 4, box.y1 + 4, box.x2 - 4, box.y2 - 4];
        })"""
    )
    assert len(boxes) == 30
    for k, (name, *a) in enumerate(boxes):
        for other, *b in boxes[:k]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (name, other)


def test_rows_are_listed_with_their_labels(page, rain_page):
    assert "13 of 261 rows are so surprising" in page.locator("#rows-words").inner_text()
    cells = page.locator("#rows tbody tr td:nth-child(2)").all_inner_texts()
    assert set(rain_page[3]) <= set(cells[:14])
    assert " high" in page.locator("#rows tbody tr").first.inner_text()


def test_tables_are_sorted_by_a_click(page):
    button = page.locator("#edges thead button").first
    button.click()
    names = page.locator("#edges tbody tr td:nth-child(1)").all_inner_texts()
    assert names == sorted(names)
    button.click()
    assert page.locator("#edges tbody tr td:nth-child(1)").all_inner_texts() == sorted(names, reverse=True)


def test_charts_are_drawn(page):
    for chart in ("rows-chart", "criterion-chart", "path-chart"):
        assert page.evaluate(
            """(id) => { const canvas = document.getElementById(id), context = canvas.getContext('2d');
                return context.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0); }""",
            chart,
        )
    assert page.locator("#criterion-chart").get_attribute("aria-label").startswith("1 − expected F1 is least at")


def test_a_click_on_a_chart_moves_the_slider(page):
    before = page.locator("#penalty").input_value()
    page.locator("#path-chart").click(position={"x": 900, "y": 150})
    page.wait_for_function("(before) => document.getElementById('penalty').value !== before", arg=before)


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
        assert page.evaluate("window.robscore.pictures.robust.nodes('[name]').map(n => n.data('name'))") == WILD
        page.locator("#search").fill("<script>")
        assert told(page).startswith(WILD[3])
        assert page.locator("#rows tbody td:nth-child(2)").first.inner_text().startswith("<i>")
        assert page.locator("#remarks p").inner_text() == WILD[5]
        assert page.evaluate("window.hacked") is None
        assert page.troubles == []
        assert page.requests == [path.as_uri()]


def test_two_hundred_variables_stay_smooth(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 200))
    X[:, 1:] += 0.7 * X[:, :-1]
    robust = rs.RobustGraph("gaussian", n_blocks=1, alphas=12, n_edges=300, alpha_min_ratio=0.3).fit(X)
    path = tmp_path / "many.html"
    rs.report.write_html(robust, path)
    with opened(browser, path) as page:
        slowest, unit = page.evaluate(
            """() => {
                const least = (work) => Math.min(...[1, 2, 3, 4, 5].map(() => {
                    const started = performance.now(); work(); return performance.now() - started;
                }));
                const unit = least(() => Float64Array.from({ length: 2e5 }, (_, k) => (k * 7919) % 200003).sort());
                let slowest = 0; const last = Number(document.getElementById('penalty').max);
                for (let k = 0; k <= last; k += 2) {
                    slowest = Math.max(slowest, least(() => { window.robscore.moveTo(k); window.robscore.hold(k); }));
                } return [slowest, unit]; }"""
        )
        assert slowest < 20 * unit  # sorting 200 000 numbers in the same page
        assert float(page.locator("html").get_attribute("data-ready")) < 300 * unit
        assert page.troubles == []


def test_a_single_penalty_needs_no_slider(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 4)) @ np.tri(4)
    rs.report.write_html(rs.RobustGraph("gaussian", alpha=0.05).fit(X), tmp_path / "one.html")
    with opened(browser, tmp_path / "one.html") as page:
        assert page.locator("#penalty").is_hidden()
        assert page.locator("#classic").is_hidden()
        assert "was given" in page.locator("#path-words").inner_text()
        assert page.troubles == []


def test_an_empty_graph(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 3))
    rs.report.write_html(rs.RobustGraph("gaussian").fit(X), tmp_path / "none.html")
    with opened(browser, tmp_path / "none.html") as page:
        assert page.locator("h1").inner_text() == "No two of the 3 variables are linked directly"
        assert page.locator("#edges-words").inner_text() == "There is none at this penalty."
        assert page.troubles == []


def test_printed_pages_show_the_pictures(browser, rain_page, tmp_path):
    """As the print dialogue does it, without any time to draw."""
    with opened(browser, rain_page[0], color_scheme="dark") as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        for picture in ("robust", "classic"):
            image = page.locator(f"#{picture} img.paper")
            assert image.get_attribute("src").startswith("data:image/png")
            assert len(image.get_attribute("src")) > 10_000
        assert brightness(page) == 765
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
        assert page.evaluate("robscore.pictures.robust.zoom()") > 0.5
        assert page.troubles == []


def test_outlines_do_not_change_the_map_and_end_at_its_edge(tmp_path):
    from robscore.report.page import _layouts
    from robscore.report.record import record

    rain = rs.datasets.simulated_alpine_rain(200)
    model = rs.RobustGraph("sqrt", n_edges=30).fit(rain.X)
    around = [[45.0, 5.0], [46.0, 8.0], [70.0, 8.5], [71.0, 9.0], [46.5, 9.5], [47.0, 10.0]]
    plain, outlined = (
        _layouts(record(model, coordinates=rain.coordinates, outline=outline))["map"] for outline in (None, [around])
    )
    assert plain["places"] == outlined["places"]
    assert len(outlined["lines"]) == 2
    at = np.array(outlined["places"])
    for line in outlined["lines"]:
        assert (np.array(line) >= at.min(axis=0) - 40).all()
        assert (np.array(line) <= at.max(axis=0) + 40).all()
