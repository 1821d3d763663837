"""Whole arrays inside native loops: slices, rows and columns, operations on them, stores, reductions, products, arrays that are made in the loop."""

import itertools
import sys
import traceback
import warnings

import numpy as np
import pytest

import jitney

pytestmark = pytest.mark.usefixtures("executors")
RNG = np.random.default_rng(7)
A, B, X = RNG.random((6, 9)), RNG.random((9, 6)), RNG.random(40)
I = RNG.integers(-50, 50, (6, 9))
ZERO = A.copy()
ZERO[3, 2] = 0.0


def outcome(f, args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except Exception as e:
            result = (
                type(e),
                str(e),
                [frame.lineno for frame in traceback.extract_tb(e.__traceback__) if frame.filename == __file__],
            )
    return picture((result, args)), [(str(w.message), w.category, w.lineno) for w in found]


def picture(v):
    if isinstance(v, np.ndarray):
        bits = np.where(np.isnan(v), np.nan, v).tobytes() if v.dtype.kind == "f" else v.tobytes()
        return v.dtype.str, v.shape, v.strides, str(v.flags), v.base is None, bits
    if isinstance(v, (tuple, list)):
        return type(v), [picture(x) for x in v]
    return type(v), repr(v)


def same(f, make, native=True, calls=3):
    compiled = jitney.compile(f)
    for _ in range(calls):
        expected, found = outcome(f, make()), outcome(compiled, make())
        assert found == expected
    stats = jitney.inspect(compiled).stats()
    if native:
        assert stats["flow_calls"] > 0
    return stats


def copies(*arrays):
    return lambda: tuple(x.copy() if isinstance(x, np.ndarray) else x for x in arrays)


# ---- programs ----


def slices(a, n):
    s, out = 0.0, 0
    for _ in range(n):
        for i in range(-12, 13):
            v, w, z, q, p, o, m = a[i : i + 5], a[i:], a[:i], a[::2], a[i::-1], a[10:i:-3], a[i:30:4]
            s += v.sum() + w.sum() * 2 + z.sum() + q.sum() + p.sum() + o.sum() + m.sum()
            out += len(v) + 100 * len(w) + 7 * len(p) + m.size + o.shape[0]
    return s, out, v, w, z, q, p, o, m


def rows_and_columns(a, b, n):
    s = 0.0
    for _ in range(n):
        for i in range(len(a)):
            s += (a[i, :] * b[:, i]).sum() - a[i, 1:4].max() + b[2:, i].min() + a[i, ::-1][:3].prod()
    return s, a[i], b[:, i]


def stores(y, x, n):
    for _ in range(n):
        for i in range(len(y)):
            y[i, :] = x[i] * 2 + y[i]
            y[i, 2:5] -= 1
            y[i, 0] = y[i].sum()
            y[:, 1] = 3
            y[:, 3] = x[:, 2]
    return y


def overlapping_stores(x, n):
    for _ in range(n):
        x[1:] = x[:-1]
        x[:-1] += x[1:]
        x[::-1] = x
        x[2:] *= x[:-2]
    return x


def heat(u, n):
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_2d(u, n):
    for _ in range(n):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return u


def carried(x, n):
    v = np.zeros(9)
    w = p = v
    for _ in range(n):
        for i in range(len(x)):
            p = v
            v = v * 0.5 + x[i]
            w = v
            v[0] = i
            u = v[1:4]
            u += 1
    return v, w, u, p, v is w, u.base is v, p is v


def exchanged(x, n):
    prev, cur = x[0], x[1]
    for _ in range(n):
        prev, cur = cur, 2 * cur - prev * 0.9
        if cur[0] > 3:
            cur = cur * 0.5
        last = cur[::2]
    return prev, cur, last, last.base is cur


def made(x, n):
    for _ in range(n):
        for i in range(len(x)):
            a, b, c, d, e = np.zeros(9), np.empty_like(x[i]), np.ones(4), x[i].copy(), np.zeros((2, 3))
            b[:] = a + 1
            d[2] = -1
            e[1, 1] = i
            e[0] = c[:3]
    return a, b, c, d, e, x


def floats(x, n):
    m = 0.0
    for _ in range(n):
        for i in range(len(x)):
            m += x[i].mean() + np.mean(x[i]) + np.sum(x[i]) + np.max(x[i]) + np.min(x[i])
            m += (x[i] > 0.5).any() + (x[i] > 0.1).all() + np.any(x[i] < 0.2)
            m += (
                np.exp(x[i]).sum()
                + np.sqrt(x[i]).sum()
                + abs(-x[i]).sum()
                + np.maximum(x[i], 0.5).sum()
                + np.sin(x[i])[2]
                + (x[i] ** 2)[1]
            )
    return m


def small_floats(x, n):
    m = 0
    for _ in range(n):
        for i in range(len(x)):
            m += x[i].sum() + (x[i] * 3).max() + (x[i] + 1.5).sum()
    return m


def integers(x, n):
    m = 0
    for _ in range(n):
        for i in range(len(x)):
            m += (
                x[i].sum()
                + (x[i] * 3).max()
                + x[i].min()
                + (x[i] // 3).sum()
                + (x[i] % 7).sum()
                + (x[i] & 3).sum()
                + (x[i] ** 2).sum()
            )
            m += (x[i] == x[i - 1]).any()
    return m


def products(a, b, w, x, n):
    s = 0.0
    for _ in range(n):
        for i in range(len(a)):
            s += np.dot(a[i], b[i]) + a[i] @ b[0] + a[i].dot(b[1]) + np.dot(a[:, 1], b[:, 2])
        x = w @ x
        x = x / x.sum()
        y, z = np.dot(w, x), x @ w
    return s, x, y, z


def nothing(x, k, n):
    s = 0
    for _ in range(n):
        for i in range(len(x)):
            s += x[i, k:k].sum() + len(x[i, 5:2])
            x[i, k:k] = 5
            x[i, 3:3] += x[i, 2:2]
            q = x[i, k:k]
    return s, q


def added(v):
    v += 1
    return v * 2


def inlined(x, n):
    for _ in range(n):
        for i in range(len(x)):
            w = added(x[i])
            z = added(w)
    return x, w, z


def iterated(x, n):
    s = 0
    for _ in range(n):
        for row in x:
            for v in row[1:]:
                s += v
            d = row[:, None] * row[None, :]
    return s, d, row


def along_axes(x, y, n):
    t = np.zeros(9)
    for _ in range(n):
        for i in range(3):
            t += x.sum(axis=0) * np.max(x, axis=0) - x.min(0) + np.sum(x[i:], axis=-2) + x.prod(axis=(0,))
            u, v, w = x.sum(axis=1), x[:, i:].mean(axis=1), x[::-1].max(axis=1, keepdims=True)
            p, q, r = y.sum(axis=(0, 2)), np.mean(y, axis=0), y[i:].sum(axis=2, keepdims=True)
            a, b = (x > 0.5).any(axis=0), np.all(y > 0.1, 1)
            s = x.sum(axis=None) + x[i].sum(axis=0) + x[i].max(axis=-1) + y.min((0, 1, 2))
            k = x.sum(axis=(0, 1), keepdims=True)
    return t, u, v, w, p, q, r, a, b, s, k


def matrices(a, b, n):
    x = y = a @ b
    z = b[:0]
    for k in range(n):
        c = a @ b
        x = x @ c / c.sum() + np.dot(c, x.T)
        y = c @ c.T + x[::-1] @ x[:, ::-1] + np.matmul(b.T, a.T) + a[:, ::2] @ b[::2]
        u, v, w = a[:1] @ b, a @ b[:, :1], a[:, k % 3 : 1] @ b[k % 3 : 1]
        z = z @ x + b[:0]
        s = a[1:4].dot(b[:, 2:4])
    return x, y, u, v, w, z, s


def casts(x, k, n):
    s, w = np.zeros(9, np.float32), x[0, 0]
    for _ in range(n):
        for i in range(len(x)):
            big = x[i] > 0.5
            a, b, c = big.sum() + big.mean(), big.astype(int), (x[i] * 9).astype("i4")
            d = b * 0.5 + (c + k[i]) + k[i] / 4
            s += x[i].astype(np.float32) * c[0]
            s[1:4] = k[i, :3]
            k[i] = x[i] * 9
            k[i, 1:] += big[1:]
            w = w + a + c.sum() + c.mean() + k[i].mean() + (c.any() + x[i].all())
    return a, b, c, d, s, k, w


def more_casts(x, k, n):
    for _ in range(n):
        for i in range(len(x)):
            g, o = np.sqrt(k[i] * k[i]), x[i].astype(np.float32)
            p, q, r = o + x[i], o * k[i], (x[i] > 0.5) & (k[i] > 0.5)
            t, u = np.zeros(3, dtype=np.int64), np.empty_like(x[i], bool)
            u[:] = k[i]
            v = r.sum(axis=0) + (x > 0.3).sum(axis=1) + (x > 0.5).mean(axis=1)
    return g, p, q, r, t, u, v


def taken(x, k, n):
    s = x[0, 0]
    for _ in range(n):
        for i in range(len(x)):
            j = (k[i] % 9 - 4) // 1
            a, b, c = x[i][j], x[i, x[i] > 0.4], x[k[i, :3] % 6]
            d, e = x[x > 0.7], x[x[:, i] > 0.3]
            s = s + a.sum() + b.sum() + d.max() + e[:, 0].sum() + b.size + len(d)
            t = x[i, x[i] > 5]
    return a, b, c, d, e, s, t, t.strides, t.shape


def put(x, k, n):
    for _ in range(n):
        for i in range(len(x)):
            j, m = k[i] % 9, x[i] > 0.5
            x[i][j] += 1
            x[i, j[::2]] -= x[i, :5] * 0.25
            x[i, m] = 0.25
            x[i][x[i] > 1] *= 0.5
            x[x < -1] = k[i, 0]
            x[k[:2, i] % 6] = x[:2] + x[2]
            x[x[:, 0] > 0.8] = k[i]
            k[i, m] = x[i][m] * 100
            x[k[i, :2] % 6] += 0.125
    return x, k


def choices(x, k, n):
    s = 0
    for _ in range(n):
        for i in range(len(x)):
            a, b = np.where(x[i] > 0.5, x[i], -x[i]), np.where(k[i] > 3, k[i], 0.5)
            c, d = np.where(x > 0.5, 1, 2), np.where(x[:, i] > 0.2, x.T[2:5], k[i, 0])[:, 1:]
            s += x[i].argmax() + np.argmin(k[i]) + x.argmin() + k.argmax() + np.argmax(x[:, 1]) + (x[i] > 0.7).argmax()
            s += np.where(k[i] > 0, True, k[i] > -9).argmin(axis=0) + d.astype(np.float32).argmax()
    return s, a, b, c, d


PROGRAMS = [
    (slices, copies(X, 2)),
    (rows_and_columns, copies(A, B, 3)),
    (stores, copies(A, B.T, 4)),
    (overlapping_stores, copies(X * 0.1, 5)),
    (heat, copies(X, 30)),
    (heat_2d, copies(A, 20)),
    (carried, copies(A, 5)),
    (exchanged, copies(A, 50)),
    (made, copies(A, 3)),
    (floats, copies(A, 3)),
    (small_floats, copies(A.astype(np.float32), 3)),
    (integers, copies(I, 3)),
    (products, copies(A, A[::-1], A[:5, :5], A[0, :5], 30)),
    (taken, copies(A, I, 3)),
    (taken, copies(np.asfortranarray(A)[::-1], I[:, ::-1].astype(np.int16), 3)),
    (put, copies(A, I, 3)),
    (put, copies(B.T, I.T.copy().T, 3)),
    (choices, copies(A, I, 3)),
    (choices, copies(A.astype(np.float32), I.astype(np.int32)[:, ::-1], 3)),
    (casts, copies(A, I, 3)),
    (more_casts, copies(A, I, 3)),
    (matrices, copies(A, B, 30)),
    (matrices, copies(np.asfortranarray(A), B[::-1], 30)),
    (matrices, copies(A.astype(np.float32), B.astype(np.float32), 30)),
    (along_axes, copies(A, A.reshape(3, 2, 9)[:, :, ::2], 3)),
    (nothing, copies(A, 4, 3)),
    (inlined, copies(A, 4)),
    (iterated, copies(A, 4)),
]


@pytest.mark.parametrize("f, make", PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
@pytest.mark.parametrize("executor, every", [("llvm", 0), ("loop", 0), ("loop", 1), ("loop", 3)])
def test_programs(f, make, executor, every):
    jitney.config.executor, jitney.config.exit_every = executor, every
    same(f, make)


# ---- reductions along axes: layouts, dtypes, zeros of both signs, NaN ----


def reduced_2d(x, n):
    for _ in range(n):
        a, b, c, d = x.sum(axis=0), x.sum(axis=1), x.max(axis=0), x.min(axis=1)
        e, f = np.prod(x, axis=0), np.prod(x, axis=1)
    return a, b, c, d, e, f


def reduced_3d(x, n):
    for _ in range(n):
        a, b, c = x.sum(axis=0), x.sum(axis=1), x.sum(axis=2)
        d, e, f = x.sum(axis=(0, 1)), x.max(axis=(1, 2)), x.max(axis=1)
    return a, b, c, d, e, f


def odd_values(shape, dtype):
    x = np.random.default_rng(11).standard_normal(shape) * 3
    for value, share in ((0.0, 7), (-0.0, 5), (np.nan, 97), (1e8, 11)):
        x.ravel()[::share] = value
    return x.astype(dtype) if dtype != np.int64 else np.nan_to_num(x).astype(dtype)


def shapes_and_layouts(x):
    yield from (x, x.T, np.asfortranarray(x), x[::-1], x[:, ::-1], x[::2], x[:, 1:-1], x[:1], x[:, :1], x[:0], x[:, :0])
    yield np.broadcast_to(x[:1], x.shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_reductions_along_axes(dtype):
    jitney.config.executor = "loop"  # the helpers are in question, not the code around them
    for f, shape in (
        (reduced_2d, (7, 300)),
        (reduced_2d, (300, 7)),
        (reduced_2d, (20, 21)),
        (reduced_3d, (5, 4, 30)),
        (reduced_3d, (30, 9, 10)),
    ):
        compiled, ran = jitney.compile(f), 0
        for x in shapes_and_layouts(odd_values(shape, dtype)):
            before = jitney.inspect(compiled).stats()["flow_returns"]
            with np.errstate(all="ignore"):
                assert outcome(compiled, (x, 2)) == outcome(f, (x, 2)), (shape, x.shape, x.strides)
            ran += jitney.inspect(compiled).stats()["flow_returns"] > before
        assert ran >= 3


def test_arguments_of_reductions_that_do_not_fit():
    def f(x, n):
        for _ in range(n):
            s = x.sum(axis=2)
        return s

    def g(x, n):
        for _ in range(n):
            s = x.sum(axis=(0, 0))
        return s

    def h(x, n):
        for _ in range(n):
            s = x.sum(axis=0, dtype=np.float32)
        return s

    for program in (f, g, h):
        same(program, copies(A, 3), native=False)


# ---- casts: each pair of dtypes, layouts, what does not fit ----


def cast_all(x, n):
    for _ in range(n):
        a, b, c, d, e = (
            x.astype(bool),
            x.astype(np.int32),
            x.astype(np.int64),
            x.astype(np.float32),
            x.astype(np.float64),
        )
    return a, b, c, d, e


def mixed_all(x, y, n):
    for _ in range(n):
        a, b, c, d, e = x + y, x * y, np.maximum(x, y), x > y, y / (x * 0 + 1)
    return a, b, c, d, e


def means(x, n):
    for _ in range(n):
        s = x.mean(), x.sum(), x.any(), np.all(x), np.sum(x, axis=0), x.prod()
    return s


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


def of_dtype(dtype, shape, seed=3):
    x = np.random.default_rng(seed).integers(0, 100, shape)
    if dtype[0] in "if":
        x -= 50
    return (x / 8 if dtype[0] == "f" else x % 2 if dtype == "bool" else x).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts(dtype):
    jitney.config.executor = "loop"
    x = of_dtype(dtype, (4, 6))
    layouts = [
        x[0],
        x,
        x[:, ::2],
        x[::-1],
        x.T,
        x[:1],
        x[0, None],
        x[:, None],
        x[0, :0],
        x[:0],
        np.broadcast_to(x[0], (3, 6)),
    ]
    compiled, ran = jitney.compile(cast_all), 0
    for v in layouts:
        before = jitney.inspect(compiled).stats()["flow_returns"]
        assert outcome(compiled, (v, 2)) == outcome(cast_all, (v, 2)), (v.shape, v.strides)
        ran += jitney.inspect(compiled).stats()["flow_returns"] > before
    assert ran >= 5
    same(means, copies(x, 9), native=False)
    same(means, copies(of_dtype(dtype, (60, 70)), 9), native=False)
    for other in DTYPES:
        same(mixed_all, copies(x, of_dtype(other, (4, 6), 5), 9), native=False)


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, 2.0**31, -(2.0**31), -(2.0**31) - 1, 2.0**63, -(2.0**63), 1e300, -0.0, 0.9, -0.9]
)
def test_floats_that_an_integer_does_not_hold(value):
    jitney.config.executor = "loop"

    def stored(k, x, n):
        for i in range(n):
            k[:] = x * 1
        return k

    for dtype in (np.float64, np.float32):
        with np.errstate(all="ignore"):
            x = np.array([1.5, value, 2], dtype)
        same(cast_all, copies(x, 9), native=False)
        for to in (np.int64, np.int32, np.bool_, np.float32):
            same(stored, copies(np.ones(3, to), x, 9), native=False)


def test_what_casts_refuse():
    def f(k, x, n):
        for i in range(n):
            k += x
        return k

    def g(k, x, n):
        for i in range(n):
            k = (k > 2) - (k > 3)
        return k

    for program in (f, g):
        same(program, copies(np.arange(5), np.ones(5), 9), native=False)


def test_results_that_are_cast_in_place():
    def f(k, x, n):
        for i in range(n):
            k += x
            k[1:] *= x[:-1]
        return k

    ints, floats = np.arange(5), np.array([1.5, 1e30, 3, 2, 1])
    for k, x in (
        (ints.astype(np.int32), ints + 2**30),
        (floats.astype(np.float32), floats / 1e29),
        (floats.astype(np.float32)[::-1], ints),
    ):
        same(f, copies(k, x, 9))
    for k, x in (
        (floats.astype(np.float32), floats * 1e300),
        (ints.astype(np.uint32), ints),
        (ints, ints.astype(np.uint64)),
        (ints[:1] * 1.0, ints),
    ):
        same(f, copies(k, x, 9), native=False)


# ---- choices ----


def chosen(c, x, y, n):
    for _ in range(n):
        a = np.where(c, x, y)
    return a, a.strides


def best(x, n):
    for _ in range(n):
        a = x.argmax(), x.argmin(), np.argmax(x)
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices(dtype):
    jitney.config.executor = "loop"
    x = of_dtype(dtype, (6, 4))
    c = of_dtype("bool", (6, 4), 8)
    for other in DTYPES:
        same(chosen, copies(c, x, of_dtype(other, (6, 4), 5), 9), native=False)
    for y in (1, 0.5, True, 300, -1, np.float64(2), np.int8(3)):
        same(chosen, copies(c, x, y, 9), native=False)
        same(chosen, copies(c, y, x[0], 9), native=False)
    for cond, v in (
        (c.T, x.T),
        (c, x[::-1]),
        (c[0], x),
        (c[:, :1], x),
        (c, np.asfortranarray(x)),
        (c[:0], x[:0]),
        (c[0], x[:, 0]),
    ):
        same(chosen, lambda cond=cond, v=v: (cond, v, v, 9), native=False)
    for v in (x, x.T, x[:, 1], x[::-1, ::2], x[:1], x[0, :0]):
        same(best, copies(v, 9), native=False)


def test_the_best_of_nan_and_zeros():
    jitney.config.executor = "loop"
    for values in (
        [0.0, -0.0, 0.0],
        [-0.0, 0.0],
        [1, np.nan, 3, np.nan],
        [np.nan],
        [np.inf, np.inf],
        [-np.inf, -np.inf, 1],
        [2, 1, 1, 2],
    ):
        for dtype in (np.float64, np.float32):
            same(best, copies(np.array(values, dtype), 9))
            same(best, copies(np.array([values, values[::-1]], dtype), 9))


# ---- arrays as keys ----


def take(x, key, n):
    for _ in range(n):
        a = x[key]
    return a, a.strides


def put_number(x, key, n):
    for _ in range(n):
        x[key] = 3
        x[key] += x[key]
    return x


def put_items(x, key, items, n):
    for _ in range(n):
        x[key] = items
    return x


MASK = np.array([True, False, True, True, False, False])
KEYS = [
    np.array([1, 3, 1, -1]),
    np.array([0, -6, 5], np.int8),
    np.array([2, 2, 2], np.uint32)[::-1],
    np.array([], np.int64),
    MASK,
    MASK[::-1],
    MASK & False,
]
BAD_KEYS = [
    np.array([0, 6]),
    np.array([-7, 0], np.int32),
    MASK[:5],
    np.array([1.0]),
    np.array([1], np.uint64),
    MASK.view(np.int8),
    np.array([[1, 2]]),
]


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "uint8", "int16"])
def test_keys(dtype):
    jitney.config.executor = "loop"
    x = of_dtype(dtype, (6, 4))
    for v in (x[:, 0].copy(), x[:, 1], x, np.asfortranarray(x), x[::-1, ::2]):
        for key in KEYS:
            same(take, copies(v, key, 9))
            same(put_number, copies(v, key, 9))
        for key in BAD_KEYS:
            same(take, copies(v, key, 9), native=False)
            same(put_number, copies(v, key, 9), native=False)
    whole = x > 0
    for v, mask in ((x, whole), (x.T, whole.T), (x[::-1], whole), (x, np.asfortranarray(whole)), (x, whole & False)):
        same(take, lambda v=v, mask=mask: (v.copy("K"), mask, 9))
        same(put_number, lambda v=v, mask=mask: (v.copy("K"), mask, 9))


