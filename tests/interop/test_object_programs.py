"""Objects of other libraries, and of the user, beside Dappled arrays."""

import dappled
import numpy
import pytest

from tests.interop.object_programs import PROGRAMS, seen


@pytest.mark.ranks(1, 3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_objects(name):
    assert seen(numpy, PROGRAMS[name]) == seen(dappled, PROGRAMS[name])


def test_a_description_keeps_the_memory():
    a = dappled.arange(100_000.0)
    address = a.__array_interface__
    a[:] = 1
    a *= 2
    assert numpy.asarray(a).ctypes.data == address["data"][0]


def test_a_file_in_memory_is_an_array_like_others(tmp_path):
    shown = dappled.memmap(tmp_path / "raw", dtype="f8", mode="w+", shape=4)
    assert type(dappled.ones(4) + shown) is dappled.ndarray


def test_reversed_of_a_0d_array_raises():
    with pytest.raises(TypeError, match="unsized"):
        reversed(dappled.asarray(3))
