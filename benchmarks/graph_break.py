"""What a graph break costs on the hot path: a call into C that nobody traces, between array operations.

Four functions run in turns: with the call and without it, eager and compiled. What the call adds to the compiled function, less what it
adds to the eager one, is the break: ending one graph, running the instruction in CPython, beginning the next.
"""

import os

import jitney
from common import Row, positive
from jitney.bench import Spread, alternate, batches
from jitney.testing import differs

ROUNDS = 10  # of the loop


def straight(x):
    y = (x + 1.0) * x - 3.0 + x * x
    os.getpid()
    return (y * 2.0 + x) * y - x


def straight_whole(x):
    y = (x + 1.0) * x - 3.0 + x * x
    return (y * 2.0 + x) * y - x


def in_loop(x):
    for _ in range(ROUNDS):
        x = (x + 1.0) * 0.5
        os.getpid()
        x = x * 0.25 + 2.0
    return x


def in_loop_whole(x):
    for _ in range(ROUNDS):
        x = (x + 1.0) * 0.5
        x = x * 0.25 + 2.0
    return x


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def in_with(x):
    try:
        with Quiet():
            y = (x + 1.0) * x - 3.0 + x * x
            os.getpid()
            y = (y * 2.0 + x) * y - x
    except ValueError:
        y = x
    return y


def in_with_whole(x):
    try:
        with Quiet():
            y = (x + 1.0) * x - 3.0 + x * x
            y = (y * 2.0 + x) * y - x
    except ValueError:
        y = x
    return y


PLACES = (
    ("straight code", straight, straight_whole, 1),
    (f"a loop of {ROUNDS}, each", in_loop, in_loop_whole, ROUNDS),
    ("with inside try", in_with, in_with_whole, 1),
)


def rows(seconds):
    x = positive(8)
    for where, broken, whole, breaks in PLACES:
        pairs = [(f, jitney.compile(f)) for f in (broken, whole)]
        found = next((d for d in (differs(f, c, x) for f, c in pairs) if d), None)
        samples = alternate(*(batches(f, [x]) for pair in pairs for f in pair), seconds=seconds)
        cost = [((c - cw) - (e - ew)) / breaks * 1e6 for e, c, ew, cw in zip(*samples)]
        middle = [Spread.of(s).median * 1e6 for s in samples]
        details = dict(zip(("eager_us", "compiled_us", "eager_whole_us", "compiled_whole_us"), middle))
        yield Row(f"a break over eager, {where}", Spread.of(cost), "us", 1, found, details)
