"""What NumPy has no name for: where an array lies, and what would be done to compute it."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import numpy

from dappled import protocol
from dappled._agreeing import agreed
from dappled._array import core, ndarray
from dappled._comm import together

_VERSION = "0.10.0"


def explain(x: Any, ranks: int | None = None) -> str:
    """What would be done to compute an array: one program, and what it reads; as text.

    With `ranks`, what one of so many ranks would do, however many run: its neighbours, messages
    and memory. It is one in the middle of the grid, which has the most neighbours.

    >>> import dappled as np
    >>> a = np.ones((1000, 1000))
    >>> a[0] = 5
    >>> print(np.explain(a * 2 + 1), end="")
    float64 [1000, 1000], whole on every rank: pending
    %0 = input float64
    %1 = constant float64 2.0
    %2 = constant float64 1.0
    %3 = multiply float64 %0 %1
    %4 = add float64 %3 %2
    output %4
    %0 reads [1000, 1000] of [1000, 1000]
    >>> print(np.explain(a[1:] + a[:-1], ranks=2048), end="")
    float64 [999, 1000], 'bb' over 2048 ranks as [64, 32]: pending
    rank 1040: 2 neighbours (1008, 1072)
    sends 1 messages of 256 bytes in all
    receives 1 messages of 256 bytes in all
    memory 8704 bytes: 8192 in arrays, 512 beside
    """
    if not isinstance(x, ndarray):
        raise TypeError(f"explain() takes an array of dappled's, not {type(x).__name__!r}")
    if x._held is not None:
        return f"{x.dtype} {list(x.shape)}, held by NumPy on every rank\n"
    if ranks is not None and operator.index(ranks) < 1:
        raise ValueError(f"a number of ranks is 1 or more, not {ranks}")
    items = f"{x.dtype} {list(x.shape)}, as bytes: " if x._items else ""
    return items + x._explain(ranks)  # type: ignore[no-any-return]


def sync(*arrays: Any) -> None:
    """Computes these arrays, or if none is given all that the program holds and that is pending;
    returns when every rank has done so. Collective.

    >>> import dappled as np
    >>> a = np.ones(10_000) * 2 + 1
    >>> np.sync(a)
    >>> print(np.explain(a), end="")
    float64 [10000], whole on every rank: stored
    """
    together("dappled.sync")
    if not arrays:
        return core.sync()  # type: ignore[no-any-return]
    for array in arrays:
        if not isinstance(array, ndarray):
            raise TypeError(f"sync() takes arrays of dappled's, not {type(array).__name__!r}")
    for array in arrays:
        array._compute()
    core.gather("dappled.sync", b"")


def memory_stats() -> dict[str, int]:
    """This rank's memory, as counted where it is made and where it goes. Local.

    `made` is how many pieces of fresh memory arrays have got so far, and `reused` how many that
    others had left behind. `live` is how many bytes are in use, `peak` how many were at most, and
    `kept` how many lie ready for the next array (`DAPPLED_CACHE` limits them). Memory that NumPy or
    anybody else has made is in none of these. `gathered` is how many bytes of arrays in pieces were
    brought together on every rank.

    >>> import dappled as np
    >>> before = np.memory_stats()
    >>> a = np.ones(1_000_000) * 2.0
    >>> a.sum()
    np.float64(2000000.0)
    >>> after = np.memory_stats()
    >>> after["peak"] >= after["live"] >= 0
    True
    >>> sorted(after)
    ['gathered', 'kept', 'live', 'made', 'peak', 'reused']
    """
    return core.memory_stats()  # type: ignore[no-any-return]


def from_distarray(obj: Any) -> Any:
    """The array whose pieces the ranks offer by `__distarray__`, each its own. No copy. Collective.

    >>> import dappled, numpy
    >>> memory = numpy.arange(4.0)
    >>> distribution = dappled.protocol.Distribution((4,), 'c')
    >>> offered = dappled.protocol.Piece(memory, distribution.dim_data(0))
    >>> a = dappled.from_distarray(offered)
    >>> a += 1
    >>> memory
    array([1., 2., 3., 4.])
    """
    together("dappled.from_distarray")
    piece, memory = agreed(lambda: _own_piece(obj))
    offered = pickle.dumps((piece.version, piece.dim_data, memory.dtype, memory.shape))
    records = core.gather("dappled.from_distarray", offered)
    exports = [_export(*pickle.loads(record)) for record in records]
    return core.from_piece(protocol.validate_all(exports), memory)


def _own_piece(obj: Any) -> tuple[Any, Any]:
    """What an object offers on this rank, by the rules for one process, and its memory."""
    export = obj.__distarray__() if hasattr(obj, "__distarray__") else None
    buffer = export.get("buffer") if isinstance(export, dict) else None
    piece = protocol.from_distarray(_Offered(export) if _has_dates(buffer) else obj)
    return piece, buffer if isinstance(buffer, numpy.ndarray) else numpy.asarray(piece)


def _has_dates(buffer: Any) -> bool:
    """Whether memory is of NumPy's dates, for which PEP 3118 has no format."""
    return isinstance(buffer, numpy.ndarray) and buffer.dtype.kind in "mM"


class _Offered:
    """A piece of dates as the rules of the protocol look at it: as numbers."""

    def __init__(self, export: Any) -> None:
        self._export = {**export, "buffer": export["buffer"].view("i8")}

    def __distarray__(self) -> Any:
        return self._export


def _export(version: str, dim_data: Any, dtype: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """What another rank offers, with a buffer that has no memory behind it."""
    buffer = numpy.broadcast_to(numpy.empty((), "i8" if dtype.kind in "mM" else dtype), shape)
    return {"__version__": version, "buffer": buffer, "dim_data": dim_data}


def _distarray(self: Any) -> dict[str, Any]:
    """This rank's piece as the Distributed Array Protocol hands it over: no copy. Collective."""
    local = self.local  # first: it puts a whole array in pieces, where there are several ranks
    dim_data = self.distribution.dim_data(core.rank(), _VERSION)
    return {"__version__": _VERSION, "buffer": local, "dim_data": dim_data}


def _matvec(self: Any, x: Any) -> Any:
    """`self @ x`: so SciPy's solvers take the array as an operator, where it lies."""
    return self @ x


def _rmatvec(self: Any, x: Any) -> Any:
    """The conjugate transpose @ x."""
    return self.conj().T @ x


METHODS = {"__distarray__": _distarray, "matvec": _matvec, "rmatvec": _rmatvec}
