"""Native loops without the GIL: other threads run meanwhile, and see nothing that they could not see in CPython."""

import ctypes
import math
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

import numpy as np
import pytest

import jitney

LIMIT = 1 << 60


def collatz(n):
    best = 0
    for i in range(1, n):
        x = i
        c = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            c += 1
        if c > best:
            best = c
    return best


def mandelbrot(n):
    total = 0
    for i in range(n):
        for j in range(n):
            c = complex(-2 + 3 * i / n, -1.5 + 3 * j / n)
            z = 0j
            k = 0
            while k < 50 and abs(z) < 2:
                z = z * z + c
                k += 1
            total += k
    return total


def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


def primes(n):
    count = 0
    for k in range(n):
        if is_prime(k):
            count += 1
    return count


def series(n):
    s = 0.0
    for k in range(1, n):
        s += math.sin(k) / k
    return s


def overflow(n):
    """Leaves native code for the big ints in its middle."""
    a, b = 1, 1
    s = 0
    for k in range(n):
        a, b = b, (a * 31 + b) % 1000003
        s += a
        if k == n // 2:
            s = s * (1 << 70) >> 70
    return s


def steps(n):
    x = 1
    for k in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x


def divide(n):
    x = 0.0
    for k in range(n, -10, -1):
        x += 1.0 / k
    return x


def spread(work, threads=3):
    """Runs work(k) on threads; their results."""
    got, failed = [None] * threads, []

    def run(k):
        try:
            got[k] = work(k)
        except BaseException:
            failed.append(traceback.format_exc())

    started = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not failed, failed[0]
    return got


def until_unlocked(compiled, once):
    """Runs once() until a run of the function has gone without the GIL: whether one is long and somebody wants the GIL is for the machine to say."""
    for _ in range(40):
        once()
        if unlocked(compiled) > 0:
            return
    raise AssertionError(jitney.inspect(compiled).units)


def ready(f, *args):
    """Compiled, and known to run long while others want the GIL."""
    compiled = jitney.compile(f)
    until_unlocked(compiled, lambda: spread(lambda k: compiled(*args)))
    return compiled


def unlocked(f):
    return jitney.inspect(f).stats()["flow_unlocked"]


def locked(f):
    return [unit.locked for unit in jitney.inspect(f).units if unit.kind == "loops"]


@pytest.fixture
def patient():
    """Whoever wants the GIL does not ask for it: others run while it is free only."""
    before = sys.getswitchinterval()
    yield lambda: sys.setswitchinterval(1e5)
    sys.setswitchinterval(before)


CASES = [(collatz, 60000), (mandelbrot, 250), (primes, 120000), (series, 1000000), (overflow, 5000000), (steps, 10000000)]


@pytest.mark.parametrize(("f", "n"), CASES)
def test_many_threads_in_one_function(f, n):
    expected = jitney.compile(f)(n)
    if f in (primes, series):
        assert expected == f(n)
    compiled = ready(f, n)
    for result in spread(lambda k: [compiled(n - k % 2) for _ in range(2)], 4)[::2]:
        assert result == [expected] * 2
    assert any(unit.unlocked and "without the GIL" in str(unit) for unit in jitney.inspect(compiled).units)


def test_many_threads_in_several_functions():
    compiled = [ready(f, n) for f, n in CASES]
    expected = [c(n) for c, (_, n) in zip(compiled, CASES, strict=True)]
    got = spread(lambda k: [compiled[(k + i) % 6](CASES[(k + i) % 6][1]) for i in range(6)], 4)
    assert got == [[expected[(k + i) % 6] for i in range(6)] for k in range(4)]


def test_others_run_meanwhile(patient):
    compiled = ready(steps, 10000000)
    seen, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            seen[0] += 1
            time.sleep(1e-5)  # whoever has the GIL keeps it until it gives it up by itself

    thread = threading.Thread(target=count)
    thread.start()
    n = unlocked(compiled)
    patient()  # from here on nobody asks for the GIL
    before = seen[0]
    compiled(10000000)
    after = seen[0]
    stop.set()
    thread.join()
    assert after > before and unlocked(compiled) > n


def test_it_can_be_turned_off():
    compiled = ready(steps, 10000000)
    jitney.config.release_gil = False
    n = unlocked(compiled)
    try:
        spread(lambda k: compiled(10000000))
        assert unlocked(compiled) == n
    finally:
        jitney.config.release_gil = True


# ---- what is not ----


