"""What native loops call: random numbers, in the very streams of their generators."""

import math
import random
import threading
import warnings

import numpy as np
import pytest

import jitney


def stats(f):
    return jitney.inspect(f).stats()


def module_random(n, stop_at):
    hits = 0
    last = 0.0
    for i in range(n):
        x = random.random()
        y = random.random()
        if x * x + y * y <= 1.0:
            hits += 1
        last = x
        if i == stop_at:
            hits += 9223372036854775807
            hits -= 9223372036854775807
    return hits, last


@pytest.mark.parametrize("stop_at", [-1, 0, 500])
def test_random_random_steps_the_one_generator(stop_at):
    f = jitney.compile(module_random)
    random.seed(5)
    expected = module_random(1000, stop_at), random.getstate(), random.random()
    random.seed(5)
    assert (f(1000, stop_at), random.getstate(), random.random()) == expected
    assert stats(f)["flow_calls"] > 0
    assert (stats(f)["flow_checks"] > 0) == (stop_at >= 0)


def of_instance(r, n):
    s = 0.0
    for _ in range(n):
        s += r.random()
    return s


class Derived(random.Random):
    pass


class Overriding(random.Random):
    def random(self):
        return 0.25


@pytest.mark.parametrize("kind", [random.Random, Derived, Overriding])
def test_instances_of_random(kind):
    f = jitney.compile(of_instance)
    a, b = kind(3), kind(3)
    for n in (1, 2000, 700):
        assert f(a, n) == of_instance(b, n)
        assert a.getstate() == b.getstate()
    assert stats(f)["flow_calls"] > 0 or kind is Overriding


def test_a_method_of_the_instance_s_own_comes_first():
    f = jitney.compile(of_instance)
    a, b = random.Random(3), random.Random(3)
    assert f(a, 1000) == of_instance(b, 1000)
    a.random = b.random = lambda: 0.5
    assert f(a, 1000) == of_instance(b, 1000) == 500.0
    del a.random, b.random
    assert f(a, 1000) == of_instance(b, 1000)


def test_a_class_may_get_another_method():
    class Own(random.Random):
        pass

    f = jitney.compile(of_instance)
    a, b = Own(3), Own(3)
    assert f(a, 1000) == of_instance(b, 1000)
    Own.random = lambda self: 0.5
    assert f(a, 1000) == of_instance(b, 1000) == 500.0


def test_the_module_s_function_may_be_replaced(monkeypatch):
    f = jitney.compile(module_random)
    assert len(f(100, -1)) == 2
    monkeypatch.setattr(random, "random", lambda: 0.5)
    assert f(100, -1) == module_random(100, -1) == (100, 0.5)


def global_numpy(n):
    s = 0.0
    for _ in range(n):
        s += np.random.random() - np.random.rand() * np.random.random_sample()
    return s


def test_numpy_s_global_generator():
    f = jitney.compile(global_numpy)
    np.random.seed(8)
    expected = global_numpy(500), np.random.random()
    np.random.seed(8)
    assert (f(500), np.random.random()) == expected
    assert stats(f)["flow_returns"] == 1


def generator(rng, n):
    s = 0.0
    for _ in range(n):
        x = rng.random()
        if x < 0.5:
            s += x
    return s, x


