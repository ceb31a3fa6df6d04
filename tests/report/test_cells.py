"""Missing and wrong cells in the record and on the page."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report.browser import chromium, opened

import robscore as rs
from robscore.certainty import describe_cells, kinds_of_cells
from robscore.report.page import html_page
from robscore.report.sections import cells_section

VENDOR = Path(__file__).parent / "vendor"


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(450, 4)) @ np.tri(4) / 3)
    X[10:18, 1] *= 25.4
    X[60, 2] /= 100
    X[100:130, 3] = X[100, 3]
    X[rng.random(X.shape) < 0.02] = np.nan
    X[7] = np.nan
    names = ["rain", "<b>depth</b>", "a very long name of a column", "d"]
    import pandas as pd

    return rs.RobustGraph("log-log", cells=True, missing="impute", n_edges=3).fit(pd.DataFrame(X, columns=names))


@pytest.fixture(scope="module")
def made(model):
    return rs.report.record(model, labels=[f"day {k}" for k in range(450)], first_row=1)


def test_rows_are_counted_as_the_reader_counts_them(model):
    from_zero = [line for line in describe_cells(model.fitted_) if "'d' has the same value" in line]
    assert "from row 100 on" in from_zero[0]
    labels = [f"day {k}" for k in range(450)]
    named = [line for line in describe_cells(model.fitted_, first_row=1, labels=labels) if "'d' has" in line]
    assert "from row 101 (day 100) on" in named[0]


def test_the_record_has_the_cells_that_look_wrong(model, made, tmp_path):
    table = model.suspicious_cells()
    flagged = table[table["flagged"]]
    assert [cell[0] for cell in made.cells["listed"]] == (flagged["row"] + 1).tolist()
    assert [cell[1] for cell in made.cells["listed"]] == [f"day {row}" for row in flagged["row"]]
    assert [made.names[cell[2]] for cell in made.cells["listed"]] == flagged["column"].tolist()
    np.testing.assert_array_equal([cell[3] for cell in made.cells["listed"]], flagged["value"])
    path = tmp_path / "model.json"
    path.write_text(made.to_json())
    assert rs.report.Record.from_json(path).cells == made.cells
    for wrong in ({**made.cells, "map": ["0"]}, {**made.cells, "listed": [[1, None, 9, 1, 1, 1, 1, 1]]}, []):
        path.write_text(replace(made, cells=wrong).to_json())
        with pytest.raises(ValueError, match="'cells' is broken"):
            rs.report.Record.from_json(path)


def test_the_map_has_every_wrong_and_missing_cell(model, made):
    about = made.cells
    assert about["together"] == 3
    assert len(about["map"][1]) == 150
    table = model.suspicious_cells()
    table = table[table["flagged"]]
    columns, is_high = table["column"].map(made.names.index), table["value"] > table["expected"]
    kinds = kinds_of_cells(model.fitted_)
    np.testing.assert_array_equal(kinds[table["row"], columns], np.where(is_high, 3, 2))
    assert np.count_nonzero(kinds >= 2) == len(table)
    for line, column, kind in zip(table["row"] // 3, columns, np.where(is_high, 3, 2), strict=True):
        assert int(about["map"][column][line]) >= kind
    assert {column[2] for column in about["map"]} <= {"1", "2", "3"}  # row 7 has nothing


def test_fits_without_holes_have_no_such_section():
    X = np.random.default_rng(0).normal(size=(100, 3))
    plain = rs.report.record(rs.RobustGraph("gaussian", n_blocks=1, n_edges=1).fit(X))
    assert plain.cells == {}
    assert cells_section(plain) == ""


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_map_in_a_browser(made, tmp_path, width, scheme):
    path = tmp_path / "report.html"
    path.write_text(html_page(made), encoding="utf-8")
    with (
        chromium() as browser,
        opened(browser, path, viewport={"width": width, "height": 900}, color_scheme=scheme) as page,
    ):
        assert page.troubles == []
        assert len(page.requests) == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        section = page.locator("section[aria-labelledby=cells-title]")
        assert "look wrong" in section.locator("#cells-words").inner_text()
        assert section.locator("table tbody tr").count() == len(made.cells["listed"])
        assert "<b>depth</b>" in section.locator("svg text").all_text_contents()
        runs = sum(len([1 for a, b in zip("0" + c, c, strict=False) if b not in ("0", a)]) for c in made.cells["map"])
        assert section.locator("svg rect").count() == runs + 1
        if VENDOR.exists():
            page.evaluate((VENDOR / "axe.min.js").read_text() + ";0")
            found = page.evaluate("axe.run('section[aria-labelledby=cells-title]', { resultTypes: ['violations'] })")
            assert [one["id"] for one in found["violations"]] == []
