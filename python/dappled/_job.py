"""The program as one job on all ranks: it ends everywhere, for the same reason."""

from __future__ import annotations

import atexit
import faulthandler
import os
import sys
import time
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn

from dappled import _core
from dappled._launched import hushed, is_launched, tell

# Who has waited so long is not ended by others, and says itself what they should have said.
_OTHERS_SAY_IT = 1.0
_status = 0  # with which the program asked to end


def join() -> None:
    """Sees to it that the ranks end together."""
    tell("joined")
    _share_cores()
    atexit.register(_leave)
    atexit.register(_core.set_exiting)
    os.register_at_fork(
        before=_core.before_fork,
        after_in_parent=_core.after_fork,
        after_in_child=_core.set_forked,
    )
    shown, left, gone, process = sys.excepthook, sys.exit, os._exit, os.getpid()

    def ended(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        if getattr(error, "_told_by_others", False):
            time.sleep(_OTHERS_SAY_IT)
        if shown is not sys.__excepthook__ or not _show(kind, error, at):
            shown(kind, error, at)
        _flush()
        tell("failed")
        with hushed():
            _core.abort(1)  # of one rank alone there is nobody to tell: it goes on to its exit

    def leave(status: Any = None, /) -> NoReturn:
        global _status
        _status = int(status) if isinstance(status, int) else int(status is not None)
        left(status)

    def go(status: int) -> NoReturn:
        # Without `dappled run` nobody else can say which rank it was.
        if status and os.getpid() == process and not is_launched():
            with suppress(Exception):
                _say(f"ends itself with status {status} (os._exit)\n")
        gone(status)

    leave.__doc__, leave.__name__ = left.__doc__, left.__name__
    go.__doc__, go.__name__ = gone.__doc__, gone.__name__
    sys.excepthook, sys.exit, os._exit = ended, leave, go


def begin() -> None:
    """The ranks are known now: if there are several, a crash of this one says where it was."""
    if _core.ranks() > 1 and not faulthandler.is_enabled():
        # Where stderr is no file there is nothing to write to.
        with suppress(AttributeError, OSError, RuntimeError, ValueError):
            faulthandler.enable()


def _show(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> bool:
    """Says which rank ends all, and why."""
    return _say("ends all:\n" + "".join(traceback.format_exception(kind, error, at)))


def _say(what: str) -> bool:
    """Says what this rank does, if there are others, in one write: ranks share a stderr."""
    if sys.stderr is None or not _core.has_begun() or _core.ranks() == 1:
        return False
    sys.stderr.write(f"dappled: rank {_core.rank()} of {_core.ranks()} {what}")
    sys.stderr.flush()
    return True


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _share_cores() -> None:
    """Of several ranks on this node each has its share of the cores, unless it is said how many."""
    if os.environ.get("DAPPLED_THREADS") or not any("LOCAL" in name for name in os.environ):
        return
    from dappled.launch.rank import NEIGHBOURS, said, share

    if (ranks := said(NEIGHBOURS, 1)) > 1:
        os.environ["DAPPLED_THREADS"] = str(share(ranks))


def _leave() -> None:
    """Waits for the others, which should be at their end as well: if not, that is no good end."""
    unhandled = getattr(sys, "last_value", None) is not None
    status = _status or int(unhandled)
    _flush()
    tell(f"leaving {status}")
    try:
        _core.leave(status)
    except RuntimeError as error:
        sys.excepthook(type(error), error, None)
    else:
        tell("left")
