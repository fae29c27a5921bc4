"""A failed allocation raises MemoryError on every rank and changes no array."""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import dappled as np
import pytest

from tests.support.mpi import MPIEXEC

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[2]
CASES_FILE = HERE / "out_of_memory_cases.py"
CASES = re.search(r'CASES = """\n(.*?)\n"""', CASES_FILE.read_text(), re.DOTALL)[1].splitlines()
LIMIT = 120
# One heap without a cache: free memory in a pool would not count against the limit.
VARIABLES = {
    "DAPPLED_CACHE": "0",
    "DAPPLED_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "RUST_BACKTRACE": "1",
}
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS"),
]


def launch(ranks, *arguments, **variables):
    launcher = [] if ranks == 1 else [str(MPIEXEC), "-n", str(ranks)]
    command = ["timeout", "-k", "5", str(LIMIT), *launcher, sys.executable, *map(str, arguments)]
    env = {**os.environ, **VARIABLES, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=env)


@functools.cache
def outcomes(ranks, folder):
    """Each rank's outcomes of each case with growing limits, or the reason why there are none."""
    found, left = {}, CASES
    # On several ranks only sizes that no rank has room for: MPI aborts without memory.
    rooms = 4 if ranks == 1 else 1
    while left:
        [file.unlink() for file in folder.iterdir()]
        done = launch(ranks, CASES_FILE, folder, rooms, *left)
        said = {}
        for file in folder.iterdir():
            for case, _, outcome, after in map(json.loads, file.read_text().splitlines()):
                said.setdefault(case, []).append((outcome, after))
        last = max(map(left.index, said), default=-1)
        found |= said
        complete = last >= 0 and len(said[left[last]]) == ranks * rooms
        # Ranks that have parted exit one by one, and mpiexec kills those that have not yet.
        parted = complete and any(after for _, after in said[left[last]])
        last = max(last, 0)
        if done.returncode != 0 and not parted:
            last += complete  # the next case has said nothing
            if last < len(left):
                found[left[last]] = [(f"exit status {done.returncode}: {done.stderr}", None)]
        left = left[last + 1 :]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("said")


def refusals(said, ranks):
    """The MemoryErrors; on several ranks also Python's own, which has no message."""
    silent = ["MemoryError: "] if ranks > 1 else []
    text = "MemoryError: Unable to alloc"
    return [outcome for outcome, _ in said if outcome.startswith(text) or outcome in silent]


def test_nearly_all_are_refused_on_several_ranks(folder):
    refused = [case for case, said in outcomes(3, folder).items() if refusals(said, 3)]
    assert len(refused) >= 0.9 * len(CASES)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_raises_and_no_operand_changes(ranks, case, folder):
    said = outcomes(ranks, folder)[case]
    refused = refusals(said, ranks)
    others = {outcome for outcome, _ in said} - {*refused, "no exception"}
    assert not others, said
    if ranks == 1:
        assert refused
    else:  # all ranks or none: there may be room where MPI has freed memory
        assert len(refused) in (0, ranks), said
    assert not any("changed" in outcome for outcome in refused)
    # Where ranks were refused memory in different operations they say so together.
    assert {after and after.split(":")[0] for _, after in said} <= {None, "MemoryError"}
    assert ranks > 1 or not any(after for _, after in said)


def test_the_message_is_numpys():
    text = "Unable to allocate 7.28 TiB for an array with shape (1000000, 1000000) and data type "
    for make in (np.zeros, np.ones, np.empty):
        with pytest.raises(MemoryError) as raised:
            make((10**6, 10**6))
        assert str(raised.value) == text + "float64"
    with pytest.raises(MemoryError, match=r"931. GiB .* shape \(1000000, 1000000\) .* int8$"):
        np.zeros((10**6, 10**6), "i1")
    for make in (
        lambda: np.full((10**6, 10**6), 7),
        lambda: np.zeros((2**40, 2**10)),
        lambda: np.zeros(10**13, "S5"),
        lambda: np.random.default_rng(5).random((10**6, 10**6)),
        lambda: np.arange(10**13),
    ):
        with pytest.raises(MemoryError, match=r"^Unable to allocate .*iB for an array with shape"):
            make()


ON_RANKS = """
import sys, pathlib, resource, numpy
sys.path.insert(0, {here!r})
import dappled as np
from tests.ranks.out_of_memory_cases import limit, operands
arrays = operands()
def raised(act):
    try:
        act()
        return "nothing"
    except BaseException as error:
        return f"{{type(error).__name__}}: {{error}}"
"""


def test_the_message_says_which_share(tmp_path):
    (tmp_path / "program.py").write_text(
        ON_RANKS.format(here=str(ROOT))
        + "text = raised(lambda: np.zeros((10**6, 10**6)))\n"
        + "assert np.ones(3).sum() == 3 and arrays['a'].sum() > 0\n"
        + "print(np.comm.gather(text) if hasattr(np.comm, 'gather') else text)\n"
    )
    done = launch(3, tmp_path / "program.py")
    assert done.returncode == 0, done.stderr
    for rank in range(3):
        text = "(1000000, 1000000) and data type float64: 2.43 TiB of it on rank {} of 3"
        assert done.stdout.count(text.format(rank)) == 1, done.stdout


def test_all_ranks_raise_where_one_has_no_memory(tmp_path):
    (tmp_path / "program.py").write_text(
        ON_RANKS.format(here=str(ROOT))
        + "if np.comm.rank == 1: limit(1 << 20)\n"
        + "texts = [raised(lambda: (arrays['a'] * 2).sum().item()) for _ in range(1)]\n"
        + "texts += [raised(lambda: np.sort(arrays['a'])[:3].tolist())]\n"
        + "texts += [raised(lambda: arrays['a'].sum().item())]\n"
        + "limit(None)\n"
        + f"pathlib.Path({str(tmp_path)!r}, f'rank{{np.comm.rank}}').write_text(texts[-1])\n"
        + "import os, time; time.sleep(2); os._exit(0)\n"
    )
    done = launch(3, tmp_path / "program.py")
    texts = [(tmp_path / f"rank{rank}").read_text() for rank in range(3)]
    for text in texts:
        assert re.match("MemoryError: Unable to allocate .* on rank 1 of 3", text), (
            texts,
            done.stderr,
        )
