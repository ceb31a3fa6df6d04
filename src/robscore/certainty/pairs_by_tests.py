"""Which pairs do tests of "no edge" find, at a false discovery rate? They are the graph of ``select="fdr"``.

The tests are those of :mod:`robscore.certainty.edge_intervals`: all pairs are estimated at once without a penalty, so
that nothing is selected before the tests, or with few rows those that one half of the rows links, from the other half.
Benjamini and Hochberg's step-up rule takes as many pairs as the false discovery rate allows.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.memory import describe
from robscore._tools.messages import Message, Setting, UsageError
from robscore.certainty.edge_intervals import PairTests, remarks_on_bias, which_rows
from robscore.fitting.by_tests import FoundPairs
from robscore.fitting.fit_result import GraphFit
from robscore.solvers.unpenalised import SingularLossError

_HESSIANS = 4  # that are held at a time while all pairs are estimated, as was measured


def pairs_by_tests(fit: GraphFit, fdr: float) -> FoundPairs:
    """The pairs that are found with the row weights of a fit, whatever its graph is."""
    rows = which_rows(fit)
    try:
        if rows == "full":
            _check_memory(fit)
        tests = PairTests.of(fit, estimate=rows, random_state=fit.settings.seed)
    except UsageError as error:
        raise _cannot_test(error.message) from None
    except SingularLossError as error:
        raise _cannot_test(Message(f"The rows do not determine all pairs ({error}). Use more rows.")) from None
    m, (i, j) = len(fit.names), tests.found.solved.pairs
    edges = np.zeros((m, m), dtype=bool)
    edges[i, j] = edges[j, i] = tests.edges(0.95, fdr).significant
    words = "on the pairs that tests find"
    if rows == "split":
        words += " in one half of the rows, among those that the other half links,"
    words += f" at a false discovery rate of {100 * fdr:.3g} %"
    return FoundPairs(edges, words, tests.found.blocks.tau, remarks_on_bias(fit))


def _check_memory(fit: GraphFit) -> None:
    """Raise where the estimate of all pairs does not fit in the memory."""
    m = len(fit.names)
    n_parameters = np.count_nonzero(fit.settings.allowed_pairs(m)) / 2 + m * (2 + fit.n_given)
    needed = _HESSIANS * 8 * n_parameters**2
    if needed > fit.settings.memory:
        raise UsageError(
            f"Tests of all pairs of {m} columns take {describe(needed)}, more than ",
            Setting("max_memory", fit.settings.max_memory),
            ". Raise it, or fit fewer columns.",
        )


def _cannot_test(reason: Message) -> UsageError:
    return UsageError(
        Setting("select", "fdr"),
        " tests pairs without a penalty, which is not possible here. ",
        reason,
        " Or use ",
        Setting("select", "f1"),
        ", which needs no tests.",
    )
