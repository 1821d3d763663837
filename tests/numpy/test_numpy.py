"""Every row of cases.py, eager against compiled, on every executor: value bits, type, dtype, shape, strides, views, arguments, warnings with lines, exceptions.

JITNEY_NUMPY_EXEC=graph,llvm   the executors to run (all by default)
JITNEY_NUMPY_FULL=1            all inputs of every row; by default a sample, another one for each row and executor

A row fails too when it is not marked as a break on purpose and no call of it ran as compiled code; the closing lines say how many did.
"""

import os
import random
import types

import numpy as np
import pytest
from cases import BREAKS, CASES
from inputs import FULL

import jitney
from jitney import testing

GROUPS = {"llvm": 8, "loop": 20, "graph": 12, "numpy": 12}  # of inputs, per row; each group is a compilation
EXECUTORS = os.environ.get("JITNEY_NUMPY_EXEC", "llvm,loop,graph,numpy").split(",")


@pytest.fixture(autouse=True)
def settings():
    names = ("executor", "recompile_limit", "refusal_limit", "miss_limit")
    saved = {name: getattr(jitney.config, name) for name in names}
    jitney.config.recompile_limit = jitney.config.refusal_limit = jitney.config.miss_limit = 1000
    yield
    for name, value in saved.items():
        setattr(jitney.config, name, value)


def run(name, executor):
    function, inputs = CASES[name]
    jitney.config.executor = executor
    calls = native = 0
    problems = []
    groups = list(inputs())
    if not FULL and len(groups) > GROUPS[executor]:
        groups = random.Random(f"{name} {executor}").sample(groups, GROUPS[executor])
    for group in groups:
        compiled = jitney.compile(types.FunctionType(function.__code__, function.__globals__, name))
        for arguments in group:
            difference = testing.differs(function, compiled, *arguments)
            if difference:
                shown = ", ".join(describe(x) for x in arguments)
                problems.append(f"{name}({shown}): {difference}")
        stats = jitney.inspect(compiled).stats()
        calls += len(group)
        native += stats["native_calls"]
    return calls, native, problems


def describe(x):
    return f"{x.dtype}{list(x.shape)} strides {x.strides}" if isinstance(x, np.ndarray) else repr(x)


def executors():
    """Machine code everywhere; the slow executors, which only NumPy's version can change, on the newest Python."""
    return [name if name == "llvm" else pytest.param(name, marks=pytest.mark.same_everywhere) for name in EXECUTORS]


@pytest.mark.parametrize("executor", executors())
@pytest.mark.parametrize("name", CASES)
def test_row(name, executor, record_property):
    """No call differs, and a row that is not a break on purpose has calls that ran as compiled code."""
    calls, native, problems = run(name, executor)
    record_property("executor", executor)
    record_property("calls", calls)
    record_property("native", native)
    assert not problems, f"{len(problems)} of {calls} calls differ:\n" + "\n".join(problems[:10])
    assert (native == 0) == (name in BREAKS), f"{native} of {calls} calls ran as compiled code"
