"""Memory that a program still holds, measured in a separate process."""

import subprocess
import sys

import pytest

# Not ru_maxrss: that of a child begins with what its parent has.
PEAK = """
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(f" {int(status['VmHWM'].split()[0]) >> 10} ")  # ranks share a stdout
"""


def peak(program, *arguments, ranks=1):
    """The peak resident memory of a program in MiB, the largest of all ranks."""
    command = [sys.executable, "-W", "ignore", "-c", f"{program}\n{PEAK}", *arguments]
    if ranks > 1:
        command = [sys.prefix + "/bin/mpiexec", "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return max(map(int, done.stdout.split()))


NAMESPACES = {
    "a variable": "a = np.arange(131072.); b = a*2",
    "small arrays": "a = np.arange(131072.); s = np.arange(5000.); b = (s*2 + 1)/s",
    "a deferred write": "a = np.arange(131072.); c = (a*2 + 1)/3; a[1:] = c[:-1]",
    "a reduction": "a = np.arange(131072.); b = a*2; s = b.sum()",
    "a function of NumPy's": "a = np.arange(131072.); b = np.sqrt(a)",
}


@pytest.mark.parametrize("statements", NAMESPACES.values(), ids=NAMESPACES)
def test_a_pending_array_does_not_keep_its_namespace(statements):
    program = f"""
import dappled as np
for _ in range(200):
    exec(compile({statements!r}, "program", "exec"), {{"np": np}})
"""
    assert peak(program) < 100


def test_run_path_leaves_nothing(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import dappled as np\na = np.arange(131072.)\nb = a*2 + 1\n")
    program = f"""
import runpy
for _ in range(200):
    runpy.run_path({str(script)!r})
"""
    assert peak(program) < 100


SMALL_RESULTS = [
    "a[::100]*2",
    "(a*2 + 1)[::50] + 1",
    "np.sqrt(a[:100_000])",
    "a.reshape(-1, 100)[:, 3] + a.reshape(-1, 100)[:, 4]",
    "a > 2",
    "a[::4]*2",
]

KEEPING = """
import dappled as np
keep = []
for _ in range(48):
    a = np.ones(2_000_000)
    a += 1
    a[::50] = 5
    keep.append({})
"""


@pytest.mark.parametrize("expression", SMALL_RESULTS)
def test_a_small_pending_result_does_not_keep_large_operands(expression):
    assert peak(KEEPING.format(expression)) < 600  # the operands take 768


@pytest.mark.parametrize("expression", ["a[::100]*2", "a[a > 3]", "np.sqrt(a[:100_000])"])
def test_nor_on_ranks(expression):
    # A rank's share of the operands takes 384.
    assert peak(KEEPING.format(expression), ranks=2) < 300