@pytest.mark.parametrize("bits", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
@pytest.mark.parametrize("make", [np.random.Generator, np.random.RandomState])
def test_numpy_s_generators(bits, make):
    f = jitney.compile(generator)
    a, b = (make(getattr(np.random, bits)(4)) for _ in range(2))
    for n in (1, 900, 30):
        result, expected = f(a, n), generator(b, n)
        assert result == expected and type(result[1]) is type(expected[1]) is float
    assert a.random() == b.random() and a.normal() == b.normal()
    assert stats(f)["flow_returns"] == 3


def test_a_generator_that_is_made_again():
    f = jitney.compile(generator)
    a, b = np.random.default_rng(1), np.random.default_rng(1)
    assert f(a, 300) == generator(b, 300)
    a.__init__(np.random.MT19937(7))
    b.__init__(np.random.MT19937(7))
    assert f(a, 300) == generator(b, 300)
    a._bit_generator = b._bit_generator = np.random.PCG64(0)  # the methods go on with the one of before
    assert f(a, 300) == generator(b, 300)


def test_a_locked_generator_is_waited_for():
    f = jitney.compile(generator)
    a, b = np.random.default_rng(1), np.random.default_rng(1)
    assert f(a, 300) == generator(b, 300)
    result = []
    with a.bit_generator.lock:
        thread = threading.Thread(target=lambda: result.append(f(a, 300)))
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
    thread.join()
    assert result == [generator(b, 300)]


def draws_in_a_callee(n):
    def one():
        return random.random() + 1.0

    s = 0.0
    for _ in range(n):
        s += one()
    return s


def test_draws_happen_once():
    f = jitney.compile(draws_in_a_callee)
    random.seed(5)
    expected = draws_in_a_callee(300), random.random()
    random.seed(5)
    assert (f(300), random.random()) == expected


def draws_while(n):
    k = 0
    while k < n and random.random() < 0.999:
        k += 1
    return k


def test_loops_that_end_by_chance():
    f = jitney.compile(draws_while)
    random.seed(6)
    expected = [draws_while(5000) for _ in range(30)], random.random()
    random.seed(6)
    assert ([f(5000) for _ in range(30)], random.random()) == expected
    assert stats(f)["flow_returns"] == 30


def after_a_call(n, seed):
    random.seed(seed)
    s = 0.0
    for _ in range(n):
        s += random.random()
    return s


def test_a_loop_behind_a_call_that_is_not_compiled():
    f = jitney.compile(after_a_call)
    assert [f(1000, 3) for _ in range(3)] == [after_a_call(1000, 3)] * 3
    assert stats(f)["flow_returns"] == 3


# ---- lists ----


def same(f, *makers, calls=2, native=True):
    """f and its compiled form, on equal arguments that are made afresh: results, types, and what became of the arguments."""
    compiled = jitney.compile(f)
    for _ in range(calls):
        a, b = [make() for make in makers], [make() for make in makers]
        assert picture(outcome(compiled, a)) == picture(outcome(f, b))
        assert picture(a) == picture(b)
    assert (stats(compiled)["flow_calls"] > 0) == native
    return stats(compiled)


def outcome(f, arguments):
    try:
        return f(*arguments)
    except Exception as error:
        where = error.__traceback__
        while where.tb_next is not None and where.tb_next.tb_frame.f_code.co_filename == __file__:
            where = where.tb_next
        return type(error), str(error), where.tb_lineno


def picture(x):
    if isinstance(x, (list, tuple)):
        return type(x), [picture(item) for item in x]
    return type(x), repr(x)


def edit_rows(a, b):
    previous = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        current = [i] + [0] * len(b)
        for j in range(1, len(b) + 1):
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1]))
        previous = current
    return previous


def test_rows_that_are_swapped():
    assert same(edit_rows, lambda: b"kitten on a sitting mat", lambda: b"sitting on a kitten")["flow_returns"] == 2


def whole_lists(n):
    out = []
    rest = [1.5, 2.5]
    for i in range(n):
        a = [i] * 3 + [i + 1] * 2
        a += [7, 8]
        a *= 2
        b = a[1:-2] + a[: i - 5] + a[-3:]
        b.reverse()
        b.insert(-1, 5)
        b.insert(100, i)
        c = b.copy()
        c.sort()
        del c[0], c[-1]
        del c[1:3]
        c[2:4] = [9, 9, 9]
        c.extend((i, -i))
        d = c * 2
        rest.extend([0.5, i * 0.25])
        if i % 7 == 3:
            rest.clear()
        out.append(len(d) + c[3] + b[2] + d.index(i) + sum(c) + min(b) + max(a) + (5 in b) - (1000 not in b))
    return out, rest, a, b, c, d


def test_methods_and_operators_of_lists():
    assert same(whole_lists, lambda: 40)["flow_returns"] == 2


def of_floats(xs, n):
    s = 0.0
    for i in range(n):
        ys = sorted_copy = xs[:]
        ys.sort()
        s += sum(ys) + min(xs) - max(sorted_copy)
        if xs[0] == xs[0]:  # a NaN is found where it is the very object
            s += ys.index(xs[i % len(xs)])
        if xs[-1] in ys and any(xs) and all(ys):
            s += math.fsum(xs) * math.prod(ys)
    return s


