"""Runs random programs in Dappled and compares them with NumPy, sources copied first.

    python -m tests.fuzz.run --seeds 0:10000
    python -m tests.fuzz.run --seconds 600 --ranks 2,3,4
    python -m tests.fuzz.run --seeds 17:18 --ranks 3 --settings deferred --show

Seeds are divided among the settings and numbers of ranks. Each combination runs thousands of
programs in one process (or one launch of `mpiexec`). A program that fails is shrunk by dropping
statements, and printed as a script.
"""

import argparse
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DEFERRED = {"DAPPLED_EAGER_MAX": "0", "DAPPLED_FUSE_FROM": "1"}
SETTINGS = {
    "plain": {},
    "deferred": DEFERRED,
    "compiled": {**DEFERRED, "DAPPLED_COMPILE": "always"},
    "interpreted": {**DEFERRED, "DAPPLED_COMPILE": "never"},
    "refused": {**DEFERRED, "DAPPLED_COMPILE": "refused"},
    "together": {"DAPPLED_FUSE_FROM": "1"},
    "eager": {"DAPPLED_EAGER_MAX": "1000000000"},
    "threads": {"DAPPLED_THREADS": "3", "DAPPLED_EAGER_MAX": "100"},
    "replicated": {"DAPPLED_REPLICATE_BELOW": "131072"},
    "checked": {"DAPPLED_CHECK": "1"},
}
ON_ONE = ["plain", "deferred", "compiled", "interpreted", "refused", "together", "eager"]
ON_ONE += ["plain", "threads"]
ON_SEVERAL = ["plain", "deferred", "compiled", "interpreted", "replicated", "checked", "plain"]
CHUNK = 2000
SECONDS_PER_PROGRAM = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", help="FIRST:LAST; new ones if not given")
    parser.add_argument("--ranks", default="1", help="numbers of ranks, as 1,2,3")
    parser.add_argument("--settings", default="", help=f"some of {','.join(SETTINGS)}")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--failures", type=int, default=20, help="stop after so many")
    parser.add_argument("--show", action="store_true", help="print the programs, do not run them")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(Path(options.worker))
    if options.show:
        return show(options)
    return drive(options)


# In the process that drives.


