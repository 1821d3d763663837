"""Functions in native loops: recursion as native code, callees that change something, and what is rebuilt where one of them leaves."""

import copy
import gc
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

import pytest

import jitney

PROGRAMS = """
def divide(n, k):
    if n == 0:
        return 10 // k
    return divide(n - 1, k) + 1


def grow(n, x):
    if n == 0:
        return x
    y = grow(n - 1, x)
    return y * 3


def total(n):
    if n == 0:
        return 0
    return n + total(n - 1)


def of_two_types(n):
    if n == 0:
        return 0
    if n == 7:
        return 0.5
    return of_two_types(n - 1) + 1


def handles(n):
    if n == 0:
        return 1 // n
    try:
        return handles(n - 1) + 1
    except ZeroDivisionError:
        if n < 5:
            raise
        return 100


def quick(v, low, high):
    while low < high:
        p = v[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while v[i] < p:
                i += 1
            while v[j] > p:
                j -= 1
            if i <= j:
                v[i], v[j] = v[j], v[i]
                i += 1
                j -= 1
        quick(v, low, j)
        low = i


def mark(v, k, left):
    if left == 0:
        return 0
    v[k] += 1
    n = mark(v, k + 1, left - 1)
    v[k] = n * v[k] + 1
    return n + 1


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def queens(full, columns, left, right):
    if columns == full:
        return 1
    count = 0
    free = full & ~(columns | left | right)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(full, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def by_keyword(n, *, step=1, scale=2.0):
    if n <= 0:
        return scale
    return by_keyword(n - step, scale=scale * 1.5, step=step)


def kinetic(v, m, n):
    e = 0.0
    for i in range(n):
        e += m[i] * v[i] * v[i]
    return e


def push(x, v, m, n, dt):
    for i in range(n):
        v[i] -= dt * x[i] / m[i]
        x[i] += dt * v[i]


def simulate(x, v, m, steps):
    n = len(m)
    before = kinetic(v, m, n)
    for k in range(steps):
        push(x, v, m, n, 0.01)
    return before, kinetic(v, m, n)


def put(v, i, x):
    v[i] = v[i] + x
    return 10 // x


def puts(v, n):
    s = 0
    for i in range(n):
        s += put(v, i, 5 - i)
    return s


def depth(n):
    def inner(k):
        if k == 0:
            return 0
        return inner(k - 1) + 1
    return inner
"""


def world():
    module = {"__name__": "program"}
    exec(compile(PROGRAMS, "program.py", "exec"), module)
    return module


def compiled_world(name, args):
    """The plain function runs once before: 3.11 meets its limit elsewhere in code that it has not specialised yet."""
    module = world()
    outcome(module[name], args)
    module[name] = jitney.compile(module[name])
    return module


def frames(e):
    tb, out = e.__traceback__.tb_next, []
    while tb is not None:
        out.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    return out


def outcome(f, args):
    args = copy.deepcopy(args)
    try:
        result = f(*args)
        return type(result), result, args
    except Exception as e:
        return type(e), str(e), frames(e), args


rnd = random.Random(1)
FLOATS = [rnd.random() for _ in range(300)]

CASES = [
    ("divide", (20, 0), "checks"),
    ("divide", (20, 3), "returns"),
    ("divide", (0, 0), "checks"),
    ("divide", (120, 0), "checks"),
    ("divide", (400, 0), "calls"),
    ("grow", (30, 2**20), "checks"),
    ("grow", (80, 1), "checks"),
    ("grow", (30, 3), "returns"),
    ("total", (900,), "returns"),
    ("total", (20000,), "calls"),
    ("total", (2.5,), "calls"),
    ("total", ("x",), None),
    ("total", (True,), "returns"),
    ("of_two_types", (30,), "stops"),
    ("handles", (3,), "checks"),
    ("handles", (10,), "checks"),
    ("quick", (FLOATS, 0, 299), "returns"),
    ("quick", ([1.5, 2.5, "x", 0.5], 0, 3), "checks"),
    ("quick", (FLOATS[:100] + [None] + FLOATS[100:], 0, 300), "checks"),
    ("mark", ([1] * 30, 0, 30), "returns"),
    ("mark", ([1] * 30, 0, 31), "checks"),
    ("mark", ([2**62] * 40, 0, 20), "checks"),
    ("mark", ([1] * 400, 0, 400), "calls"),
    ("mark", ([1] * 4000, 0, 4000), "calls"),
    ("mark", ([1, 2, 3.5, 4, "x"], 0, 5), "checks"),
    ("ackermann", (2, 200), "returns"),
    ("queens", (63, 0, 0, 0), "returns"),
    ("is_even", (101,), "returns"),
    ("by_keyword", (5,), "returns"),
    ("simulate", (FLOATS[:5], FLOATS[5:10], FLOATS[10:15], 20), "returns"),
    ("simulate", (FLOATS[:5], FLOATS[5:10], [1.0, 2.0, 0.0, 1.0, 1.0], 20), "checks"),
    ("simulate", (FLOATS[:5], FLOATS[5:9], FLOATS[10:15], 20), "checks"),
    ("puts", ([1] * 20, 5), "returns"),
    ("puts", ([1] * 20, 9), "checks"),
    ("puts", ([2**63 - 3] * 20, 4), "checks"),
]


