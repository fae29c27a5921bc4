"""The Distributed Array Protocol: distributions, and the exchange of pieces."""

from dappled._core import (
    Dimension,
    Distribution,
    Piece,
    ProtocolError,
    from_distarray,
    num_owned_indices,
    rules,
    validate,
    validate_all,
)

__all__ = [
    "Dimension",
    "Distribution",
    "Piece",
    "ProtocolError",
    "from_distarray",
    "num_owned_indices",
    "rules",
    "validate",
    "validate_all",
]
