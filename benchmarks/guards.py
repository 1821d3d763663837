"""What the check of guards costs alone: five arrays, ten globals, two attributes of an instance; in C, without the call around it."""

import jitney
from common import Row, positive
from jitney import _jitney
from jitney.bench import Spread
from jitney.testing import outcome, outcome_difference

g0, g1, g2, g3, g4, g5, g6, g7, g8, g9 = 1.5, 2, 3.25, -1, 2.5, 7, 0.125, 3, 1, 2
CHECKS = 20_000


class Model:
    def __init__(self):
        self.w = positive(1, seed=8)
        self.b = positive(1, seed=9)


def ten_globals(m, a, b, c, d, e):
    return (a * g0 + b * g1 + c * g2 + d * g3 + e * g4) * g5 - g6 * m.w + g7 * m.b * g8 + g9


def rows(seconds):
    args = (Model(), *(positive(1, seed=i) for i in range(5)))
    compiled = jitney.compile(ten_globals)
    compiled(*args)
    found = outcome_difference(outcome(ten_globals, *args), outcome(compiled, *args))
    rounds = max(10, int(seconds / (CHECKS * 1e-7)))
    times = [_jitney._test_time_guards(compiled, args, CHECKS) for _ in range(rounds)]
    yield Row("guards: 5 arrays, 10 globals, 2 attributes", Spread.of(times), "ns", 100, found)
