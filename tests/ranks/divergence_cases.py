"""Programs whose ranks differ, illegally or legally, one function each.

    mpiexec -n 2 python divergence_cases.py CASE

What is raised is written to the folder DAPPLED_TEST_SAID, a file for each rank.
"""

import gc
import os
import random
import sys
from pathlib import Path

import dappled as np
import numpy

RANK = np.comm.rank
OTHER = int(RANK == 1)  # on one rank 1, on the others 0
N = 100_000


def stored(n=N):
    a = np.arange(float(n)) * 0.5
    a._compute()
    return a


# -- Diverging, found by default ------------------------------------------------------------------
def scalar_of_an_unseeded_generator():
    return (np.ones((1000, 1000)) * random.random()).sum()


def scalar_into_stored():
    a = stored()
    return (a + random.random()).max()


def scalar_assigned():
    a = stored()
    a[5:50] = float(OTHER)
    return a.max()


def view_start():
    a = stored()
    return a[OTHER : 50_000 + OTHER].sum()


def view_start_max():
    a = stored()
    return a[OTHER : 50_000 + OTHER].max()


def view_step():
    a = stored()
    return a[:: 2 + OTHER][:30_000].sum()


def view_row():
    a = stored().reshape(100, 1000)
    return a[3 + OTHER].sum()


def view_assigned():
    a, b = stored(), stored()
    a[OTHER : 50_000 + OTHER] = b[:50_000]
    return a.sum()


def view_of_an_expression():
    a = stored()
    return (a * 2)[OTHER : 50_000 + OTHER].sum()


def which_array():
    a, b = stored(), stored() + 1
    b._compute()
    return (b if OTHER else a).sum()


def which_array_is_added():
    a, b, c = stored(), stored() * 2, stored() * 3
    for one in (b, c):
        one._compute()
    return (a + (b if OTHER else c)).sum()


def which_array_of_ones():
    a, b = np.ones(N), np.full(N, 2.0)
    return (b if OTHER else a).sum()


def which_version():
    a = stored()
    b = a.copy()
    a[0] = 7
    return (b if OTHER else a).sum()


def dict_in_the_order_of_a_set():
    rng = np.random.default_rng(1)
    arrays = {name: rng.random(N) for name in "abcdefghij"}
    order = sorted(arrays, key=lambda name: hash((name, OTHER)))
    total = 0.0
    for name in order:
        total = total * 0.5 + arrays[name].sum()
    return total


def generator_seeded_by_rank():
    return np.random.default_rng(RANK).random(N).sum()


def normal_seeded_by_rank():
    return np.random.default_rng(RANK).normal(size=N).sum()


def legacy_generator_seeded_by_rank():
    return np.random.RandomState(RANK).rand(N).sum()


def global_generator_used_once_more():
    np.random.seed(3)
    if OTHER:
        np.random.random()
    return np.random.random(N).sum()


def generator_used_once_more():
    rng = np.random.default_rng(3)
    if OTHER:
        rng.random()
    return rng.random(N).sum()


def integers_of_another_range():
    return np.random.default_rng(3).integers(0, 10 + OTHER, N).sum()


def parallel_generator_seeded_by_rank():
    return np.random.default_rng(RANK, parallel=True).random(N).sum()


def numpy_array_of_another_generator():
    a = stored()
    return (a + numpy.random.default_rng(RANK).random(N)).sum()


def numpy_array_given():
    return np.array(numpy.random.default_rng(RANK).random(N)).sum()


def numpy_mask():
    a = stored()
    return a[numpy.random.default_rng(RANK).random(N) > 0.5].sum()


