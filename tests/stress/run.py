"""./dev stress: CPython's and NumPy's own tests, plain and under jitney's stress modes (docs/stress.md).

Every file of tests runs in a process of its own with a time limit.  What a plain run passes, a stressed run must pass; what
fails twice and is not explained in known.txt is a failure.  Results are kept in build/stress/: a run that was stopped goes
on where it was, `--again` forgets what was found before."""

import argparse
import collections
import concurrent.futures
import contextlib
import fcntl
import fnmatch
import importlib
import json
import os
import pathlib
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MINOR = "%d.%d" % sys.version_info[:2]
MODES = {0: "plain", 1: "re-encoded", 2: "overridden", 3: "compiled", 4: "hooked"}
CONTROL = {1: 4}  # what fails there too is not the mode's own doing
PATIENCE = 5
NUMPY = ("numpy._core", "numpy.lib", "numpy.linalg", "numpy.random", "numpy.ma", "numpy.polynomial")

# Files that are not run at all, with the reason.
EXCLUDED = {
    "test_regrtest": "runs the test runner itself",
    "test_ensurepip": "installs packages",
    "test_venv": "makes environments in child processes, which no mode reaches",
    "test_multiprocessing_*": "the tests run in child processes, which no mode reaches",
    "test_concurrent_futures": "the tests run in child processes, which no mode reaches",
    "test_gdb": "runs a debugger in a child process",
    "test_tools": "runs scripts of the source tree, which is not here",
    "test_peg_generator": "compiles C",
    "test_cext": "compiles C",
    "test_cppext": "compiles C++",
    "test_distutils": "compiles C",
    "test_perf_profiler": "needs perf and holds the eval-frame slot",
    "test_idle": "needs a display",
    "test_tkinter": "needs a display",
    "test_ttk": "needs a display",
}

# About five minutes on two cores, for all modes of one Python: what concerns the language first, then what is done with it.
# Those of CI take a minute.
QUICK_CI = """test_array test_bool test_builtin test_call test_class test_code test_compare test_complex test_contextlib test_copy
test_coroutines test_dataclasses test_decorators test_deque test_descr test_dict test_except_star test_exceptions test_extcall
test_float test_fractions test_frame test_functools test_generators test_genexps test_grammar test_iter test_keywordonlyarg
test_list test_listcomps test_named_expressions test_operator test_patma test_positional_only_arg test_property test_raise
test_range test_re test_richcmp test_scope test_setcomps test_slice test_sort test_string test_super test_sys_settrace
test_type_params test_typing test_unpack test_unpack_ex test_warnings test_with test_yield_from""".split()
QUICK = (
    QUICK_CI
    + """test_asyncgen test_bisect test_codecs test_collections test_csv test_datetime test_decimal test_difflib
test_enum test_fstring test_gc test_inspect test_int test_io test_itertools test_json test_long test_math test_ordered_dict test_os
test_pathlib test_pdb test_set test_sqlite3 test_statistics test_struct test_sys test_threading test_traceback test_tuple test_types
test_weakset test_zipfile""".split()
)
QUICK_NUMPY_CI = ("numpy._core.tests.test_shape_base", "numpy.lib.tests.test_stride_tricks")
QUICK_NUMPY = (*QUICK_NUMPY_CI, "numpy._core.tests.test_indexing", "numpy.lib.tests.test_arraypad")


def cpython_files():
    import test

    folder = pathlib.Path(test.__file__).parent
    names = sorted({p.stem for p in folder.glob("test_*.py")} | {p.parent.name for p in folder.glob("test_*/__init__.py")})
    return [f"test.{name}" for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in EXCLUDED)]


def numpy_files():
    import numpy

    base = pathlib.Path(numpy.__file__).parent.parent
    return [
        ".".join(path.relative_to(base).with_suffix("").parts)
        for package in NUMPY
        for path in sorted((base / package.replace(".", "/") / "tests").glob("test_*.py"))
    ]


def size_of(name):
    path = pathlib.Path(importlib.import_module(name.split(".")[0]).__file__).parent.joinpath(*name.split(".")[1:])
    return sum(p.stat().st_size for p in path.glob("test*.py")) if path.is_dir() else path.with_suffix(".py").stat().st_size


# -- one file ----------------------------------------------------------------------------------------------------------------------


ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
CHILD = [sys.executable, "-X", "faulthandler", str(HERE / "child.py")]


