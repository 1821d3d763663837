"""jitney.prange: range to CPython; in compiled functions loops on threads that still are what CPython does, failures included."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import pytest
from tree import ROOT

import jitney


@pytest.fixture(autouse=True)
def threads():
    """Two threads, however short a loop is."""
    jitney.config.threads, jitney.config.prange_us = 2, 0
    yield
    jitney.config.threads, jitney.config.prange_us = 0, 100


def outcome(f, args):
    """Result, exception with its line and the locals there, warnings, and what the arguments are then."""
    args = [a.copy() if isinstance(a, (np.ndarray, list)) else a for a in args]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = repr(f(*args))
        except Exception as error:
            *_, last = traceback.walk_tb(error.__traceback__)
            shown = {name: repr(value) for name, value in last[0].f_locals.items()}
            result = (type(error), str(error), last[1], shown)
    arrays = [a.tobytes() if isinstance(a, np.ndarray) else repr(a) for a in args]
    return result, arrays, [(w.category, str(w.message), w.lineno) for w in seen]


def pranges(f):
    return [row for unit in jitney.inspect(f).units for row in unit.pranges]


def check(f, *args, why=None, undone=False, fastmath=None):
    """Three calls like CPython's, and on threads, or not for that reason."""
    compiled = jitney.compile(f, fastmath=fastmath)
    for _ in range(3):
        assert outcome(compiled, args) == outcome(f, args)
    rows = pranges(compiled)
    if why is not None:
        assert rows and all(why in row[1] for row in rows), rows
        return
    assert rows and rows[0][1] is None, rows
    assert rows[0][2] >= 1 and (sum(row[3] for row in rows) > 0) is undone, rows


def numbers(*shape):
    return np.random.default_rng(1).random(shape)


def test_range_to_cpython():
    assert jitney.prange(3) == range(3) and type(jitney.prange(1, 9, 2)) is range
    for args in ((), (1, 2, 3, 4), (1.5,), (1, 2, 0)):
        with pytest.raises((TypeError, ValueError)) as expected:
            range(*args)
        with pytest.raises(expected.type) as got:
            jitney.prange(*args)
        assert str(got.value) == str(expected.value) and len(got.traceback) == len(expected.traceback)


# ---- what runs on threads ----


