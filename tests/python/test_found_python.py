"""Programs of plain Python around arrays that once gave something else than eager; each the smallest that showed it, and named after what was wrong."""

import functools
import gc
import signal
import sys
import time
import types
import warnings
import weakref

import numpy as np
import pytest

import jitney
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


KEYS = [(1,), (True,), (1.0,), (0.0,), (-0.0,), 0.0, -0.0, 0j, -0j, complex(0, -0.0), np.float32(0.0), np.float32(-0.0), np.float64(-0.0), 1, True, np.int64(1)]


def with_keys(d):
    return {**d, "sum": d["a"] + 1}, list(d)


def test_guard_took_equal_keys_for_the_same():
    limit, jitney.config.recompile_limit = jitney.config.recompile_limit, 2 * len(KEYS)
    try:
        compiled = jitney.compile(with_keys)
        for key in KEYS * 2:
            expected, got = (function({key: 1, "a": A})[1] for function in (with_keys, compiled))
            assert repr(got) == repr(expected)
    finally:
        jitney.config.recompile_limit = limit
    assert jitney.inspect(compiled).stats()["native_calls"] > len(KEYS)


def test_names_that_utf8_cannot_hold():
    for change in ({"co_name": "\udc80"}, {"co_filename": "\udc80"}, {"co_qualname": "\udc80"}, {"co_names": ("\udc80",)}):
        code = (lambda a: a.x + 1) if "co_names" in change else (lambda a: a + 1)
        function = types.FunctionType(code.__code__.replace(**change), {})
        compiled = jitney.compile(function)
        for _ in range(2):
            assert testing.differs(function, compiled, A) is None


def test_reset_of_everything_left_entries():
    compiled = jitney.compile(thrice)
    compiled(A)
    jitney.reset()
    assert jitney.inspect(compiled).stats()["entries"] == 0


def resize(a):
    a.resize(10)
    return a.shape


def count(a):
    return sys.getrefcount(a)


def test_references_of_the_entry_were_counted():
    for function in (resize, count):
        compiled = jitney.compile(function)
        results = [call(np.ones(3)) for call in (function, compiled, compiled)]
        assert results[1:] == results[:1] * 2


class Logged:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("gone")


def drop(owner, log):
    del owner
    log.append("after")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 calls a compiled function with arguments that the caller holds")
def test_destructor_of_a_deleted_parameter_came_late_at_every_call():
    compiled = jitney.compile(drop)
    compiled(Logged([]), [])
    log = []
    compiled(Logged(log), log)
    assert log == ["gone", "after"]


class Scaled:
    k = 2.0

    def times(self, a):
        return a * self.k

    compiled = jitney.compile(times)


def test_explain_of_a_bound_method_lost_its_object():
    assert jitney.explain(Scaled().compiled)(A).compiled
    assert jitney.explain(jitney.compile(Scaled().times))(A).compiled


def test_names_were_taken_from_globals_that_the_collector_had_cleared():
    for calls in (0, 1):
        space = {"jitney": jitney, "calls": calls, "A": A}
        exec("f = jitney.compile(lambda a: a + 1)\nfor _ in range(calls): f(A)", space)
        reference = weakref.ref(space["f"])
        del space
        gc.collect()
        assert reference() is None


@jitney.compile
def inner(a):
    return a + 1


def test_change_of_an_inlined_compiled_function_was_not_seen():
    def outer(a):
        return inner(a) * 2, inner

    compiled, code = jitney.compile(outer), inner.__code__
    try:
        for _ in range(2):
            assert compiled(A)[0].tobytes() == outer(A)[0].tobytes()
            assert compiled(A)[1] is inner
            inner.__code__ = (lambda a: a + 5).__code__
    finally:
        inner.__code__ = code


class Pretender:
    @property
    def __class__(self):
        return np.ndarray


def is_array(o, a):
    return isinstance(o, np.ndarray), type(o) is np.ndarray, a + 1


def test_isinstance_believed_the_type_only():
    assert jitney.compile(is_array)(Pretender(), A)[:2] == is_array(Pretender(), A)[:2] == (True, False)