def of_array(x, n):
    s = 0.0
    for k in range(n):
        s += x[k % 10]
    return s


def of_list(x, n):
    s = 0
    for k in range(n):
        s += x[k % 10]
    return s


def makes_list(n):
    x = [0] * 10
    for k in range(n):
        x[k % 10] += k
    return x[3]


def draws(rng, n):
    s = 0.0
    for _ in range(n):
        s += rng.random()
    return s


def of_prange(n):
    s = 0
    for k in jitney.prange(n):
        s += k % 7
    return s


def rounds(n):
    s = 0.0
    for k in range(n):
        s += round(k * 0.37, 1)
    return s


NOT = [
    (of_array, (np.arange(10.0), 300000), "an array comes in, which others may reach"),
    (of_list, (list(range(10)), 300000), "which others may reach"),
    (makes_list, (300000,), "it calls native_fill"),
    (draws, (np.random.default_rng(1), 300000), "it draws random numbers"),
    (of_prange, (300000,), "it has a loop over prange"),
    (rounds, (300000,), "it calls float_round"),
]


@pytest.mark.parametrize(("f", "args", "why"), NOT)
def test_what_needs_the_gil(f, args, why):
    compiled = jitney.compile(f)
    spread(lambda k: [compiled(*args) for _ in range(2)])
    assert why in locked(compiled)[0] and unlocked(compiled) == 0


def test_recursion_holds_the_gil():
    space = {}
    exec("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)", space)
    f = space["fib"] = jitney.compile(space["fib"])
    assert spread(lambda k: f(27)) == [196418] * 3
    assert unlocked(f) == 0


class Thing:
    pass


def keeps(thing, n):
    x = 1
    for k in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x if thing is not None else 0


def test_objects_that_the_frame_keeps_are_no_hindrance():
    compiled = ready(keeps, Thing(), 10000000)
    expected = compiled(1, 3000000)
    assert spread(lambda k: compiled(Thing(), 3000000)) == [expected] * 3


class Config:
    def __init__(self, n):
        self.n = n


class Holder:
    def __init__(self, n):
        self.config = Config(n)

    def run(self):
        x = 1
        for k in range(self.config.n):
            x = (x * 1103515245 + 12345) % 2147483648
        return x


def test_what_only_the_guards_have_seen_dies_when_it_should():
    compiled, died = jitney.compile(Holder.run), []
    holder = Holder(10000000)
    until_unlocked(compiled, lambda: spread(lambda k: compiled(holder), 2))
    n = unlocked(compiled)
    for attempt in range(10):
        reference = weakref.ref(holder.config)
        thread = threading.Thread(target=compiled, args=(holder,))
        thread.start()
        time.sleep(0.005)
        holder.config = Config(10000000)
        died.append(reference() is None)
        thread.join()
    assert all(died)
    assert unlocked(compiled) > n


# ---- what others do meanwhile ----

flag = 0


def wait_for_flag(step):
    x = 0
    while not flag:
        x = (x + step) % 1000003
    return flag


def test_a_global_that_changes_is_seen():
    global flag
    compiled = jitney.compile(wait_for_flag)
    for k in range(1, 12):
        flag = 0
        threads = [threading.Thread(target=compiled, args=(s,)) for s in (3, 5)]
        for thread in threads:
            thread.start()
        time.sleep(0.08)
        flag = k
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
    assert unlocked(compiled) > 0


def test_interrupt_in_the_main_thread():
    compiled = ready(steps, 10000000)
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)  # there is somebody
    other.start()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(5):
            sent = []

            def send(sent=sent):
                time.sleep(0.06)
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=send)
            thread.start()
            n = unlocked(compiled)
            with pytest.raises(KeyboardInterrupt) as caught:
                compiled(LIMIT)
            late = time.monotonic() - sent[0]
            thread.join()
            *_, (frame, line) = traceback.walk_tb(caught.value.__traceback__)
            assert frame.f_code.co_name == "steps" and 0 < frame.f_locals["k"] < LIMIT
            assert unlocked(compiled) > n and late < 2
    finally:
        signal.signal(signal.SIGINT, handler)
        stop.set()
        other.join()


class Asked(Exception):
    pass


def test_exceptions_from_other_threads():
    compiled, caught = ready(steps, 10000000), []

    def run():
        try:
            compiled(LIMIT)
        except Asked as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            caught.append(frame.f_code.co_name)

    for _ in range(5):
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        for thread in threads:
            assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Asked)) == 1
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
    assert caught == ["steps"] * 10


