"""`dappled run`: output, environment, exit status, and the end of every job."""

import os
import signal
import subprocess
import sys
import time

import pytest
from dappled.launch import mpiexec
from dappled.launch.records import Records
from dappled.launch.streams import beyond, warned

from tests.support.command import COMMAND, LIMIT, dappled
from tests.support.mpi import MPIEXEC, OPEN_MPI, need

BEGIN = "import os, signal, sys, time\nimport dappled as np\nr, a = np.comm.rank, np.arange(12.0)\n"

# What happens on three ranks, the exit status, what stderr says, and how often.
ENDINGS = {
    "well": ("print(a.sum())", 0, []),
    "raised by one": (
        "if r == 1: raise ValueError('only here')\na.sum()",
        1,
        ["ValueError: only here", "rank 1 failed"],
    ),
    "raised by all": ("raise ValueError('everywhere')", 1, ["ValueError: everywhere"]),
    "a status of all": ("sys.exit(5)", 5, []),
    "a truth for a status": ("sys.exit(True)", 1, []),
    "a status in the middle": (
        "if r == 1: sys.exit(4)\na.sum()",
        1,
        ["rank 1 left with exit status 4"],
    ),
    "a status while others work": (
        "if r == 1: sys.exit(4)\ntime.sleep(100)",
        4,
        ["rank 1 ended with status 4"],
    ),
    "a status of one": ("sys.exit(6 * (r == 2))", 6, ["rank 2 ended with status 6"]),
    "gone": ("if r == 1: os._exit(0)\na.sum()", 1, ["rank 1 ended with status 0 in the middle"]),
    "gone with a status": ("if r == 1: os._exit(3)\na.sum()", 3, ["rank 1 ended with status 3"]),
    "killed": (
        "if r == 2: os.kill(os.getpid(), signal.SIGKILL)\na.sum()",
        137,
        ["rank 2 was killed by SIGKILL"],
    ),
    "crashed": (
        "if r == 2: os.kill(os.getpid(), signal.SIGSEGV)\na.sum()",
        139,
        ["rank 2 was killed by SIGSEGV"],
    ),
    "rank 0 crashed": ("if r == 0: os.abort()\na.sum()", 134, ["rank 0 was killed by SIGABRT"]),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_every_job_ends_and_says_why(name):
    program, status, said = ENDINGS[name]
    done = dappled("run", "-n", 3, "-c", BEGIN + program, DAPPLED_REPLICATE_BELOW="0")
    assert done.returncode == status, done.stderr
    assert [done.stderr.count(text) for text in said] == [1] * len(said), done.stderr
    assert done.stdout == ("66.0\n" if status == 0 else "")
    assert "Abort(" not in done.stderr


# What one of three ranks does before it uses dappled, and what stderr says; with MPICH's variable.
MISSING = {
    "exit before the import": (
        "import os, sys\nif os.environ['PMI_RANK'] == '1': sys.exit()\n",
        "rank 1 ended with status 0 before it used dappled, while other ranks wait for it to begin",
    ),
    "exit after the import": (
        "import os, sys, dappled\nif os.environ['PMI_RANK'] == '0': sys.exit()\n",
        "rank 0 ended with status 0 before it used dappled, while other ranks wait for it to begin",
    ),
    "alone": (
        "import os\nif os.environ['PMI_RANK'] == '2': os.environ['DAPPLED_FABRIC'] = 'solo'\n",
        "rank 2 runs alone, as DAPPLED_FABRIC=solo asks, while other ranks wait for it to begin",
    ),
    "raise before the import": (
        "import os, sys\nif os.environ['PMI_RANK'] == '1': raise ValueError('only here')\n",
        "ValueError: only here",
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_rank_that_never_connects_ends_the_job(name):
    program, said = MISSING[name]
    done = dappled("run", "-n", 3, "-c", program + "import time\n" + BEGIN + "time.sleep(60)")
    assert done.returncode == 1, done.stderr
    assert done.stderr.count(said) == 1, done.stderr


def test_a_rank_that_never_connects_is_reported_without_a_launcher():
    program = "import os\nif os.environ['PMI_RANK'] != '1': import dappled; dappled.ones(3)"
    command = ["timeout", "5", str(MPIEXEC), "-n", "2", sys.executable, "-c", program]
    env = {**os.environ, "DAPPLED_STALL": "0.5"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=LIMIT)
    assert "dappled: rank 0 has waited 0 s for all ranks to begin" in done.stderr


def test_programs_without_dappled_end_as_well():
    for program, status in {"pass": 0, "import sys; sys.exit(4)": 4, "1 / 0": 1}.items():
        done = dappled("run", "-n", 2, "-c", program)
        assert done.returncode == status, done.stderr
        assert done.stderr.count("ZeroDivisionError") == (status == 1)


SHOWN = (
    BEGIN
    + """
print("out", r, np.comm.size, *sys.argv[1:], sys.stdin.read().strip(), flush=True)
os.write(2, b"err %d" % r)
print(hash("the same"), os.environ["DAPPLED_THREADS"], os.environ["OMP_NUM_THREADS"], "threads")
"""
)


def test_output_of_rank_0_is_shown_once():
    done = dappled("run", "-n", 3, "--threads", 5, "-c", SHOWN, "a", "-n", "--b", input="given")
    first, second = done.stdout.splitlines()
    assert (first, done.stderr) == ("out 0 3 a -n --b given", "err 0")
    assert second.endswith(" 5 5 threads")


WARNED = "import dappled as np\na = np.ones(300)\na[{}] = -1\nprint(np.log(a).max())"


@pytest.mark.parametrize("place", ["5", "250", "::100"])
def test_warnings_of_any_rank_are_shown_once(place):
    done = dappled("run", "-n", 3, "-c", WARNED.format(place), DAPPLED_REPLICATE_BELOW="0")
    assert (done.returncode, done.stdout) == (0, "nan\n")
    assert done.stderr.count("RuntimeWarning: invalid value encountered in log") == 1, done.stderr


def test_all_output_has_the_rank_on_every_line():
    done = dappled("run", "-n", 3, "--all-output", "-c", SHOWN, OMP_NUM_THREADS="7")
    lines = done.stdout.splitlines()
    assert sorted(line for line in lines if "out" in line) == [
        f"[{r}] out {r} 3 " for r in range(3)
    ]
    assert sorted(done.stderr.splitlines()) == [f"[{r}] err {r}" for r in range(3)]
    share = max(1, len(os.sched_getaffinity(0)) // 3)
    rest = {line.partition("] ")[2] for line in lines if "threads" in line}
    assert len(rest) == 1, "one seed for all hashes"
    assert rest.pop().endswith(f" {share} 7 threads")


def test_much_output_arrives_whole():
    program = "import sys\nfor i in range(20000): print(i, 'x' * 50)\nprint('y' * 10**6)"
    expected = "".join(f"{i} {'x' * 50}\n" for i in range(20000)) + "y" * 10**6 + "\n"
    assert dappled("run", "-n", 2, "-c", program).stdout == expected


def test_one_rank_needs_no_mpi(tmp_path):
    (tmp_path / "tool.py").write_text(
        "import sys, dappled\nprint(dappled.comm.size, sys.argv[1:])\nsys.exit(3)"
    )
    forms = (
        [str(tmp_path / "tool.py")],
        ["-m", "tool"],
        ["-c", (tmp_path / "tool.py").read_text()],
    )
    for form in forms:
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        done = dappled("run", *form, "-x", "y", PYTHONPATH=path, PMI_RANK="0", PMI_SIZE="2")
        assert (done.returncode, done.stdout) == (3, "1 ['-x', 'y']\n"), done.stderr


WRONG = {
    (): "nothing to run: expected a script, -m MODULE or -c CODE",
    ("-n", "2"): "nothing to run: expected a script, -m MODULE or -c CODE",
    ("-n", "0", "x.py"): "argument -n: '0' is not a number of at least 1",
    ("-n", "two", "x.py"): "argument -n: 'two' is not a number of at least 1",
    ("--threads", "-1", "x.py"): "argument --threads: '-1' is not a number of at least 1",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_arguments(arguments):
    done = dappled("run", *arguments)
    assert (done.returncode, done.stderr) == (2, f"dappled run: {WRONG[arguments]}\n")


def test_without_mpi_there_is_advice():
    done = dappled("run", "-n", 2, "-c", "", DAPPLED_MPIEXEC="/nowhere/mpiexec")
    assert done.returncode == 2 and "pip install dappled[mpi]" in done.stderr


def test_failed_launches_name_the_command(tmp_path):
    (tmp_path / "mpiexec").write_bytes(b"no program")
    (tmp_path / "mpiexec").chmod(0o755)
    done = dappled("run", "-n", 2, "-c", "", DAPPLED_MPIEXEC=str(tmp_path / "mpiexec"))
    assert done.returncode == 2
    assert done.stderr == f"dappled run: can't start {tmp_path}/mpiexec: Exec format error\n"


def alive(pid):
    """Whether a process runs: one that has ended and was not asked for yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition):
    until = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


# A signal to the launcher, whether ranks wait for ever, and the exit status.
SIGNALS = {
    "Ctrl-C": (signal.SIGINT, 130),
    "SIGTERM": (signal.SIGTERM, 143),
    "SIGKILL": (signal.SIGKILL, -9),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_the_whole_job_ends_with_its_launcher(name):
    number, status = SIGNALS[name]
    program = BEGIN + "print(r, os.getpid(), flush=True)\nif r == 0: time.sleep(1000)\na.sum()"
    command = [*COMMAND, "run", "-n", "3", "--all-output", "-c", program]
    env = {**os.environ, "DAPPLED_REPLICATE_BELOW": "0"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as job:
        pids = [int(job.stdout.readline().split()[2]) for _ in range(3)]
        job.send_signal(number)
        _, err = job.communicate(timeout=LIMIT)
    assert job.returncode == status, err
    wait_for(lambda: not any(map(alive, pids)))


def test_which_mpiexec(tmp_path):
    """The first that is there; its library lies beside it."""
    for folder in ("prefix", "path", "library", "mine"):
        (tmp_path / folder / "bin").mkdir(parents=True)
        for name in ("mpiexec", "mpirun"):
            (tmp_path / folder / "bin" / name).touch(mode=0o755)
    path = {"PATH": str(tmp_path / "path" / "bin")}
    prefix = str(tmp_path / "prefix")
    library = {"DAPPLED_MPI_LIBRARY": str(tmp_path / "library" / "lib" / "libmpi.so.12")}
    mine = {"DAPPLED_MPIEXEC": str(tmp_path / "mine" / "bin" / "mpirun")}
    table = [
        ({**path, **library, **mine}, prefix, "mine/bin/mpirun"),
        ({**path, **library}, prefix, "library/bin/mpiexec"),
        (path, prefix, "prefix/bin/mpiexec"),
        (path, "/nowhere", "path/bin/mpiexec"),
        ({**path, "DAPPLED_MPI_LIBRARY": "libmpi.so.40"}, "/nowhere", "path/bin/mpiexec"),
        ({"PATH": "/nowhere"}, "/nowhere", None),
        ({"PATH": "/nowhere", "DAPPLED_MPIEXEC": "mpiexec"}, prefix, None),
    ]
    for variables, place, expected in table:
        found = mpiexec.find(variables, place)
        assert (found and found.program) == (expected and str(tmp_path / expected))


def test_user_settings_for_open_mpi_are_kept():
    name = "PRTE_MCA_hwloc_default_binding_policy"
    assert mpiexec.environment({name: "core"})[name] == "core"
    assert mpiexec.environment({})[name] == "none"


# What three ranks say; the reason and the status that follow; whether the rest must be ended.
RECORDS = [
    ("0 exit 0,1 exit 0,2 exit 0", None, 0, False),
    ("1 exit 3,0 exit 3,2 exit 3", "rank 1 ended with status 3", 3, False),
    ("1 failed 1,1 early 1,0 signal 9", "rank 1 failed", 1, True),
    ("2 signal 11,1 signal 9", "rank 2 was killed by SIGSEGV", 139, True),
    ("2 signal 63", "rank 2 was killed by signal 63", 191, True),
    ("0 exit 0,1 early 0", "rank 1 ended with status 0 in the middle of the program", 1, True),
    ("0 plain 2", "rank 0 ended with status 2", 2, True),
    ("2 leaving 0,1 leaving 4", "rank 1 ended with status 4", 4, False),
    ("0 connecting 0,1 connecting 0,2 plain 0", None, 0, True),
    ("2 plain 0,0 connecting 0", None, 0, True),
    ("2 alone 0,0 connecting 0", None, 0, True),
    ("0 plain 0,1 plain 0,2 exit 0", None, 0, False),
    ("0 connecting 0,1 connecting 0,2 connecting 0,0 connected 0,0 exit 0", None, 0, False),
]


@pytest.mark.parametrize(("said", "reason", "status", "must_end"), RECORDS)
def test_the_first_bad_word_counts(said, reason, status, must_end):
    records = Records(3)
    data = "".join(f"{line}\n" for line in said.split(",")).encode()
    for at in range(len(data)):  # however it arrives
        records.take(data[at : at + 1])
    bad = records.reason(status)
    assert ((bad and bad.text), bad.status if bad else 0) == (reason, status)
    assert records.must_end == must_end


TRACE = "Traceback (most recent call last):\n  File ...\nError: {}\n"
SAID = [
    ("a\nb\n", "a\nb\n", ""),
    ("warning\n" + TRACE.format("x"), "warning\n", TRACE.format("x")),
    (TRACE.format("x"), "warning\n" + TRACE.format("x"), ""),
    (TRACE.format("rank 2 is here"), TRACE.format("rank 0 is here"), ""),
    (TRACE.format("x"), TRACE.format("y"), TRACE.format("x")),
]


@pytest.mark.parametrize(("said", "known", "rest"), SAID)
def test_output_of_rank_0_is_not_repeated(said, known, rest):
    assert beyond(said.encode(), 2, known.encode()) == rest


def test_warnings_of_others_are_told_from_all_else_they_say():
    mine, other = (b"p.py:%d: RuntimeWarning: x\n  a / b\n" % line for line in (1, 2))
    assert warned([mine + b"err 1\n", mine + other, b"p.py:3: no\n"], b"err 0\n" + mine) == other


# Made by `make test`: Open MPI's mpiexec can't be in one environment with MPICH's.


@pytest.mark.parametrize("name", ["well", "raised by one", "a status of all", "gone", "killed"])
def test_open_mpi(name, monkeypatch):
    need(OPEN_MPI / "bin" / "mpiexec")
    monkeypatch.setenv("DAPPLED_MPIEXEC", str(OPEN_MPI / "bin" / "mpiexec"))
    test_every_job_ends_and_says_why(name)
