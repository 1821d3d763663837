"""Programs that once gave something else than eager, each the smallest that showed it, on every executor."""

import numpy as np
import pytest

import jitney
from jitney import testing

EXECUTORS = ("numpy", "graph", "loop", "llvm")
FOUND = []


def found(*argument_sets):
    """Marks a function as a case; every set of arguments is a tuple."""

    def mark(function):
        FOUND.append(pytest.param(function, argument_sets, id=function.__name__))
        return function

    return mark


@pytest.fixture(autouse=True)
def settings():
    executor = jitney.config.executor
    yield
    jitney.config.executor = executor


@found((np.zeros((1, 0, 1)),), (np.zeros((2, 3, 1)),))
def view_of_an_empty_result(a):
    return (a * a)[:], np.isfinite(a)[0], a.astype(np.int32).T


@found((np.zeros((3, 0, 1)),))
def reshape_of_an_empty_result(a):
    return (a * a).reshape(0, 3), a.reshape(-1)


@found((np.ones((3, 3))[::-1, ::-1],))
def empty_slice_of_a_slice_with_a_step(a):
    return a[:5:2][2:2], a[:5:2][1:1, ::-1], a + 1


@found((np.ones((2, 2), np.int32),))
def store_through_a_view_of_what_numpy_returned(a):
    v = np.dot(a, a)
    w = v[None]
    w -= 3
    return v


@found((np.ones((1, 5))[..., 1:-1],), (np.ones((1, 3))[..., 1:-1],), (np.broadcast_to(np.ones(1), (1,)).reshape(1, 1),))
def reshape_to_the_same_shape(a):
    return a.reshape(1, -1), a.reshape(1, -1)[:], a.reshape(a.shape), a.ravel(), a + 1


@found((np.broadcast_to(np.zeros(3, bool), (2, 3)),), (np.broadcast_to(np.ones((2, 1), bool), (2, 3)),))
def cast_of_a_stretched_operand(a):
    return 3 + a


@found((np.array([5, 7], np.int32),), (np.array([-(2**31), 5], np.int32),), (np.array([2**31 - 1, 5], np.int32),))
def overflow_of_elements(a):
    for i in range(a.shape[0]):
        a[i] = a[i] + -1
    return a, a[0] * a[1], -a[0]


@found((np.ones(2), 3), (np.ones(2), 2**40), (np.ones(2), 2**62))
def products_of_python_ints(a, n):
    return a + 1, n * n, n + n


@found(*[(np.ones((2, n), bool),) for n in (3, 32, 100)], (np.array([[True, False, True]]),))
def minimum_of_bools(a):
    return 0.001 * np.min(a), np.max(~a), a.min(axis=1), a.min(axis=0), a.prod(), a.all()


@found((np.linspace(0.1, 0.9, 99), np.zeros(99)), (np.linspace(0.1, 0.9, 99), np.zeros(99)[::-1]))
def function_into_a_reversed_array(a, out):
    np.expm1(a, out=out)
    return np.log1p(a, out=out[::1]) * a


@found((np.ones(5),))
def store_through_a_reversed_view_with_a_new_axis(a):
    v = a[None]
    v[:, 3:0:-1] = 0.0
    return a


@found((np.ones((3, 6))[:, ::2],), (np.ones((3, 3)),), (np.ones((3, 3))[:, ::-1],), (np.ones((3, 4)).T,))
def ravel_of_a_strided_array(a):
    return a.ravel()[:2], a[::-1].ravel(), a[0, ::2].ravel(), a + 1


@found((np.ones(6)[::2],), (np.ones(3),))
def ravel_of_a_strided_row(a):
    return a[::2].ravel(), a[:2].ravel(), a + 1


@found((np.arange(1.0, 3.0).reshape(1, 2, 1),), (np.arange(1.0, 9.0).reshape(2, 2, 2),))
def store_through_a_transposed_column(a):
    a *= 0.5
    v = a.T
    v -= a
    return v


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("function, argument_sets", FOUND)
def test_found(function, argument_sets, executor):
    jitney.config.executor = executor
    compiled = jitney.compile(function)
    for arguments in argument_sets:
        assert testing.differs(function, compiled, *arguments) is None
    assert jitney.inspect(compiled).stats()["native_calls"] > 0


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("value", (np.nan, np.inf, 1e300, 3e9))
@pytest.mark.parametrize("dtype", (np.int32, np.int64))
def test_float_into_an_integer_array_raises_under_errstate_ignore(executor, value, dtype):
    def f(d, b):
        d[0] = b.max()
        return d * 2

    jitney.config.executor = executor
    compiled = jitney.compile(f)
    with np.errstate(all="ignore"):
        for array in (np.array([1.0, 2.0]), np.array([1.0, value])):
            assert testing.differs(f, compiled, np.ones(2, dtype), array) is None
    assert jitney.inspect(compiled).stats()["native_calls"] > 0
