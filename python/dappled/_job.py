"""The program as one job on all ranks: it ends everywhere, for the same reason."""

from __future__ import annotations

import atexit
import sys
from types import TracebackType

from dappled import _core


def join() -> None:
    """Sees to it that the ranks end together."""
    atexit.register(_leave)
    shown = sys.excepthook

    def ended(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        shown(kind, error, at)
        sys.stdout.flush()
        sys.stderr.flush()
        _core.abort(1)  # of one rank alone there is nobody to tell: it goes on to its exit

    sys.excepthook = ended


def _leave() -> None:
    """Waits for the others, which should be at their end as well: if not, that is no good end."""
    try:
        _core.leave()
    except RuntimeError as error:
        sys.excepthook(type(error), error, None)
