"""The rows of the differential suite: one per operation. CASE(name, function, inputs): `inputs` yields groups of argument tuples."""

import numpy as np
from inputs import (
    DTYPES,
    FLOATS,
    INTS,
    NUMBERS,
    array,
    broadcasts,
    few,
    matrices,
    pairs,
    scalars,
    singles,
    with_numbers,
)  # fmt: skip

CASES = {}
BREAKS = {}  # name: reason, for what is left to CPython on purpose


def case(name, function, inputs, breaks=None):
    assert name not in CASES, name
    CASES[name] = (function, inputs)
    if breaks:
        BREAKS[name] = breaks


ANY, WIDE = (0, 1, 2, 3), (1, 2)

# ---- operators

BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "pow": lambda a, b: a**b,
}
SCALARS_BREAK = dict.fromkeys(("floordiv", "mod", "pow"), "SCALAR_PATH")
NOTHING = {name: "NOTHING_TO_COMPILE" for name in ("shape", "asarray")}
for name, function in BINARY.items():
    integral = name in ("and", "or", "xor", "lshift", "rshift")
    case(name, function, lambda integral=integral: pairs(("bool", *INTS) if integral else DTYPES, ANY))
    case(name + "_broadcast", function, lambda integral=integral: broadcasts(INTS if integral else FLOATS))
    numbers = (3, 1) if integral else (3, 2, -1, 2.0, 0.5, True, np.float32(1.5), np.int64(2))
    case(name + "_number", function, lambda integral=integral, numbers=numbers: with_numbers(INTS if integral else DTYPES, (0, 1, 2), numbers))
    case(name + "_scalars", function, lambda integral=integral: scalars(INTS if integral else DTYPES, 2), breaks=SCALARS_BREAK.get(name))

case("number_sub", lambda a, n: n - a, lambda: with_numbers(DTYPES, WIDE, (3, 1.5, np.float64(2))))
case("number_pow", lambda a, n: n**a, lambda: with_numbers(FLOATS, WIDE, (2, 1.5)))
case("neg", lambda a: -a, lambda: singles(DTYPES, ANY))
case("pos", lambda a: +a, lambda: singles(DTYPES, ANY))
case("invert", lambda a: ~a, lambda: singles(("bool", *INTS), ANY))
case("abs", lambda a: abs(a), lambda: singles(DTYPES, ANY))
case("scalar_unary", lambda a: (-a, +a, abs(a)), lambda: scalars(NUMBERS))
case("square_2", lambda a: a**2, lambda: singles(NUMBERS, ANY))
case("square_2f", lambda a: a**2.0, lambda: singles(NUMBERS, WIDE))
case("power_half", lambda a: a**0.5, lambda: singles(NUMBERS, WIDE))
case("power_minus_1", lambda a: a**-1, lambda: singles(FLOATS, WIDE))
case("power_3", lambda a: a**3, lambda: singles(NUMBERS, WIDE))
case("power_1_0", lambda a: (a**1, a**0, a**1.0), lambda: singles(NUMBERS, WIDE))
case("chain", lambda a, b: (a + b) * 2.0 - a / (b + 3), lambda: pairs(NUMBERS, ANY))
case("mixed_order_chain", lambda a, b: (a + a) + b, lambda: pairs(FLOATS, (2, 3)))


def large_temporaries(a, b):
    t = a + a
    return (a * 2) + b, b - (a + a), t + b, a + (b * 2), (a.T * 2).T + b


case("elision", large_temporaries, lambda: [[(array("float64", (n, n), "F"), array("float64", (n, n), "C", 1))] for n in (100, 181, 182, 300)])

# ---- in place


def iadd(a, b):
    a += b
    return a


def imul_number(a, n):
    a *= n
    return a


def idiv(a, b):
    a /= b
    return a


def ipow(a):
    a **= 2
    return a


def iadd_slice(a):
    a[1:] += a[:-1]
    return a


def iadd_reversed(a):
    a += a[::-1]
    return a


def iadd_transposed(a):
    a += a.T
    return a


