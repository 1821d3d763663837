"""Runs random NumPy functions eager and compiled and compares all that a call leaves behind; shrinks what differs to a reproducer.

    python tests/tools/random_programs.py --seconds 300 --seed 1000        batches in processes of their own: a crash or a hang is a finding too
    python tests/tools/random_programs.py --seed 17 --count 1              one program, in this process when --inside is given
    python tests/tools/random_programs.py --seed 17 --show                 its source and arguments

Each program is compiled once and called on several sets of arguments (the same again, other sizes, other layouts), under one of the four executors
and one of the settings of error state and warning filter, all chosen by the seed.
"""

import argparse
import ast
import faulthandler
import json
import linecache
import os
import random
import re
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import random_source

import jitney
from jitney import testing

EXECUTORS = ("llvm", "llvm", "llvm", "llvm", "loop", "graph", "numpy")
SETTINGS = ("plain", "plain", "plain", "plain", "plain", "raise", "ignore", "error", "default")


class Case:
    """A program and how it is run."""

    def __init__(self, source, names, calls, executor, setting, keywords=""):
        self.source, self.names, self.calls, self.executor, self.setting, self.keywords = source, names, calls, executor, setting, keywords

    def change(self, **changes):
        return Case(**{**vars(self), **changes})


def case(seed):
    rng = random.Random(f"case {seed}")
    executor, setting = rng.choice(EXECUTORS), rng.choice(SETTINGS)
    program = random_source.generate(seed, big=executor in ("llvm", "numpy") and rng.random() < 0.3)
    return Case(program.source, program.names, program.calls, executor, setting, program.keywords)


