"""Where a generator of NumPy's random numbers is, to come back to."""

from __future__ import annotations

from typing import Any

import numpy


class State:
    """The state of a generator, new or legacy."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        source = getattr(generator, "bit_generator", None)
        self._state = source.state if source else generator.get_state(legacy=False)

    def bring_back(self) -> None:
        """Puts the generator where it was."""
        if hasattr(self._generator, "bit_generator"):
            self._generator.bit_generator.state = self._state
        else:
            self._generator.set_state(self._state)

    def fingerprint(self) -> bytes:
        """What ranks compare: the same for the same state."""
        return _bytes(self._state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and _is_same(self._state, other._state)


def _bytes(state: Any) -> bytes:
    if isinstance(state, dict):
        return b"".join(_bytes(value) for value in state.values())
    return state.tobytes() if isinstance(state, numpy.ndarray) else repr(state).encode()


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return all(_is_same(one[name], other[name]) for name in one)
    return bool(numpy.all(one == other))
