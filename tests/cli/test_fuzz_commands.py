"""Random command lines, corrupted files and tampered records: an answer without NaN, or one line that says why not."""

import copy
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from corruption import CELLS, corrupted, whole_files
from fuzzing import count, examples, simulating
from hypothesis import given, settings
from hypothesis import strategies as st
from running import FILES, run

OPTIONS = {
    "--family": ["sqrt", "gaussian", "gamma", "log-log", "truncated-gaussian", "simplex", "poisson", ""],
    "--edges": ["0", "1", "3", "99", "-1", "x"],
    "--alpha": ["0.1", "0", "1e-9", "1e9", "-1", "nan", "inf"],
    "--select": ["f1", "ebic", "cv", "stars", "fdr", "aic", "ebic,cv", ","],
    "--contamination": ["0", "0.1", "0.4", "0.5", "nan", "-1"],
    "--n-blocks": ["1", "3", "auto", "0", "99", "2.5"],
    "--missing": ["drop", "raise", "x"],
    "--columns": ["*", "a", "[", "no", "?", ""],
    "--exclude": ["a", "*", "no"],
    "--id": ["day", "a", "no", ""],
    "--na": ["1", "x", "2024-01-03", ""],
    "--sep": [";", ",", "tab", "\\t", '"', "xx", "\n", "ü"],
    "--decimal": [",", ".", "x"],
    "--sheet": ["1", "Sheet1", "9", "x"],
    "--scale": ["none", "median"],
    "--seed": ["0", "7", "-1", "99999999999999999999"],
    "--title": ["<b>&\x1b[31m", "", "x" * 500],
    "--set": ["alphas=5", "tol=1e-3", "max_iter=2", "x", "x=1", "fit_location=x", "alphas=0", "scale=", "=", "rule=or"],
    "--coords": ["x.csv", "no.csv", "."],
    "--outline": ["x.csv", "no.csv"],
}
EVIL = [
    None, True, -1, 0, 3, 10**17, 10**40, 0.5, -1e308, "x", "", "inf", [], {}, [[]], ["a"], {"a": 1},
    "\x1b[31m", "x" * 1000,
]  # fmt: skip


def told(result):
    """What a command said is an answer or a refusal, in short lines without control characters, and no traceback."""
    assert result.exit_code in (0, 1, 2), (result.output, result.exception)
    assert "Traceback" not in result.output
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", result.output)
    if result.exit_code == 1:
        said = result.stderr.strip().splitlines()
        assert said[-1].startswith("robscore: ")
        assert all(len(line) < 1100 for line in said)
    return result.exit_code == 0