def load(source, filename="<random>"):
    """The function f of that source, in a module of its own."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    names = {"np": np, "values": random_source.values, "__name__": "random_module"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler of CPython has opinions, too
        exec(compile(source, filename, "exec"), names)
    return names["f"]


def call(function, lines, case):
    """The outcome of one call under a setting, and what else is comparable: memory shared among results, warnings that were registered, a global array."""
    values, setting, names = random_source.evaluate(lines), case.setting, function.__globals__
    names["K"] = values.get("K", 2.5)

    def run(*args, **kwargs):
        if setting == "error":
            warnings.simplefilter("error")
        elif setting == "default":
            warnings.simplefilter("default")
        with np.errstate(**({"all": setting} if setting in ("raise", "ignore") else {})):
            return function(*args, **kwargs)

    outcome = testing.outcome(run, *(values[n] for n in case.names if n not in case.keywords), **{n: values[n] for n in case.keywords})
    registry = {k: v for k, v in names.get("__warningregistry__", {}).items() if k != "version"}
    return outcome, {"sharing": _shared(outcome.value), "registry": registry, "global": names.get("W")}


def _shared(value):
    """Which arrays of a result are the same object or share memory, and where."""
    leaves = list(testing._leaves(value))
    return [
        (i, k, x is y, x.__array_interface__["data"][0] - y.__array_interface__["data"][0])
        for i, x in enumerate(leaves)
        for k, y in enumerate(leaves[:i])
        if np.may_share_memory(x, y)
    ]


def first_difference(case):
    """(index of the call, difference) or None; and the statistics of the compiled function."""
    jitney.config.executor = case.executor
    eager = load(case.source)
    compiled = jitney.compile(load(case.source))
    for i, lines in enumerate(case.calls):
        a, more = call(eager, lines, case)
        b, less = call(compiled, lines, case)
        found = testing.outcome_difference(a, b) or testing.difference(more, less, "besides")
        if found:
            return (i, found), compiled
    return None, compiled


def kind_of(difference):
    """The difference without numbers and names: shrinking keeps it."""
    return re.sub(r"\[[^]]*\]|-?\d[\d.e+-]*|nan|inf|\(.*\)", "", difference)[:40]


# Shrinking

def _edits(source):
    """Smaller sources: statements dropped, blocks hoisted, expressions replaced by a part of themselves."""
    tree = ast.parse(source)
    places = []
    for node in ast.walk(tree):
        for field, old in ast.iter_fields(node):
            if isinstance(old, list) and old and isinstance(old[0], ast.stmt):
                for k, statement in enumerate(old):
                    places.append((old, k, []))
                    for inner in ("body", "orelse"):
                        block = getattr(statement, inner, None)
                        if block and not isinstance(statement, ast.FunctionDef):
                            places.append((old, k, block))
            elif isinstance(old, list) and len(old) > 1 and isinstance(old[0], (ast.expr, ast.keyword)) and not isinstance(node, (ast.Assign, ast.Compare)):
                places += [(old, k, []) for k in range(len(old))]
            elif isinstance(old, list) and old and isinstance(old[0], ast.keyword):
                places += [(old, k, []) for k in range(len(old))]
            if isinstance(old, ast.expr) and isinstance(getattr(old, "ctx", ast.Load()), ast.Load):
                places += [(node, field, part) for part in ast.iter_child_nodes(old) if isinstance(part, ast.expr)]
                if isinstance(node, ast.Return) and isinstance(old, (ast.Tuple, ast.List)) and len(old.elts) == 1:
                    places.append((node, field, old.elts[0]))
            if isinstance(old, list) and isinstance(node, (ast.Call, ast.Tuple, ast.List)):
                for k, item in enumerate(old):
                    if isinstance(item, ast.expr):
                        places += [(old, k, [part]) for part in ast.iter_child_nodes(item) if isinstance(part, ast.expr)]
    for owner, at, new in places:
        old = owner[at] if isinstance(owner, list) else getattr(owner, at)
        saved = list(owner) if isinstance(owner, list) else None
        if saved is not None:
            owner[at : at + 1] = new
        else:
            setattr(owner, at, new)
        try:
            yield ast.unparse(tree)
        except Exception:
            pass
        if saved is not None:
            owner[:] = saved
        else:
            setattr(owner, at, old)


def shrink(case, difference, seconds=40):
    """A smaller case with the same kind of difference."""
    wanted, end = kind_of(difference), time.time() + seconds

    def fails(candidate):
        try:
            found = first_difference(candidate)[0]
        except Exception:
            return False
        return found is not None and kind_of(found[1]) == wanted

    def drop_calls(case):
        i = len(case.calls) - 1
        while i >= 0 and time.time() < end:
            candidate = case.change(calls=case.calls[:i] + case.calls[i + 1 :])
            if candidate.calls and fails(candidate):
                case = candidate
            i -= 1
        return case

    case = drop_calls(case)
    for executor in ("numpy", "graph", "loop", "llvm"):
        if executor != case.executor and fails(case.change(executor=executor)):
            case = case.change(executor=executor)
            break
    if case.setting != "plain" and fails(case.change(setting="plain")):
        case = case.change(setting="plain")
    progress = True
    while progress and time.time() < end:
        progress = False
        for source in _edits(case.source):
            if time.time() > end:
                break
            if len(source) < len(case.source) and fails(case.change(source=source)):
                case, progress = case.change(source=source), True
                break
        for i, lines in enumerate(case.calls):
            for k, line in enumerate(lines):
                for new in _smaller_line(line):
                    calls = [list(x) for x in case.calls]
                    calls[i][k] = new
                    if time.time() < end and new != line and fails(case.change(calls=calls)):
                        case, progress = case.change(calls=calls), True
                        break
    return drop_calls(case)


def _smaller_line(line):
    if line.startswith("n"):
        name, size = line.split(" = ")
        return [f"{name} = {n}" for n in (1, 2, 3) if n < int(size)]
    return [line.replace("wild", "calm")] if "values" in line else []


def reproducer(case, seed, found):
    text = [f"# seed {seed}: {found[1]}", "import numpy as np, jitney", "from random_source import values", f"jitney.config.executor = {case.executor!r}  # setting {case.setting}", case.source.strip(), "g = jitney.compile(f)"]
    for lines in case.calls:
        text += ["; ".join(line for line in lines if not line.startswith("n") or line.split()[0] in " ".join(lines).replace(line, "")), f"print(jitney.testing.differs(f, g, {', '.join(f'{n}={n}' if n in case.keywords else n for n in case.names)}))"]
    return "\n".join(text)


def run_seed(seed, shrinking=True):
    """A dict: native calls, calls, the reason of a refusal, and the reproducer of a difference."""
    try:
        one = case(seed)
        found, compiled = first_difference(one)
    except MemoryError:  # the limit of a worker
        return {"seed": seed, "native": 0, "calls": 0, "refusal": "no memory"}
    stats, refusals = {}, []
    if jitney.is_compiled(compiled):
        inspection = jitney.inspect(compiled)
        stats, refusals = inspection.stats(), [f"{r['name']}: {r['detail']}" for r in inspection.refusals]
    result = {"seed": seed, "native": stats.get("native_calls", 0), "calls": stats.get("calls", 0), "flags": stats.get("flag_reruns", 0), "refusal": refusals[0] if refusals else None}
    if found:
        result["difference"] = found[1]
        small = shrink(one, found[1]) if shrinking else one
        result["reproducer"] = reproducer(small, seed, first_difference(small)[0] or found)
    return result


# Long runs

def worker(seed, count):
    """Runs seeds in this process: a line of JSON for each; the seed is announced before it runs."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # products and broadcasts of large arrays raise MemoryError early
    for n in range(seed, seed + count):
        print(json.dumps({"start": n}), flush=True)
        faulthandler.dump_traceback_later(150, exit=True)
        print(json.dumps(run_seed(n)), flush=True)
        faulthandler.cancel_dump_traceback_later()


