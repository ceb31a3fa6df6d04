"""Methods of estimators for fits whose interactions change with moderators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.typing import AnyData, Array
from robscore.certainty.effects import differences
from robscore.estimators.common_docs import documented
from robscore.families.given_covariates import Moderated
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.moderator_units import moderators_at
from robscore.graph import Graph, association
from robscore.losses.interaction_parts import matrices


class ModerationMixin:
    """Interactions and graphs at values of the moderators, and what changes with them."""

    fitted_: Fit

    def interaction_for(self, value: Any) -> Array:
        """K of one group, or at one value of a moderator, shape (m, m), in the units of the data.

        Parameters
        ----------
        value : a group or a number of the fit; with several moderators, a dictionary with a value for each
            Groups that the fit has not seen, and numbers outside its range, are refused.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(400, 3))
        >>> group = np.repeat(["a", "b"], 200)
        >>> X[group == "b", 1] += X[group == "b", 0]
        >>> model = rs.RobustScoreMatching("gaussian").fit(X, moderators={"group": group})
        >>> [round(float(model.interaction_for(name)[0, 1])) for name in ("a", "b")]
        [0, -1]
        """
        check_is_fitted(self)
        fit = self.fitted_
        w = moderators_at(fit.prepared.preparation.moderators, value)
        family = fit.prepared.preparation.family
        assert isinstance(family, Moderated)
        return family.interaction_at(fit.given[0], w)

    def graph_for(self, value: Any) -> Graph:
        """The graph of one group, or at one value of a moderator; for ``RobustGraph`` only.

        Parameters
        ----------
        value : as in ``interaction_for``

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(400, 3))
        >>> group = np.repeat(["a", "b"], 200)
        >>> X[group == "b", 1] += X[group == "b", 0]
        >>> model = rs.RobustGraph("gaussian").fit(X, moderators={"group": group})
        >>> model.graph_for("a").n_edges, model.graph_for("b").n_edges
        (0, 1)
        """
        K = self.interaction_for(value)
        fit = self.fitted_
        if not isinstance(fit, GraphFit):
            raise TypeError("graph_for is for RobustGraph; without a penalty every pair has an edge: interaction_for.")
        return replace(fit.graph, interaction=K, association=association(K)[0])

    @documented
    def differences(
        self,
        *,
        level: float = 0.95,
        fdr: float = 0.1,
        against: Any = None,
        block_size: int | Literal["auto"] = "auto",
    ) -> AnyData:
        """What changes with the moderators, pair by pair, with intervals and tests of "no change".

        From the estimate of everything without a penalty, with the row weights of the fit, so that nothing is shrunk or
        selected. Groups are compared two by two; for a number it is what one unit adds.

        Parameters
        ----------
        {intervals}
        against : a group, optional
            Compare the other groups with this one only.
        {block_size}

        Returns
        -------
        table with columns
            source, target, moderator, of and against (the groups; empty for numbers), difference (in K_ij, in the units
            of the data; for the copula, whose latent numbers have none, in K_ij / sqrt(K_ii K_jj), which is minus the
            association; negative is a stronger positive association), difference_error, difference_low,
            difference_high, p_value, q_value, significant; smallest p-value first.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(400, 3))
        >>> group = np.repeat(["a", "b"], 200)
        >>> X[group == "b", 1] += X[group == "b", 0]
        >>> table = rs.RobustGraph("gaussian").fit(X, moderators={"group": group}).differences()
        >>> table[["source", "target", "of", "against", "significant"]].values.tolist()[0]
        ['x0', 'x1', 'b', 'a', True]
        """
        check_is_fitted(self)
        return differences(self.fitted_, level=level, fdr=fdr, against=against, block_size=block_size)


def moderations(fit: Fit) -> dict[str, Array] | None:
    """What every moderator adds to the common K, in the units of the data; None where there is none.

    The diagonal of the common K is that of an average row: groups deviate from it.
    """
    preparation = fit.prepared.preparation
    if not preparation.moderators:
        return None
    family, parts, found = preparation.family, matrices(fit.given[0]), {}
    assert isinstance(family, Moderated)
    for own in preparation.moderators:
        means = family.moderation.means[[part - 1 for part in own.parts]]
        average = np.tensordot(means, parts[list(own.parts)], axes=1).diagonal()
        for term, part, spread in zip(own.moderator.terms, own.parts, own.spread, strict=True):
            found[term] = np.array(parts[part] / spread)
            if own.moderator.levels:
                np.fill_diagonal(found[term], found[term].diagonal() - average)
    return found
