"""Polynomials whose coefficients are in pieces: NumPy's steps over ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._array import core
from dappled._convolving import convolve
from dappled._creation import asarray
from dappled._crossing import Proxy
from dappled._dividing import divided, of_roots
from dappled._line import called_by_user
from dappled._native import native
from dappled._piecewise import in_pieces
from dappled._rebind import apart


def _by_steps(name: str) -> Callable[..., Any]:
    steps = apart(getattr(numpy, name))

    @native(getattr(numpy, name))
    def ours(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not _are_coefficients(given):
            return NotImplemented
        return called_by_user(steps, *args, **kwargs)

    return ours


def _are_coefficients(given: tuple[Any, ...]) -> bool:
    """Whether some are in pieces, and none a polynomial of NumPy's."""
    spread = core.ranks() > 1 and any(map(in_pieces, given))
    return spread and not any(isinstance(one, Proxy | numpy.poly1d) for one in given)


polyadd, polyder, polyint, polysub = map(_by_steps, ("polyadd", "polyder", "polyint", "polysub"))


@native(numpy.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    if not _are_coefficients((a1, a2)):
        return NotImplemented
    rows = [numpy.trim_zeros(asarray(one), "f") for one in (a1, a2) if numpy.ndim(one) == 1]
    if len(rows) < 2 or not all(row.size for row in rows):
        return NotImplemented
    return convolve(*rows)


@native(numpy.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    return divided(u, v) if _are_coefficients((u, v)) else NotImplemented


@native(numpy.poly)
def poly(seq_of_zeros: Any) -> Any:
    spread = _are_coefficients((seq_of_zeros,))
    return of_roots(seq_of_zeros) if spread else NotImplemented
