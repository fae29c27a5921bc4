"""Beside every rank: starts the program there, and tells the launcher how it ended.

mpiexec runs this file, with nothing but the standard library; the program is its child. What the
program prints goes into named pipes, which the launcher reads: so nothing of it is mixed, and
nothing is lost when mpiexec kills all ranks. On another node there are no such pipes, and it goes
the way that mpiexec offers.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from typing import Any

# Where launchers say which rank this is, and how many of them share the node.
_RANK = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID")
NEIGHBOURS = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE")
# What NumPy's BLAS and its like read.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def said(names: tuple[str, ...], otherwise: int) -> int:
    """The first of some variables that is set."""
    return next((int(os.environ[name]) for name in names if name in os.environ), otherwise)


def share(ranks: int) -> int:
    """How many cores one of the ranks on this node has. A launcher that binds ranks has decided:
    the cores of a rank are then not those of the process that started it.
    """
    own = _cores(0)
    return len(own) if own != _cores(os.getppid()) else max(1, len(own) // ranks)


def _cores(process: int) -> set[int]:
    try:
        return os.sched_getaffinity(process)
    except (AttributeError, OSError):  # not every system can tell
        return {*range(os.cpu_count() or 1)}


def threads(given: int | None, ranks: int) -> dict[str, str]:
    """The variables, but for those that are set, that share this node's cores among its ranks."""
    given = given or int(os.environ.get("DAPPLED_THREADS") or 0)
    unset = [name for name in _THREADS if not os.environ.get(name)]
    count = str(given or share(said(NEIGHBOURS, ranks)))
    return dict.fromkeys(["DAPPLED_THREADS", *unset], count)


def opened(folder: str, name: str) -> int | None:
    """A named pipe to the launcher; None where there is no launcher behind it."""
    try:
        pipe = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None
    os.set_blocking(pipe, True)
    return pipe


def _bell() -> int:
    """What can be read from when a signal comes: the program has ended, or mpiexec ends it.

    mpiexec signals all processes of a rank at once, the program among them: nothing is to be done.
    """
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    bell, ringer = os.pipe()
    os.set_blocking(ringer, False)
    signal.set_wakeup_fd(ringer, warn_on_full_buffer=False)
    return bell


class Rank:
    """The program of one rank, and what is known of it."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._rank = said(_RANK, 0)
        self._launcher = opened(told["folder"], "records")
        self._marks: set[str] = set()

    def run(self) -> int:
        """Runs the program, and returns the status with which this process should end."""
        marks, marker = os.pipe()
        bell = _bell()
        program = self._start(marker)
        os.close(marker)
        self._say("started", program.pid)
        self._watch(program, marks, bell)
        os.set_blocking(marks, False)
        with contextlib.suppress(BlockingIOError):
            self._mark(os.read(marks, 4096))
        return self._ended(program.returncode)

    def _start(self, marker: int) -> subprocess.Popen[bytes]:
        os.set_inheritable(marker, True)
        environment = os.environ | self._told["environment"]
        environment |= threads(self._told["threads"], self._told["ranks"])
        environment["DAPPLED_LAUNCHED"] = f"{marker}:{os.getpid()}"
        return subprocess.Popen(
            self._told["command"],
            stdin=None if self._rank == 0 else subprocess.DEVNULL,
            stdout=self._output("out"),
            stderr=self._output("err"),
            env=environment,
            close_fds=False,  # MPI reaches its launcher through one of them
        )

    def _output(self, stream: str) -> int | None:
        if stream == "out" and self._rank > 0 and not self._told["all_output"]:
            return subprocess.DEVNULL
        return opened(self._told["folder"], f"{self._rank}.{stream}")

    def _watch(self, program: subprocess.Popen[bytes], marks: int, bell: int) -> None:
        """Waits for the end of the program, or of the launcher."""
        awaited = select.poll()
        awaited.register(marks, select.POLLIN)
        awaited.register(bell, select.POLLIN)
        if self._launcher is not None:
            awaited.register(self._launcher, 0)  # errors alone
        while program.poll() is None:
            for place, event in awaited.poll():
                if place == self._launcher:
                    os.killpg(0, signal.SIGKILL)  # nobody waits for this job any more
                words = os.read(place, 4096) if event & select.POLLIN else b""
                if place == marks:
                    self._mark(words)
                if not words:
                    awaited.unregister(place)

    def _mark(self, words: bytes) -> None:
        for line in words.decode().splitlines():
            word, _, number = line.partition(" ")
            self._marks.add(word)
            if word in ("failed", "leaving"):  # said now: mpiexec may be about to kill all ranks
                self._say(word, int(number or 1))
            elif word in ("connecting", "connected", "alone"):
                self._say(word, 0)

    def _ended(self, status: int) -> int:
        if status < 0:
            self._say("signal", -status)
            return 128 - status
        word = "plain" if "joined" not in self._marks else "exit"
        word = "early" if word == "exit" and "left" not in self._marks else word
        self._say(word, status)
        if self._launcher is not None and word != "early":
            return 0  # the launcher knows; mpiexec would kill those that are about to end as well
        return status or int(word == "early")

    def _say(self, word: str, number: int) -> None:
        if self._launcher is not None:
            os.write(self._launcher, f"{self._rank} {word} {number}\n".encode())
        elif word in ("signal", "early"):
            print(f"dappled run: rank {self._rank}: {word} {number}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(Rank(json.loads(sys.argv[1])).run())
