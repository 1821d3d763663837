"""compile(fastmath=True): what it changes, what it keeps, and that nothing of it happens to those who have not asked."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import jitney


def dot(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


def axpy(a, x, y):
    return a * x + y


def numbers(n, seed):
    return np.random.default_rng(seed).standard_normal(n)


def bits(value):
    return np.asarray(value).tobytes()


def test_a_sum_over_a_loop_becomes_vectors_and_is_close():
    x, y = numbers(10_007, 1), numbers(10_007, 2)
    exact, fast = jitney.compile(dot), jitney.compile(dot, fastmath=True)
    expected = dot(x, y)
    assert bits(exact(x, y)) == bits(expected) and type(exact(x, y)) is np.float64
    assert abs(fast(x, y) - expected) <= 1e-12 * float(np.abs(x * y).sum()) and type(fast(x, y)) is np.float64
    assert jitney.inspect(fast).stats()["flow_entries"] == 1
    for f, asked in ((exact, False), (fast, True)):
        plain, optimized = jitney.inspect(f).llvm_ir(), jitney.inspect(f).llvm_ir(optimized=True)
        assert ("fadd reassoc contract double" in plain) is asked
        assert ("call reassoc contract double @llvm.vector.reduce.fadd" in optimized) is asked  # the exact one adds in order
        assert "nnan" not in optimized and "ninf" not in optimized and "nsz" not in optimized


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_stay(special):
    x, y = numbers(1000, 3), np.ones(1000)
    x[700] = special
    fast = jitney.compile(dot, fastmath=True)
    assert bits(fast(x, y)) == bits(dot(x, y))
    x[10] = -special  # both infinities: NaN, and a warning
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = fast(x, y)
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        assert np.isnan(dot(x, y))
    assert np.isnan(result)
    assert [(str(w.message), w.lineno) for w in seen] == [(str(w.message), w.lineno) for w in expected]


def test_tests_for_nan_hold():
    def count(x):
        n = 0
        for i in range(len(x)):
            v = x[i] - x[i] + 1.0
            if v != v:
                n += 1
        return n

    x = np.array([1.0, np.inf, np.nan, -np.inf, 2.0])
    fast = jitney.compile(count, fastmath=True)
    with np.errstate(all="ignore"):
        assert fast(x) == count(x) == 3


def test_array_expressions_contract():
    a, x, y = numbers(4096, 4), numbers(4096, 5), numbers(4096, 6)
    exact, fast = jitney.compile(axpy), jitney.compile(axpy, fastmath=True)
    assert bits(exact(a, x, y)) == bits(axpy(a, x, y))
    for got, twice, p, q, r in zip(fast(a, x, y), axpy(a, x, y), a, x, y):  # each is rounded once, or as in eager twice
        assert got == twice or got == float(Fraction(p) * Fraction(q) + Fraction(r))
    assert "fadd contract" in jitney.inspect(fast).llvm_ir() and "contract" not in jitney.inspect(exact).llvm_ir()


def test_who_asks_is_told():
    x = numbers(100, 7)
    fast = jitney.compile(dot, fastmath=True)
    assert "need not have eager's bits" in str(jitney.explain(fast)(x, x))
    assert jitney.explain(fast)(x, x).fastmath and jitney.inspect(fast).fastmath
    assert "need not" not in str(jitney.explain(dot)(x, x)) and not jitney.inspect(jitney.compile(dot)).fastmath
    with pytest.raises(ValueError, match="fastmath is True, False or None"):
        jitney.compile(dot, fastmath="yes")


def test_the_switch_counts_for_functions_compiled_from_then_on():
    before = jitney.compile(dot)
    jitney.config.fastmath = True
    try:
        assert jitney.inspect(jitney.compile(dot)).fastmath
        assert not jitney.inspect(jitney.compile(dot, fastmath=False)).fastmath
        assert not jitney.inspect(before).fastmath
    finally:
        jitney.config.fastmath = False
    assert not jitney.inspect(jitney.compile(dot)).fastmath
