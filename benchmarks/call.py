"""What a call costs that finds its machine code: three arrays of one element in, one out. The loop around it is included.

np.empty(1), measured in turns with it, tells how fast the machine is at that moment: making the result is most of both.
"""

import numpy as np

import jitney
from common import Row, positive
from jitney.bench import Spread, alternate, batches
from jitney.testing import differs


def multiply_add(a, b, c):
    return a * b + c


def rows(seconds):
    args = [positive(1, seed=i) for i in range(3)]
    compiled = jitney.compile(multiply_add)
    found = differs(multiply_add, compiled, *args)
    bodies = batches(multiply_add, args), batches(compiled, args), batches(np.empty, [1])
    eager, fast, empty = alternate(*bodies, seconds=seconds)
    details = {"eager_ns": Spread.of(eager).median * 1e9, "empty_ns": Spread.of(empty).median * 1e9}
    yield Row("a call that hits, 3 arrays in, 1 out, n = 1", Spread.of([t * 1e9 for t in fast]), "ns", 150, found, details)
    yield Row("np.empty(1) beside it", Spread.of([t * 1e9 for t in empty]), "ns")