def numpy_mask_of_as_many():
    a, mask = stored(), numpy.zeros(N, bool)
    mask[numpy.random.default_rng(RANK).permutation(N)[: N // 2]] = True
    return a[mask].sum()


def numpy_mask_assigned():
    a, mask = stored(), numpy.zeros(N, bool)
    mask[numpy.random.default_rng(RANK).permutation(N)[: N // 2]] = True
    a[mask] = 1.0
    return a.sum()


def numpy_condition():
    a = stored()
    return np.where(numpy.random.default_rng(RANK).random(N) > 0.5, a, 0.0).sum()


def index_array():
    a = stored()
    return a[numpy.random.default_rng(RANK).integers(0, N, 1000)].sum()


def index_array_assigned():
    a = stored()
    a[numpy.random.default_rng(RANK).integers(0, N, 1000)] = 1.0
    return a.sum()


def index():
    a = stored()
    return float(a[5 + OTHER])


def shape():
    return np.ones(N + OTHER).sum()


def shape_of_two_axes():
    return np.ones((100, 1000 + OTHER)).sum(axis=0)


def constant():
    return np.full(N, 1.0 + OTHER).sum()


def constant_without_a_message():
    a = np.full(N, 1.0 + OTHER) * 2
    return float(a.sum())


def dtype():
    return np.ones(N, ["f8", "f4"][OTHER]).sum()


def dtype_of_a_sum():
    a = np.arange(N)
    return a.sum(dtype=["i8", "f8"][OTHER])


def axis():
    return stored(90_000).reshape(300, 300).sum(axis=OTHER)


def axis_of_a_scan():
    return np.cumsum(stored(90_000).reshape(300, 300), axis=OTHER).max()


def axis_of_a_sort():
    a = np.random.default_rng(1).random((300, 300))
    return np.sort(a, axis=OTHER).max()


def axis_of_a_median():
    a = np.random.default_rng(1).random((300, 300))
    return np.median(a, axis=OTHER)


def initial():
    return stored().sum(initial=float(OTHER))


def quantile():
    return np.quantile(stored(), 0.5 + 0.1 * OTHER)


def shift():
    return np.roll(stored(), 1 + OTHER)[:3].sum()


def order_of_operands():
    a, b = stored(90_000).reshape(300, 300), stored(90_000).reshape(300, 300) + 1
    b._compute()
    return (b @ a if OTHER else a @ b).sum()


def order_of_what_is_joined():
    a, b = stored(), stored() + 1
    b._compute()
    return np.concatenate([b, a] if OTHER else [a, b])[:10].sum()


def reduction():
    a = stored()
    return a.min() if OTHER else a.max()


def distribution():
    blocks = np.protocol.Distribution((N,), "b", nprocs=np.comm.size)
    cyclic = np.protocol.Distribution((N,), "c", nprocs=np.comm.size)
    return np.zeros(N, dist=cyclic if OTHER else blocks).sum()


def redistributed():
    places = [np.protocol.Distribution((N,), kind, nprocs=np.comm.size) for kind in "bc"]
    return stored().redistribute(places[OTHER]).sum()


def files():
    folder = Path(os.environ["DAPPLED_TEST_SAID"])
    a, b = stored(), stored() + 1
    np.save(folder / "0.npy", a)
    np.save(folder / "1.npy", b)
    a, b = np.load(folder / "0.npy"), np.load(folder / "1.npy")
    return (b if OTHER else a).sum()


# -- Diverging, found with DAPPLED_CHECK=1 --------------------------------------------------------
def one_element_of_a_numpy_array():
    theirs = numpy.zeros(N)
    theirs[12_345] = OTHER
    return (stored() + theirs).sum()


def one_element_of_a_mask():
    mask = numpy.ones(N, bool)
    mask[12_345 + OTHER] = False
    return stored()[mask].sum()


def one_element_of_an_index_array():
    places = numpy.arange(10_000)
    places[1_234] += OTHER
    return stored()[places].sum()


def one_element_of_a_condition():
    condition = numpy.ones(N, bool)
    condition[12_345 + OTHER] = False
    return np.where(condition, stored(), 0.0).sum()


# -- Legal differences between ranks --------------------------------------------------------------
def replicated_work():
    a = stored()
    small = np.arange(100.0)
    if RANK == 0:
        small = small * 3 + random.random()
        assert small.sum() > 0 and small[3:7].max() > 0 and numpy.sort(small)[0] >= 0
        small[2] = 1.0
        np.median(small)
    a.sum()


def other_small_arrays():
    a = stored()
    mine = np.random.default_rng(RANK).random(50 + RANK)
    mine[mine > 0.5] = RANK
    assert mine.sum() >= 0
    a.sum()


def questions():
    a = stored().reshape(100, 1000)
    if RANK == 0:
        shape = np.shape(a), np.ndim(a), np.size(a), a.dtype, a.nbytes, len(a), a.T.shape
        assert shape and np.result_type(a, 1.0) == "f8" and a.strides and a.flags.c_contiguous
        assert np.iscomplexobj(a) is False and a[1:].ndim == 2
    a.sum()


def views_that_are_not_used():
    a = stored()
    if RANK == 0:
        views = a[1:], a[::-1], a.reshape(100, -1), a.T, np.reshape(a, (10, -1)), np.transpose(a)
        assert len(views) == 6
    a.sum()


def expressions_that_are_not_used():
    a = stored()
    if RANK == 0:
        b = a + 1
        del b
    a.sum()


def arrays_that_are_not_used():
    a = stored()
    if RANK == 0:
        b = np.zeros(N)
        del b
    a.sum()


def printing_the_piece():
    a = stored()
    if RANK == 0:
        with np.local():
            assert repr(a)
    a.sum()


def times_and_names():
    import time

    started = time.perf_counter()
    a = stored()
    total = a.sum()
    if RANK == 0:
        print(f"{total} in {time.perf_counter() - started} s by {os.getpid()}")
    with open(os.devnull, "w") as file:
        print(RANK, random.random(), file=file)
    a.sum()


def results_used_by_one_rank():
    a = stored()
    total, rows = a.sum(), a.reshape(100, 1000).mean(axis=1)
    if RANK == 0:
        print(float(total), rows[:3], rows * 2, numpy.asarray(rows).sum())
    a.sum()


def pieces_that_differ():
    a = stored()
    a.local[:] = RANK
    blocks = a.distribution
    assert a.sum() > 0 and blocks is not None
    b = np.from_distarray(a)
    return (b + 1).sum()


def garbage_at_other_times():
    gc.disable()
    a, c = stored(), stored()
    for step in range(24):
        b = c * (step + 1.0)
        cycle = [a + step, a[::-1] * step, b]
        cycle.append(cycle)
        if step % (RANK + 2) == 0:
            gc.collect()
        a[:] = b
        kept = [a[1:], cycle[0]] if step % 3 == RANK else []
        assert numpy.isfinite(b.sum())
        a[1:] = a[:-1] + cycle[0][1:]
        a[0] = len(kept) * 0 + step
        a += 1
        del cycle, b
    gc.enable()
    assert numpy.isfinite(a.sum())


def equal_values_of_other_origin():
    a = stored()
    factor = 2.0 if RANK else float(numpy.float64(4.0) / 2)
    (a * factor).sum()
    names = ["a", "b"] if RANK else list("ab")
    assert np.concatenate([a, a]).sum() > 0 and names


def messages_of_ones_own():
    from dappled._ranks.comm import comm

    a = stored()
    comm.barrier()
    np.sync()
    assert comm.stats().messages >= 0
    a.sum()


LEGAL = [
    replicated_work,
    other_small_arrays,
    questions,
    views_that_are_not_used,
    expressions_that_are_not_used,
    arrays_that_are_not_used,
    printing_the_piece,
    times_and_names,
    results_used_by_one_rank,
    pieces_that_differ,
    garbage_at_other_times,
    equal_values_of_other_origin,
    messages_of_ones_own,
]
CHECKED = [
    one_element_of_a_numpy_array,
    one_element_of_a_mask,
    one_element_of_an_index_array,
    one_element_of_a_condition,
]


def legal():
    for case in LEGAL:
        case()
        if RANK == 0:
            print("fine", case.__name__)


def main(name):
    try:
        globals()[name]()
    except RuntimeError as error:
        Path(os.environ["DAPPLED_TEST_SAID"], str(RANK)).write_text(str(error))
        raise


if __name__ == "__main__":
    main(sys.argv[1])
