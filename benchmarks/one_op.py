"""Two hundred functions of one operation each, where there is nothing to fuse: jitney must not be slower than NumPy.

A row that comes out below the target is measured once more, longer, and the second figure counts."""

import numpy as np

from common import Row, normal, positive, ratio

SIZES = (1, 100, 10_000, 1_000_000)
TARGET = 0.95


def expressions():
    """(dtype, expression over a and b); a and b are positive, below 1.5 for floats and from 1 to 63 for ints."""
    arithmetic = ("+", "-", "*", "/", "//", "%", "**")
    for op in arithmetic:
        yield from (("f8", f"a {op} b"), ("f8", f"a {op} 2.5"), ("f8", f"2.5 {op} a"))
        yield from (("f4", f"a {op} b"), ("f4", f"a {op} 2.5"))
    for op in arithmetic[:-1]:
        yield from ((kind, f"a {op} {other}") for kind in ("i8", "i4") for other in ("b", "3"))
    for op in ("<", "<=", ">", ">=", "==", "!="):
        yield from (("f8", f"a {op} b"), ("f8", f"a {op} 1.0"), ("f4", f"a {op} b"), ("i8", f"a {op} b"))
    for op in ("&", "|", "^", "<<", ">>"):
        yield from (("i8", f"a {op} b"), ("i8", f"a {op} 3"), ("i4", f"a {op} b"))
    yield from (("?", f"a {op} b") for op in "&|^")
    functions = "sqrt exp log sin cos tan arctan sinh cosh tanh exp2 expm1 log2 log10 log1p floor ceil trunc rint sign square"
    for name in functions.split() + "abs cbrt reciprocal isnan isinf isfinite signbit".split():
        yield from (("f8", f"np.{name}(a)"), ("f4", f"np.{name}(a)"))
    yield from (("i8", text) for text in ("-a", "abs(a)", "~a", "np.square(a)", "np.sign(a)"))
    yield from (("?", text) for text in ("~a", "np.logical_not(a)"))
    for name in "maximum minimum fmax fmin hypot arctan2 copysign logaddexp fmod".split():
        yield "f8", f"np.{name}(a, b)"
    for name in "maximum minimum arctan2 copysign".split():
        yield "f4", f"np.{name}(a, b)"
    yield from (("f8", f"a.{name}()") for name in "sum prod mean min max any all copy".split())
    yield from (("f4", f"a.{name}()") for name in "sum mean max".split())
    yield from (("i8", f"a.{name}()") for name in "sum min max".split())
    yield from (("f8", t) for t in ("np.where(a > 1.0, a, b)", "np.clip(a, 0.75, 1.25)", "a @ b", "a.astype(np.float32)"))
    yield from (("f8", t) for t in ("a[1:]", "a[::-1]", "a[::2]", "a.T", "a[None]"))


def function(text):
    space = {"np": np}
    exec(f"def one(a, b):\n    return {text}\n", space)
    return space["one"]


def operands(kind, n):
    if kind == "?":
        return [normal(n, seed=i) > 0 for i in (1, 2)]
    if kind[0] == "i":
        return [np.random.default_rng(i).integers(1, 64, n).astype(kind) for i in (1, 2)]
    return [positive(n, dtype=kind, seed=i) for i in (1, 2)]


def rows(seconds):
    listed = list(expressions())
    for n in SIZES:
        for kind, text in listed:
            name, args = f"{text}, {kind}, n = {n}", operands(kind, n)
            row = ratio(name, function(text), args, TARGET, seconds * 0.08)
            if not row.reached:
                row = ratio(name, function(text), args, TARGET, seconds)
            yield row


def summary(found):
    """One line for 800 rows, and the worst of them."""
    found = sorted(found, key=lambda row: row.spread.median)
    low = [row for row in found if not row.reached]
    yield Row(f"the slowest of {len(found)} one-operation rows", found[0].spread, "x", TARGET, found[0].difference)
    yield from low[:20]


if __name__ == "__main__":
    print(len(list(expressions())), "functions")
