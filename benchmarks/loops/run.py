"""The loop programs in CPython, jitney, C and Numba: in one process, in turns, results compared.

    ./dev bench loops [--only NAME ...] [--numba] [--quick] [--rounds N] [--json]

A row is a program: the time of a call of each, median of the rounds; what the first call of a fresh copy takes (small size, LLVM loaded); CPython / jitney, jitney / C and
Numba / jitney; how much of it ran in compiled loops. jitney must give CPython's types and bits, in the result and in every argument afterwards; the C twin its bits; what Numba
gives is compared and told, but nobody's fault here."""

import argparse
import gc
import json
import os
import pathlib
import pickle
import platform
import statistics
import sys
import types
import warnings
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded
import numpy as np  # noqa: E402

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import programs  # noqa: E402

import jitney  # noqa: E402
from jitney.testing import difference  # noqa: E402

# The figures to reach: at least (CPython / jitney, Numba / jitney) or at most (jitney / C): geometric mean, worst.
TARGETS = {"cpython": (60, 3), "c": (1.25, 2.5), "numba": (1.1, 0.85)}
FIRST_CALL = (20, 80)  # ms: median, worst
BIG = 0.95  # programs with ints beyond the machine's: CPython / jitney
TINY = 0.9  # a loop of no gain: CPython / jitney
EXIT = 3.0  # us
EXITS = ("checks", "stops", "polls", "refusals")  # of stats(): how compiled loops are left


def copied(args):
    """New objects, numbers too: a list that a program has just made holds its floats alone."""
    return tuple(arg if isinstance(arg, types.FunctionType) or type(arg).__module__.startswith("numba") else pickle.loads(pickle.dumps(arg)) for arg in args)


def timed(call, *args):
    start = perf_counter()
    result = call(*args)
    return perf_counter() - start, result


class Contender:
    """A copy of the program and its arguments."""

    def __init__(self, name, size, decorate=None):
        self.module = programs.load(name, decorate)
        self.function = programs.main(self.module)
        self.args = self.module.setup(size)
        self.times, self.calls = [], 0

    def once(self):
        args = copied(self.args)
        self.calls += 1
        took, self.result = timed(self.function, *args)
        self.left = args
        return took

    def sample(self):
        self.times.append(min(self.once() for _ in range(5)) if self.times and self.times[-1] < 2e-3 else self.once())


class TwinContender:
    def __init__(self, name, eager):
        self.name, self.eager, self.times, self.found = name, eager, [], None
        self.once()

    def once(self):
        twin = programs.Twin(self.name, copied(self.eager.args), self.eager.result, self.eager.left)
        took, returned = timed(twin.call)
        self.found = self.found or twin.difference(returned)
        return took

    sample = Contender.sample


def compiled_functions(module):
    return {key: value for key, value in vars(module).items() if isinstance(value, types.FunctionType) and jitney.is_compiled(value)}


def counters(module):
    """Sums of the numbers that stats() gives, over the functions of a module."""
    sums = {}
    for function in compiled_functions(module).values():
        for key, value in jitney.inspect(function).stats().items():
            if type(value) is int:
                sums[key] = sums.get(key, 0) + value
    return sums


def reasons(module):
    """What was not compiled, or stopped compiled code: a text for each line and reason."""
    found = {}
    for key, function in compiled_functions(module).items():
        inspection = jitney.inspect(function)
        for unit in inspection.units:
            if unit.reason is not None:
                found.setdefault((key, unit.stop_line, unit.reason), unit.detail or unit.what)
        for row in inspection.refusals:
            found.setdefault((key, row["line"], row["name"]), row["detail"] or row["what"])
    return [f"{key}, line {at}: {reason}: {text}" for (key, at, reason), text in sorted(found.items(), key=lambda item: item[0][:2])]


def numba_decorator():
    import numba

    return numba.njit


def first_call(name, decorate, size):
    """Seconds of decorating the functions and the first call, and the difference of its outcome; the compiled module."""
    eager = Contender(name, size)
    eager.once()
    module = programs.load(name)
    args = copied(module.setup(size))
    start = perf_counter()
    for key, value in list(vars(module).items()):
        if type(value) is types.FunctionType and value.__module__ == module.__name__ and key != "setup":
            setattr(module, key, decorate(value))
    # a function among the arguments is the module's decorated one, too
    own = tuple(getattr(module, arg.__name__) if isinstance(arg, types.FunctionType) else arg for arg in args)
    result = programs.main(module)(*own)
    took = perf_counter() - start
    return took, difference((eager.result, _data(eager.left)), (result, _data(own))), module


