"""`dappled run --as-numpy`: NumPy is Dappled in the program and NumPy in its libraries."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy
import pytest
from dappled.as_numpy.facade import facade_of
from dappled.as_numpy.importing import Program

from tests.support.command import dappled

# The program: each line is true, in every way in which programs are run.
PROGRAM = """
import importlib, pickle, sys
import numpy
import numpy as np
import numpy.linalg as la
import numpy.random
from numpy.linalg import norm
from numpy.random import default_rng, Generator
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from numpy.polynomial import Polynomial
import numpy.fft as fft, numpy.ma as ma, numpy.testing as npt, numpy.lib.stride_tricks
from numpy import *
import dappled
import inner.part, outside

def mine(value): return type(value) is dappled.ndarray
def imported():
    import numpy.fft
    from numpy import float64
    return numpy.fft, float64

assert np is numpy and mine(np.zeros(3)) and mine(zeros(3)) and mine(linspace(0, 1, 3))
assert la is np.linalg and norm is dappled.linalg.norm and norm([3.0, 4.0]) == 5
assert imported() == (np.fft, np.float64) and mine(np.fft.fft([1, 2]))
assert mine(numpy.random.default_rng(3).random(2)) and mine(np.random.rand(2))
assert 'comm' not in globals() and sum is dappled.sum
assert inner.part.numpy is np and mine(inner.part.later()) and inner.part.deep.np is np
assert outside.np is sys.modules['numpy'] is not np and not mine(outside.np.ones(2))
assert importlib.import_module('numpy') is np and importlib.import_module('numpy.fft') is np.fft
assert outside.again is sys.modules['numpy'] and __import__('numpy') is np
names = {}
exec('import numpy as np', names)
assert names['np'] is np
assert np.__version__ == outside.np.__version__ and np.__name__ == 'numpy'
assert np.newaxis is None and np.pi > 3 and np.int64 is outside.np.int64
assert np._core is outside.np._core
assert mine(np.lib.stride_tricks.sliding_window_view(np.arange(5), 2))
np.testing.assert_allclose(np.ones(3), 1.0)
assert npt is np.testing and assert_allclose is npt.assert_allclose and fft is np.fft
assert ma is np.ma and np.lib.stride_tricks is numpy.lib.stride_tricks
assert mine(sliding_window_view(arange(9.0), 3)) and isinstance(default_rng(1), Generator)
assert mine(default_rng(1).normal(size=5)) and mine(Polynomial([1, 2])(arange(3.0)))
assert isinstance(zeros(2), np.ndarray) and isinstance(zeros(2), ndarray)
assert not isinstance(outside.np.zeros(2), np.ndarray) and mine(np.r_[zeros(2), 1])
try: assert_allclose(zeros(3), ones(3))
except AssertionError as error: assert 'Mismatched elements: 3 / 3 (100%)' in str(error)
else: raise AssertionError('not close')
try: la.inv(zeros((2, 2)))
except np.linalg.LinAlgError as error: assert isinstance(error, outside.np.linalg.LinAlgError)
with np.errstate(all='ignore'): assert np.isnan(np.array([0.0]) / 0).all()
with np.printoptions(precision=2): assert str(np.array([0.123])) == '[0.12]'
assert mine(pickle.loads(pickle.dumps(np.arange(3))))
assert pickle.loads(pickle.dumps(mine)) is mine and pickle.loads(pickle.dumps(inner.part.later))
for wrong, kind in [('import numpy.nonsense', ModuleNotFoundError), ('np.nonsense', AttributeError),
                    ('from numpy import nonsense', ImportError), ('np.int', AttributeError)]:
    try: exec(wrong)
    except kind as error: said = str(error)
    else: raise AssertionError(wrong)
    try: exec(wrong, vars(outside))
    except kind as error: assert str(error) == said, (said, error)