def test_long_keys():
    jitney.config.executor = "loop"
    x, wide = of_dtype("float64", (700,)), of_dtype("int16", (4, 600))
    for key in (np.random.default_rng(5).integers(-700, 700, 600), x > 0, x > -1, np.arange(256), np.arange(257)[::-1]):
        same(take, copies(x, key, 9))
        same(put_number, copies(x, key, 9))
    for key in (np.array([1, -1, 1]), np.array([True, False, False, True]), wide > 0):
        same(take, copies(wide, key, 9))
        same(put_number, copies(wide[:, ::-1], key, 9))


def test_items_for_keys():
    jitney.config.executor = "loop"
    x, whole = of_dtype("float64", (6, 4)), of_dtype("float64", (6, 4)) > 0
    count = int(whole.sum())
    for v, key, items in (
        (x[:, 0], KEYS[0], np.arange(4.0)),
        (x[:, 0], KEYS[0], np.arange(4)),
        (x[:, 0], KEYS[4], np.arange(3.0)[::-1]),
        (x, KEYS[0], np.arange(4.0)),
        (x, KEYS[0], np.arange(16.0).reshape(4, 4)),
        (x, KEYS[4], np.arange(12.0).reshape(4, 3).T),
        (x, whole, np.arange(float(count))),
        (x, KEYS[0], np.ones((4, 1))),
        (x, KEYS[0], np.ones(1)),
        (x[:, 0], KEYS[0], np.ones(1)),
        (x, whole, np.ones(1)),
    ):
        same(put_items, copies(v, key, items, 9))
    for v, key, items in (
        (x[:, 0], KEYS[0], np.arange(3.0)),
        (x[:, 0], KEYS[4], np.arange(2.0)),
        (x, KEYS[0], np.ones((3, 4))),
        (x, KEYS[4], np.ones((3, 2))),
        (x, whole, np.ones(count + 1)),
        (x, whole, np.ones((1, count))),
        (x[:, 0], np.array([0, 1, 9]), np.arange(3.0)),
    ):
        same(put_items, copies(v, key, items, 9), native=False)