def _data(args):
    return tuple(repr(arg.bit_generator.state) if isinstance(arg, np.random.Generator) else arg for arg in args if not callable(arg))


def measure(name, options):
    row = {"name": name, "big": getattr(programs.load(name), "BIG", False)}
    size = getattr(programs.load(name), "QUICK" if options.quick else "FULL")
    took, found, _ = first_call(name, jitney.compile, programs.load(name).QUICK)
    row["first_call_ms"] = took * 1e3

    eager, ours = Contender(name, size), Contender(name, size, jitney.compile)
    eager.times.append(eager.once())
    for _ in range(2):  # compiles; the second call runs what the first has left
        ours.once()
        found = found or difference((eager.result, _data(eager.left)), (ours.result, _data(ours.left)))
    contenders = {"cpython": eager, "jitney": ours}
    try:
        twin = contenders["c"] = TwinContender(name, eager)
    except programs.NoTwin as error:
        twin, row["no_twin"] = None, str(error)
    if options.numba:
        try:
            theirs = Contender(name, size, numba_decorator())
            row["numba_first_call_ms"] = theirs.once() * 1e3
            row["numba_same"] = difference((eager.result, _data(eager.left)), (theirs.result, _data(theirs.left)))
            contenders["numba"] = theirs
        except Exception as error:
            row["no_numba"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:200]

    before, calls = counters(ours.module), ours.calls
    gc.collect()
    gc.disable()
    try:
        for k in range(options.rounds):
            for key, contender in contenders.items():
                if key != "cpython" or k < options.eager_rounds:
                    contender.sample()
    finally:
        gc.enable()
    after = counters(ours.module)
    found = found or difference((eager.result, _data(eager.left)), (ours.result, _data(ours.left)))
    row["difference"] = found or (twin.found if twin else None)
    row["ms"] = {key: statistics.median(contender.times) * 1e3 for key, contender in contenders.items()}
    ms = row["ms"]
    row["ratios"] = {"cpython": ms["cpython"] / ms["jitney"]}
    if "c" in ms:
        row["ratios"]["c"] = ms["jitney"] / ms["c"]
    if "numba" in ms:
        row["ratios"]["numba"] = ms["numba"] / ms["jitney"]
    row["stats"] = {key: (value - before.get(key, 0)) / (ours.calls - calls) for key, value in after.items() if value != before.get(key, 0)}
    row["compiles"] = after.get("compiles", 0)
    row["flows"] = row["stats"].get("flow_calls", 0)
    row["exits"] = {key: row["stats"].get(f"flow_{key}", 0) for key in EXITS}
    row["not_compiled"] = reasons(ours.module)
    return row


# ---- small costs ----


def tiny(a):
    total = 0
    for _ in range(3):
        total += a
    return total


@jitney.disable
def outside(i):
    return i


def leaves(n, every):
    total = 0
    for i in range(n):
        if i % every == 0:
            total += outside(i)
        total += i
    return total


def tiny_loop():
    """CPython / jitney of a loop that cannot gain, called often."""
    from jitney.bench import alternate, batches

    eager, ours = alternate(batches(tiny, (7,)), batches(jitney.compile(tiny), (7,)), seconds=1.0)
    return statistics.median(e / c for e, c in zip(eager, ours, strict=True))


def exit_cost():
    """Microseconds of leaving a compiled loop, performing one call in the interpreter, and being back in it; less what the call costs in CPython. The runs between are long enough for the loop to be
    kept; None: it was not."""
    ours, n, every = jitney.compile(leaves), 2_000_000, 4_000
    times = {}
    for step in (every, n + 1):
        for _ in range(2):
            ours(n, step)
        times[step] = min(timed(ours, n, step)[0] for _ in range(7))
    left = jitney.inspect(ours).stats()["flow_stops"]
    call = min(timed(lambda: [outside(i) for i in range(1000)])[0] for _ in range(7)) / 1000
    return ((times[every] - times[n + 1]) / (n / every) - call) * 1e6 if left >= 9 * n / every else None


# ---- the table ----


def number(value, width=8):
    return " " * (width - 1) + "-" if value is None else f"{value:{width}.3g}"


HEAD = f"{'program':<20}{'CPython ms':>11}{'jitney ms':>11}{'C ms':>9}{'Numba ms':>9} | {'CPy/jit':>8}{'jit/C':>8}{'Numba/jit':>10} | {'first ms':>8}{'flows':>6}  exits"


