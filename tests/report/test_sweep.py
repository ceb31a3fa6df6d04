"""The report at every size: widths of screens, light, dark and paper, few and many variables, short and long names.

All of it with ROBSCORE_SWEEP=all; else every table once, at a width and in colours that differ from one to the next.
"""

import hashlib
import os
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from report.browser import VENDOR, opened, serious

import robscore as rs

WIDTHS = {1400: 1000, 820: 1100, 390: 844}
TABLES = list(product((6, 30, 150), (3, 40)))
SCREENS = list(product(WIDTHS, ("light", "dark")))
if os.environ.get("ROBSCORE_SWEEP") == "all":
    CASES = [(*table, *screen) for table in TABLES for screen in SCREENS]
else:
    CASES = [(*table, *SCREENS[(5 * k + 3) % len(SCREENS)]) for k, table in enumerate(TABLES)]
# Share of the area of all names that may lie over others: none but where 150 of them are on the screen of a phone.
MOST_COVERED = {6: 0.0, 30: 0.01, 150: 0.05}
MOST_COVERED_ON_A_PHONE = {6: 0.0, 30: 0.02, 150: 0.25}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Paths by number of variables and length of names; fits of chains with some negative links."""
    folder, made = tmp_path_factory.mktemp("sweep"), {}
    rng = np.random.default_rng(0)
    for m in (6, 30, 150):
        X = rng.normal(size=(300, m))
        X[:, 1:] += 0.8 * np.where(np.arange(1, m) % 5, 1, -1) * X[:, :-1]
        settings = {"alphas": 8, "n_edges": m - 1, "alpha_min_ratio": 0.1}
        record = rs.report.record(rs.RobustGraph("gaussian", n_blocks=1, **settings).fit(X))
        for length in (3, 40):
            words = ("variable_", "measurement ", "concentration of ", "soil-")
            end = " of the upper layer at noon"
            long = [f"{words[k % 4]}{k:03d}{end}"[:40].ljust(40, "x") for k in range(m)]
            short = [f"{chr(97 + k // 26 % 26)}{chr(97 + k % 26)}{k // 676}" for k in range(m)]
            path = folder / f"{m}-{length}.html"
            rs.report.write_html(replace(record, names=long if length == 40 else short), path)
            made[m, length] = path
    return made


def covered(boxes):
    """Share of the area of boxes (left, top, right, bottom) that lies over others."""
    at = np.array(boxes)
    wide = np.minimum(at[:, None, 2], at[None, :, 2]) - np.maximum(at[:, None, 0], at[None, :, 0])
    high = np.minimum(at[:, None, 3], at[None, :, 3]) - np.maximum(at[:, None, 1], at[None, :, 1])
    both = np.triu(np.maximum(wide, 0) * np.maximum(high, 0), k=1).sum()
    return both / ((at[:, 2] - at[:, 0]) * (at[:, 3] - at[:, 1])).sum()


@pytest.mark.skipif(not VENDOR.exists(), reason="axe-core is part of the checkout, not of a release")
def test_axe_is_the_file_that_the_table_names():
    row = next(line for line in (VENDOR / "README.md").read_text().splitlines() if line.startswith("| axe.min.js"))
    assert row.split("|")[-2].strip() == hashlib.sha256((VENDOR / "axe.min.js").read_bytes()).hexdigest()
    assert row.split("|")[3].strip() in (VENDOR / "axe.min.js").read_text()[:200]


@pytest.mark.parametrize(("m", "length", "width", "scheme"), CASES)
def test_a_screen(browser, pages, m, length, width, scheme):
    path, screen = pages[m, length], {"viewport": {"width": width, "height": WIDTHS[width]}, "color_scheme": scheme}
    with opened(browser, path, **screen) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        labels = page.evaluate("robscore.picture.nodes('[name]').map(n => n.data('label'))")
        assert len(labels) == m
        assert all(labels)
        # As the picture measures its labels itself; it adds about four pixels for outlines on every side.
        boxes = page.evaluate(
            """() => robscore.picture.nodes('[name]').map((node) => {
                const box = node.renderedBoundingBox({ includeNodes: false, includeOverlays: false });
                return [box.x1 + 4, box.y1 + 4, box.x2 - 4, box.y2 - 4]; })"""
        )
        frame = page.evaluate("[robscore.picture.width(), robscore.picture.height()]")
        assert np.min(boxes) > -3
        assert (np.array(boxes)[:, 2:] < np.array(frame) + 3).all()
        limits = MOST_COVERED_ON_A_PHONE if width == 390 else MOST_COVERED
        assert covered(boxes) <= limits[m]
        assert serious(page) == []
        assert page.troubles == []
        assert page.requests == [path.as_uri()]


@pytest.mark.parametrize(("m", "length"), TABLES if os.environ.get("ROBSCORE_SWEEP") == "all" else [(30, 40)])
def test_paper(browser, pages, m, length):
    with opened(browser, pages[m, length], viewport={"width": 700, "height": 1000}, color_scheme="dark") as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= 700
        for image in page.locator("img.paper").all():
            if image.is_visible():
                assert image.bounding_box()["width"] > 650
        assert page.troubles == []
