"""`dappled coverage`: every name once, its category from the code; the page is current."""

import numpy
import pytest
from dappled.coverage.names import table
from dappled.coverage.page import counts, markdown, minor

from tests.support.command import dappled
from tests.support.mpi import ROOT

WAYS = {
    "native": ["sum", "add", "ndarray.reshape", "roll", "linalg.norm", "matmul", "ufunc.reduce"],
    "piecewise": ["divmod", "strings.upper", "vectorize"],
    "gathered": ["linalg.eig", "ma.sum", "matrix", "ndarray.tolist", "polynomial.Polynomial"],
    "not arrays": ["pi", "float64", "errstate", "linalg.LinAlgError", "ufunc.nin", "get_include"],
}


def test_every_public_name_has_a_category():
    found = table()
    modules = {name for name in numpy.__all__ if isinstance(getattr(numpy, name), type(numpy))}
    hidden = {name for name in numpy.__all__ if name.startswith("_")}
    assert set(numpy.__all__) - modules - hidden <= found.keys()
    assert {f"linalg.{name}" for name in ("svd", "inv", "solve")} <= found.keys()
    assert sum(counts(found).values()) == len(found)


@pytest.mark.parametrize("way", WAYS)
def test_categories(way):
    found = table()
    assert {name: found[name] for name in WAYS[way]} == dict.fromkeys(WAYS[way], way)


def test_the_page_is_current():
    page = (ROOT / "docs/coverage.md").read_text()
    assert f"NumPy {minor(numpy.__version__)} " in page, "the page describes another NumPy"
    assert page == markdown(table()), "run `make docs`"


def test_the_command():
    assert dappled("coverage", "numpy.sum", "np.pi").stdout == "native      sum\nnot arrays  pi\n"
    done = dappled("coverage")
    assert done.returncode == 0 and f"NumPy {numpy.__version__}" in done.stdout
    assert "ma.sum" in dappled("coverage", "--way", "gathered").stdout
    for wrong in (["nothing"], ["--way", "other"]):
        done = dappled("coverage", *wrong)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
