"""The options of the page are those of ``robscore fit``, and mean the same."""

import importlib.util
import re
import shlex
from importlib import resources
from pathlib import Path

import pytest
import typer
from running import run

from robscore.app.jobs import RESULTS
from robscore.cli import app
from robscore.cli.command_options import command_line, pairs_in_form, requested_on_page
from robscore.cli.worker import RESULTS as OF_WORKER

PAGE = resources.files("robscore").joinpath("app", "assets", "page.html").read_text(encoding="utf-8")
ON_PAGE = {*re.findall(r'data-option="([\w-]+)"', PAGE), "id", "given", "by"}  # these three from the table of columns
VALUES = {
    **{"family": "sqrt", "missing": "drop", "contamination": "0.1", "select": "ebic", "edges": "7", "seed": "3"},
    **{
        "scale": "none",
        "sep": "tab",
        "decimal": ",",
        "sheet": "2",
        "title": "-- a 'title'",
        "id": "-day",
        "na": "-999",
    },
    **{"columns": "a*", "exclude": "b c", "stability": "20", "given": "season", "by": "=x", "set": "max_iter=7"},
    "column-kind": "a=b=ordered",
    "limit": "a=b=0.5",
}
FLAGS = {"cells", "shuffle", "no-header", "no-compare"}


def typed(words):
    """What the command makes of the words that the page shows."""
    fit = typer.main.get_command(app).commands["fit"]
    return fit.make_context("fit", shlex.split(words)[2:]).params


@pytest.mark.parametrize("option", sorted(ON_PAGE))
def test_every_option_of_the_page_is_one_of_the_command(option):
    value = "" if option in FLAGS else VALUES[option]
    made = requested_on_page([(option, value)])
    params = typed(command_line("-data.csv", [(option, value)]))
    given = {name: there for name, there in params.items() if there not in (None, False, ()) and name != "data"}
    assert [Path(path) for path in params["data"]] == [Path("-data.csv")]  # old versions give text
    assert len(given) == 1
    (there,) = given.values()
    parts = {**made.settings, **made.reading, **made.shown}
    assert len(parts) == 1
    (mine,) = parts.values()
    if option in FLAGS:
        assert (there, mine) == (True, option in ("cells", "shuffle"))
    elif option == "set":
        assert (list(there), parts) == (["max_iter=7"], {"max_iter": 7})
    elif option == "column-kind":
        assert (list(there), parts) == (["a=b=ordered"], {"kinds": {"a=b": "ordered"}})
    elif option == "limit":
        assert (list(there), parts) == (["a=b=0.5"], {"limits": {"a=b": 0.5}})
    else:
        means = {"none": None, "tab": "\t"}.get(there, there) if isinstance(there, str) else there
        assert mine == (tuple(means) if isinstance(means, list) else means)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([("edges", "two")], "Invalid value for '--edges'"),
        ([("contamination", "x")], "Invalid value for '--contamination'"),
        ([("out", "/etc")], "--out: this page has no such option"),
    ],
)
def test_what_makes_no_sense_is_refused_in_the_words_of_options(options, words):
    with pytest.raises((ValueError, typer.BadParameter)) as refused:
        requested_on_page(options)
    assert words in getattr(refused.value, "format_message", refused.value.__str__)()


@pytest.mark.parametrize("sent", [None, {}, "x", [["a"]], [["a", 1]], ["ab"], [[["a"], "b"]]])
def test_what_is_no_form_is_refused(sent):
    with pytest.raises(ValueError, match="pairs of names and values"):
        pairs_in_form(sent)


def test_child_and_server_agree_on_where_results_are():
    assert RESULTS == OF_WORKER


def test_without_the_extra_it_is_named(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "starlette" else find(name))
    ended = run("app")
    assert ended.exit_code == 1
    assert "pip install 'robscore[app]'" in ended.stderr
