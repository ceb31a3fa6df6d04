"""The log-log family: a = b = 0, interactions of logarithms; h = x^2 by default."""

from robscore.families.base import register
from robscore.families.power import PowerFamily


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
