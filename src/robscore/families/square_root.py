"""The square-root family of the paper's Example 2.1: a = b = 1/2, h = x^(3/2) by default."""

from robscore.families.base import register
from robscore.families.power import PowerFamily


@register("sqrt")
class SquareRoot(PowerFamily):
    """p(x) ~ exp( -(sqrt x)' K (sqrt x) + 2 eta' sqrt x ), x >= 0. The paper's Theta_ij is -K_ij off the diagonal.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.SquareRoot().boundary
    Power(p=1.5)
    """

    a, b = 0.5, 0.5
