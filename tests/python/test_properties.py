"""Properties over generated inputs: whatever the subscript, the numbers or the shapes, compiled is eager."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import jitney
from jitney.testing import differs

EFFORT = settings(max_examples=60, deadline=None, derandomize=True)

steps = st.integers(-3, 3).filter(bool)
bounds = st.one_of(st.none(), st.integers(-7, 7))
slices = st.builds(slice, bounds, bounds, st.one_of(st.none(), steps))
keys = st.lists(st.one_of(slices, st.integers(-3, 3), st.just(None), st.just(...)), min_size=1, max_size=3).filter(
    lambda items: sum(item is ... for item in items) <= 1
)
shapes = st.lists(st.integers(0, 5), min_size=1, max_size=3)
dtypes = st.sampled_from(["bool", "int32", "int64", "float32", "float64"])
orders = st.sampled_from("CF")


def array(shape, dtype, order):
    count = int(np.prod(shape))
    return np.asarray((np.arange(count) * 7 % 11 - 3).reshape(shape), dtype=dtype, order=order)


def spelled(key):
    def one(item):
        if not isinstance(item, slice):
            return "..." if item is ... else repr(item)
        return ":".join("" if part is None else str(part) for part in (item.start, item.stop, item.step))

    return ", ".join(map(one, key)) + ("," if len(key) == 1 else "")


def function(text, parameters="a"):
    space = {"np": np}
    exec(f"def f({parameters}):\n    {text}", space)
    return space["f"]


@EFFORT
@given(keys, shapes, dtypes, orders)
def test_subscripts(key, shape, dtype, order):
    a = array(shape, dtype, order)
    read = function(f"return a[{spelled(key)}], a == a")
    assert differs(read, jitney.compile(read), a) is None
    written = function(f"a[{spelled(key)}] = 1\n    return a")
    assert differs(written, jitney.compile(written), a) is None


@EFFORT
@given(shapes, shapes, dtypes, dtypes, orders, st.sampled_from(["+", "-", "*", "/", "<", "==", "//", "%"]))
def test_operators_broadcast(left, right, first, second, order, operator):
    f = function(f"return a {operator} b", "a, b")
    with np.errstate(all="ignore"):
        assert differs(f, jitney.compile(f), array(left, first, order), array(right, second, "C")) is None


@EFFORT
@given(st.lists(st.floats(width=64), min_size=1, max_size=20), st.floats(width=64), st.sampled_from(["+", "-", "*", "/", ">"]))
def test_numbers(values, number, operator):
    f = function(f"return a {operator} x, (a {operator} x).sum(), a.max()", "a, x")
    with np.errstate(all="ignore"):
        assert differs(f, jitney.compile(f), np.array(values), number) is None


@EFFORT
@given(shapes, dtypes, orders, st.sampled_from(["sum", "prod", "min", "max", "mean", "any", "all"]), st.integers(-3, 2), st.booleans())
def test_reductions(shape, dtype, order, name, axis, keep):
    f = function(f"return a.{name}(axis={axis}, keepdims={keep}), a.{name}()")
    a = array(shape, dtype, order)
    with np.errstate(all="ignore"):
        assert differs(f, jitney.compile(f), a) is None
