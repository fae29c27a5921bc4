"""`DAPPLED_CPU`: older instruction sets give equal bits."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import dappled as np, hashlib, numpy
a = np.array(numpy.random.default_rng(1).standard_normal((2, 70_000)))
z = a[0] + 1j * a[1]
made = [a.sum(0), a.sum(), np.exp(a), np.sin(a), np.sqrt(np.abs(a)), a[0] / a[1], z * z, abs(z),
        a.max(1), a.astype('f4') ** 3, np.tanh(a), (a * 99).astype('i4') // 7, a < 0]
print(hashlib.sha256(b''.join(numpy.asarray(x).tobytes() for x in made)).hexdigest())
"""


def outcome(cpu: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DAPPLED_CPU": cpu}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


def test_every_cpu_gives_the_same_bits() -> None:
    wanted = outcome("")
    assert wanted.returncode == 0, wanted.stderr
    assert {outcome(cpu).stdout for cpu in ("plain", "avx2", "avx512")} == {wanted.stdout}


@pytest.mark.parametrize("cpu", ["sse", "AVX2"])
def test_messages_state_the_expected_value(cpu: str) -> None:
    refused = outcome(cpu).stderr
    assert f"ValueError: DAPPLED_CPU={cpu}: expected 'plain', 'avx2' or 'avx512'" in refused