def drive(options):
    """Runs chunks of seeds in workers until all are done, or the time is over."""
    first, last = seeds_of(options)
    ranks = [int(number) for number in options.ranks.split(",")]
    asked = options.settings.split(",") if options.settings else None
    end = time.monotonic() + options.seconds
    done, failures, turn = 0, [], 0
    print(f"seeds {first}:{last}, ranks {ranks}", flush=True)
    while first < last and time.monotonic() < end and len(failures) < options.failures:
        number = ranks[turn % len(ranks)]
        settings = asked or (ON_ONE if number == 1 else ON_SEVERAL)
        setting = settings[turn // len(ranks) % len(settings)]
        turn += 1
        stop = min(first + (CHUNK if number == 1 else CHUNK // 4), last)
        found, first_not_run = chunk(number, setting, first, stop, end)
        done += first_not_run - first
        first = first_not_run
        for failure in found:
            failures.append(failure)
            print(failure, flush=True)
    print(f"{done} programs, seeds up to {first}, {len(failures)} failures", flush=True)
    return bool(failures)


def seeds_of(options):
    if options.seeds:
        first, last = map(int, options.seeds.split(":"))
        return first, last
    first = random.SystemRandom().randrange(10**6, 10**9)
    return first, first + 10**9


def chunk(number, setting, first, last, end):
    """Runs seeds in one launch; the failures, and the first seed that was not run."""
    with tempfile.TemporaryDirectory() as folder:
        job = {"first": first, "last": last, "setting": setting, "ranks": number}
        job["seconds"] = max(1, min(end - time.monotonic(), 10**6))
        Path(folder, "job").write_text(json.dumps(job))
        environment = {**os.environ, "DAPPLED_FALLBACK": "quiet", "PYTHONHASHSEED": "0"}
        environment["DAPPLED_REPLICATE_BELOW"] = "0"
        command = [sys.executable, "-m", "tests.fuzz.run", "--worker", folder]
        if number > 1:
            environment["DAPPLED_THREADS"] = "1"
            command = [str(Path(sys.prefix, "bin", "mpiexec")), "-n", str(number), *command]
        environment.update(SETTINGS[setting])
        output = Path(folder, "output")
        with output.open("w") as file:
            process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=file, stderr=file)
            status = watched(process, Path(folder))
        failures = [path.read_text() for path in sorted(Path(folder).glob("failure-*"))]
        at = progress(Path(folder), first)
        if status == 0:
            return failures, at
        text = output.read_text()[-6000:]
        failures.append(described_crash(at, setting, number, status, text))
        return failures, at + 1


def watched(process, folder):
    """Waits for a worker; ends one that makes no progress."""
    before, since = None, time.monotonic()
    while process.poll() is None:
        time.sleep(0.1)
        now = progress(folder, None)
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > SECONDS_PER_PROGRAM + 40:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
            return "a hang"
    return process.returncode


def progress(folder, otherwise):
    path = folder / "progress"
    text = path.read_text() if path.exists() else ""
    return int(text) if text else otherwise


def described_crash(seed, setting, number, status, output):
    from tests.fuzz.programs import generate

    statements, _ = generate(seed, number)
    head = f"seed {seed}, setting {setting}, {number} ranks: the process ended with {status}"
    return "\n".join(["-" * 80, head, script(statements), output])


def show(options):
    from tests.fuzz.programs import generate

    number = int(options.ranks.split(",")[0])
    for seed in range(*seeds_of(options)):
        print(f"# seed {seed}, {number} ranks")
        print(script(generate(seed, number)[0]))


def script(statements):
    """A program as a script to run."""
    from tests.fuzz.reference import for_dappled

    head = "import dappled as np, numpy\n"
    head += "from tests.fuzz.reference import data, places; log = near = print\n"
    if any("at(" in statement for statement in statements):
        head += "at = lambda array, dist: array.redistribute(dist)\n"
    return head + "\n".join(map(for_dappled, statements))


# In a worker: all ranks of one launch run the same seeds.


def worker(folder):
    import dappled
    from dappled import _core

    from tests.fuzz.programs import generate
    from tests.fuzz.reference import Oracle, difference, quietly, run_dappled

    job = json.loads((folder / "job").read_text())
    number = dappled.comm.size
    if number != job["ranks"]:
        sys.exit(f"{number} ranks instead of {job['ranks']}")
    is_first = dappled.comm.rank == 0

    def agreed(value):
        """The findings of all ranks."""
        if number == 1:
            return [value]
        return [pickle.loads(one) for one in _core.gather("a test", pickle.dumps(value))]

    def compared(oracle, statements, seed):
        run = run_dappled(dappled, statements, seed % 3 == 0)
        found = difference(oracle, run, statements)
        return next(filter(None, agreed(found)), None)

    def rerun(statements, seed):
        oracle = Oracle()
        with quietly():
            for statement in statements:
                oracle.run(statement)
        return compared(oracle, statements, seed)

    end = time.monotonic() + job["seconds"]
    progress_file = folder / "progress"
    for seed in range(job["first"], job["last"]):
        if is_first:
            progress_file.write_text(str(seed))
        if max(agreed(time.monotonic() > end) if seed % 16 == 0 else [False]):
            return 0
        statements, oracle = generate(seed, number)
        found = compared(oracle, statements, seed)
        if found:
            small, text = shrunk(statements, seed, found, rerun)
            if is_first:
                head = f"seed {seed}, setting {job['setting']}, {number} ranks: {text}"
                path = folder / f"failure-{seed:012}"
                path.write_text("\n".join(["-" * 80, head, script(small)]))
    if is_first:
        progress_file.write_text(str(job["last"]))
    return 0


def shrunk(statements, seed, found, rerun):
    """The statements that a failure needs, and the difference."""
    if rerun(statements, seed) is None:
        return statements, f"{found} (not when it is run again)"
    at = len(statements) - 1
    while at >= 0:
        fewer = statements[:at] + statements[at + 1 :]
        again = rerun(fewer, seed)
        if again is not None:
            statements, found = fewer, again
        at -= 1
    return statements, found


if __name__ == "__main__":
    sys.exit(main())
