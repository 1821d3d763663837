"""Runs one file of tests in this process, plain or under a stress mode, and writes one JSON line per test.

    python child.py RESULTS MODE SETTINGS cpython test.test_dict
    python child.py RESULTS MODE SETTINGS numpy numpy.linalg.tests.test_linalg[,numpy.linalg.tests.test_regression ...]

    python child.py --serve cpython

MODE 0 is plain: everything is imported as under the modes, nothing is switched on.  SETTINGS is a JSON object: `nops` and `seed`
of mode 1, every other key is a switch of jitney.config.  The line before a test's outcome names it: after a crash the
last line says where.

Served, it imports what every file needs and then forks a process for each line that it reads, a JSON list: the arguments as above, the
limit of processor time, the file for what goes to stderr. It answers with the process' id and, when that has ended, its status."""

import gc
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import types
import unittest

import jitney
from jitney import _jitney


def start(mode, settings):
    nops, seed = settings.pop("nops", 0), settings.pop("seed", 0)
    for name, value in settings.items():
        setattr(jitney.config, name, value)
    if mode == 0:
        return
    _jitney.stress_start(mode, nops, seed)
    if mode >= 2:
        for function in gc.get_objects():
            if type(function) is types.FunctionType:
                _jitney.stress_adopt(function)


class Lines:
    """Outcome per test: the worst that was reported of it."""

    RANK = ("ok", "skip", "xfail", "fail")

    def __init__(self, path):
        self.file = open(path, "w")
        self.outcomes = {}

    def begin(self, name):
        self.write({"begin": name})

    def note(self, name, outcome, text=None):
        if self.RANK.index(outcome) >= self.RANK.index(self.outcomes.get(name, "ok")):
            self.outcomes[name] = outcome
            self.write({"test": name, "outcome": outcome, **({"text": text[-4000:]} if text else {})})

    def write(self, row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()


def free_tools():
    """What a test that failed has left to sys.monitoring is not to fail those behind it."""
    monitoring = getattr(sys, "monitoring", None)
    for tool in range(6 if monitoring else 0):
        name = monitoring.get_tool(tool)
        if name is not None and not name.startswith("jitney"):
            monitoring.set_events(tool, 0)
            for event in range(17):
                monitoring.register_callback(tool, 1 << event, None)
            monitoring.free_tool_id(tool)


class Result(unittest.TestResult):
    def __init__(self, lines):
        super().__init__()
        self.lines = lines
        self.failed = self.failed_before = 0

    def startTest(self, test):
        if self.failed != self.failed_before:
            free_tools()
        self.failed_before = self.failed
        super().startTest(test)
        self.lines.begin(test.id())

    def addSuccess(self, test):
        self.lines.note(test.id(), "ok")

    def addSkip(self, test, reason):
        self.lines.note(test.id(), "skip")

    def addError(self, test, error):
        self.failed += 1
        self.lines.note(test.id(), "fail", self._exc_info_to_string(error, test))

    addFailure = addError

    def addExpectedFailure(self, test, error):
        self.lines.note(test.id(), "xfail")

    def addUnexpectedSuccess(self, test):
        self.lines.note(test.id(), "fail", "unexpected success")

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)


def run_cpython(name, lines):
    from test import support

    support.use_resources = ()
    support.verbose = 0
    with tempfile.TemporaryDirectory(prefix="stress-") as folder:
        os.chdir(folder)
        try:
            module = importlib.import_module(name)
        except unittest.SkipTest as reason:
            lines.write({"skipped": str(reason)})
            return
        unittest.TestLoader().loadTestsFromModule(module).run(Result(lines))
        os.chdir("/")


class Recorder:
    """A plugin of pytest."""

    def __init__(self, lines):
        self.lines = lines

    def pytest_runtest_logstart(self, nodeid):
        self.lines.begin(nodeid)

    def pytest_runtest_logreport(self, report):
        outcome = {"passed": "ok", "failed": "fail", "skipped": "skip"}[report.outcome]
        if hasattr(report, "wasxfail"):
            outcome = "xfail"
        self.lines.note(report.nodeid, outcome, str(report.longrepr) if outcome == "fail" else None)

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.lines.note(report.nodeid, "fail", str(report.longrepr))


def run_numpy(name, lines):
    import pytest

    paths = [importlib.util.find_spec(one).origin for one in name.split(",")]
    pytest.main(["-q", "--assert=plain", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestUnknownMarkWarning", "-m", "not slow",
                 "--rootdir", os.path.dirname(paths[0]), *paths], plugins=[Recorder(lines)])


def serve(suite):
    """Returns in each process that is forked, with its arguments in sys.argv."""
    importlib.import_module("test.support" if suite == "cpython" else "pytest")
    while line := sys.stdin.readline():
        arguments, limit, errors = json.loads(line)
        if process := os.fork():
            print(process, flush=True)
            print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
            continue
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, path in enumerate((os.devnull, os.devnull, errors)):
            os.dup2(os.open(path, os.O_WRONLY if number else os.O_RDONLY), number)
        os.closerange(3, 10)
        sys.stdin = sys.__stdin__ = open(0)
        sys.argv[1:] = arguments
        return
    sys.exit()


def main():
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    path, mode, settings, suite, name = sys.argv[1:]
    sys.argv[1:] = []
    lines = Lines(path)
    start(int(mode), json.loads(settings))
    (run_cpython if suite == "cpython" else run_numpy)(name, lines)
    stats = _jitney.stress_stats() or {}
    stats["refused"] = [str(row) for row in stats.get("refused", ())]
    used = resource.getrusage(resource.RUSAGE_SELF)
    lines.write({"end": True, "cpu": round(used.ru_utime + used.ru_stime, 2), "stats": stats})


if __name__ == "__main__":
    main()
