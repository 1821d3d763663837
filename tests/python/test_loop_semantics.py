"""Every operation on numbers inside a loop, for every pair of kinds, over edge values: value, type, bits, exception with its text and line, warnings, as eager.

A row is an expression in x and y. It is put into two loops, one that stores what it gives for every pair of values, and one that carries it from round to round; where eager raises, the
loop is entered again behind that pair. The quick suite takes some pairs of kinds for each expression, with JITNEY_LOOPS_FULL it takes all."""

import linecache
import os
import random
import warnings

import numpy as np
import pytest
from random_loops import NumberPicture, unlike

import jitney

INTS = [0, 1, -1, 2, -2, 3, 7, -10, 63, 2**31 - 1, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**64)]
FEW_INTS = [0, 1, -1, 2, 3, 5, -3, 31, 62, 63, 64]  # exponents and shifts
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 3.0, 1e-310, 1e308, -1e308, float("inf"), float("-inf"), float("nan"), 2.0**53, 9.3e18]


def array(dtype, values):
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if np.dtype(dtype).kind in "iu" else (None, None)
    return np.array(values if low is None else [v for v in values if low <= v <= high], dtype)


KINDS = {
    "int": INTS,
    "float": FLOATS,
    "bool": [True, False],
    "f8": array("f8", FLOATS),
    "i8": array("i8", INTS),
    "f4": np.array([0.0, -0.0, 1.0, -1.5, 3.0, 3e38, -3e38, 1e-44, np.inf, -np.inf, np.nan], "f4"),
    "i4": array("i4", INTS),
    "u1": array("u1", [0, 1, 2, 3, 7, 100, 255]),
    "i1": array("i1", [0, 1, -1, 3, 7, 100, 127, -128]),
    "u4": array("u4", [0, 1, 2, 31, 2**31, 2**32 - 1]),
    "u8": array("u8", [0, 1, 2, 63, 2**53 + 1, 2**63, 2**64 - 1]),
    "b1": np.array([True, False]),
    "complex": [0j, 1 + 2j, -1.5j, complex(-0.0, 2.0), complex(float("inf"), 0.0), complex(0.0, float("nan")), 1e200 + 1e200j],
}
SMALL = {"int": FEW_INTS, "i8": array("i8", FEW_INTS), "i4": array("i4", FEW_INTS)}

BINARY = """
    x + y; x - y; x * y; x / y; x // y; x % y; x ** y; x & y; x | y; x ^ y; x << y; x >> y; x < y; x <= y; x == y; x != y; x > y; x >= y
    divmod(x, y); min(x, y); max(x, y); pow(x, y); x if x < y else y; x and y; x or y; x < y <= x; x * 2 + y; x * 0.5 - y; 2 - x * y; (x + y) / 2; x is y
    math.atan2(x, y); math.hypot(x, y); math.fmod(x, y); math.copysign(x, y); math.pow(x, y); math.remainder(x, y); math.gcd(x, y); math.ldexp(x, y); math.isclose(x, y)
    sum((x, y)); complex(x, y); np.maximum(x, y); np.add(x, y); np.arctan2(x, y); np.hypot(x, y); abs(x - y); int(x) - int(y); round(x, y)
"""  # fmt: skip
UNARY = """
    -x; +x; ~x; not x; abs(x); round(x); round(x, 1); round(x, -1); int(x); float(x); bool(x); complex(x); x + 1; 1 - x; x * 2; x / 2; x // 2; x % 2; x % -3; x // -3; x ** 2; x ** 0.5; x ** -1
    2 ** x; 1 / x; x & 1; x | 6; x ^ 3; x >> 1; x << 1; x == 0; x != x; 0 < x < 10; x * x * x; x.real; x.imag; x.conjugate(); type(x)(x); isinstance(x, int); len(xs) + x; min(x, 1, 2.5); max(x, 0)
    math.sqrt(x); math.exp(x); math.log(x); math.sin(x); math.cos(x); math.tan(x); math.atan(x); math.floor(x); math.ceil(x); math.trunc(x); math.fabs(x); math.log2(x); math.log10(x)
    math.log1p(x); math.expm1(x); math.sinh(x); math.cosh(x); math.tanh(x); math.asin(x); math.acos(x); math.asinh(x); math.acosh(x); math.atanh(x); math.cbrt(x); math.erf(x); math.erfc(x)
    math.gamma(x); math.lgamma(x); math.isnan(x); math.isinf(x); math.isfinite(x); math.degrees(x); math.radians(x); math.isqrt(x); math.exp2(x); math.modf(x); math.frexp(x); math.ulp(x)
    np.sqrt(x); np.exp(x); np.log(x); np.sin(x); np.abs(x); np.floor(x); np.sign(x); np.isnan(x); np.float64(x); np.float32(x); np.int64(x); np.square(x); np.negative(x); np.tanh(x)
    x.sum(); x.item(); x.bit_length(); x.is_integer(); divmod(x, 3); int(x) & 255; float(x) + 0.5; float(x) % 1.0
"""  # fmt: skip

full = pytest.mark.skipif("JITNEY_LOOPS_FULL" not in os.environ, reason="JITNEY_LOOPS_FULL runs every variant: many minutes")


SOURCE = """\
import math
import numpy as np

def every(xs, ys, start, out):
    for i in range(start, len(xs)):
        x = xs[i]
        y = ys[i]
        out.append({0})
    return i

def carried(xs, ys, start, out):
    x = xs[start]
    for i in range(start, start + 3):
        y = ys[i]
        x = {0}
        out.append(x)
    return x, y
"""
FILE = "<operation>"


