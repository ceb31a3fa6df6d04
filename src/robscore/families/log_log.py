"""The log-log family: a = b = 0, interactions of logarithms; h = x^2 by default."""

import numpy as np

from robscore.families.base import register
from robscore.families.power import PowerFamily
from robscore.families.samplers.base import Sampler
from robscore.families.samplers.normal import NormalSampler


@register("log-log")
class LogLog(PowerFamily):
    """p(x) ~ exp( -(log x)' K (log x) / 2 + eta' log x ), x > 0.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.LogLog().boundary
    Power(p=2.0)
    """

    a, b = 0.0, 0.0

    def sampler(self) -> Sampler:
        """Directly on the orthant: log x is normal, and dx adds 1 to eta."""
        return NormalSampler(np.exp, shift=1.0) if self.domain.only_boundary_is_zero else super().sampler()
