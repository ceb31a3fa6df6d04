"""The Gaussian family: a = b = 1 on the whole real line, no boundary weight."""

from robscore.domains import Real
from robscore.families.base import register
from robscore.families.power import PowerFamily
from robscore.families.samplers.base import Sampler
from robscore.families.samplers.normal import NormalSampler


@register("gaussian")
class Gaussian(PowerFamily):
    """p(x) ~ exp( -x' K x / 2 + eta' x ): K is the precision matrix and the mean is K^-1 eta.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.Gaussian().domain
    Real()
    """

    a, b = 1.0, 1.0
    default_domain = Real()

    def sampler(self) -> Sampler:
        """Directly, on the whole line."""
        return NormalSampler() if self.domain.is_real_line else super().sampler()