def rows(text):
    return [row.strip() for line in text.splitlines() for row in line.split(";") if row.strip()]


def module(expression):
    source = SOURCE.format(expression)
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    names = {"__name__": "__operation__"}
    exec(compile(source, FILE, "exec"), names)
    return names


def pairs(expression, one, two):
    """Every value with every value; arrays stay arrays, lists lists."""
    xs, ys = KINDS[one], KINDS[two]
    if "x << y" in expression or "** y" in expression or "pow(" in expression or "ldexp" in expression or "round(x, y)" in expression:
        ys = SMALL.get(two, ys)
        xs = SMALL.get(one, xs) if two == "int" and one == "int" else xs
    if expression == "2 ** x":
        xs = SMALL.get(one, xs)
    left, right = zip(*((i, k) for i in range(len(xs)) for k in range(len(ys))))
    take = lambda values, at: values[list(at)] if isinstance(values, np.ndarray) else [values[k] for k in at]
    return take(xs, left), take(ys, right)


def line(error):
    where = error.__traceback__
    while where.tb_next is not None and where.tb_frame.f_code.co_filename != FILE:
        where = where.tb_next
    return where.tb_lineno


def outcomes(function, xs, ys, starts):
    """What happens from each start on; with `None`, from 0 and again behind each exception."""
    events, todo = [], [0] if starts is None else list(starts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while todo:
            start, out = todo.pop(0), []
            try:
                result = function(xs, ys, start, out)
            except Exception as error:
                events.append((type(error).__name__, str(error), line(error)))
                if starts is None and start + len(out) + 1 < len(xs):
                    todo.append(start + len(out) + 1)
            else:
                events.append(NumberPicture().of(result))
            events.append(NumberPicture().of(out))
    return events, [(w.category.__name__, str(w.message), w.lineno) for w in caught]


def check(expression, one, two):
    names = module(expression)
    xs, ys = pairs(expression, one, two)
    for name in ("every", "carried") if expression != "2 ** x" else ("every",):  # a tower of powers would be too high
        starts = None if name == "every" else range(0, len(xs) - 3, 5)
        expected = outcomes(names[name], xs, ys, starts)
        found = unlike(expected, outcomes(jitney.compile(names[name]), xs, ys, starts))
        assert found is None, f"{name}: {expression} of {one}, {two}: {found}"


def chosen(expression, kinds, number):
    if number is None:
        return kinds
    usual = [pair for pair in kinds if set(pair) <= {"int", "float", "f8", "i8"}]
    return random.Random(expression).sample(usual, min(len(usual), number)) + random.Random(expression).sample(kinds, number)


@pytest.mark.parametrize("expression", rows(BINARY))
def test_binary(expression):
    for one, two in chosen(expression, [(one, two) for one in KINDS for two in KINDS], 2):
        check(expression, one, two)


@pytest.mark.parametrize("expression", rows(UNARY))
def test_unary(expression):
    for one, two in chosen(expression, [(one, "int") for one in KINDS], 2):
        check(expression, one, two)


@full
@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("expression", rows(BINARY))
def test_binary_all(expression, one):
    for two in KINDS:
        check(expression, one, two)


@full
@pytest.mark.parametrize("expression", rows(UNARY))
def test_unary_all(expression):
    for one in KINDS:
        check(expression, one, "int")


def test_what_stores_into_an_array_is_cast_as_numpy_casts():
    """Every kind of number into every dtype, also those that raise or warn."""
    names = {}
    source = "def f(a, xs):\n    for i in range(len(xs)):\n        a[i] = xs[i]\n"
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    exec(compile(source, FILE, "exec"), names)
    for dtype in ("f8", "f4", "i8", "i4", "u1", "b1"):
        for kind, values in KINDS.items():
            compiled = jitney.compile(names["f"])
            for values in (values[:2], *(values[k : k + 1] for k in range(len(values))), values):
                results = []
                for function in (names["f"], compiled, compiled):
                    a = np.zeros(len(values), dtype)
                    results.append((outcomes(lambda a, xs, start, out: function(a, xs), a, values, [0]), NumberPicture().of(a)))
                found = unlike(results[0], results[1]) or unlike(results[0], results[2])
                assert found is None, f"{kind} into {dtype}: {found}"


def looks_up(k, items):
    items[k]
    return 3.25


def goes_on_over_the_old_array(a, n):
    x = 1
    for k in range(n):
        for v in a:
            if 1 < x <= n:
                a = a + 1
                x += 1
            else:
                x = looks_up(k, [1, 2.5]) + (n + v)
        a[1] -= 7


def last_number(f):
    with pytest.raises(IndexError) as caught:
        f((np.arange(9) * 1.25).astype(int), 4)
    trace = caught.value.__traceback__
    while trace.tb_frame.f_code.co_name != "goes_on_over_the_old_array":
        trace = trace.tb_next
    return trace.tb_frame.f_locals["x"]


def test_a_loop_goes_on_over_the_array_that_it_began_with():
    """Where its variable is bound to another one, and the loop is left and entered again."""
    compiled = jitney.compile(goes_on_over_the_old_array)
    assert last_number(goes_on_over_the_old_array) == 17.25
    for _ in range(3):
        assert last_number(compiled) == 17.25