def test_keys_and_items_that_are_in_the_array():
    def f(x, k, n):
        for i in range(n):
            x[k] = x[:4]
            x[:4][k] = x[k]
            x[k % 3] = x[::-1][:4]
        return x

    def g(k, n):
        for i in range(n):
            k[k] = k[::-1]
            k[k > 2] = i % 5
        return k

    same(f, copies(np.arange(6.0), np.array([1, 3, 0, 2]), 9), native=False)
    same(g, copies(np.array([1, 3, 0, 2]), 9), native=False)


# ---- large arrays that the loop makes are handed out, not copied ----


def returned(x, n):
    out, ones, small = np.zeros(len(x)), np.ones((len(x), 2), np.int32), np.zeros(3)
    flat, rows = x.copy(), np.empty((2, len(x)))
    for k in range(n):
        for i in range(len(x)):
            out[i] += x[i] * k
            ones[i, k % 2] += k
            rows[k % 2, i] = flat[i] = x[i] / (k + 1)
    return out, ones, small, flat, rows, out, out[1:], ones.T, rows[1, ::2]


def each_round(x, n):
    kept = None
    for k in range(n):
        out = np.zeros(len(x) + k % 2)
        for i in range(len(x)):
            out[i] += x[i]
        if kept is None or k == n // 2:
            kept = out
    return out, kept