class Interrupted:
    def write(self, text):
        raise KeyboardInterrupt

    flush = None


def test_interrupt_while_a_log_was_written_was_lost():
    compiled = jitney.compile(thrice)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who started the tests may have it ignored
    jitney.set_logs(file=Interrupted(), graph=True)
    try:
        with pytest.raises(KeyboardInterrupt):
            compiled(A)
            time.sleep(1)
    finally:
        jitney.set_logs(graph=False)
        signal.signal(signal.SIGINT, before)
    assert compiled(A).tobytes() == thrice(A).tobytes()


class Silent:
    pass


def test_class_became_callable():
    def ask(o, a):
        return callable(o), a + 1

    compiled, o = jitney.compile(ask), Silent()
    assert compiled(o, A)[0] is False
    Silent.__call__ = thrice
    assert compiled(o, A)[0] is True


# What breaks careful designs and did not break this one: a test each, so that it stays so.


class Plain:
    pass


def test_stores_to_instances_are_seen():
    """3.13's dictionary watchers miss stores to inline values."""
    owner, compiled = Plain(), jitney.compile(times_k)
    owner.k = 2.0
    for change in (
        lambda: None,
        lambda: setattr(owner, "k", 3.0),
        lambda: setattr(Plain, "k", 4.0),
        lambda: delattr(owner, "k"),
        lambda: setattr(owner, "k", A),
        lambda: owner.__dict__.update(k=5),
        lambda: setattr(owner, "__dict__", {"k": 6.0}),
        lambda: (delattr(owner, "k"), delattr(Plain, "k")),
    ):
        change()
        for _ in range(2):
            assert outcome(compiled, owner, A) == outcome(times_k, owner, A)


def test_recursion_goes_as_deep_as_eager():
    def climb(a, n):
        return a if n == 0 else climb(a, n - 1) + 1

    eager, compiled, limit = climb, jitney.compile(climb), sys.getrecursionlimit()
    results = []
    sys.setrecursionlimit(1500)
    try:
        for climb in (eager, compiled):
            for depth in (1, 2, 5, 60, 1200, 20000):
                try:
                    results.append(climb(A, depth).tobytes())
                except RecursionError as error:
                    results.append(type(error))
    finally:
        sys.setrecursionlimit(limit)
    assert results[:6] == results[6:] and isinstance(results[4], bytes)


def test_recursion_through_slots_ends_in_the_same_frame():
    """Operators take C stack, which 3.12 and later count; a call by the interpreter takes none, one by a C function does."""

    class Endless:
        def __add__(self, other):
            return self + other

    def broken(o, a):
        b = a * 2 + 1
        print(end="")
        return b * a, o + b

    def straight(o, a):
        return a * 2 + 1, o + a

    def frames(call):
        with pytest.raises(RecursionError) as info:
            call()
        at, n = info.value.__traceback__, 0
        while at is not None:
            at, n = at.tb_next, n + 1
        return n, str(info.value)

    o, limit = Endless(), sys.getrecursionlimit()
    ways = (
        lambda f: f(o, A),
        lambda f: f(o, a=A),
        lambda f: f(*(o, A)),
        lambda f: f(o, **{"a": A}),
        lambda f: [*map(f, [o], [A])],
        lambda f: functools.partial(f)(o, A),
        lambda f: types.MethodType(f, o)(A),
    )
    sys.setrecursionlimit(12000)
    try:
        for function in (broken, straight):
            compiled = jitney.compile(function)
            for way in ways:
                results = frames(lambda: way(function)), frames(lambda: way(compiled)), frames(lambda: way(compiled))
                assert len(set(results)) == 1, (ways.index(way), results)
    finally:
        sys.setrecursionlimit(limit)


def test_error_callbacks_see_the_functions_frame():
    seen = []
    compiled = jitney.compile(logarithm_and_more)

    def callback(kind, flag):
        frame = sys._getframe(1)
        seen.append((kind, flag, frame.f_code.co_name, frame.f_lineno))

    with np.errstate(divide="call", call=callback):
        for function in (logarithm_and_more, compiled, compiled):
            function(A)
    assert seen == seen[:1] * 3


