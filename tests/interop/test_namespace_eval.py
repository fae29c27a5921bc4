"""`vars(np)` has all names, and `np.__version__` is NumPy's."""

import subprocess
import sys
from importlib.metadata import version

import dappled
import numpy
import pytest

PROGRAM = """
import sys
import {name} as np
found = eval('sin(arange(3.0)).sum() + linalg.norm(ones(4))', dict(vars(np)))
assert abs(found - 3.7507684116335782) < 1e-15, found
assert 'matmul' in np.__dict__ and 'dtype' in vars(np) and 'random' not in vars(np)
assert type(eval('ones(3)', vars(np))).__module__ == {module!r}
import numpy
missing = [n for n in vars(numpy) if not n.startswith('_') and n not in vars(np)]
assert missing == [], missing
import numpy.linalg, numpy.random
for part in ('linalg', 'random'):
    theirs, ours = vars(getattr(numpy, part)), vars(getattr(np, part))
    assert [n for n in theirs if not n.startswith('_') and n not in ours] == []
assert np.__version__ == {version!r} and np.version.version == {version!r}
assert not any(name.startswith('numpy.f2py') for name in sys.modules)
"""


@pytest.mark.parametrize("as_numpy", [False, True])
def test_names_are_there_before_they_are_used(as_numpy):
    names = {"name": "numpy" if as_numpy else "dappled", "module": "dappled"}
    code = PROGRAM.format(**names, version=numpy.__version__)
    command = ["-m", "dappled", "run", "--as-numpy", "-c", code] if as_numpy else ["-c", code]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_names_found_by_vars_are_those_of_the_module():
    for name, value in vars(dappled).items():
        if not name.startswith("__"):
            assert getattr(dappled, name) is value


def test_importing_finds_no_names():
    """They are found when they are asked for: the import would take half as long again."""
    code = "import sys, dappled; assert 'dappled._routines.histograms' not in sys.modules;"
    code += "vars(dappled); assert 'dappled._routines.histograms' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_lambdify():
    sympy = pytest.importorskip("sympy")
    x = sympy.symbols("x")
    function = sympy.lambdify(x, sympy.sin(x) ** 2 + sympy.exp(x), modules=[dappled])
    values = numpy.linspace(0, 1, 9)
    found = function(dappled.array(values))
    assert type(found) is dappled.ndarray
    assert numpy.allclose(found, numpy.sin(values) ** 2 + numpy.exp(values), rtol=1e-14)


def test_versions():
    """Programs compare `np.__version__` with NumPy's versions; ours is the package's."""
    assert dappled.__version__ == numpy.__version__
    assert dappled.lib.NumpyVersion(dappled.__version__) >= "2.0.0"
    assert version("dappled") != dappled.__version__
