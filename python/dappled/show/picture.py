"""The two pictures of a distribution as data: the global array, and the local arrays apart.

From here on nobody asks the distribution again: `scene` lays the picture out as rectangles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dappled.show.global_array import global_array, in_cells
from dappled.show.local_arrays import LocalArray, local_arrays
from dappled.show.panel import Panel
from dappled.show.words import heading

if TYPE_CHECKING:
    from dappled.protocol import Distribution


@dataclass(frozen=True, slots=True)
class Picture:
    """Both pictures. `notes` is what is left out or needs a word."""

    title: str
    cells: bool  # elements one by one, not regions
    grid_columns: int  # ranks side by side in the grid; 0 if it has no columns
    panels: list[Panel]
    local_arrays: list[LocalArray]
    notes: list[str]


def picture(distribution: Distribution) -> Picture:
    """Both pictures of a distribution."""
    panels, notes = global_array(distribution)
    apart, more_notes = local_arrays(distribution)
    return Picture(
        title=heading(distribution),
        cells=in_cells(distribution),
        grid_columns=distribution.grid_shape[-1] if len(distribution.grid_shape) > 1 else 0,
        panels=panels,
        local_arrays=apart,
        notes=notes + more_notes,
    )
