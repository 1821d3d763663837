"""Where a careful compiler of NumPy code would still give another result than NumPy: one program per trap."""

import tracemalloc
import warnings

import numpy as np
import pytest

import jitney
from jitney.testing import differs

SIDE = 181  # 181 * 181 * 8 bytes is just below the size from which NumPy reuses a temporary; 182 is above
RNG = np.random.default_rng(3)


def orders(side):
    a = RNG.random((side, side))
    return np.asfortranarray(a), np.asfortranarray(a + 1.0), np.ascontiguousarray(a)


@pytest.mark.parametrize("side", [SIDE, SIDE + 1], ids=["small", "large"])
@pytest.mark.parametrize(
    "f",
    [
        lambda a, b, c: (a + b) + c,
        lambda a, b, c: c + (a + b),
        lambda a, b, c: (a + b) % c,
        lambda a, b, c: (a + b).T + c,
        lambda a, b, c: [a + b][0] + c,
        lambda a, b, c: ((a + b) + c).sum(axis=0),
    ],
)
def test_elision_decides_the_layout(f, side):
    assert differs(f, jitney.compile(f), *orders(side)) is None


@pytest.mark.parametrize("side", [SIDE, SIDE + 1], ids=["small", "large"])
def test_a_named_operand_is_not_reused(side):
    def f(a, b, c):
        t = a + b
        return t + c

    assert differs(f, jitney.compile(f), *orders(side)) is None


@pytest.mark.parametrize("order", [None, "C", "K", "A", "F"])
def test_astype_without_a_copy_is_the_array_itself(order):
    def f(a):
        b = a.astype(np.float64, order=order, copy=False) if order else a.astype(np.float64, copy=False)
        return b, b is a, b + 1

    block = RNG.random((4, 6))
    for a in (block, block.T, block[:, ::2], block[1:], block[:, :1], block[0], np.array(2.0), block.astype(np.float32)):
        g = jitney.compile(f)
        for _ in range(2):
            assert g(a)[1] == f(a)[1] and g(a)[0].strides == f(a)[0].strides
            assert differs(f, g, a) is None


def test_every_operation_warns_for_itself():
    def twice(z):
        return np.log(z) + np.log(z)

    def dead(z):
        np.log(z)
        return z + 1.0

    zero = np.zeros(3)
    for f in (twice, dead):
        g = jitney.compile(f)
        for action in ("always", "default", "error", "ignore"):
            with warnings.catch_warnings():
                warnings.simplefilter(action)
                assert differs(f, g, zero) is None


def test_underflow_is_reported_when_asked_for():
    def f(a):
        return a * a

    g = jitney.compile(f)
    tiny = np.array([1e-200])
    for state in ({}, {"under": "warn"}, {"under": "raise"}, {"under": "ignore"}):
        with np.errstate(**state):
            assert differs(f, g, tiny) is None


@pytest.mark.parametrize("exponent", [0.5, 2, 2.0, -1, -1.0, 3, 1.5, np.float64(0.5), np.float64(2), np.int64(2)])
def test_spellings_of_powers(exponent):
    a = RNG.random(5000) * 7.0

    def operator(a, e):
        return a**e

    def function(a, e):
        return np.power(a, e)

    for f in (operator, function):
        assert differs(f, jitney.compile(f), a, exponent) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 300.7, np.float64("nan"), np.float64(300.7), np.float32(2.5), True, 2**40, -1])
@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "float32"])
def test_stores_of_numbers(value, dtype):
    def f(a, v):
        a[1:] = v
        return a

    assert differs(f, jitney.compile(f), np.arange(4).astype(dtype), value) is None


def test_overlap_reads_first():
    def shift(a):
        a[1:] = a[:-1] * 2.0
        a[:-1] += a[1:]
        return a

    def reverse(a):
        np.multiply(a[::-1], 2.0, out=a)
        return a

    for f in (shift, reverse):
        assert differs(f, jitney.compile(f), np.arange(9.0)) is None


def test_tracemalloc_sees_results():
    g = jitney.compile(lambda a: a + 1.0)
    big = np.ones(200_000)
    g(big)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = g(big)
        assert tracemalloc.get_traced_memory()[0] - before >= result.nbytes
    finally:
        tracemalloc.stop()
    assert differs(lambda a: a + 1.0, g, big) is None


