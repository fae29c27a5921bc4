"""The job: all ranks end together, for the same reason."""

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
from dappled.launch.client import hushed, is_launched, tell

# A rank that waited is not the cause: the others report first.
_REPORT_DELAY_SECONDS = 1.0
_status = 0  # exit status that the program requested


def install_hooks() -> None:
    """Installs hooks that end all ranks when one ends.

    Replaces `sys.excepthook`, `sys.exit` and `os._exit`, and registers exit and fork handlers.
    """
    tell("joined")
    _set_thread_count()
    atexit.register(_finalise)
    atexit.register(_core.set_exiting)
    os.register_at_fork(
        before=_core.before_fork,
        after_in_parent=_core.after_fork,
        after_in_child=_core.set_forked,
    )
    shown, left, gone, process = sys.excepthook, sys.exit, os._exit, os.getpid()

    def ended(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        if getattr(error, "_told_by_others", False):
            time.sleep(_REPORT_DELAY_SECONDS)
        if shown is not sys.__excepthook__ or not _report_exception(kind, error, at):
            shown(kind, error, at)
        _flush()
        tell("failed")
        with hushed():
            _core.abort(1)  # with one rank this returns, and the process goes on to its exit

    def leave(status: Any = None, /) -> NoReturn:
        global _status
        _status = int(status) if isinstance(status, int) else int(status is not None)
        left(status)

    def go(status: int) -> NoReturn:
        # Without `dappled run` no supervisor reports which rank it was.
        if status and os.getpid() == process and not is_launched():
            with suppress(Exception):
                _write_status(f"ends itself with status {status} (os._exit)\n")
        gone(status)

    leave.__doc__, leave.__name__ = left.__doc__, left.__name__
    go.__doc__, go.__name__ = gone.__doc__, gone.__name__
    sys.excepthook, sys.exit, os._exit = ended, leave, go


def begin() -> None:
    """Enables `faulthandler` if there are several ranks. The core calls it when it knows them."""
    if _core.ranks() > 1 and not faulthandler.is_enabled():
        # Where stderr is not a file there is nothing to write to.
        with suppress(AttributeError, OSError, RuntimeError, ValueError):
            faulthandler.enable()


def _report_exception(
    kind: type[BaseException], error: BaseException, at: TracebackType | None
) -> bool:
    """Reports which rank ends the job, and the traceback."""
    return _write_status("ends all:\n" + "".join(traceback.format_exception(kind, error, at)))


def _write_status(what: str) -> bool:
    """Writes one line about this rank to stderr, in one call: ranks share it."""
    if sys.stderr is None or not _core.has_begun() or _core.ranks() == 1:
        return False
    sys.stderr.write(f"dappled: rank {_core.rank()} of {_core.ranks()} {what}")
    sys.stderr.flush()
    return True


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _set_thread_count() -> None:
    """Sets the number of threads to this rank's share of the node's cores, unless it is set."""
    if os.environ.get("DAPPLED_THREADS") or not any("LOCAL" in name for name in os.environ):
        return
    from dappled.launch.rank import NEIGHBOURS, said, share

    if (ranks := said(NEIGHBOURS, 1)) > 1:
        os.environ["DAPPLED_THREADS"] = str(share(ranks))


def _finalise() -> None:
    """Waits for the other ranks at exit; an error if they are elsewhere."""
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
