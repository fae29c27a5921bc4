"""Runs on every rank: what is new where there are several, each thing in one function."""

import itertools
import os
import pickle
import re
import sys
import warnings

import dappled as np
import numpy
from dappled import _core

VALUES = numpy.arange(12.0).reshape(3, 4) - 5


def array(dtype="f8"):
    return np.array(VALUES.astype(dtype))


def everywhere(value):
    """What all ranks have."""
    return [pickle.loads(sent) for sent in _core.gather("a test", pickle.dumps(value))]


def line():
    return sys._getframe(1).f_lineno


PIECEWISE = {
    "complex": lambda np, a: np.exp(a.astype("c16")),
    "two results": lambda np, a: np.divmod(a, 3),
    "operator": lambda np, a: divmod(a, a.T.reshape(3, 4) + 0.5),
    "integers": lambda np, a: np.divmod(a.astype("i4"), a.astype("i2")[0]),
    "modf": lambda np, a: np.modf(a),
    "frexp": lambda np, a: np.frexp(a[::-1]),
    "NumPy's own": lambda np, a: numpy.ldexp(a, 3),
    "mixed": lambda np, a: numpy.ldexp(VALUES, a.astype("i4")),
    "a list": lambda np, a: np.heaviside(a, [0, 1, 2, 3]),
    "dtype": lambda np, a: np.exp(a.astype("i4"), dtype="f4"),
    "exact": lambda np, a: a.astype("i8") < a.astype("u8"),
    "vectorize": lambda np, a: np.vectorize(lambda x, y: x if x > y else 1)(a, 2),
    "vectorize two": lambda np, a: np.vectorize(lambda x: (x, int(x)))(a),
    "vectorize otypes": lambda np, a: np.vectorize(lambda x: x, otypes="i")(a),
}


def test_element_wise_functions_are_run_on_pieces():
    for name, program in PIECEWISE.items():
        np.config.fallback = "error"
        ours, theirs = program(np, array()), program(numpy, VALUES.copy())
        np.config.fallback = "quiet"
        for one, other in zip(listed(ours), listed(theirs), strict=True):
            assert isinstance(one, np.ndarray) and one.dtype == other.dtype, name
            assert not np.comm.size > 1 or one.distribution.dist != "nn", name
            numpy.testing.assert_array_equal(one.tolist(), other.tolist(), name)


def listed(results):
    return results if isinstance(results, tuple) else (results,)


def test_an_error_on_one_piece_is_raised_everywhere():
    def refuse(value):
        if value == 2:
            raise KeyError("two")
        return value

    try:
        np.vectorize(refuse)(array())
        error = None
    except KeyError as raised:
        error = raised
    assert everywhere(repr(error)) == ["KeyError('two')"] * np.comm.size


def test_a_function_that_looks_at_an_array_in_pieces_is_called_for_all_elements():
    table = array()
    found = np.vectorize(lambda row: table[int(row) % 3].sum())(array()[0])
    assert found.tolist() == [VALUES[int(row) % 3].sum() for row in VALUES[0]]


def test_numpys_warnings_name_the_line_of_the_program():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.nanmedian(np.asarray([numpy.nan] * 3)), np.ldexp(array() * 1e300, 900)
        here = line() - 1
    assert {(w.filename, w.lineno) for w in caught} <= {(__file__, here)}
    assert sum(everywhere(len(caught))) > 1


def signalling():
    """Programs of which one rank alone signals something, and what all then raise."""
    one, large = numpy.ones(64), numpy.full(64, 1.0)
    one[-1], large[:2] = 0, 1e308
    a, b, c = np.asarray(one), np.asarray(large), np.asarray(1 / one)
    yield lambda: 1 / a, "divide by zero encountered in divide"
    yield lambda: b.sum(), "overflow encountered in reduce"
    yield lambda: b.reshape(8, 8).sum(axis=0), None
    yield lambda: b.reshape(8, 8).sum(axis=1), "overflow encountered in reduce"
    yield lambda: b.cumsum(), "overflow encountered in accumulate"
    yield lambda: (b * b).sum(), "overflow encountered in multiply"
    yield lambda: np.divide(1, a).astype("i4"), "divide by zero encountered in divide"
    yield lambda: c.astype("i4"), "invalid value encountered in cast"
    yield lambda: np.zeros(64, "i4").__setitem__(..., c), "invalid value encountered in cast"


