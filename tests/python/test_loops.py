"""The programs of benchmarks/loops, eager against compiled: with the arguments that they were made for, and with hostile ones.

A hostile call is the usual one with a single argument replaced: NaN, infinities, -0.0, other kinds of number, ints that fit no machine word, empty and short arrays and lists, a foreign
item in the middle, read-only and strided arrays, other dtypes. Result, types, bits, arguments afterwards, warnings, exceptions and traceback lines are those of eager."""

import os
import random
import sys

import numpy as np
import pytest
from loop_compare import Program

import jitney

full = pytest.mark.skipif("JITNEY_LOOPS_FULL" not in os.environ, reason="JITNEY_LOOPS_FULL runs every variant: many minutes")

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


class Int(int):
    pass


class Float(float):
    pass


@pytest.fixture(scope="module")
def folder(pytestconfig):
    return pytestconfig.rootpath / "benchmarks" / "loops"


NAMES = [
    "bilinear", "binary_search", "bubble_sort", "cholesky", "collatz", "crc16_array", "crc16_bytes", "edit_distance", "ema", "factorial_big", "fannkuch", "fib_big", "fib_recursive",
    "floyd_warshall", "fnv_array", "fnv_bytes", "garch", "gauss_seidel", "gcd", "heat", "histogram", "ising", "julia", "kalman", "knn", "lcs", "life", "lu", "mandelbrot_complex",
    "mandelbrot_real", "matmul_arrays", "matmul_lists", "modpow", "monte_carlo", "moving_average", "nbody_lists", "nbody_scalars", "needleman_wunsch", "newton", "nqueens", "nussinov",
    "pairwise", "prefix_sums", "prime_count", "quick_sort", "ray_march", "runge_kutta", "running_stats", "sieve_array", "sieve_list", "spectral_norm", "state_machine",
]  # fmt: skip

# Hostile calls are made for a smaller size.
SMALL = {"fib_recursive": 8, "fannkuch": 5, "nqueens": 5, "cholesky": 7, "lu": 6, "matmul_arrays": 5, "matmul_lists": 5, "floyd_warshall": 6, "spectral_norm": 5}
FRACTION = 6  # else QUICK // FRACTION

# Numbers that would keep CPython busy for hours: (program, position).
ENDLESS = {("collatz", 0)}


@pytest.fixture
def program(folder):
    return lambda name: Program((folder / f"{name}.py").read_text(encoding="utf-8"), name)


def test_every_program_is_here(folder):
    assert sorted(NAMES) == sorted(path.stem for path in folder.glob("*.py") if path.stem not in ("run", "programs"))


@pytest.mark.parametrize("name", NAMES)
def test_program(name, program):
    """Three calls: compiled, compiled, and for another size."""
    one = program(name)
    sizes = one.eager["QUICK"], one.eager["QUICK"], one.eager["QUICK"] * 2 // 3
    for size in sizes:
        assert one.difference(lambda names: names["setup"](size)) is None


@pytest.mark.parametrize("every", [3, *(pytest.param(k, marks=pytest.mark.same_everywhere) for k in (1, 17, 101))])
@pytest.mark.parametrize("name", NAMES)
def test_exits_that_nothing_asks_for(name, every, program):
    """The slow interpreter leaves at every so many checks, whatever they say: the interpreter performs the operation, and the program goes on as if nothing had happened."""
    before = jitney.config.executor, jitney.config.exit_every
    jitney.config.executor, jitney.config.exit_every = "loop", every
    try:
        one = program(name)
        for _ in range(2):
            assert one.difference(lambda names: names["setup"](small(name, one))) is None
    finally:
        jitney.config.executor, jitney.config.exit_every = before


@full
@pytest.mark.parametrize("executor", ["numpy", "graph", "loop"])
@pytest.mark.parametrize("name", NAMES)
def test_program_in_the_other_executors(name, executor, program):
    before = jitney.config.executor
    jitney.config.executor = executor
    try:
        one = program(name)
        for _ in range(2):
            assert one.difference(lambda names: names["setup"](small(name, one))) is None
    finally:
        jitney.config.executor = before


