"""The truncated Gaussian family: a = b = 1 on the orthant, a box or intervals; h = d by default."""

from robscore.families.base import register
from robscore.families.power import PowerFamily


@register("truncated-gaussian")
class TruncatedGaussian(PowerFamily):
    """p(x) ~ exp( -x' K x / 2 + eta' x ) on the domain.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.TruncatedGaussian().boundary
    Power(p=1.0)
    """

    a, b = 1.0, 1.0
