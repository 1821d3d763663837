"""NumPy's scalars in native loops: every operator on every pair of dtypes, over the ends of their ranges, against NumPy itself: types, bits, warnings, exceptions, stores into arrays.

A pair of values on which NumPy says nothing is done natively, and the test asks for that. Where NumPy warns or raises, the loop is left before the operation; those pairs come one by one."""

import linecache
import math
import os
import random
import warnings

import numpy as np
import pytest
from random_loops import NumberPicture, unlike

import jitney

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
DTYPES = [*INTEGERS, "b1", "f4", "f8"]
PYTHON = {"int": [0, 1, -1, 2, 3, 7, 100, 127, 128, -128, 255, 256, 40000, 2**31, 2**32 - 1, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63)],
          "float": [0.0, -0.0, 1.0, -1.5, 2.5, 300.0, 1e300, math.inf, math.nan], "bool": [True, False]}  # fmt: skip
KINDS = [*DTYPES, *PYTHON]
BINARY = "+ - * / // % & | ^ << >> < <= == != > >=".split()
UNARY = ["-x", "+x", "~x", "abs(x)", "int(x)", "float(x)", "bool(x)", "not x", "x ** 2", "x ** 3", "0 < x < 100", "x.item()", "x == 300", "x < -1", "x >= 2**63 - 1", "x & 15", "x >> 2", "x << 3", "x % 7", "x // 3", "x * 0.5", "x + True"]
MIXED = ["x if x < y else y", "min(x, y)", "max(x, y)", "int(x) + int(y)", "float(x) - float(y)"]
full = pytest.mark.skipif("JITNEY_LOOPS_FULL" not in os.environ, reason="JITNEY_LOOPS_FULL runs every pair: many minutes")
FILE = "<scalars>"


