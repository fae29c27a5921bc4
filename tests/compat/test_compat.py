"""Private parts of NumPy and CPython that dappled uses exist in the installed versions."""

import ctypes
import io
import opcode
import re
import sys
import tomllib
import warnings
from importlib import import_module
from pathlib import Path

import numpy
import pytest
from dappled._compat import bytecode, cpython_private, numpy_private

ROOT = Path(__file__).parents[2]
PACKAGE = Path(import_module("dappled").__file__).parent

# Each hook, and whether its result is right.
HOOKS = {
    "NO_VALUE": lambda: numpy_private.NO_VALUE is not None,
    "clip_ufunc": lambda: isinstance(numpy_private.clip_ufunc(), numpy.ufunc),
    "parse_einsum_input": lambda: (
        numpy_private.parse_einsum_input(("ij,j->i", numpy.eye(2), numpy.ones(2)))[:2]
        == ("ij,j", "i")
    ),
    "MAX_NPY_HEADER_SIZE": lambda: numpy_private.MAX_NPY_HEADER_SIZE == 10000,
    "vectorize_with_signature": lambda: callable(numpy_private.vectorize_with_signature()),
    "core_dimensions": lambda: (
        numpy_private.core_dimensions(numpy.vectorize(abs, signature="(n)->()")) == [("n",)]
    ),
    "polynomial_evaluation": lambda: (
        numpy_private.polynomial_evaluation(numpy.polynomial.Polynomial)
        is numpy.polynomial.polynomial.polyval
    ),
    "global_random_state": lambda: isinstance(
        numpy_private.global_random_state(), numpy.random.RandomState
    ),
    "openblas_threads": lambda: all(
        isinstance(one, ctypes._CFuncPtr) for one in numpy_private.openblas_threads()
    ),
    "warning_sink": lambda: cpython_private.warning_sink() is not None,
}


@pytest.mark.parametrize("name", HOOKS)
def test_the_hook_is_there(name):
    assert HOOKS[name]()


@pytest.mark.parametrize("name", ["all", "any", "max", "mean", "min", "prod", "std", "sum", "var"])
def test_reductions_are_python_functions(name):
    assert callable(numpy_private.reduction_method(name))


@pytest.mark.parametrize("name", ["HASHED_UNIQUE", "ARRAY_CONVERTER", "LIKE_SUFFIX"])
def test_globals_that_rebinding_replaces_exist(name):
    wanted = getattr(numpy_private, name)
    modules = (
        "numpy.lib._arraysetops_impl",
        "numpy._core.numeric",
        "numpy.lib._function_base_impl",
    )
    names = {found for module in modules for found in vars(import_module(module))}
    assert any(found.endswith(wanted) for found in names)


def test_headers_of_npy_files():
    fields = {"descr": "<f8", "fortran_order": True, "shape": (2, 3)}
    file = io.BytesIO()
    numpy_private.write_npy_header(file, fields)
    file.seek(0)
    version = numpy.lib.format.read_magic(file)
    found = numpy_private.read_npy_header(file, version, 10000)
    assert found == ((2, 3), True, numpy.dtype("f8"))


@pytest.mark.parametrize("make", [numpy.random.default_rng, numpy.random.RandomState])
def test_bit_generators(make):
    assert isinstance(numpy_private.bit_generator(make(1)), numpy.random.BitGenerator)


def test_recorded_warnings_replace_the_sink():
    before = cpython_private.warning_sink()
    with warnings.catch_warnings(record=True):
        assert type(cpython_private.warning_sink()) is not type(before)
    assert cpython_private.warning_sink() is before


def test_objects_live_in_a_frame_until_it_returns():
    ended = []

    class Guard:
        def __del__(self):
            ended.append(True)

    def function():
        cpython_private.keep_in_frame(sys._getframe(), "not an identifier", Guard)
        cpython_private.keep_in_frame(sys._getframe(), "not an identifier", Guard)
        return len(ended)

    assert function() == 1  # the second one, which was not needed
    assert len(ended) == 2


def test_code_reads_another_attribute():
    def function(value):
        return value.real, (lambda: value.real)()

    code = cpython_private.with_renamed_attribute(function.__code__, "real", "imag")
    function.__code__ = code
    assert function(1 + 2j) == (2, 2)


def test_calls_are_attributed_to_a_line():
    code = cpython_private.call_code("program.py", 12)
    assert (code.co_filename, code.co_firstlineno) == ("program.py", 12)


def test_instructions_have_the_names_of_this_version():
    known = {*bytecode.LOADS, *bytecode.POPS, *bytecode.POPS_ARGUMENT_PLUS}
    assert {"LOAD_FAST", "BINARY_OP", "CALL", "COMPARE_OP", "LOAD_ATTR"} <= known & {*opcode.opname}
    operators = [symbol for _, symbol in opcode._nb_ops]
    assert operators[bytecode.MATMUL_OPERATOR] == "@"
    assert operators[bytecode.FIRST_IN_PLACE_OPERATOR] == "+="


# What the Rust extension imports.
RUST = {
    "numpy._core.umath": ("_extobj_contextvar", "clip"),
    "numpy._core._multiarray_umath": (),
    "numpy.linalg._umath_linalg": (),
}


@pytest.mark.parametrize("module", RUST)
def test_the_extension_finds_what_it_imports(module):
    assert all(hasattr(import_module(module), name) for name in RUST[module])


def test_the_installed_numpy_is_in_the_declared_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (declared,) = (one for one in project["dependencies"] if re.match(r"numpy\b", one))
    high = re.search(r"<(\d+)\.(\d+)", declared)
    assert high, "numpy needs an upper bound: private parts change between versions"
    assert tuple(map(int, numpy.__version__.split(".")[:2])) < tuple(map(int, high.groups()))


def test_no_other_module_uses_private_parts_of_numpy():
    private = re.compile(r"numpy\._(?!_)|numpy\.(lib|random|linalg)\._|_showwarnmsg|getrefcount")
    for path in PACKAGE.rglob("*.py"):
        if "_compat" in path.parts or path.name == "numpy_facts.py":
            continue
        code = [line for line in path.read_text().splitlines() if not line.strip().startswith("#")]
        found = [line for line in code if private.search(line) and "`" not in line]
        assert not found, f"{path}: {found}"
