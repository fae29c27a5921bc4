"""The program run as `python` would run it, with NumPy meaning dappled in it."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader
from typing import Any

from dappled.as_numpy.importing import Program, install

# The first frames of every traceback: they are not the program's.
_OURS = (__file__, "<frozen runpy>", runpy.__file__)


def main() -> None:
    """Runs the program that the command line says, `-m module`, `-c code` or a file."""
    form, *rest = sys.argv[1:]
    forms = {"-m": _run_module, "-c": _run_code}
    try:
        forms[form](rest) if form in forms else _run_file([form, *rest])
    except SystemExit:
        raise
    except BaseException as error:
        error.__traceback__ = _of_the_program(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _of_the_program(at: types.TracebackType | None) -> types.TracebackType | None:
    while at and at.tb_frame.f_code.co_filename in _OURS:
        at = at.tb_next
    return at


def _run_file(arguments: list[str]) -> None:
    sys.argv = arguments
    file = os.path.abspath(arguments[0])
    if os.path.isdir(file):
        sys.path.insert(0, file)
        install(Program(file))
        return _run_as_main("__main__", False)
    folder = os.path.dirname(os.path.realpath(file))
    sys.path.insert(0, folder)
    install(Program(folder))
    try:
        with io.open_code(file) as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
    except OSError as error:
        why = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {file!r}: {why}", file=sys.stderr)
        sys.exit(2)
    exec(code, _main(__file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file)))


def _run_code(arguments: list[str]) -> None:
    code, sys.argv = arguments[0], ["-c", *arguments[1:]]
    sys.path.insert(0, "")
    install(Program(os.getcwd()))
    exec(compile(code, "<string>", "exec", dont_inherit=True), _main())


def _run_module(arguments: list[str]) -> None:
    sys.argv = arguments
    sys.path.insert(0, os.getcwd())
    package = arguments[0].partition(".")[0]
    result = importlib.util.find_spec(package)
    is_package = result is not None and result.submodule_search_locations is not None
    origin = None if result is None or is_package else result.origin
    install(Program(origin and os.path.dirname(origin), package))
    _run_as_main(arguments[0])


def _run_as_main(*arguments: Any) -> None:
    runpy._run_module_as_main(*arguments)  # type: ignore[attr-defined]


def _main(**names: Any) -> dict[str, Any]:
    """A fresh `__main__`."""
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __annotations__={}, **names)
    sys.modules["__main__"] = module
    return vars(module)
