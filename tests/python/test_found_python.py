"""Programs of plain Python around arrays that once gave something else than eager; each the smallest that showed it, and named after what was wrong."""

import types

import jitney
import numpy as np

A = np.linspace(0, 1, 7)


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