@pytest.mark.parametrize("xs", [[0.5, -1.25, 3.0], [math.nan, 1.0], [1e308, 1e308, -1.0], [2.5, 1], [], [0.0, 1.0]])
def test_functions_of_lists_of_floats(xs):
    same(of_floats, lambda: list(xs), lambda: 30, native=bool(xs) and type(xs[-1]) is float)


def big_sum(xs, n):
    s = 0
    for i in range(n):
        xs.append(i << 60)
        s ^= sum(xs) & 0xFFFF
    return s


def test_sums_that_are_long():
    same(big_sum, lambda: [1, 2], lambda: 30)


def no_such_item(xs, n):
    s = 0
    for i in range(n):
        s += xs.index(i)
    return s


def test_what_raises_does_so_at_its_line():
    same(no_such_item, lambda: list(range(10)), lambda: 30)


class Loud:
    log = []

    def __del__(self):
        Loud.log.append("gone")


def clears(xs, n):
    k = 0
    for i in range(n):
        if i == 20:
            xs.clear()
            k = len(Loud.log)
        xs.append(i)
    return k, len(xs)


def test_items_that_the_program_sees_go():
    Loud.log.clear()
    assert jitney.compile(clears)([1, Loud(), 2], 50) == (1, 30)


def nearest(points, n):
    near = [np.inf] * 4
    which = [0] * 4
    for p in range(n):
        d = 0.0
        for c in range(points.shape[1]):
            d += points[p, c] * points[p, c]
        if d < near[3]:
            at = 3
            while at > 0 and near[at - 1] > d:
                near[at] = near[at - 1]
                which[at] = which[at - 1]
                at -= 1
            near[at] = d
            which[at] = p
    return near, which


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_lists_of_python_and_numpy_floats(columns):
    found = same(nearest, lambda: np.random.default_rng(1).random((50, columns)), lambda: 50)
    assert found["flow_returns"] == 2


def mixed(xs, n):
    s = 0
    kinds = []
    for i in range(n):
        for x in xs:
            s = s + x
        kinds.append(xs[i % len(xs)] * 2)
        xs[i % len(xs)] = xs[(i * 5 + 1) % len(xs)]
    return s, kinds


@pytest.mark.parametrize(
    "xs",
    [
        [1, 2.5, 3],
        [True, 2, 0.5],
        [np.float64(1.5), 2.5, 3],
        [np.int64(3), np.int64(4)],
        [np.float32(0.1), np.float32(0.25)],
        [np.bool_(True), np.bool_(False), 3],
        [1.0, None, 2.0],
        [1, 2**70, 0.5],
    ],
)
def test_lists_of_several_kinds(xs):
    same(mixed, lambda: list(xs), lambda: 60)


def labels(votes, labels, n):
    for i in range(n):
        votes[labels[i % len(labels)]] += 1
    return votes


def test_numpy_integers_as_indices():
    assert same(labels, lambda: [0, 0, 0], lambda: np.array([0, 2, -1, 1]), lambda: 40)["flow_returns"] == 2
    same(labels, lambda: [0, 0, 0], lambda: np.array([0, 2, -4, 1]), lambda: 40)


def several_kinds_of_dead_locals(points, n):
    s = 0.0
    for i in range(n):
        d = 0
        for c in range(i % 3):
            d += points[c]
        s += d
        if i % 4 == 2:
            s += 1 // (n - 2 - i)
    return s


def test_the_frame_shows_locals_that_are_not_read_any_more():
    compiled = jitney.compile(several_kinds_of_dead_locals)

    def frame(f):
        try:
            f(np.array([0.5, 0.25]), 60)
        except ZeroDivisionError as error:
            return picture(tuple(error.__traceback__.tb_next.tb_frame.f_locals.items()))

    assert frame(compiled) == frame(several_kinds_of_dead_locals) is not None
    assert stats(compiled)["flow_calls"] > 0


def functions(xs, n):
    s = 0.0
    for i in range(n):
        x = xs[i % len(xs)]
        s += math.hypot(x, i) + math.hypot(x, 2.0, i) + math.erf(x) + math.gamma(x) + math.lgamma(x) - math.erfc(x)
        s += math.remainder(x, 0.7) + math.nextafter(x, i) + math.ulp(x) + math.ldexp(x, i % 9) + math.fmod(x, 3.0)
        s += math.comb(i, 3) + math.perm(i % 5, 2) + math.lcm(i, 6)
    return s


