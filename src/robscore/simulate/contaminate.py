"""Bad rows: replace a share of the rows by draws from another distribution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._random import as_generator
from robscore._typing import Array, IntArray, RandomState
from robscore._validation import read_matrix
from robscore.medians.blocks import check_contamination


class Contaminated(NamedTuple):
    """Data with bad rows, and which rows are bad."""

    X: Array
    bad_rows: IntArray


def contaminate_pareto(X: Array, share: float, *, shape: float = 1.0, random_state: RandomState = None) -> Contaminated:
    """Replace a fixed share of the rows by independent Pareto draws (section 5.1 of the paper).

    Parameters
    ----------
    X : array of shape (n, m), with positive column means
    share : float in [0, 0.5)
        round(share * n) rows are replaced.
    shape : float, default 1
        Pareto shape; the scale, which is the least value, is the column mean.
    random_state : int, Generator or None

    Returns
    -------
    (X, bad_rows)
        A new array, and the sorted positions of the replaced rows.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X, bad_rows = rs.simulate.contaminate_pareto(np.ones((40, 2)), 0.05, random_state=0)
    >>> bad_rows.size, bool((X >= 1).all())
    (2, True)
    """
    clean, _ = read_matrix(X, "X")
    check_contamination(share)
    scale = clean.mean(axis=0)
    if not (shape > 0 and (scale > 0).all()):
        raise ValueError(f"shape={shape} and all column means must be positive for Pareto draws.")
    rng = as_generator(random_state)
    n, m = clean.shape
    bad_rows = np.sort(rng.choice(n, size=round(share * n), replace=False))
    dirty = clean.copy()
    dirty[bad_rows] = scale * (1.0 + rng.pareto(shape, size=(bad_rows.size, m)))
    return Contaminated(dirty, bad_rows)
