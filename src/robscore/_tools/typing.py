"""Array types that every module shares."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
AnyArray: TypeAlias = NDArray[Any]
BoolArray: TypeAlias = NDArray[np.bool_]
RandomState: TypeAlias = "int | np.random.Generator | np.random.SeedSequence | np.random.RandomState | None"
AnyData: TypeAlias = Any
