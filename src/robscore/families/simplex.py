"""Aitchison's log-log family on the simplex: compositions, with free or zero sums of K's columns.

    p(x) ~ exp( -(log x)' K (log x) / 2 + eta' log x ),      x_m = 1 - x_1 - ... - x_(m-1)

With u = log x and v_j = (-u / x_j, 1 / x_j), the derivative of log p along e_j - e_m is v_j' z_j - v_m' z_m for j < m:
every node is coupled with the last, or with another part that is taken as the reference in its place. With zero sums
K_jj = -sum_{k != j} K_kj is substituted, so that K_kj meets u_k - u_j (log ratios alone matter) and z_j has no entry j.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from robscore import boundary as boundaries
from robscore._tools.messages import ArgumentError, Setting, UsageError
from robscore._tools.numbers import check_whole
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.boundary import Boundary
from robscore.domains import SUM_TOLERANCE, Domain
from robscore.domains import Simplex as SimplexDomain
from robscore.domains.domain_kinds import misses_one
from robscore.elements import SimplexElements
from robscore.families.family import Family, check_boundary, linear_part, register
from robscore.rows.inspection import ReasonForRows
from robscore.rows.quantiles import column_quantiles
from robscore.rows.row_source import Rows, as_rows


@register("simplex")
class Simplex(Family):
    """Compositions: rows of positive entries that sum to one.

    Parameters
    ----------
    zero_sums : bool, default False
        Whether the columns of K sum to zero, so that only ratios of the entries interact (the additive logistic
        normal distribution is of this kind).
    boundary : Boundary, optional
        Weight h of min(x_j, x_r), with x_r the reference; its square by default.
    reference : int, optional
        The reference part. By default the one with the largest median, so that the order of the columns does not
        matter; the last one in :func:`robscore.score_elements`, and with ``scale=None``.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).dirichlet([2.0, 3.0, 4.0], size=200)
    >>> model = rs.RobustScoreMatching(rs.families.Simplex(zero_sums=True)).fit(X)
    >>> bool(np.allclose(model.interaction_.sum(axis=0), 0))
    True
    """

    def __init__(
        self, *, zero_sums: bool = False, boundary: Boundary | None = None, reference: int | None = None
    ) -> None:
        if not isinstance(zero_sums, bool | np.bool_):
            raise TypeError(f"zero_sums={zero_sums!r} must be True or False.")
        self.zero_sums = bool(zero_sums)
        if reference is not None:
            check_whole("reference", reference, at_least=0)
        self.reference = None if reference is None else int(reference)
        self.domain: Domain = SimplexDomain()
        self.boundary = boundaries.Power(2.0) if boundary is None else check_boundary(boundary)

    def __repr__(self) -> str:
        arguments = ["zero_sums=True"] if self.zero_sums else []
        if self.boundary != boundaries.Power(2.0):
            arguments.append(f"boundary={self.boundary!r}")
        if self.reference is not None:
            arguments.append(f"reference={self.reference}")
        return f"Simplex({', '.join(arguments)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simplex) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.zero_sums, self.boundary, self.reference))

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Rows that do not sum to one; where all do, exact zeros."""
        wrong = misses_one(X) > SUM_TOLERANCE
        if wrong.any():
            return np.broadcast_to(wrong, X.shape), ReasonForRows("do not sum to one: divide each row by its sum")
        zero = X <= 0
        return zero, f"are zero, which {self!r} excludes (add a small count before dividing each row by its sum)"

    def resolved(self, X: Array | Rows) -> Self:
        """The same family with a boundary weight that no longer depends on data."""
        rows = as_rows(X)
        distances = rows.mapped(self._distances, n_columns=rows.n_columns - 1)
        return self._changed(boundary=self.boundary.resolved(distances))

    def oriented(self, X: Array | Rows) -> Self:
        """The same family with the part of the largest median as its reference, unless another is given."""
        if self.reference is not None:
            return self
        return self._changed(reference=int(np.argmax(column_quantiles(as_rows(X), 0.5))))

    @property
    def columns_alike(self) -> bool:
        """Parts can change places once the reference is known, since :meth:`reordered` moves it with them."""
        return self.reference is not None

    def reordered(self, columns: IntArray) -> Self:
        """The same family with the reference where its part is now."""
        return self._changed(reference=int(np.flatnonzero(columns == self.reference)[0]))

    def _order(self, m: int) -> IntArray:
        """The order of the parts with the reference last."""
        reference = m - 1 if self.reference is None else self.reference
        if reference >= m:
            raise ArgumentError("reference", reference, f"must be below {m}, the number of parts.")
        return np.append(np.delete(np.arange(m), reference), reference)

    def _distances(self, X: Array) -> Array:
        """The distances of all entries of X but the reference to the nearest boundary, shape (n, m-1)."""
        return self.domain.nearest(X[:, self._order(X.shape[1])]).distance[:, :-1]

    def statistics_a_column(self, n_columns: int, *, fit_location: bool) -> int:
        """The statistics of the column itself and those of the reference, which moves with it."""
        return 2 * n_columns - (3 if self.zero_sums else 1) + 2 * bool(fit_location)

    def elements(self, X: Array) -> SimplexElements:
        """Gradients v, boundary weights h of all columns but the reference r, and g: derivatives along e_j - e_r."""
        order = self._order(X.shape[1])
        v, h, g = self._with_reference_last(X[:, order])
        back = np.argsort(order)
        entries = np.append(back, order.size)
        if (back != np.arange(order.size)).any():
            v, g = (part[:, back][:, :, entries] for part in (v, g))
        return SimplexElements(X, v, h, g, zero_sums=self.zero_sums, reference=int(order[-1]))

    def _with_reference_last(self, X: Array) -> tuple[Array, Array, Array]:
        """v, h and g, shapes (n, m, m+1), (n, m-1) and (n, m, m+1), of rows whose last part is the reference."""
        near = self.domain.nearest(X)
        d = near.distance[:, :-1]
        h, slope = self.boundary.value(d), near.slope[:, :-1] * self.boundary.derivative(d)
        n, m = X.shape
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            u = np.log(X)
            inverse = 1.0 / X
            design = np.repeat(u[:, None, :], m, axis=1)  # the statistics that column j of K multiplies
            if self.zero_sums:
                design -= u[:, :, None]
            v = np.empty((n, m, m + 1))
            v[:, :, :m] = -inverse[:, :, None] * design
            v[:, :, m] = inverse
            g = np.empty_like(v)
            own, last = inverse[:, :-1], inverse[:, -1]
            # g_j is -(h' v_j + h D_j v_j) for j < m: first as if the design did not change, then what its change adds.
            rate = slope * own - h * own**2
            g[:, :-1, :m], g[:, :-1, m] = rate[:, :, None] * design[:, :-1], -rate
            rate_last = -(slope.sum(axis=1) * last + h.sum(axis=1) * last**2)
            g[:, -1, :m], g[:, -1, m] = rate_last[:, None] * design[:, -1], -rate_last
            for j in range(m - 1):
                # Along e_j - e_m, u_j rises by 1 / x_j and u_m falls by 1 / x_m.
                self._add_change(g[:, j], j, j, h[:, j] * own[:, j] * own[:, j])
                self._add_change(g[:, j], j, m - 1, -h[:, j] * own[:, j] * last)
                self._add_change(g[:, -1], m - 1, j, -h[:, j] * last * own[:, j])
                self._add_change(g[:, -1], m - 1, m - 1, h[:, j] * last * last)
            return v, h, g

    def _add_change(self, g: Array, node: int, moved: int, rate: Array) -> None:
        """Add to a node's g, shape (n, m+1), ``rate`` times the change of its design as u_moved changes."""
        m = g.shape[1] - 1
        g[:, moved] += rate
        if self.zero_sums and moved == node:  # every entry of the design has u_node taken away
            g[:, :m] -= rate[:, None]

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """Logarithm of the density at rows X, shape (n,), up to a constant."""
        interaction, location = parameters
        u = np.log(X)
        return -0.5 * np.einsum("ij,ij->i", u @ interaction, u) + linear_part(u, location)

    def symmetric(self, X: Array) -> Array:
        """The logarithms less their mean over the row."""
        logs = np.log(X)
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Raise unless K is positive semidefinite, with the requested sums, and the density integrable at zero."""
        largest = max(float(np.abs(interaction).max()), 1e-300)
        if self.zero_sums and not np.allclose(interaction.sum(axis=0), 0, atol=1e-8 * largest):
            raise UsageError("With ", Setting("zero_sums", value=True), " the columns of interaction must sum to zero.")
        if np.linalg.eigvalsh(interaction)[0] < -1e-10 * largest:
            raise ValueError("interaction is not positive semidefinite, so the model may have no density.")
        low = np.flatnonzero((location <= -1) & (interaction.diagonal() <= 1e-10 * largest))
        if low.size:
            raise ValueError(
                f"location[{low[0]}]={location[low[0]]:g} must exceed -1, or the model has no density at 0."
            )
