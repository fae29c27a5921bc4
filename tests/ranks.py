"""Pytest plugin: `@pytest.mark.ranks(1, 2, 3)` runs a test on several ranks.

Each number of ranks becomes a test of its own, with the id `ranks=2`. On one rank the test runs in
pytest's own process. For more, pytest launches itself under `mpiexec` once per file and number of
ranks: all ranks run the same test functions in the same order, and agree on the outcome after each.
A test fails if it fails on any rank; the report shows the first rank that failed. When ranks
diverge, hang or die in a test, that test fails and the remaining ones run in a new launch.

Arrays are distributed however small they are; `@pytest.mark.ranks(2, replicated_below=131072)`
sets the number of bytes below which they are replicated.
"""

import fcntl
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

MPIEXEC = Path(sys.prefix) / "bin" / "mpiexec"
SECONDS_TO_START = 60
SECONDS_PER_TEST = 20
REPORTS = "DAPPLED_TEST_REPORTS"  # set in a launched process: the folder for its reports
RANKS = "DAPPLED_TEST_RANKS"


def pytest_configure(config):
    if not MPIEXEC.exists():
        raise pytest.UsageError(f"{MPIEXEC} does not exist: tests on several ranks need mpich")
    config.addinivalue_line("markers", "ranks(*numbers, replicated_below=0): run on several ranks")
    if folder := os.environ.get(REPORTS):
        import dappled

        config.option.basetemp = Path(folder) / f"tmp-{dappled.comm.rank}"


@pytest.fixture
def ranks(request):
    """The number of ranks that the test runs on."""
    return request.param


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("ranks")
    if mark is None:
        return
    launched = os.environ.get(RANKS)
    numbers = [number for number in mark.args if launched in (None, str(number))]
    if "ranks" not in metafunc.fixturenames:
        metafunc.fixturenames.insert(0, "ranks")
    ids = [f"ranks={number}" for number in numbers]
    metafunc.parametrize("ranks", numbers, ids=ids, indirect=True)


def _launch_of(item):
    """The launch that a test belongs to: its file, number of ranks and replication threshold."""
    mark = item.get_closest_marker("ranks")
    if mark is None or REPORTS in os.environ:
        return None
    number = item.callspec.params["ranks"]
    return number > 1 and (str(item.path), number, str(mark.kwargs.get("replicated_below", 0)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    launch = _launch_of(item)
    if not launch:
        return None
    outcome = _outcomes(item.session, launch)[item.nodeid]
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for data in outcome:
        report = item.config.hook.pytest_report_from_serializable(config=item.config, data=data)
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # The test before left its module set up for this one, which has no teardown of its own.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _outcomes(session, launch):
    """The reports of all selected tests of one launch, by node id; shared by xdist's workers."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    name = "-".join([Path(launch[0]).stem, *map(str, launch[1:])])
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
        output = _run_once(launch, list(left), reports)
        finished = _finished(reports, launch[1])
        broken = next((nodeid for nodeid in left if nodeid not in finished), None)
        if broken is not None:
            finished[broken] = [_broken_report(left[broken], reports, launch[1], output)]
        outcomes.update(finished)
        left = {nodeid: item for nodeid, item in left.items() if nodeid not in finished}
    return outcomes


def _run_once(launch, nodeids, reports):
    _, number, replicated_below = launch
    arguments = reports / "arguments"
    arguments.write_text("\n".join(nodeids))
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
    python = [sys.executable, "-m", "pytest", *options, f"@{arguments}"]
    limit = SECONDS_TO_START + SECONDS_PER_TEST * len(nodeids)
    env = {
        **{name: value for name, value in os.environ.items() if "PYTEST_" not in name},
        REPORTS: str(reports),
        RANKS: str(number),
        "DAPPLED_WHOLE_BELOW": replicated_below,
        "DAPPLED_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }
    command = ["timeout", "-k", "5", str(limit), str(MPIEXEC), "-n", str(number), *python]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    return f"exit status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"


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
    """A failure with what the ranks that left the test reported, and the output of the launch."""
    own = ""
    for rank in range(number):
        for one in _of_rank(reports / f"{rank}.jsonl").get(item.nodeid, {}).get("reports", []):
            if one["outcome"] == "failed":
                own += f"rank {rank} failed alone: {_message(one['longrepr'])}\n"
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed",
        longrepr=f"the ranks did not finish this test together\n{own}{output}",
        when="call",
    )
    return item.config.hook.pytest_report_to_serializable(config=item.config, report=report)


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