@pytest.mark.parametrize("xs", [[0.5, 2.25, 7.0], [0.5, -1.0, 3.0], [180.0], [math.inf, 1.0]])
def test_functions_of_the_math_module_without_an_instruction(xs):
    same(functions, lambda: list(xs), lambda: 70)


# ---- NumPy's functions of numbers ----

UNARY = "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt sqrt square reciprocal absolute negative sign floor ceil trunc rint isnan isinf isfinite".split()
BINARY = "power arctan2 hypot maximum minimum fmod logaddexp copysign add subtract multiply divide".split()
XS = np.concatenate([np.random.default_rng(3).normal(0, 3, 300), [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 710.0, -750.0, 1e300, 5e-324, np.inf, -np.inf, np.nan]])


def ufunc_loop(name, arguments):
    source = f"""
def loop(xs, ys, start, out):
    for i in range(start, len(xs)):
        out.append(np.{name}({arguments}))
"""
    names = {"np": np}
    exec(source, names)  # noqa: S102
    return names["loop"]


def walk(f, xs, ys):
    out = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(xs, ys, 0, out)
    return [(type(x), np.asarray(x).tobytes() if x == x else "nan") for x in out], [str(w.message) for w in caught]


@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize("kind", ["numpy", "python"])
def test_ufuncs_of_numbers(name, kind):
    f = ufunc_loop(name, "xs[i]" if name in UNARY else "xs[i], ys[i]")
    compiled = jitney.compile(f)
    ys = XS[::-1].copy()
    xs, ys = (XS, ys) if kind == "numpy" else (XS.tolist(), ys.tolist())
    assert walk(compiled, xs, ys) == walk(f, xs, ys)
    assert stats(compiled)["flow_calls"] > 0


@pytest.mark.parametrize("exponent", ["0.5", "2", "-1", "2.0", "-1.0", "3", "0.25", "-0.5"])
def test_powers_by_the_ufunc(exponent):
    f = ufunc_loop("power", f"xs[i], {exponent}")
    compiled = jitney.compile(f)
    assert walk(compiled, XS, XS) == walk(f, XS, XS)


DRAWS = ["standard_normal()", "standard_exponential()", "normal()", "normal(0, 2.5)", "normal(x)", "uniform()", "uniform(-1, x)", "exponential(x)", "gamma(x)", "beta(x, 2.0)", "poisson(x)", "binomial(9, 0.25)", "triangular(0, 0.5, x)"]


@pytest.mark.parametrize("call", DRAWS + ["integers(i + 1)", "integers(-5, i)", "randn()", "randint(i + 1)", "randint(-5, i)"])
def test_other_draws(call):
    source = f"""
def loop(rng, n):
    s = 0
    for i in range(n):
        x = i * 0.25 + 0.5
        draw = rng.{call}
        s += draw
    return s, draw
"""
    names = {}
    exec(source, names)  # noqa: S102
    f = names["loop"]
    for make in (np.random.default_rng, np.random.RandomState):
        compiled = jitney.compile(f)
        a, b = make(5), make(5)
        if not hasattr(a, call.split("(")[0]):
            continue
        assert picture(f(a, 300)) == picture(compiled(b, 300))
        assert a.normal() == b.normal()
        assert stats(compiled)["flow_returns"] == 1


def bad_draws(rng, n):
    s = 0.0
    for i in range(n):
        s += rng.normal(0.0, n // 2 - i)
    return s


def test_draws_that_raise():
    compiled = jitney.compile(bad_draws)
    a, b = np.random.default_rng(5), np.random.default_rng(5)
    assert outcome(bad_draws, (a, 100)) == outcome(compiled, (b, 100))
    assert a.random() == b.random()


def bits(r, n):
    s = 0
    for i in range(n):
        s ^= r.getrandbits(i % 64) ^ random.getrandbits(5)
    return s


def test_random_bits():
    f = jitney.compile(bits)
    a, b = random.Random(1), random.Random(1)
    random.seed(4)
    expected = bits(a, 500), a.random(), random.random()
    random.seed(4)
    assert (f(b, 500), b.random(), random.random()) == expected
    assert stats(f)["flow_returns"] == 1
