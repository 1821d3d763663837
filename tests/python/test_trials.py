"""Trials by the clock of decorated functions: those that are slower compiled run in CPython, and nothing but the clock tells."""

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import jitney

CALLS = 600
late = {"compiled": 0.0, "plain": 0.0}


def lag(code):
    """Makes compiled calls or plain ones slow: a regenerated frame runs other code than the function's."""
    end = time.perf_counter() + late["plain" if sys._getframe(1).f_code is code() else "compiled"]
    while time.perf_counter() < end:
        pass


def broken(x, code):
    for _ in range(10):
        x = (x + 1.0) * 0.5
        lag(code)
        x = x * 0.25 + 2.0
    return x


def compiled_and_code(function=broken, **options):
    f = jitney.compile(function, **options)
    return f, lambda: f.__code__


@pytest.fixture(autouse=True)
def clock():
    late.update(compiled=0.0, plain=0.0)
    yield
    late.update(compiled=0.0, plain=0.0)


def names(f):
    return [row["name"] for row in jitney.inspect(f).refusals]


def stats(f):
    return jitney.inspect(f).stats()


def run(f, code, calls=CALLS):
    x = np.ones(3)
    expected = broken(x, code)
    for _ in range(calls):
        assert np.array_equal(f(x, code), expected)


def test_a_function_that_is_slower_goes_back_to_cpython():
    f, code = compiled_and_code()
    late["compiled"] = 10e-6
    run(f, code)
    assert names(f).count("SLOWER") == 1
    assert 0 < stats(f)["trial_calls"] < 200
    resumed = stats(f)["resumed_calls"]
    run(f, code, 10)
    assert stats(f)["resumed_calls"] == resumed
    row = next(row for row in jitney.inspect(f).refusals if row["name"] == "SLOWER")
    assert "a compiled call takes" in row["detail"] and row["line"] == broken.__code__.co_firstlineno


def test_a_function_that_is_faster_stays():
    f, code = compiled_and_code()
    late["plain"] = 10e-6
    run(f, code)
    assert "SLOWER" not in names(f)
    assert 0 < stats(f)["trial_calls"] < 200
    resumed = stats(f)["resumed_calls"]
    run(f, code, 10)
    assert stats(f)["resumed_calls"] > resumed


def test_long_calls_are_plain_hardly_more_often_than_needed():
    f, code = compiled_and_code()
    late["plain"] = 200e-6
    run(f, code, 200)
    assert 2 <= stats(f)["trial_calls"] <= 6
    assert "SLOWER" not in names(f)


def test_reset_forgets_the_verdict():
    f, code = compiled_and_code()
    late["compiled"] = 10e-6
    run(f, code)
    assert "SLOWER" in names(f)
    jitney.reset(f)
    late.update(compiled=0.0, plain=10e-6)
    run(f, code)
    assert "SLOWER" not in names(f)
    assert stats(f)["resumed_calls"] > 0


def test_a_reset_in_the_middle_of_a_trial():
    f, code = compiled_and_code()
    x, resets = np.ones(3), 0
    for _ in range(CALLS):
        f(x, code)
        if stats(f)["trial_calls"] == 3:
            jitney.reset(f)
            resets += 1
    assert resets > 1


def test_the_switch_and_options_that_want_no_trial():
    late["compiled"] = 10e-6
    f, code = compiled_and_code()
    jitney.config.trials = False
    try:
        run(f, code, 200)
    finally:
        jitney.config.trials = True
    assert stats(f)["trial_calls"] == 0
    for option in ({"fastmath": True}, {"backend": lambda graph, inputs: graph.run}):
        f, code = compiled_and_code(**option)
        for _ in range(200):
            f(np.ones(3), code)
        assert stats(f)["trial_calls"] == 0


def test_fullgraph_is_never_tried():
    f = jitney.compile(lambda a, b: a * b + a, fullgraph=True)
    for _ in range(2000):
        f(1.5, 2.5)
    assert stats(f)["trial_calls"] == 0 and stats(f)["native_calls"] == 2000