def interrupted(x, n):
    out, count = np.zeros(len(x)), 0
    for k in range(n):
        for i in range(len(x)):
            out[i] += 1 / (x[i] - k)  # a warning: the loop is left with the array, and entered with it
            count += 1
    return out, count


@pytest.mark.parametrize("f", [returned, each_round, interrupted])
@pytest.mark.parametrize("every", [0, 97])
def test_large_new_arrays(f, every):
    jitney.config.exit_every = every
    same(f, lambda: (np.arange(600) + 0.5, 4))
    same(f, lambda: (np.arange(600.0), 3))


def test_a_large_new_array_is_the_callers():
    def f(n):
        out = np.ones(n)
        for i in range(n):
            out[i] += i
        return out

    compiled = jitney.compile(f)
    arrays = [compiled(1000) for _ in range(5)]
    for k in range(5):
        arrays[k] += k
    assert [float(a.sum()) for a in arrays] == [float((f(1000) + k).sum()) for k in range(5)]
    counts = [[sys.getrefcount(a) for a in each] for each in (arrays, [f(1000) for _ in range(5)])]
    assert counts[0] == counts[1]
    arrays[0].resize(2000, refcheck=False)
    assert jitney.inspect(compiled).stats()["flow_returns"] >= 5


# ---- the loop is left ----


