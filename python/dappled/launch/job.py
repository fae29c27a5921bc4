"""The ranks of one program: started, watched and ended."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dappled.launch import mpiexec, rank
from dappled.launch.records import Records
from dappled.launch.streams import Labelled, Shown, Stream, beyond, warned

# Seconds that mpiexec is given to end the job by itself; and from one signal to a stronger one.
_GRACE = 1.0
_STEP = 1.5
# Seconds after which a rank that has not said a word is taken to be on another node.
_ELSEWHERE = 3.0


@dataclass(frozen=True)
class Program:
    """What every rank runs."""

    command: list[str]
    ranks: int
    threads: int | None = None
    all_output: bool = False


class Job:
    """A program on its ranks."""

    def __init__(self, program: Program, launcher: mpiexec.Launcher, folder: Path) -> None:
        self._program = program
        self._launcher = launcher
        self._folder = folder
        self._records = Records(program.ranks)
        # What mpiexec itself says is of interest where no rank has said what happened.
        self._own = [Shown(sys.stdout.buffer, held=True), Shown(sys.stderr.buffer, held=True)]
        self._interrupted = 0
        self._missed: str | None = None  # what is said where a rank is waited for in vain
        self._streams = dict(self._each_stream())
        self._selector = selectors.DefaultSelector()

    def _each_stream(self) -> Iterator[tuple[str, Stream]]:
        """The streams of the ranks that are read, by name."""
        streams = {"out": sys.stdout.buffer, "err": sys.stderr.buffer}
        for number in range(self._program.ranks):
            for name, where in streams.items():
                if self._program.all_output:
                    yield f"{number}.{name}", Labelled(where, number)
                elif number == 0:
                    yield f"{number}.{name}", Shown(where)
                elif name == "err":
                    yield f"{number}.{name}", Shown(where, held=True)

    def run(self) -> int:
        """Runs the program on all ranks, and returns the exit status."""
        self._read("records", os.O_RDWR, self._records.take)  # never at its end: ranks come and go
        for name, stream in self._streams.items():
            self._read(name, os.O_RDONLY, stream.take)
        with self._started() as process, self._signals():
            self._watch(process)
        for stream in self._streams.values():
            stream.end()
        return self._verdict(process.returncode)

    def _read(self, name: str, way: int, take: Callable[[bytes], None]) -> None:
        """Makes a named pipe and reads what comes."""
        os.mkfifo(self._folder / name)
        pipe = os.open(self._folder / name, way | os.O_NONBLOCK)
        self._selector.register(pipe, selectors.EVENT_READ, take)

    @contextlib.contextmanager
    def _started(self) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            self._command(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=mpiexec.environment(_variables()),
            start_new_session=True,  # Ctrl-C is for us, who end the ranks in order
        )
        assert process.stdout and process.stderr
        for pipe, stream in zip((process.stdout, process.stderr), self._own, strict=True):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe.fileno(), selectors.EVENT_READ, stream.take)
        try:
            yield process
        finally:
            self._kill(process)

    def _command(self) -> list[str]:
        told: dict[str, Any] = {
            "command": self._program.command,
            "ranks": self._program.ranks,
            "threads": self._program.threads,
            "all_output": self._program.all_output,
            "folder": str(self._folder),
            "environment": _environment(),
        }
        beside = [sys.executable, "-I", "-S", rank.__file__, json.dumps(told)]
        return [self._launcher.program, "-n", str(self._program.ranks), *beside]

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM, as long as the job runs, are kept in mind."""

        def note(number: int, _: Any) -> None:
            self._interrupted = number

        kept = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Reads what comes until mpiexec has ended, and sees to it that it does."""
        begun = time.monotonic()
        ending = self._ending(process)
        while process.poll() is None:
            self._take(0.1)
            if self._records.missed is not None and self._missed is None:
                self._missed = self._records.missed_text
                seconds = time.monotonic() - begun
                self._missed += f" (seen {seconds:.1f} s after the start)"
            if self._interrupted or self._records.must_end:
                next(ending, None)
            if not self._records.all_started and time.monotonic() - begun > _ELSEWHERE:
                self._show_own()
        while self._take(0):
            pass

    def _take(self, seconds: float) -> bool:
        """Takes what has come; whether there was something."""
        came = False
        for key, _ in self._selector.select(seconds):
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if data:
                key.data(data)
                came = True
            else:
                self._selector.unregister(key.fd)
        return came

    def _ending(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Ends the job: each step when the one before has had its time. Asked again and again."""
        if self._interrupted == signal.SIGINT:
            self._signal_ranks(signal.SIGINT)  # programs may catch it
        yield from _until(time.monotonic() + _GRACE)
        os.killpg(process.pid, signal.SIGTERM)
        yield from _until(time.monotonic() + _STEP)
        self._kill(process)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Ends what has not ended."""
        if process.poll() is None:
            self._signal_ranks(signal.SIGKILL)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _signal_ranks(self, number: int) -> None:
        for rank_number, pid in self._records.processes.items():
            if rank_number not in self._records.ended:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    def _show_own(self) -> None:
        """Shows what comes by mpiexec: its own words, and those of ranks on other nodes."""
        for stream in self._own:
            stream.release()

    def _verdict(self, status: int) -> int:
        """The exit status; what was not good is said once."""
        if self._interrupted:
            return 128 + self._interrupted
        if self._missed is not None:
            sys.stderr.write(f"dappled run: {self._missed}\n")
            return 1
        if bad := self._records.reason(status):
            if not self._records.is_intended:
                self._say_why(bad.rank, bad.text)
            return bad.status
        if status != 0 or not self._records.all_started:
            self._show_own()
        self._say_warnings()
        return status if status >= 0 else 128 - status

    def _say_warnings(self) -> None:
        others = (f"{number}.err" for number in range(1, self._program.ranks))
        said = warned((self._streams[name].kept for name in others), self._streams["0.err"].kept)
        sys.stderr.buffer.write(said)
        sys.stderr.buffer.flush()

    def _say_why(self, number: int, text: str) -> None:
        said, known = self._streams[f"{number}.err"], self._streams["0.err"]
        rest = beyond(said.kept, number, known.kept) if number > 0 else ""
        sys.stderr.write(f"{rest}dappled run: {text}\n")


def _environment() -> dict[str, str]:
    """What all ranks are told: sets are in one order, and who looks on sees each line at once."""
    told = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED") or "0"}
    return told | ({"PYTHONUNBUFFERED": "1"} if sys.stdout.isatty() else {})


def _variables() -> dict[str, str]:
    """The environment, without what would keep the ranks from finding each other."""
    kept = dict(os.environ)
    if kept.get("DAPPLED_FABRIC") == "solo":
        del kept["DAPPLED_FABRIC"]
    return kept


def _until(moment: float) -> Iterator[None]:
    while time.monotonic() < moment:
        yield


def _allow_files(count: int) -> None:
    """Lets this process have so many files open, if it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def run(program: Program, launcher: mpiexec.Launcher) -> int:
    """Runs a program on several ranks, and returns the exit status."""
    _allow_files(2 * program.ranks + 100)
    with tempfile.TemporaryDirectory(prefix="dappled-", ignore_cleanup_errors=True) as folder:
        return Job(program, launcher, Path(folder)).run()
