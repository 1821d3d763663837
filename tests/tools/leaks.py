"""References and memory that cycles of compile, run, drop leave behind: python tests/tools/leaks.py [NAME ...] [--cycles 1000]

Programs: the constructs of tests/python/test_constructs.py in their three positions, the programs of benchmarks/loops at their small size, and the found cases of
tests/python/test_random_functions.py. A cycle makes the program's module anew, compiles every function, calls them and drops all. After a tenth of the cycles, which fill caches, objects of the
collector's, blocks of Python's allocator and bytes (what the C library has given out) are counted, and again after each half of the rest. What grows in both halves is told, with what the
same cycles leave behind in plain Python.
"""

import argparse
import contextlib
import ctypes
import gc
import io
import pathlib
import sys
import time
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests", "tests/python", "tests/tools", "benchmarks/loops"):
    sys.path.insert(0, str(ROOT / folder))

import programs  # noqa: E402
import random_functions  # noqa: E402
import test_constructs  # noqa: E402
import test_random_functions  # noqa: E402

import jitney  # noqa: E402


class _Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def _bytes_in_use():
    """What malloc has given out, or 0 where the C library cannot tell."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    ask.restype = _Info
    info = ask()
    return info.uordblks + info.hblkhd


def in_use():
    gc.collect()
    return len(gc.get_objects()), sys.getallocatedblocks(), _bytes_in_use()


def _construct(name, body, before, position):
    def cycle(decorate):
        module = test_constructs.load(name, body, before, position)
        f = decorate(module["f"])
        for _ in range(2):
            with contextlib.suppress(Exception):
                f(np.arange(1.0, 9.0))

    return cycle


def _loop(name):
    def cycle(decorate):
        module = programs.load(name, decorate)
        for _ in range(2):
            programs.main(module)(*module.setup(module.QUICK))

    return cycle


def _found(source, calls):
    def cycle(decorate):
        module = random_functions.load(source)
        for name, value in list(module.items()):
            if type(value) is type(cycle) and value.__globals__ is module:
                module[name] = decorate(value)
        for call in calls:
            with contextlib.suppress(Exception):
                eval(call if call.startswith("f") else "f" + call, module)

    return cycle


def cases():
    """name → a function that does one cycle, given what to do with a function."""
    found = {}
    for name, body, before in test_constructs.TABLE:
        for position in test_constructs.POSITIONS:
            found[f"construct {name} {position}"] = _construct(name, body, before, position)
    for name in programs.NAMES:
        found[f"loop {name}"] = _loop(name)
    for name, (source, calls) in test_random_functions.FOUND.items():
        found[f"found {name}"] = _found(source, calls)
    return found


def growth(cycle, decorate, cycles):
    """Objects, blocks and bytes for each cycle, beyond the first tenth of them: the less of two halves, since a table may have grown in one."""
    first = max(5, cycles // 10)
    half = (cycles - first) // 2
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = []
        for n in (first, half, half):
            for _ in range(n):
                cycle(decorate)
            points.append(in_use())
    return tuple(min((b - a) / half, (c - b) / half) for a, b, c in zip(*points, strict=True))


# An object that the collector knows in ten cycles; a block of another in two, as interned names and other caches fill up for some hundred cycles; bytes that are no object's.
LIMITS = (0.1, 0.5, 100)


def leaks(cycle, cycles, limits=LIMITS):
    """None, or a sentence."""

    def exceed(a, b=(0, 0, 0)):
        return any(x - y >= limit for x, y, limit in zip(a, b, limits, strict=True))

    def show(counts):
        return "{:.1f} objects, {:.1f} blocks, {:.0f} bytes".format(*counts)

    found = growth(cycle, jitney.compile, cycles)
    if not exceed(found):
        return None
    plain = growth(cycle, lambda f: f, cycles)
    return f"{show(found)} a cycle; plain Python: {show(plain)}" if exceed(found, plain) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="what a case's name contains (all)")
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--skip", type=int, default=0, help="so many of the cases, for a run in parts")
    arguments = parser.parse_args()
    chosen = {name: cycle for name, cycle in cases().items() if not arguments.names or any(part in name for part in arguments.names)}
    chosen = dict(list(chosen.items())[arguments.skip :])
    bad, start = 0, time.monotonic()
    for number, (name, cycle) in enumerate(chosen.items(), 1):
        sentence = leaks(cycle, arguments.cycles)
        if sentence is not None:
            bad += 1
            print(f"{name}: {sentence}", flush=True)
        elif number % 25 == 0:
            print(f"  {number} of {len(chosen)} programs, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{len(chosen)} programs, {arguments.cycles} cycles each: {bad} leak")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