def raised(program):
    try:
        program()
    except (FloatingPointError, RuntimeWarning) as error:
        return str(error)


def test_what_one_rank_signals_all_raise():
    with numpy.errstate(all="ignore"):
        programs = list(signalling())
    for program, message in programs:
        with numpy.errstate(all="raise", under="ignore"):
            found = everywhere(raised(program))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found += everywhere(raised(program))
        assert len(set(found)) == 1 and str(found[0]).startswith(str(message)), found


def test_a_sum_in_pieces_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.asarray(numpy.full(2 * np.comm.size, 1e308)).sum()
        here = line() - 1
    said = [(str(w.message), w.lineno) for w in caught]
    assert [*itertools.chain(*everywhere(said))] == [("overflow encountered in reduce", here)]


def test_sync_computes_what_is_pending():
    a = array() * 2
    b, c = a + 1, (a - 1)[1:]
    if np.comm.rank == 0:
        del a
    np.sync()
    assert "pending" not in np.explain(b) + np.explain(c)
    d = b * b
    np.sync(d)
    assert "pending" not in np.explain(d) and d[0, 0] == (2 * VALUES[0, 0] + 1) ** 2


def test_numbers_without_a_seed_are_the_same_everywhere():
    drawn = [
        np.random.rand(3),
        np.random.default_rng().normal(size=3),
        np.random.RandomState().rand(2),
        np.random.Generator(np.random.PCG64()).random(2),
        np.random.default_rng().spawn(1)[0].random(2),
    ]
    np.random.seed()
    drawn += [np.random.normal(size=2), np.random.default_rng(5).random(2)]
    values = [array.tolist() for array in drawn]
    assert everywhere(values) == [values] * np.comm.size
    assert values[-1] == numpy.random.default_rng(5).random(2).tolist()


def test_what_a_mask_chose_stays_as_it_was():
    """Also where it was not computed when what it was chosen from is written."""
    writes = {
        "all": lambda v: v.__setitem__(..., 9),
        "part": lambda v: v.__setitem__(slice(2, None, 3), 9),
        "in place": lambda v: v.__iadd__(5),
        "mask": lambda v: v.__setitem__(v > 2, 0),
        "numbers": lambda v: v.__setitem__([0, 2, 4], -1),
        "sort": lambda v: v[::-1].sort(),
    }
    for size in (10, 40_000):
        for name, write in writes.items():
            results = []
            for module in (numpy, np):
                v = module.arange(float(size))
                mask = module.asarray(numpy.arange(size) % 2 == 0)
                chosen = [v[mask], v[v > 3]]
                write(v)
                results.append([*chosen, v])
            for wanted, found in zip(*results, strict=True):
                assert wanted.tolist() == found.tolist(), (name, size)


def test_halves_are_in_order():
    """NumPy's own are not, on some CPUs: it is no oracle here. On one rank they are its own."""
    values = numpy.random.default_rng(5).integers(-5, 6, 100_000).astype("e")
    found = numpy.asarray(np.sort(np.array(values)))
    assert np.comm.size == 1 or (numpy.diff(found) >= 0).all()
    assert found.astype(int).sum() == values.astype(int).sum()