def line(row):
    ms, ratios = row["ms"], row["ratios"]
    exits = " ".join(f"{value:.3g} {key}" for key, value in row["exits"].items() if value)
    text = f"{row['name']:<20}{number(ms['cpython'], 11)}{number(ms['jitney'], 11)}{number(ms.get('c'), 9)}{number(ms.get('numba'), 9)} | "
    text += f"{number(ratios['cpython'])}{number(ratios.get('c'))}{number(ratios.get('numba'), 10)} | {number(row['first_call_ms'])}{row['flows']:6.4g}  {exits}"
    return text + (f"   DIFFERS: {row['difference']}" if row["difference"] else "")


def summary(rows):
    """{name: (value, target, reached)}"""
    plain = [row for row in rows if not row["big"]]
    found = {}

    def add(name, value, target, at_least):
        if value is not None:
            found[name] = (value, target, value >= target if at_least else value <= target)

    for key, text, at_least in (("cpython", "CPython / jitney", True), ("c", "jitney / C", False), ("numba", "Numba / jitney", True)):
        ratios = [row["ratios"][key] for row in plain if key in row["ratios"]]
        if ratios:
            add(f"{text}, geometric mean", programs.geometric_mean(ratios), TARGETS[key][0], at_least)
            add(f"{text}, worst", (min if at_least else max)(ratios), TARGETS[key][1], at_least)
    big = [row["ratios"]["cpython"] for row in rows if row["big"]]
    add("CPython / jitney, big ints, worst", min(big, default=None), BIG, True)
    first = [row["first_call_ms"] for row in rows]
    add("first call, median ms", statistics.median(first), FIRST_CALL[0], False)
    add("first call, worst ms", max(first), FIRST_CALL[1], False)
    return found


def report(rows, small):
    print()
    for name, (value, target, reached) in (summary(rows) | small).items():
        print(f"{name:<42}{number(value, 9)}   target {target:g}: {'yes' if reached else 'NO'}")
    left = [row for row in rows if not row["flows"]]
    print(f"\n{len(rows) - len(left)} of {len(rows)} programs ran in compiled loops")
    for row in rows:
        for text in row["not_compiled"]:
            print(f"  {row['name']}{'' if row['flows'] else ' (no loop)'}: {text}")
    for row in rows:
        if "no_numba" in row:
            print(f"  Numba cannot run {row['name']}: {row['no_numba']}")
        elif row.get("numba_same"):
            print(f"  Numba differs on {row['name']}: {row['numba_same']}")
    wrong = [row["name"] for row in rows if row["difference"]]
    print(f"{len(wrong)} programs differ from CPython{': ' + ', '.join(wrong) if wrong else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these programs")
    parser.add_argument("--numba", action="store_true", help="Numba too, where it is installed (./dev bench loops --numba installs it apart)")
    parser.add_argument("--quick", action="store_true", help="the small sizes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--eager-rounds", type=int, default=2, help="of them with CPython")
    parser.add_argument("--json", action="store_true", help="one object with every row")
    options = parser.parse_args()
    names = options.only or programs.NAMES
    if unknown := sorted(set(names) - set(programs.NAMES)):
        parser.error(f"no program {', '.join(unknown)}; there are {', '.join(programs.NAMES)}")
    warnings.simplefilter("ignore", RuntimeWarning)
    sys.set_int_max_str_digits(0)

    where = {"python": platform.python_version(), "numpy": np.__version__}
    if options.numba:
        import numba

        where["numba"] = numba.__version__
    if not options.json:
        print(", ".join(f"{key} {value}" for key, value in where.items()))
        print(HEAD)
    jitney.compile(tiny)(1)
    jitney.compile(lambda a: np.exp(a) * 2.0)(np.ones(8))  # loads LLVM
    rows = []
    for name in names:
        rows.append(measure(name, options))
        if not options.json:
            print(line(rows[-1]), flush=True)
    small = {}
    if not options.only:
        ratio, cost = tiny_loop(), exit_cost()
        small = {"CPython / jitney, three short iterations": (ratio, TINY, ratio >= TINY), "exit and re-entry, us": (cost, EXIT, cost is not None and cost <= EXIT)}
    if options.json:
        figures = {name: {"value": value, "target": target, "reached": reached} for name, (value, target, reached) in (summary(rows) | small).items()}
        json.dump(where | {"rows": rows, "figures": figures}, sys.stdout, indent=1)
        print()
    else:
        report(rows, small)
    return 1 if any(row["difference"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