def distances(x, out):
    for i in jitney.prange(x.shape[0]):
        for j in range(x.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - x[j, k]
                d += t * t
            out[i, j] = np.sqrt(d)
    return i, j, k


def primes(n):
    total = 0
    for i in jitney.prange(2, n):
        p = 1
        for j in range(2, i):
            if i % j == 0:
                p = 0
                break
        total += p
    return total, i, j, p


def downwards(x, out):
    for i in jitney.prange(len(x) - 1, -1, -3):
        out[i] = x[i] + i
    return out, i


def of_lists(a, b, out):
    for i in jitney.prange(len(a)):
        r = b[i]
        if r > 2.5:
            last = r
        out[i] = a[i] + r
    return last


def seldom(out, m):
    for i in jitney.prange(len(out)):
        if i % 7 == 0:
            a = i * 2
            for j in range(m):
                b = j + i
        out[i] = i
    return a, b


def smooth(x, out, n):
    for s in range(n):
        for i in jitney.prange(1, len(x) - 1):
            out[i] = 0.5 * (x[i - 1] + x[i + 1])
        for k in jitney.prange(len(x)):
            x[k] = out[k]
    return s, i, k


def test_like_cpython():
    check(distances, numbers(20, 4), np.zeros((20, 20)))
    check(primes, 200)
    check(downwards, numbers(500), np.zeros(500))
    check(of_lists, [float(k) for k in range(100)], [k / 7 for k in range(100)], np.zeros(100))
    check(smooth, numbers(300), np.zeros(300), 5)


def test_the_last_round_that_knows_a_variable_counts():
    for n in (2, 3, 99, 100):
        check(seldom, np.zeros(n), 3)
    check(seldom, np.zeros(50), 0)  # b is never bound


# ---- what fails ----


def doubles(x, out, n):
    for i in jitney.prange(n):
        out[i] = x[i] * 2.0
    return out


def inverses(x, out):
    for i in jitney.prange(len(x)):
        out[i] += 1.0 / x[i]
    return out


def powers(out):
    for i in jitney.prange(len(out)):
        v = 2**30
        for _ in range(4):
            v = v * (i + 1)
        out[i] = v % 1000
    return out


def test_what_later_rounds_have_stored_is_taken_back():
    check(doubles, numbers(50), np.zeros(70), 60, undone=True)
    check(inverses, np.where(numbers(400) > 0.99, 0.0, 2.0), np.ones(400), undone=True)  # warnings: the interpreter's, each at its round
    check(powers, np.zeros(3000), undone=True)


def grown(x, out, n):
    for i in jitney.prange(n):
        out[i] += x[i % len(x)] * i


def test_arrays_that_share_memory_stay_on_one_thread():
    """Without a byte in common, too: what a failed round has changed lies in the array that is not the first of them."""
    for first, second in ((np.s_[::2], np.s_[1::2]), (np.s_[:40], np.s_[20:60]), (np.s_[1::2], np.s_[::2])):
        for n in (30, 60):
            got = []
            for f in (grown, jitney.compile(grown)):
                base = np.arange(80.0)
                try:
                    f(base[first], base[second], n)
                except IndexError as error:
                    base[0] = error.__traceback__.tb_next.tb_frame.f_locals["i"]
                got.append(base.tobytes())
            assert got[0] == got[1]
            assert all("may share memory" in row[1] for row in pranges(f))


def test_a_sum_that_does_not_fit():
    def total(x, s):
        for i in jitney.prange(len(x)):
            s += x[i]
        return s

    big = [2**61] * 10
    compiled = jitney.compile(total)
    assert compiled(big, 5) == total(big, 5) == 5 + 10 * 2**61
    assert compiled([1, 2, 3, 4], -(2**63)) == total([1, 2, 3, 4], -(2**63))


@pytest.mark.parametrize("every", [1, 3, 50])
def test_exits_everywhere(every):
    jitney.config.exit_every = every
    try:
        for f, args in ((distances, (numbers(6, 2), np.zeros((6, 6)))), (seldom, (np.zeros(30), 2)), (doubles, (numbers(20), np.zeros(30), 25))):
            compiled = jitney.compile(f)
            assert outcome(compiled, args) == outcome(f, args)
    finally:
        jitney.config.exit_every = 0


# ---- what stays on one thread, and says why ----


def floats(x):
    s = 0.0
    for i in jitney.prange(len(x)):
        s += x[i]
    return s


def test_reasons():
    def chain(x, out):
        s = 1
        for i in jitney.prange(len(x)):
            out[i] = s
            s = (s * 7) % 1000
        return out

    def stops(x):
        for i in jitney.prange(len(x)):
            if x[i] > 0.9:
                break
        return i

    def into_list(x):
        for i in jitney.prange(len(x)):
            x[i] = i * 2
        return x

    def numpy_ints(x):
        s = x[0]
        for i in jitney.prange(len(x)):
            s += x[i]
        return s

    check(floats, numbers(100), why="add floats to one")
    check(chain, numbers(50), np.zeros(50), why="of the round before")
    check(stops, numbers(100), why="left from the middle")
    check(into_list, [0] * 30, why="changes a list")
    check(numpy_ints, np.arange(50), why="of the round before")
    report = str(jitney.explain(floats)(numbers(100)))
    assert "prange in line" in report and "on one thread: its rounds add floats to one" in report


def test_fastmath_adds_up_in_any_order():
    x = numbers(1000)
    compiled = jitney.compile(floats, fastmath=True)
    for _ in range(3):
        assert abs(compiled(x) - floats(x)) < 1e-9
    assert pranges(compiled)[0][1:] == (None, 3, 0)


def test_one_thread_where_it_is_asked_for():
    compiled = jitney.compile(distances, threads=1)
    compiled(numbers(8, 2), np.zeros((8, 8)))
    assert pranges(compiled)[0][1:] == (None, 0, 0)
    with pytest.raises(ValueError, match="threads is a number from 1 on"):
        jitney.compile(distances, threads=0)


def test_short_loops_wake_nobody():
    jitney.config.prange_us = 100
    compiled = jitney.compile(doubles)
    for _ in range(200):
        compiled(numbers(20), np.zeros(20), 20)
    assert pranges(compiled)[0][1:] == (None, 0, 0)
    x, out = numbers(400, 20), np.zeros((400, 400))  # some milliseconds
    long = jitney.compile(distances)
    for _ in range(3):
        long(x, out)
    assert pranges(long)[0][2] >= 1


# ---- manners ----


class Interrupted(Exception):
    pass


def power(n):
    return pow(5, n, 1000003)


def powers_of_five(out, n):
    for i in jitney.prange(len(out)):
        k = 1
        for _ in range(n):
            k = k * 5 % 1000003
        out[i] += k
    return out


@pytest.mark.parametrize(("rounds", "n"), [(2_000_000, 100), (40, 20_000_000)])
def test_a_signal_finds_a_beginning_of_the_rounds(rounds, n):
    """Short rounds are ended, long ones undone; what CPython's frame says has happened has, and nothing else."""

    def handler(*_):
        raise Interrupted

    jitney.config.prange_us = 100
    compiled, out = jitney.compile(powers_of_five), np.zeros(rounds, dtype=np.int64)
    compiled(out[:2].copy(), 10)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        start = time.monotonic()
        with pytest.raises(Interrupted) as raised:
            compiled(out, n)
        assert time.monotonic() - start < 5  # on a machine with nothing else to do: 0.2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    frame = next(f for f, _ in traceback.walk_tb(raised.tb) if f.f_code.co_name == "powers_of_five")
    i = frame.f_locals.get("i", 0)
    assert (out[:i] == power(n)).all() and (out[i + 1 :] == 0).all() and out[min(i, rounds - 1)] in (0, power(n))
    assert i < rounds - 1


def test_other_threads_run():
    turns, done = [0], threading.Event()

    def turn():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.001)

    compiled, out = jitney.compile(powers_of_five), np.zeros(100_000, dtype=np.int64)
    compiled(out[:2].copy(), 10)
    thread = threading.Thread(target=turn)
    thread.start()
    try:
        start = turns[0]
        compiled(out, 1000)
        assert turns[0] > start and (out == power(1000)).all()
    finally:
        done.set()
        thread.join()


