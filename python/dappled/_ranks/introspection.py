"""Functions without a NumPy counterpart: explain, sync, memory_stats, from_distarray."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import numpy

from dappled import protocol
from dappled._dispatch.meta import meta
from dappled._ndarray.core import core, ndarray
from dappled._ranks.comm import check_collective
from dappled._ranks.consensus import collective_try

_VERSION = "0.10.0"


def explain(x: Any, ranks: int | None = None) -> str:
    """The plan that computes an array, as text: its program and its inputs.

    With `ranks`, the plan of one rank of that many, however many run: its neighbours, messages and
    memory. It is a rank in the middle of the grid, which has the most neighbours.

    `x` may be a function without arguments. It is called, and the plans of its operations are
    returned; what sorting, transforms and linear algebra send is shown for the ranks that run.

    >>> import dappled as np
    >>> a = np.ones((1000, 1000))
    >>> a[0] = 5
    >>> print(np.explain(a * 2 + 1), end="")
    float64 [1000, 1000], replicated on every rank: pending
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
    sends 1 messages, 256 bytes in total
    receives 1 messages, 256 bytes in total
    memory 8704 bytes: 8192 in arrays, 512 temporary
    >>> print(np.explain(lambda: a.sum(axis=0), ranks=64), end="")
    add of float64 (1000, 1000) along axes (0), rank 36 of 64
    read (125, 125) in place, 'bb' over 64 ranks as [8, 8]
    receive 1000 bytes of accumulators from rank 28, 1 messages
    reduce with accumulators (1, 125)
    send 1000 bytes of accumulators to rank 44, 1 messages
    result 'bb' over 64 ranks as [8, 8], gathered on every rank
    """
    if ranks is not None and operator.index(ranks) < 1:
        raise ValueError(f"ranks must be at least 1, not {ranks}")
    if callable(x):
        return _explain_call(x, ranks)
    if not isinstance(x, ndarray):
        raise TypeError(f"explain() takes a dappled array or a function, not {type(x).__name__!r}")
    if x._held is not None:
        return f"{x.dtype} {list(x.shape)}, held by NumPy on every rank\n"
    items = f"{x.dtype} {list(x.shape)}, as bytes: " if x._items else ""
    return items + x._explain(ranks)  # type: ignore[no-any-return]


def _explain_call(function: Any, ranks: int | None) -> str:
    """The plans of the operations that a call performs."""
    core.start_explaining(ranks)
    try:
        function()
    finally:
        text = core.take_explanation()
    return text or "no operation with a plan\n"


def sync(*arrays: Any) -> None:
    """Computes these arrays, or all pending arrays of the program, on every rank. Collective.

    >>> import dappled as np
    >>> a = np.ones(10_000) * 2 + 1
    >>> np.sync(a)
    >>> print(np.explain(a), end="")
    float64 [10000], replicated on every rank: stored
    """
    check_collective("dappled.sync")
    if not arrays:
        return core.sync()  # type: ignore[no-any-return]
    for array in arrays:
        if not isinstance(array, ndarray):
            raise TypeError(f"sync() takes dappled arrays, not {type(array).__name__!r}")
    for array in arrays:
        array._compute()
    core.gather("dappled.sync", b"")


def memory_stats() -> dict[str, int]:
    """Memory statistics of this rank. Local.

    `made` counts allocations and `reused` buffers from the pool. `live` is the number of bytes in
    use, `peak` its maximum, and `kept` the bytes in the pool (`DAPPLED_CACHE` limits them). Memory
    of NumPy and other libraries is not counted. `gathered` is the number of bytes of distributed
    arrays that were gathered on every rank.

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
    """The array whose pieces the ranks export by `__distarray__`, without a copy. Collective.

    >>> import dappled, numpy
    >>> memory = numpy.arange(4.0)
    >>> distribution = dappled.protocol.Distribution((4,), 'c')
    >>> offered = dappled.protocol.Piece(memory, distribution.dim_data(0))
    >>> a = dappled.from_distarray(offered)
    >>> a += 1
    >>> memory
    array([1., 2., 3., 4.])
    """
    check_collective("dappled.from_distarray")
    piece, memory = collective_try(lambda: _local_piece(obj))
    offered = pickle.dumps((piece.version, piece.dim_data, memory.dtype, memory.shape))
    records = core.gather("dappled.from_distarray", offered)
    exports = [_export(*pickle.loads(record)) for record in records]
    return core.from_piece(protocol.validate_all(exports), memory)


def _local_piece(obj: Any) -> tuple[Any, Any]:
    """This rank's piece of an object, validated for one process, and its memory."""
    export = obj.__distarray__() if hasattr(obj, "__distarray__") else None
    buffer = export.get("buffer") if isinstance(export, dict) else None
    piece = protocol.from_distarray(_IntegerView(export) if _is_datetime(buffer) else obj)
    return piece, buffer if isinstance(buffer, numpy.ndarray) else numpy.asarray(piece)


def _is_datetime(buffer: Any) -> bool:
    """Whether memory has a datetime dtype, for which PEP 3118 has no format."""
    return isinstance(buffer, numpy.ndarray) and buffer.dtype.kind in "mM"


class _IntegerView:
    """A datetime piece as integers, for the protocol's validation."""

    def __init__(self, export: Any) -> None:
        self._export = {**export, "buffer": export["buffer"].view("i8")}

    def __distarray__(self) -> Any:
        return self._export


def _export(version: str, dim_data: Any, dtype: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """Another rank's export, with a metadata array as its buffer."""
    buffer = meta(shape, "i8" if dtype.kind in "mM" else dtype)
    return {"__version__": version, "buffer": buffer, "dim_data": dim_data}


def _distarray(self: Any) -> dict[str, Any]:
    """This rank's piece as `__distarray__` exports it, without a copy. Collective."""
    local = self.local  # first, because it distributes a replicated array
    dim_data = self.distribution.dim_data(core.rank(), _VERSION)
    return {"__version__": _VERSION, "buffer": local, "dim_data": dim_data}


def _matvec(self: Any, x: Any) -> Any:
    """`self @ x`: SciPy's solvers take the array as a linear operator."""
    return self @ x


def _rmatvec(self: Any, x: Any) -> Any:
    """The conjugate transpose @ x."""
    return self.conj().T @ x


METHODS = {"__distarray__": _distarray, "matvec": _matvec, "rmatvec": _rmatvec}
