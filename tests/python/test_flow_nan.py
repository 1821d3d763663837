"""NaN in native loops: lists and tuples compare, find and count by identity first, so which object a NaN is can be told without `is`."""

import math
import types

import numpy as np
import pytest

import jitney

NAN = float("nan")
PLAIN = [float(i) for i in range(40)]
SOME = [float("nan") if i % 9 == 4 else float(i) for i in range(40)]
FULL = [float("nan") for _ in range(40)]
SAME = [NAN] * 40


def copied(x):
    y = [0.0] * len(x)
    for i in range(len(x)):
        y[i] = x[i]
    return y, y == x


def appended(x):
    y = []
    for v in x:
        y.append(v)
    return y, y == x, v in y


def insertion_sort(x):
    y = list(x)
    for i in range(1, len(y)):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    return y, [v in x for v in y]


def largest(x):
    best = x[0]
    for v in x:
        if not v <= best:
            best = v
    return best, best in x


def last(x):
    total = 0.0
    for v in x:
        total += v
    return total, v in x


def popped(x):
    x, y = list(x), []
    while x:
        v = x.pop()
        y.append(v)
    return y, y[::-1]


def rows(x):
    out = []
    for row in [x, x[1:]]:
        new = []
        for v in row:
            new.append(v)
        out.append(new)
    return out, out == [x, x[1:]]


def pairs(x):
    out = []
    for a, b in zip(x, x[1:]):
        out.append(b)
        out.append(a)
    return out, out.count(x[4])


def most(x):
    found = 0
    for _ in range(20):
        if max(x) in x:
            found += 1
    return found


def put(y, v):
    y.append(v)
    return v


def with_helper(x):
    y, z = [], []
    for v in x:
        z.append(put(y, v))
    return y, z, y == x, z == y


def recursive(x, i, y):
    if i == len(x):
        return 0
    y.append(x[i])
    return recursive(x, i + 1, y) + 1


def with_recursion(x):
    y = []
    return recursive(x, 0, y), y, y == x


def guarded(x):
    y = []
    v = 0.0
    try:
        for v in x:
            y.append(1 // int(v == v))
    except ZeroDivisionError:
        return y, v in x
    return y, v


def made_here(x):
    y, z = [0.0] * len(x), []
    for i in range(len(x)):
        t = x[i] * 2.0
        y[i] = t
        z.append(t)
    return y, y == z, t in y


def put_often(x):
    y, v = [], x[0]
    for _ in range(40):
        y.append(v)
    return y, y.count(v)


def constant(x):
    y, best = [math.nan] * 3, math.nan
    for v in x:
        y.append(math.nan)
        if v > 30.0:
            best = v
    return y, y.count(math.nan), best


def of_array(x):
    a = np.array(x)
    y = []
    for i in range(len(a)):
        v = a[i]
        y.append(v)
    return y, v in y, y.count(v)


def of_scalars(x):
    y = []
    for v in x:
        y.append(v)
    return y, y == x, v in y


PROGRAMS = [
    copied,
    appended,
    insertion_sort,
    largest,
    last,
    popped,
    rows,
    pairs,
    most,
    with_helper,
    with_recursion,
    guarded,
    made_here,
    put_often,
    constant,
    of_array,
    of_scalars,
]


def shape(value, known):
    """The value; NaNs by which object they are: of the arguments, or the how manieth new one."""
    if isinstance(value, (list, tuple)):
        return type(value), [shape(v, known) for v in value]
    if value != value:
        return type(value), known.setdefault(id(value), len(known))
    return type(value), value


def outcome(f, x):
    kept = f(x)
    return shape(kept, {id(v): -k - 1 for k, v in enumerate([*x, NAN, math.nan])})


def compiled(f):
    """A copy, with compiled functions for globals."""
    world = dict(globals())
    for g in (put, recursive, f):
        copy = types.FunctionType(g.__code__, world, g.__name__)
        world[g.__name__] = jitney.compile(copy)
    return world[f.__name__], world


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_which_nan_it_is(f):
    g, world = compiled(f)
    for x in (PLAIN, SOME, SAME, FULL, PLAIN):
        x = list(map(np.float64, x)) if f is of_scalars else x
        assert outcome(g, x) == outcome(f, x)
    stats = jitney.inspect(world["recursive"] if f is with_recursion else g).stats()
    assert stats["flow_returns"] + stats["flow_stops"] != 0


@pytest.mark.parametrize("f", [largest, put_often, with_recursion], ids=lambda f: f.__name__)
def test_a_nan_that_comes_in(f):
    g, _ = compiled(f)
    for x in (PLAIN, [NAN, *PLAIN], [NAN]):
        assert outcome(g, x) == outcome(f, x)


def bounded(x, low):
    best = low
    for v in x:
        if v > best:
            best = v
    return best


def test_an_argument_comes_back():
    g = jitney.compile(bounded)
    assert g(PLAIN, 1.0) == 39.0
    for _ in range(3):
        assert g(PLAIN, NAN) is NAN
    assert g(PLAIN, 1.0) == 39.0 and jitney.inspect(g).stats()["flow_refusals"] != 0


def dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


def test_what_only_computes_is_not_checked():
    g = jitney.compile(dot)
    assert g(PLAIN, PLAIN) == dot(PLAIN, PLAIN) and math.isnan(g(SOME, PLAIN))
    assert jitney.inspect(g).stats()["flow_returns"] == 2
