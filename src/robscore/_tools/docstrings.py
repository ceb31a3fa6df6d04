"""Parameters that several functions or classes have, written once and shown in full by help()."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def with_common(paragraphs: Mapping[str, str]) -> Callable[[T], T]:
    r"""Make a decorator that puts common paragraphs in place of the lines that stand for them in a docstring.

    Parameters
    ----------
    paragraphs : dict
        From a line such as ``{level}`` to what is written there.

    Examples
    --------
    >>> from robscore._tools.docstrings import with_common
    >>> @with_common({"{level}": "level : float, default 0.95\n    Coverage of each interval."})
    ... def intervals(level=0.95):
    ...     '''Make intervals.
    ...
    ...     Parameters
    ...     ----------
    ...     {level}
    ...     '''
    >>> print(intervals.__doc__.splitlines()[-2])
    level : float, default 0.95
    """

    def documented(made: T) -> T:
        text = inspect.cleandoc(made.__doc__ or "")
        for line, paragraph in paragraphs.items():
            text = text.replace(line, paragraph)
        made.__doc__ = text
        return made

    return documented