def test_first_call_adds_no_global():
    compiled = jitney.compile(lambda a: a + 3)
    for name in globals():
        if name == "A":
            compiled(A)
    assert jitney.inspect(compiled).stats()["native_calls"] == 1


class Prepared:
    @jitney.compile
    def __init__(self, a):
        self.a = a + 1

    @jitney.compile
    def __call__(self, a):
        return self.a * a


def test_special_methods():
    for _ in range(3):
        assert Prepared(A)(B).tobytes() == ((A + 1) * B).tobytes()


class Interfering:
    """Calls and resets compiled functions in its destructor, whenever the collector comes."""

    def __init__(self, compiled):
        self.cycle, self.compiled = self, compiled

    def __del__(self):
        jitney.reset()
        self.compiled(A)


def test_finalisers_run_compiled_code_while_compiling():
    thresholds, victim = gc.get_threshold(), jitney.compile(thrice)
    gc.set_threshold(1)
    try:
        for k in range(10):
            Interfering(victim)
            compiled = jitney.compile(lambda a, n, k=k: np.sqrt(a) * n + k)
            for n in (k, k + 1, 2.5):
                assert compiled(A, n).tobytes() == (np.sqrt(A) * n + k).tobytes()
    finally:
        gc.set_threshold(*thresholds)


def test_a_function_that_keeps_warning_is_given_up():
    compiled = jitney.compile(logarithm_and_more)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(20):
            compiled(A)
    assert len(caught) == 20 and {w.lineno for w in caught} == {logarithm_and_more.__code__.co_firstlineno + 1}
    assert jitney.inspect(compiled).stats()["flag_reruns"] < 10


def asks_not_implemented(a):
    y = a * 2 + 1
    r = bool(NotImplemented)
    return y * 2, r


def jumps_on_not_implemented(a):
    y = a * 2 + 1
    r = [i for i in (1, 2) if NotImplemented]
    return y * 2, r, any([NotImplemented]), not NotImplemented, NotImplemented and 3


def loops_on_not_implemented(a):
    total, asked = 0.0, NotImplemented
    for i in range(40):
        if asked:
            total += i
    return total


@pytest.mark.parametrize("f", (asks_not_implemented, jumps_on_not_implemented, loops_on_not_implemented))
def test_truth_of_not_implemented_was_asked_while_compiling(f):
    compiled, seen = jitney.compile(f), []
    for function in (f, compiled, compiled, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(A)
        seen.append([(w.category, w.filename, w.lineno) for w in caught])
    assert seen[0] and seen[1:] == seen[:1] * 3


def watched(array, seen, text):
    return weakref.ref(array, lambda _: seen.append(text))


def deletes_watched(a, seen):
    w = a * 3
    kept = watched(w, seen, "gone")
    r = w + 1
    del w
    seen.append("deleted")
    return r * 2, kept


def replaces_watched(a, seen):
    w = a * 3
    kept = watched(w, seen, "gone")
    r = w + 1
    w = r * 2
    seen.append("replaced")
    return r * w, kept


def deletes_two_watched(a, seen):
    w = a * 3
    v = a * 4
    kept = watched(w, seen, "first"), watched(v, seen, "second")
    r = w + 1 + v
    del v, w
    return r * 2, kept


def deletes_view_of_watched(a, seen):
    w = a * 3
    kept = watched(w, seen, "gone")
    v = w[1:]
    del w
    seen.append("base")
    r = v + 1
    del v
    seen.append("view")
    return r * 2, kept


@pytest.mark.parametrize("f", (deletes_watched, replaces_watched, deletes_two_watched, deletes_view_of_watched))
@pytest.mark.parametrize("least", (0, 2))
def test_weak_reference_to_an_array_told_late(f, least):
    before, jitney.config.min_nodes = jitney.config.min_nodes, least
    compiled, logs = jitney.compile(f), []
    try:
        for function in (f, compiled, compiled, compiled):
            seen = []
            function(A, seen)
            logs.append(seen)
    finally:
        jitney.config.min_nodes = before
    assert logs[1:] == logs[:1] * 3
