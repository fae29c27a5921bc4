"""Every public name of NumPy is here, looks like NumPy's, and makes our arrays."""

import importlib
import inspect
import pickle
import subprocess
import sys
import warnings

import dappled
import numpy
import pytest

SUBMODULES = [
    *("char", "ctypeslib", "dtypes", "exceptions", "fft", "lib", "linalg", "ma", "polynomial"),
    *("random", "rec", "strings", "testing", "typing"),
    *("lib.array_utils", "lib.format", "lib.introspect", "lib.mixins", "lib.npyio"),
    *("lib.recfunctions", "lib.scimath", "lib.stride_tricks"),
    *("polynomial.chebyshev", "polynomial.hermite", "polynomial.hermite_e"),
    *("polynomial.laguerre", "polynomial.legendre", "polynomial.polynomial"),
    "polynomial.polyutils",
]
# Made anew over our arrays, so that they are not NumPy's objects with NumPy's signatures.
OWN_CLASSES = {"ndarray", "flatiter", "vectorize", "ufunc", "nditer", "poly1d"}


def public(module):
    names = getattr(module, "__all__", None) or dir(module)
    return sorted(name for name in names if not name.startswith("_"))


def pairs(module):
    theirs = importlib.import_module(f"numpy.{module}" if module else "numpy")
    ours = importlib.import_module(f"dappled.{module}" if module else "dappled")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return {name: (getattr(theirs, name), getattr(ours, name)) for name in public(theirs)}


def signature(function):
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return None


def plain(text, name):
    """A signature without the additions of the array API standard."""
    if name in ("fftfreq", "rfftfreq"):
        return text.replace(", *, dtype=None", "")
    return text.replace(", descending=False", "") if name in ("sort", "argsort") else text


@pytest.mark.parametrize("module", ["", *SUBMODULES])
def test_every_name_is_there(module):
    assert pairs(module)


@pytest.mark.parametrize("module", ["", *SUBMODULES])
def test_every_function_has_numpys_signature_name_and_text(module):
    different = []
    for name, (theirs, ours) in pairs(module).items():
        if not callable(theirs) or isinstance(theirs, type):
            continue
        if signature(theirs) != plain(signature(ours), name) or theirs.__doc__ != ours.__doc__:
            different.append((name, signature(theirs), signature(ours)))
        elif getattr(theirs, "__name__", "") != getattr(ours, "__name__", ""):
            different.append((name, theirs.__name__, ours.__name__))
    assert not different


@pytest.mark.parametrize("module", ["", *SUBMODULES])
def test_constants_types_and_errors_are_numpys_own(module):
    for name, (theirs, ours) in pairs(module).items():
        if isinstance(theirs, type) and issubclass(theirs, numpy.generic | Exception | numpy.dtype):
            assert ours is theirs, name
        if isinstance(theirs, int | float | str | tuple):
            assert ours is theirs, name


def test_every_method_and_attribute_of_the_array_is_there():
    mentioned = set(dir(dappled.ndarray))
    left_out = {
        *("__array_finalize__", "__array_interface__", "__array_priority__"),
        *("__array_struct__", "__array_wrap__", "__setstate__"),
    }
    assert set(dir(numpy.ndarray)) - mentioned <= left_out


def test_arrays_are_dappled_arrays():
    made = dappled.ones(3)
    assert isinstance(made, dappled.ndarray) and not isinstance(made, numpy.ndarray)
    assert isinstance(dappled.add, dappled.ufunc) and isinstance(made.flat, dappled.flatiter)


def test_aliases_are_identical():
    assert dappled.abs is dappled.absolute and dappled.concat is dappled.concatenate
    assert dappled.linalg.norm is importlib.import_module("dappled.linalg").norm
    assert dappled.sum is vars(dappled)["sum"]
    assert dappled.emath is dappled.lib.scimath


def test_unknown_names_raise_attribute_error():
    with pytest.raises(AttributeError, match="module 'dappled' has no attribute 'nothing'"):
        _ = dappled.nothing
    with pytest.raises(AttributeError, match=r"`np.float_` was removed in the NumPy 2.0 release"):
        _ = dappled.float_
    with pytest.raises(AttributeError, match=r"module 'dappled\.linalg' has no attribute"):
        _ = dappled.linalg.nothing
    with pytest.raises(AttributeError):
        _ = dappled._nothing


def test_dir_and_star():
    assert set(numpy.__all__) | {"config", "protocol"} <= set(dir(dappled))
    space = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("from dappled import *", space)
    assert space["sum"] is dappled.sum and space["ndarray"] is dappled.ndarray
    exec("from dappled.linalg import *", space)
    assert space["inv"] is dappled.linalg.inv


def test_functions_can_be_pickled():
    for thing in (dappled.sum, dappled.sort, dappled.add, dappled.linalg.inv, dappled.ndarray):
        assert pickle.loads(pickle.dumps(thing)) is thing


def test_import_loads_no_numpy_submodules():
    code = "import numpy, sys; before = set(sys.modules); import dappled; "
    code += "print(*(name for name in set(sys.modules) - before if 'dappled' not in name))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name for name in run.stdout.split() if name.startswith("numpy.")}
