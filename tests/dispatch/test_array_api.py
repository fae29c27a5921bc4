"""The Python array API standard 2024.12, function by function.

Each function takes the standard's parameters by name; with all keywords at the standard's defaults
it gives NumPy's result without them.
"""

import inspect

import dappled as np
import numpy
import pytest

from tests.support.distributed import compared, flat

ONE = "abs acosh asinh atan ceil conj cos cosh exp expm1 floor imag isfinite isinf "
ONE += "isnan log log1p log2 log10 negative positive real reciprocal round sign signbit sin sinh "
ONE += "square sqrt tan tanh trunc"
TWO = "add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal "
TWO += "logaddexp maximum minimum multiply nextafter not_equal pow remainder subtract"
INTEGERS = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor"
TRUTHS = "logical_and logical_or logical_xor"
REST = """
acos(x / 4, /)
asin(x / 4, /)
atanh(x / 4, /)
bitwise_invert(i, /)
logical_not(x, /)
clip(x, /, min=None, max=None)
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(x, /, *, dtype=None, device=None, copy=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n, m, /, *, k=0, dtype=float, device=None)
full(shape, value, *, dtype=None, device=None)
full_like(x, /, value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(row, column, *, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, kind, /, *, copy=True, device=None)
broadcast_arrays(x, row)
broadcast_to(row, /, shape3)
can_cast(kind, kind, /)
isdtype(kind, 'real floating')
result_type(x, i)
take(x, indices, /, *, axis=0)
take_along_axis(x, places, /, *, axis=-1)
matmul(x, transposed, /)
matrix_transpose(x, /)
tensordot(x, transposed, /, *, axes=1)
vecdot(x, x2, /, *, axis=-1)
concat(arrays, /, *, axis=0)
expand_dims(x, /, *, axis=0)
flip(x, /, *, axis=None)
moveaxis(x, 0, 1, /)
permute_dims(x, /, axes)
repeat(x, 3, /, *, axis=None)
reshape(x, /, shape2, *, copy=None)
roll(x, /, 3, *, axis=None)
squeeze(thin, /, 1)
stack(arrays, /, *, axis=0)
tile(x, (2, 1), /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(ordered, x, /, *, side='left', sorter=None)
where(x > 0, x, x2, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(distinct, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(row, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(row, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(small, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
from_dlpack(whole, /, *, device=None, copy=None)
linalg.cholesky(definite, /, *, upper=False)
linalg.cross(three, three[::-1], /, *, axis=-1)
linalg.det(square, /)
linalg.diagonal(x, /, *, offset=0)
linalg.eigvalsh(definite, /)
linalg.inv(square, /)
linalg.matmul(x, transposed, /)
linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')
linalg.matrix_power(square, 3, /)
linalg.matrix_rank(x, /, *, rtol=None)
linalg.matrix_transpose(x, /)
linalg.outer(row, column, /)
linalg.pinv(square, /, *, rtol=None)
linalg.qr(square, /, *, mode='reduced')
linalg.slogdet(square, /)
linalg.solve(square, row[:12], /)
linalg.svdvals(x, /)
linalg.tensordot(x, transposed, /, *, axes=1)
linalg.trace(x, /, *, offset=0, dtype=None)
linalg.vecdot(x, x2, /, *, axis=-1)
linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
fft.fft(x, /, *, n=None, axis=-1, norm='backward')
fft.ifft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftn(x, /, *, s=None, axes=None, norm='backward')
fft.ifftn(x, /, *, s=None, axes=None, norm='backward')
fft.rfft(x, /, *, n=None, axis=-1, norm='backward')
fft.irfft(x, /, *, n=None, axis=-1, norm='backward')
fft.rfftn(x, /, *, s=None, axes=None, norm='backward')
fft.irfftn(x, /, *, s=None, axes=None, norm='backward')
fft.hfft(x, /, *, n=None, axis=-1, norm='backward')
fft.ihfft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftfreq(40, /, *, d=1.0, dtype=None, device=None)
fft.rfftfreq(40, /, *, d=1.0, dtype=None, device=None)
fft.fftshift(x, /, *, axes=None)
fft.ifftshift(x, /, *, axes=None)
"""
# Of keywords at their defaults NumPy knows not all; and some it must be told.
TOLD = {"eye": {"dtype": float}, "take": {"axis": 0}, "tensordot": {"axes": 1}}
TOLD |= {"linalg.tensordot": {"axes": 1}, "expand_dims": {"axis": 0}, "stack": {"axis": 0}}
OTHERS = "e inf nan newaxis pi finfo iinfo broadcast_shapes empty __array_api_version__"
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)
OPERATORS = (
    "abs add and eq floordiv ge getitem gt invert le lshift lt matmul mod mul ne neg or pos "
)
OPERATORS += (
    "pow radd rand rfloordiv rlshift rmatmul rmod rmul ror rpow rrshift rshift rsub rtruediv "
)
OPERATORS += "rxor setitem sub truediv xor iadd iand ifloordiv ilshift imatmul imod imul ior ipow "
OPERATORS += "irshift isub itruediv ixor bool complex dlpack dlpack_device float index int"
MEMBERS = ["dtype", "device", "mT", "ndim", "shape", "size", "T", "to_device"]