def test_one_graph_of_arrays_is_never_tried():
    f, x = jitney.compile(lambda a: np.sqrt(a * a + 1.0)), np.ones(3)
    for _ in range(2000):
        f(x)
    assert stats(f)["trial_calls"] == 0 and stats(f)["native_calls"] == 2000


def test_functions_of_numbers_are_tried():
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    f = jitney.compile(gcd)
    assert {f(1071, 462) for _ in range(2000)} == {21}
    assert stats(f)["trial_calls"] > 0


def test_what_raises_says_nothing_and_raises_the_same():
    def fails(x, code):
        broken_lag(code)
        y = (x + 1.0) * 0.5
        lag(code)
        raise ValueError(float(y[0]))

    def broken_lag(code):
        lag(code)

    f, code = compiled_and_code(fails)
    seen = set()
    for _ in range(1500):
        with pytest.raises(ValueError) as caught:
            f(np.ones(3), code)
        frames, tb = [], caught.value.__traceback__
        while tb is not None:
            frames.append((tb.tb_frame.f_code.co_name, tb.tb_lineno - fails.__code__.co_firstlineno))
            tb = tb.tb_next
        seen.add((str(caught.value), tuple(frames[1:])))
    assert seen == {("1.0", (("fails", 4),))}
    assert "SLOWER" not in names(f)


def test_calls_of_other_threads_are_not_counted():
    f, code = compiled_and_code()
    late["compiled"] = 5e-6
    x, wrong = np.ones(3), []
    expected = broken(x, code)

    def work():
        for _ in range(300):
            if not np.array_equal(f(x, code), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_a_turn_calls_runs_as_the_turn():
    kinds = []

    def deep(n, x):
        x = (x + 1.0) * 0.5
        kinds[-1].add(sys._getframe(0).f_code is f.__code__) if n < 0 else note()
        x = x * 0.25 + 2.0
        return x if n == 0 else own(n - 1, x)

    def note():
        kinds[-1].add(sys._getframe(1).f_code is f.__code__)

    def own(n, x):
        return f(n, x)

    f = jitney.compile(deep)
    own._jitney_disable = True
    x = np.ones(3)
    expected = deep_plain(4, x)
    for _ in range(CALLS):
        kinds.append(set())
        assert np.array_equal(f(4, x), expected)
    mixed = [k for k in kinds[20:] if len(k) > 1]
    assert not mixed


def deep_plain(n, x):
    x = (x + 1.0) * 0.5
    x = x * 0.25 + 2.0
    return x if n == 0 else deep_plain(n - 1, x)


def test_a_traced_call_is_no_turn():
    f, code = compiled_and_code()
    x = np.ones(3)
    while stats(f)["trial_calls"] < 2:
        f(x, code)
    before = stats(f)["trial_calls"]
    sys.settrace(lambda *event: None)
    try:
        for _ in range(50):
            f(x, code)
    finally:
        sys.settrace(None)
    assert stats(f)["trial_calls"] == before


def test_a_function_that_dies_in_a_turn():
    held = []

    def drops(x, last):
        y = (x + 1.0) * 0.5
        if last:
            held.clear()
        lag(lambda: None)
        return y * 0.25 + 2.0

    for turns in range(1, 12):
        held.append(jitney.compile(drops))
        while stats(held[0])["trial_calls"] < turns:
            held[0](np.ones(3), False)
        died = weakref.ref(held[0])
        assert np.array_equal(held[0](np.ones(3), True), np.full(3, 2.25))
        gc.collect()
        assert died() is None


def test_other_code_in_the_middle_of_a_trial():
    f, code = compiled_and_code()
    x = np.ones(3)
    while stats(f)["trial_calls"] < 2:
        f(x, code)

    def other(x, code):
        return x * 3.0 + 1.0

    f.__code__ = other.__code__
    for _ in range(CALLS):
        assert np.array_equal(f(x, code), other(x, code))
