"""Helpers that build exports and compare descriptions."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def export(dim_data: Any, shape: Sequence[int] = (), version: Any = "0.10.0") -> dict[str, Any]:
    """An export with zeros in a buffer of this shape."""
    return {"__version__": version, "buffer": np.zeros(shape), "dim_data": dim_data}


def exports_of(distribution: Any, version: str = "0.10.0") -> list[dict[str, Any]]:
    """What every rank of a distribution would export."""
    return [
        export(
            distribution.dim_data(rank, version=version), distribution.local_shape(rank), version
        )
        for rank in range(distribution.nprocs)
    ]


def comparable(dim_data: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Dictionaries that == can compare: `indices` as a list with its dtype's name."""
    return [
        {key: _comparable(value) if key == "indices" else value for key, value in entries.items()}
        for entries in dim_data
    ]


def _comparable(indices: Any) -> tuple[str, list[int]]:
    assert isinstance(indices, np.ndarray) and indices.ndim == 1
    return indices.dtype.name, indices.tolist()


def canonical(dim_data: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Right dictionaries of the current meaning as they must be written: defaults left out."""
    defaults = {"padding": (0, 0), "periodic": False, "block_size": 1, "one_to_one": False}
    found = []
    for entries in dim_data:
        kept = {key: _canonical(key, value) for key, value in entries.items()}
        found.append({k: v for k, v in kept.items() if k not in defaults or v != defaults[k]})
    return comparable(found)


def _canonical(key: str, value: Any) -> Any:
    if key == "indices":
        return np.asarray(value, np.int64)
    return tuple(value) if key == "padding" else value


def assert_plain(dim_data: Any) -> None:
    """Plain Python types only; `indices` excepted, an int64 array."""
    assert type(dim_data) is tuple
    for entries in dim_data:
        assert type(entries) is dict
        for key, value in entries.items():
            _assert_plain_entry(key, value)


def _assert_plain_entry(key: str, value: Any) -> None:
    if key == "indices":
        assert type(value) is np.ndarray and value.dtype == np.int64 and value.ndim == 1
    elif key == "padding":
        assert type(value) is tuple and [type(width) for width in value] == [int, int]
    else:
        kinds = {"dist_type": str, "periodic": bool, "one_to_one": bool}
        assert type(key) is str and type(value) is kinds.get(key, int)
