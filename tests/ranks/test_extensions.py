"""Functions that NumPy does not have: distributions, pieces, `explain`, `sync`."""

from itertools import product

import dappled
import numpy
import pytest
from dappled.protocol import Distribution, Piece, validate, validate_all

SHAPE = (6, 8)


def distributions(ranks):
    """Every kind of distribution over `ranks` ranks."""
    dealt = [[range(rank, SHAPE[0], ranks) for rank in range(ranks)], None]
    return {
        "block": Distribution(SHAPE, "bn", nprocs=ranks),
        "columns": Distribution(SHAPE, "nb", nprocs=ranks),
        "uneven": Distribution(SHAPE, "bn", bounds=[[0] * ranks + [SHAPE[0]], None]),
        "cyclic": Distribution(SHAPE, "nc", nprocs=ranks, block_size=2),
        "padded": Distribution(SHAPE, "bn", nprocs=ranks, padding=(1, 0)),
        "unstructured": Distribution(SHAPE, "un", indices=dealt),
    }


def piece(values, distribution, rank):
    """The memory of one rank, cell by cell."""
    memory = numpy.empty(distribution.local_shape(rank), values.dtype)
    for cell in product(*map(range, memory.shape)):
        memory[cell] = values[distribution.global_index(rank, cell)]
    return memory


def check_pieces_come_in_and_go_out(distribution):
    rank = dappled.comm.rank
    values = numpy.arange(48.0).reshape(SHAPE)
    memory = piece(values, distribution, rank)
    array = dappled.from_distarray(Piece(memory, distribution.dim_data(rank)))
    assert numpy.asarray(array).tolist() == values.tolist()
    array[2:4] *= -1
    array += 100
    values[2:4] *= -1
    assert numpy.asarray(array).tolist() == (values + 100).tolist()
    if "padding" not in repr(
        distribution
    ):  # the neighbours' copies are old until they are asked for
        assert memory.tolist() == piece(values + 100, distribution, rank).tolist()


def check_offers(array):
    export = array.__distarray__()
    validate(export)
    assert numpy.shares_memory(export["buffer"], array.local)
    again = dappled.from_distarray(array)
    again[0] = 1
    assert (numpy.asarray(array)[0] == 1).all()
    if dappled.comm.size == 1:
        assert validate_all([export]).shape == array.shape


@pytest.mark.ranks(1, 2, 3, replicated_below=131_072)
@pytest.mark.usefixtures("quiet_fallback")
def test_extensions():
    for distribution in distributions(dappled.comm.size).values():
        check_pieces_come_in_and_go_out(distribution)
    for dtype, shape in product(["f8", "i4", "c8", "?"], [(3,), (40, 50), (300, 400)]):
        check_offers(dappled.zeros(shape, dtype))
    dappled.sync()
    assert "pending" in dappled.explain(dappled.zeros((300, 400)) + 1)
    objects = dappled.array(["text"], dtype=object)
    assert dappled.explain(objects).endswith("held by NumPy on every rank\n")


def test_labels_alone():
    distribution = Distribution((4,), "u", indices=[[[3, 1, 0, 2]]])
    memory = piece(numpy.arange(4.0), distribution, 0)
    array = dappled.from_distarray(Piece(memory, distribution.dim_data(0)))
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("wrong", [3, [1, 2], None, numpy.zeros(3)])
def test_explain_is_for_our_arrays(wrong):
    with pytest.raises(TypeError, match="dappled array"):
        dappled.explain(wrong)


@pytest.mark.ranks(1, 2, 3)
def test_explain_shows_the_plans_of_a_call():
    array = dappled.arange(1_000_000.0)
    size = dappled.comm.size
    text = dappled.explain(lambda: array.sum())
    expected = "local on every rank" if size == 1 else f"rank {dappled.comm.rank} of {size}"
    assert text.startswith("add of float64 (1000000)") and expected in text
    assert "rank 32 of 64" in dappled.explain(lambda: array.cumsum(), ranks=64)
    with pytest.raises(ZeroDivisionError):
        dappled.explain(lambda: 1 // 0)
    assert dappled.explain(lambda: None) == "no operation with a plan\n"
