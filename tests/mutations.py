"""Deliberate defects, each of which the tests must notice: ``python tests/mutations.py``, or ``make test-mutations``.

Every mutation changes one place of a copy of src and runs the tests about that place, until one fails. Tests
that are made faster, or left out since others say the same, must still catch all of them. The place is found by
its text, wherever it stands; a text that is not there exactly once is an error, so that the list follows the code.

``--root`` names another checkout, whose source and tests are taken; words choose mutations whose name contains one.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Mutation(NamedTuple):
    """A defect: where ``text`` stands, ``defect`` is put; ``tests`` are files about that place."""

    name: str
    text: str
    defect: str
    tests: tuple[str, ...]


MUTATIONS = [
    Mutation(
        "copula: rows that are judged are completed by draws that know nothing of how columns go together",
        "(n * now / np.multiply.outer(size, size) + m * correlations) / (n + m) if number else correlations",
        "np.eye(m)",
        ("families/test_copula_judged.py",),
    ),
    Mutation(
        "copula: values between two that stand for intervals are imputed",
        "is_seen = self.drawn[j][at] | self.drawn[j][beside]",
        "is_seen = np.zeros(at.shape, dtype=bool)",
        ("families/test_copula_judged.py",),
    ),
    Mutation(
        "elements: the loss of a row counts its quadratic part twice",
        "(0.5 * quadratic - linear).sum(axis=1)",
        "(quadratic - linear).sum(axis=1)",
        ("oracles/test_elements.py", "families/test_row_losses.py", "laws/test_units.py"),
    ),
    Mutation(
        "families: the location of a centred column is moved the wrong way",
        "location / s**self.b + K @ scaling.centre",
        "location / s**self.b - K @ scaling.centre",
        ("laws/test_units.py",),
    ),
    Mutation(
        "families: the effects of covariates keep the scale of the fit",
        "effects = eta[:, 1:] / scaling.scale[-self.n_given :]",
        "effects = eta[:, 1:]",
        ("test_covariates.py",),
    ),
    Mutation(
        "boundary: a capped weight still rises beyond its cap",
        "np.where(d > self.cap, 0.0, below)",
        "np.where(d > self.cap, 1.0, below)",
        ("test_boundary.py",),
    ),
    Mutation(
        "samplers: lower and upper tails are exchanged",
        "outer * uniform, outer + (1.0 - outer) * uniform",
        "outer + (1.0 - outer) * uniform, outer * uniform",
        ("simulate/test_simulate.py", "simulate/test_gibbs.py"),
    ),
    Mutation(
        "rows: blocks ignore how often their rows count",
        "self.sizes if self.frequency is None else np.add.reduceat(self.frequency, self.starts)",
        "self.sizes",
        ("test_sample_weight.py",),
    ),
    Mutation(
        "rows: half as many blocks as a share of bad rows needs",
        "np.floor(4 * contamination * n + 0.5)",
        "np.floor(2 * contamination * n + 0.5)",
        ("medians/test_median_of_means.py", "test_row_weights.py"),
    ),
    Mutation(
        "medians: points are weighed by their distance, not by its inverse",
        "weights = p / now.distances\n",
        "weights = p * now.distances\n",
        ("medians/test_plain.py", "laws/test_geometric_median.py"),
    ),
    Mutation(
        "weighting: the slope of a taper has the wrong sign",
        "slopes *= -6 / (end - start)",
        "slopes *= 6 / (end - start)",
        ("test_taper.py", "test_reweighting.py"),
    ),
    Mutation(
        "weighting: the scatter of the middle keeps the old order of its columns",
        "self.precision[np.ix_(columns, columns)]",
        "self.precision",
        ("test_reweighting.py", "laws/test_same_answer.py"),
    ),
    Mutation(
        "weighting: deviations are a third too small",
        "deviation = MAD * median(",
        "deviation = median(",
        ("test_deviations.py", "selection/test_ebic.py", "test_reweighting.py"),
    ),
    Mutation(
        "solvers: penalty_weights are ignored",
        'numbers_or_ones("penalty_weights", penalty_weights, (m, m))',
        'numbers_or_ones("penalty_weights", None, (m, m))',
        ("solvers/test_path.py", "test_graph.py"),
    ),
    Mutation(
        "solvers: the coupling of the last node has its indices swapped",
        "R[n_coupled * p + k] += change * last[j, i, k]",
        "R[n_coupled * p + k] += change * last[j, k, i]",
        ("solvers/test_path.py", "solvers/test_kernels.py"),
    ),
    Mutation(
        "selection: eBIC counts half of the rows",
        "2 * n_rows * solution.loss",
        "n_rows * solution.loss",
        ("oracles/test_fits.py", "selection/test_ebic.py"),
    ),
    Mutation(
        "selection: cross-validation fits to the rows that it judges by",
        "[np.delete(rows, fold) for fold in folds]",
        "[rows for fold in folds]",
        ("selection/test_rules.py", "test_sample_weight.py"),
    ),
    Mutation(
        "cells: the odds that a cell is wrong are upside down",
        "probability = wrong / (wrong + good)",
        "probability = good / (wrong + good)",
        ("cells/test_wrong.py",),
    ),
    Mutation(
        "cells: pairs with missing cells are held for more certain, not for less",
        "np.where(self.linked, root, 1 / root)",
        "np.where(self.linked, 1 / root, root)",
        ("cells/test_missing.py",),
    ),
    Mutation(
        "graph: associations have the sign of K",
        "-K / np.where(scale > 0, scale, 1.0)",
        "K / np.where(scale > 0, scale, 1.0)",
        ("test_graph.py",),
    ),
    Mutation(
        "certainty: p-values are one-sided",
        "2 * stdtr(",
        "stdtr(",
        ("test_inference.py", "test_moderators.py"),
    ),
    Mutation(
        "certainty: intervals reach to the quantile of their level",
        "0.5 + self.level / 2",
        "self.level",
        ("test_inference.py",),
    ),
    Mutation(
        "metrics: false and true positives change places",
        "found[:, ~true].mean(axis=1)",
        "found[:, true].mean(axis=1)",
        ("test_metrics.py",),
    ),
    Mutation(
        "reading: a group of three digits is taken for decimals",
        'text.replace("," if decimal == "." else ".", "").replace(decimal, ".")',
        'text.replace("," if decimal == "." else ".", ".", 1).replace(decimal, "")',
        ("reading",),
    ),
    Mutation(
        "app: every token opens the page",
        "if not secrets.compare_digest(given, self.token):",
        "if not secrets.compare_digest(given, given):",
        ("app/test_server.py",),
    ),
]


def mutated(source: Path, mutation: Mutation) -> Path:
    """The one file that holds the text, with the defect in its place; an error if it is not there exactly once."""
    holding = {path: found for path in sorted(source.rglob("*.py")) if (found := path.read_text().count(mutation.text))}
    if sum(holding.values()) != 1:
        places = ", ".join(f"{path.relative_to(source)} ({found})" for path, found in holding.items()) or "nowhere"
        raise SystemExit(f"{mutation.name}: {mutation.text!r} must stand in src exactly once, and stands: {places}")
    (path,) = holding
    path.write_text(path.read_text().replace(mutation.text, mutation.defect))
    return path


def first_failure(root: Path, source: Path, tests: list[str]) -> str:
    """The first test that fails with this source; nothing where all pass."""
    environment = {**os.environ, "CI": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(source)}
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", run.stdout, re.MULTILINE)
    if run.returncode not in (0, 1) and not failed:
        raise SystemExit(f"The tests cannot be run:\n{run.stdout}\n{run.stderr}")
    return failed[1] if failed else ""


def caught(root: Path, mutation: Mutation) -> str:
    """The test that notices the defect; nothing where none does. An error where it fails without the defect too."""
    with tempfile.TemporaryDirectory() as folder:
        # With what is compiled already, and with times, so that no more is compiled anew than what changes.
        source = Path(shutil.copytree(root / "src", Path(folder) / "src"))
        mutated(source, mutation)
        by = first_failure(root, source, [str(root / "tests" / name) for name in mutation.tests])
    if by and first_failure(root, root / "src", [by.partition("[")[0]]):
        raise SystemExit(f"{by} fails without a defect, too")
    return by


def main() -> int:
    """Print what catches every mutation; 1 if one is not caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--root", type=Path, default=ROOT)
    arguments = parser.parse_args()
    chosen = [one for one in MUTATIONS if not arguments.words or any(word in one.name for word in arguments.words)]
    missed = 0
    for mutation in chosen:
        by = caught(arguments.root.resolve(), mutation)
        missed += not by
        print(f"{'caught    ' if by else 'NOT caught'}  {mutation.name}")
        if by:
            print(f"            by {by}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mutations are caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