def is_whole(folder):
    """All files are there, and no number in them is none."""
    assert {entry.name for entry in folder.iterdir()} == set(FILES)
    json.loads((folder / "model.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    for line in (folder / "edges.csv").read_text(encoding="utf-8").splitlines()[1:]:
        assert all(math.isfinite(float(cell)) for cell in line.rsplit(",", 2)[1:])
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    return folder, whole_files(folder)


@st.composite
def tables(draw):
    """A text file whose columns hold numbers for the most part."""
    m, n = draw(st.integers(1, 4)), draw(st.integers(0, 14))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    size = draw(st.sampled_from([1.0, 1.0, 1.0, 1e-200, 1e200, 1e308]))
    with np.errstate(over="ignore"):
        cells = [[repr(cell) for cell in row] for row in (size * rng.gamma(2.0, size=(n, m))).tolist()]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        if cells:
            cells[draw(st.integers(0, n - 1))][draw(st.integers(0, m - 1))] = draw(CELLS)
    names = draw(st.lists(CELLS, min_size=m, max_size=m))
    quoted = [['"{}"'.format(cell.replace('"', '""')) for cell in row] for row in [names, *cells]]
    return "x.csv", "\n".join(",".join(row) for row in quoted).encode()


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=examples(0.15, few=12))
@given(st.data())
def test_command_lines(place, data):
    count("command lines")
    folder, contents = place
    name, content = data.draw(st.one_of(tables(), corrupted(contents), st.sampled_from(sorted(contents.items()))))
    path = folder / name
    path.write_bytes(content)
    arguments = ["--no-compare"] if data.draw(st.booleans()) else []
    for option in data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=4)):
        value = data.draw(st.sampled_from(OPTIONS[option]))
        arguments += [option, str(folder / value) if option in ("--coords", "--outline") else value]
    # All is drawn before anything is written: a case that Hypothesis gives up in a draw must leave nothing behind.
    again, many = data.draw(st.integers(0, 3)) == 0, data.draw(st.integers(0, 19)) == 0
    if not many and "--set" not in arguments:
        arguments += ["--set", "alphas=12"]  # a path of 100 takes most of the time of a small fit
    with simulating(many=many):
        if told(run("fit", path, "--out", folder / "out", *arguments)):
            if again:
                assert run("fit", "--from", folder / "out" / "model.json").exit_code == 0
            is_whole(folder / "out")
    assert not (folder / "out").exists()
    assert path.read_bytes() == content


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The record of a small fit, as text, in its folder."""
    folder = tmp_path_factory.mktemp("record")
    rng = np.random.default_rng(0)
    rows = "".join(",".join(map(repr, row)) + "\n" for row in rng.gamma(2.0, size=(25, 3)).tolist())
    (folder / "x.csv").write_text("a,b,c\n" + rows)
    (folder / "c.csv").write_text("name,lat,lon\na,46,7\nb,47,8\nc,45,9\n")
    made = run(
        "fit", folder / "x.csv", "--coords", folder / "c.csv", "--edges", 2, "--set", "alphas=5", "--out", folder
    )
    assert made.exit_code == 0, made.output
    return folder, (folder / "model.json").read_text()


def places(content, where=()):
    """All places in nested lists and dictionaries."""
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in entries:
        yield (*where, key)
        yield from places(value, (*where, key))


@st.composite
def tampered(draw, text):
    """A record with entries changed, taken away or put in, or with changed signs."""
    content = copy.deepcopy(json.loads(text))
    for _ in range(draw(st.integers(1, 2))):
        top = draw(st.sampled_from(sorted(content)))
        *way, key = draw(st.sampled_from([(top,), *places(content[top], (top,))]))
        around = content
        for step in way:
            around = around[step]
        change = draw(st.sampled_from(["set", "set", "set", "remove", "double"]))
        if change == "set":
            around[key] = copy.deepcopy(draw(st.sampled_from(EVIL)))
        elif change == "remove":
            del around[key]
        elif isinstance(around, list):
            around.append(copy.deepcopy(around[key]))
        if not content:
            break
    changed = json.dumps(content)
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(changed)))
        extra = draw(st.sampled_from(["", "1" + "0" * 400, "1e400", "NaN", "[" * 100_000, '"', "\ud800", "}", "-"]))
        changed = changed[:at] + extra + changed[at + draw(st.integers(0, 9)) :]
    return changed


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=examples(0.05, few=20))
@given(st.data())
def test_tampered_records(record, data):
    count("tampered records")
    folder, text = record
    changed = data.draw(tampered(text)).encode("utf-8", "surrogatepass")
    model = folder / "tampered.json"
    model.write_bytes(changed)
    if told(run("fit", "--from", model, "--out", folder / "out")):
        is_whole(folder / "out")
    assert not (folder / "out").exists()
    page = folder / "page.html"
    if told(run("report", model, "--out", page)):
        inside = page.read_text(encoding="utf-8").split('<script type="application/json" id="content">')[1]
        json.loads(inside.split("</script>")[0], parse_constant=pytest.fail)
        page.unlink()
    assert not page.exists()
    assert model.read_bytes() == changed


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"kkt":', '"kkt":1' + "0" * 400 + ',"x":', 1),
        lambda text: text.replace('"alpha":', '"alpha":1e400,"x":', 1),
        lambda text: text.replace('"alpha":', '"alpha":NaN,"x":', 1),
        lambda text: "[" * 200_000,
        lambda text: '{"a":' * 200_000,
        lambda text: "1" * 10_000,
        lambda text: text.replace('"n_rows_used":', '"n_rows_used":0,"x":', 1),
        lambda text: text.replace('"graphs":', '"no":'),
    ],
    ids=["10^400", "1e400", "NaN", "nested list", "nested", "digits", "no rows", "no graphs"],
)
def test_records_that_hold_what_none_can_hold(record, change):
    folder, text = record
    model = folder / "odd.json"
    model.write_text(change(text))
    for arguments in (("fit", "--from", model, "--out", folder / "out"), ("report", model)):
        result = run(*arguments)
        assert result.exit_code == 1, result.output
        assert "model.json" in result.stderr
        assert len(result.stderr) < 600
    assert not Path(folder / "out").exists()
