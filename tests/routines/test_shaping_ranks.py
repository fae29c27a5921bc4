"""Reshaping, joining, splitting and repeating distributed arrays."""

import pytest

from tests.support.distributed import check_table, distributed

SHAPING = {
    "transpose": lambda np, a: a.T,
    "reshape": lambda np, a: a.reshape(42, 60),
    "reshape long": lambda np, a: a.reshape(2, -1),
    "reshape 4": lambda np, a: a.reshape(5, 12, 6, 7),
    "reshape F": lambda np, a: a.reshape(30, 84, order="F"),
    "reshape part": lambda np, a: a.reshape(30, 84)[::3, 5:],
    "ravel": lambda np, a: a.ravel(),
    "ravel part": lambda np, a: a[3:, 2:].ravel(),
    "ravel transposed": lambda np, a: a.T.ravel(),
    "flatten": lambda np, a: a.flatten("F"),
    "swapaxes": lambda np, a: np.swapaxes(a, 0, 1) + 1,
    "moveaxis": lambda np, a: np.moveaxis(a, 0, -1) * 2,
    "expand_dims": lambda np, a: np.expand_dims(a, 1) + a[:, None],
    "squeeze": lambda np, a: np.squeeze(a[:, None]),
    "broadcast_to": lambda np, a: np.broadcast_to(a, (2, 60, 42)) + 1,
    "broadcast": lambda np, a: a[:, :1] + a[:1],
    "diagonal": lambda np, a: np.diagonal(a, 2),
    "diagonal of stack": lambda np, a: np.diagonal(a.reshape(10, 6, 42), 0, 1, 2),
    "real": lambda np, a: (a + 2j * a).real,
    "imag": lambda np, a: (a + 2j * a).imag[::2],
    "view": lambda np, a: a.view("i4"),
    "windows": lambda np, a: np.lib.stride_tricks.sliding_window_view(a, 3, 0),
    "concatenate": lambda np, a: np.concatenate([a, a[5:], a]),
    "concatenate 1": lambda np, a: np.concatenate([a, a[:, ::-1]], axis=1),
    "concatenate None": lambda np, a: np.concatenate([a, a], axis=None),
    "stack": lambda np, a: np.stack([a, a + 1], axis=1),
    "hstack": lambda np, a: np.hstack([a, a]),
    "vstack": lambda np, a: np.vstack([a, a]),
    "dstack": lambda np, a: np.dstack([a, a]),
    "column_stack": lambda np, a: np.column_stack([a, a]),
    "block": lambda np, a: np.block([[a, a], [a, a]]),
    "append": lambda np, a: np.append(a, a, axis=0),
    "split": lambda np, a: np.split(a, 4),
    "array_split": lambda np, a: np.array_split(a, 7, axis=1),
    "hsplit": lambda np, a: np.hsplit(a, 2),
    "vsplit": lambda np, a: np.vsplit(a, [7, 50]),
    "tile": lambda np, a: np.tile(a, (2, 3)),
    "repeat": lambda np, a: np.repeat(a, 3, axis=1),
    "repeat 0": lambda np, a: np.repeat(a, 2, axis=0),
    "repeat all": lambda np, a: np.repeat(a, 2),
    "repeat counts": lambda np, a: np.repeat(a, np.arange(60) % 3, axis=0),
    "repeat columns": lambda np, a: a.repeat((a[0] > 0) * 2, axis=1),
    "repeat elements": lambda np, a: np.repeat(a, np.abs(a).astype("i4").ravel()),
    "repeat list": lambda np, a: (
        np.repeat(a, [2], 1),
        np.repeat([1, 2], a[0, :2].astype(int) + 9),
    ),
    "ediff1d ends": lambda np, a: np.ediff1d(a, to_begin=[7, 8], to_end=a[0]),
    "memory": lambda np, a: [
        (np.shares_memory(one, other), np.may_share_memory(one, other))
        for one in (a, a[1:], a[::2, 1:], a.T[3], a.view("i4")[:, 1:2], a.copy())
        for other in (a, a[:1], a[1::2], a[:, 3:5], a.reshape(-1)[::-7], a + 1)
    ],
    "roll": lambda np, a: np.roll(a, 5, axis=0),
    "roll both": lambda np, a: np.roll(a, (3, -4), axis=(0, 1)),
    "roll all": lambda np, a: np.roll(a, 100),
    "flip": lambda np, a: np.flip(a),
    "fliplr": lambda np, a: np.fliplr(a) + 1,
    "rot90": lambda np, a: np.rot90(a),
    "rot90 2": lambda np, a: np.rot90(a, 2) * 2,
    "tril": lambda np, a: np.tril(a, 3),
    "triu": lambda np, a: np.triu(a),
    "pad": lambda np, a: np.pad(a, 2),
    "pad edge": lambda np, a: np.pad(a, 3, mode="edge"),
    "pad wrap": lambda np, a: np.pad(a, 3, mode="wrap"),
    "resize": lambda np, a: np.resize(a, (50, 60)),
    "meshgrid": lambda np, a: np.meshgrid(a[0], a[:, 0]),
    "delete": lambda np, a: np.delete(a, 3, axis=0),
    "insert": lambda np, a: np.insert(a, 3, 1, axis=0),
}


@distributed
@pytest.mark.parametrize("name", SHAPING)
def test_shaping(name):
    check_table(SHAPING, name)
