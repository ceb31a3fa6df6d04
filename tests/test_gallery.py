"""Every page of the gallery runs, says what one looks at and where it fails, and shows what its words say."""

import re
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
PAGES = sorted(GALLERY.glob("*/*.py"))

# What the words of a page say of its figures, as conditions on what the page has computed.
SAYS = {
    "rain": lambda p: p["true_edges"]["robust, the default"] > 40 and min(p["true_edges"].values()) < 10,
    "breast_cancer": lambda p: (
        p["malignant"][p["left_out"]].mean() > 0.65 and "group of their own" in p["model"].cautions_[0]
    ),
    "stuck_sensor": lambda p: (
        p["stuck"].sum() > 20 and max(p["links"]["stuck, robust"][2], 0) < 0.05 < p["links"]["stuck, classic"][2]
    ),
    "decimal_points": lambda p: (
        p["right"].sum() > 0.9 * p["moved"].sum() and p["shared"]["cells=True"] > p["shared"]["classic"]
    ),
    "missing_cells": lambda p: (
        p["slopes"]["column medians"] < 0.8 < p["slopes"]["filled in by the fit"]
        and p["errors"]["filled in by the fit"] < p["errors"]["incomplete rows left out"]
    ),
    "which_family": lambda p: all(t.set_index("family")["verdict"][f] != "worse" for f, t in p["compared"].items()),
    "does_it_fit": lambda p: not p["right"].cautions_ and p["check"].p_value < 0.001,
    "compositions": lambda p: p["below"] > 0.8 and {(0, 1), (2, 3), (4, 5)} <= edges(p["model"]),
    "returns": lambda p: p["between"]["robust, the default"][0] == 0 < p["between"]["all days count the same"][0],
    "questionnaire": lambda p: (
        p["n_within"] > 45 > 10 > p["n_between"]
        and p["n_careless"] > 35 > 0.75 * len(p["flagged"])
        and set(np.unique(p["completed"])) == set(range(1, 7))
        and (p["model"].association_[p["same"]].min() < 0)
        and not p["model"].cautions_
    ),
    "daily_rain": lambda p: (
        p["counted"]["copula"] == (7, 0, 0)
        and p["counted"]["sqrt"][1] > 10
        and [family for family, model in p["models"].items() if not model.cautions_] == ["copula"]
    ),
    "species": lambda p: (
        p["counted"]["log ratios"][1] > 100
        and p["counted"]["log ratios, given the depth"][0] > 70
        and p["counted"]["log ratios, given the depth"][1] < 10
    ),
    "mixed_columns": lambda p: (
        p["found"]["copula"] == (11, 0) != p["found"]["gaussian"]
        and p["n_found"] > 30
        and abs(p["slopes"]["copula"] - 1) < 0.1 < 1 - p["slopes"]["gaussian"]
    ),
    "wine": lambda p: (
        p["within"].graph_.n_edges < p["plain"].graph_.n_edges and "sorted" in " ".join(p["model"].cautions_)
    ),
    "your_own_family": lambda p: edges(p["sizes"]) >= set(p["pairs"]) and not edges(p["models"]["gaussian"]),
    "confounder": lambda p: p["known"].graph_.n_edges == 2 < p["ignored"].graph_.n_edges,
    "groups_that_differ": lambda p: p["differences"]["q_value"][0] < 0.05 and p["test"].p_value < 0.05,
    "lagged": lambda p: edges(p["within"]) == {(3, 4)} and abs(p["found"] - p["true_past"]).max() < 0.15,
    "intervals": lambda p: p["covered"].mean() > 0.8,
    "stability": lambda p: p["n_false"] <= 1 and p["n_true"] >= 3,
    "how_many_rows": lambda p: all(t["f1"].iloc[-1] > t["f1"].iloc[0] for t in p["expected"].values()),
    "path_and_penalty": lambda p: max(p["scores"]) - p["scores"][p["chosen"]["f1"]] < 0.2,
    "parquet": lambda p: p["same"] and p["errors"]["disk"] < p["errors"]["memory"] and p["kept"].argmin() == 12,
    "polars_and_arrow": lambda p: max(p["differences"].values()) < 1e-8,
    "dask": lambda p: p["difference"] < 1e-8,
    "more_columns_than_rows": lambda p: p["right"] > 100 and p["false"] < p["right"] / 2,
    "scikit_learn": lambda p: p["search"].best_params_["robustgraph__family"] == "gamma",
    "reading_the_report": lambda p: p["model"].graph_.n_edges > 20,
}


def edges(model):
    i, j = model.graph_.adjacency.nonzero()
    return {(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True) if a < b}


def test_there_are_twenty_to_thirty_pages_in_groups_with_a_heading():
    assert 20 <= len(PAGES) <= 30
    assert {page.stem for page in PAGES} == set(SAYS)
    for folder in (GALLERY, *{page.parent for page in PAGES}):
        title, line, _, *words = (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").splitlines()
        assert len(title) == len(line)
        assert words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_begin_with_what_one_looks_at_and_end_with_where_it_fails(page):
    text = page.read_text(encoding="utf-8")
    compile(text, str(page), "exec")
    title, line, *_ = text.removeprefix('"""\n').splitlines()
    assert line == "=" * len(title)
    assert "What you look at" in text.split('"""')[1].replace("\n", " ")
    last = re.split(r"^# %%", text, flags=re.MULTILINE)[-1]
    assert "\n# Where it fails\n# -" in last
    assert not [row for row in last.split("Where it fails")[1].splitlines() if row and not row.startswith("#")]
    for target in re.findall(r":doc:`([^`]+)`", text):
        built = target.replace("/examples/", "/gallery/") if target.startswith("/examples/") else target
        where = GALLERY.parent / built[1:] if built.startswith("/") else page.parent / built
        assert where.with_suffix(".py").exists() or where.with_suffix(".md").exists(), target


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_run_and_show_what_they_say(page, tmp_path, monkeypatch):
    plt.switch_backend("Agg")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    namespace = {"__name__": "__main__"}
    exec(compile(page.read_text(encoding="utf-8"), str(page), "exec"), namespace)
    assert plt.get_fignums()
    plt.close("all")
    assert SAYS[page.stem](namespace)