def iadd_self(a):
    b = a
    a += 1
    return b * 2, a


def iadd_fresh(a):
    t = a * 2
    u = t
    t += a
    t[...] = t - 1
    return t, u


case("iadd", iadd, lambda: pairs(DTYPES, ANY))
case("iadd_broadcast", iadd, lambda: broadcasts(FLOATS))
case("imul_number", imul_number, lambda: with_numbers(NUMBERS, (0, 1, 2), (2, 0.5)))
case("idiv", idiv, lambda: pairs(FLOATS, WIDE))
case("ipow", ipow, lambda: singles(NUMBERS, WIDE))
case("iadd_slice", iadd_slice, lambda: singles(NUMBERS, WIDE))
case("iadd_reversed", iadd_reversed, lambda: singles(NUMBERS, (1,)))
case("iadd_transposed", iadd_transposed, lambda: [[(array("float64", (n, n), order),)] for n in (1, 5) for order in ("C", "F", "step")])
case("iadd_self", iadd_self, lambda: singles(NUMBERS, WIDE))
case("iadd_fresh", iadd_fresh, lambda: singles(NUMBERS, WIDE))
case("iadd_same_object", iadd, lambda: [[(x, x)] for x in (array("float64", (6,)),)])
case("iadd_overlapping", iadd, lambda: [[(x[1:], x[:-1])] for x in (array("float64", (6,)),)], breaks="OVERLAP")

# ---- ufuncs

UNARY = "negative positive absolute square sqrt sign floor ceil trunc rint fabs isnan isinf isfinite signbit reciprocal logical_not invert exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt deg2rad rad2deg radians degrees"
for name in UNARY.split():
    exec(f"def np_{name}(a):\n    return np.{name}(a)\n")
    case("np_" + name, globals()["np_" + name], lambda: few(DTYPES))
PAIRS = "add subtract multiply divide minimum maximum copysign less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift power arctan2 hypot logaddexp logaddexp2 floor_divide remainder fmod nextafter heaviside"
for name in PAIRS.split():
    exec(f"def np_{name}(a, b):\n    return np.{name}(a, b)\n")
    case("np_" + name, globals()["np_" + name], lambda: pairs(DTYPES, WIDE))
    exec(f"def np_{name}_number(a, n):\n    return np.{name}(a, n), np.{name}(n, a)\n")
    case(f"np_{name}_number", globals()[f"np_{name}_number"], lambda: with_numbers(NUMBERS, WIDE, (3, 0.5)))

case("ufunc_scalar", lambda a: (np.exp(a), np.sqrt(a), np.floor(a), np.minimum(a, 1)), lambda: scalars(NUMBERS))
case("ufunc_python_number", lambda a, x: a + np.exp(x) * np.sqrt(x), lambda: with_numbers(FLOATS, (1,), (2.5,)))


def out_add(a, b):
    r = np.add(a, b, out=b)
    return r is b, b


def out_fresh(a):
    t = np.empty_like(a)
    np.multiply(a, 2, out=t)
    np.sqrt(t, t)
    return t


case("out_add", out_add, lambda: pairs(DTYPES, ANY))
case("out_fresh", out_fresh, lambda: singles(FLOATS, WIDE))
case("where", lambda a, b: np.where(a > b, a, b), lambda: pairs(DTYPES, (1, 2, 3)))
case("where_numbers", lambda a, n: np.where(a, n, 0), lambda: with_numbers(DTYPES, WIDE, (3, 1.5)))
case("where_broadcast", lambda a, b: np.where(a > 0, a, b), lambda: broadcasts(FLOATS))
case("clip", lambda a: np.clip(a, 1, 3), lambda: singles(DTYPES, ANY))
case("clip_method", lambda a: (a.clip(0.25, 0.75), a.clip(max=0.5), a.clip(0.5)), lambda: singles(FLOATS, WIDE))
case("clip_arrays", lambda a, b: np.clip(a, b, b + 1), lambda: pairs(NUMBERS, WIDE))
case("round", lambda a: (np.round(a), a.round()), lambda: singles(FLOATS, WIDE))

