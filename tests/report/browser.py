"""A headless Chromium for tests that look at a page as a person does."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
VENDOR = Path(__file__).parent / "vendor"
PATIENCE = 300_000  # milliseconds, only for what would never come: the machine may be busy


def find_browser():
    """The path of a Chromium; where none is, tests skip, or fail if ROBSCORE_BROWSER=required."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("ROBSCORE_BROWSER") == "required":
        pytest.fail("ROBSCORE_BROWSER=required, but there is no Chromium; on Debian: apt-get install chromium")
    if found is None:
        pytest.skip("there is no Chromium on this machine; on Debian: apt-get install chromium")
    return found


@contextmanager
def chromium():
    """A browser, closed at the end."""
    from playwright.sync_api import sync_playwright

    path = find_browser()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(QUIET), timeout=PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, path, **options):
    """A page with what it complained about and asked for: ``page.troubles`` and ``page.requests``."""
    page = browser.new_page(**{"viewport": {"width": 1400, "height": 1000}, **options})
    page.set_default_timeout(PATIENCE)
    page.troubles, page.requests = [], []
    page.on("console", lambda message: page.troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("dialog", lambda dialog: (page.troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.requests.append(request.url))
    try:
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        yield page
    finally:
        page.close()


def serious(page):
    """What axe-core finds that keeps people from using the page; nothing where it is not there."""
    if not VENDOR.exists():
        return []
    page.evaluate((VENDOR / "axe.min.js").read_text() + ";0")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'], iframes: false })")["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]