def batches(seed, count, seconds, report):
    """Runs seeds in processes; `report(result)` for each of them. A process that dies is a result with "crash"."""
    end = time.time() + seconds if seconds else None
    last = seed + count
    while seed < last and (end is None or time.time() < end):
        command = [sys.executable, os.path.abspath(__file__), "--worker", "--seed", str(seed), "--count", str(min(100, last - seed))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started = None
        for line in process.stdout:
            row = json.loads(line)
            if "start" in row:
                started = row["start"]
            else:
                report(row)
                seed, started = row["seed"] + 1, None
                if end is not None and time.time() > end:
                    process.kill()
                    break
        errors = process.stderr.read()
        process.wait()
        if started is not None and process.returncode not in (0, -9):
            report({"seed": started, "native": 0, "calls": 0, "crash": f"exit code {process.returncode}\n{errors[-3000:]}"})
            seed = started + 1
        elif started is None and process.returncode not in (0, -9):
            raise SystemExit(errors)


class Summary:
    def __init__(self):
        self.programs = self.native = self.partly = self.calls = self.native_calls = self.flags = 0
        self.refusals, self.failures = {}, []

    def add(self, row):
        self.programs += 1
        self.calls += row["calls"]
        self.native_calls += row["native"]
        self.native += row["native"] > 0
        self.flags += row.get("flags", 0)
        if row["native"] == 0:
            name = row.get("refusal") or "none"
            self.refusals[name] = self.refusals.get(name, 0) + 1
        if "difference" in row or "crash" in row:
            self.failures.append(row)
            print(f"\n---- seed {row['seed']}: {row.get('crash') or row['difference']}\n{row.get('reproducer', '')}", flush=True)

    def __str__(self):
        return f"{self.programs} programs, {self.native} ran natively, {self.native_calls} of {self.calls} calls native, {self.flags} flag reruns, {len(self.failures)} failures"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=None, help="how many programs (100 without --seconds)")
    parser.add_argument("--seconds", type=float, default=None, help="run for that long")
    parser.add_argument("--show", action="store_true", help="print the program of the seed")
    parser.add_argument("--inside", action="store_true", help="run in this process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.count or (10**9 if options.seconds else 100)
    if options.show:
        one = case(options.seed)
        print(f"# {one.executor}, {one.setting}\n{one.source}", *("; ".join(lines) for lines in one.calls), sep="\n")
    elif options.worker:
        worker(options.seed, count)
    else:
        summary = Summary()
        if options.inside:
            for seed in range(options.seed, options.seed + count):
                summary.add(run_seed(seed))
        else:
            batches(options.seed, count, options.seconds, summary.add)
        print(f"\n{summary}")
        for name, n in sorted(summary.refusals.items(), key=lambda item: -item[1])[:25]:
            print(f"{n:6} {name}")
        sys.exit(bool(summary.failures))


if __name__ == "__main__":
    main()
