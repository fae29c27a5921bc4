"""Results keep the memory order of their operands on several ranks."""

import dappled as np
import numpy
import pytest

pytestmark = [pytest.mark.ranks(1, 3, 4), pytest.mark.usefixtures("quiet_fallback")]

CUBE = numpy.arange(1.0, 61).reshape(3, 4, 5)
# Views of it in the program's NumPy, in any order.
OPERANDS = {
    "C": lambda xp, c: c,
    "F": lambda xp, c: c.copy("F"),
    "transposed": lambda xp, c: c.transpose(1, 2, 0),
    "swapped": lambda xp, c: c.swapaxes(0, 1),
    "part": lambda xp, c: c[::2, :, 1:],
    "part of transposed": lambda xp, c: c.T[1:, ::2],
    "backwards": lambda xp, c: c[:, ::-1],
    "backwards, transposed": lambda xp, c: c.T[::-1],
    "one row": lambda xp, c: c[:1].T,
    "matrix": lambda xp, c: c[0].T,
    "repeated": lambda xp, c: xp.broadcast_to(c[:, :1], c.shape),
}
# Functions of the program's NumPy and an array.
FUNCTIONS = {
    "add": lambda xp, a: a + a,
    "add a number": lambda xp, a: a + 1,
    "add a row": lambda xp, a: a + a[:1],
    "add C": lambda xp, a: a + xp.ones(a.shape),
    "C add": lambda xp, a: xp.ones(a.shape) + a,
    "add transposed": lambda xp, a: a + a.T if a.shape == a.shape[::-1] else -a,
    "negative": lambda xp, a: -a,
    "sqrt": lambda xp, a: xp.sqrt(a),
    "chain": lambda xp, a: (a * 2 + a) / (a - 0.5),
    "compared": lambda xp, a: a > 7,
    "order=C": lambda xp, a: xp.add(a, 1, order="C"),
    "order=F": lambda xp, a: xp.add(a, 1, order="F"),
    "dtype": lambda xp, a: xp.add(a, 1, dtype="f4"),
    "modf": lambda xp, a: xp.modf(a)[1],
    "divmod": lambda xp, a: divmod(a, 3)[0],
    "float_power": lambda xp, a: xp.float_power(a, 2),
    "copy method": lambda xp, a: a.copy(),
    "copy": lambda xp, a: xp.copy(a),
    **{f"copy {order}": lambda xp, a, order=order: a.copy(order) for order in "CFKA"},
    **{f"array {order}": lambda xp, a, order=order: xp.array(a, order=order) for order in "CFKA"},
    "array": lambda xp, a: xp.array(a),
    "asarray F": lambda xp, a: xp.asarray(a, order="F"),
    "asfortranarray": lambda xp, a: xp.asfortranarray(a),
    "ascontiguousarray": lambda xp, a: xp.ascontiguousarray(a),
    "astype": lambda xp, a: a.astype("f4"),
    "astype same": lambda xp, a: a.astype("f8"),
    "astype text": lambda xp, a: a.astype("U9"),
    **{
        f"astype {order}": lambda xp, a, order=order: a.astype(int, order=order) for order in "CFKA"
    },
    "zeros_like": lambda xp, a: xp.zeros_like(a),
    "ones_like": lambda xp, a: xp.ones_like(a, dtype=int),
    "empty_like": lambda xp, a: xp.empty_like(a) * 0,
    "full_like": lambda xp, a: xp.full_like(a, 3),
    **{f"zeros_like {o}": lambda xp, a, o=o: xp.zeros_like(a, order=o) for o in "CFKA"},
    "where": lambda xp, a: xp.where(a > 3, a, 0),
    "where of two": lambda xp, a: xp.where(a > 3, a, a + 1),
    "clip": lambda xp, a: xp.clip(a, 3, 9),
    "clip method": lambda xp, a: a.clip(3),
    "round": lambda xp, a: xp.round(a, 1),
    "round method": lambda xp, a: (a / 7).round(),
    "real": lambda xp, a: (a * 1j).imag,
    "conj": lambda xp, a: xp.conj(a * 1j),
    "conj of reals": lambda xp, a: xp.conj(a),
    "angle": lambda xp, a: xp.angle(a * 1j),
    "nan_to_num": lambda xp, a: xp.nan_to_num(a),
    "isnan": lambda xp, a: xp.isnan(a),
    "isclose": lambda xp, a: xp.isclose(a, 3),
    "logical_not": lambda xp, a: ~(a > 4),
    "maximum": lambda xp, a: xp.maximum(a, 4),
    "sign": lambda xp, a: xp.sign(a),
    "heaviside": lambda xp, a: xp.heaviside(a, 1),
    "sum first": lambda xp, a: a.sum(0),
    "sum last": lambda xp, a: a.sum(-1),
    "sum keepdims": lambda xp, a: a.sum(-1, keepdims=True),
    "sum first keepdims": lambda xp, a: a.sum(0, keepdims=True),
    "sum all keepdims": lambda xp, a: a.sum(keepdims=True),
    "max": lambda xp, a: a.max(0),
    "max keepdims": lambda xp, a: xp.max(a, 1, keepdims=True),
    "any": lambda xp, a: (a > 3).any(0),
    "mean": lambda xp, a: a.mean(1),
    "mean keepdims": lambda xp, a: a.mean(0, keepdims=True),
    "var": lambda xp, a: a.var(0),
    "std keepdims": lambda xp, a: a.std(-1, keepdims=True),
    "argmax": lambda xp, a: a.argmax(0),
    "argmin keepdims": lambda xp, a: a.argmin(-1, keepdims=True),
    "ptp": lambda xp, a: xp.ptp(a, 0),
    "count_nonzero": lambda xp, a: xp.count_nonzero(a > 2, axis=0),
    "median last": lambda xp, a: xp.median(a, -1),
    "median between": lambda xp, a: xp.median(a, 1, keepdims=True),
    "median": lambda xp, a: xp.median(a, 0),
    "nansum": lambda xp, a: xp.nansum(a, 0),
    "cumsum": lambda xp, a: a.cumsum(0),
    "cumprod": lambda xp, a: xp.cumprod(a, -1),
    "accumulate": lambda xp, a: xp.maximum.accumulate(a, 1),
    "diff": lambda xp, a: xp.diff(a, axis=0),
    "gradient": lambda xp, a: xp.gradient(a, axis=-1),
    "sort": lambda xp, a: xp.sort(a, 0),
    "argsort": lambda xp, a: a.argsort(-1),
    "partition": lambda xp, a: xp.sort(xp.partition(a, 1, 1), 1),
    "roll": lambda xp, a: xp.roll(a, 1, 0),
    "roll all": lambda xp, a: xp.roll(a, 1),
    "flip": lambda xp, a: xp.flip(a, 0),
    "rot90": lambda xp, a: xp.rot90(a),
    "concatenate": lambda xp, a: xp.concatenate([a, a]),
    "concatenate last": lambda xp, a: xp.concatenate([a, a], -1),
    "concatenate with C": lambda xp, a: xp.concatenate([a, xp.ones(a.shape)]),
    "stack first": lambda xp, a: xp.stack([a, a + 1]),
    "stack last": lambda xp, a: xp.stack([a, a], -1),
    "stack": lambda xp, a: xp.stack([a, a], 1),
    "repeat": lambda xp, a: xp.repeat(a, 2, 0),
    "tile": lambda xp, a: xp.tile(a, 2),
    "pad": lambda xp, a: xp.pad(a, 1),
    "take": lambda xp, a: xp.take(a, [0, 1], 0),
    "take last": lambda xp, a: a.take([0, 0], -1),
    "by numbers": lambda xp, a: a[[0, 0]],
    "by numbers, last": lambda xp, a: a[..., [0, 0]],
    "by numbers, between": lambda xp, a: a[:, [1, 0]],
    "by a table": lambda xp, a: a[[[0, 1], [1, 0], [0, 0]]],
    "by a table, transposed": lambda xp, a: a[xp.array([[0, 1], [1, 0], [0, 0]]).T],
    "by a table, between": lambda xp, a: a[:, xp.array([[0, 1], [1, 0], [0, 0]]).T],
    "by tables, transposed": lambda xp, a: a[(xp.array([[0, 1], [1, 0], [0, 0]]).T,) * a.ndim],
    "by tables, swapped": lambda xp, a: a.ravel()[xp.arange(24).reshape(2, 3, 4).swapaxes(0, 1)],
    "by tables": lambda xp, a: a[xp.array([[0, 1, 0]] * 2).T, [[1, 1]] * 3],
    "by tables, parted": lambda xp, a: a[[0, 1], :, [1, 0]],
    "by a single number": lambda xp, a: a[xp.array(1)],
    "by a mask of rows": lambda xp, a: a[xp.arange(len(a)) > 0],
    "compress": lambda xp, a: xp.compress([True], a, 0),
    "delete": lambda xp, a: xp.delete(a, 0, 1),
    "insert": lambda xp, a: xp.insert(a, 0, 5, 1),
    "tril": lambda xp, a: xp.tril(a),
    "choose": lambda xp, a: xp.choose((a > 3).astype(int), [a, -a]),
    "select": lambda xp, a: xp.select([a > 3], [a]),
    "cross over": lambda xp, a: xp.moveaxis(a + 1, 0, -1),
    "reshape": lambda xp, a: a.reshape(-1, 2) if a.size % 2 == 0 else a.ravel(),
    "reshape F": lambda xp, a: a.reshape(a.shape[::-1], order="F"),
    "squeeze": lambda xp, a: (a + 1).squeeze(),
    "outer": lambda xp, a: xp.multiply.outer(a, xp.ones(2)),
    "searchsorted": lambda xp, a: xp.searchsorted(xp.arange(9.0), a),
    "digitize": lambda xp, a: xp.digitize(a, [3.0, 9]),
    "interp": lambda xp, a: xp.interp(a, [1.0, 9], [1.0, 2]),
    "i0": lambda xp, a: xp.i0(a),
    "sinc": lambda xp, a: xp.sinc(a),
    "vectorize": lambda xp, a: xp.vectorize(lambda x: x + 1)(a),
    "piecewise": lambda xp, a: xp.piecewise(a, [a > 3], [1, 2]),
    "apply_along_axis": lambda xp, a: xp.apply_along_axis(lambda x: x[::-1], 0, a),
    "fft": lambda xp, a: xp.fft.fft(a, axis=0),
    "rfft": lambda xp, a: xp.fft.rfft(a),
    "fftshift": lambda xp, a: xp.fft.fftshift(a),
    "matmul": lambda xp, a: a @ xp.ones(a.shape[-1]),
    "dot": lambda xp, a: xp.dot(a, xp.ones((a.shape[-1], 2))),
    "einsum": lambda xp, a: xp.einsum("...i->...", a),
    "packbits last": lambda xp, a: xp.packbits((a > 3).astype("i4"), axis=-1),
    "unpackbits": lambda xp, a: xp.unpackbits(a.astype("u1"), axis=1),
    "packbits": lambda xp, a: xp.packbits(a > 3, axis=0),
    "deepcopy": lambda xp, a: __import__("copy").deepcopy(a),
    "into": lambda xp, a: xp.add(a, 1, out=xp.empty_like(a)),
    "in place": lambda xp, a: a.copy("K").__iadd__(1),
    "indices": lambda xp, a: xp.nonzero(a > 4)[0],
    "mask": lambda xp, a: a[a > 4],
    "unique": lambda xp, a: xp.unique(a, axis=0),
    "isin": lambda xp, a: xp.isin(a, [3, 4]),
    "quantile": lambda xp, a: xp.quantile(a, [0.2, 0.5], 0),
    "histogramdd": lambda xp, a: xp.array(xp.histogram2d(a.ravel(), a.ravel(), 3)[0]),
}


