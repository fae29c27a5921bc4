"""The protocol a second time: slow, plain Python, independent of the Rust core.

`values` says what is an int, a bool, a list of labels; `rules` and `collective` try the rules
of PROTOCOL.md in order; `maps` lists by enumeration what every rank holds; `views` slices such
lists; `moves` names the source of every cell in an exchange and in an update of padding.
Where the text does not decide, `Unspecified` is raised.
"""

from tests.protocol.oracle.collective import first_collective_violation, unlike
from tests.protocol.oracle.maps import Axis, Layout, axis_of, pieces
from tests.protocol.oracle.moves import exchange, filled, halo
from tests.protocol.oracle.rules import first_violation, owned_count
from tests.protocol.oracle.values import Unspecified
from tests.protocol.oracle.views import view

__all__ = [
    "Axis",
    "Layout",
    "Unspecified",
    "axis_of",
    "exchange",
    "filled",
    "first_collective_violation",
    "first_violation",
    "halo",
    "owned_count",
    "pieces",
    "unlike",
    "view",
]
