"""Random Python functions, eager against compiled: tests/tools/function_source.py makes them, tests/tools/random_functions.py runs, compares and shrinks them.

The quick suite runs a fixed set of seeds in this process; `slow` runs more in processes of their own. FOUND holds the small programs of bugs that this has found.
"""

import os

import function_source
import pytest
import random_functions
from random_functions import Case

import jitney

QUICK = range(200)

# name: (source, calls)
FOUND = {
    "an instance on the stack of a resumed unit is dropped when eager drops it": (
        "class P:\n    def __call__(self, z):\n        pass\n    def __del__(self):\n        LOG.append('del')\ndef f(a, n):\n    P()(n)\n    LOG.append('x')\n    for i in a:\n        pass\n",
        ["(A(3), 1)", "(A(3), 1)"],
    ),
    "a warning of a result that nobody uses": ("def f(a, n):\n    n / a\n", ["(A(4, 'f8', -2), 0)"]),
    "a warning of a callee's result that nobody uses": ("def f(a):\n    def g(q):\n        a / any(z for z in [])\n    g(2)\n", ["(M(2, 3).T,)"]),
    "a default is read before the variable in a cell changes": ("def f(a, n):\n    def g(q=n):\n        lambda q=n: 1.5\n        return q\n    n = 1\n    return g, n\n", ["(A(3), 3)"]),
    "a result is read before the variable in a cell changes": ("def f(a, n):\n    v = n\n    lambda: n\n    n = a.sum() - 1\n    max(n, 2)\n    return v, n\n", ["(A(4), -1)"]),
    "what a frame left in a handler holds lives as long as eager's": (
        "class P:\n    def __del__(self):\n        LOG.append('del')\ndef f(a, n):\n    v = P()\n    try:\n        a |= n\n    finally:\n        [z for z in 'abc']\n",
        ["(A(4), 2.5)", "(A(4), 2.5)"],
    ),
    "a comprehension behind which the frame is left": ("def f(a):\n    {z % 3 for z in range(5)}\n    assert a.sum(), ''\n    return [z + 1 for z in reversed([1, 2])], __import__('random')\n", ["(A(3),)"]),
    "an exception's name in a handler that is left": (
        "def f(a, o):\n    try:\n        o['a'] += 1\n    except Exception as e:\n        for i in gen(3):\n            print(type(e))\n        return a * 2\n    return a\n",
        ["(A(3), {})", "(A(3), {'a': 1})"],
    ),
    "a unit that would end at the end of a loop": ("def f(a):\n    -a\n    for i in a.copy():\n        pass\n    else:\n        pass\n", ["(A(0),)"]),
    "an exception's name does not keep the frame that is left behind its handler": (
        "class P:\n    def __init__(x, y):\n        pass\n    def __del__(self):\n        LOG.append('del')\ndef f(a):\n    v = P(a)\n    try:\n        raise KeyError\n    except KeyError as e:\n        pass\n",
        ["(A(3),)"],
    ),
    "a tuple that is a key, too": ("def f(a):\n    v = tuple(range(4))\n    np.exp(a)\n    w = {v}\n    x = tuple(range(3))\n    return v, w, x, {x: a + 1}\n", ["(A(3),)"]),
    "a number of NumPy's made of another": ("def f(a):\n    v = a.mean()\n    return v, np.float64(v), np.bool_(v > 1)\n", ["(A(3),)"]),
    "what is apart from an array that is written, and later no array": (
        "def f(a, o):\n    a *= 2\n    return [z * 2 for z in o]\n",
        ["(A(5), [XA, XB])", "(A(5), [1.5, A(3)])", "(A(5), [A(3), 1.5])"],
    ),
    "keywords of a call before which a unit ends": ("def f(a):\n    return max(np.dot(a, a), a.sum(), key=abs)\n", ["(A(4),)"]),
    "a view of nothing lies where NumPy's does": ("def f(a, n):\n    v = a * 2\n    return v[::-1][n:], v[1:][n:n], v[n::-2]\n", ["(A(3), 5)", "(A(4), 1)", "(A(0), 0)"]),
    "functions of one code are told apart behind a loop": (
        "def f(n, a):\n    def g(q=n):\n        return q\n    x = g\n    k = 0\n    while k < 60:\n        k += 1\n        x = a\n    return g, x\n",
        ["(3, lambda: 0)", "(5, lambda: 0)", "(5, abs)"],
    ),
    "a text of a tuple is that very text behind a loop": ("def f(t):\n    _, b = t\n    s = 0\n    for k in range(60):\n        s += k\n    return t, b\n", ["((1, str(XA)[:4]),)", "((1, str(XA)[:4]),)"]),
    "a number that an operation gives back is that very number": ("def f(a, n):\n    b = not n\n    v, w = +n, float(n)\n    np.max(a)\n    return o\n", ["(A(4), 2.5)", "(A(4), 2.5)"]),
    "an array's iterator that has come to its end": ("def f(a):\n    b = a + 1\n    it = iter(a)\n    list(it)\n    print(b)\n    return next(it, 7), list(it)\n", ["(A(3),)", "(A(0),)"]),
}


