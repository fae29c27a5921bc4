"""The program as one job on all ranks: it ends everywhere, for the same reason."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType

from dappled import _core
from dappled._launched import hushed, tell


def join() -> None:
    """Sees to it that the ranks end together."""
    tell("joined")
    _share_cores()
    atexit.register(_leave)
    shown = sys.excepthook

    def ended(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        shown(kind, error, at)
        sys.stdout.flush()
        sys.stderr.flush()
        tell("failed")
        with hushed():
            _core.abort(1)  # of one rank alone there is nobody to tell: it goes on to its exit

    sys.excepthook = ended


def _share_cores() -> None:
    """Of several ranks on this node each has its share of the cores, unless it is said how many."""
    if os.environ.get("DAPPLED_THREADS") or not any("LOCAL" in name for name in os.environ):
        return
    from dappled.launch.rank import NEIGHBOURS, said, share

    if (ranks := said(NEIGHBOURS, 1)) > 1:
        os.environ["DAPPLED_THREADS"] = str(share(ranks))


def _leave() -> None:
    """Waits for the others, which should be at their end as well: if not, that is no good end."""
    try:
        _core.leave()
    except RuntimeError as error:
        sys.excepthook(type(error), error, None)
    else:
        tell("left")
