"""Pytest plugin: `@pytest.mark.ranks(1, 2, 3)` runs a test on several ranks.

Each number of ranks becomes a test of its own, with the id `ranks2`. On one rank the test runs in
pytest's own process. For more, pytest launches itself under `mpiexec`, once per folder and number
of ranks: all ranks run the same test functions in the same order, and agree on the outcome after
each. A test fails if it fails on any rank; the report shows the first rank that failed. When ranks
diverge, hang or die in a test, that test fails and the remaining ones run in a new launch.

The marker takes options:

- `replicated_below=131072`: arrays of fewer bytes are replicated. The default is 0: every array is
  distributed.
- `budget={3: 4000}`: the value of DAPPLED_BUDGET, by number of ranks.
- `sample={7: 8}`: on 7 ranks, run one in eight of the function's cases. DAPPLED_TEST_ALL=1 runs
  all of them.
"""

import fcntl
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.mpi import MPIEXEC

SECONDS_TO_START = 90
SECONDS_PER_TEST = 60
REPORTS = "DAPPLED_TEST_REPORTS"  # set in a launched process: the folder for its reports
RANKS = "DAPPLED_TEST_RANKS"
SAMPLE = "DAPPLED_TEST_SAMPLE"  # there, without a list of tests: run one in so many
SELECTED = "selected.txt"  # in that folder: the node ids of the tests to run


def pytest_configure(config):
    if not MPIEXEC.exists():
        raise pytest.UsageError(f"{MPIEXEC} does not exist: tests on several ranks need mpich")
    config.addinivalue_line(
        "markers", "ranks(*numbers, replicated_below=0, budget={}, sample={}): run on several ranks"
    )
    if folder := os.environ.get(REPORTS):
        import dappled

        config.option.basetemp = Path(folder) / f"tmp-{dappled.comm.rank}"


@pytest.fixture
def ranks(request):
    """The number of ranks that the test runs on."""
    return request.param


@pytest.fixture
def shared_path(request, tmp_path):
    """An empty folder of the test, the same one on all ranks."""
    folder = os.environ.get(REPORTS)
    if folder is None:
        return tmp_path
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    path = Path(folder) / "shared" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("ranks")
    if mark is None:
        return
    launched = os.environ.get(RANKS)
    numbers = [number for number in mark.args if launched in (None, str(number))]
    if "ranks" not in metafunc.fixturenames:
        metafunc.fixturenames.insert(0, "ranks")
    ids = [f"ranks{number}" for number in numbers]
    metafunc.parametrize("ranks", numbers, ids=ids, indirect=True)


def pytest_collection_modifyitems(config, items):
    if folder := os.environ.get(REPORTS):
        kept = _selected(items, Path(folder) / SELECTED)
    else:
        kept = _sampled(items)
    if len(kept) < len(items):
        chosen = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept


def _selected(items, file):
    """The tests to run in a launch: those of the list, or every n-th test on ranks."""
    if file.exists():
        selected = set(file.read_text().splitlines())
        return [item for item in items if item.nodeid in selected]
    step = int(os.environ.get(SAMPLE, "1"))
    return [item for item in items if item.get_closest_marker("ranks")][::step]


def _sampled(items):
    """The tests that the marker's option `sample` keeps."""
    if os.environ.get("DAPPLED_TEST_ALL"):
        return items
    kept, seen = [], {}
    for item in items:
        mark = item.get_closest_marker("ranks")
        number = item.callspec.params["ranks"] if mark else None
        step = mark.kwargs.get("sample", {}).get(number, 1) if mark else 1
        key = item.nodeid.partition("[")[0], number
        case = seen[key] = seen.get(key, -1) + 1
        # Each number of ranks begins at another case, so that together they run many of them.
        if step == 1 or case % step == number % step:
            kept.append(item)
    return kept


class Launch(NamedTuple):
    """Tests that one launch of mpiexec runs: those of a folder with equal settings."""

    folder: str
    number: int
    replicated_below: str
    budget: str


def _launch_of(item):
    mark = item.get_closest_marker("ranks")
    if mark is None or REPORTS in os.environ:
        return None
    number = item.callspec.params["ranks"]
    budget = str(mark.kwargs.get("budget", {}).get(number, ""))
    if number == 1 and not budget:
        return None
    replicated_below = str(mark.kwargs.get("replicated_below", 0))
    return Launch(str(item.path.parent), number, replicated_below, budget)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    launch = _launch_of(item)
    if not launch:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for data in _outcomes(item.session, launch)[item.nodeid]:
        report = item.config.hook.pytest_report_from_serializable(config=item.config, data=data)
        if isinstance(report.longrepr, list):
            report.longrepr = tuple(report.longrepr)  # of a skipped test; JSON has no tuples
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # The test before left its module set up for this one, which has no teardown of its own.
    item.session._setupstate.teardown_exact(nextitem)
    return True


