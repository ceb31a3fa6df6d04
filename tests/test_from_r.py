"""The page for users of R, run by R itself where there is one with reticulate."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SITE = Path(__file__).parent.parent / "docs" / "site"
CHECKS = """
stopifnot(is.data.frame(edges), nrow(edges) == 4, is.character(edges$source), is.numeric(edges$association))
stopifnot(is.matrix(K), isSymmetric(K), sum(K[upper.tri(K)] != 0) == 4)
stopifnot(K[edges$source[1], edges$target[1]] == edges$interaction[1])
stopifnot(nrow(rows) == 150, setequal(rows$row, 0:149), nrow(intervals) == 6, is.logical(intervals$in_graph))
stopifnot(file.exists("report.html"), is.data.frame(as_r(given$edges())), length(as_r(given$row_weights_)) > 149)
holes <- X; holes[3, 2] <- NA
dropped <- rs$RobustGraph("gaussian", n_blocks = 3L, missing = "drop")$fit(holes)
stopifnot(as_r(dropped$row_weights_)[3, 1] == 0)
factors <- rs$RobustGraph("gaussian", n_blocks = 3L)$fit(X, moderators = iris["Species"])
said <- tryCatch(rs$RobustGraph("gaussian", n_blocks = 3)$fit(X), error = conditionMessage)
stopifnot(grepl("n_blocks=3.0 must be a whole number", said))
cat("all holds\\n")
"""

ENVIRONMENT = {**os.environ, "RETICULATE_PYTHON": sys.executable}


def without_reticulate():
    """Why R cannot be asked here, or nothing."""
    if shutil.which("Rscript") is None:
        return "R is not installed"
    found = subprocess.run(["Rscript", "-e", 'quit(status = !requireNamespace("reticulate"))'], capture_output=True)
    if found.returncode:
        return "R has no reticulate"
    asked = subprocess.run(["Rscript", "-e", "reticulate::py_config()"], env=ENVIRONMENT, capture_output=True)
    return "reticulate is too old for this Python" if asked.returncode else ""


def test_the_page_runs_in_r(tmp_path):
    reason = without_reticulate()
    if reason:
        pytest.skip(reason)
    (code,) = re.findall(r"```r\n(.*?)```", (SITE / "from_r.md").read_text(encoding="utf-8"), re.DOTALL)
    setting, _, rest = code.partition("\n")
    assert setting.startswith("Sys.setenv(RETICULATE_PYTHON")
    shutil.copy(SITE / "robscore.R", tmp_path)
    (tmp_path / "page.R").write_text(rest + CHECKS, encoding="utf-8")
    ran = subprocess.run(["Rscript", "page.R"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith("all holds\n")