def small(name, one):
    return SMALL.get(name) or max(3, one.eager["QUICK"] // FRACTION)


# ---- hostile arguments ----


def ints(x):
    yield from (0, 1, -1, True, Int(x), float(x), np.int64(x), np.int32(x), 2**31 - 1 if x > 2**16 else x + 1, None, "7")
    if x > 2**16:  # a modulus or a polynomial, not a trip count
        yield from (2**31, 2**62, 2**63, -(2**63), 2**64 + 1)


def floats(x):
    yield from (np.nan, np.inf, -np.inf, -0.0, 0.0, 1, int(x), 2**70, True, Float(x), np.float64(x), np.float32(x), 1e308, 5e-324, None, "x", 1j)


def items(kind):
    """What may stand in the middle of a list."""
    yield from (np.nan, -0.0, np.inf, 3, True, 2**63, 2**64 + 3, -(2**63), Int(3), Float(2.5), np.float64(0.5), np.int64(3), None, "x", 1j)


def changed(x, at, value):
    x = list(x)
    x[at] = value
    return x


def lists(x):
    yield from ([], x[:1], x[:-1], tuple(x), np.array(x))
    middle = len(x) // 2
    if isinstance(x[0], (list, tuple)):
        yield changed(x, middle, [])
        yield changed(x, middle, None)
        yield changed(x, middle, x[0])  # one row twice
        for item in items(type(x[0][0])):
            yield changed(x, middle, type(x[0])(changed(x[middle], len(x[middle]) // 2, item)))
        return
    for item in items(type(x[0])):
        yield changed(x, middle, item)
    yield changed(x, -1, "x")
    yield [int(item) if isinstance(item, float) else float(item) for item in x]
    yield [np.float64(item) for item in x]


def texts(x):
    yield from (b"", x[:1], bytearray(x), list(x), np.frombuffer(x, np.uint8), x.decode("latin-1"), memoryview(x))


def arrays(x):
    def put(array, value):
        array = array.copy()
        with np.errstate(all="ignore"):
            array[tuple(n // 2 for n in array.shape)] = value
        return array

    yield x[:0]
    yield x[:1]
    yield x[:-1]
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, axis=-1)[..., ::2]
    yield x[::-1]
    yield x.tolist()
    yield x.T
    yield x.ravel()[:-1]
    yield x[..., None]
    yield x.astype(x.dtype.newbyteorder())
    yield x.astype(object)
    for dtype in ("i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c16", "?"):
        with np.errstate(all="ignore"):
            yield x.astype(dtype)
    locked = x.copy()
    locked.flags.writeable = False
    yield locked
    if x.dtype.kind == "f":
        yield from (put(x, value) for value in (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, 5e-324))
    else:
        limits = np.iinfo(x.dtype)
        yield from (put(x, value) for value in (limits.min, max(-1, limits.min), 1, 100, limits.max))


def hostile(value):
    """(kind of argument that has no variants: nothing)"""
    if type(value) is int:
        return ints(value)
    if type(value) is float:
        return floats(value)
    if type(value) is bytes:
        return texts(value)
    if isinstance(value, (list, tuple)) and value:
        return lists(value)
    if isinstance(value, np.ndarray):
        return arrays(value)
    return iter(())


def count(one, size):
    return [sum(1 for _ in hostile(argument)) for argument in one.eager["setup"](size)]


def replaced(size, position, k):
    """Makes the arguments with the k-th variant of the one at `position`."""

    def make(names):
        arguments = list(names["setup"](size))
        for number, variant in enumerate(hostile(arguments[position])):
            if number == k:
                arguments[position] = variant
        return tuple(arguments)

    return make


def hostile_calls(name, one, size, part=None):
    """(position, variant): all, or a part that is another one for each program."""
    every = [(position, k) for position, n in enumerate(count(one, size)) for k in range(n) if (name, position) not in ENDLESS or k < 7]
    return every if part is None or len(every) <= part else random.Random(name).sample(every, part)


def attack(name, program, part):
    one = program(name)
    size = small(name, one)
    usual = lambda names: names["setup"](size)
    assert one.difference(usual) is None
    for position, k in hostile_calls(name, one, size, part):
        for attempt in "first", "second":
            found = one.difference(replaced(size, position, k))
            assert found is None, f"{name}, argument {position}, variant {k}, {attempt} call: {found}"
    found = one.difference(usual)
    assert found is None, f"{name}, the usual call afterwards: {found}"


@pytest.mark.parametrize("name", NAMES)
def test_hostile_arguments(name, program):
    attack(name, program, 8)


@full
@pytest.mark.parametrize("name", NAMES)
def test_all_hostile_arguments(name, program):
    attack(name, program, None)


@full
@pytest.mark.parametrize("name", NAMES)
def test_hostile_arguments_first(name, program):
    """What was compiled for the hostile argument, then for the usual one."""
    size = small(name, program(name))
    for position, k in hostile_calls(name, program(name), size, 12):
        one = program(name)
        for make in (replaced(size, position, k), lambda names: names["setup"](size), replaced(size, position, k)):
            found = one.difference(make)
            assert found is None, f"{name}, argument {position}, variant {k}: {found}"