def test_result_owns_its_memory_and_resizes():
    g = jitney.compile(lambda a: a + 1.0)
    for n in (3, 200_000):
        g(np.ones(n))
        result = g(np.ones(n))
        assert result.flags.owndata and result.base is None and result.flags.writeable
        result.resize(2 * n)
        assert result[n:].sum() == 0.0


def test_minimum_and_maximum_of_zeros_and_nans():
    values = np.array([0.0, -0.0, np.nan, 1.0])
    a, b = (x.ravel().copy() for x in np.meshgrid(values, values))

    def f(a, b):
        return np.maximum(a, b), np.minimum(a, b), a.max(), (a * 0.0).min(), b[:2].max()

    assert differs(f, jitney.compile(f), a, b) is None


@pytest.mark.parametrize(
    "f",
    [
        lambda a, n: np.zeros(n),
        lambda a, n: np.full((2, n), 1.0),
        lambda a, n: a.reshape(n, -1),
        lambda a, n: a.max(n),
        lambda a, n: np.concatenate([a, a], axis=n),
    ],
)
@pytest.mark.parametrize("n", [True, np.True_])
def test_a_bool_is_no_size(f, n):
    assert differs(f, jitney.compile(f), np.ones((2, 2)), n) is None


CHOICES = [
    lambda y: 3 / y + 1,
    lambda y: 3.0 / (y > 0),
    lambda y: 3.0 / np.where(y > 0, 1.0, 0.0),
    lambda y: np.sqrt(np.where(y > 0, 4.0, -1.0)),
    lambda y: np.where(y > 0, 1e308, 1.0) * 10.0,
    lambda y: (np.where(y > 0, 1e308, 1.0) * 10.0).astype(np.int64),
]


@pytest.mark.parametrize("function", CHOICES)
@pytest.mark.parametrize("y", [np.bool_(False), np.array([1.0, 0.0, 2.0, -1.0] * 8)], ids=["scalar", "array"])
def test_an_operation_on_one_of_two_constants_still_warns(function, y):
    """Code generation would compute it for both while compiling, without a flag."""
    compiled = jitney.compile(function)
    for _ in range(2):
        assert differs(function, compiled, y) is None


FIELDS = [("low", "<i2"), ("high", "<i2")]
SPECIAL = [
    np.dtype(("i4", FIELDS)),  # int32 with names for its halves
    np.dtype("f8", metadata={"unit": "m"}),
    np.dtype(np.int64, metadata={"unit": "s"}),
    np.dtype(bool, metadata={"unit": None}),
    np.dtype(">i4"),
]


def dtypes(values):
    return [(v.dtype, v.dtype.metadata, v.dtype.fields) for v in (values if isinstance(values, tuple) else (values,))]


@pytest.mark.parametrize("dtype", SPECIAL, ids=str)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + x,
        lambda x: x[1:],
        lambda x: (x.copy(), np.zeros_like(x), x.astype(x.dtype)),
        lambda x: np.zeros(3, x.dtype),
        lambda x: np.stack([x, x]),
        lambda x: [x[i : i + 2] for i in range(3)][1],
    ],
)
def test_a_dtype_is_more_than_its_number(f, dtype):
    """Also where the code was made for a plain array before: a guard lets no other one in."""
    plain = np.zeros(4, dtype.newbyteorder("=").type)
    for compiled in (jitney.compile(f), jitney.compile(f)):
        for x in (plain, np.zeros(4, dtype), plain, np.zeros(4, dtype)):
            assert dtypes(compiled(x)) == dtypes(f(x))
    g = jitney.compile(f)
    assert dtypes(g(np.zeros(4, dtype))) == dtypes(f(np.zeros(4, dtype)))


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.clip(a, 2),
        lambda a: np.clip(a, None),
        lambda a: np.clip(a, a_max=2),
        lambda a: np.clip(a, a_min=2, out=a),
        lambda a: np.clip(a, 2, None),
        lambda a: np.clip(a, a_min=None, a_max=2),
        lambda a: a.clip(2),
        lambda a: a.clip(max=2),
    ],
)
def test_clip_takes_both_bounds_or_says_which_one_is_missing(f):
    for a in (np.arange(5), np.arange(5.0)):
        assert differs(f, jitney.compile(f), a) is None
