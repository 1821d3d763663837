"""The first compilation of a ten-operation expression, LLVM loaded already: compile(f) and the first call.

Every sample is another expression, so that nothing remembered from the last one can help."""

import itertools
from time import perf_counter

import jitney
from common import Row, normal
from jitney.bench import Spread
from jitney.testing import difference


def expressions():
    """Functions of ten operations each, all different."""
    for signs in itertools.product("+-*", repeat=5):
        s = "".join(signs)
        text = f"((a {s[0]} b) * c {s[1]} a) * (b {s[2]} c) {s[3]} (a * 2.5 {s[4]} b) * c"
        text += " + a"
        space = {}
        exec(f"def expression(a, b, c):\n    return {text}\n", space)
        yield space["expression"]


def rows(seconds):
    args = [normal(1000, seed=i) for i in range(3)]
    functions = expressions()
    jitney.compile(next(functions))(*args)  # loads LLVM
    took, found = [], None
    for function in itertools.islice(functions, 40):
        start = perf_counter()
        compiled = jitney.compile(function)
        result = compiled(*args)
        took.append((perf_counter() - start) * 1e3)
        found = found or difference(function(*args), result)
    yield Row("first compilation, ten operations", Spread.of(took), "ms", 10, found)
