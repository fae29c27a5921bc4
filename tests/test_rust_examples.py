"""The examples of crate `dappled` print the same on 1 and on 3 ranks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SOURCES = ROOT / "crates" / "dappled" / "examples"
MPIEXEC = Path(sys.prefix) / "bin" / "mpiexec"
MAX_LINES = 40
# Small arrays are distributed too: the programs run in a second.
SETTINGS = {"DAPPLED_REPLICATE_BELOW": "0"}
EXAMPLES = {
    "array_laplace": ([30, 20], "u[1, 1:4] = ["),
    "heat": ([1000, 50], "heat changed by"),
    "kmeans": ([600, 4, 5], "sizes ["),
    "matmul": ([40, 10], "largest eigenvalue"),
    "reduce": ([10000], "mean 10.0"),
}


def printed(ranks, name, arguments):
    command = [str(MPIEXEC), "-n", str(ranks), str(TARGET / "dappled" / "examples" / name)]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # The time of an iteration and the number of ranks differ.
    return done.stdout.split("iteration, ")[-1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_the_same_on_3_ranks(name):
    arguments, expected = EXAMPLES[name]
    alone = printed(1, name, arguments)
    assert expected in alone
    assert printed(3, name, arguments) == alone


def test_every_example_is_short_and_run():
    sources = {path.stem: path for path in SOURCES.glob("*.rs")}
    assert sources.keys() == EXAMPLES.keys()
    for path in sources.values():
        assert len(path.read_text().splitlines()) <= MAX_LINES
