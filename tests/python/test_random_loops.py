"""Random functions of nested loops, eager against compiled: tests/tools/loop_source.py makes them, tests/tools/random_loops.py runs them. FOUND holds the small programs of bugs that
this has found."""

import os

import loop_source
import pytest
import random_loops
from random_loops import Case

import jitney

QUICK = range(60)

# name: (source, calls)
FOUND = {
    "an int is stored in a list of floats behind a loop": ("def f(x, n):\n    for k in range(n):\n        pass\n    else:\n        x[n] = 7\n", ["([0.5] * 6, 5)"]),
    "the variable of a finished loop is an index": (
        "def f(a, n):\n    x = [q * 0.5 for q in range(n)]\n    for k in reversed(x):\n        for j in range(n):\n            pass\n        a[j % len(a)] -= min(1.5, 1.5) + abs(k)\n",
        ["(A(5, 'i8', -2), 4)", "(A(5), 4)"],
    ),
    "an iterator over a tuple of known parts is left in the middle": ("def f(i, n):\n    x = 0.1\n    if not divmod(5, i)[0]:\n        for k in range(n):\n            x = n\n    for j in (0.5, 1, 2.5, True):\n        LOG.append(i)\n", ["(7, 6)"]),
    "a Python number of a NumPy scalar that came in": ("def f(a, b, n):\n    s, t = a[1], b[1]\n    for k in range(n):\n        pass\n    return float(s), int(t), s, t\n", ["(A(5), A(5, 'i8'), 5)"]),
    "a row in two variables is one object": ("def f(a, n):\n    v = w = None\n    for r in a:\n        v = r\n        if r[0] > n:\n            w = r\n    return v is r, v is w, v, r, w\n", ["(M(5, 3), 4)", "(M(5, 3), 99)"]),
    "an int that doubles and doubles": ("def f(n):\n    i = 5\n    for k in range(150):\n        i += i + n\n    return i\n", ["(4,)", "(8,)"]),
    "a range of step 0 raises at its line": ("def f(a, n):\n    a[1] = 1\n    for k in range(0, n, n - 3):\n        pass\n", ["(A(4), 3)", "(A(4), 4)"]),
    "a local of two kinds is there when the loop raises": (
        "def h1(p, q, i):\n    if i:\n        return 1\ndef f(x, y, n):\n    i = 1\n    v = 1\n    for k in x:\n        h1(k, v, n) + x[i]\n        for j in x:\n            3\n        else:\n            i = j\n            x[1] = True\n",
        ["([0.25 * q for q in (4, 7, 9)] * 2, 0.5, 9)"],
    ),
    "a method that a number or list has not": (
        "def f(x, n):\n    for k in range(9):\n        pass\n    try:\n        n.reverse()\n    except AttributeError as e:\n        LOG.append(e)\n    for v in x:\n        x.mro()\n",
        ["([1, 2], 3)", "([1.5], 2.5)", "([True], True)", "(A(3), np.float32(2))"],
    ),
    "a bool is no size of an array": ("def f(a, n):\n    return np.zeros(n)\n", ["(A(3), True)"]),
}


@pytest.fixture(autouse=True)
def settings():
    config = jitney.config
    before = config.executor, config.break_every, config.min_nodes, config.flows, config.exit_every
    yield
    config.executor, config.break_every, config.min_nodes, config.flows, config.exit_every = before


def report(summary):
    print(f"\n{summary}")
    assert not summary.failures


@pytest.mark.parametrize("source, calls", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("executor", ["numpy", "loop", "llvm"])
def test_found(source, calls, executor):
    assert random_loops.here(Case(source, calls, executor)) is None


def test_quick_seeds():
    summary = random_loops.Summary()
    for seed in QUICK:
        summary.add(random_loops.run_seed(seed))
    report(summary)
    assert summary.counts["native_calls"] > 0


@pytest.mark.slow
@pytest.mark.skipif("JITNEY_RANDOM_FULL" not in os.environ, reason="set JITNEY_RANDOM_FULL=1; what it finds is new each time")
def test_many_seeds():
    summary = random_loops.Summary()
    random_loops.batches(100000, 2000, None, summary.add)
    report(summary)


def test_the_comparison_can_fail(monkeypatch):
    """A compiler that forgets an iteration is found out, and the program is shrunk."""

    def compile(f, **options):
        return lambda l, n: f(l, n - 1)

    monkeypatch.setattr(jitney, "compile", compile)
    source = "def f(l, n):\n    t = 0\n    for k in range(n):\n        t += k\n        l[k] = t\n    return t\n"
    case = Case(source, ["([0] * 9, 7)"])
    sentence = random_loops.here(case)
    assert sentence.startswith("result")
    small = random_loops.shrink(case, sentence, seconds=10)
    assert len(small.source) < len(source)


def test_seeds_are_stable():
    assert loop_source.generate(5) == loop_source.generate(5)
