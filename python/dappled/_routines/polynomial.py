"""Polynomials with distributed coefficients, by NumPy's Python code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from dappled._dispatch.callsite import call_from_user_frame
from dappled._dispatch.convert import Proxy
from dappled._dispatch.implements import implements
from dappled._dispatch.rebind import rebound_separately
from dappled._ndarray.core import core
from dappled._ranks.map_blocks import is_distributed
from dappled._routines._distributed.polynomial_division import divide, poly_from_roots
from dappled._routines.convolution import convolve
from dappled._routines.creation import asarray


def _rebound_function(name: str) -> Callable[..., Any]:
    steps = rebound_separately(getattr(numpy, name))

    @implements(getattr(numpy, name))
    def ours(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not _are_distributed_coefficients(given):
            return NotImplemented
        return call_from_user_frame(steps, *args, **kwargs)

    return ours


def _are_distributed_coefficients(given: tuple[Any, ...]) -> bool:
    """Whether some arguments are distributed, and none is a NumPy polynomial."""
    spread = core.ranks() > 1 and any(map(is_distributed, given))
    return spread and not any(isinstance(one, Proxy | numpy.poly1d) for one in given)


polyadd, polyder, polyint, polysub = map(
    _rebound_function, ("polyadd", "polyder", "polyint", "polysub")
)


@implements(numpy.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    if not _are_distributed_coefficients((a1, a2)):
        return NotImplemented
    rows = [numpy.trim_zeros(asarray(one), "f") for one in (a1, a2) if numpy.ndim(one) == 1]
    if len(rows) < 2 or not all(row.size for row in rows):
        return NotImplemented
    return convolve(*rows)


@implements(numpy.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    return divide(u, v) if _are_distributed_coefficients((u, v)) else NotImplemented


@implements(numpy.poly)
def poly(seq_of_zeros: Any) -> Any:
    spread = _are_distributed_coefficients((seq_of_zeros,))
    return poly_from_roots(seq_of_zeros) if spread else NotImplemented