@pytest.mark.parametrize("name, args, counted", CASES, ids=lambda x: str(x)[:20])
def test_as_eager(name, args, counted):
    eager, compiled = world(), compiled_world(name, args)
    expected = outcome(eager[name], args)
    for _ in range(3):
        assert outcome(compiled[name], args) == expected
    if counted is not None:
        assert jitney.inspect(compiled[name]).stats()[f"flow_{counted}"] > 0


def test_a_copy_calls_the_original():
    module = world()
    f = jitney.compile(module["ackermann"])
    assert f(2, 50) == 103
    assert jitney.inspect(f).stats()["flow_returns"] == 1


def test_recursion_through_a_closure():
    f = jitney.compile(world()["depth"](0))
    assert f(40) == 40
    assert jitney.inspect(f).stats()["flow_returns"] == 1


@pytest.mark.parametrize("limit", range(60, 75))
def test_recursion_error_at_the_same_depth(limit):
    def deepest(f):
        def at(depth):
            here = sys._getframe()
            n = 0
            while here is not None:
                here, n = here.f_back, n + 1
            return n

        old = sys.getrecursionlimit()
        good = 0
        sys.setrecursionlimit(at(0) + limit)
        try:
            for n in range(limit + 5):
                try:
                    f(n)
                    good = n
                except RecursionError:
                    break
        finally:
            sys.setrecursionlimit(old)
        return good

    eager, compiled = world(), world()
    compiled["total"] = jitney.compile(compiled["total"])
    assert compiled["total"](3) == 6
    assert deepest(compiled["total"]) == deepest(eager["total"])


def test_another_function_of_that_name():
    module = world()
    f = module["total"] = jitney.compile(module["total"])
    assert f(10) == 55
    module["total"] = lambda n: 1000
    assert f(10) == 1010
    module["total"] = f
    assert f(10) == 55


def test_defaults_are_replaced():
    module = world()
    f = module["by_keyword"] = jitney.compile(module["by_keyword"])
    assert f(5) == 2.0 * 1.5**5
    (f if sys.version_info >= (3, 12) else f._jitney_function).__kwdefaults__ = {"step": 2, "scale": 1.0}
    assert f(5) == 1.5**3


@pytest.mark.parametrize(
    "name, args", [("queens", (2047, 0, 0, 0)), ("ackermann", (3, 7)), ("quick", (FLOATS * 100, 0, 29999))]
)
def test_signals_in_recursion(name, args):
    eager, compiled = world(), world()
    compiled[name] = jitney.compile(compiled[name])
    outcome(compiled[name], args)
    heard = []
    old = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(frame.f_code.co_name))
    sys.setrecursionlimit(20000)
    try:
        expected = outcome(eager[name], args)
        for _ in range(20):
            signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0007)
            got = outcome(compiled[name], args)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert got == expected
    finally:
        sys.setrecursionlimit(1000)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert heard


