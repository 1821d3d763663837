"""Arrays that share memory in native loops: element by element, in the program's order."""

import itertools

import numpy as np
import pytest

import jitney


def shift(a, b):
    for i in range(len(a)):
        b[i] = a[i] + 1


def smooth(a, b):
    for k in range(3):
        for i in range(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1] + k
            a[i] = b[i - 1] - a[i]


def swap(a, b):
    for i in range(len(a)):
        t = a[i]
        a[i] = b[-1 - i]
        b[-1 - i] = t


def total(a, b):
    s = a[0] * 0
    for i in range(len(a)):
        s += a[i]
        b[0] = s
    return s


def first(a, b):
    for i in range(len(b)):
        b[i] += a[0]


def inner(a, b):
    for i in range(len(a)):
        a[i] = row(b, i)


def row(b, i):
    s = b[0]
    for j in range(i, len(b)):
        s += b[j]
    b[i] = s
    return s


PARTS = {
    "behind": (slice(None, -1), slice(1, None)),
    "before": (slice(1, None), slice(None, -1)),
    "backwards": (slice(None), slice(None, None, -1)),
    "every other": (slice(None, 20), slice(None, None, 2)),
    "apart": (slice(None, 20), slice(20, None)),
    "nothing": (slice(20, 20), slice(None)),
}


@pytest.mark.parametrize("f", [shift, smooth, swap, total, first, inner], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_in_order(f, dtype):
    g = jitney.compile(f)
    for one, other in itertools.chain(PARTS.values(), PARTS.values()):
        mine, theirs = (np.arange(1, 41, dtype=dtype) % 7 for _ in range(2))
        outcomes = []
        for h, x in ((g, mine), (f, theirs)):
            try:
                outcomes.append((repr(h(x[one], x[other])), x.tolist()))
            except IndexError as error:
                outcomes.append((repr(error), x.tolist()))
        assert outcomes[0] == outcomes[1]
    assert jitney.inspect(g).stats()["flow_returns"] >= 4


def mix(a, b):
    for i in range(len(a)):
        b[i] = (a[i] >> 3) % 100
        a[-1 - i] += b[i]


def test_bytes_of_other_elements():
    g = jitney.compile(mix)
    for _ in range(2):
        mine, theirs = (np.arange(64, dtype=np.int64) << 30 for _ in range(2))
        g(mine, mine.view(np.int16)[3:67])
        mix(theirs, theirs.view(np.int16)[3:67])
        assert mine.tolist() == theirs.tolist()
    assert jitney.inspect(g).stats()["flow_returns"] == 2


def test_those_apart_have_code_of_their_own():
    g = jitney.compile(shift)
    x, y = np.arange(40.0), np.zeros(40)
    g(x[1:], x[:-1])
    for _ in range(3):
        g(x, y)
        g(x[1:], x[:-1])
    stats = jitney.inspect(g).stats()
    assert stats["flow_entries"] == 2 and stats["flow_returns"] == 7


def add_whole(x, y):
    x += y
    x[:] = x * 2
    return x.sum()


def add_rounds(x, y):
    for _ in range(12):
        x += y
        x[:] = y[::-1] - x
    return x.sum()


@pytest.mark.parametrize("function", (add_whole, add_rounds))
@pytest.mark.parametrize("shape, strides", (((6,), (0,)), ((3, 2), (8, 16)), ((3, 3), (8, 8)), ((2, 3), (16, 8))))
def test_elements_of_one_array_at_one_place(function, shape, strides):
    """Which of them is written last decides: left to NumPy, in the first call and behind one that was compiled for arrays whose elements lie apart."""
    y = np.arange(np.prod(shape, dtype=int)).reshape(shape) * 1.5
    apart = (40, 200)[: len(shape)]
    ours = jitney.compile(function)
    for layout in (strides, apart, strides, apart, apart):
        memory = [np.arange(200.0) for _ in range(2)]
        views = [np.lib.stride_tricks.as_strided(m, shape, layout) for m in memory]
        assert function(views[0], y) == ours(views[1], y)
        assert np.array_equal(*memory)
    assert jitney.inspect(ours).stats()["native_calls"] >= 1
