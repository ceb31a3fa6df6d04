"""The Python code of the README and of the guides runs as it stands."""

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

README = Path(__file__).parent.parent / "README.md"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


DOCS = README.parent / "docs"
GUIDES = sorted(
    page for folder in (".", "problems", "results", "site", "theory") for page in DOCS.glob(f"{folder}/*.md")
)
PAGES = [page for page in (README, *GUIDES) if blocks(page)]


def name_of(page):
    return page.relative_to(README.parent).with_suffix("").as_posix()


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_pictures_of_the_guides_are_there(page):
    for name in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text()):
        if not name.startswith("examples/"):  # made with the site
            assert (page.parent / name).stat().st_size > 1000


def test_pictures_that_the_site_does_not_make_have_a_date_and_a_command():
    listed = (DOCS / "site" / "pictures.md").read_text()
    for picture in (*DOCS.glob("images/*.png"), *DOCS.glob("results/*.png")):
        (line,) = [line for line in listed.splitlines() if f"`docs/{picture.relative_to(DOCS).as_posix()}`" in line]
        assert re.search(r"robscore (demo|bench|reproduce)|python -m benchmarks", line)
        assert re.search(r"\| 20\d\d-\d\d-\d\d \|", line)


def test_the_readme_is_two_screens_long():
    assert len(README.read_text().splitlines()) <= 85


@pytest.mark.parametrize(
    "page", [README, *(pytest.param(page, marks=pytest.mark.long) for page in PAGES if page != README)], ids=name_of
)
def test_python_examples_run(page, capsys):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    code = "\n".join(blocks(page))
    assert code
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a classic fit of bad rows says what it thinks of them
        exec(compile(code, str(page), "exec"), {"__name__": "__main__"})
    plt.close("all")
    assert capsys.readouterr().out


def commands(page):
    shown = re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.DOTALL)
    return [shlex.split(line, comments=True) for block in shown for line in block.splitlines()]


@pytest.mark.parametrize("page", [README, README.parent / "docs" / "command_line.md"], ids=lambda page: page.stem)
def test_commands_run(page, tmp_path, monkeypatch):
    from robscore.cli import app

    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(200, 4)) @ np.tri(4)
    np.savetxt("data.csv", X, delimiter=",", header="a,b,c,d", comments="")  # the reader's own table
    assert commands(page)
    for program, *arguments in commands(page):
        assert program == "robscore"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
    assert list(tmp_path.glob("**/report.html"))


def test_the_python_example_is_short():
    assert len(blocks(README)[0].strip().splitlines()) <= 15


def test_a_family_is_added_in_under_forty_lines(capsys):
    (code,) = [code for code in blocks(README.parent / "docs" / "add_a_family.md") if "@register" in code]
    assert len(code.splitlines()) < 40
    import robscore as rs

    namespace = {"np": np, "__name__": "guide"}
    exec(compile(code, "guide", "exec"), namespace)
    family = namespace["Even"]()
    x = np.random.default_rng(0).normal(size=(5, 3))
    K, eta = np.eye(3) + 0.2, np.array([0.5, -0.5, 1.0])
    step, expected = 1e-4, np.zeros(5)
    for j in range(3):
        f = family.conditional(x, j, K, eta)
        low, at, high = f(x[:, j] - step), f(x[:, j]), f(x[:, j] + step)
        expected += 0.5 * ((high - low) / (2 * step)) ** 2 + (high - 2 * at + low) / step**2
    np.testing.assert_allclose(family.elements(x).row_losses(K, eta), expected, atol=1e-5)
    assert rs.families.get_family("even") is not None
