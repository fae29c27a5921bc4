"""Runs on every rank: functions that bring no array together, in values NumPy's."""

import os
import sys

import dappled as np
import numpy

from tests.fft.test_fft_arguments_ranks import FFT
from tests.fft.test_fft_ranks import TRANSFORMS
from tests.linalg.test_linalg_ranks import ALGEBRA
from tests.ndarray.test_assignment_ranks import DATES, WRITING
from tests.ndarray.test_bool_keys_ranks import TRUTHS
from tests.ndarray.test_nditer_ranks import NDITER
from tests.routines.test_argument_errors_ranks import KEPT
from tests.routines.test_bitwise_ranks import BITS, POLYNOMIALS
from tests.routines.test_counting_ranks import COUNTING
from tests.routines.test_creation_ranks import ALONG, CREATING, CUBES
from tests.routines.test_errors_ranks import REFUSED, WRONG
from tests.routines.test_indexing_ranks import INDEXING
from tests.routines.test_math_ranks import CALCULATING
from tests.routines.test_out_ranks import OUT
from tests.routines.test_products_ranks import PRODUCTS
from tests.routines.test_reduceat_ranks import REDUCEAT
from tests.routines.test_shaping_ranks import SHAPING
from tests.routines.test_sorting_ranks import SORTING
from tests.routines.test_vectorize_ranks import VECTORIZE
from tests.support.distributed_values import VALUES, raised

LAYOUTS = ["bb", "bn", "nb", "cn", "cb"]
# Programs of one array, each table a family of them.
OF_ONE = [SHAPING, CALCULATING, INDEXING, SORTING, COUNTING]
RARE = [BITS, DATES, KEPT, OUT, POLYNOMIALS, REDUCEAT, TRUTHS, VECTORIZE, WRITING]


def flat(results):
    if isinstance(results, list | tuple):
        return [value for result in results for value in flat(result)]
    return [results]


def outcome(program, *arrays):
    """What a program gives with NumPy, and the arrays afterwards."""
    copies = [array.copy() for array in arrays]
    return flat(program(numpy, *copies)) + copies


def differences(name, program, arrays, at_most):
    before = np.memory_stats()["gathered"]
    ours = [array.copy() for array in arrays]
    np.config.fallback = "error"
    try:
        found = flat(program(np, *ours)) + ours
        for value in found:
            if isinstance(value, np.ndarray):
                value._compute()
    except np.FallbackError as error:
        return [f"{name}: {error}"]
    finally:
        np.config.fallback = "quiet"
    gathered = np.memory_stats()["gathered"] - before
    if np.comm.size > 1 and gathered > at_most:
        return [f"{name}: {gathered} bytes gathered"]
    return compared(name, found, outcome(program, *map(numpy.asarray, arrays)))


def compared(name, found, expected):
    if len(found) != len(expected):
        return [f"{name}: {len(found)} results, not {len(expected)}"]
    for one, other in zip(found, expected, strict=True):
        if not isinstance(other, numpy.ndarray | numpy.generic):
            same = one == other
        else:
            values = numpy.asarray(one)
            exact = other.dtype.kind not in "fc" or (other == numpy.round(other, 3)).all()
            close = numpy.array_equal if exact else nearly
            same = values.dtype == other.dtype and values.shape == other.shape
            same = same and close(values, other)
        if not same:
            return [f"{name}: {one!r} is not {other!r}"]
    return []


def nearly(one, other):
    """Beside the largest of them all: what cancels out in one way does not in another."""
    precision = 1e-4 if other.dtype.char in "efF" else 1e-9
    return numpy.allclose(
        one, other, precision, precision * max(1, numpy.abs(other).max(initial=0))
    )


def laid_out(values, layout):
    return np.asarray(values, dist=layout)


def layouts(number, rare=False):
    """All of them; of what is rare, and on many ranks, two in turn, unless all is asked for."""
    if (np.comm.size < 7 and not rare) or os.environ.get("DAPPLED_TEST_ALL"):
        return LAYOUTS
    return [LAYOUTS[(number + more) % len(LAYOUTS)] for more in (0, 2)]


