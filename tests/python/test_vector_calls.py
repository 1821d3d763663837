"""Functions that loops call in vector registers, and results that go past the caches (both: CPUs with AVX-512)."""

import numpy as np
import pytest

import jitney
from jitney.testing import differs

NAMES = "exp exp2 expm1 log log2 log10 log1p tan arcsin arccos arctan sinh cosh cbrt arcsinh arccosh arctanh".split()


def has_registers():
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return features.get("AVX512_SKX", False)


def numbers(n, scale):
    """Some of every kind beside each other: a result must not depend on its neighbours."""
    x = np.random.default_rng(n).standard_normal(n) * scale
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, 710.0, -746.0, 1e308, 0.9999999]
    x[:: max(1, n // 12)][: len(special)] = special[: len(x[:: max(1, n // 12)])]
    return x


@pytest.mark.parametrize("name", NAMES)
def test_the_bits_and_warnings_are_numpys(name):
    function = getattr(np, name)

    def f(x, y):
        return function(x * y) + 1.5

    compiled = jitney.compile(f)
    for n in (0, 1, 7, 8, 9, 100, 1003):
        for scale in (1e-3, 1.0, 40.0):
            x, ones = numbers(n, scale), np.ones(n)
            assert differs(f, compiled, x, ones) is None, (n, scale)
            assert differs(f, compiled, x[::-1], ones) is None, (n, scale)
            assert differs(f, compiled, np.repeat(x, 2)[::2], ones) is None, (n, scale)


def test_layouts_and_broadcasting():
    def f(a, b):
        return np.exp(a - b) * np.log(a * a + 1.0)

    compiled = jitney.compile(f)
    a = np.random.default_rng(5).standard_normal((13, 21))
    for x, y in (
        (a, a[0]),
        (a.T, a[:, 1]),
        (a[::2, ::3], a[:1, ::3]),
        (np.asfortranarray(a), a),
        (a[:, None, :], a[:5, 3:4]),
    ):
        assert differs(f, compiled, x, y) is None
    if has_registers():
        assert "vcall" in jitney.inspect(compiled).loop_ir()


def test_exp_is_called_in_registers_where_there_are_such():
    def f(a, b, c):
        return np.exp(-(a * a) / b) * c

    compiled = jitney.compile(f)
    x = np.linspace(0.1, 3.0, 100)
    compiled(x, x, x)
    ir = jitney.inspect(compiled).loop_ir()
    assert ("vcall" in ir) == has_registers()
    assert ("ufunc" in ir) != has_registers()


@pytest.mark.parametrize("shift", range(8))
def test_large_results(shift):
    def f(a, b, c):
        return np.exp(a * 0.25) * b - c

    compiled = jitney.compile(f)
    a, b, c = (np.random.default_rng(i).standard_normal(530_000 + shift)[shift:] for i in range(3))
    assert differs(f, compiled, a, b, c) is None
    assert ("nontemporal" in jitney.inspect(compiled).llvm_ir()) == has_registers()


def test_what_is_read_again_or_written_in_place_stays_in_the_caches():
    def f(a, b):
        a *= b
        return a

    compiled = jitney.compile(f)
    a, b = np.full(600_000, 1.5), np.full(600_000, 0.5)
    assert differs(f, compiled, a, b) is None
    assert "nontemporal" not in jitney.inspect(compiled).llvm_ir()
