"""Environment variables with invalid values."""

import os
import subprocess
import sys

import pytest

EXPECTED = {
    "DAPPLED_EAGER_MAX": "a number of elements",
    "DAPPLED_BUDGET": "a number of bytes",
    "DAPPLED_CACHE": "a number of bytes",
    "DAPPLED_CHECK": "0 or 1",
    "DAPPLED_COMPILE": "'always', 'never' or 'refused'",
    "DAPPLED_CPU": "'plain', 'avx2' or 'avx512'",
    "DAPPLED_THREADS": "a number of threads",
    "DAPPLED_FUSE_FROM": "a number of elements",
    "DAPPLED_REPLICATE_BELOW": "a number of bytes",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_value_that_cannot_be_is_an_error(name):
    command = [sys.executable, "-c", "import dappled; dappled.ones(3).sum()"]
    env = {**os.environ, name: "abc"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"ValueError: {name}=abc: expected {EXPECTED[name]}" in done.stderr