# ---- reductions

for name in "sum prod min max any all mean var std".split():
    for suffix, axis in (("", ""), ("_0", "axis=0"), ("_last", "axis=-1"), ("_keep", "axis=-1, keepdims=True"), ("_all_keep", "keepdims=True")):
        call = f"np.{name}(a, {axis})" if axis else f"a.{name}()"
        exec(f"def red_{name}{suffix}(a):\n    return {call}\n")
        case(f"{name}{suffix}", globals()[f"red_{name}{suffix}"], lambda: singles(DTYPES, (1, 2, 3)))
case("sum_axes", lambda a: a.sum(axis=(0, 2)), lambda: singles(DTYPES, (3,)))
case("sum_method_axis", lambda a: a.sum(1), lambda: singles(DTYPES, (2,)))
case("reduce", lambda a: (np.add.reduce(a), np.multiply.reduce(a, axis=-1), np.maximum.reduce(a[:1])), lambda: singles(DTYPES, WIDE))
case("sum_of_expression", lambda a, b: ((a - b) ** 2).sum(), lambda: pairs(NUMBERS, ANY))
case("mean_of_expression", lambda a, b: (a * b).mean(axis=0), lambda: pairs(NUMBERS, (2, 3)))
case("softmax", lambda a: np.exp(a - a.max(axis=1, keepdims=True)) / np.exp(a - a.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True), lambda: singles(FLOATS, (2,)))
case("sum_long", lambda a: a.sum(), lambda: [[(array(t, (n,), p),) for n in (8191, 8193, 50000)] for t in DTYPES for p in ("C", "step", "reverse")])
case("sum_long_rows", lambda a: (a.sum(0), a.sum(1), a[:, 1:-2].sum(), a.T.sum(1)), lambda: [[(array(t, s, p),)] for t in FLOATS for s in ((30, 9000), (9000, 3)) for p in ("C", "F", "step")])
case("mean_long", lambda a: (a.mean(), a.mean(axis=0)), lambda: [[(array(t, (20000,)),)] for t in DTYPES])
case("argminmax", lambda a: (np.argmin(a), np.argmax(a), a.argmax()), lambda: singles(DTYPES, ANY))
case("argmax_axis", lambda a: (np.argmax(a, axis=-1), a.argmin(0)), lambda: singles(DTYPES, (2, 3)))
case("cumsum", lambda a: np.cumsum(a), lambda: singles(DTYPES, (1,)))
case("cumsum_axis", lambda a: (a.cumsum(axis=0), np.cumprod(a, axis=-1)), lambda: singles(DTYPES, WIDE))
case("sort", lambda a: (np.sort(a), np.argsort(a), a.argsort(0)), lambda: singles(DTYPES, WIDE))
case("diff", lambda a: (np.diff(a), np.diff(a, axis=0)), lambda: singles(DTYPES, WIDE))
case("searchsorted", lambda a, b: np.searchsorted(np.sort(a), b), lambda: pairs(DTYPES, (1,), mixed=False))
case("arange", lambda a: (np.arange(len(a)), np.arange(2, 9, 3), np.arange(a.shape[0]) * a), lambda: singles(NUMBERS, (1,)))
case("gather", lambda a, i: (a[i], a[i] * 2), lambda: [[(array(t, s, p), np.array([[2, 0], [-1, 1]], k)) for s in ((5,), (3, 4))] for t in DTYPES for p in ("C", "step") for k in INTS])
case("gather_far", lambda a: a[np.arange(7)], lambda: few(FLOATS, (1,)))
case("ddof", lambda a: (a.var(ddof=1), a.std(axis=0, ddof=1)), lambda: singles(FLOATS, WIDE))

# ---- subscripts

