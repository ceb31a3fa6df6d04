"""A fitted graph as scikit-learn's precision matrix, as a picture in a notebook, and as a report."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from robscore._tools.typing import Array
from robscore.families.power import Gaussian
from robscore.fitting.fit_result import GraphFit
from robscore.graph import Graph


class ShowsGraph:
    """Displays of a fitted graph."""

    fitted_: GraphFit
    interaction_: Array
    graph_: Graph

    def _with_cautions(self, graph: Graph) -> Graph:
        raise NotImplementedError

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
                "covariance_ is not there: the estimated precision is not positive definite."
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
