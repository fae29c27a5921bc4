"""Snapshots of a generator's state."""

from __future__ import annotations

from typing import Any

import numpy


class GeneratorState:
    """The state of a `Generator` or a `RandomState`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        source = getattr(generator, "bit_generator", None)
        self._state = source.state if source else generator.get_state(legacy=False)

    def restore(self) -> None:
        """Restores the state."""
        if hasattr(self._generator, "bit_generator"):
            self._generator.bit_generator.state = self._state
        else:
            self._generator.set_state(self._state)

    def fingerprint(self) -> bytes:
        """Bytes that are equal for equal states."""
        return _bytes(self._state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GeneratorState) and _is_same(self._state, other._state)


def _bytes(state: Any) -> bytes:
    if isinstance(state, dict):
        return b"".join(_bytes(value) for value in state.values())
    return state.tobytes() if isinstance(state, numpy.ndarray) else repr(state).encode()


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return all(_is_same(one[name], other[name]) for name in one)
    return bool(numpy.all(one == other))
