"""The page in a real browser, from a file to its report: what a person sees and does."""

import gzip
import io
import shlex
import zipfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from app.serving import soon, working
from playwright.sync_api import expect
from report.browser import PATIENCE, chromium, serious
from running import FILES, run


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with working(tmp_path_factory.mktemp("served")) as running:
        yield running


@contextmanager
def opened(browser, server):
    """A tab, which at the end has complained about nothing and asked nobody else for anything."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000}, accept_downloads=True)
    page.set_default_timeout(PATIENCE)
    troubles, requests = [], []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    try:
        page.goto(server.address)
        page.wait_for_selector("html[data-ready]")
        yield page
        assert troubles == []
        assert [url for url in requests if not url.startswith((server.address, "data:", "blob:"))] == []
    finally:
        page.close()


def frame_of(rows=150, columns=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    X[:, 1:] += 0.6 * X[:, :-1]
    return pd.DataFrame(X.round(4), columns=[f"v{k}" for k in range(columns)])


def choose(page, path):
    page.set_input_files("#file", path)
    page.wait_for_selector("#settings:visible, #trouble:visible")


def fit(page):
    """Fit, and wait for another result than the one that is shown."""
    before = page.locator("#open").get_attribute("href") or ""
    page.click("#fit")
    expect(page.locator("#open")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#open")).not_to_have_attribute("href", before, timeout=PATIENCE)


def test_a_first_report_in_three_clicks(browser, server, tmp_path):
    frame_of(200, 30).to_csv(tmp_path / "thirty.csv", index=False)
    with opened(browser, server) as page:
        page.evaluate(
            "told = []; new MutationObserver(() => told.push(document.getElementById('told').textContent))"
            ".observe(document.getElementById('told'), {childList: true}); 0"
        )
        with page.expect_file_chooser() as chooser:
            page.click("text=Choose a file")  # one
        chooser.value.set_files(tmp_path / "thirty.csv")
        page.click("#fit")  # two, as soon as it is there
        expect(page.locator("#headline")).to_be_focused(timeout=PATIENCE)
        with page.expect_popup() as popup:
            page.click("text=Open the report")  # three
        report = popup.value
        report.wait_for_selector("html[data-ready]")
        assert "pairs of variables" in report.inner_text("h1")
        assert page.inner_text("#headline") == report.inner_text("h1") + "."
        assert report.evaluate("self.origin") == "null"  # it is nobody's neighbour
        assert page.frame_locator("#report").locator("h1").inner_text() == report.inner_text("h1")
        told = page.evaluate("told")
        assert told[0] == "Taking in thirty.csv"
        assert any(step.startswith(("Robust fit, ", "Looking for bad rows")) for step in told), told
        assert told[-1] == "The fit is done."
        report.close()


WILD = ["<script>alert(1)</script>", "=1+cmd()", "<img src=x onerror=alert(2)>", "a\x1b[31mb", "{{title}}"]


def wild_file(folder):
    """Columns of all kinds, with names that somebody could take for orders; where it is."""
    frame = frame_of()
    frame.columns = WILD
    n = len(frame)
    frame.iloc[3:9, 1] = np.nan
    frame.insert(0, "day", [f"day {k}" for k in range(n)])
    frame["season"] = np.where(np.arange(n) % 4 < 2, "wet", "dry")
    frame["flat"] = 1
    frame["odd"] = ["n.d.x" if k == 20 else str(k % 7) for k in range(n)]
    path = folder / "<img src=x onerror=alert(3)>.csv"
    frame.to_csv(path, index=False)
    return path


def test_settings_hostile_names_and_the_same_files_as_the_command(browser, server, tmp_path, monkeypatch):
    """Names are shown and never obeyed; what the page says to type gives every file, byte for byte."""
    path = wild_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    with opened(browser, server) as page:
        choose(page, path)
        assert page.inner_text("#trouble").startswith(f"{path.name}: column 'odd' has 1 entry that is not a number")
        page.fill("[data-option=na]", "n.d.x")
        page.click("#again")
        page.wait_for_selector("#columns tbody tr")
        assert not page.is_visible("#trouble")
        holes = "7 cells are missing, in 2 columns and 7 rows."
        assert page.inner_text("#read-words").startswith(f"150 rows, 6 variables. {holes}")
        assert page.inner_text("#family-words").startswith("Family: copula, chosen because")
        shown = [name.replace("\x1b", "\\x1b") for name in WILD]
        assert uses(page) == [
            ["day", "labels the rows", ""],
            *([name, "variable", "6" if name == WILD[1] else ""] for name in shown),
            ["season", "left out: not numeric", ""],
            ["flat", "left out: constant", ""],
            ["odd", "variable", "1"],
        ]
        assert page.input_value("#missing") == "impute"
        page.select_option("#missing", "drop")
        page.select_option("[aria-label='Use of season']", "given")
        page.select_option("[aria-label='Use of odd']", "exclude")
        page.uncheck("[data-option=no-compare]")
        fit(page)
        first = page.inner_text("#headline")
        page.select_option("#select", "edges")
        page.fill("#edges", "2")
        page.select_option("#family", "gaussian")
        fit(page)
        assert page.inner_text("#headline") == "2 clear links among 10 pairs of variables."
        page.click("#earlier-box summary")
        assert page.inner_text("#earlier a >> nth=0") == first
        page.frame_locator("#report").locator("html[data-ready]").wait_for()
        assert page.locator("img, main script").count() == 0
        same_files(page, path, tmp_path)
        page.reload()
        page.wait_for_selector("#result:visible")
        assert page.inner_text("#headline") == "2 clear links among 10 pairs of variables."
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        for width, scheme in ((1400, "dark"), (820, "light"), (390, "dark"), (390, "light")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert serious(page) == []


def uses(page):
    """Of every column its name, what it is used as, and how many cells are missing."""
    return page.eval_on_selector_all(
        "#columns tbody tr",
        "rows => rows.map(row => [row.cells[0].textContent, (row.querySelector('select') "
        "? row.querySelector('select').selectedOptions[0] : row.cells[1]).textContent, row.cells[2].textContent])",
    )


def same_files(page, path, folder):
    """What can be downloaded is what the command writes that the page says to type."""
    typed = shlex.split(page.inner_text("#command"))
    assert typed[:3] == ["robscore", "fit", path.name]
    assert run(*typed[1:], "--out", "typed").exit_code == 0
    wanted = {written.name: written.read_bytes() for written in (folder / "typed").iterdir()}
    assert set(wanted) == {*FILES, "effects.csv"}
    assert b"\n'=1+cmd(),<img" in wanted["edges.csv"]  # no spreadsheet runs it
    assert {name: saved(page, f"#files a[download='{name}']") for name in wanted} == wanted
    with zipfile.ZipFile(io.BytesIO(saved(page, "#all"))) as packed:
        assert {name.partition("/")[2]: packed.read(name) for name in packed.namelist()} == wanted


def saved(page, link):
    with page.expect_download() as download:
        page.click(link)
    return download.value.path().read_bytes()


def test_two_tabs_have_nothing_to_do_with_each_other(browser, server, tmp_path):
    (tmp_path / "first.csv.gz").write_bytes(gzip.compress(frame_of().to_csv().encode())[:-40])
    frame_of(300, 6).to_csv(tmp_path / "second.csv", index=False)
    with opened(browser, server) as first:
        choose(first, tmp_path / "first.csv.gz")
        assert first.inner_text("#trouble").startswith("first.csv.gz is broken or cut off")
        with opened(browser, server) as second:
            choose(second, tmp_path / "second.csv")
            assert first.url != second.url
            second.click("#more-box summary")
            second.fill("[data-option=set]", "alphas=20000\ntol=1e-14")
            second.click("#fit")
            expect(second.locator("#step")).to_contain_text("Robust fit", timeout=PATIENCE)
            assert not first.is_visible("#work")
            second.click("#cancel")
            second.wait_for_selector("#work", state="hidden")
            assert second.inner_text("#told") == "Stopped."
            assert second.is_enabled("#fit")
            gone = second.url.split("/")[-2]
            assert list(server.temporary.glob(f"*/{gone}/*.csv"))
        soon(lambda: not list(server.temporary.glob(f"*/{gone}")), "the files of a closed tab are still there")
        assert first.inner_text("#file-words").startswith("first.csv")
        assert len(server.files()) == 1  # which is still there
