"""Sparse graphs, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from os import PathLike
from typing import Any, Literal

import numpy as np
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import ArgumentError
from robscore._tools.progress import watched_at
from robscore._tools.typing import AnyData, Array, RandomState
from robscore.cells.cell_rule import CellRule
from robscore.certainty.edge_intervals import Estimate, Method, check_one_graph, edge_intervals
from robscore.certainty.filled_influence import influence_of_rows
from robscore.certainty.influence import Influence
from robscore.certainty.link_tests import TestedPairs, is_tested_in_summary, tested_pairs
from robscore.certainty.pairs_by_tests import pairs_by_tests
from robscore.certainty.predictability import predictability
from robscore.certainty.stability import EdgeStability, edge_stability
from robscore.elements.row_elements import Storage
from robscore.estimators.common_docs import documented
from robscore.estimators.data_opener import Given
from robscore.estimators.estimator import ScoreMatchingEstimator
from robscore.estimators.family_agreement import describe_agreement
from robscore.families import Gaussian
from robscore.families.column_kinds import Kind
from robscore.families.family import Family
from robscore.fitting.by_sample import Sampled
from robscore.fitting.fit import fit_graph
from robscore.fitting.fit_result import GraphFit
from robscore.fitting.prepare import Data
from robscore.fitting.settings import GraphSettings, Missing
from robscore.graph import FitFacts, Graph
from robscore.links import DOUBTFUL, Finding
from robscore.solvers.penalised_loss import Rule
from robscore.weighting.row_rule import RowRule


@documented
class RobustGraph(ScoreMatchingEstimator):
    """Learns which columns of a table are directly linked, also where some of its rows are wrong.

    Two columns are linked if they still move together, or against each other, when all others are held fixed. Fit it
    to a table with an observation in each row; ``summary()`` says what was found, how certain that is and what to be
    careful about, ``edges()`` lists the links, ``suspicious_rows()`` the rows that do not fit, and ``report(path)``
    writes all of it to a page.

    It is theta-hat(K, beta, lambda) of the paper's Definition 4.1: rows become score-matching elements and get
    weights, by how well they agree with the others or by the geometric median of block means, and the weighted loss
    plus an l1 penalty on the interactions is solved along a path of penalties.

    Parameters
    ----------
    {family}
    {kinds}
    {bad_rows}
    alpha : float, optional
        The penalty; skips selection.
    select : {"f1", "ebic", "cv", "stars"} or a sequence of them, or "fdr"; default "f1"
        How to choose alpha on the path: the graph with the best expected F1, from how early pairs enter the path;
        calibrated extended BIC; five-fold cross-validation with a held-out loss that bad rows cannot steer; the
        smallest penalty at which graphs of subsamples agree. If several are given, the first decides and all are kept
        in ``criteria_``. With "fdr" no alpha is chosen: the graph is the pairs that the tests of
        :meth:`edge_intervals` find at a false discovery rate, estimated without a penalty.
    ebic_gamma : float, default 0.5
        For "ebic": 0 is the plain BIC, larger values give sparser graphs, the more so with many columns.
    fdr : float, default 0.1
        The false discovery rate of "fdr": at most this share of its edges is expected to be false. For other rules, of
        the edges that a report calls clear.
    n_edges : int, optional
        Choose the alpha with that many edges instead (or the nearest possible number, with a caution).
    alphas : int or sequence of float, default 100
        How many penalties, from the smallest that gives the empty graph downwards, or the penalties themselves.
    alpha_min_ratio : float, default 1e-3
        Smallest penalty of the path over the largest.
    max_edges : int, optional
        End the path with the first graph of at least this many edges. By default ten times the number of columns where
        there are 150 columns or more, since denser graphs take long; else the path runs to its end.
    diagonal_multiplier : float, default 0
        The paper's beta: multiplies the diagonal of the quadratic by 1 + beta. Needed when rows are fewer than columns.
    rule : {"symmetric", "and", "or"}, default "symmetric"
        One symmetric K; or every column alone (on the simplex: all at once, without symmetry), with an edge if both
        ends find it, or at least one.
    penalty_weights : array of shape (m, m), optional
        Symmetric weights of the penalty: 0 leaves an edge free, inf forbids it.
    location_weights : array of shape (m,), optional
    penalize_diagonal : bool, default False
    fit_location : bool, default True
    location_ratio : float, default inf
        eta is penalised by alpha / location_ratio; inf leaves it free.
    effect_ratio : float, default inf
        Effects of covariates (of deviation 1) are penalised by alpha / effect_ratio; inf leaves them free.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter.
    {cells}
    storage : {"auto", "dense", "matrix-free", "float32"}, default "auto"
        How the loss is held: Gamma itself, m^3 numbers; or the rows instead, so that it is never formed, in double or
        in single precision (``rounding_`` says what that costs). By default Gamma, but not for 150 columns or more
        that do not share it. Both ways without Gamma keep the rows in memory.
    tol : float, default 1e-6
        Distance to optimality, relative to alpha_max.
    max_iter : int, default 10000
        Sweeps of coordinate descent for one alpha.
    random_state : int, Generator or None
        For the simulated rows that others are compared with (None always simulates the same ones), shuffled and
        repeated partitions, and the subsamples of "stars".
    n_jobs : int or None
        Number of parallel fits for rules that fit many times ("cv", "stars"), and of groups of columns with
        ``rule="and"`` or "or". They run on joblib's backend: threads, or the one set by ``joblib.parallel_config``,
        including Dask. The result does not depend on it.
    verbose : int, default 0
        1 prints a line for each step and shows, on a terminal, what is being done and how long that may still take; 2
        prints this every ten seconds elsewhere too, as in a notebook or a log.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K in the units of the data: zero off the diagonal means no edge, negative means positive association.
    location_ : array of shape (m,)
        eta.
    {of_covariates}
    association_ : array of shape (m, m)
        -K_ij / sqrt(K_ii K_jj), the partial correlation when Gaussian; 1 on the diagonal.
    alpha_ : float
        The penalty, on the scaled columns; the largest one, where every group was fitted with its own; 0 with "fdr".
    path_ : Path
        All solutions, on the scaled columns; with "fdr" its graph is the last. Where every group has its own penalty,
        these keep their ratios along it.
    position_ : int
        Where the chosen one is on ``path_``.
    criterion_ : array with one value per alpha, or None
        The values that the selection rule compared.
    criteria_ : dict of such arrays
        By rule.
    choices_ : dict of int
        The position on the path that each rule would choose.
    graph_ : Graph
        Edges, networkx, GraphML, summary.
    {of_rows}
    n_iter_ : int
        Sweeps at the chosen alpha.
    converged_ : bool
    rounding_ : float
        With ``storage="float32"``: the largest error of a derivative of the loss at the chosen graph, over alpha_max;
        else 0. Edges that enter the path within such a distance of ``alpha_`` cannot be told apart.
    sampled_ : Sampled or None
        With very many rows (above 50,000, unless blocks, bad rows or the penalty are specified) a random sample
        chooses the graph and all rows estimate it without a penalty. Holds the sampled rows, standard errors
        (``interaction_error``), and evidence from other rows about pairs without an edge (``certificate``). Else None.
    fitted_ : GraphFit
        The whole fit as one frozen value: the result of every stage, for code that builds on it.
    {of_fit}

    Examples
    --------
    >>> import robscore as rs
    >>> truth = rs.simulate.random_model(10, 8, random_state=0)
    >>> X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=600, random_state=1)
    >>> X, bad_rows = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    >>> graph = rs.RobustGraph("sqrt", n_edges=8).fit(X)
    >>> len(graph.edges()), graph.association_.shape
    (8, (10, 10))
    """

    def __init__(
        self,
        family: str | Family = "auto",
        *,
        kinds: Mapping[str, Kind] | None = None,
        contamination: float | None = None,
        n_blocks: int | Literal["auto"] | None = None,
        shuffle: bool = False,
        n_partitions: int = 1,
        reweight: bool | RowRule | None = None,
        alpha: float | None = None,
        select: str | Sequence[str] = "f1",
        ebic_gamma: float = 0.5,
        fdr: float = 0.1,
        n_edges: int | None = None,
        alphas: int | Sequence[float] | Array = 100,
        alpha_min_ratio: float = 1e-3,
        max_edges: int | None = None,
        diagonal_multiplier: float = 0.0,
        rule: Rule = "symmetric",
        penalty_weights: Array | None = None,
        location_weights: Array | None = None,
        penalize_diagonal: bool = False,
        fit_location: bool = True,
        location_ratio: float = np.inf,
        effect_ratio: float = np.inf,
        scale: Literal["median"] | None = "median",
        missing: Missing = "raise",
        cells: bool | CellRule = False,
        max_memory: float | str = "1 GB",
        storage: Storage = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.kinds = kinds
        self.contamination = contamination
        self.n_blocks = n_blocks
        self.shuffle = shuffle
        self.n_partitions = n_partitions
        self.reweight = reweight
        self.alpha = alpha
        self.select = select
        self.ebic_gamma = ebic_gamma
        self.fdr = fdr
        self.n_edges = n_edges
        self.alphas = alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.max_edges = max_edges
        self.diagonal_multiplier = diagonal_multiplier
        self.rule = rule
        self.penalty_weights = penalty_weights
        self.location_weights = location_weights
        self.penalize_diagonal = penalize_diagonal
        self.fit_location = fit_location
        self.location_ratio = location_ratio
        self.effect_ratio = effect_ratio
        self.scale = scale
        self.missing = missing
        self.cells = cells
        self.max_memory = max_memory
        self.storage = storage
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    fitted_: GraphFit

    def _fit(self, given: Given) -> GraphFit:
        settings, data = self._validate(GraphSettings, given)
        with watched_at(type(self).__name__, settings.verbose):
            fit = self._fitted(partial(fit_graph, find_pairs=pairs_by_tests), data, settings)
        self._store(fit, data)
        self._store_choice(fit)
        self._link_tests: TestedPairs | None = None
        self._agreement: str | tuple[Data, GraphSettings] = (data, settings) if self._family_choice.others else ""
        return fit

    def _store_choice(self, fit: GraphFit) -> None:
        """The attributes of a penalised fit."""
        path, position = fit.chosen.path, fit.chosen.position
        self.path_, self.position_, self.alpha_ = path, position, float(path.alphas[position])
        self.n_iter_, self.converged_ = int(path.n_iter[position]), fit.converged
        self.criteria_, self.choices_ = fit.chosen.criteria, fit.chosen.choices
        self.criterion_: Array | None = next(iter(self.criteria_.values()), None)
        self.rounding_ = fit.rounding
        self.sampled_: Sampled | None = fit.sampled
        self.graph_ = replace(fit.graph, facts=self._with_known(fit.facts))
        self.association_ = fit.graph.association

    def _with_known(self, facts: FitFacts) -> FitFacts:
        """Adds what the fit alone does not know: why the family was chosen, kinds of columns, what is associated."""
        latent = "latent normal numbers" if self.fitted_.settings.family.has_margins else ""
        why, kinds = self._family_choice.reason, self._kinds_in_words()
        return replace(facts, why_family=why, kinds=kinds, associated=latent)

    @property
    def link_tests(self) -> TestedPairs:
        """The tests of all pairs, as summaries and reports show them; computed on first use."""
        check_is_fitted(self)
        if self._link_tests is None:
            self._link_tests = tested_pairs(self.fitted_)
        return self._link_tests

    @property
    def family_agreement(self) -> str:
        """How far graphs of families agree that the data cannot tell apart, in words; empty where one was told apart.

        Computed on first use: it takes a fit of each of them.
        """
        check_is_fitted(self)
        if not isinstance(self._agreement, str):
            self._agreement = describe_agreement(self.fitted_, *self._agreement, self._family_choice.others)
        return self._agreement

    def _with_cautions(self, graph: Graph) -> Graph:
        """Adds cautions and tests too, which take a while."""
        cautions = self.cautions_
        tests = self.link_tests.tests if is_tested_in_summary(self.fitted_) else None
        found = Finding(tests, any(caution.kind in DOUBTFUL for caution in cautions))
        facts = replace(self._with_known(graph.facts), cautions=tuple(map(str, cautions)), finding=found)
        facts = replace(facts, agreement=self.family_agreement)
        return replace(graph, facts=facts)

    def graph_at(self, position: int) -> Graph:
        """The graph at another penalty of ``path_``, by its position: 0 is the largest penalty.

        Parameters
        ----------
        position : int
            Negative ones count from the end.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
        >>> model = rs.RobustGraph("gaussian").fit(X)
        >>> model.graph_at(0).n_edges, model.graph_at(-1).n_edges
        (0, 6)
        """
        check_is_fitted(self)
        count = self.path_.alphas.size
        if not isinstance(position, int | np.integer) or not -count <= position < count:
            raise ArgumentError(
                "position", position, f"must be a whole number below {count}, the penalties of the path."
            )
        return self._with_cautions(self.fitted_.graph_at(int(position) % count))

    def edges(self) -> AnyData:
        """Table of edges: source, target, interaction, association; strongest association first.

        In the data-frame library of the input; for arrays pandas if it is installed, else a structured array.
        """
        check_is_fitted(self)
        return self.graph_.edges()

    @documented
    def edge_intervals(
        self,
        *,
        level: float = 0.95,
        fdr: float = 0.1,
        method: Method = "sandwich",
        estimate: Estimate = "auto",
        block_size: int | Literal["auto"] = "auto",
    ) -> AnyData:
        """Estimates without shrinkage for all pairs, with intervals and tests of "no edge".

        Parameters
        ----------
        {intervals}
        method : {"sandwich", "subsampling"}, default "sandwich"
            Standard errors from the influence of the rows, or from estimates on 100 random halves of them.
        estimate : {"auto", "full", "split"}, default "auto"
            "full" estimates all pairs at once with the row weights of the fit. No edge is selected, so the tests are
            valid whatever graph was chosen: it is the debiased lasso with the Hessian inverted exactly. "split", for
            few rows: one half chooses the graph, the other half estimates its edges, and other pairs are not in the
            table. "auto" takes "full" where there are three rows for every parameter of a column.
        {block_size}

        Returns
        -------
        table with columns
            source, target, interaction (K_ij in the units of the data), interaction_error, interaction_low,
            interaction_high, association, association_low, association_high, p_value, q_value, significant, in_graph
            (whether the learnt graph has the edge); smallest p-value first. Of a copula also effective: how many rows
            of latent numbers would say as much about the pair (not where a sample of the rows chose the graph).

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
        >>> table = rs.RobustGraph("gaussian").fit(X).edge_intervals()
        >>> int(table["significant"].sum()), bool((table["association_low"] < table["association"]).all())
        (3, True)
        """
        check_is_fitted(self)
        table, remarks = edge_intervals(
            self.fitted_,
            level=level,
            fdr=fdr,
            method=method,
            estimate=estimate,
            block_size=block_size,
            random_state=0 if self.random_state is None else self.random_state,
            n_jobs=self.n_jobs,
        )
        for remark in remarks:
            remark.warn(stacklevel=2)
        return table

    def edge_stability(self, X: AnyData, **options: Any) -> EdgeStability:
        """How often every edge recurs in halves of the rows; see :func:`robscore.edge_stability`."""
        check_is_fitted(self)
        if options.get("moderators") is None:
            self._open_given(X, options.get("covariates"), reset=False)
        return edge_stability(self, X, **options)

    def predictability(self) -> AnyData:
        """How well every column is predicted by its neighbours on held-out rows: R^2 if rows are Gaussian.

        Returns
        -------
        table with columns
            column, predictability (from 0 to 1), neighbours (how many); of the copula also measure. There it is R^2 of
            the latent numbers ("explained"); of a column of two values, in fits without covariates, (A - A0) / (1 - A0)
            with A the share of its cells that the cells of its neighbours guess right, and A0 that of the more frequent
            value ("guessed right").

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> X[:, 1] += 2 * X[:, 0]
        >>> rs.RobustGraph("gaussian").fit(X).predictability()["predictability"].round(1).tolist()
        [0.8, 0.8, 0.0]
        """
        check_is_fitted(self)
        return predictability(self.fitted_)

    def influence_of_rows(self) -> Influence:
        """The estimate of K on the scaled columns, without a penalty, and the influence of every row."""
        check_is_fitted(self)
        check_one_graph(self.fitted_, "influence_of_rows")
        return influence_of_rows(self.fitted_)

    def summary(self) -> str:
        """Cautions, and what was learnt from which data, in a few lines."""
        check_is_fitted(self)
        return self._with_cautions(self.graph_).summary()

    @property
    def precision_(self) -> Array:
        """The precision matrix, as scikit-learn names it: ``interaction_`` of a Gaussian fit; other fits have none."""
        check_is_fitted(self)
        if not isinstance(self.fitted_.settings.family, Gaussian):
            raise AttributeError(f"precision_ is for family='gaussian'; this fit has {self.fitted_.settings.family!r}.")
        return self.interaction_

    @property
    def covariance_(self) -> Array:
        """The inverse of ``precision_``, where that is positive definite."""
        precision = self.precision_
        try:
            np.linalg.cholesky(precision)
        except np.linalg.LinAlgError:
            raise AttributeError(
                "covariance_ does not exist: the estimated precision is not positive definite."
            ) from None
        return np.asarray(np.linalg.inv(precision))

    def report(self, path: str | PathLike[str] | None = None, **about: Any) -> Any:
        """The report of the fit, written to a file or shown in a notebook.

        Parameters
        ----------
        path : of the HTML file to write, optional
        **about
            What :func:`robscore.report.record` takes: classic, title, labels, coordinates, groups, stability.

        Returns
        -------
        Page
            Shows itself in a notebook; ``save(path)`` writes it.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
        >>> rs.RobustGraph("gaussian").fit(X).report(title="A chain")
        <Page 'A chain'>
        """
        check_is_fitted(self)
        made = import_module("robscore.report").Page.of(self, **about)  # it imports the estimators
        if path is not None:
            made.save(path)
        return made

    def _repr_html_(self) -> str:
        """For notebooks: the graph and its summary; before ``fit`` what scikit-learn shows."""
        if not hasattr(self, "fitted_"):
            return str(estimator_html_repr(self))
        return self._with_cautions(self.graph_)._repr_html_()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        words = self._with_cautions(self.graph_).summary() if hasattr(self, "fitted_") else repr(self)
        return {"text/plain": words, "text/html": self._repr_html_()}