def prepare(limit=None):
    """The limit is processor time, as others may use the machine; what waits for something gets a few times as long."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell makes what it runs in the background ignore it
    if limit:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def end_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


class Fresh:
    """A process that nothing but this file of tests ran in, from the interpreter's start on."""

    def __init__(self, arguments, limit):
        self.process = subprocess.Popen(
            [*CHILD, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            cwd=tempfile.gettempdir(), env=ENVIRONMENT, preexec_fn=lambda: prepare(limit),
        )  # fmt: skip

    def wait(self, seconds):
        """Its status, None if it takes longer."""
        try:
            self.errors = self.process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            end_group(self.process.pid)
            self.errors = self.process.communicate()[1]
            return None
        return self.process.returncode


class Forked:
    """A process that has imported jitney, NumPy and the test's tools when it begins: half the time of a small file."""

    idle = collections.defaultdict(list)  # servers by suite; each has one process at a time

    def __init__(self, arguments, limit):
        self.suite = arguments[3]
        try:
            self.server = self.idle[self.suite].pop()
        except IndexError:
            self.server = subprocess.Popen(
                [*CHILD, "--serve", self.suite], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                cwd=tempfile.gettempdir(), env=ENVIRONMENT, preexec_fn=prepare, bufsize=0,  # for select
            )  # fmt: skip
        handle, self.path = tempfile.mkstemp()
        os.close(handle)
        self.server.stdin.write(json.dumps([arguments, limit, self.path]).encode() + b"\n")
        self.process = self.answer()

    def answer(self):
        """A number; the server ends by itself if it cannot import jitney, for example."""
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that was to run {self.suite}'s tests ended with {self.server.wait()}")
        return int(line)

    def wait(self, seconds):
        in_time = select.select([self.server.stdout], [], [], seconds)[0]
        if not in_time:
            end_group(self.process)
        status = self.answer()
        end_group(self.process)  # those that it left
        self.errors = pathlib.Path(self.path).read_bytes()
        os.unlink(self.path)
        self.idle[self.suite].append(self.server)
        return status if in_time else None

    @classmethod
    def end_servers(cls):
        for server in [server for servers in cls.idle.values() for server in servers]:
            server.communicate()


def run_file(name, mode, settings, limit, kind=Forked):
    """What a process of its own found: status, seconds, outcomes that are not ok with their texts, names that are ok."""
    suite = "cpython" if name.startswith("test.") else "numpy"
    handle, lines = tempfile.mkstemp(suffix=".jsonl")
    os.close(handle)
    begun = time.monotonic()
    process = kind([lines, str(mode), json.dumps(settings), suite, name], limit)
    code = process.wait(PATIENCE * limit)
    errors = process.errors
    status = "ok" if code == 0 else f"more than {PATIENCE * limit} s" if code is None else f"exit {code}"
    slow = code == -signal.SIGXCPU
    found = {"status": status, "slow": slow, "seconds": round(time.monotonic() - begun, 1), "ok": [], "fail": {}, "cpu": None}
    last = None
    outcomes = {}
    for line in open(lines):
        row = json.loads(line)
        last = row.get("begin", last)
        if "test" in row:
            outcomes[row["test"]] = row["outcome"]
            if row["outcome"] == "fail":
                found["fail"][row["test"]] = row.get("text", "")
        elif "end" in row:
            found.update(cpu=row["cpu"], stats=row["stats"])
            last = None
        elif "skipped" in row:
            found["status"] = "skipped: " + row["skipped"]
    os.unlink(lines)
    found["ok"] = sorted(test for test, outcome in outcomes.items() if outcome == "ok")
    if status != "ok":
        found["last"] = last
        found["errors"] = errors.decode(errors="replace")[-4000:]
    return found


def beyond(plain, stressed):
    """Tests that plain passes and the stressed run does not, with what it said; () names the process itself."""
    failed = {test: text for test, text in stressed["fail"].items() if test in set(plain["ok"])}
    # A failure outside of a test (setUpClass, an import) has a name that plain never reports.
    failed.update({test: text for test, text in stressed["fail"].items() if test not in plain["fail"]})
    if stressed["status"] != plain["status"]:
        failed["process"] = f"{stressed['status']}, in {stressed.get('last')}\n{stressed.get('errors', '')}"
    elif missing := set(plain["ok"]) - set(stressed["ok"]) - set(failed):
        failed["missing"] = "did not run or was skipped: " + ", ".join(sorted(missing)[:5])
    return failed


# -- what is known -----------------------------------------------------------------------------------------------------------------


def read_known():
    """[(modes, Pythons, pattern of FILE:TEST, reason)]; known.txt has a legend."""
    rows = []
    for line in (HERE / "known.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            modes, pythons, pattern, reason = line.split(None, 3)
            rows.append((modes, pythons.split(","), pattern, reason))
    return rows


def reason_for(known, mode, name, test, found):
    if test in found.get("control", ()):
        return f"fails under the mode's control ({MODES[CONTROL[mode]]}) too"
    for modes, pythons, pattern, reason in known:
        if str(mode) in modes and MINOR in pythons and fnmatch.fnmatchcase(f"{name}:{test}", pattern):
            return reason
    return None


# -- all of them ---------------------------------------------------------------------------------------------------------------------


class Store:
    """build/stress/MINOR-KEY.json: file -> found."""

    def __init__(self, key, forget=()):
        self.path = ROOT / "build" / "stress" / f"{MINOR}-{key}.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.rows = json.loads(self.path.read_text()) if self.path.exists() else {}
        for name in forget:
            self.rows.pop(name, None)
        self.lock = threading.Lock()

    def put(self, name, found):
        """Another run may write other files' rows."""
        with self.lock, open(self.path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.rows[name] = found
            there = json.loads(self.path.read_text()) if self.path.exists() else {}
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps({**there, name: found}))
            part.replace(self.path)


def usable(plain):
    """Why a plain run is no yardstick; None: it is."""
    if plain["status"] != "ok":
        return plain["status"]
    return None if plain["ok"] else "no test passes"


class Run:
    def __init__(self, options, mode, settings, names, deadline):
        self.options, self.mode, self.settings = options, mode, settings
        key = MODES[mode] + "".join(f"-{k}{v}" for k, v in sorted(settings.items()) if k != "min_nodes")
        forget = names if options.again and not options.report else ()
        self.plain = Store("plain", forget if mode == 0 else ())
        self.store = Store(key, forget) if mode else self.plain
        self.known = read_known()
        self.deadline = deadline
        self.done = self.left_out = 0

    def one(self, name, total):
        if time.monotonic() > self.deadline:
            self.left_out += 1
            return
        limit = self.options.limit
        if name not in self.plain.rows:
            self.plain.put(name, run_file(name, 0, {}, limit))
        plain = self.plain.rows[name]
        if self.mode and usable(plain) is None and name not in self.store.rows:
            limit = max(4 * limit if self.mode == 3 else limit, int((60 if self.mode == 3 else 5) * (plain["cpu"] or 1)))
            limit = min(limit, self.options.cap or limit)
            found = run_file(name, self.mode, dict(self.settings), limit)
            failed = beyond(plain, found)
            if found["slow"] and self.options.cap:  # that it was stopped is no failure; what it had done counts
                failed.pop("process", None)
            if failed:  # only what fails twice is a failure: tests that measure time fail on a busy machine
                second = beyond(plain, run_file(name, self.mode, dict(self.settings), limit, Fresh))
                failed = {test: text for test, text in second.items() if test in failed}
            if failed and self.mode in CONTROL:
                control = beyond(plain, run_file(name, CONTROL[self.mode], {}, limit))
                found["control"] = sorted(test for test in failed if test in control)
            found["beyond"] = failed
            found["fail"], found["ok"] = {}, len(found["ok"])
            self.store.put(name, found)
        self.done += 1
        self.show(name, total)

    def show(self, name, total):
        plain = self.plain.rows[name]
        what = usable(plain)
        if what is None and self.mode:
            found = self.store.rows[name]
            new = [test for test in found["beyond"] if not reason_for(self.known, self.mode, name, test, found)]
            what = f"{len(new)} NEW: {' '.join(new)}" if new else f"{found['ok']} pass" + f", {len(found['beyond'])} known" * bool(found["beyond"])
            what += f", stopped after {found['seconds']:.0f} s" * found.get("slow", False)
        print(f"[{self.done}/{total}] {MINOR} {MODES[self.mode]}: {name}: {what or len(plain['ok'])}", flush=True)

    def quickest_first(self, names):
        """So that a run that is stopped has done most of the files; what was never run goes by the size of its text."""

        def cost(name):
            plain = self.plain.rows.get(name)
            return plain["cpu"] if plain and plain["cpu"] else size_of(name) / 20_000

        return sorted(names, key=cost)

    def all(self, names):
        names = self.quickest_first(names)
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for future in [pool.submit(self.one, name, len(names)) for name in names]:
                future.result()
        return self.report(names)

    def report(self, names):
        """Prints what there is of these files; the number of failures that nothing explains."""
        used = [name for name in names if name in self.plain.rows and usable(self.plain.rows[name]) is None]
        print(f"\n{MINOR} {MODES[self.mode]} {self.settings or ''}: {len(used)} files of {len(names)} serve as a yardstick", end="")
        if not self.mode:
            print()
            for name in names:
                if name in self.plain.rows and name not in used:
                    print(f"  not used: {name}: {usable(self.plain.rows[name])}")
            return 0
        ran = [name for name in used if name in self.store.rows]
        slow = [name for name in ran if self.store.rows[name].get("slow")]
        tests = sum(self.store.rows[name]["ok"] for name in ran)
        new, known = [], []
        for name in ran:
            found = self.store.rows[name]
            for test, text in found["beyond"].items():
                reason = reason_for(self.known, self.mode, name, test, found)
                (known if reason else new).append((name, test, reason or text))
        print(f", {len(ran)} ran{f' ({len(slow)} not to their end)' * bool(slow)}, {tests} tests pass; beyond plain: {len(known)} explained, {len(new)} not")
        if self.left_out:
            print(f"  {self.left_out} files were left out: the time was up")
        for name in slow:
            found = self.store.rows[name]
            print(f"  too slow here: {name}: {found['ok']} of {len(self.plain.rows[name]['ok'])} tests pass; stopped in {found['last']}")
        for name, test, reason in known:
            print(f"  explained: {test if name in test else f'{name}: {test}'}: {reason}")
        for name, test, text in new:
            print(f"  {name}: {test}\n" + "\n".join("      " + line for line in text.strip().splitlines()[-self.options.lines :]))
        return len(new)


def settings_of(mode, options):
    if mode == 1:
        return {"nops": options.nops, "seed": options.seed} if options.nops else {}
    if mode == 3:
        chosen = {"break_every": options.break_every, "executor": options.executor}
        return {"min_nodes": 0, **{name: value for name, value in chosen.items() if value}}
    return {}


def lists(options):
    if options.quick or options.ci:
        return [f"test.{name}" for name in (QUICK_CI if options.ci else QUICK)], list(QUICK_NUMPY_CI if options.ci else QUICK_NUMPY)
    return cpython_files(), numpy_files()


def main():
    parser = argparse.ArgumentParser(prog="./dev stress", description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="only files whose name matches: test_dict, 'numpy.linalg*'")
    parser.add_argument("--mode", type=int, choices=MODES, action="append", help="0 plain, 1 re-encoded, 2 overridden, 3 compiled (default: 1 2 3), 4 hooked")
    parser.add_argument("--quick", action="store_true", help="the short list, at most ten minutes")
    parser.add_argument("--ci", action="store_true", help="a part of the short list, a minute; at most three")
    parser.add_argument("--again", action="store_true", help="forget what was found of these files before")
    parser.add_argument("--report", action="store_true", help="run nothing: print what was found")
    parser.add_argument("--nops", type=int, default=0, help="mode 1: NOPs per code object")
    parser.add_argument("--break-every", type=int, default=0, metavar="K", help="mode 3: every unit ends before its K-th instruction")
    parser.add_argument("--executor", choices=("numpy", "graph", "loop"), help="mode 3: of units, instead of machine code: loop takes a third of the time of NumPy's tests")
    parser.add_argument("--seed", type=int, default=0, help="of the NOPs")
    parser.add_argument("--limit", type=int, default=90, help="seconds of processor time for one file, plain (default 90)")
    parser.add_argument("--cap", type=int, metavar="SECONDS", help="stop a stressed file after that much processor time: too slow here, which is no failure")
    parser.add_argument("--minutes", type=float, help="start nothing new after that time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lines", type=int, default=6, help="of each failure's text")
    options = parser.parse_args()
    if options.quick or options.ci:
        options.again, options.minutes = True, options.minutes or (3 if options.ci else 9)
    if not options.ci:
        os.nice(10)
    begun = time.monotonic()
    deadline = begun + options.minutes * 60 if options.minutes else float("inf")
    failures = 0
    for mode in options.mode or ((3, 1, 2) if options.quick or options.ci else (1, 2, 3)):  # in haste what tells most comes first
        if mode == 2 and MINOR == "3.11":
            print("mode 2 needs Python 3.12 or later: 3.11 calls bytecode without asking the function object")
            continue
        cpython, numpy = lists(options)
        names = cpython + (numpy if mode in (0, 3) else [])
        if options.patterns:
            names = [n for n in names if any(fnmatch.fnmatch(n.removeprefix("test."), p) for p in options.patterns)]
        run = Run(options, mode, settings_of(mode, options), names, deadline)
        failures += run.report(names) if options.report else run.all(names)
    Forked.end_servers()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{time.monotonic() - begun:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
