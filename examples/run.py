"""Runs the examples eager and compiled, in turns, and compares every result byte for byte (./dev demo).

    python examples/run.py [NAME ...] [--seconds S]

An example is a module with KERNELS (the names of the functions to compile), prepare() -> data, run(data, **kernels) -> a
dict of results, and summary(results) -> text. It knows nothing of jitney."""

import argparse
import importlib
import pathlib
import sys
from time import perf_counter

import numpy as np

import jitney
from jitney.bench import alternate, duration, summarise
from jitney.testing import difference, fresh

sys.path.insert(0, str(pathlib.Path(__file__).parent))
EXAMPLES = ("relief", "digits", "options")


class Counted:
    """Calls a kernel, and knows how often and how long the first time took; not used while anything is timed."""

    def __init__(self, function):
        self.function, self.calls, self.first = function, 0, 0.0

    def __call__(self, *args):
        start = perf_counter()
        result = self.function(*args)
        if self.calls == 0:
            self.first = perf_counter() - start
        self.calls += 1
        return result


def whole(run, data, kernels):
    """batch(n) → seconds of n runs of the whole program, each on a fresh copy of the data that is not timed."""

    def batch(n):
        took = 0.0
        for _ in range(n):
            own = fresh(data)
            start = perf_counter()
            run(own, **kernels)
            took += perf_counter() - start
        return took

    return batch


def compare(name, seconds=3.0):
    """Comparison of the whole program, eager against compiled, after the first calls."""
    example = importlib.import_module(name)
    data = example.prepare()
    expected = example.run(fresh(data))

    start = perf_counter()
    compiled = {kernel: jitney.compile(getattr(example, kernel)) for kernel in example.KERNELS}
    compiling = perf_counter() - start
    counted = {kernel: Counted(function) for kernel, function in compiled.items()}
    found = difference(expected, example.run(fresh(data), **counted))
    first = compiling + sum(kernel.first for kernel in counted.values())
    found = found or difference(expected, example.run(fresh(data), **compiled))

    eager, fast = alternate(whole(example.run, data, {}), whole(example.run, data, compiled), seconds=seconds)
    result = summarise(name, eager, fast, first, found)
    calls = sum(kernel.calls for kernel in counted.values())
    return example, expected, compiled, calls, result


def report(name, seconds):
    example, results, compiled, calls, found = compare(name, seconds)
    print(f"\n{name}: {example.__doc__.strip().splitlines()[0]}")
    print(example.summary(results))
    gain = (found.eager.median - found.compiled.median) / calls
    spent = found.first_call - len(compiled) * found.eager.median / calls
    back = f"paid back after {max(0, int(np.ceil(spent / gain)))} calls" if gain > 0 else "not paid back"
    print(f"  eager       {duration(found.eager.median):>9}   the whole program, {calls} calls of {', '.join(compiled)}")
    print(f"  compiled    {duration(found.compiled.median):>9}   after the first calls")
    print(f"  ratio       {found.ratio.median:9.2f}   ({found.ratio.low:.2f} to {found.ratio.high:.2f} in {found.samples} pairs)")
    print(f"  first calls {duration(found.first_call):>9}   {back}")
    for kernel, function in compiled.items():
        stats = jitney.inspect(function).stats()
        if stats["fallback_calls"] or not stats["native_calls"]:
            print(f"  {kernel}: {stats['native_calls']} native calls, {stats['fallback_calls']} left to CPython")
    print(f"  identical: {'yes' if found.difference is None else 'NO, ' + found.difference}", flush=True)
    return found.difference is None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=EXAMPLES, metavar="NAME", help=", ".join(EXAMPLES))
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each is timed")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in EXAMPLES]
    if unknown:
        parser.error(f"no example {', '.join(unknown)}; there are {', '.join(EXAMPLES)}")
    identical = [report(name, arguments.seconds) for name in arguments.names]
    print(
        "\nTo see what jitney made of an example:\n"
        "  JITNEY_LOGS=graph ./dev demo relief              the graph of every compiled function\n"
        "  JITNEY_LOGS=trace_bytecode,bytecode ./dev demo relief   each instruction as it is interpreted; the code before and after\n"
        "  JITNEY_LOGS=loop,ir,asm ./dev demo relief        loop IR, LLVM IR, machine code\n"
        "In a program: jitney.inspect(f).graph(), .bytecode(), .llvm_ir(), .stats(); jitney.explain(f)(*args)"
    )
    return 0 if all(identical) else 1


if __name__ == "__main__":
    sys.exit(main())