def test_an_exception_of_a_handler_comes_out_of_recursion():
    module = world()
    f = module["queens"] = jitney.compile(module["queens"])
    f(63, 0, 0, 0)

    class Stop(Exception):
        pass

    def stop(number, frame):
        raise Stop

    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(Stop) as caught:
            f((1 << 16) - 1, 0, 0, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert {name for name, line in frames(caught.value)} == {"queens", "stop"}


def test_threads_run_meanwhile():
    module = world()
    f = module["queens"] = jitney.compile(module["queens"])
    f(63, 0, 0, 0)
    turns, done = [0], threading.Event()

    def other():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        assert f(8191, 0, 0, 0) == 73712
    finally:
        done.set()
        thread.join()
    assert turns[0] > 1


@pytest.mark.not_sanitized
def test_recursion_that_always_leaves_is_given_up():
    module = world()
    f = module["grow"] = jitney.compile(module["grow"])
    for _ in range(40):
        assert f(12, 2**60) == 2**60 * 3**12
    assert jitney.inspect(f).stats()["flow_calls"] < 40


@pytest.mark.parametrize("name, args", [("divide", (20, 0)), ("puts", ([1] * 20, 9))])
def test_functions_that_were_left_die(name, args):
    module = world()
    f = module[name] = jitney.compile(module[name])
    for _ in range(3):
        outcome(f, args)
    dead = weakref.ref(f)
    del module, f
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize("settings", [{"JITNEY_EXEC": "loop"}, {"JITNEY_COMPARE": "1"}])
def test_the_slow_interpreter_runs_it_too(settings):
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from test_flow_calls import CASES, compiled_world, outcome, world
import jitney
for name, args, counted in CASES:
    eager, compiled = world(), compiled_world(name, args)
    assert outcome(compiled[name], args) == outcome(eager[name], args), name
    if counted == "returns":
        assert jitney.inspect(compiled[name]).stats()["flow_returns"] > 0, name
"""
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([sys.executable, "-c", code, here], check=True, env={**os.environ, **settings})


def left_at(n, k, x):
    if n == 0:
        return 1
    if n < 3:
        return left_at(n - 1, k, x) + 10 // (n - k)
    return left_at(n - 1, k, x) * x // (n - k) + left_at(n - 2, k, 1)


def left_shortly_at(n, k, x):
    if n < 2:
        return x // (n - k)
    return left_shortly_at(n - 1, k, x) + left_shortly_at(n - 2, k, x)


@pytest.mark.parametrize("program", [left_at, left_shortly_at])
def test_a_recursion_in_itself_is_left_at_every_depth(program):
    """Short recursions are put into themselves once, very short ones twice: each copy may be left, and be the innermost."""

    def result(f, args):
        try:
            return f(*args)
        except ZeroDivisionError as e:
            return str(e), [(frame.name, frame.lineno) for frame in traceback.extract_tb(e.__traceback__)][1:]

    f = jitney.compile(program)
    for n, k, x in itertools.product(range(9), range(-1, 9), (1, 2**40, 2**62)):
        assert result(f, (n, k, x)) == result(program, (n, k, x))
    inspected = jitney.inspect(f)
    assert inspected.stats()["flow_returns"] > 0 and inspected.stats()["flow_checks"] > 0
    copies = [line for line in inspected.llvm_ir().splitlines() if line.startswith("define") and "@again" in line]
    assert len(copies) == (2 if program is left_shortly_at else 1)


DIES_WITH_ITS_CALLER = """
import gc, jitney
OUTER = '''
def outer(n, k):
    total = 0
    for i in range(n):
        total += divide(i, k)
    return total
'''
INNER = '''
def divide(n, k):
    if n == 0:
        return 10 // k
    return divide(n - 1, k) + 1
'''
gc.disable()
for first, second in [(OUTER, INNER), (INNER, OUTER)] * 10:
    world = {}
    for source in (first, second):
        exec(source, world)
        if source is OUTER:
            world["outer"] = jitney.compile(world["outer"])
    for k in (3, 0, 3, 0):
        try:
            world["outer"](20, k)
        except ZeroDivisionError as error:
            pass
    del world
    gc.collect()
"""


def test_a_function_that_was_left_dies_with_its_caller():
    """The collector calls back for both, in its own order; what is freed is filled, so that a second time does not go unseen."""
    environment = {**os.environ, "MALLOC_PERTURB_": "165", "PYTHONMALLOC": "malloc", "JITNEY_EXEC": "loop"}
    subprocess.run([sys.executable, "-c", DIES_WITH_ITS_CALLER], env=environment, check=True, timeout=120)
