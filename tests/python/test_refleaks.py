"""Nothing that a call or a compiled function holds outlives it."""

import gc
import os
import sys
import weakref

import numpy as np
import pytest

import jitney

A = np.linspace(0.0, 1.0, 50)
BIG = np.linspace(0.0, 1.0, 200_000)


def pure(a, b):
    return np.sqrt(a * a + b) - 1.0


def views(a, b):
    return a[1:], b.T, (a, b), {"k": a + b}


def in_place(a, b):
    a *= 1.0
    a += b * 0.0
    return a


def scalars(a, b):
    return a.sum(), (a > b).any(), float(a[0]), a.shape[0]


def product(a, b):
    return a @ b


def warns(a, b):
    return (a - a) / (b - b)


def refused(a, b):
    return sorted([a[0], b[1]], key=str)


@pytest.mark.parametrize("f", [pure, views, in_place, scalars, product, warns, refused], ids=lambda f: f.__name__)
@pytest.mark.parametrize("args", [(A.copy(), A.copy()), (BIG.copy(), BIG.copy())], ids=["small", "big"])
@pytest.mark.filterwarnings("ignore")
def test_references_and_blocks_stay_level(f, args):
    g = jitney.compile(f)

    def calls(n):
        for _ in range(n):
            g(*args)
        gc.collect()
        return [sys.getrefcount(a) for a in args], sys.getallocatedblocks()

    calls(20)
    counts, blocks = calls(20)
    counts_after, blocks_after = calls(300)
    assert counts_after == counts
    assert blocks_after - blocks < 60


def test_functions_and_names_go_with_the_last_reference():
    def make(k):
        return jitney.compile(lambda a: a * k)

    for k in range(3):
        make(float(k))(A)
    gc.collect()
    names, blocks = len(globals()), sys.getallocatedblocks()
    references = []
    for k in range(60):
        g = make(float(k))
        g(A)
        references.append(weakref.ref(g))
    del g
    gc.collect()
    assert not any(r() for r in references)
    assert len(globals()) == names
    del references
    assert sys.getallocatedblocks() - blocks < 400


def test_arguments_are_not_kept():
    class Owner:
        pass

    g = jitney.compile(pure)
    a = np.ones(3)
    reference = weakref.ref(a)
    result = g(a, a)
    del a
    assert reference() is None and result.base is None


def test_cycle_through_a_method_is_collected():
    class Model:
        def __init__(self):
            self.step = jitney.compile(self.step_of)

        def step_of(self, a):
            return a + 1.0

    model = Model()
    model.step(A)
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the memory use from /proc")
@pytest.mark.slow
def test_memory_stays_level_over_compilations():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def compile_many(n):
        for k in range(n):
            jitney.compile(lambda a, b, k=float(k): np.sqrt(a * a + b) * k)(A, A)
        gc.collect()
        return resident()

    compile_many(30)
    before = compile_many(30)
    assert compile_many(150) - before < 12_000_000