@cache
def _outcomes(session, launch):
    """The reports of all selected tests of one launch, by node id; shared by xdist's workers."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    name = "-".join(filter(None, [Path(launch.folder).name, *map(str, launch[1:])]))
    folder = Path(tempfile.gettempdir()) / f"dappled-test-{run}" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "outcomes.json"
        if not done.exists():
            items = [item for item in session.items if _launch_of(item) == launch]
            done.write_text(json.dumps(_run(launch, items, folder)))
        return json.loads(done.read_text())


def _run(launch, items, folder):
    """Runs the tests, in as many launches as it takes to get an outcome for each."""
    outcomes, left, number = {}, {item.nodeid: item for item in items}, 0
    while left:
        number += 1
        reports = folder / str(number)
        reports.mkdir(parents=True, exist_ok=True)
        output = _run_once(launch, list(left.values()), reports)
        finished = _finished(reports, launch.number)
        broken = next((nodeid for nodeid in left if nodeid not in finished), None)
        if broken is not None:
            finished[broken] = [_broken_report(left[broken], reports, launch.number, output)]
        outcomes.update(finished)
        left = {nodeid: item for nodeid, item in left.items() if nodeid not in finished}
    return outcomes


def _run_once(launch, items, reports):
    (reports / SELECTED).write_text("\n".join(item.nodeid for item in items))
    files = list(dict.fromkeys(str(item.path) for item in items))
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
    env = {
        **{name: value for name, value in os.environ.items() if "PYTEST_" not in name},
        REPORTS: str(reports),
        RANKS: str(launch.number),
        "DAPPLED_REPLICATE_BELOW": launch.replicated_below,
        "DAPPLED_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }
    if launch.budget:
        env["DAPPLED_BUDGET"] = launch.budget
    command = [str(MPIEXEC), "-n", str(launch.number), sys.executable, "-m", "pytest"]
    output = reports / "output.txt"
    with open(output, "wb") as file:
        process = subprocess.Popen(
            [*command, *options, *files],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=items[0].config.rootpath,
        )
        try:
            status = _wait(process, reports / "0.jsonl")
        finally:  # also after Ctrl-C
            _end(process)
    return f"{status}\n{output.read_text(errors='replace')[-12000:]}"


def _wait(process, progress):
    """Waits for a launch, and ends it when rank 0 reports no test for too long."""
    size, limit = 0, time.monotonic() + SECONDS_TO_START
    while process.poll() is None:
        time.sleep(0.05)
        now = progress.stat().st_size if progress.exists() else 0
        if now != size:
            size, limit = now, time.monotonic() + SECONDS_PER_TEST
        elif time.monotonic() > limit:
            return f"no test finished for {SECONDS_PER_TEST} seconds"
    return f"exit status {process.returncode}"


def _end(process):
    """Ends mpiexec, which ends its ranks."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()


def _finished(reports, number):
    """The reports of each test that all ranks finished: the first failing rank's, or rank 0's."""
    ranks = [_of_rank(reports / f"{rank}.jsonl") for rank in range(number)]
    finished = {}
    for nodeid in ranks[0]:
        if all(rank.get(nodeid, {}).get("agreed") for rank in ranks):
            every = [rank[nodeid]["reports"] for rank in ranks]
            bad = next((i for i, one in enumerate(every) if _failed(one)), 0)
            finished[nodeid] = every[bad]
            for report in finished[nodeid]:
                report["sections"].append(["rank", f"reported by rank {bad} of {number}"])
    return finished


def _of_rank(file):
    found = {}
    if file.exists():
        for line in file.read_text().splitlines():
            one = json.loads(line)
            found.setdefault(one["nodeid"], {}).update(one)
    return found


def _failed(reports):
    return any(report["outcome"] == "failed" for report in reports)


def _broken_report(item, reports, number, output):
    """A failure with the reports of the ranks that left the test, and the launch's output."""
    own = ""
    for rank in range(number):
        for one in _of_rank(reports / f"{rank}.jsonl").get(item.nodeid, {}).get("reports", []):
            if one["outcome"] == "failed":
                own += f"rank {rank} failed alone: {_message(one['longrepr'])}\n"
    report = _report(item, "failed", f"the ranks did not finish this test together\n{own}{output}")
    return item.config.hook.pytest_report_to_serializable(config=item.config, report=report)


def _report(item, outcome, longrepr):
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome=outcome,
        longrepr=longrepr,
        when="call",
    )


def _message(longrepr):
    crash = longrepr.get("reprcrash") if isinstance(longrepr, dict) else None
    return f"{crash['path']}:{crash['lineno']}: {crash['message']}" if crash else str(longrepr)


# In a launched process: every rank writes its reports, and all agree before the next test.

_reports = []


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if REPORTS in os.environ:
        _reports.append(report)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish(nodeid, location):
    if REPORTS not in os.environ:
        return
    from dappled import _core, comm

    config = _config
    data = [config.hook.pytest_report_to_serializable(config=config, report=r) for r in _reports]
    _reports.clear()
    with open(Path(os.environ[REPORTS]) / f"{comm.rank}.jsonl", "a") as file:
        print(json.dumps({"nodeid": nodeid, "reports": data}), file=file, flush=True)
        # Raises where the ranks diverged: one failed alone, the others are still inside the test.
        _core.gather("a test", pickle.dumps(nodeid))
        print(json.dumps({"nodeid": nodeid, "agreed": True}), file=file)


_config = None


def pytest_sessionstart(session):
    global _config
    _config = session.config