@pytest.fixture(autouse=True)
def settings():
    before = {name: getattr(jitney.config, name) for name in ("executor", "break_every", "min_nodes", "flows", "exit_every")}
    yield
    for name, value in before.items():
        setattr(jitney.config, name, value)


def report(summary):
    print(f"\n{summary}")
    assert not summary.failures


@pytest.mark.parametrize("source, calls", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("executor", ["numpy", "llvm"])
@pytest.mark.parametrize("every, least", [(0, 0), (0, 2), (3, 2), (5, 0)])
def test_found(source, calls, executor, every, least):
    assert random_functions.first_difference(Case(source, calls, executor, every=every, least=least)) is None


def test_quick_seeds():
    summary = random_functions.Summary()
    for seed in QUICK:
        summary.add(random_functions.run_seed(seed))
    report(summary)
    assert summary.counts["native_calls"] > 0 and summary.counts["graph_breaks"] > 0
    assert summary.units_programs * 2 > summary.programs, "less than half of the programs ran compiled code"
    assert summary.counts["native_functions"] * 3 > summary.counts["functions"]


@pytest.mark.slow
@pytest.mark.skipif("JITNEY_RANDOM_FULL" not in os.environ, reason="set JITNEY_RANDOM_FULL=1; what it finds is new each time")
def test_many_seeds():
    summary = random_functions.Summary()
    random_functions.batches(100000, 2000, None, summary.add)
    report(summary)


WRONG = {
    "result": "def f(a):\n    return a * 2 + 0\n",
    "identity": "def f(a):\n    b = [a]\n    return b, [a + 0]\n",
    "output": "def f(a):\n    print(2)\n",
    "globals": "def f(a):\n    global G\n    G = 8\n",
    "warnings": "def f(a):\n    a = a * 1\n    return 0\n",
    "exception": "def f(a):\n    raise KeyError(2)\n",
    "line": "def f(a):\n\n    a.x\n",
    "arguments": "def f(a):\n    a[0] = 8\n",
}
RIGHT = {
    "result": "def f(a):\n    return a * 2.0\n",
    "identity": "def f(a):\n    b = [a]\n    return b, [a]\n",
    "output": "def f(a):\n    print(1)\n",
    "globals": "def f(a):\n    global G\n    G = 7\n",
    "warnings": "def f(a):\n    a / 0\n    return 0\n",
    "exception": "def f(a):\n    raise KeyError(1)\n",
    "line": "def f(a):\n    a.x\n",
    "arguments": "def f(a):\n    a[0] = 7\n",
}


@pytest.mark.parametrize("what", RIGHT)
def test_the_comparison_can_fail(what, monkeypatch):
    """A compiler that gives another function is found out."""
    monkeypatch.setattr(jitney, "compile", lambda f, **options: random_functions.load(WRONG[what])["f"])
    sentence = random_functions.here(Case(RIGHT[what], ["(A(3, 'i8'),)"] if what == "result" else ["(A(3),)"]))
    assert sentence is not None and not sentence.startswith("comparison")


def test_a_difference_is_shrunk(monkeypatch):
    def compile(f, **options):
        def wrong(*args):
            result = f(*args)
            return result + 1 if isinstance(result, float) else result

        return wrong

    monkeypatch.setattr(jitney, "compile", compile)
    source = "def f(a, n):\n    x = a * 2\n    for i in range(3):\n        x = x + i\n    try:\n        y = n / 2\n    finally:\n        print(x)\n    return y\n"
    case = Case(source, ["(A(3), 1)", "(A(3), 3)"])
    small = random_functions.shrink(case, random_functions.here(case), seconds=20)
    assert random_functions.here(small) is not None and len(small.calls) == 1 and len(small.source) < 60


def test_seeds_are_stable():
    assert function_source.generate(5) == function_source.generate(5)
