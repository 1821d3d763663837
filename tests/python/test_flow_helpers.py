"""C functions that native loops call: the bits of CPython's and NumPy's own operations, and refusal where those raise."""

import math
import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitney import _jitney

FLOATS = st.floats() | st.integers(-20, 20).map(float) | st.sampled_from([0.0, -0.0, 0.5, -0.5, 1e308, -1e308, 5e-324])
INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20) | st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63 - 1])


def ask(name, *args):
    return _jitney._test_flow_helper(name, *args)


def bits(x):
    return struct.pack("d", x) if not math.isnan(x) else "nan"


def is_same(helper, eager, *args, fits=lambda x: True):
    """What eager gives, or a refusal where it raises, gives another type, or what does not fit."""
    try:
        expected = eager(*args)
    except (ArithmeticError, ValueError):
        expected = NotImplemented
    found = ask(helper, *args)
    if expected is NotImplemented or not fits(expected):
        assert found is NotImplemented
    elif isinstance(expected, float):
        assert isinstance(found, float) and bits(found) == bits(expected)
    else:
        assert found == expected and type(found) is type(expected)


def fits_word(x):
    return isinstance(x, int) and -(2**63) <= x < 2**63


@given(FLOATS, FLOATS)
def test_float_operators(x, y):
    if y != 0:
        is_same("float_floordiv", lambda x, y: x // y, x, y)
        is_same("float_mod", lambda x, y: x % y, x, y)
        with np.errstate(all="ignore"):
            assert bits(ask("float_floordiv", x, y)) == bits(float(np.float64(x) // np.float64(y)))
            assert bits(ask("float_mod", x, y)) == bits(float(np.float64(x) % np.float64(y)))
    is_same("float_pow", lambda x, y: x**y, x, y, fits=lambda z: isinstance(z, float))


@given(FLOATS, st.integers(-400, 400))
def test_float_round(x, n):
    is_same("float_round", round, x, n)


@given(INTS, INTS)
def test_int_operators(a, b):
    is_same("int_truediv", lambda a, b: a / b, a, b)
    is_same("int_gcd", math.gcd, a, b, fits=fits_word)
    is_same("float_of_int", float, a)
    is_same("int_isqrt", math.isqrt, a)
    is_same("int_bit_length", int.bit_length, a)
    is_same("int_bit_count", int.bit_count, a)
    is_same("int_of_object", lambda a: a, a)


@given(INTS | st.integers(-5, 5), st.integers(-3, 70))
def test_int_pow(a, b):
    is_same("int_pow", lambda a, b: a**b, a, b, fits=fits_word)


@given(INTS, INTS, INTS)
def test_int_powmod(a, b, m):
    if b >= 0:
        is_same("int_powmod", pow, a, b, m)
    else:
        assert ask("int_powmod", a, b, m) is NotImplemented


def test_int_factorial():
    for n in range(-2, 25):
        is_same("int_factorial", math.factorial, n, fits=fits_word)


def test_int_of_object_of_other_types():
    class Int(int):
        pass

    for x in (2**63, -(2**63) - 1, 10**40, True, 1.0, Int(3), None, "1"):
        assert ask("int_of_object", x) is NotImplemented


# ---- lists ----


def test_list_store():
    a = [1.5, 2, True, None, "x"]
    for k in range(5):
        assert ask("list_store_float", a, k, k + 0.25) is None
    assert a == [0.25, 1.25, 2.25, 3.25, 4.25]
    ask("list_store_int", a, 0, 7)
    ask("list_store_bool", a, 1, True)
    ask("list_store_object", a, 2, a)
    assert a[0] == 7 and a[1] is True and a[2] is a
    a[2] = None
    for k in (-1, 5, 2**62):
        for name, value in (("list_store_float", 1.0), ("list_store_int", 1), ("list_store_bool", True), ("list_store_object", None)):
            assert ask(name, a, k, value) is NotImplemented
    assert len(a) == 5


def test_list_store_does_not_change_floats_of_others():
    x = float("1.5")
    a = [x, float("2.5")]
    ask("list_store_float", a, 0, 9.0)
    ask("list_store_float", a, 1, 9.0)
    assert x == 1.5 and a == [9.0, 9.0]


def test_destructors_are_not_run_in_a_flow():
    died = []

    class Noisy:
        def __del__(self):
            died.append(1)

    a = [Noisy(), [Noisy()], [[1.0, (Noisy(),)]], "x"]
    for k, quiet in enumerate((False, False, False, True)):
        assert (ask("list_store_int", a, k, 1) is None) == quiet
    assert ask("list_drop", a, 0) is NotImplemented
    assert not died and len(a) == 4


@pytest.mark.parametrize("n", [0, 1, 5])
def test_list_methods(n):
    a = list(range(n))
    for name, value in (("list_append_float", 0.5), ("list_append_int", 2**60), ("list_append_bool", False), ("list_append_object", a)):
        ask(name, a, value)
    assert a[:n] == list(range(n)) and a[n : n + 3] == [0.5, 2**60, False] and a[n + 3] is a
    size = sys.getsizeof(a)
    b = list(range(n))
    for value in (0.5, 2**60, False, b):
        b.append(value)
    assert size == sys.getsizeof(b)
    ask("list_drop", a, len(a) - 1)
    b.pop()
    ask("list_drop", a, 0)
    b.pop(0)
    assert a == b and sys.getsizeof(a) == sys.getsizeof(b)
    ask("list_reverse", a)
    b.reverse()
    assert a == b
    ask("list_swap", a, 0, 1)
    b[0], b[1] = b[1], b[0]
    assert a == b
    assert ask("list_swap", a, 0, len(a)) is NotImplemented
    assert ask("list_find_int", [3, 10**30, True, 4], 1) == 2
    assert ask("list_find_int", [3, 10**30, True, 4], 5) == -1
    assert ask("list_find_int", [3, 1.0], 1) is NotImplemented


def test_new_objects():
    one = [1.0]
    for n in (-3, 0, 4):
        assert ask("list_repeat", one, n) == [one] * n
        assert ask("list_repeat_float", 0.5, n) == [0.5] * n
        assert ask("list_repeat_int", 7, n) == [7] * n
    assert ask("list_repeat_int", 7, 2**61) is NotImplemented
    assert ask("list_new") == []
    assert ask("list_slice", [1, 2, 3, 4], 1, 3) == [2, 3]
    assert ask("list_concat", [1], [2.0]) == [1, 2.0]
    assert ask("float_object", 2.5) == 2.5 and ask("int_object", 2**62) == 2**62
    for k, dtype in enumerate((np.bool_, np.int32, np.int64, np.float32, np.float64)):
        for shape in ((), (0,), (3,), (2, 3), (3, 0)):
            dims = (*shape, 0, 0)[:2]
            for fill, make in ((1, np.zeros), (2, np.ones)):
                found, expected = ask("array_new", k, len(shape), *dims, fill), make(shape, dtype)
                assert found.tobytes() == expected.tobytes() and found.dtype == expected.dtype and found.strides == expected.strides
                assert found.flags.owndata and found.base is None
    assert ask("array_new", 4, 1, -1, 0, 1) is NotImplemented
    assert ask("array_new", 4, 2, 2**40, 2**40, 0) is NotImplemented


def test_rows_keep_their_places():
    row = [1.0]
    a = [row, [2.0], (3.0,)]
    for k in range(3):
        assert ask("list_store_float", a, k, 1.0) is NotImplemented
    assert ask("list_drop", a, 1) is NotImplemented
    assert a == [row, [2.0], (3.0,)]


def test_no_reference_is_lost_or_kept():
    a = [float("1.5")] * 3
    x = object()
    before = sys.getrefcount(x), sys.getrefcount(a[0])
    for _ in range(100):
        ask("list_store_object", a, 1, x)
        ask("list_append_object", a, x)
        ask("list_repeat", x, 10)
        ask("list_drop", a, 3)
        ask("list_store_object", a, 1, a[0])
        ask("list_store_object", a, 17, x)
    assert (sys.getrefcount(x), sys.getrefcount(a[0])) == before