def is_known(name, kind):
    """What lies in another order on several ranks than NumPy's: functions of NumPy's that ask for
    `a.flags`, which are those of a gathered copy; and one to be mended.
    """
    asks = name in ("pad", "delete", "insert") and kind in (
        "part of transposed",
        "backwards, transposed",
    )
    return np.comm.size > 1 and (asks or (name, kind) == ("vectorize", "repeated"))


def lies(xp, operand, function):
    """How a result lies, as far as that shows; axes of one element may have any stride."""
    a = operand(xp, xp.array(CUBE))
    try:
        made = function(xp, a)
    except Exception as error:
        return type(error)
    ours = isinstance(made, np.ndarray)
    flags, strides = (made._flags, made._strides) if ours else (made.flags, made.strides)
    seen = [s for s, n in zip(strides, made.shape, strict=True) if n > 1]
    return made.shape, (flags.c_contiguous, flags.f_contiguous), seen if made.size else None


def differences():
    for name, function in FUNCTIONS.items():
        for kind, operand in OPERANDS.items():
            ours, theirs = lies(np, operand, function), lies(numpy, operand, function)
            if ours != theirs and not is_known(name, kind):
                yield f"{name} of {kind}: {ours} is not {theirs}"


def test_results_keep_the_memory_order_of_operands():
    assert [*differences()] == []
