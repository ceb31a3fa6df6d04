"""Which covariates moderate interactions, out of what a user gives as ``moderators=``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from robscore._tools.messages import UsageError, quoted
from robscore._tools.typing import AnyData
from robscore.rows.covariates import Covariate, Design, check_named, columns_by_name, names_of_columns


@dataclass(frozen=True)
class Moderator:
    """A covariate that moderates.

    Attributes
    ----------
    covariate : Covariate
    columns : tuple of int
        Its columns among those of all covariates.
    """

    covariate: Covariate
    columns: tuple[int, ...]

    @property
    def name(self) -> str:
        """Of the covariate."""
        return self.covariate.name

    @property
    def levels(self) -> tuple[Any, ...]:
        """Of a category, all of them; of numbers and dates none."""
        return self.covariate.levels

    @property
    def terms(self) -> list[str]:
        """What its parts are called: one for every level, or one."""
        return [f"{self.name}={level}" for level in self.levels] or [self.name]

    @classmethod
    def of(cls, design: Design, names: Sequence[str]) -> tuple[Moderator, ...]:
        """Those named, of all covariates."""
        found, at = {}, 0
        for own in design.covariates:
            found[own.name] = cls(own, tuple(range(at, at + len(own.terms))))
            at += len(own.terms)
        return tuple(found[name] for name in dict.fromkeys(names))


def with_moderators(X: AnyData, covariates: AnyData | None, moderators: AnyData) -> tuple[AnyData, list[str]]:
    """All covariates, moderators among them, and the names of these.

    Moderators are names, of columns of X or of the covariates, or data of their own, as covariates are.
    """
    names = _names(X, covariates, moderators)
    if names is None:
        more = columns_by_name(moderators, "moderator")
        if names_of_columns(covariates) is not None:
            raise UsageError(
                f"covariates={covariates!r} are names of columns of X and moderators are data: give both as names, or "
                "both as data."
            )
        return {**({} if covariates is None else columns_by_name(covariates)), **more}, list(more)
    by_name = [] if covariates is None else names_of_columns(covariates)
    if by_name is not None:
        if isinstance(X, np.ndarray | list | tuple) or _columns_of(X):
            check_named(X, names, "moderators")
        return list(dict.fromkeys([*by_name, *names])), names
    columns = columns_by_name(covariates)
    absent = [name for name in names if name not in columns]
    if absent:
        raise UsageError(
            f"moderators={names!r} are names, and no covariate is called {quoted(absent)}; put them into covariates, "
            "or give the moderators themselves."
        )
    return columns, names


def _names(X: AnyData, covariates: AnyData | None, moderators: AnyData) -> list[str] | None:
    """Names, where moderators are given by name; None where they are data, such as a list of groups."""
    names = names_of_columns(moderators)
    if names is None or isinstance(moderators, str):
        return names
    known = _columns_of(X)
    if covariates is not None:
        known += names_of_columns(covariates) or list(columns_by_name(covariates))
    n_rows = len(X) if isinstance(X, np.ndarray | list | tuple) or known else None
    return names if len(names) != n_rows or set(names) <= set(known) else None


def _columns_of(X: AnyData) -> list[str]:
    """Of a data frame in memory."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else []