def values(kind):
    if kind in PYTHON:
        return PYTHON[kind]
    if kind == "b1":
        return np.array([True, False])
    if kind[0] == "f":
        return np.array([0.0, -0.0, 1.0, -1.5, 2.5, 300.0, -3.0, 1e-40, 3e38, np.inf, -np.inf, np.nan], kind)
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    found = {0, 1, 2, 3, 7, 8, 31, 63, 64, 100, 127, 128, 255, 256, 2**15, 2**31, 2**53 + 1, 2**63, low, low + 1, high, high - 1, high // 2, -1, -2, -7}
    return np.array(sorted(v for v in found if low <= v <= high), kind)


def function(source):
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    names = {}
    exec(compile(source, FILE, "exec"), names)
    return names["f"]


def outcome(f, *args):
    """What it raises, warns and leaves in its last argument."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            f(*args)
            error = None
        except Exception as e:
            error = type(e).__name__, str(e)
    return error, [(str(w.message), w.lineno) for w in caught], NumberPicture().of(args[-1])


def take(xs, at):
    return xs[at] if isinstance(xs, np.ndarray) else [xs[k] for k in at]


def results_of(expression, xs, ys):
    """Per pair: what eager gives; None where it raises or warns. And the type of the results, if they have one."""
    code, found, types = compile(expression, FILE, "eval"), [], set()
    for x, y in zip(xs, ys):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = eval(code, {"x": x, "y": y})
            except Exception:
                result = None
        found.append(None if caught or result is None else result)
        types |= {type(result)} - {type(None)}
    return found, types


def as_array(types, n):
    for t, dtype in ((int, "i8"), (float, "f8"), (bool, "b1")):
        types = {np.dtype(dtype).type if found is t else found for found in types}
    return np.zeros(n, np.result_type(*types))


def quiet_and_loud(expression, one, two):
    xs, ys = values(one), values(two)
    at = [(i, k) for i in range(len(xs)) for k in range(len(ys))]
    xs, ys = take(xs, [i for i, _ in at]), take(ys, [k for _, k in at])
    found, types = results_of(expression, xs, ys)
    quiet = [k for k, result in enumerate(found) if result is not None]
    loud = [k for k, result in enumerate(found) if result is None]
    return xs, ys, quiet, loud, types


def check(expression, one, two, native=True):
    """native: pairs on which NumPy is quiet must be done by the flow, but for those that a flow leaves to NumPy although nothing happens."""
    xs, ys, quiet, loud, types = quiet_and_loud(expression, one, two)
    f = function(f"def f(xs, ys, out):\n    for i in range(len(xs)):\n        x = xs[i]\n        y = ys[i]\n        out[i] = {expression}\n")
    compiled = jitney.compile(f)
    where = f"{expression} of {one}, {two}"
    if quiet:
        out = [as_array(types, len(quiet)) for _ in range(2)]
        expected = outcome(f, take(xs, quiet), take(ys, quiet), out[0])
        found = unlike(expected, outcome(compiled, take(xs, quiet), take(ys, quiet), out[1]))
        assert found is None, f"{where}: {found}"
        stats = jitney.inspect(compiled).stats()
        if native:
            assert stats["flow_calls"] == stats["flow_returns"] == 1, f"{where}: no native loop, or it is left"
        random.Random(where).shuffle(quiet)
        for k in quiet[:8]:
            out = [as_array(types, 1) for _ in range(2)]
            expected, found = (outcome(g, take(xs, [k]), take(ys, [k]), a) for g, a in zip((f, compiled), out))
            assert unlike(expected, found) is None, f"{where}: {xs[k]!r}, {ys[k]!r}: {unlike(expected, found)}"
    random.Random(where).shuffle(loud)
    for k in loud[:12]:
        out = [as_array(types, 1) if types else np.zeros(1) for _ in range(2)]
        expected, found = (outcome(g, take(xs, [k]), take(ys, [k]), a) for g, a in zip((f, compiled), out))
        assert unlike(expected, found) is None, f"{where}: {xs[k]!r}, {ys[k]!r}: {unlike(expected, found)}"
    return jitney.inspect(compiled).stats()


def pairs(seed, number):
    every = [(one, two) for one in KINDS for two in KINDS if one in DTYPES or two in DTYPES]
    return every if number is None else random.Random(seed).sample(every, number)


@pytest.mark.parametrize("operator", BINARY)
def test_operators_on_integers(operator):
    for one, two in random.Random(operator).sample([(one, two) for one in INTEGERS for two in [*INTEGERS, "int"]], 6):
        signed = {one, two} & {"i1", "i2", "i4", "i8"}
        leaves = (operator in (">>", "%") and signed) or (operator == "/" and "u8" in (one, two))  # negative shifts, least % -1, large uint64
        check(f"x {operator} y", one, two, not leaves and not ("u8" in (one, two) and signed))


@pytest.mark.parametrize("operator", BINARY)
def test_operators(operator):
    for one, two in pairs(operator, 4):
        check(f"x {operator} y", one, two, native=False)


@pytest.mark.parametrize("expression", UNARY)
def test_functions_of_one(expression):
    for one in random.Random(expression).sample(DTYPES, 4):
        check(expression, one, "bool", native=False)


@pytest.mark.parametrize("expression", MIXED)
def test_functions_of_two(expression):
    for one, two in pairs(expression, 3):
        check(expression, one, two, native=False)


@full
@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("operator", BINARY)
def test_operators_all(operator, one):
    for two in KINDS:
        if one in DTYPES or two in DTYPES:
            check(f"x {operator} y", one, two, native=False)


@full
@pytest.mark.parametrize("expression", [*UNARY, *MIXED])
def test_functions_all(expression):
    for one, two in pairs(expression, None) if expression in MIXED else [(one, "bool") for one in DTYPES]:
        check(expression, one, two, native=False)


STORE = "def f(xs, out):\n    for i in range(len(xs)):\n        out[i] = xs[i]\n"


@pytest.mark.parametrize("dtype", DTYPES)
def test_stores(dtype):
    for kind in KINDS:
        xs, f = values(kind), function(STORE)
        compiled = jitney.compile(f)
        for k in range(len(xs)):
            out = [np.full(1, 7, dtype) for _ in range(2)]
            expected, found = (outcome(g, take(xs, [k]), a) for g, a in zip((f, compiled), out))
            assert unlike(expected, found) is None, f"{xs[k]!r} of {kind} into {dtype}: {unlike(expected, found)}"
        assert jitney.inspect(compiled).stats()["flow_calls"], f"{kind} into {dtype}"