a = np.arange(20.0).reshape(4, 5)
assert outside.total(a) == a.sum() == 190
assert not mine(outside.whole(a)) and isinstance(outside.whole(a), outside.np.ndarray)
print(__name__, *sys.argv[1:], dappled.comm.size)
sys.exit(3)
"""
FILES = {
    "inner/__init__.py": "",
    "inner/part.py": "import numpy\nfrom . import deep\ndef later(): return numpy.ones(2)",
    "inner/deep.py": "import numpy as np",
    "inner/__main__.py": PROGRAM,
    "__main__.py": PROGRAM,
    "program.py": PROGRAM,
}
OUTSIDE = """
import importlib
import numpy as np
again = importlib.import_module('numpy')
def total(a): return float(np.sum(a))
def whole(a): return np.asarray(a)
"""


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "here" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "here" / name).write_text(text)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "outside.py").write_text(OUTSIDE)
    return tmp_path / "here"


def run(folder, *arguments, **variables):
    path = [str(folder), str(folder.parent / "there"), os.environ.get("PYTHONPATH", "")]
    return dappled("run", *arguments, PYTHONPATH=os.pathsep.join(path), **variables)


def test_every_way_to_run_a_program(folder):
    ways = ([folder / "program.py"], ["-m", "program"], ["-m", "inner"], [folder])
    for way in ways:
        done = run(folder, "--as-numpy", *way, "-x", "y")
        assert (done.returncode, done.stdout) == (3, "__main__ -x y 1\n"), done.stderr
    code = "import numpy, sys; print(numpy.zeros(2).distribution.nprocs, *sys.argv); sys.exit(4)"
    done = run(folder, "--as-numpy", "-c", code, "-x")
    assert (done.returncode, done.stdout) == (4, "1 -c -x\n"), done.stderr


def test_on_several_ranks(folder):
    done = run(folder, "-n", 2, "--as-numpy", folder / "program.py", DAPPLED_REPLICATE_BELOW="0")
    assert (done.returncode, done.stdout) == (3, "__main__ 2\n"), done.stderr


def test_a_users_program_prints_the_same():
    program = str(Path(__file__).parent / "numpy_program.py")
    plain = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    variables = {"DAPPLED_REPLICATE_BELOW": "0", "DAPPLED_FALLBACK": "quiet"}
    for ranks in (1, 3):
        done = dappled("run", "-n", ranks, "--as-numpy", program, **variables)
        assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr


# A program that ends badly, and what Python says of it: the same, line by line.
FAILING = {
    "raises": "import numpy\ndef f(): raise ValueError(1)\nf()",
    "does not compile": "import numpy\nprint(",
    "imports what raises": "import wrong",
    "exits": "import sys\nsys.exit('why')",
}


@pytest.mark.parametrize("name", FAILING)
def test_failures_are_shown_as_python_shows_them(name, folder):
    (folder / "failing.py").write_text(FAILING[name])
    (folder / "wrong.py").write_text("import numpy\nnumpy.zeros(-1)")
    shown = [run(folder, *how, folder / "failing.py") for how in ([], ["--as-numpy"])]
    plain, changed = (
        [line for line in done.stderr.splitlines() if "dappled" not in line] for done in shown
    )
    assert shown[0].returncode == shown[1].returncode == 1
    assert changed[:2] == plain[:2] and changed[-1] == plain[-1] and len(changed) >= len(plain)


LIBRARIES = """
import numpy as np
import dappled
a = np.linspace(0, 1, 64)
{}
"""
USES = {
    "scipy": """
from scipy import integrate, linalg, optimize, signal
m = np.eye(8) * 2
assert type(linalg.solve(m, np.ones(8))).__module__ == 'numpy'
assert abs(integrate.simpson(a * a, x=a) - 1 / 3) < 1e-9
assert abs(optimize.minimize(lambda x: np.sum((x - 2) ** 2), np.zeros(3)).fun) < 1e-6
assert isinstance(a + signal.detrend(a), dappled.ndarray)
from scipy import interpolate, sparse, special, stats
assert type(special.erf(a)).__module__ in ('numpy', 'dappled')
assert abs(stats.norm.fit(np.asarray([1.0, 2, 3]))[0] - 2) < 1e-9
assert abs(interpolate.interp1d(a, a * 2)(0.5) - 1) < 1e-9
assert isinstance(np.asarray(sparse.eye(3) @ np.ones(3)), dappled.ndarray)
""",
    "matplotlib": """
from matplotlib.figure import Figure
figure = Figure()
axes = figure.subplots()
axes.plot(a, np.sin(a))
axes.imshow(np.outer(a, a))
axes.hist(a, bins=np.linspace(0, 1, 5))
axes.scatter(a, a ** 2, c=np.cos(a))
axes.pcolormesh(*np.meshgrid(a, a), np.outer(a, a))
axes.errorbar(a, a, yerr=np.full(64, 0.1))
axes.fill_between(a, a, a + 1, where=a > 0.5)
axes.contour(np.outer(a, a), levels=np.array([0.1, 0.5]))
axes.set_xticks(np.arange(3))
figure.savefig('/dev/null', format='png')
assert type(axes.lines[0].get_xdata(orig=False)).__module__ == 'numpy'
""",
}


@pytest.mark.parametrize("library", USES)
@pytest.mark.parametrize("ranks", [1, 2])
def test_libraries_get_numpys_arrays(library, ranks, tmp_path):
    pytest.importorskip(library)
    (tmp_path / "program.py").write_text(LIBRARIES.format(USES[library]))
    variables = {"DAPPLED_REPLICATE_BELOW": "0", "DAPPLED_FALLBACK": "quiet"}
    done = dappled("run", "-n", ranks, "--as-numpy", tmp_path / "program.py", **variables)
    assert done.returncode == 0, done.stderr


def test_modules_of_a_program(tmp_path):
    pure = sysconfig.get_paths()["purelib"]
    here, above = tmp_path / "program", tmp_path
    has = Program(str(here)).has
    assert has({"__name__": "__main__"}) and not has({})
    table = [(here / "a.py", True), (here / "b/c.py", True), (above / "d.py", False)]
    table += [(Path(pure) / "scipy/__init__.py", False), (Path(numpy.__file__), False)]
    for file, expected in table:
        assert has({"__name__": "some", "__file__": str(file)}) == expected
    # A program above everything, as one with its .venv beside it.
    assert not Program("/").has({"__name__": "scipy", "__file__": f"{pure}/scipy/__init__.py"})
    tool = Program(None, "tool").has
    assert tool({"__name__": "tool.part", "__file__": f"{pure}/tool/part.py"})
    assert not tool({"__name__": "toolbox", "__file__": f"{pure}/toolbox.py"})


def test_facades_have_numpys_names_and_no_private_module_of_ours():
    facade = facade_of(numpy)
    assert facade_of(numpy) is facade and facade.linalg is facade_of(numpy.linalg)
    assert facade.__all__ == numpy.__all__ and set(dir(facade)) == set(dir(numpy))
    assert all(hasattr(facade, name) for name in dir(numpy))
    assert facade_of(numpy._core) is numpy._core and facade_of(os) is os
