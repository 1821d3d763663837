"""Runs the benchmarks: eager and compiled in turns, in one process, on one thread, every result compared byte for byte.

    python benchmarks/run.py [NAME ...] [--seconds S] [--json]

NAME is a file of this folder. Each has rows(seconds) -> rows, and may have summary(rows) -> fewer rows."""

import argparse
import importlib
import json
import os
import pathlib
import platform
import sys
import warnings
from dataclasses import asdict

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded
import numpy as np  # noqa: E402

NAMES = ("elementwise", "exp", "reductions", "examples", "call", "guards", "graph_break", "never_slower", "front_end", "first_compile", "import_time", "one_op", "whole_program")


def cpu():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def measure(name, seconds, show):
    """All rows of one file, shown as they come."""
    module = importlib.import_module(name)
    found = []
    for row in module.rows(seconds):
        show(row)
        found.append(row)
    return found, list(module.summary(found)) if hasattr(module, "summary") else found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a row is measured")
    parser.add_argument("--json", action="store_true", help="one object with every row")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    warnings.simplefilter("ignore", RuntimeWarning)

    where = {"python": platform.python_version(), "numpy": np.__version__, "cpu": cpu()}
    if not arguments.json:
        print(", ".join(f"{key} {value}" for key, value in where.items()), "\nratios are NumPy time / jitney time; median (quartiles)")
    every, short = [], []
    for name in arguments.names or NAMES:
        show = (lambda row: None) if arguments.json else (lambda row: print(row, flush=True))
        found, summed = measure(name, arguments.seconds, show)
        every += found
        short += summed
    missed = [row for row in short if row.reached is False]
    wrong = [row for row in every if row.difference is not None]
    if arguments.json:
        rows = [asdict(row) | {"reached": row.reached} for row in every]
        json.dump(where | {"rows": rows, "missed": [row.name for row in missed], "different": len(wrong)}, sys.stdout, indent=1)
        print()
    else:
        print(f"\nagainst the targets ({len(short)} rows, {len(missed)} missed, {len(wrong)} results differ)")
        for row in short:
            print(row)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