def test_exceptions_of_the_loop_itself():
    compiled = jitney.compile(divide)

    def run(k):
        for _ in range(4):
            with pytest.raises(ZeroDivisionError) as caught:
                compiled(8000000)
            *_, (frame, line) = traceback.walk_tb(caught.value.__traceback__)
            assert frame.f_locals["k"] == 0 and line == divide.__code__.co_firstlineno + 3
        return True

    def once():
        assert spread(run) == [True] * 3

    until_unlocked(compiled, once)


def test_reset_and_forgotten_functions():
    compiled, expected = ready(steps, 10000000), steps(100000)
    results = []

    def run(f):
        for _ in range(4):
            results.append(f(10000000))

    threads = [threading.Thread(target=run, args=(compiled,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        time.sleep(0.01)
        jitney.reset()
        assert compiled(100000) == expected
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1

    class Owner:
        """Its getter is called without a reference of the call's."""

    for _ in range(3):
        getter = jitney.compile(type(steps)(steps_of_property.__code__, globals()))
        Owner.value = property(getter)
        weak = weakref.ref(getter)
        del getter
        owner = Owner()
        spread(lambda k: [owner.value for _ in range(2)])
        thread = threading.Thread(target=lambda: results.append(owner.value))
        thread.start()
        time.sleep(0.01)
        del Owner.value
        thread.join()
        deadline = time.monotonic() + 20
        while weak() is not None and time.monotonic() < deadline:
            time.sleep(0.001)
        assert weak() is None


def steps_of_property(self):
    x = 1
    for k in range(10000000):
        x = (x * 1103515245 + 12345) % 2147483648
    return x


def test_frames_of_other_threads():
    compiled = ready(steps, 10000000)
    names = []
    function = sys._current_frames
    for _ in range(5):
        threads = [threading.Thread(target=compiled, args=(60000000,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            time.sleep(0.01)
            frames = sys._current_frames()
            for thread in threads:
                if thread.ident in frames and thread.is_alive():
                    stack = [f.f_code.co_name for f, _ in traceback.walk_stack(frames[thread.ident])]
                    names.append(stack[0])
                    if stack[0] == "steps":
                        assert stack[1] == "run"
            del frames
        for thread in threads:
            thread.join()
    assert names.count("steps") > len(names) / 2, names  # else they are about to begin, or to end
    assert sys._current_frames is function


def test_random_order_of_everything():
    """Several at once: kernels, resets, frames, collections."""
    import gc

    compiled = [ready(f, n) for f, n in CASES[:3]]
    expected = [c(n) for c, (_, n) in zip(compiled, CASES, strict=False)]
    end = time.monotonic() + 3

    def work(k):
        i = 0
        while time.monotonic() < end:
            i += 1
            if k == 3:
                gc.collect()
                sys._current_frames()
                if i % 7 == 0:
                    jitney.reset()
                time.sleep(0.003)
            else:
                which = (k + i) % 3
                assert compiled[which](CASES[which][1]) == expected[which]
        return i

    assert all(spread(work, 4))


# ---- processes ----

SCRIPT = """
import os, sys, threading, time, warnings
import jitney
warnings.simplefilter("ignore")

@jitney.compile
def steps(n):
    x = 1
    for k in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x

def unlocked():
    return jitney.inspect(steps).stats()["flow_unlocked"]

def many(n=3):
    threads = [threading.Thread(target=steps, args=(10000000,)) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

expected = steps(10000000)
while unlocked() == 0:
    many()
"""

FORK = """
for _ in range(6):
    threads = [threading.Thread(target=steps, args=(20000000,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        before = unlocked()
        good = steps(10000000) == expected
        many()
        os._exit(0 if good and unlocked() > before else 1)
    assert os.waitpid(child, 0)[1] == 0
    for thread in threads:
        thread.join()
deadline = time.monotonic() + 20
while len(os.listdir("/proc/self/task")) > 2 and time.monotonic() < deadline:  # the system may still be at it
    time.sleep(0.001)
warnings.simplefilter("error")
child = os.fork()  # no thread is left: no warning
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("done")
"""

DAEMONS = """
before = unlocked()
assert steps(10000000) == expected and unlocked() == before  # there is no other thread
for _ in range(3):
    threading.Thread(target=steps, args=(1 << 60,), daemon=True).start()
time.sleep(0.05)
print("done")
"""


@pytest.mark.parametrize("what", [FORK, DAEMONS], ids=["fork", "daemons"])
def test_processes(what):
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SCRIPT + what], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