def quotients(x, y, n):
    s = 0.0
    for _ in range(n):
        for i in range(len(x)):
            s = s + (x[i] / y[i]).sum()
    return s


def quotients_in_place(x, y, n):
    for _ in range(n):
        for i in range(len(x)):
            x[i] /= y[i]
    return x


def overflows(x, y, n):
    for _ in range(n):
        for i in range(len(x)):
            x[i] *= 1e200
    return x


def sums(x, y, n):
    for _ in range(n):
        for i in range(len(x)):
            x[i, 1:4] += 1
            x[i] += y
    return x


def smallest(x, y, n):
    s = 0.0
    for _ in range(n):
        for i in range(len(x)):
            s += x[i, i:4].min()
    return s


@pytest.mark.parametrize(
    "f, y",
    [
        (quotients, ZERO),
        (quotients_in_place, ZERO),
        (overflows, A),
        (sums, np.ones(4)),
        (sums, np.ones(1)),
        (smallest, A),
    ],
)
def test_warnings_and_errors_are_numpys(f, y):
    stats = same(f, copies(A, y, 3))
    assert stats["flow_checks"] > 0


def test_errstate():
    with np.errstate(all="ignore"):
        same(quotients, copies(A, ZERO, 3))
    with np.errstate(divide="raise"):
        same(quotients_in_place, copies(A, ZERO, 3), native=False)


