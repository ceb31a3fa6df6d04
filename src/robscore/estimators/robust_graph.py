"""scikit-learn estimators: validate, call one arrow after the other, store. No mathematics here."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from robscore._tools.arguments import check_number, check_whole, in_words
from robscore._tools.randomness import as_generator
from robscore._tools.remarks import Remark
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore.certainty.identifiability import check_identifiable
from robscore.certainty.influence import Influence, Weighting, solve
from robscore.certainty.intervals import Estimate, Method, edge_intervals
from robscore.certainty.stability import EdgeStability, edge_stability
from robscore.elements import Elements, PairwiseElements
from robscore.elements.base import Storage, check_storage
from robscore.elements.streamed import elements_of
from robscore.estimators.base import ScoreMatchingEstimator
from robscore.families.base import Family, Parameters, get_family
from robscore.graph import FitFacts, Graph, association
from robscore.losses.quadratic import MANY_COLUMNS, Loss, QuadraticLoss, StatisticLoss, with_zero_sums
from robscore.selection import SELECTORS, Candidates
from robscore.selection.choice import least
from robscore.selection.ebic import ebic, support
from robscore.selection.n_edges import find_n_edges
from robscore.solvers.factor import SingularLossError
from robscore.solvers.location import HardlyVaryError
from robscore.solvers.options import Rule, check_options
from robscore.solvers.path import Path, convergence_message, joined_interaction, joined_support, solve_quietly
from robscore.solvers.refit import dependent_columns, minimise, refit
from robscore.weighting.row_weights import RowWeights, weigh_rows
from robscore.weighting.taper import Taper

# The fits that rows are judged by: a short, rough path.
_FIRST_ALPHAS, _FIRST_RATIO, _FIRST_TOL = 30, 0.03, 1e-3
_ROWS_AN_EDGE = 5
_EDGES_A_COLUMN = 10


class RobustScoreMatching(ScoreMatchingEstimator):
    """Robust score matching without a penalty: theta-hat(K) = Gamma-hat^-1 g-hat (section 3.2 of the paper).

    Gamma-hat and g-hat are geometric medians of the means of K blocks of rows, so a bad row spoils at
    most one block. Needs more rows than columns.

    Parameters
    ----------
    family : str or Family, default "sqrt"
        "gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex", or an object of ``rs.families``.
    contamination : float, optional
        Share of bad rows to guard against, if known: sets the number of blocks to the paper's 4 * contamination * n.
    n_blocks : int or "auto", optional
        K. 1 is classic score matching; more blocks stand more bad rows but add bias on skewed data. "auto" lets the
        data choose. Without it and without ``contamination`` K is 0.4 n, for a first fit that reweighting starts from.
    shuffle : bool, default False
        Cut a random order of the rows into blocks instead of the given one.
    n_partitions : int, default 1
        With more than one, average the row weights over that many random partitions.
    reweight : bool, optional
        Leave out the rows that the fit finds too surprising, as many as the data say, and fit the rest again, until
        that settles; on clean data hardly ever one. Stands about 20 % bad rows, more if they are scattered. By default
        where neither ``n_blocks`` nor ``contamination`` is given; then ``n_blocks`` only serves the first fit.
    fit_location : bool, default True
        Estimate eta; otherwise it is zero.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter, and map the parameters back.
    missing : {"raise", "drop"}, default "raise"
        What to do about rows with missing values.
    max_memory : number of bytes, or str such as "500 MB", default "1 GB"
        What is made of the rows, and sums over blocks, may take so much memory; rows for which it is not enough are
        read again in every pass over the data. The row weights, about 50 bytes a row, come on top of that.
    random_state : int, Generator or None
        For shuffled and repeated partitions.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K, precision-like and symmetric: negative off the diagonal is positive association.
    location_ : array of shape (m,)
        eta.
    theta_ : array of shape (m(m+1)/2 + m,), or m(m+1)/2 without location
        K's upper triangle row by row, then eta; for an exponential family, shape (r,), its own parameters, and
        then there is neither ``interaction_`` nor ``location_``.
    row_weights_ : array of shape (n, 2)
        What each row counts in Gamma-hat and in g-hat; each column sums to one.
    n_blocks_ : int
    share_dropped_ : float or None
        Share of the rows that reweighting left out altogether; None without reweighting.
    n_blocks_criterion_ : dict of float by K, or None
        What ``n_blocks="auto"`` looked at; the least is best.
    n_rows_used_ : int
        Rows without missing values.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import robscore as rs
    >>> truth = rs.simulate.random_model(3, 2, min_eigenvalue=0.5, random_state=0)
    >>> X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=500, random_state=1)
    >>> X, bad_rows = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    >>> model = rs.RobustScoreMatching("sqrt", contamination=0.05).fit(X)
    >>> model.n_blocks_, model.interaction_.shape
    (100, (3, 3))
    """

    def __init__(
        self,
        family: str | Family = "sqrt",
        *,
        contamination: float | None = None,
        n_blocks: int | Literal["auto"] | None = None,
        shuffle: bool = False,
        n_partitions: int = 1,
        reweight: bool | None = None,
        fit_location: bool = True,
        scale: Literal["median"] | None = "median",
        missing: Literal["raise", "drop"] = "raise",
        max_memory: float | str = "1 GB",
        random_state: RandomState = None,
    ) -> None:
        self.family = family
        self.contamination = contamination
        self.n_blocks = n_blocks
        self.shuffle = shuffle
        self.n_partitions = n_partitions
        self.reweight = reweight
        self.fit_location = fit_location
        self.scale = scale
        self.missing = missing
        self.max_memory = max_memory
        self.random_state = random_state

    def fit(self, X: AnyData, y: None = None) -> Self:
        """Estimate the parameters.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m); path of a Parquet file or folder; memory map; Dask collection
            Rows that do not fit in ``max_memory`` are read a piece at a time, in every pass over the data.
        y : ignored
        """
        loss, elements, remarks = self._robust_loss(X)
        self._judged_by = self._first_fit(loss, elements)
        self._store(*self._judged_by)
        if isinstance(loss, QuadraticLoss):
            upper = self.interaction_[np.triu_indices(loss.n_columns)]
            self.theta_ = np.append(upper, self.location_) if self.fit_location else upper
        for remark in remarks:
            warnings.warn(remark.words, remark.category, stacklevel=2)
        return self

    def _first_fit(self, loss: Loss, elements: Elements) -> Parameters:
        try:
            return minimise(loss, fit_location=self.fit_location)
        except SingularLossError as error:
            raise ValueError(self._singular_message(loss, str(error))) from None

    def _fit_like(self, loss: Loss, parameters: Parameters) -> Parameters:
        return minimise(loss, fit_location=self.fit_location)

    def _singular_message(self, loss: Loss, reason: str) -> str:
        counted = int(np.count_nonzero(self.row_weights_[:, 0]))
        family, n_columns = self._preparation.family, self.n_features_in_
        needed = family.statistics_a_column(n_columns, fit_location=self.fit_location)
        singular = f"Gamma-hat is singular ({reason}), so the estimate without a penalty does not exist. "
        if counted >= needed:
            if isinstance(loss, StatisticLoss):
                return singular + "The statistics are linearly dependent on these data, or nearly so: leave one out."
            columns = dependent_columns(loss)
            named = ", ".join(repr(self._column_names[j]) for j in columns[:5]) or "a column and the location"
            return singular + (
                f"Linearly dependent, nearly so, or far from zero for their spread: {named}. Drop one of them, keep "
                "scale='median', or add a penalty with RobustGraph."
            )
        expected = check_identifiable(
            family, self.n_rows_used_, n_columns, self.n_blocks_, fit_location=self.fit_location
        )
        return singular + f"Only {counted} of {self.n_rows_used_} rows have positive weight. {expected.words}"


class RobustGraph(ScoreMatchingEstimator):
    """A sparse graph from data with bad rows in it: theta-hat(K, beta, lambda) of the paper's Definition 4.1.

    Rows become score-matching elements, the geometric median of block means gives every row a weight, and the
    weighted loss plus an l1 penalty on the interactions is solved along a path of penalties.

    Parameters
    ----------
    family : str or Family, default "sqrt"
        "gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex", or an object of ``rs.families``.
    contamination : float, optional
        Share of bad rows to guard against, if known: sets the number of blocks to the paper's 4 * contamination * n.
    n_blocks : int or "auto", optional
        K. 1 is classic score matching; "auto" lets the data choose. Without it and without ``contamination`` K is
        0.4 n, for a first fit that reweighting starts from.
    shuffle : bool, default False
        Cut a random order of the rows into blocks instead of the given one.
    n_partitions : int, default 1
        With more than one, average the row weights over that many random partitions.
    reweight : bool, optional
        Leave out the rows that the fit finds too surprising, as many as the data say, and fit the rest again, until
        that settles; on clean data hardly ever one. Stands about 20 % bad rows, more if they are scattered. By default
        where neither ``n_blocks`` nor ``contamination`` is given; then ``n_blocks`` only serves the first fit.
    alpha : float, optional
        The penalty; skips selection.
    select : {"ebic", "cv", "stars"} or a sequence of them, default "ebic"
        How to choose alpha on the path: calibrated extended BIC; five-fold cross-validation with a held-out loss that
        bad rows cannot steer; the least penalty at which graphs of subsamples agree. Of several the first decides and
        all are kept in ``criteria_``.
    n_edges : int, optional
        Choose the alpha with that many edges instead (or the nearest number that can be had, with a warning).
    alphas : int or sequence of float, default 100
        How many penalties, from the smallest that gives the empty graph downwards, or the penalties themselves.
    alpha_min_ratio : float, default 1e-3
        Smallest penalty of the path over the largest.
    max_edges : int, optional
        End the path with the first graph of at least so many edges. By default ten times the number of columns where
        there are 150 columns or more, since denser graphs are slow to come by; else the path goes on to its end.
    diagonal_multiplier : float, default 0
        The paper's beta: multiplies the diagonal of the quadratic by 1 + beta. Needed when rows are fewer than columns.
    rule : {"symmetric", "and", "or"}, default "symmetric"
        One symmetric K; or every column alone (on the simplex: all at once, without symmetry), with an edge where both
        or at least one of the two see it.
    penalty_weights : array of shape (m, m), optional
        Symmetric weights of the penalty: 0 leaves an edge free, inf forbids it.
    location_weights : array of shape (m,), optional
    penalize_diagonal : bool, default False
    fit_location : bool, default True
    location_ratio : float, default inf
        eta is penalised by alpha / location_ratio; inf leaves it free.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter.
    missing : {"raise", "drop"}, default "raise"
    max_memory : number of bytes, or str such as "500 MB", default "1 GB"
        What is made of the rows, and sums over blocks, may take so much memory; rows for which it is not enough are
        read again in every pass over the data. The row weights, about 50 bytes a row, come on top of that.
    storage : {"auto", "dense", "matrix-free", "float32"}, default "auto"
        How the loss is held: Gamma itself, m^3 numbers; or the rows instead, so that it is never formed, in double or
        in single precision (``rounding_`` says what that costs). By default Gamma, but not for 150 columns or more
        that do not share it. Both ways without Gamma keep the rows in memory.
    tol : float, default 1e-6
        Distance to optimality, relative to alpha_max.
    max_iter : int, default 10000
        Sweeps of coordinate descent for one alpha.
    random_state : int, Generator or None
        For shuffled and repeated partitions, and for the subsamples of "stars".
    n_jobs : int or None
        How many fits at a time for rules that fit many times ("cv", "stars"), and how many groups of columns with
        ``rule="and"`` or "or". On joblib's backend: threads, or what ``joblib.parallel_config`` says, Dask's included.
        The result does not depend on it.
    verbose : int, default 0
        1 prints a line for each step.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K in the units of the data: zero off the diagonal means no edge, negative means positive association.
    location_ : array of shape (m,)
        eta.
    association_ : array of shape (m, m)
        -K_ij / sqrt(K_ii K_jj), the partial correlation when Gaussian; 1 on the diagonal.
    alpha_ : float
        The penalty, on the scaled columns.
    path_ : Path
        All solutions, on the scaled columns.
    criterion_ : array with one value an alpha, or None
        What the selection rule looked at.
    criteria_ : dict of such arrays
        By rule.
    choices_ : dict of int
        The position on the path that each rule would choose.
    graph_ : Graph
        Edges, networkx, GraphML, summary.
    row_weights_ : array of shape (n, 2)
        What each row counts in Gamma-hat and in g-hat.
    n_blocks_, n_rows_used_ : int
    share_dropped_ : float or None
        Share of the rows that reweighting left out altogether; None without reweighting.
    n_blocks_criterion_ : dict of float by K, or None
        What ``n_blocks="auto"`` looked at; the least is best.
    n_iter_ : int
        Sweeps at the chosen alpha.
    converged_ : bool
    rounding_ : float
        With ``storage="float32"``: the largest error of a derivative of the loss at the chosen graph, over alpha_max;
        else 0. Edges that enter the path within such a distance of ``alpha_`` are not to be told apart.
    n_features_in_, feature_names_in_ : as in scikit-learn

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
        family: str | Family = "sqrt",
        *,
        contamination: float | None = None,
        n_blocks: int | Literal["auto"] | None = None,
        shuffle: bool = False,
        n_partitions: int = 1,
        reweight: bool | None = None,
        alpha: float | None = None,
        select: str | Sequence[str] = "ebic",
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
        scale: Literal["median"] | None = "median",
        missing: Literal["raise", "drop"] = "raise",
        max_memory: float | str = "1 GB",
        storage: Storage = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.contamination = contamination
        self.n_blocks = n_blocks
        self.shuffle = shuffle
        self.n_partitions = n_partitions
        self.reweight = reweight
        self.alpha = alpha
        self.select = select
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
        self.scale = scale
        self.missing = missing
        self.max_memory = max_memory
        self.storage = storage
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: AnyData, y: None = None) -> Self:
        """Learn the graph.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m); path of a Parquet file or folder; memory map; Dask collection
            Rows that do not fit in ``max_memory`` are read a piece at a time, in every pass over the data.
        y : ignored
        """
        if not get_family(self.family).is_pairwise:
            raise ValueError(
                f"{self.family!r} has no interactions between columns, so there is no graph to learn; use "
                "RobustScoreMatching, or rs.solve_path for its l1 form."
            )
        self._significant: tuple[int, float] | None = None
        self._stability: EdgeStability | None = None
        try:
            remarks = self._learn(X)
        except HardlyVaryError as error:
            raise HardlyVaryError(error.columns, self._column_names) from None
        for remark in remarks:
            warnings.warn(remark.words, remark.category, stacklevel=2)
        return self

    def _learn(self, X: AnyData) -> list[Remark]:
        """Everything that ``fit`` does; what there is to remark on."""
        loss, elements, remarks = self._robust_loss(X)
        assert isinstance(loss, QuadraticLoss)
        assert isinstance(elements, PairwiseElements)
        self._say(f"{self.n_rows_used_} rows in {self.n_blocks_} blocks{', to start with' if self._reweights else ''}")
        if self._reweights:
            self._say(f"reweighting: {self._reweighting_in_words()}")
        last = self._fit_loss(loss, elements)
        self.association_, about_association = association(self.interaction_)
        self.graph_ = Graph(tuple(self._column_names), self.interaction_, self.association_, self._facts, self._frame)
        if not self.path_.converged.all():
            chosen = "The chosen penalty converged." if self.converged_ else "The chosen penalty did NOT converge."
            words = f"{chosen} On its path, {convergence_message(self.path_)}"
            last.append(Remark(words, ConvergenceWarning))
        return [*remarks, *last, *about_association]

    def _check_arguments(self, n_columns: int) -> None:
        """Raise on arguments that make no sense before any work is done."""
        if self.alpha is not None and self.n_edges is not None:
            raise ValueError(f"alpha={self.alpha!r} and n_edges={self.n_edges!r} contradict each other; give one.")
        if self.alpha is not None:
            check_number("alpha", self.alpha, at_least=0.0)
        names = self._rules()
        if not names or not set(names) <= set(SELECTORS):
            raise ValueError(f"select={self.select!r} is not known; use {', '.join(map(repr, SELECTORS))}, or several.")
        check_storage(self.storage)
        W, _ = check_options(n_columns, **self._options())
        if self.n_edges is None:
            return
        pairs = W[np.triu_indices(n_columns, k=1)]
        least, most = np.count_nonzero(pairs == 0), np.count_nonzero(np.isfinite(pairs))
        whole = isinstance(self.n_edges, int | np.integer) and not isinstance(self.n_edges, bool)
        if not whole or not least <= self.n_edges <= most:
            raise ValueError(
                f"n_edges={self.n_edges!r} cannot be reached: with {n_columns} columns and these penalty_weights it "
                f"must be a whole number between {least} and {most}."
            )

    @property
    def _loss_storage(self) -> Storage:  # type: ignore[override]
        return self.storage

    def _options(self) -> dict[str, Any]:
        """Arguments that shape the penalised problem."""
        return {
            "rule": self.rule,
            "diagonal_multiplier": self.diagonal_multiplier,
            "penalize_diagonal": self.penalize_diagonal,
            "fit_location": self.fit_location,
            "location_ratio": self.location_ratio,
            "penalty_weights": self.penalty_weights,
            "location_weights": self.location_weights,
        }

    def _first_fit(self, loss: Loss, elements: Elements) -> Parameters:
        """The graph that eBIC chooses on a short path, refitted without a penalty; of no more edges than rows allow."""
        assert isinstance(loss, QuadraticLoss)
        assert isinstance(elements, PairwiseElements)
        most = max(elements.n_columns, elements.n_rows // _ROWS_AN_EDGE)
        path = solve_quietly(
            loss,
            _FIRST_ALPHAS,
            alpha_min_ratio=_FIRST_RATIO,
            max_edges=most + 1,
            tol=_FIRST_TOL,
            max_iter=200,
            **self._options(),
        )
        most = max(most, int(path.n_edges[0]))
        path = path.pick(np.flatnonzero(path.n_edges <= most))
        criterion = ebic(loss, path, n_rows=elements.n_rows, elements=elements, patience=3)
        if not np.isfinite(criterion).any():
            return joined_interaction(path.interactions[0], self.rule), path.locations[0]
        return self._refitted(loss, *support(path, least(criterion, path)))

    def _fit_like(self, loss: Loss, parameters: Parameters) -> Parameters:
        assert isinstance(loss, QuadraticLoss)
        interaction, location = parameters
        return self._refitted(loss, joined_support(interaction, "symmetric"), location != 0)

    def _refitted(self, loss: QuadraticLoss, edges: BoolArray, locations: BoolArray) -> Parameters:
        """K and eta without a penalty on a support."""
        solution = refit(loss, edges, locations, symmetric=self.rule == "symmetric")
        return loss.completed(joined_interaction(solution.interaction, self.rule)), solution.location

    def _fit_loss(self, loss: QuadraticLoss, elements: PairwiseElements) -> list[Remark]:
        """Path, choice of the penalty, and the parameters that follow from it; what there is to remark on."""
        remarks: list[Remark] = []
        grid = self.alphas if self.alpha is None else [self.alpha]
        path = self._solve(loss, grid, max_edges=self._most_edges(loss.n_columns))
        self.criterion_: Array | None = None
        self.criteria_: dict[str, Array] = {}
        self.choices_: dict[str, int] = {}
        if self.alpha is not None:
            chosen, words = 0, "as given"
        elif self.n_edges is not None:
            path, chosen, remarks = find_n_edges(path, self.n_edges, lambda alphas: self._solve(loss, alphas))
            words = f"for {self.n_edges} edges"
        else:
            chosen, remarks = self._choose(loss, path, elements)
            words = f"chosen by {self._rules()[0]} as number {chosen + 1} of {path.alphas.size}"
            if not path.n_edges[chosen]:
                words += ", the empty graph"
        self._say(f"alpha = {path.alphas[chosen]:.4g} {words}: {path.n_edges[chosen]} edges")
        self.path_, self.alpha_ = path, float(path.alphas[chosen])
        self.n_iter_, self.converged_ = int(path.n_iter[chosen]), bool(path.converged[chosen])
        self._zero_sums = loss.zero_sums
        self.rounding_ = self._rounding(loss, elements, path, chosen)
        self._store(self._interaction_at(chosen), path.locations[chosen])
        try:
            self._judged_by = self._fit_like(loss, self._scaled_parameters)
        except SingularLossError:
            self._judged_by = self._scaled_parameters
        effective = 1.0 / np.einsum("ij,ij->j", self.row_weights_, self.row_weights_)
        self._facts = FitFacts(
            n_rows=elements.n_rows,
            reweighting=self._reweighting_in_words(),
            family=repr(self._preparation.family),
            n_blocks=self.n_blocks_,
            effective_rows=(float(effective[0]), float(effective[1])),
            alpha=self.alpha_,
            selection=words,
            converged=self.converged_,
            kkt=float(path.kkt[chosen]),
        )
        return remarks

    def _rounding(self, loss: QuadraticLoss, elements: PairwiseElements, path: Path, chosen: int) -> float:
        """What single precision costs: the largest error of Gamma z at a position of the path, over alpha_max."""
        if self.storage != "float32" or not path.alpha_max:
            return 0.0
        parameters = np.asarray(path.interactions[chosen]), path.locations[chosen]
        exact = elements.gamma_times(self.row_weights_[self._used, 0], *parameters)
        return float(np.abs(loss.gamma_times(*parameters) - exact).max() / path.alpha_max)

    def _interaction_at(self, position: int) -> Array:
        """K of the scaled columns at a position of the path."""
        joined = joined_interaction(self.path_.interactions[position], self.rule)
        return with_zero_sums(joined) if self._zero_sums else joined

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
        path, count = self.path_, self.path_.alphas.size
        if not isinstance(position, int | np.integer) or not -count <= position < count:
            raise ValueError(f"position={position!r} must be a whole number below {count}, the penalties of the path.")
        position = int(position) % count
        interaction = self._preparation.unscale((self._interaction_at(position), path.locations[position]))[0]
        facts = replace(
            self._facts,
            alpha=float(path.alphas[position]),
            selection=f"number {position + 1} of {count}",
            converged=bool(path.converged[position]),
            kkt=float(path.kkt[position]),
        )
        return Graph(tuple(self._column_names), interaction, association(interaction)[0], facts, self._frame)

    def _reweighting_in_words(self) -> str | None:
        if self._taper is not None:
            return self._taper.in_words()
        return "no, the family does not describe enough of the rows" if self._reweights else None

    def _rules(self) -> list[str]:
        """Names of the rules for the penalty; the first one decides."""
        if not isinstance(self.select, str | Sequence):
            raise TypeError(f"select={self.select!r} must be the name of a rule, or several names.")
        return [self.select] if isinstance(self.select, str) else list(self.select)

    def _choose(self, loss: QuadraticLoss, path: Path, elements: PairwiseElements) -> tuple[int, list[Remark]]:
        """Position of the penalty by the rule that decides, with all criteria kept, and what there is to remark on."""
        names = self._rules()
        taper = self._taper

        def fit_some(some: IntArray, seed: int) -> tuple[QuadraticLoss, Path]:
            if taper is not None:
                of_some = taper.loss(elements, some)
            else:
                part = elements.subset(some)
                weights, _ = weigh_rows(
                    part,
                    max(1, round(self.n_blocks_ * some.size / elements.n_rows)),
                    n_partitions=self.n_partitions,
                    shuffle=self.shuffle,
                    random_state=seed,
                )
                of_some = part.average(*weights)
            assert isinstance(of_some, QuadraticLoss)
            return of_some, self._solve(of_some, path.alphas)

        candidates = Candidates(
            loss=loss,
            path=path,
            elements=elements,
            taper=taper,
            fit_some=fit_some,
            shuffle=self.shuffle or self.n_partitions > 1,
            rng=as_generator(self.random_state),
            n_jobs=self.n_jobs,
        )
        choices = {name: SELECTORS[name](candidates) for name in names}
        self.criteria_ = {name: choice.criterion for name, choice in choices.items()}
        self.choices_ = {name: choice.position for name, choice in choices.items()}
        self.criterion_, position = choices[names[0]]
        end = path.alphas.size - 1
        complete = loss.n_columns * (loss.n_columns - 1) // 2
        at_end = 0 < end == position and path.n_edges[end] < complete
        if not at_end or self.criterion_[end] == self.criterion_[end - 1]:
            return position, []
        ended = path.n_edges[end] >= self._most_edges(loss.n_columns)
        words = (
            f"select={names[0]!r} chose the smallest penalty of the path (alpha = {path.alphas[end]:.3g}); the best "
            f"may lie beyond it: {'raise max_edges' if ended else 'lower alpha_min_ratio'}."
        )
        return position, [Remark(words, UserWarning)]

    def _most_edges(self, n_columns: int) -> int:
        """Where the path may end."""
        if self.max_edges is not None:
            check_whole("max_edges", self.max_edges, at_least=0)
            return self.max_edges
        if n_columns < MANY_COLUMNS:
            return n_columns**2
        return max(_EDGES_A_COLUMN * n_columns, 0 if self.n_edges is None else self.n_edges)

    def _solve(self, loss: QuadraticLoss, alphas: int | Sequence[float] | Array, max_edges: int | None = None) -> Path:
        return solve_quietly(
            loss,
            alphas,
            alpha_min_ratio=self.alpha_min_ratio,
            max_edges=max_edges,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            **self._options(),
        )

    def _say(self, line: str) -> None:
        if self.verbose:
            print(f"RobustGraph: {line}", flush=True)

    def edges(self) -> AnyData:
        """Table of edges: source, target, interaction, association; strongest association first.

        In the data-frame library of the input; for arrays pandas if it is installed, else a structured array.
        """
        check_is_fitted(self)
        return self.graph_.edges()

    def edge_intervals(
        self,
        *,
        level: float = 0.95,
        fdr: float = 0.1,
        method: Method = "sandwich",
        estimate: Estimate = "auto",
        block_size: int = 1,
    ) -> AnyData:
        """Estimates without shrinkage, with intervals, and tests of "no edge", for all pairs.

        Parameters
        ----------
        level : float, default 0.95
            Of the intervals, one by one.
        fdr : float, default 0.1
            False discovery rate at which pairs are called significant (Benjamini-Hochberg over the table).
        method : {"sandwich", "subsampling"}, default "sandwich"
            Standard errors from the influence of the rows, or from estimates on 100 random halves of them.
        estimate : {"auto", "full", "split"}, default "auto"
            "full" estimates all pairs at once with the row weights of the fit. No edge is selected, so the tests are
            valid whatever graph was chosen: it is the debiased lasso with the Hessian inverted exactly. "split", for
            few rows: one half chooses the graph, the other half estimates its edges, and other pairs are not in the
            table. "auto" takes "full" where there are three rows for every parameter of a column.
        block_size : int, default 1
            Rows that stay together, for series in time.

        Returns
        -------
        table with columns
            source, target, interaction (K_ij in the units of the data), interaction_error, interaction_low,
            interaction_high, association, association_low, association_high, p_value, q_value, significant, in_graph
            (whether the learnt graph has the edge); least p-value first.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
        >>> table = rs.RobustGraph("gaussian").fit(X).edge_intervals()
        >>> int(table["significant"].sum()), bool((table["association_low"] < table["association"]).all())
        (3, True)
        """
        check_is_fitted(self)
        return edge_intervals(
            self,
            level=level,
            fdr=fdr,
            method=method,
            estimate=estimate,
            block_size=block_size,
            random_state=0 if self.random_state is None else self.random_state,
            n_jobs=self.n_jobs,
        )

    def edge_stability(self, X: AnyData, **options: Any) -> EdgeStability:
        """How often every edge comes back in halves of the rows; see :func:`robscore.edge_stability`."""
        check_is_fitted(self)
        self._open(X, reset=False)
        self._stability = edge_stability(self, X, **options)
        return self._stability

    def influence_of_rows(self) -> Influence:
        """The estimate of K on the scaled columns, without a penalty, and what every row of the fit does to it."""
        check_is_fitted(self)
        weighting, allowed = self._weighting(), self._allowed_pairs()
        needed = 8.0 * self.n_rows_used_ * np.count_nonzero(allowed)
        if weighting.elements.streams and needed > self._memory:
            raise ValueError(
                f"What {self.n_rows_used_} rows do to {np.count_nonzero(allowed) // 2} pairs takes {in_words(needed)}, "
                f"more than max_memory={self.max_memory!r}. Raise it, or fit some of the rows instead."
            )
        return solve(weighting, allowed, fit_location=self.fit_location).influence(weighting)

    def _weighting(self, rows: IntArray | None = None) -> Weighting:
        """What the rows of the fit count, all of them or some (ascending positions among those used)."""
        chosen = self._rows if rows is None else self._rows.selected(rows)
        elements = elements_of(self._preparation.scaled_family, chosen, self._memory)
        assert isinstance(elements, PairwiseElements)
        elements.storage = self.storage
        gamma, g = self.row_weights_[self._used if rows is None else self._used[rows]].T
        taper = self._taper
        if rows is not None and taper is not None:
            taper = Taper(taper.weights[rows], taper.slopes[rows], taper.parameters)
        return Weighting.of(elements, RowWeights(gamma / gamma.sum(), g / g.sum()), taper)

    def _allowed_pairs(self) -> BoolArray:
        """Pairs whose edge is not forbidden, shape (m, m)."""
        m = self.n_features_in_
        allowed = np.ones((m, m), dtype=bool) if self.penalty_weights is None else np.isfinite(self.penalty_weights)
        np.fill_diagonal(allowed, val=False)
        return np.asarray(allowed)

    def _graph_of(self, rows: IntArray) -> BoolArray:
        """The graph that some rows lead to, by eBIC."""
        weighting = self._weighting(rows)
        loss = weighting.loss()
        path = self._solve(loss, self.alphas)
        n_rows = 1.0 / float(np.sum(weighting.weights.gamma_weights**2))
        criterion = ebic(loss, path, n_rows=n_rows, elements=weighting.elements)
        return support(path, least(criterion, path))[0]

    def _unit_factors(self) -> Array:
        """What K_ij of the scaled columns is multiplied by for the given ones, shape (m, m)."""
        m = self.n_features_in_
        return self._preparation.unscale((np.ones((m, m)), np.zeros(m)))[0]

    def summary(self) -> str:
        """What was learnt from what, in a few lines; with how sure it is, once that has been asked for."""
        check_is_fitted(self)
        lines = [self.graph_.summary()]
        if self._significant is not None:
            count, fdr = self._significant
            lines.append(f"{'tests':<11}{count} edges at a false discovery rate of {fdr:.0%}")
        if self._stability is not None:
            lines.append(f"{'stability':<11}" + self._stability.summary().replace("\n", f"\n{'':<11}"))
        return "\n".join(lines)
