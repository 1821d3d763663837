"""Random NumPy functions, eager against compiled. The generator is tests/tools/random_source.py, runs and shrinking are tests/tools/random_programs.py.

The quick suite runs a fixed set of seeds in this process; `slow` runs more of them in processes of their own. A failure prints a reproducer.
"""

import pytest
import random_programs
import random_source

import jitney

QUICK = range(150)


@pytest.fixture(autouse=True)
def settings():
    executor = jitney.config.executor
    yield
    jitney.config.executor = executor


def report(summary):
    print(f"\n{summary}")
    for row in summary.failures:
        print(row.get("crash") or row["reproducer"], end="\n\n")
    assert not summary.failures


def test_quick_seeds():
    summary = random_programs.Summary()
    for seed in QUICK:
        summary.add(random_programs.run_seed(seed))
    report(summary)
    assert summary.native * 2 > summary.programs, "less than half of the programs ran as compiled code"


@pytest.mark.slow
@pytest.mark.same_everywhere
def test_many_seeds():
    summary = random_programs.Summary()
    random_programs.batches(10000, 800, None, summary.add)
    report(summary)
    assert summary.native * 2 > summary.programs, "less than half of the programs ran as compiled code"


def test_a_difference_is_found_and_shrunk():
    """The comparison can fail: a backend that is wrong in one bit is found, and the reproducer is smaller than the program."""

    def broken(graph, example_inputs):
        import numpy as np

        def run(*args):
            return [np.nextafter(x, 10) if x.dtype.kind == "f" and x.size else x for x in graph(*args)]

        return run

    source = "def f(a, b):\n    v1 = a + b\n    v2 = np.sqrt(v1)\n    v3 = v2 * 2.0\n    return v3, v1\n"
    calls = [["a = values('float64', 5, 1, 'calm')", "b = values('float64', 5, 2, 'calm')"]] * 2
    case = random_programs.Case(source, "ab", calls, "numpy", "plain")
    plain = jitney.compile
    try:
        jitney.compile = lambda f: plain(f, backend=broken)
        found = random_programs.first_difference(case)[0]
        assert found is not None and found[1].startswith("result[0][0]")
        small = random_programs.shrink(case, found[1], seconds=10)
    finally:
        jitney.compile = plain
    assert len(small.calls) == 1 and len(small.source) < len(source)


def test_seeds_are_stable():
    one, two = random_source.generate(5), random_source.generate(5)
    assert (one.source, one.calls) == (two.source, two.calls)