# ---- norms ----


def distances(p, d):
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d[i, j] = d[j, i] = np.linalg.norm(p[i] - p[j])
    return d


def norms(x, a, n):
    s, kept = 0.0, []
    for i in range(n):
        s += np.linalg.norm(x[:, i]) + np.linalg.norm(x[i]) * 3
        y = np.linalg.norm(a[i:]) + np.linalg.norm(a[::-1]) + np.linalg.norm(a[i :: i + 1])
    return s, y, type(y)


@pytest.mark.parametrize("executor, every", [("llvm", 0), ("loop", 0), ("loop", 1), ("loop", 3)])
def test_norms(executor, every):
    jitney.config.executor, jitney.config.exit_every = executor, every
    special = [1e300, 1e-300, np.nan, -0.0, 5e-324]
    for dtype in (np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_):
        points = (RNG.random((7, 3)) * 100).astype(dtype)
        same(distances, copies(points, np.zeros((7, 7))), native=dtype not in (np.bool_, np.uint16))
        for n in (1, 3, 31, 32, 33, 200):
            x = (RNG.random((max(n, 3), 3)) * 100).astype(dtype)
            same(norms, copies(x, x[:n, 0].copy(), 3))
            same(norms, copies(np.asfortranarray(x), x[:n, 1][::-1], 3))
    same(norms, copies(np.full((3, 3), np.inf), np.array(special), 3))
    same(norms, copies(np.full((3, 3), -np.nan), np.broadcast_to(2.5, 40), 3))
    same(norms, copies(np.full((3, 3), 1e200), np.zeros(0), 3), native=False)
    same(norms, copies(np.ones((3, 3), np.float16), np.ones(5, np.float16), 3), native=False)
    same(norms, copies(np.ones((3, 3), complex), np.ones(5, complex), 3), native=False)
    same(norms, copies(np.ones((3, 3, 2)), np.ones((5, 2)), 3), native=False)
    same(norms, lambda: ([[1.0] * 3] * 3, [1.0, 2.0], 3), native=False)


# ---- slices in steps that the loop computes ----


def sieve(n):
    found = np.ones(n, dtype=bool)
    for i in range(2, int(n**0.5) + 1):
        if found[i]:
            found[i * i :: i] = False
    return found


def in_steps(a, steps):
    s, out = 0.0, []
    for k in steps:
        v = a[::k]
        s += v.sum() + len(v)
        for i in range(-9, 10, 3):
            w, x, y, z = a[i::k], a[:i:k], a[i : i + 5 : k], a[i : i - 5 : k]
            s += 2 * w.sum() + 3 * x.sum() + 5 * y.sum() + 7 * z.sum()
            a[i : i + 2 : k] = 0.5 * i
        a[::k] += 1
        a[1::k] *= a[1::k]
        a[k::k] -= a[::k][: len(a[k::k])]
    return s, v, w, x, y, z, v.strides, len(z)


def by_two_steps(a, n):
    for i in range(1, n):
        for j in range(-3, n):
            if j != 0:
                v = a[::i, ::j]
                a[1::i, 2::j] += v[0, 0]
    return v