READS = {
    "int": "a[0]", "negative": "a[-1]", "slice": "a[1:]", "stop": "a[:-1]", "step": "a[::2]", "reverse": "a[::-1]", "reverse_part": "a[3:0:-1]",
    "far": "a[2:100]", "empty": "a[3:1]", "none": "a[None]", "ellipsis": "a[...]", "none_last": "a[..., None]", "odd": "a[-3:-1]", "negative_step": "a[-1:0:-2]",
}  # fmt: skip
for name, text in READS.items():
    # `a == a`: a function that only makes views is left to CPython
    exec(f"def get_{name}(a):\n    return {text}, a == a\n\n\ndef use_{name}(a):\n    return {text} * 2 + 1\n")
    case("get_" + name, globals()["get_" + name], lambda: few(DTYPES, (1, 2, 3)))
    case("use_" + name, globals()["use_" + name], lambda: few(NUMBERS, WIDE))
case("get_2d", lambda a: (a[1, 2], a[:, 0], a[0, :], a[1:, 1:], a[:, ::-1], a[None, :, None, 1:], a[..., 1], a[2, ...]), lambda: [[(array(t, s, p),)] for t in DTYPES for s in ((4, 5), (3, 3)) for p in ("C", "F", "step", "reverse", "crop")])
case("get_0d", lambda a: (a[()], a[...], a[None]), lambda: singles(DTYPES, (0,)))
case("laplace", lambda a: a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1], lambda: [[(array(t, s, p),) for s in ((5, 6), (20, 30), (3, 3))] for t in NUMBERS for p in ("C", "F", "reverse")])
case("slice_by_size", lambda a: (a[: a.shape[0] // 2], a[a.size // 3 :] * 1), lambda: singles(DTYPES, (1,)))


def set_all(a):
    a[...] = 3
    return a


def set_slice(a, b):
    a[1:] = b[1:]
    a[0] = b[-1]
    return a


def set_column(a):
    a[:, 0] = a[:, -1] * 2
    a[1] = 7
    a[-1, -1] = 0.5
    return a


def set_overlap(a):
    a[1:] = a[:-1]
    return a


def set_reverse(a):
    a[...] = a[::-1]
    return a


def set_number(a, n):
    a[1:] = n
    a[0] = n
    return a


def set_read_write(a):
    x = a[0]
    v = a[1:]
    y = v + 1
    a[1] = 5
    z = v + 1
    return x, y, z, v


def set_fresh(a):
    r = np.zeros(a.shape)
    r[1:] = a[:-1]
    r[:1] += 1
    return r


def set_reshaped(a):
    r = np.zeros((4, 3))
    flat = r.reshape(-1)
    flat[2:5] = a[:3]
    r[3] = a[:3]
    return r, flat


case("set_all", set_all, lambda: singles(DTYPES, ANY))
case("set_slice", set_slice, lambda: pairs(DTYPES, (1, 2)))
case("set_column", set_column, lambda: [[(array(t, (4, 5), p),)] for t in DTYPES for p in ("C", "F", "step", "reverse", "crop")])
case("set_overlap", set_overlap, lambda: singles(DTYPES, WIDE))
case("set_reverse", set_reverse, lambda: singles(DTYPES, WIDE))
case("set_number", set_number, lambda: with_numbers(DTYPES, (1,), (3, 1.75, True, np.float64(2.5), np.float32(-1.5), np.int64(4), float("nan"), 1e300, 2**40, -1)))
case("set_read_write", set_read_write, lambda: [[(array(t, (4,)),)] for t in DTYPES])
case("set_fresh", set_fresh, lambda: singles(NUMBERS, WIDE))
case("set_reshaped", set_reshaped, lambda: [[(array(t, (4,)),)] for t in DTYPES], breaks="NUMPY_CALL")
case("set_read_only", set_all, lambda: [[(np.broadcast_to(np.ones(3), (2, 3)),)]], breaks="READ_ONLY")

# ---- shapes

SHAPES = {
    "T": "(a.T, a == a)", "transpose": "(np.transpose(a), a == a)", "ravel": "(a.ravel(), a == a)", "flatten": "a.flatten()", "reshape": "(a.reshape(-1), a == a)", "squeeze": "(a.squeeze(), a == a)", "expand": "(np.expand_dims(a, 0), a == a)",
    "copy": "a.copy()", "np_copy": "np.copy(a)", "zeros_like": "np.zeros_like(a)", "ones_like": "np.ones_like(a)", "full_like": "np.full_like(a, 1)", "astype_f8": "a.astype(np.float64)",
    "astype_i4": "a.astype('int32')", "astype_bool": "a.astype(bool)", "astype_f4": "a.astype(np.float32)", "shape": "(a.shape, a.ndim, a.size, a.dtype, a.nbytes, a.itemsize, len(a) if a.ndim else 0)",
    "asarray": "np.asarray(a)", "array": "np.array(a)", "contiguous": "np.ascontiguousarray(a) * np.ascontiguousarray(a)", "flip": "(np.flip(a), a == a)", "T_plus": "a.T + 1", "T_mul": "a.T * a.T", "T_T": "(a.T * 2).T",
    "ravel_sum": "np.ravel(a) * 2",
}  # fmt: skip
for name, text in SHAPES.items():
    exec(f"def shape_{name}(a):\n    return {text}\n")
    case("shape_" + name, globals()["shape_" + name], lambda: few(DTYPES, ANY), breaks=NOTHING.get(name))
case("reshape_2d", lambda a: (a.reshape(5, -1), np.reshape(a, (2, 10)), a.reshape((4, 5)).T, a == a), lambda: [[(array(t, (20,), p),)] for t in DTYPES for p in ("C", "step")])
case("swapaxes", lambda a: (a.swapaxes(0, 2), np.moveaxis(a, 0, -1) + 1, a.transpose(1, 0, 2) * 2, a.transpose((2, 0, 1))), lambda: singles(NUMBERS, (3,)))
case("broadcast_to", lambda a: np.broadcast_to(a, (3, *a.shape)) + 1, lambda: singles(NUMBERS, WIDE))
case("return_broadcast_to", lambda a: np.broadcast_to(a, (3, *a.shape)), lambda: few(NUMBERS, WIDE), breaks="RESULT")
case("concatenate", lambda a, b: (np.concatenate((a, b)), np.stack([a, b]), np.stack((a, b), axis=-1), np.concatenate([a, b], axis=-1)), lambda: pairs(DTYPES, WIDE, mixed=False))
case("create", lambda a: (np.zeros(3), np.ones((2, 3), dtype=np.float32), np.full((2,), 7), np.full(a.shape, 1.5), np.zeros(a.shape, a.dtype), np.full(2, True)), lambda: singles(("float64",), (1, 2)))
case("scalar_types", lambda a: (np.float64(a), np.float32(a), np.bool_(a)), lambda: scalars(DTYPES))
case("item", lambda a: (a[0].item(), a[1:2].item(), float(a[0])), lambda: [[(array(t, (4,)),)] for t in DTYPES])

# ---- products

case("matmul", lambda a, b: a @ b, lambda: matrices(NUMBERS))
case("dot", lambda a, b: np.dot(a, b), lambda: matrices(NUMBERS))
case("dot_method", lambda a, b: a.dot(b) * 2, lambda: matrices(FLOATS))
case("matmul_transposed", lambda a: (a @ a.T, a.T @ a), lambda: singles(FLOATS, (2,)))
case("outer", lambda a, b: np.outer(a, b), lambda: pairs(NUMBERS, (1,), mixed=False))
case("linalg.norm", lambda a: (np.linalg.norm(a), np.linalg.norm(a * 2)), lambda: singles(FLOATS, (1, 2, 3)))
case("vdot", lambda a, b: (np.vdot(a, b), np.inner(a, b)), lambda: pairs(NUMBERS, (1,), mixed=False))
case("matmul_mixed", lambda a, b: a @ b, lambda: [[(array(x, (4, 5), p), array(y, (5, 3)))] for x, y in (("float32", "float64"), ("int64", "float64")) for p in ("C", "F")])
case("matmul_stack", lambda a: a @ a.swapaxes(1, 2), lambda: singles(FLOATS, (3,)))
case("layer", lambda a, b: np.tanh(a @ b + 1.0), lambda: [[(array(t, (6, 7)), array(t, (7, 3)))] for t in FLOATS])
