"""Objects of NumPy's namespace that are neither functions nor plain classes."""

from __future__ import annotations

from typing import Any

import numpy

from dappled._array import core
from dappled._crossing import Crossing

ufunc: Any = core.ufunc


class _Indexed:
    """An object that makes arrays when it is indexed."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        crossing = Crossing(type(self._theirs).__name__, writeable=True)
        return crossing.back(self._theirs[crossing.over(key)])

    def __len__(self) -> int:
        return len(self._theirs)

    def __repr__(self) -> str:
        return repr(self._theirs)


c_ = _Indexed(numpy.c_)
r_ = _Indexed(numpy.r_)
mgrid = _Indexed(numpy.mgrid)
ogrid = _Indexed(numpy.ogrid)


class vectorize(numpy.vectorize):  # the name is NumPy's
    __doc__ = numpy.vectorize.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function over all elements of our arrays."""
        pyfunc: Any = self.pyfunc
        if pyfunc is numpy._NoValue:  # a decorator with options: this call brings the function
            return super().__call__(*args, **kwargs)
        crossing = Crossing("dappled.vectorize")
        over = {name: crossing.over(value) for name, value in kwargs.items()}
        return crossing.back(super().__call__(*map(crossing.over, args), **over))
