"""Run CPython's own tests on a standard library in which every function has been taken apart, filled with NOPs at random
places, and assembled anew.

    python nop_stdlib.py [--nops N] [--sweep] [--seed S] [TEST...]        default: 300 NOPs, a dozen test modules

The library and the tests are compiled, edited and written as .pyc files into a folder of their own; a fresh interpreter
that knows nothing of jitney runs the tests from there (PYTHONPYCACHEPREFIX).  With --sweep it is not NOPs that are
inserted but code that frontend/sweep.c takes out again, together with what else is dead.  Where a test fails, it is run again
unmodified: failing there, too, is not held against us.  Exit status 1: a test fails only when edited."""

import argparse
import marshal
import os
import pathlib
import random
import subprocess
import sys
import sysconfig
import tempfile
import xml.etree.ElementTree
import zlib
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash

from jitney import _jitney

TESTS = (
    "test_json", "test_re", "test_dataclasses", "test_contextlib", "test_statistics", "test_fractions", "test_decimal",
    "test_enum", "test_functools", "test_itertools", "test_asyncio", "test_traceback",
)  # fmt: skip
LIBRARY = pathlib.Path(sysconfig.get_path("stdlib"))
SKIPPED = {"site-packages", "idlelib", "lib2to3", "tkinter", "turtledemo", "ensurepip", "pydoc_data", "__pycache__"}
UNCHECKED = (1).to_bytes(4, "little")  # a .pyc by hash that the import system does not compare with its source


def sources(tests):
    """The library, and of the test package what the chosen tests consist of."""
    for path in sorted(LIBRARY.rglob("*.py")):
        parts = path.relative_to(LIBRARY).parts
        if SKIPPED & set(parts):
            continue
        if parts[0] != "test" or len(parts) == 2 and parts[1] in ("support.py", "__init__.py"):
            yield path
        elif parts[0] == "test" and (parts[1] == "support" or parts[1].removesuffix(".py") in tests):
            yield path


def write_edited(path, edit, nops, seed):
    data = path.read_bytes()
    code = compile(data, str(path), "exec", dont_inherit=True)
    edited = edit(code, nops, seed ^ zlib.crc32(str(path.relative_to(LIBRARY)).encode()))
    target = pathlib.Path(cache_from_source(str(path)))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(MAGIC_NUMBER + UNCHECKED + source_hash(data) + marshal.dumps(edited))


def write_library(tests, edit, nops, seed):
    n = 0
    for path in sources(tests):
        try:
            write_edited(path, edit, nops, seed)
        except SyntaxError:  # on purpose, in the data of a test
            continue
        n += 1
    return n


def environment(folder):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JITNEY"))}
    if folder is not None:
        env["PYTHONPYCACHEPREFIX"] = folder
    return env


def size_of_function(folder):
    """The units of a function and its constants, in the interpreter that runs the tests: were they written for nothing?"""
    script = "import json.decoder as d; c = d.JSONDecoder.raw_decode.__code__; print(len(c.co_code) // 2, '.junk' in c.co_varnames)"
    result = subprocess.run([sys.executable, "-c", script], env=environment(folder), capture_output=True, text=True, check=True)
    units, has_junk = result.stdout.split()
    return int(units), has_junk == "True"


def is_edited(folder, nops, sweep):
    units, has_junk = size_of_function(folder)
    plain, _ = size_of_function(None)
    print(f"JSONDecoder.raw_decode has {units} units instead of {plain}", flush=True)
    return has_junk if sweep else units >= plain + nops // 2


def run(test, folder, timeout):
    """(number of tests, the names of those that failed, the end of the output)"""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.xml")
        command = [sys.executable, "-W", "ignore", "-m", "test", "--junit-xml", str(report), test]
        try:
            result = subprocess.run(
                command, env=environment(folder), cwd=scratch, timeout=timeout, text=True, errors="replace",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 0, {"(timeout)"}, ""
        if not report.exists():
            return 0, {f"(no report, exit status {result.returncode})"}, result.stdout[-3000:]
        cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
        failed = {case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None}
        if result.returncode != 0 and not failed:
            failed = {f"(exit status {result.returncode})"}
        return len(cases), failed, result.stdout[-3000:]


def check(test, folder, timeout):
    """True when nothing fails that does not fail without us."""
    n, failed, output = run(test, folder, timeout)
    if not failed:
        print(f"{test}: {n} tests passed", flush=True)
        return n > 0
    plain_n, plain_failed, _ = run(test, None, timeout)
    ours = failed - plain_failed
    print(f"{test}: {n} tests, {len(failed)} failed; unmodified {plain_n} tests, {len(plain_failed)} failed", flush=True)
    for name in sorted(failed):
        print(f"    {'ONLY WHEN EDITED' if name in ours else 'unmodified, too'}: {name}", flush=True)
    if ours:
        print(output)
    return not ours and n == plain_n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nops", type=int, default=300)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--timeout", type=int, default=900, help="seconds per test module")
    parser.add_argument("tests", nargs="*", default=TESTS)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.nops} insertions per code object, Python {sys.version.split()[0]}", flush=True)
    edit = _jitney.bytecode_sweep if options.sweep else _jitney.bytecode_insert_nops
    with tempfile.TemporaryDirectory() as folder:
        sys.pycache_prefix = folder
        print(write_library(set(options.tests), edit, options.nops, options.seed), "files written", flush=True)
        good = is_edited(folder, options.nops, options.sweep)
        for test in options.tests:
            good &= check(test, folder, options.timeout)
    sys.exit(not good)


if __name__ == "__main__":
    main()