@pytest.mark.parametrize("executor, every", [("llvm", 0), ("loop", 0), ("loop", 1), ("loop", 3)])
def test_slices_in_steps_that_the_loop_computes(executor, every):
    jitney.config.executor, jitney.config.exit_every = executor, every
    for n in (1000, 5, 0, 1):
        same(sieve, lambda: (n,), native=n > 100)
    for dtype in (np.float64, np.float32, np.int64, np.int16):
        same(in_steps, copies(np.arange(12).astype(dtype), range(1, 9)))
    same(in_steps, copies(X, [1, 2, 3, -1, -2, -7, 100, -100, 2**31 - 1, 1 - 2**31]))
    same(in_steps, copies(X[::-3], [np.int64(2), np.int64(-3), np.int64(7)]))
    same(in_steps, copies(np.arange(12).astype(np.float16), range(1, 9)), native=False)
    same(in_steps, copies(X[:1], range(-3, 0)), native=False)
    same(in_steps, copies(X[:0], range(1, 4)), native=False)
    same(by_two_steps, copies(A, 6))
    same(by_two_steps, copies(A.T, 6))


@pytest.mark.parametrize("k", [0, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 2**63, 10**30, True, False, 1.0, np.int64(0), np.uint64(2**63 + 1), np.True_, None])
def test_steps_that_do_not_fit(k):
    def constant(a, k, n):
        s = 0.0
        for i in range(n):
            v = a[i::k]
            s += v.sum()
        return s, v, v.strides

    def one_of_many(a, steps, n):
        s = 0.0
        for i in range(n):
            a[i :: steps[i]] = i
            s += a[:: steps[i]].sum()
        return s, a

    for step in (k, -k if isinstance(k, int) else k):
        for make in (copies(X, step, 5), copies(A, step, 5)):
            compiled = jitney.compile(constant)
            outcome(compiled, copies(X, 3, 5)())
            assert outcome(compiled, make()) == outcome(constant, make())
            same(constant, make, native=False)
        steps = [2, 3, step, 4, -1]
        same(one_of_many, copies(X, steps, 5), native=False)
        compiled = jitney.compile(one_of_many)
        outcome(compiled, copies(X, [2, 3, 5, 4, -1], 5)())
        assert outcome(compiled, copies(X, steps, 5)()) == outcome(one_of_many, copies(X, steps, 5)())


def test_read_only_and_shared_arrays_in_steps():
    def f(a, b, n):
        for i in range(1, n):
            a[::i][:3] += b[::-i][:3]
            a[::i] = b[::i]
        return a, b

    def overlapping():
        x = X.copy()
        return x[5:], x[:-5], 6

    def read_only():
        x = X.copy()
        x.flags.writeable = False
        return x, X.copy(), 6

    def of_two_kinds(a, n):
        for i in range(n):
            a[::n] = a[::i]
        return a

    same(f, copies(X, X[::-1], 6))
    same(f, overlapping)
    same(f, read_only, native=False)
    same(of_two_kinds, copies(X, 5), native=False)


def doubled(x, n):
    for _ in range(n):
        for i in range(len(x)):
            x[i] *= 2
    return x


def test_a_read_only_array():
    def make():
        x = A.copy()
        x.flags.writeable = False
        return x, 3

    same(doubled, make, native=False)
    compiled = jitney.compile(doubled)
    compiled(A.copy(), 3)
    assert outcome(compiled, make()) == outcome(doubled, make())


def mixed(y, x, n):
    for _ in range(n):
        for i in range(len(y)):
            y[i] += 2 * x[i]
            x[i, 1:] = y[i, :-1]
    return y


def test_arrays_that_share_memory():
    def make():
        x = A.copy()
        return x[:4], x[2:], 3

    def twice():
        x = A.copy()
        return x, x, 3

    same(mixed, copies(A, B.T, 3))
    same(mixed, make, native=False)
    same(mixed, twice, native=False)


def test_a_view_of_a_read_only_array_is_read_only():
    def f(x, n):
        for i in range(n):
            v = x[i : i + 2]
        return v, v.flags.writeable

    def make():
        x = X.copy()
        x.flags.writeable = False
        return x, 5

    same(f, make)


def twice_in_sum(x, n):
    s = 0.0
    for _ in range(n):
        for i in range(len(x)):
            s += (x[i] * 2).sum()
    return s


def few_in_place(x):
    for i in range(len(x)):
        x[i] *= 2
    return x


def test_large_arrays_are_for_graphs_but_in_place():
    x = np.ones((4, 5000))
    assert same(twice_in_sum, copies(x, 20), native=False)["flow_calls"] == 0
    same(doubled, copies(x, 20))
    same(few_in_place, copies(x))


def test_views_of_nothing_and_of_axes_of_one_element_have_numpys_strides():
    """Every layout fits an array of nothing, so that its strides may be any; NumPy's own are zeros. Of an axis of one element the stride may be any, too."""

    def f(a, n):
        v = a[1:]
        w = np.zeros(len(a))[1:]
        for i in range(n):
            n -= 1
        return v, v.strides, w, w.strides

    a = np.zeros((5, 3))
    column = np.arange(3.0)[:, None]
    row = np.lib.stride_tricks.as_strided(a, (2, 1, 3), (24, 8, 8))
    for x in (
        np.arange(0.0),
        np.arange(1.0),
        np.arange(1.0)[1:],
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        a[5:],
        a[5:].T,
        column,
        row,
    ):
        expected, found = f(x, 3), jitney.compile(f)(x, 3)
        assert [expected[k].strides for k in (0, 2)] == [found[k].strides for k in (0, 2)]
        assert expected[1::2] == found[1::2]


