"""Steps of random programs: reductions and scans, `out=`, `where=`, `dtype=`."""

FOLDS = "add multiply maximum minimum logical_or logical_and bitwise_or fmax hypot subtract"
NAMED = "sum prod max min any all mean std var ptp"
NAN = "nansum nanprod nanmax nanmin nanmean nanstd nanvar"
SCANS = "cumsum cumprod nancumsum nancumprod cumulative_sum"
ONES = "sqrt negative absolute square exp floor isnan conjugate sign logical_not invert rint"
TWOS = "add subtract multiply divide maximum less equal power remainder floor_divide arctan2"
# Of which NumPy leaves elements alone that are not chosen, though they be cast on the way.
WHERE = "negative absolute square add subtract multiply"
ORDERS = "CFKA"


def reduced(np, d, a, b):
    options = {"keepdims": d.one([False, True])}
    if d.number(0, 2) == 0:
        options["dtype"] = d.dtype()
    if d.number(0, 2) == 0:
        options["initial"] = d.scalar()
    if d.number(0, 2) == 0:
        options["where"] = d.one([a > 2, d.mask(a.shape), True])
    return getattr(np, d.one(FOLDS)).reduce(a, d.axes(a), **options)


def reduced_into(np, d, a, b):
    name, axes = d.one(FOLDS), d.axes(a)
    shape = getattr(np, name).reduce(a, axes).shape
    out = np.zeros(shape, d.one([a.dtype, d.dtype()]), order=d.one([*"CF"]))
    return getattr(np, name).reduce(a, axes, out=out) is out, out


def named(np, d, a, b):
    options = {"axis": d.axes(a), "keepdims": d.one([False, True])}
    name = d.one(NAMED)
    if name != "ptp" and d.number(0, 2) == 0:
        options["where"] = d.one([a > 2, d.mask(a.shape)])
        if name in ("max", "min"):
            options["initial"] = d.number()
    if name in ("std", "var"):
        options["ddof"] = d.number(0, 1)
    return getattr(np, name)(a, **options)


def accumulated_into(np, d, a, b):
    axis, out = d.axis(a), np.zeros(a.shape, d.one([a.dtype, d.dtype()]))
    return np.add.accumulate(a, axis, out=out) is out, out


def scanned(np, d, a, b):
    name = d.one(SCANS)
    axis = d.axis(a) if name == "cumulative_sum" else d.axis_or_none(a)
    return getattr(np, name)(a, axis=axis, dtype=d.one([None, None, d.dtype()]))


def unary(np, d, a, b):
    """With an array to write to, that may be a part of the argument itself."""
    name = d.one(ONES)
    out = d.one([a, b, a[::-1] if a.ndim else a, np.zeros(a.shape, d.dtype(), d.one([*"CF"]))])
    where = d.one([True, True, a > 2, d.mask(a.shape)]) if name in WHERE else True
    casting = d.one("same_kind same_kind unsafe safe")
    return getattr(np, name)(a, out=out, where=where, casting=casting) is out, out


def binary(np, d, a, b):
    name = d.one(TWOS)
    out = d.one([a, b, np.ones(np.broadcast_shapes(a.shape, b.shape), d.dtype(), d.one([*"CF"]))])
    where = d.one([True, True, a > 2, a < b]) if name in WHERE else True
    casting = d.one("same_kind same_kind unsafe no")
    return getattr(np, name)(a, b, out, where=where, casting=casting) is out, out


def averaged(np, d, a, b):
    axis = d.axis_or_none(a)
    length = a.shape[axis] if a.ndim and axis is not None else 3
    weights = d.one([None, b, d.numbers(length, 1, 5)])
    return np.average(a, axis, weights, returned=d.one([True, False]))


FOLDING = {
    "reduce": reduced,
    "reduce into": reduced_into,
    "named fold": named,
    "nan fold": lambda np, d, a, b: getattr(np, d.one(NAN))(
        a, axis=d.axes(a), keepdims=d.one([True, False])
    ),
    "scan": scanned,
    "accumulate": lambda np, d, a, b: getattr(np, d.one(FOLDS)).accumulate(
        a, d.axis(a), d.one([None, d.dtype()])
    ),
    "accumulate into": accumulated_into,
    "reduceat": lambda np, d, a, b: getattr(np, d.one(FOLDS)).reduceat(
        a, d.indices(a.shape[-1] if a.ndim else 1), d.axis(a), d.one([None, None, d.dtype()])
    ),
    "ufunc outer": lambda np, d, a, b: getattr(np, d.one(FOLDS)).outer(a, b[:2] if b.ndim else b),
    "unary into": unary,
    "binary into": binary,
    "unary dtype": lambda np, d, a, b: getattr(np, d.one(ONES))(
        a, dtype=d.dtype(), order=d.one([*ORDERS])
    ),
    "binary dtype": lambda np, d, a, b: getattr(np, d.one(TWOS))(
        a, b, dtype=d.dtype(), casting=d.one("same_kind unsafe")
    ),
    "two results": lambda np, d, a, b: getattr(np, d.one("modf frexp"))(a),
    "divmod": lambda np, d, a, b: np.divmod(a, b),
    "clip": lambda np, d, a, b: np.clip(a, d.one([None, 1, b]), d.one([5, b])),
    "round": lambda np, d, a, b: np.round(a, d.number()),
    "average": averaged,
    "cov": lambda np, d, a, b: np.cov(a, rowvar=d.one([True, False])),
    "diff": lambda np, d, a, b: np.diff(a, d.number(0, 2), d.axis(a)),
    "diff ends": lambda np, d, a, b: np.diff(a, axis=d.axis(a), prepend=d.number(), append=0),
    "ediff1d": lambda np, d, a, b: np.ediff1d(a, d.one([None, 7, [1, 2]])),
    "gradient": lambda np, d, a, b: np.gradient(a, *d.one([(), (2,)]), edge_order=d.number(1, 2)),
    "trapezoid": lambda np, d, a, b: np.trapezoid(a, dx=d.number(1, 2), axis=d.axis(a)),
    "trace": lambda np, d, a, b: np.trace(a, d.number(), dtype=d.one([None, d.dtype()])),
    "nan_to_num": lambda np, d, a, b: np.nan_to_num(a, nan=d.number(), copy=d.one([True, False])),
    "isclose": lambda np, d, a, b: np.isclose(a, b, equal_nan=d.one([True, False])),
    "equal": lambda np, d, a, b: (np.array_equal(a, b), np.array_equiv(a, b), np.allclose(a, a)),
}