def functions():
    """Every function with its positional and keyword arguments."""
    tables = ((ONE, "x, /"), (TWO, "x, x2, /"), (INTEGERS, "i, i, /"), (TRUTHS, "b, b, /"))
    lines = [f"{name}({given})" for names, given in tables for name in names.split()]
    for line in [*lines, *REST.split("\n")]:
        name, _, given = line.partition("(")
        if name:
            given = given.removesuffix(")").replace(", /", "").replace(" *,", "")
            yield name, f"call({given})"


def values(xp):
    """The operands of the table, in a namespace."""
    x = xp.reshape(xp.arange(240.0) % 17 / 8 + 1, (20, 12))
    square = x[:12] + 9 * xp.eye(12)
    i = xp.astype(x, xp.int64)
    return {
        **{"x": x, "x2": x[::-1], "transposed": x.T, "row": x[0], "column": x[:, 0], "i": i},
        **{"b": x > 2, "small": x[:2, :3], "three": x[:, :3], "thin": x[:, None], "xp": xp},
        **{"square": square, "definite": square @ square.T, "arrays": [x, x + 1]},
        **{"shape": (20, 30), "shape2": (12, 20), "shape3": (3, 12), "axes": (1, 0), "value": 7},
        **{"n": 20, "m": None, "start": 1.0, "stop": 40.0, "num": 50, "kind": xp.float32},
        **{"indices": xp.asarray([1, 3, 1]), "places": i % 12, "ordered": xp.arange(9.0) / 2},
        "distinct": xp.reshape(xp.arange(240) * 77 % 241, (20, 12)),
        "whole": numpy.arange(9.0),
    }


def called(xp, name, call):
    """The result of a function; NumPy gets only the keywords that it has."""
    function = xp
    for part in name.split("."):
        function = getattr(function, part)

    def call_it(*args, **kwargs):
        known = kwargs if xp is np else {key: kwargs[key] for key in TOLD.get(name, ())}
        if name in ("clip", "arange", "meshgrid", "from_dlpack") and xp is numpy:
            known = {key: kwargs[key] for key in kwargs if key in ("min", "indexing")}
        return function(*args, **known)

    found = eval(call, {**values(xp), "call": call_it})
    return [found.shape] if name == "empty_like" else flat(found)


pytestmark = [pytest.mark.ranks(1, 3), pytest.mark.usefixtures("quiet_fallback")]


@pytest.mark.parametrize(("name", "call"), list(functions()))
def test_functions(name, call):
    found = compared(name, called(np, name, call), called(numpy, name, call))
    assert not found, found


def test_names():
    a = np.ones((2, 2))
    missing = [name for name in (OTHERS + " " + DTYPES).split() if not hasattr(np, name)]
    missing += [name for name in OPERATORS.split() if not hasattr(a, f"__{name}__")]
    missing += [name for name in MEMBERS if not hasattr(a, name)]
    assert missing == []


def test_description():
    described = description(np.ones((2, 2)))
    assert [text for text, good in described.items() if not good] == []


def description(a):
    """Checks of the namespace's description of itself, by name."""
    info = np.__array_namespace_info__()
    parameters = inspect.signature(np.sort).parameters
    return {
        "version": np.__array_api_version__ == "2024.12",
        "namespace": a.__array_namespace__(api_version="2024.12") is np,
        "capabilities": {"boolean indexing", "data-dependent shapes", "max dimensions"}
        == info.capabilities().keys(),
        "device": info.default_device() == a.device == "cpu" and info.devices() == ["cpu"],
        "default dtypes": info.default_dtypes()["real floating"] == np.float64,
        "dtypes": info.dtypes().keys() == set(DTYPES.split()),
        "kinds": list(info.dtypes(kind="bool")) == ["bool"],
        "to_device": a.to_device("cpu") is a,
        "signature": parameters["descending"].default is False,
        "descending": np.argsort(np.asarray([1, 2, 1]), descending=True).tolist() == [1, 0, 2],
        "descending values": np.sort(np.arange(5), descending=True).tolist() == [4, 3, 2, 1, 0],
        "frequencies": np.fft.fftfreq(4, dtype=np.float32).dtype == np.float32,
    }
