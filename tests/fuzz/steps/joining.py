"""Steps of random programs: joining, splitting, padding, transposing."""

from tests.support.programs import is_padded

PADS = "constant edge reflect symmetric wrap maximum mean minimum linear_ramp empty"

VIEWS = ["u1", "i2", "f8", "l"]  # a long double has bytes that mean nothing


def padded(np, d, a, b):
    mode = d.one(PADS)
    width = d.one([1, 2, (1, 0), (0, 3), [d.numbers(2, 0, 2) for _ in a.shape]])
    found = np.pad(a, width, mode)
    return found.shape if mode == "empty" else found


def stacked(np, d, a, b):
    name = d.one("stack hstack vstack dstack column_stack")
    return getattr(np, name)([a, d.one([b, a])], **({"axis": d.axis(a)} if name == "stack" else {}))


def joined_into(np, d, a, b):
    out = np.zeros((2 * len(a), *a.shape[1:]), d.one([a.dtype, d.dtype()]), d.one([*"CF"]))
    return np.concatenate([a, a], out=out, casting=d.one("same_kind unsafe")) is out, out


def joined_as(np, d, a, b):
    options = {"dtype": d.dtype(), "casting": d.one("same_kind unsafe")}
    return np.concatenate([a, b, a], d.axis_or_none(a), **options)


def interpolated(np, d, a, b):
    points = np.array([0.0, 1, 2.5, 4])
    return np.interp(a, points, np.array(d.numbers(4)), period=d.one([None, None, 3]))


def slid(np, d, a, b):
    name, mode = d.one("convolve correlate"), d.one("full same valid")
    return getattr(np, name)(a.ravel(), d.one([b.ravel(), [1, 2, 3]]), mode)


def windows(np, d, a, b):
    return np.lib.stride_tricks.sliding_window_view(a, d.number(1, 3), d.axis(a)) * 1


GROWING = {
    "pad": padded,
    "insert": lambda np, d, a, b: np.insert(
        a, d.one([0, 1, -1, [0, 2], slice(0, 2)]), d.one([7, b]), d.axis_or_none(a)
    ),
    "delete": lambda np, d, a, b: np.delete(
        a, d.one([0, -1, [0, 1], slice(0, 5, 2), d.indices(2)]), d.axis_or_none(a)
    ),
    "append": lambda np, d, a, b: np.append(a, b, d.axis_or_none(a)),
    "resize": lambda np, d, a, b: np.resize(a, d.one([(3, 4), 7, (0, 2), ()])),
    "tile": lambda np, d, a, b: np.tile(a, d.one([2, (2, 1), (0,), (1, 2, 2)])),
    "repeat counts": lambda np, d, a, b: np.repeat(
        a, d.one([d.numbers(a.shape[0] if a.ndim else 1, 0, 2), 3, [1]]), d.one([0, None])
    ),
    "roll axes": lambda np, d, a, b: np.roll(a, d.one([1, (1, -2)]), d.one([0, (0, -1), None])),
    "stack": stacked,
    "block": lambda np, d, a, b: np.block(d.one([[[a, a], [a, a]], [a, b]])),
    "join into": joined_into,
    "join as": joined_as,
    "split": lambda np, d, a, b: np.array_split(a, d.one([3, [1, 3], [2, 1]]), d.axis(a)),
    "even split": lambda np, d, a, b: np.split(a, d.number(1, 3), d.axis(a)),
    "flip": lambda np, d, a, b: np.flip(a, d.axes(a)),
    "rot90": lambda np, d, a, b: np.rot90(a, d.number()),
    "triangle": lambda np, d, a, b: getattr(np, d.one("tril triu"))(a, d.number()),
    "diag": lambda np, d, a, b: getattr(np, d.one("diag diagflat"))(a, d.number()),
    "vander": lambda np, d, a, b: np.vander(a, d.number(0, 3), increasing=d.one([True, False])),
    "interp": interpolated,
    "slide": slid,
    "windows": windows,
    "meshgrid": lambda np, d, a, b: np.meshgrid(
        a[:3] if a.ndim else a, b[:2] if b.ndim else b, indexing=d.one("ij xy")
    ),
    "swapaxes": lambda np, d, a, b: np.swapaxes(a, d.axis(a), d.axis(a)),
    "moveaxis": lambda np, d, a, b: np.moveaxis(a, d.axis(a), d.axis(a)),
    "expand_dims": lambda np, d, a, b: np.expand_dims(a, d.axis(a)),
    "squeeze": lambda np, d, a, b: np.squeeze(a, d.axes(a)),
    "copy in order": lambda np, d, a, b: np.array(
        a, d.one([None, d.dtype()]), order=d.one([*"CFKA"])
    ),
    "cast in order": lambda np, d, a, b: a.astype(d.dtype(), order=d.one([*"CFKA"])),
    "as in order": lambda np, d, a, b: np.asarray(a, order=d.one([*"CFKA"])),
    "like": lambda np, d, a, b: np.full_like(
        a, d.number(), d.one([None, d.dtype()]), d.one([*"CFKA"])
    ),
    "flatten": lambda np, d, a, b: a.flatten(d.one([*"CFKA"])),
    "together": lambda np, d, a, b: [c + 1 for c in np.broadcast_arrays(a, b)],
    "along axis": lambda np, d, a, b: np.apply_along_axis(d.one([np.diff, np.sum]), d.axis(a), a),
    "over axes": lambda np, d, a, b: np.apply_over_axes(np.sum, a, [0, -1]),
    "kron": lambda np, d, a, b: np.kron(a[:2] if a.ndim else a, b[:2] if b.ndim else b),
    "view": lambda np, d, a, b: a.view(d.one([a.dtype] if a.dtype.char == "g" else VIEWS)),
    "byteswap": lambda np, d, a, b: is_padded(a) or a.byteswap(),
    "shape set": lambda np, d, a, b: [c := a.copy(), setattr(c, "shape", (-1, d.number(1, 3)))][0],
    "unwrap": lambda np, d, a, b: np.unwrap(a, axis=d.axis(a)),
    "setxor": lambda np, d, a, b: np.roll(np.setxor1d(a, b), d.number()),
}
