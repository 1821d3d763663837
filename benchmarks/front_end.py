"""The front end (trace, guards, code generation, assembly) of one function of 100 to 20 000 instructions: straight-line array code, scalar code, code with graph breaks, and with one at every tenth instruction.

LLVM has no part in it: the graphs run node by node. A row is the time of the first call's front end; the summary compares the time per instruction of the longest
function with that of a function of a thousand instructions, which is 1 when the time is linear."""

import dis
import sys

import jitney
from common import Row, positive
from jitney.bench import Spread
from jitney.testing import outcome, outcome_difference

SIZES = (100, 1_000, 5_000, 20_000)
STAGES = ("trace", "guards", "bytecode")


def array_lines(k):
    return f"x{k % 7} = x{(k + 1) % 7} * a + x{(k + 3) % 7}"


def scalar_lines(k):
    return f"n = (n * 3 + {k}) % 1021 + len(t)"


def breaking_lines(k):
    return "keep(a)" if k % 250 == 12 else array_lines(k)


def often_breaking_lines(k):
    return "keep(a)" if k % 2 else array_lines(k)


KINDS = {"array": array_lines, "scalar": scalar_lines, "breaks": breaking_lines, "many breaks": often_breaking_lines}
HEAD = ["def function(a, t, keep):", "    n = len(t)", *(f"    x{k} = a + {k}" for k in range(7))]
TAIL = "    return x0 + x1 + x2 + x3 + x4 + x5 + x6 + n"


def count(function):
    return sum(1 for _ in dis.get_instructions(function))


def build(lines, size):
    """A fresh function of about `size` instructions."""

    def of(nlines):
        space = {}
        exec("\n".join([*HEAD, *("    " + lines(k) for k in range(nlines)), TAIL]), space)
        return space["function"]

    empty = count(of(0))
    each = (count(of(40)) - empty) / 40
    return of(max(0, round((size - empty) / each)))


def keep(array):
    """Called from code with breaks: nobody compiles it."""
    sys.intern("kept")


def front_end(lines, size):
    """(ms, instructions, what tells the results apart)"""
    function, args = build(lines, size), (positive(4), (1, 2, 3), jitney.disable(keep))
    compiled = jitney.compile(function)
    found = outcome_difference(outcome(function, *args), outcome(compiled, *args))
    times = jitney.inspect(compiled).stats()["compile_ms"]
    return sum(times[stage] for stage in STAGES), count(function), found


def rows(seconds):
    executor = jitney.config.executor
    jitney.config.executor = "numpy"
    try:
        for kind, lines in KINDS.items():
            for size in SIZES:
                samples = [front_end(lines, size) for _ in range(max(3, min(20, 20_000 // size)))]
                found = next((difference for _, _, difference in samples if difference), None)
                target = 0.5 if size == 100 and "breaks" not in kind else None
                details = {"kind": kind, "instructions": samples[0][1]}
                yield Row(f"front end, {kind}, {size} instructions", Spread.of([ms for ms, _, _ in samples]), "ms", target, found, details)
    finally:
        jitney.config.executor = executor


def summary(rows):
    for row in rows:
        if row.target is not None:
            yield row
    for kind in KINDS:
        each = {size: row.spread.median / row.details["instructions"] for size, row in zip(SIZES, (r for r in rows if r.details["kind"] == kind))}
        growth = each[20_000] / each[1_000]
        yield Row(f"front end, {kind}: time per instruction, 20 000 / 1 000", Spread(growth, growth, growth), "", 2)
