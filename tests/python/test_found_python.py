"""Programs of plain Python around arrays that once gave something else than eager; each the smallest that showed it, and named after what was wrong."""

import sys
import types

import jitney
import numpy as np
import pytest
from jitney import testing

A = np.linspace(0, 1, 7)
B = A + 1


def times_k(o, a):
    return a * o.k


def outcome(function, *arguments):
    """Result bytes, or exception with the places it came through."""
    try:
        return function(*arguments).tobytes()
    except Exception as error:
        frames, at = [], error.__traceback__.tb_next
        while at is not None:
            frames.append((at.tb_frame.f_code.co_name, at.tb_lineno))
            at = at.tb_next
        return type(error), str(error), frames


def test_guard_called_a_property_that_came_later():
    for answer in (5.0, 5, "text", ValueError, AttributeError):
        calls = []

        def k(self, answer=answer, calls=calls):
            calls.append(1)
            if isinstance(answer, type):
                raise answer("from the property")
            return answer

        class Owner:
            k = 2.0

        compiled, owner = jitney.compile(times_k), Owner()
        compiled(owner, A)
        Owner.k = property(k)
        expected = outcome(times_k, owner, A)
        for count in (2, 3):
            assert outcome(compiled, owner, A) == expected
            assert len(calls) == count


def test_guard_ran_a_getattribute_that_came_later():
    seen = []

    class Owner:
        k = 2.0

    def getattribute(self, name):
        seen.append(name)
        raise ValueError(name)

    compiled, owner = jitney.compile(times_k), Owner()
    compiled(owner, A)
    Owner.__getattribute__ = getattribute
    expected = outcome(times_k, owner, A)
    assert outcome(compiled, owner, A) == expected
    assert seen == ["k", "k"]


class ModuleWithProperty(types.ModuleType):
    k = property(lambda self: 7.0)


module_of_constants = types.ModuleType("module_of_constants")
module_of_constants.k = 2.0


def test_module_was_given_another_class():
    def read(a):
        return a * module_of_constants.k

    compiled = jitney.compile(read)
    assert outcome(compiled, A) == outcome(read, A)
    module_of_constants.__class__ = ModuleWithProperty
    assert outcome(compiled, A) == outcome(read, A) == (A * 7.0).tobytes()


def test_compiled_fn_trusted_any_caller():
    def add(a, b):
        return [a + b, a.sum()]

    before = set(globals())
    compiled = jitney.compile(add)
    compiled(A, B)
    (name,) = set(globals()) - before
    inner = globals()[name]
    assert inner(A, B)[0].tobytes() == (A + B).tobytes()
    for wrong in ((1, 2), (A, None), (A, A[:3]), (A, A.astype(np.float32)), (A[::-1], A), ([A], A), (np.ones((7, 1)), A)):
        assert not isinstance(inner(*wrong), tuple)


def thrice(a):
    return a * 3


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring came with 3.12")
def test_local_events_of_an_inlined_function_were_not_seen():
    def outer(a):
        return thrice(a) + 1

    compiled, events, monitoring = jitney.compile(outer), [], sys.monitoring
    compiled(A)
    monitoring.use_tool_id(3, "test")
    try:
        monitoring.register_callback(3, monitoring.events.PY_START, lambda code, offset: events.append(code.co_name))
        monitoring.set_local_events(3, thrice.__code__, monitoring.events.PY_START)
        compiled(A)
        jitney.compile(outer)(A)
        assert events == ["thrice", "thrice"]
        monitoring.set_local_events(3, thrice.__code__, 0)
    finally:
        monitoring.free_tool_id(3)
    native = jitney.inspect(compiled).stats()["native_calls"]
    compiled(A)
    assert jitney.inspect(compiled).stats()["native_calls"] == native + 1


def test_interrupt_of_a_backend_was_lost():
    def interrupted(graph, inputs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jitney.compile(thrice, backend=interrupted)(A)


def logarithm_and_more(a):
    return np.log(a), a + 1


@pytest.mark.parametrize("backend", [lambda graph, inputs: graph, lambda graph, inputs: lambda *xs: list(graph(*xs))])
def test_graph_gave_a_backend_the_request_to_run_the_original(backend):
    compiled = jitney.compile(logarithm_and_more, backend=backend)
    for _ in range(2):
        assert testing.differs(logarithm_and_more, compiled, A) is None
    assert testing.differs(logarithm_and_more, compiled, A + 1) is None
    assert jitney.inspect(compiled).stats()["native_calls"] == 1


def test_outputs_of_a_backend_were_not_counted():
    compiled = jitney.compile(thrice, backend=lambda graph, inputs: lambda *xs: (1, 2))
    with pytest.raises(TypeError, match="2 outputs for a graph of 1"):
        compiled(A)
