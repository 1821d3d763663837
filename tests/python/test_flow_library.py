"""What native loops call: random numbers, in the very streams of their generators."""

import random
import threading

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