SCRIPT = """
import os, sys, time
import numpy as np
import jitney

jitney.config.threads, jitney.config.prange_us = 3, 0

@jitney.compile
def squares(out):
    for i in jitney.prange(len(out)):
        out[i] = i * i

def run():
    out = np.zeros(1000)
    squares(out)
    assert (out == np.arange(1000.0) ** 2).all()
    return len(os.listdir("/proc/self/task"))

before = len(os.listdir("/proc/self/task"))
assert run() == before + 2
child = os.fork()
if child == 0:
    tasks = len(os.listdir("/proc/self/task"))
    good = tasks == 1 and run() == 3
    os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
while len(os.listdir("/proc/self/task")) > before:  # the system may still be at it
    time.sleep(0.001)
assert run() > 2
print(jitney.inspect(squares).units[0].pranges[0][2])
"""


def test_children_start_without_threads_and_none_are_left_at_the_end():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("flags", [["-fsanitize=thread"], []])
@pytest.mark.not_sanitized  # it brings its own sanitizer
def test_the_pool_has_no_races(tmp_path, flags):
    program = tmp_path / "pool_race"
    sources = [ROOT / "tests/tools/pool_race.c", ROOT / "runtime/pool.c"]
    built = subprocess.run(["cc", "-std=gnu11", "-O1", *flags, "-I", ROOT, *sources, "-o", program, "-lpthread"], capture_output=True, text=True)
    if flags and built.returncode != 0:
        pytest.skip("no thread sanitizer")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([program, *([] if flags else ["fork"])], capture_output=True, text=True, timeout=120, env=dict(os.environ, TSAN_OPTIONS="exitcode=66"))
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the sanitizer does not run on this kernel")
    assert (done.returncode, done.stderr) == (0, "")