def of_one(names):
    # Not merged: a name may be in several tables.
    programs = [(item, table in RARE) for table in OF_ONE + RARE for item in table.items()]
    for number, ((name, program), rare) in enumerate(programs):
        for layout in layouts(number, rare):
            if not names or name in names:
                a = laid_out(VALUES, layout)
                yield differences(f"{name} {layout}", program, [a], VALUES.nbytes // 8)


def iterating(names):
    """All elements come to all ranks at last, but not at once."""
    for number, (name, program) in enumerate(NDITER.items()):
        for layout in layouts(number, rare=True):
            if not names or name in names:
                a = laid_out(VALUES[:9], layout)
                yield differences(f"{name} {layout}", program, [a], 10 * VALUES.nbytes)


def errors(names):
    """What is wrong may be gathered, for NumPy to say so: on every rank the same."""
    for name, program in (REFUSED | WRONG).items():
        np.config.fallback = "error" if name in REFUSED else "quiet"
        for layout in LAYOUTS[:2] if not names or f"wrong {name}" in names else []:
            a = laid_out(VALUES, layout)
            ours = raised(lambda act=program, a=a: act(np, a))
            theirs = raised(lambda act=program: act(numpy, VALUES.copy()))
            yield [] if ours == theirs else [f"wrong {name} {layout}: {ours!r} is not {theirs!r}"]


def transforms(names):
    for number, (name, program) in enumerate((TRANSFORMS | FFT).items()):
        for layout in layouts(number):
            if not names or name in names:
                a = laid_out(VALUES, layout)
                yield differences(f"{name} {layout}", program, [a], VALUES.nbytes // 8)


def algebra(names):
    part = VALUES[:42]
    definite = part @ part.T + 100 * numpy.eye(42)
    square = part + numpy.diag(numpy.arange(42)) + 1e-3
    for number, (name, program) in enumerate(ALGEBRA.items()):
        for place, layout in enumerate(LAYOUTS):
            if layout in layouts(number) and (not names or name in names):
                turn = 1 + 1j * ((place + number) % 3 == 2)
                tall = VALUES.reshape(-1, 6) * turn + numpy.arange(6)
                skewed = definite + turn.imag * 1j * (
                    numpy.tri(42, 42, -1) - numpy.tri(42).T + numpy.eye(42)
                )
                arrays = [laid_out(value, layout) for value in (skewed, square * turn, tall)]
                yield differences(f"{name} {layout}", program, arrays, VALUES.nbytes // 8)


def products(names):
    kinds = ["f8", "c16", "i1", "?", "f4", "u2"]
    for number, (name, program) in enumerate(PRODUCTS.items()):
        for place, layout in enumerate(LAYOUTS):
            kind = kinds[(number + place) % len(kinds)]
            if layout in layouts(number) and (not names or name in names):
                a = laid_out((VALUES % 5).astype(kind), layout)
                b = laid_out((VALUES % 3).astype(kind).T, LAYOUTS[(place + number) % 5])
                yield differences(f"{name} {layout} {kind}", program, [a, b], VALUES.nbytes // 8)


def creating(names):
    for programs, layouts in (
        (CREATING, ["bb", "cn", "nn"]),
        (ALONG, ["b", "c"]),
        (CUBES, ["nbc"]),
    ):
        for name, program in programs.items():
            for layout in [None, *layouts]:
                if not names or name in names:
                    wrong = differences(
                        f"{name} {layout}",
                        lambda xp, program=program, layout=layout: program(
                            xp, {} if xp is numpy else {"dist": layout}
                        ),
                        [],
                        10**6 if layout == "nn" else 0,
                    )
                    yield wrong or placed(name, program, layout)


def placed(name, program, layout):
    found = program(np, {"dist": layout}).distribution.dist
    wanted = layout or found
    return [] if np.comm.size == 1 or found == wanted else [f"{name}: {found}, not {wanted}"]


def main(names):
    tables = creating, of_one, iterating, errors, products, transforms, algebra
    wrong = [text for table in tables for found in table(names) for text in found]
    if np.comm.rank == 0:
        print(*wrong[:60], f"{len(wrong)} differences", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
