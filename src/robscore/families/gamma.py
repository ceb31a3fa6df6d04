"""The gamma family: a = 1/2, b = 0, so that each column alone is a gamma; h = log(1 + x)^2 by default."""

from robscore.families.base import register
from robscore.families.power import PowerFamily


@register("gamma")
class Gamma(PowerFamily):
    """p(x) ~ exp( -(sqrt x)' K (sqrt x) + eta' log x ), x > 0.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.Gamma().boundary
    LogPower(p=2.0, scale=1.0)
    """

    a, b = 0.5, 0.0
