"""What the ranks said about themselves, and what follows from it: the reason and the status.

A record is a rank, a word and a number: `started` a process; `failed` with an exception; `leaving`
with a status, which the other ranks may not survive; `connecting` to the others, which waits for
all of them, `connected`, or `alone`, as DAPPLED_FABRIC=solo asks; ended with a status, by an `exit`
that all agreed on, `early` or, where Dappled was never imported, `plain`; ended by a `signal`.
The first record that is no good tells what happened: the ranks that end after it were ended.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Record:
    """One thing that one rank said."""

    rank: int
    word: str
    number: int

    @property
    def is_bad(self) -> bool:
        """Whether the job has failed by this."""
        return self.word in ("failed", "early", "signal") or (self.is_end and self.number > 0)

    @property
    def is_end(self) -> bool:
        """Whether the rank has ended."""
        return self.word in ("exit", "plain", "early", "signal")

    @property
    def status(self) -> int:
        """The exit status of the job, if this is what happened."""
        if self.word == "signal":
            return 128 + self.number
        return self.number or int(self.word in ("early", "alone"))

    @property
    def text(self) -> str:
        """What happened, for people."""
        if self.word == "signal":
            return f"rank {self.rank} was killed by {_name(self.number)}"
        if self.word == "failed":
            return f"rank {self.rank} failed"
        if self.word == "alone":
            return f"rank {self.rank} runs alone, as DAPPLED_FABRIC=solo asks"
        early = " in the middle of the program" if self.word == "early" else ""
        return f"rank {self.rank} ended with status {self.number}{early}"


def _name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name}, perhaps for want of memory" if name == "SIGKILL" else name


@dataclass
class Records:
    """All that was said, in the order in which it came."""

    ranks: int
    processes: dict[int, int] = field(default_factory=dict)
    first_bad: Record | None = None
    first_leaving: Record | None = None
    ended: dict[int, Record] = field(default_factory=dict)
    # The ranks that wait for all others to connect, and those that are connected.
    connecting: set[int] = field(default_factory=set)
    connected: set[int] = field(default_factory=set)
    # The first rank for which others wait in vain, and when that was known.
    missed: Record | None = None
    _alone: dict[int, Record] = field(default_factory=dict)
    _rest: bytes = b""

    def take(self, data: bytes) -> None:
        """More of it."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            rank, word, number = line.decode().split()
            self._add(Record(int(rank), word, int(number)))

    def _add(self, record: Record) -> None:
        if record.word == "started":
            self.processes[record.rank] = record.number
        if record.is_end:
            self.ended[record.rank] = record
        if record.is_bad and self.first_bad is None:
            self.first_bad = record
        if record.word == "connecting":
            self.connecting.add(record.rank)
        if record.word == "connected":
            self.connected.add(record.rank)
        if record.word == "alone":
            self._alone[record.rank] = record
        self._find_missed()
        if record.word == "leaving" and record.number > 0 and self.first_leaving is None:
            self.first_leaving = record

    def _find_missed(self) -> None:
        """Finds a rank that will not connect, while another waits for it."""
        if not self._waiting or self.missed or self.first_bad:  # which says more
            return
        gone = {**self.ended, **self._alone}
        never = (record for rank, record in gone.items() if rank not in self.connected)
        self.missed = next(never, None)

    @property
    def _waiting(self) -> set[int]:
        return self.connecting - self.connected - self.ended.keys()

    @property
    def missed_text(self) -> str:
        """What happened where a rank does not connect, for people."""
        assert self.missed is not None
        before = "" if self.missed.word == "alone" else " before it used dappled"
        return f"{self.missed.text}{before}, while other ranks wait for it to begin"

    @property
    def all_started(self) -> bool:
        """Whether every rank has a program that runs here, or has run."""
        return len(self.processes) == self.ranks

    def reason(self, status: int) -> Record | None:
        """What happened, where the job ended with this status."""
        return self.first_bad or (self.first_leaving if status != 0 else None)

    @property
    def must_end(self) -> bool:
        """Whether the ranks that still run may wait for ever for one that does not."""
        failed = self.first_bad is not None and self.first_bad.word != "exit"
        return failed or self.missed is not None

    @property
    def is_intended(self) -> bool:
        """Whether all ranks have ended by the same exit: what the program meant to do."""
        ends = {(record.word, record.number) for record in self.ended.values()}
        return len(self.ended) == self.ranks and ends <= {
            ("exit", self._status),
            ("plain", self._status),
        }

    @property
    def _status(self) -> int:
        return self.first_bad.number if self.first_bad else 0
