"""Arrays for the differential suite: dtypes x layouts x sizes, calm data that raises no flag and wild data with every special value.

JITNEY_NUMPY_FULL=1 crosses everything with everything (a quarter of a million calls per executor); by default every value of every
axis is met, but not every combination."""

import itertools
import os

import numpy as np

FULL = bool(os.environ.get("JITNEY_NUMPY_FULL"))
DTYPES = ("bool", "int32", "int64", "float32", "float64")
FLOATS = ("float32", "float64")
INTS = ("int32", "int64")
NUMBERS = INTS + FLOATS
MIXED = (("float64", "int64"), ("float32", "float64"), ("int32", "float32"), ("int32", "int64"), ("bool", "float64"), ("bool", "int32"))

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1e-310, -1e-45, 1e300, -3e38, np.inf, -np.inf, np.nan, 123456.75, 7.0)
SPECIAL_INTS = (0, 1, -1, 2, -2, 7, -7, 2**31 - 1, -(2**31), 100, 3, 5)


def values(dtype, n, seed, wild):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if dtype in INTS:
        calm = rng.integers(1, 50, n)
        return np.where(rng.random(n) < 0.5, rng.choice(SPECIAL_INTS, n), calm).astype(dtype) if wild else calm.astype(dtype)
    calm = rng.random(n) * 0.9 + 0.05
    with np.errstate(all="ignore"):
        return np.where(rng.random(n) < 0.5, rng.choice(SPECIAL, n), calm * 10 - 5).astype(dtype) if wild else calm.astype(dtype)


def lay_out(flat, shape, layout):
    """The values as an array of that shape whose memory lies as `layout` says."""
    a = flat[: int(np.prod(shape))].reshape(shape)
    if layout == "C" or a.ndim == 0:
        return a.copy()
    if layout == "F":
        return np.asfortranarray(a)
    if layout == "step":
        big = np.zeros(tuple(2 * n for n in shape), a.dtype)
        view = big[tuple(slice(None, None, 2) for _ in shape)]
        view[...] = a
        return view
    if layout == "reverse":
        return a[tuple(slice(None, None, -1) for _ in shape)].copy()[tuple(slice(None, None, -1) for _ in shape)]
    if layout == "crop":
        big = np.zeros((*shape[:-1], shape[-1] + 3), a.dtype)
        big[..., 1:-2] = a
        return big[..., 1:-2]
    if layout == "roll":
        axes = (*range(1, a.ndim), 0)
        return np.ascontiguousarray(a.transpose(axes)).transpose(np.argsort(axes))
    if layout == "stretch":
        return np.broadcast_to(a[:1], shape) if shape[0] else a.copy()
    raise ValueError(layout)


LAYOUTS = ("C", "F", "step", "reverse", "crop", "roll", "stretch")
SHAPES = {
    0: [()],
    1: [(7,), (1,), (0,), (300,)],
    2: [(4, 5), (1, 5), (4, 1), (1, 1), (0, 3), (3, 0), (19, 33)] if FULL else [(4, 5), (1, 5), (0, 3), (19, 33)],
    3: [(2, 3, 4), (3, 1, 2)],
}


def shapes(ndim):
    """(shape, wild): calm data in every shape, wild data in the last one."""
    return [(shape, wild) for wild in (False, True) for shape in (SHAPES[ndim] if FULL or not wild else SHAPES[ndim][-1:])]


def array(dtype, shape, layout="C", seed=0, wild=False):
    return lay_out(values(dtype, int(np.prod(shape)), seed, wild), shape, layout)


def layouts(ndim):
    if ndim == 0:
        return ("C",)
    return LAYOUTS if ndim > 1 else ("C", "step", "reverse", "stretch")


def singles(dtypes, ndims):
    """Groups of argument tuples: within a group only sizes and data differ."""
    for dtype, ndim in itertools.product(dtypes, ndims):
        for layout in layouts(ndim):
            yield [(array(dtype, shape, layout, seed=ndim, wild=wild),) for shape, wild in shapes(ndim)]


def few(dtypes, ndims=(0, 1, 2)):
    """As `singles`, for the many rows that share one code path: a layout per dtype and number of axes, in turn."""
    if FULL:
        yield from singles(dtypes, ndims)
        return
    turn = itertools.count()
    for dtype, ndim in itertools.product(dtypes, ndims):
        for layout in {"C", layouts(ndim)[next(turn) % len(layouts(ndim))]}:
            yield [(array(dtype, shape, layout, seed=ndim, wild=wild),) for shape, wild in shapes(ndim)]


PAIRED_LAYOUTS = (("C", "C"), ("F", "F"), ("C", "F"), ("step", "C"), ("reverse", "roll"), ("roll", "roll"), ("crop", "stretch"))


def pairs(dtypes, ndims, mixed=True):
    kinds = [(t, t) for t in dtypes] + [p for p in MIXED if mixed and set(p) <= set(dtypes)]
    turn = itertools.count()
    for (x, y), ndim in itertools.product(kinds, ndims):
        choices = PAIRED_LAYOUTS if ndim > 1 else (("C", "C"), ("step", "C"), ("C", "reverse"))[: 3 if ndim else 1]
        for p, q in choices if FULL else {choices[0], choices[next(turn) % len(choices)]}:
            yield [(array(x, shape, p, 1, wild), array(y, shape, q, 2, wild)) for shape, wild in shapes(ndim)]


def broadcasts(dtypes):
    shapes = [((4, 5), (5,)), ((4, 5), (4, 1)), ((4, 1), (1, 5)), ((3,), (2, 3)), ((2, 3, 4), (3, 1)), ((1,), (6,)), ((), (3,)), ((0, 3), (1,))]
    for dtype in dtypes:
        for a, b in shapes:
            for p, q in (("C", "C"), ("F", "C"), ("step", "F")):
                yield [(array(dtype, a, p if len(a) > 1 else "C", 1, wild), array(dtype, b, q if len(b) > 1 else "C", 2, wild)) for wild in (0, 1)]


def with_numbers(dtypes, ndims, numbers):
    for dtype, ndim in itertools.product(dtypes, ndims):
        for number in numbers:
            for layout in ("C", "F", "reverse")[: 3 if ndim > 1 and FULL else 1]:
                yield [(array(dtype, shape, layout, 3, wild), number) for shape, wild in shapes(ndim)]


def scalars(dtypes, n=1):
    for dtype in dtypes:
        items = [values(dtype, 20, 5, wild) for wild in (False, True)]
        yield [tuple(item[i + k] for k in range(n)) for item in items for i in range(0, 20 - n, 3)]


def matrices(dtypes):
    sizes = [((4, 5), (5, 3)), ((1, 5), (5, 1)), ((4, 5), (5,)), ((5,), (5, 3)), ((6,), (6,)), ((20, 31), (31, 17)), ((0, 3), (3, 2)), ((2, 0), (0, 2))]
    for dtype in dtypes:
        for p, q in (("C", "C"), ("F", "C"), ("step", "F"), ("reverse", "C")):
            for a, b in sizes:
                yield [(array(dtype, a, p if len(a) > 1 or p != "F" else "C", 1), array(dtype, b, q if len(b) > 1 else "C", 2))]
