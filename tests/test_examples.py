"""The programs in examples/programs with NumPy, and with Dappled on 1 and 3 ranks."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted((ROOT / "examples" / "programs").glob("*.py"))
RUN = [sys.executable, "-m", "dappled", "run", "--as-numpy"]
# Small arrays are distributed too: the programs run in a second.
SETTINGS = {"MPLBACKEND": "agg", "DAPPLED_FALLBACK": "quiet", "DAPPLED_REPLICATE_BELOW": "2000"}
TIME = 300  # for what hangs


def run(command, program, place):
    """What a program prints, what it saves, and how large its picture is."""
    place.mkdir()
    done = subprocess.run(
        [*command, str(program)],
        cwd=place,
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        timeout=TIME,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    saved = numpy.load(place / f"{program.stem}.npy")
    return done.stdout, saved, (place / f"{program.stem}.png").stat().st_size


@cache
def with_numpy(program, place):
    return run([sys.executable], program, place / "numpy")


@pytest.mark.parametrize("ranks", [pytest.param(1, id="1 rank"), pytest.param(3, id="3 ranks")])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_programs_run_as_with_numpy(program, ranks, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / program.stem
    folder.mkdir(exist_ok=True)
    printed, saved, picture = with_numpy(program, folder)
    ours_printed, ours_saved, our_picture = run(
        [*RUN, "-n", str(ranks)], program, folder / str(ranks)
    )
    assert ours_printed == printed
    assert ours_saved.dtype == saved.dtype and ours_saved.shape == saved.shape
    # Sums of products go by BLAS in NumPy, and exp differs in the last place.
    numpy.testing.assert_allclose(ours_saved, saved, rtol=1e-9, atol=1e-11)
    assert our_picture > 1000 and picture > 1000


def test_there_are_ten_and_more():
    assert len(PROGRAMS) >= 10
