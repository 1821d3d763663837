"""No memory: an allocator that fails once or from then on, and a limit on the address space. What compiled code shows is one of the states that CPython shows."""

import subprocess
import sys

import numpy as np
import pytest

import jitney

memory = pytest.importorskip("_testcapi")

N = 12


def store_ints(l, n, seen):
    try:
        for i in range(n):
            l[i] = l[i] * 1000 + i
    except MemoryError:
        seen[0] = True
    return l


def store_floats(l, n, seen):
    try:
        for i in range(n):
            l[i] = l[i] * 0.5 + i
            l.append(0.25)
    except MemoryError:
        seen[0] = True
    return l


def append_ints(l, n, seen):
    try:
        for i in range(n):
            l.append(i * 1000)
    finally:
        seen[0] = True
    return l


def pops(l, n, seen):
    try:
        for i in range(n):
            l.append(i * 1000)
        for _ in range(n + n // 2):
            l.pop()
        l.append(-1000)
        return len(l)
    except MemoryError:
        seen[0] = True


def two_lists(l, n, seen):
    try:
        m = [0.5]
        for i in range(n):
            l.append(i * 1000)
            m.append(i * 0.5)
            l[0] += 1000
        return m
    except MemoryError:
        seen[0] = True


def makes(l, n, seen):
    try:
        a = [0] * n
        for i in range(n):
            a[i] = i * 1000
        b = a[1 : n - 1]
        for i in range(len(b)):
            b[i] += 1000
        return a + b
    except MemoryError:
        seen[0] = True


def rows(l, n, seen):
    try:
        a = []
        for i in range(4):
            r = [0.0] * 4
            for j in range(4):
                r[j] = i * 1.5 + j
            a.append(r)
        return a
    except MemoryError:
        seen[0] = True


def overflow(l, n, seen):
    try:
        s = 1
        for i in range(n):
            s = s * 1000003 + i
            l.append(i * 1000)
        return s
    except MemoryError:
        seen[0] = True


def temporaries(l, n, seen):
    try:
        s = 0.0
        for i in range(n):
            t = np.zeros(5)
            for j in range(5):
                t[j] = i * j
            s += t.sum()
        return s, t
    except MemoryError:
        seen[0] = True


def arrays(l, n, seen, x):
    try:
        v = x
        for i in range(n):
            v = v * 0.5 + x[i]
        return v
    except MemoryError:
        seen[0] = True


def into_array(l, n, seen, x):
    try:
        for i in range(n):
            x[i] = i + 1.0
            l.append(i * 1000)
    except MemoryError:
        seen[0] = True


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def recurse(l, n, seen):
    try:
        for i in range(n):
            l.append(fib(i) * 1000)
    except MemoryError:
        seen[0] = True


def prange(l, n, seen, x):
    try:
        for i in jitney.prange(n):
            x[i] = i * 2.0
        for i in range(n):
            l.append(i + 1000)
    except MemoryError:
        seen[0] = True


def whole_arrays(l, n, seen, x):
    try:
        y = x * 2 + 1
        x[2] = 5.0
        return np.sqrt(y) + x, y
    except MemoryError:
        seen[0] = True


UNDONE = [store_ints, store_floats, append_ints, pops, two_lists, makes, rows, temporaries, arrays]
OTHERS = [overflow, into_array, recurse, prange, whole_arrays]


def arguments(function, seen):
    kind = 0.5 if function is store_floats else 1000
    arguments = [[kind + i for i in range(N)], N, seen]
    return arguments + [np.arange(12.0) + 1] * (function.__code__.co_argcount - 3)


def plain(value):
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.strides, value.tobytes()
    if isinstance(value, list | tuple):
        return type(value), tuple(plain(item) for item in value)
    return type(value), repr(value)


def outcome(function, origin, start, stop):
    """Of a call in which allocations from `start` to `stop` fail (0: all that follow)."""
    seen = [False]
    given = arguments(origin, seen)
    raised = result = None
    memory.set_nomemory(start, stop)
    try:
        result = function(*given)
    except BaseException as error:
        memory.remove_mem_hooks()
        raised = error
    memory.remove_mem_hooks()
    lines, at = [], raised.__traceback__ if raised is not None else None
    while at is not None:
        if at.tb_frame.f_code is origin.__code__:
            lines.append(at.tb_lineno)
        at = at.tb_next
    return (
        type(raised),
        tuple(lines),
        seen[0],
        plain(result),
        plain(given[0]),
        plain(given[3:]),
        sys.getsizeof(given[0]),
    )


def outcomes(function, origin, lasting):
    found, quiet, start = [], 0, 0
    while quiet < 30 and start < 300:
        found.append(outcome(function, origin, start, 0 if lasting else start + 1))
        quiet = 0 if found[-1][0] is not type(None) or (found[-1][2] and origin is not append_ints) else quiet + 1
        start += 1
    return found


def states(origin):
    return {*outcomes(origin, origin, False), *outcomes(origin, origin, True), outcome(origin, origin, 1 << 30, 0)}


def check(origin, function, lasting):
    expected = states(origin)
    wrong = [k for k in enumerate(outcomes(function, origin, lasting)) if k[1] not in expected]
    assert not wrong


@pytest.mark.parametrize("origin", UNDONE + OTHERS)
def test_one_allocation_fails(origin):
    function = jitney.compile(origin)
    for _ in range(20):
        function(*arguments(origin, [False]))
    check(origin, function, False)


@pytest.mark.parametrize("origin", UNDONE)
def test_allocations_fail_from_then_on(origin):
    function = jitney.compile(origin)
    for _ in range(20):
        function(*arguments(origin, [False]))
    check(origin, function, True)


@pytest.mark.parametrize("origin", [store_ints, makes, into_array, recurse])
def test_compiling_fails(origin):
    expected = states(origin)
    for start in [*range(0, 120, 3), *range(120, 1500, 149)]:
        function = jitney.compile(origin)
        assert outcome(function, origin, start, start + 1) in expected
        assert outcome(function, origin, 1 << 30, 0) in expected
        outcome(jitney.compile(origin), origin, start, 0)  # does not crash


LIMIT = """
import resource, sys
import numpy as np, jitney

def append(l, x, n, spare):
    seen, i = 0, -1
    try:
        for i in range(n):
            l.append(i * 1.5)
    except MemoryError:
        spare.clear()
        seen = 1
    return seen, i + 1 - len(l)

def into_array(l, x, n, spare):
    seen, i = 0, -1
    try:
        for i in range(n):
            x[i % 1000] += 1.0
            l.append(i * 1000)
    except MemoryError:
        spare.clear()
        seen = 1
    return seen, i + 1 - len(l)

def own(l, x, n, spare):
    seen, i = 0, -1
    try:
        a = []
        for i in range(n):
            a.append(i * 1.5)
        l.append(a)
    except MemoryError:
        spare.clear()
        seen, a = 1, None
    return seen, int(i < 100000)

def rows(l, x, n, spare):
    seen, i = 0, -1
    try:
        for i in range(n):
            x[i % 1000] += 1.0
            l.append([i * 1000, i * 3 + 1000])
    except MemoryError:
        spare.clear()
        seen = 1
    return seen, i + 1 - len(l)

function = jitney.compile(globals()[sys.argv[1]])
for k in range(12):
    function([5000] if sys.argv[1] == "into_array" else [], np.zeros(1000), 100, [])
calls = jitney.inspect(function).stats()["flow_calls"]
l, x = [], np.zeros(1000)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (100 << 20),) * 2)
result = function(l, x, 100_000_000, [bytearray(1 << 22)])
n = len(l)
l.clear()
print(*result, int(x.sum()) - n if x.any() else 0, calls > 4)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a limit on the address space")
@pytest.mark.parametrize("name", ["append", "into_array", "own", "rows"])
def test_limit_on_memory(name):
    """The handler sees the error, and of all that stands before it each thing has happened once."""
    run = subprocess.run([sys.executable, "-c", LIMIT, name], capture_output=True, text=True, check=False)
    seen, left, more, native = run.stdout.split()
    assert (seen, native) == ("1", "True")
    assert {int(left), int(more)} <= {0, 1}
