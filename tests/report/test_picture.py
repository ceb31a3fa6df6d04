"""The picture of the report: signs, hovering, dragging, the matrix, the map, and names."""

import numpy as np
import pytest
from report.browser import opened
from report.pages import pairs_of, press, shown, spot, told

import robscore as rs


def test_signs_are_seen_by_colour_and_by_line(page, rain_page):
    _, robust, classic, _ = rain_page
    styles = {True: ("positive", "solid"), False: ("negative", "dashed")}
    for method, model in (("classic", classic), ("robust", robust)):
        press(page, "method", method)
        drawn = shown(page)
        assert set(drawn) == pairs_of(model)
        for pair, (colour, dash, positive) in drawn.items():
            assert (colour, dash) == styles[positive]
            assert positive == (model.association_[pair] > 0)
    assert "move against each other (−)" in page.locator("#legend").inner_text()


def test_both_graphs_are_compared_by_colour_and_keep_their_signs(page, rain_page):
    _, robust, classic, _ = rain_page
    press(page, "method", "both")
    drawn = shown(page)
    ours, theirs = pairs_of(robust), pairs_of(classic)
    assert set(drawn) == ours | theirs
    for pair, (colour, dash, positive) in drawn.items():
        assert colour == ("both" if pair in ours & theirs else "only" if pair in ours else "classic")
        assert dash == ("solid" if positive else "dashed")
    assert "only classic" in page.locator("#legend").inner_text()


def test_hovering_names_variables_and_links(page, rain_page):
    graph = rain_page[1].graph_
    i, j = np.argwhere(np.triu(graph.adjacency & ~rain_page[2].graph_.adjacency))[0]
    page.mouse.move(*spot(page, f"n{i}"))
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.inner_text().startswith(f"{graph.names[i]}: linked to")
    assert f"{graph.names[j]} (+{graph.association[i, j]:.2f})" in tip.inner_text()
    page.mouse.move(*spot(page, f"e{i * 30 + j}"))
    lines = tip.inner_text().split("\n")
    assert lines[0] == f"{graph.names[i]} – {graph.names[j]}"
    assert lines[1].startswith(f"association +{graph.association[i, j]:.2f}")
    assert lines[-1] == "only in the robust graph"
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_dragging_moves_a_variable_and_takes_the_tooltip_along(page):
    x, y = spot(page, "n0")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 30, steps=5)
    box = page.locator("#tip").bounding_box()
    assert abs(box["x"] - (x + 74)) < 5
    page.mouse.up()
    assert spot(page, "n0") == pytest.approx((x + 60, y - 30), abs=2)
    page.locator("#fit").click()
    assert spot(page, "n0") == pytest.approx((x, y), abs=2)


def test_the_wheel_scrolls_the_page_until_the_picture_is_clicked(page):
    x, y = spot(page, "n0")
    page.mouse.move(x - 20, y - 20)
    page.mouse.wheel(0, 100)
    page.wait_for_function("() => scrollY > 0")
    assert page.evaluate("robscore.picture.zoom()") == 1
    page.evaluate("scrollTo(0, 0)")
    page.mouse.click(*[at - 25 for at in spot(page, "n0")])
    for _ in range(100):  # just after the page was scrolled, the picture does not heed the wheel yet
        page.mouse.wheel(0, -100)
        page.wait_for_timeout(50)
        if page.evaluate("robscore.picture.zoom()") > 1:
            break
    assert page.evaluate("robscore.picture.zoom()") > 1
    assert page.evaluate("scrollY") == 0


def test_the_matrix_shows_the_same_links(page, rain_page):
    press(page, "view", "matrix")
    squares = page.evaluate("[...document.querySelectorAll('#matrix g')].map(g => Number(g.dataset.pair))")
    assert sorted(squares) == sorted(2 * [i * 30 + j for i, j in pairs_of(rain_page[1])])
    assert page.locator("#matrix text title").count() == 60
    page.locator("#matrix g").first.click()
    assert told(page)


def test_map_and_network(page, rain_page):
    def places():
        return np.array(page.evaluate("robscore.picture.nodes('[name]').map(n => [n.position('x'), n.position('y')])"))

    rain = rs.datasets.simulated_alpine_rain(10)
    on_map = places()
    assert np.corrcoef(on_map[:, 0], rain.coordinates[:, 1])[0, 1] > 0.9999
    assert np.corrcoef(on_map[:, 1], rain.coordinates[:, 0])[0, 1] < -0.9999
    assert page.evaluate("robscore.picture.edges('.line').length") > 10
    words = page.locator("#distance-words")
    assert words.inner_text() == "Variables stand where they are on the map."
    page.locator("#map").uncheck()
    assert words.inner_text().startswith("Distance has no meaning")
    assert np.abs(places() - on_map).max() > 50
    assert page.evaluate("robscore.picture.edges('.line').length") == 0


@pytest.mark.parametrize("layout", ["map", "network"])
def test_every_name_is_shown_and_none_lies_over_another(page, rain_page, layout):
    if layout == "network":
        page.locator("#map").uncheck()
    boxes = page.evaluate("robscore.state.boxes.map(b => [b.text, b.left, b.top, b.right, b.bottom])")
    assert [text for text, *_ in boxes] == list(rain_page[1].graph_.names)
    for k, (name, *a) in enumerate(boxes):
        for other, *b in boxes[:k]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (name, other)


@pytest.mark.long
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


def test_outlines_do_not_change_the_map_and_end_at_its_edge(tmp_path):
    from robscore.report import record
    from robscore.report.page import _drawn

    rain = rs.datasets.simulated_alpine_rain(200)
    model = rs.RobustGraph("sqrt", n_edges=30).fit(rain.X)
    around = [[45.0, 5.0], [46.0, 8.0], [70.0, 8.5], [71.0, 9.0], [46.5, 9.5], [47.0, 10.0]]
    plain, outlined = (
        _drawn(record(model, coordinates=rain.coordinates, outline=outline))["layouts"]["map"]
        for outline in (None, [around])
    )
    assert plain["places"] == outlined["places"]
    assert len(outlined["lines"]) == 2
    for line in outlined["lines"]:
        assert (np.array(line) >= -0.05).all()
        assert (np.array(line) <= 1.05).all()
