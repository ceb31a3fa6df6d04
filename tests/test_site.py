"""The site names everything public, nothing that is not there, and every page can be reached."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import robscore

DOCS = Path(__file__).parent.parent / "docs"
MODULES = [name for name in robscore.__all__ if inspect.ismodule(getattr(robscore, name))]


def public_names(module):
    """Its ``__all__``; without one, what it defines itself. Modules in it stand for what they hold."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
        value = getattr(module, name)
        if inspect.ismodule(value):
            yield from public_names(value)
        else:
            yield f"{module.__name__}.{name}"


def referenced_names():
    module = ""
    for line in (DOCS / "site" / "reference.rst").read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r"(?:   |\.\. py:data:: )(\w+)", line):
            yield f"{module}.{found[1]}"


def test_every_public_name_is_in_the_reference_once():
    assert len(MODULES) > 5
    assert sorted(referenced_names()) == sorted(public_names(robscore))


@pytest.mark.parametrize("name", sorted(set(public_names(robscore))))
def test_public_functions_and_classes_say_what_they_do(name):
    module, _, last = name.rpartition(".")
    value = getattr(eval(module, {"robscore": robscore}), last)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert len((inspect.getdoc(value) or "").split()) > 3


PAGES = [
    page for folder in (".", "problems", "results", "site", "theory") for page in sorted(DOCS.glob(f"{folder}/*.*"))
]
PAGES = [page for page in PAGES if page.suffix in (".md", ".rst")]


def name_of(page):
    return page.relative_to(DOCS).with_suffix("").as_posix()


def contents(page):
    """Names of the pages in the contents of a page."""
    for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.split():
            if line == "*":  # every page of the folder
                yield from (name_of(other) for other in page.parent.glob("*.md") if other != page)
            elif not line.startswith(":") and not line.isdigit():
                target = DOCS / line[1:] if line.startswith("/") else page.parent / line
                yield target.resolve().relative_to(DOCS.resolve()).as_posix()


def links(page):
    """Names of the pages that the text of a page links to, with the heading where one is named."""
    for target, heading in re.findall(r"\]\(([^)#:]+)(#[^)]*)?\)", page.read_text(encoding="utf-8")):
        where = (page.parent / target).resolve()
        if where.suffix in (".md", ".rst") and DOCS.resolve() in where.parents:
            yield where.relative_to(DOCS.resolve()).with_suffix("").as_posix() + heading


def test_every_page_is_in_a_contents():
    listed = {name for page in PAGES for name in contents(page)}
    assert {name_of(page) for page in PAGES} - {"index"} <= listed
    assert "examples/index" in listed  # made with the site


def headings(name):
    """The headings of a page, as links name them."""
    titles = re.findall(r"^#+ (.*)", (DOCS / f"{name}.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_links_to_headings_lead_to_one():
    for page in PAGES:
        for name, _, heading in (link.partition("#") for link in links(page)):
            assert not heading or heading in headings(name), f"{page.name}: {name}#{heading}"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            where = page.parent / target
            example = re.fullmatch(r"(?:\.\./)?examples/(.*)\.rst", target)
            if example and example[1] != "index":
                assert (DOCS / "gallery" / example[1]).with_suffix(".py").exists(), f"{page.name}: {target}"
            elif "examples/" not in target:
                assert where.exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(
    "answer",
    [
        "choose_a_family",
        "cells#missing-cells",
        "problems/how_sure#how-to-read-association-and-k",
        "problems/bad_rows#many-rows-are-dropped",
        "site/install",
    ],
)
def test_answers_are_at_most_three_clicks_from_the_front(answer):
    """How to choose a family, missing values, how to read association and K, many rows dropped, how to install."""
    name, _, heading = answer.partition("#")
    assert not heading or heading in headings(name)
    reached, seen = {"index"}, set()
    for _ in range(3):
        seen |= reached
        pages = [DOCS / f"{name.partition('#')[0]}.md" for name in reached]
        found = {link for page in pages if page.exists() for link in links(page)}
        reached = {*found, *(link.partition("#")[0] for link in found)} - seen
        if answer in reached:
            return
    raise AssertionError(f"{answer} is not found")


GUIDES = [page for page in DOCS.glob("*.md") if page.stem not in ("index", "reproduction")]


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_guides_are_read_in_five_minutes(page):
    """What to do and what to expect; tables of measurements are in docs/results, why it works in docs/theory."""
    assert len(page.read_text(encoding="utf-8").split()) <= 1200


def test_the_changes_of_a_version_are_one_page():
    _, *versions = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    assert all(len(version.split()) <= 600 for version in versions)


@pytest.mark.parametrize("page", [*PAGES, *DOCS.parent.glob("[RC][EH]A*.md")], ids=lambda page: page.stem)
def test_lines_fit_in_a_window(page):
    """But for tables, pictures, links, formulas, and the names of code and tests on the pages of the theory."""
    text = re.sub(r"```(text|\{math).*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    long = [line for line in text.splitlines() if len(line) > 100]
    assert not [line for line in long if not re.match(r"\s*\||!\[|\*\*(In the code|Checked by)|\S+$", line)]


RESULTS = [page for page in PAGES if page.parent.name == "results" and page.stem != "index"]


@pytest.mark.parametrize("page", RESULTS, ids=name_of)
def test_measurements_have_command_commit_and_date(page):
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert re.search(rf"python -m benchmarks[ .]{page.stem}\b", text)
    assert re.search(r"`[0-9a-f]{7,}`", text)
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", text)
    assert (DOCS.parent / "benchmarks" / f"{page.stem}.py").exists()


THEORY = [page for page in PAGES if page.parent.name == "theory" and page.stem != "index"]


def located(name):
    """What a dotted name means, where functions may be called as their modules."""
    module, _, rest = name.rpartition(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return getattr(located(module), rest)


@pytest.mark.parametrize("page", THEORY, ids=name_of)
def test_theory_names_code_and_tests_that_exist(page):
    text = page.read_text(encoding="utf-8")
    assert "```{math}" in text
    code, tests = text.split("**In the code:**")[1].split("**Checked by:**")
    names = re.findall(r"`(robscore\.[\w.]+)`", code)
    assert names
    for name in names:
        assert located(name) is not None
    checked = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests.split("**Where it fails.**")[0])
    assert checked
    for file, test in checked:
        assert f"def {test}(" in (DOCS.parent / file).read_text(encoding="utf-8"), test


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "problems"], ids=name_of)
def test_problems_end_with_where_it_fails(page):
    if page.stem != "index":
        assert re.findall(r"^## (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)[-1] == "Where it fails"


def test_formulas_are_drawn_by_the_browser_itself(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    mathml = pytest.importorskip("mathml").mathml
    for page in THEORY:
        text = page.read_text(encoding="utf-8")
        for formula in (
            *re.findall(r"```\{math\}\n(.*?)```", text, re.DOTALL),
            *re.findall(r"\{math\}`([^`]*)`", text),
        ):
            assert mathml(formula, as_block=False).startswith("<math")


def test_words_of_reports_are_in_the_glossary():
    terms = set(re.findall(r"^   (\S.*)$", (DOCS / "site" / "glossary.rst").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"association", "interaction", "location", "penalty", "block", "row weight", "surprise", "caution"} <= terms


def test_names_in_the_text_of_pages_are_there():
    for page in PAGES:
        for name in re.findall(r"`rs\.([a-zA-Z_.]*\w)", page.read_text(encoding="utf-8")):
            value = robscore
            for part in name.split("."):
                assert hasattr(value, part), f"{page.name}: rs.{name}"
                value = getattr(value, part)