def long_rows(y, x, w, how):
    for i in range(len(y)):
        if how == 0:
            y[i] += w * x[i]
        elif how == 1:
            y[i, :-1] -= y[i, 1:]
        elif how == 2:
            y[i] *= y[i]
        else:
            y[i, ::-1] += x[i]
    return y


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_long_rows_in_place(dtype):
    f = jitney.compile(long_rows)
    make = lambda n: np.arange(3 * n).reshape(3, n).astype(dtype) % 17  # noqa: E731
    w = dtype(3) if dtype is not np.float32 else np.float32(0.5)
    for how in range(4):
        f(make(9), make(9), w, how)
    for n, how in itertools.product((7, 20000), range(4)):
        for value in (
            (None, 1e308, np.inf, np.nan)
            if dtype is np.float64
            else (None, 3e38)
            if dtype is np.float32
            else (None, 2**62)
        ):
            outcomes = []
            for g in (f, long_rows):
                y, x = make(n), make(n)
                if value is not None:
                    y[1, -2:] = x[1, -2:] = value
                    y[1, -1] *= -1
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    g(y, x, w, how)
                outcomes.append((y.tobytes(), [(str(c.message), c.lineno) for c in caught]))
            assert outcomes[0] == outcomes[1], (n, how, value)
    assert jitney.inspect(f).stats()["flow_calls"] > 0


# ---- done before it is reported ----

OVER = """
y[i] = (x[i] * w + y[i]) * x[i] - 1.0
y[i] = y[i] / (x[i] - 1.0)
y[i] = 2.0 / -(x[i] - 4.0)
t = x[i] * w; y[i] = (t - x[i]) * (t + x[i]) + t
t = x[i] * w; u = t[1:]; y[i] = t + (t + 1) * 1e308
y[i] = (x[i] + 1) * (x[i] + 1) ** 2
y[i] = np.exp(x[i] * 700) * 3
y[i] = (x[i] * 2)[::-1] * 1e308 + y[0, :1] * (x[i, :1] + 1)
y[i] = (x[i, :1] + 1) * (y[i] * 1e308)
y[i] /= x[i] - 1.0
y[i] **= 2
v = y[i] * w; u = v; v *= v; y[i] += u
y[i, 1:] -= y[i, :-1]
y[i, ::-2] += x[i, ::-2]
y[:, i] *= x[0, 0]
y[i : i + 2] -= x[i : i + 2]
y[i] *= y[i]
divide_row(y[i], x[i] - 1.0)[0] += w
""".split("\n")[1:-1]
OVER_INTEGERS = """
y[i] = (x[i] + 1) // (x[i] - w)
y[i] = ~(x[i] + 1) % (x[i] - 3)
y[i] //= x[i] - w
y[i] = (x[i] & 3) * 2 << (x[i] & 1)
""".split("\n")[1:-1]


def divide_row(y, x):
    y /= x
    return y


def of_rows(line):
    text = f"def f(y, x, w):\n  for i in range(len(y)):\n    {line}\n    y[0, 0] += 1\n  return y[i], {'t, u' if 'u =' in line and 't =' in line else 0}\n"
    names = {"np": np, "divide_row": divide_row}
    exec(compile(text, __file__, "exec"), names)
    return names["f"]


def reports(f, make, action):
    """What is reported, where, and how the arrays are then."""
    args = make()
    seen = []

    def show(message, category, filename, lineno, file=None, line=None):
        seen.append((str(message), lineno, filename == __file__, args[0].tobytes()))

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("always")
        if action == "error":
            warnings.filterwarnings("error", "(overflow|invalid)")
        try:
            result = picture(f(*args))
        except RuntimeWarning as e:
            result = str(e), [frame.lineno for frame in traceback.extract_tb(e.__traceback__)][1:]
    return result, picture(args), seen


@pytest.mark.parametrize("line", OVER + OVER_INTEGERS)
def test_operations_are_done_before_they_are_reported(line):
    f = of_rows(line)
    integer = line in OVER_INTEGERS
    values = (None, 0.0, 1.0, 1e200, -1e308, np.inf) if not integer else (None, 3)
    for executor, every in (("llvm", 0), ("loop", 7)):
        jitney.config.executor, jitney.config.exit_every = executor, every
        compiled = jitney.compile(f)
        for n, action, value in itertools.product((6, 1000), ("always", "error"), values):

            def make(n=n, value=value):
                y, x = (np.arange(6 * n).reshape(6, n) % k + 4.0 for k in (17, 23))
                if value is not None:
                    x[4:, n // 2 :: 3] = value
                    y[5, n // 2 :] = -value
                return (y.astype(int), x.astype(int), 3) if integer else (y, x, 0.5)

            assert reports(compiled, make, action) == reports(f, make, action), (n, value, action, every)
        stats = jitney.inspect(compiled).stats()
        left = stats["flow_checks"] + (stats["flow_polls"] if every else 0)  # a round's seventh question may be its poll
        assert stats["flow_calls"] > 0 and (integer or left > 0)
