"""What can be done on the report: sliders, search, filters, keys, tables, files."""

import re

import numpy as np
import pandas as pd
import pytest
from report.browser import opened
from report.pages import pairs_of, shown, spot, told

import robscore as rs


def test_the_slider_moves_nothing_but_the_graph(page, rain_page):
    robust = rain_page[1]
    slider = page.locator("#penalty")
    steps = int(slider.get_attribute("max"))
    places = (
        "() => [...document.querySelectorAll('h2, table, canvas')].map(e => e.getBoundingClientRect().top + scrollY)"
    )
    before, rows = page.evaluate(places), page.locator("#edges tbody tr").count()
    seen = []
    for at in (0, steps // 2, steps):
        slider.fill(str(at))
        count = int(re.search(r"\d+", page.locator("#caption").inner_text())[0])
        assert page.evaluate("robscore.picture.edges('.link').length") == count
        assert page.evaluate(places) == pytest.approx(before)
        seen.append(count)
    assert page.locator("#edges tbody tr").count() == rows == robust.graph_.n_edges
    assert seen[0] == 0
    assert seen[0] < seen[1] < seen[2]
    assert set(seen) <= set(robust.path_.n_edges.tolist())
    slider.focus()
    slider.press("ArrowLeft")
    assert slider.input_value() == str(steps - 1)
    page.locator("#to-chosen").click()
    assert page.locator("#caption").inner_text() == f"Robust: {robust.graph_.n_edges} links"
    assert "the best balance of found and false links" in page.locator("#penalty-words").inner_text()


@pytest.mark.parametrize("kind", ["strength", "certainty"])
def test_links_are_hidden_by_strength_or_certainty(page, rain_page, kind):
    robust = rain_page[1]
    page.locator("#threshold-kind").select_option(kind)
    page.locator("#threshold").fill("5" if kind == "certainty" else "20")
    strength = np.abs(robust.association_)
    if kind == "strength":
        hidden = page.locator("#threshold-words").inner_text()
        limit = float(re.search(r"weaker than (\d\.\d+)", hidden)[1])
        expected = {pair for pair in pairs_of(robust) if strength[pair] >= limit - 0.005}
        assert set(shown(page)) <= expected
        assert 0 < len(shown(page)) < robust.graph_.n_edges
        return
    table = robust.edge_intervals()
    clear = table[table["in_graph"] & (table["q_value"] <= 0.01)]
    names = robust.graph_.names
    assert set(shown(page)) == {
        tuple(sorted((names.index(a), names.index(b)))) for a, b in zip(clear["source"], clear["target"], strict=True)
    }
    assert 0 < len(clear) < robust.graph_.n_edges


def test_links_are_filtered_by_text(page, rain_page):
    graph = rain_page[1].graph_
    page.locator("#edge-filter").fill("mila")
    count = int(graph.adjacency[graph.names.index("Milan")].sum())
    assert page.locator("#edges tbody tr").count() == count
    assert page.locator("#edge-count").inner_text() == f"{count} of {graph.n_edges}"
    page.locator("#edge-filter").fill("Atlantis")
    assert page.locator("#edge-count").inner_text() == "no match"


def test_search_finds_every_hit_and_says_how_many(page, rain_page):
    graph = rain_page[1].graph_
    page.locator("#search").fill("munich")
    assert told(page).startswith("Munich: linked to")
    near = page.evaluate("robscore.picture.nodes('.near').map(n => n.data('name'))")
    munich = graph.names.index("Munich")
    assert set(near) == {"Munich", *(graph.names[k] for k in np.flatnonzero(graph.adjacency[munich]))}
    assert page.locator("#edges tr.held").count() == int(graph.adjacency[munich].sum())
    page.locator("#search").fill("ber")
    hits = [name for name in graph.names if "ber" in name.lower()]
    assert len(hits) > 1
    assert page.locator("#found").inner_text() == f"{len(hits)} found"
    held = page.evaluate("robscore.picture.nodes('.held').map(n => n.data('name'))")
    assert set(held) == set(hits)
    page.locator("#search").fill("Atlantis")
    assert page.locator("#found").inner_text() == "no match"
    page.locator("#search").fill("")
    assert told(page) == ""


def test_clicking_holds_and_the_keyboard_walks(page, rain_page):
    names = rain_page[1].graph_.names
    page.mouse.click(*spot(page, "n3"))
    assert told(page).startswith(f"{names[3]}: ")
    page.locator("#graph").press("ArrowRight")
    assert told(page).startswith(f"{names[4]}: ")
    page.locator("#graph").press("Escape")
    assert told(page) == ""


def test_clicking_a_link_shows_it_in_the_table_and_the_other_way_round(page, rain_page):
    i, j = next(iter(sorted(pairs_of(rain_page[1]))))
    page.mouse.click(*spot(page, f"e{i * 30 + j}"))
    assert page.locator("#edges tr.held").get_attribute("data-pair") == str(i * 30 + j)
    row = page.locator("#edges tbody tr").nth(2)
    row.click()
    pair = int(row.get_attribute("data-pair"))
    assert page.evaluate("robscore.picture.edges('.near').map(e => e.data('pair'))") == [pair]
    assert told(page).startswith(" – ".join(rain_page[1].graph_.names[k] for k in divmod(pair, 30)))


def test_tables_are_one_stop_for_the_tab_key_and_arrows_go_on(page):
    for table in ("edges", "variables"):
        assert page.locator(f"#{table} tbody tr[tabindex='0']").count() == 1
    page.locator("#edges tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#edges tr.held").get_attribute("data-pair") == page.locator("#edges tbody tr").nth(
        1
    ).get_attribute("data-pair")


def test_tables_are_sorted_by_a_click(page):
    button = page.locator("#edges thead button").first
    button.click()
    names = page.locator("#edges tbody tr td:nth-child(1)").all_inner_texts()
    assert names == sorted(names)
    button.click()
    assert page.locator("#edges tbody tr td:nth-child(1)").all_inner_texts() == sorted(names, reverse=True)


def test_pictures_and_tables_are_saved(page, rain_page, tmp_path):
    import xml.etree.ElementTree as ET

    def saved(button):
        with page.expect_download() as download:
            page.locator(button).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    svg = saved("#save-svg")
    assert svg.name == "Simulated-Alpine-rain.svg"
    texts = {part.text for part in ET.parse(svg).iter("{http://www.w3.org/2000/svg}text")}
    assert texts == set(rain_page[1].graph_.names)
    assert saved("#save-png").read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(saved("[data-save=edges]"))
    assert len(table) == rain_page[1].graph_.n_edges
    np.testing.assert_allclose(table["association"], rain_page[1].edges()["association"], atol=0.006)
    assert len(pd.read_csv(saved("[data-save=variables]"))) == 30


def test_a_click_on_a_chart_moves_the_slider(page):
    before = page.locator("#penalty").input_value()
    page.locator("#path-chart").click(position={"x": 900, "y": 150})
    page.wait_for_function("(before) => document.getElementById('penalty').value !== before", arg=before)


def test_a_graph_that_tests_chose_is_beside_the_path(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    rs.report.write_html(rs.RobustGraph("gaussian", select="fdr").fit(X), tmp_path / "tests.html")
    with opened(browser, tmp_path / "tests.html") as page:
        assert "tests find at a false discovery rate of 10 %" in page.locator("#penalty-words").inner_text()
        assert "The chosen graph has no penalty" in page.locator("#path-words").inner_text()
        page.locator("#penalty").fill("0")
        assert "fewer than were chosen" in page.locator("#penalty-words").inner_text()
        assert page.troubles == []


def test_a_single_penalty_needs_no_slider(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 4)) @ np.tri(4)
    rs.report.write_html(rs.RobustGraph("gaussian", alpha=0.05).fit(X), tmp_path / "one.html")
    with opened(browser, tmp_path / "one.html") as page:
        assert page.locator("#penalty").is_hidden()
        assert page.locator("#methods").is_hidden()
        assert "was given" in page.locator("#path-words").inner_text()
        assert page.troubles == []