def test_the_ranks():
    assert everywhere(np.comm.rank) == [*range(np.comm.size)]
    np.comm.barrier()
    np.sync()
    assert repr(np.comm) == f"Comm(rank={np.comm.rank}, size={np.comm.size})"
    assert everywhere(np.comm.name) == [np.comm.name] * np.comm.size
    nodes = int(os.environ.get("MPIR_CVAR_NUM_CLIQUES", "1"))
    assert max(everywhere(np.comm.node_rank)) == -(-np.comm.size // nodes) - 1


def in_rows(shape):
    """Zeros, of which each rank has some rows."""
    distribution = np.protocol.Distribution(shape, "bn", nprocs=np.comm.size)
    return np.zeros(shape).redistribute(distribution)


def test_laplace_sends_a_row_to_each_neighbour():
    times, columns = 5, 300
    u = in_rows((16 * np.comm.size, columns))
    u[0] = 1
    before = np.comm.stats()
    for _ in range(times):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    sent = np.comm.stats() - before
    neighbours = (np.comm.rank > 0) + (np.comm.rank < np.comm.size - 1)
    assert sent.messages == times * neighbours
    assert sent.bytes == times * neighbours * (columns - 2) * u.itemsize


def test_explain_says_what_is_sent():
    u = in_rows((1000 * np.comm.size, 300))
    u[0] = 1  # zeros everywhere would not have to be sent
    v = u[:-2] * 2 + u[2:]
    said = [int(found) for found in re.findall(r"^send (\d+)", np.explain(v), re.M)]
    before = np.comm.stats()
    assert v.local.dtype == v.dtype  # which needs the values
    sent = np.comm.stats() - before
    assert (sent.messages, sent.bytes) == (len(said), sum(said) * v.itemsize)
    assert np.comm.size == 1 or sum(everywhere(sent.messages)) > 0


def test_one_rank_may_look_at_its_part():
    a = array() * 2
    view, text = a[1:], ""
    if np.comm.rank == np.comm.size - 1:
        with np.local():
            text = repr(a) + str(view)
        try:
            raise ValueError
        except ValueError:
            text += str(a)
    if text and np.comm.size > 1:
        assert text.count("Distribution((3, 4)") == 3 and f"rank {np.comm.rank} has" in text
    assert repr(a) == repr(VALUES * 2)


def test_alone_nothing_can_be_sent():
    a, refused = array(), []
    calls = [
        lambda: np.median(a),
        lambda: numpy.asarray(a),
        lambda: np.divmod(a, 2),
        lambda: np.random.default_rng(),
        np.comm.barrier,
        np.sync,
    ]
    with np.local():
        for call in calls if np.comm.rank == 0 and np.comm.size > 1 else ():
            try:
                call()
            except RuntimeError as error:
                refused.append("inside dappled.local() nothing is sent" in str(error))
    assert np.comm.rank or np.comm.size == 1 or refused == [True] * len(calls)
    assert a.sum() == VALUES.sum()


def test_views_that_only_numpy_knows_stay_views():
    a = array()
    a.view("u1")[0, :8] = numpy.array([7.0]).view("u1")
    np.lib.stride_tricks.as_strided(a, (2, 2), (64, 8))[1] = 9
    windows = np.lib.stride_tricks.sliding_window_view(a, 2, 1)
    a.mT[3] = 3
    expected = VALUES.copy()
    expected[0, 0], expected.reshape(-1)[8:10], expected[:, 3] = 7, 9, 3
    assert a.tolist() == expected.tolist() and windows[0, 2].tolist() == [-3, 3]
    assert not windows.flags.writeable


def test_pieces_that_other_libraries_have_become_an_array():
    shape = (2 * np.comm.size, 3)
    distribution = np.protocol.Distribution(shape, "cn", nprocs=np.comm.size)
    memory = numpy.full((2, 3), float(np.comm.rank))
    offered = np.protocol.Piece(memory, distribution.dim_data(np.comm.rank))
    a = np.from_distarray(offered)
    assert a[:, 0].tolist() == [*range(np.comm.size)] * 2
    a += 1
    assert memory[0, 0] == np.comm.rank + 1


def error_of(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return None


def test_a_distribution_that_does_not_fit_is_refused_alike():
    other = np.protocol.Distribution((3, 5), "bn", nprocs=np.comm.size)
    calls = [
        lambda: np.zeros((3, 4), dist="bx"),
        lambda: np.ones((3, 4), dist="b"),
        lambda: np.arange(5, dist="u"),
        lambda: np.full((3, 4), 1, dist=3),
        lambda: np.asarray(VALUES, dist=other),
        lambda: np.zeros((3, 4), dist=np.protocol.Distribution((3, 4), "bn", nprocs=11)),
        lambda: np.array(["text"], dtype=object, dist="b"),
        lambda: array().redistribute("bbb"),
    ]
    errors = [error_of(call) for call in calls]
    assert all(errors), errors
    assert everywhere(errors) == [errors] * np.comm.size
    assert [name for name, _ in errors].count("TypeError") == 2


def test_results_lie_where_their_operands_lie():
    a = np.asarray(VALUES, dist="cn")
    for result in (
        a + 1,
        2 * a,
        np.sqrt(abs(a)),
        a > 0,
        a.astype("f4"),
        a.copy(),
        np.zeros_like(a),
    ):
        assert result.distribution == a.distribution
    b = np.asarray(numpy.arange(60.0).reshape(20, 3), dist="bn")
    parts = b[1:] - b[:-1]
    assert np.comm.size == 1 or parts.distribution == b.distribution.slice(slice(-1))


STRUCTURED = numpy.dtype([("x", "f8"), ("n", "i4"), ("s", "U2")])
ITEMS = {
    "dates": VALUES.astype("m8[D]") + numpy.datetime64("2000-02-28"),
    "spans": VALUES.astype("m8[s]"),
    "texts": VALUES.astype("U6"),
    "bytes": VALUES.astype("S4"),
    "long": VALUES.astype("g"),
    "swapped": VALUES.astype(">f4"),
    "structures": numpy.array([(v, v, "ab") for v in VALUES.flat], STRUCTURED).reshape(3, 4),
}
# None of these gathers anything.
OF_ITEMS = {
    "part": lambda np, a: a[1:, ::2].T,
    "copy": lambda np, a: (a.copy("F"), a[1:].copy(), np.array(a)),
    "cast": lambda np, a: a.astype(a.dtype.newbyteorder()),
    "compare": lambda np, a: (a == a[::-1], a != a[0, 0], a[:1] == a),
    "join": lambda np, a: np.concatenate([a, a[1:]], axis=1 - 1),
    "roll": lambda np, a: np.roll(a, 1, axis=1),
    "where": lambda np, a: np.where(a == a[::-1], a, a[0, 0]),
    "make": lambda np, a: (np.zeros_like(a), np.full((3, 4), a[0, 0]), np.zeros((4, 3), a.dtype)),
    "repeat": lambda np, a: np.broadcast_to(a[:1], (2, 5, 4)).copy(),
    "element": lambda np, a: np.full((2, 2), a[2, 3]),
}
OF_SOME = {
    ("dates", "subtract"): lambda np, a: a - a[0, 0],
    ("dates", "extremes"): lambda np, a: (a.max(axis=0), a.T.min(axis=1)),
    ("dates", "in place"): lambda np, a: a.__iadd__(numpy.timedelta64(3)),
    ("dates", "texts"): lambda np, a: (a.astype("U"), np.datetime_as_string(a, unit="M")),
    ("dates", "isnat"): lambda np, a: np.isnat(a),
    ("spans", "sums"): lambda np, a: (a.sum(axis=0), np.cumsum(a, axis=1), a.mean(axis=1)),
    ("spans", "scaled"): lambda np, a: a * 2 / numpy.timedelta64(1, "m"),
    ("texts", "strings"): lambda np, a: (np.strings.str_len(a), a + a, np.strings.isalpha(a)),
    ("long", "chain"): lambda np, a: np.exp(a * 2) + a,
    ("long", "into"): lambda np, a: np.multiply(a, 2, out=a),
    ("structures", "field"): lambda np, a: (a["x"], a["s"] + "!", a["x"] * 2 + a["n"]),
    ("structures", "set"): lambda np, a: [a["x"].__setitem__((1, slice(1, 3)), 7), a][1],
    ("structures", "add"): lambda np, a: [a["n"][1:].__iadd__(1), a][1],
    ("structures", "row"): lambda np, a: [a.__setitem__(1, (1, 2, "z")), a][1],
    ("structures", "fold"): lambda np, a: (a["x"].sum(axis=0), a["n"].max(axis=1)),
}


def test_items_are_in_pieces_and_computed_there():
    cases = [((name, what), call) for name in ITEMS for what, call in OF_ITEMS.items()]
    for (name, what), program in [*cases, *OF_SOME.items()]:
        np.config.fallback = "error"
        ours = program(np, np.array(ITEMS[name]))
        np.config.fallback = "quiet"
        theirs = program(numpy, ITEMS[name].copy())
        for one, other in zip(listed(ours), listed(theirs), strict=True):
            assert isinstance(one, np.ndarray) and one.dtype == other.dtype, (name, what)
            assert one.tolist() == other.tolist(), (name, what, one.tolist(), other.tolist())
            assert np.comm.size == 1 or not one._whole, (name, what)


def test_items_lie_as_numbers_do():
    for name, values in ITEMS.items():
        a, numbers = np.array(values), np.array(VALUES)
        if np.comm.size > 1:
            assert a.distribution == numbers.distribution, name
            cyclic = np.protocol.Distribution((3, 4), "cb", nprocs=np.comm.size)
            moved = a.redistribute(cyclic)
            assert moved.distribution == cyclic and moved.local.dtype == values.dtype
            assert moved.local.shape == cyclic.local_shape(np.comm.rank)
            assert moved.tolist() == values.tolist()
            again = np.from_distarray(moved)
            again[1] = values[2]
            assert moved[1].tolist() == values[2].tolist() and again.dtype == values.dtype
        assert (a.shape, a.strides, a.nbytes) == (values.shape, values.strides, values.nbytes)
        assert repr(a) == repr(values) and pickle.loads(pickle.dumps(a)).tolist() == values.tolist()


def test_a_structure_alone_is_a_copy_that_cannot_be_written():
    a = np.asarray(ITEMS["structures"])
    if np.comm.size > 1:
        try:
            a[0, 0]["x"] = 5
            raise AssertionError("written into a copy")
        except ValueError as error:
            assert "read-only" in str(error)
    assert a[0, 0] == ITEMS["structures"][0, 0]


def test_what_functions_make_is_ours():
    made = [np.nanmedian(array(), keepdims=True), *np.diag_indices_from(array()[:, :3])]
    theirs = [numpy.nanmedian(VALUES, keepdims=True), *numpy.diag_indices_from(VALUES[:, :3])]
    for one, other in zip(made, theirs, strict=True):
        assert isinstance(one, np.ndarray) and one.tolist() == other.tolist(), one


def test_columns_lie_in_a_row_where_that_is_asked_for():
    for values in (VALUES, VALUES.tolist(), ITEMS["dates"]):
        for make in (lambda xp, v: xp.array(v, order="F"), lambda xp, v: xp.asfortranarray(v)):
            ours, theirs = make(np, values), make(numpy, values)
            assert ours.strides == theirs.strides and ours.tolist() == theirs.tolist()
            ours.reshape(-1)[0] = ours[2, 3]
            assert ours.tolist() == theirs.tolist(), "a copy was written"
            ours.T.reshape(-1)[1] = ours[2, 3]
            assert ours[1, 0] == theirs[2, 3], "a view was written"


def unlike(values, kind):
    """An array of NumPy's that on every rank has something else in bytes that mean nothing."""
    made = numpy.array(values, kind)
    if kind == "g" and numpy.finfo(kind).nmant == 63:
        made.view("u1").reshape(-1, made.itemsize)[:, 10:] = np.comm.rank + 1
    return made


def test_bytes_without_meaning_are_not_compared():
    numpy.full(5, np.comm.rank)  # whose memory NumPy hands out again
    assert np.empty(5, int, device="cpu").tolist() == [0] * 5
    assert np.fft.fftfreq(5, device="cpu").tolist() == numpy.fft.fftfreq(5).tolist()
    a, expected = np.zeros((4, 5), "g"), numpy.zeros((4, 5), "g")
    for each in (a, expected):
        each.flat[::7] = unlike([1, 2], "g")
        each[[1, 2], [3, 4]] = unlike([1, 2], "g")
        each[0, 1:3] = unlike([3], "g")
    assert a.tolist() == expected.tolist()


def test_objects_are_whole_on_every_rank():
    a = np.array(VALUES.astype(object))
    assert a._whole and (a + 1).tolist() == (VALUES + 1).tolist()
    a[1] = "text"
    assert a[1, 2] == "text"


def whole(values=VALUES):
    everywhere = np.protocol.Distribution(values.shape, "n" * values.ndim, nprocs=np.comm.size)
    return np.array(values).redistribute(everywhere)


def test_what_is_whole_on_several_ranks_is_shown_to_be_read():
    for values in (VALUES, ITEMS["dates"]):
        a = whole(values)
        shown = numpy.asarray(a)
        assert shown.flags.writeable == (np.comm.size == 1)
        a[1] = values[0, 0]
        assert shown[1].tolist() == [values[0, 0].item()] * 4, "writes are seen"
        before = a.copy()
        a[2] = values[0, 0]
        assert before[2].tolist() == values[2].tolist() and a[2, 1] == values[0, 0]


def test_what_one_rank_shows_changes_nothing_for_the_others():
    a, in_parts, kept = whole(), array(), []
    pending = a + in_parts
    for step in range(6):
        if np.comm.rank == step % np.comm.size:
            kept.append(numpy.asarray(a))  # local: the array is whole
        pending = pending + a
        a[step % 3] += in_parts[0]
        a[...] = a + 1
        copy = a.copy()
        copy[0] = in_parts[1]
        if step % 2:
            kept.clear()
    b, expected = VALUES.copy(), VALUES + VALUES
    for step in range(6):
        expected = expected + b
        b[step % 3] += VALUES[0]
        b += 1
    assert pending.tolist() == expected.tolist() and a.tolist() == b.tolist()


def test_a_piece_of_what_is_whole_puts_it_in_pieces():
    for values in (VALUES, ITEMS["structures"]):
        a = whole(values)
        view = a[1:]
        local = a.local
        assert a.__distarray__()["buffer"] is not None
        if np.comm.size > 1:
            assert not a._whole and a.distribution == np.asarray(VALUES).distribution
            assert local.shape == a.distribution.local_shape(np.comm.rank)
        view[0] = values[2]
        assert a[1].tolist() == values[2].tolist()


def test_what_is_handed_out_comes_back():
    a = array()
    b = np.from_distarray(a)
    b[1] = 7
    own, back = a.local, b.local
    assert a[1].tolist() == [7] * 4 and (numpy.shares_memory(own, back) or not own.size)


def test_functions_that_write_ask_for_what_numpy_asks_for():
    a = np.asarray(numpy.arange(9.0).reshape(3, 3))
    out = np.zeros((3, 3))
    assert np.dot(a, a, out=out) is out and out.tolist() == (a @ a).tolist()
    for wrong in (np.zeros((3, 3)).T, np.zeros((6, 6))[::2, ::2]):
        try:
            np.dot(a, a, out=wrong)
            raise AssertionError("NumPy refuses it")
        except ValueError as error:
            assert "output array is not acceptable" in str(error)


def main():
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    for name, test in tests.items():
        np.config.fallback = "quiet"
        test()
        np.sync()
        if np.comm.rank == 0:
            print(name)


if __name__ == "__main__":
    main()
