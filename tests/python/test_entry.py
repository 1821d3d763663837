"""A compiled function is told apart from the plain one by a clock and by nothing else: calls, attributes, identity, life."""

import copy
import functools
import gc
import inspect
import io
import pickle
import sys
import types
import weakref

import numpy as np
import pytest

import jitney
from jitney.testing import difference, differs

A = np.linspace(0.0, 1.0, 7)
HAS_VECTORCALL = sys.version_info >= (3, 12)


def scaled(a, b=2.0, *rest, c=3.0, **named):
    """doc of scaled"""
    return a * b + c + len(rest) + len(named)


@jitney.compile
def decorated(a):
    return a + 1.0


def native(f):
    return jitney.inspect(f).stats()["native_calls"]


def error_of(f, *args, **kwargs):
    with pytest.raises(Exception) as info:
        f(*args, **kwargs)
    return type(info.value), str(info.value)


@pytest.mark.parametrize(
    "args, kwargs",
    [((A,), {}), ((A, 4.0), {}), ((A,), {"b": 4.0}), ((A, 4.0, 1, 2), {}), ((A,), {"c": 1.0}), ((A,), {"x": 1, "y": 2}), ((), {"a": A}), ((A, 1.0, 5), {"c": 2.0, "z": 0})],
)
def test_arguments_bind_as_in_cpython(args, kwargs):
    g = jitney.compile(scaled)
    for _ in range(3):
        assert difference(scaled(*args, **kwargs), g(*args, **kwargs)) is None
    assert native(g) > 0


@pytest.mark.parametrize("args, kwargs", [((), {}), ((A,), {"a": A}), ((A, 1.0), {"b": 2.0})])
def test_wrong_arguments_raise_cpythons_error(args, kwargs):
    assert error_of(jitney.compile(scaled), *args, **kwargs) == error_of(scaled, *args, **kwargs)


def test_compile_leaves_the_original_eager():
    g = jitney.compile(scaled)
    assert g is not scaled
    assert not jitney.is_compiled(scaled)
    assert g.__wrapped__ is scaled


@pytest.mark.skipif(not HAS_VECTORCALL, reason="3.11 ignores a function's vectorcall")
def test_inplace_accelerates_the_function_itself():
    def f(a):
        return a * 2.0

    assert jitney.compile(f, inplace=True) is f
    f(A)
    f(A)
    assert native(f) == 2


@pytest.mark.skipif(not HAS_VECTORCALL, reason="3.11 ignores a function's vectorcall")
def test_original_of_a_function_compiled_in_place_is_not_what_it_wraps():
    def f(a):
        return a - 1.0

    @functools.wraps(f)
    def g(a):
        return a * 2.0 + 1.0

    jitney.compile(g, inplace=True)
    assert "2 operations" in str(jitney.explain(g)(A))
    assert jitney.disable(g) is g and g._jitney_disable and not hasattr(f, "_jitney_disable")


@pytest.mark.skipif(HAS_VECTORCALL, reason="3.12 and later can")
def test_inplace_is_refused_with_a_reason():
    with pytest.raises(NotImplementedError, match="3.12"):
        jitney.compile(scaled, inplace=True)


def test_looks_like_the_function():
    g = jitney.compile(scaled)
    assert inspect.signature(g) == inspect.signature(scaled)
    assert isinstance(g, types.FunctionType)
    assert inspect.isfunction(g)
    assert g.__name__ == "scaled" and g.__qualname__ == scaled.__qualname__ and g.__doc__ == scaled.__doc__ and g.__module__ == __name__
    assert g.__defaults__ == scaled.__defaults__ and g.__kwdefaults__ == scaled.__kwdefaults__
    assert g.__code__ is scaled.__code__ and g.__globals__ is scaled.__globals__
    assert inspect.getsource(g) == inspect.getsource(scaled)
    assert callable(g) and repr(g).startswith(f"<function {scaled.__qualname__} at 0x")
    assert copy.copy(g) is g and copy.deepcopy(g) is g
    g.extra = 5
    assert g.extra == 5 and not hasattr(scaled, "extra")


def test_pickles_by_qualified_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(jitney.compile(scaled))


def test_wraps():
    g = jitney.compile(scaled)

    @functools.wraps(g)
    def h(*args, **kwargs):
        return g(*args, **kwargs)

    assert h.__name__ == "scaled" and inspect.signature(h) == inspect.signature(scaled)
    assert difference(h(A), scaled(A)) is None


def test_weak_reference_and_death():
    g = jitney.compile(lambda a: a + 1.0)
    g(A)
    reference = weakref.ref(g)
    del g
    gc.collect()
    assert reference() is None


class Base:
    factor = 2.0

    def __init__(self, shift):
        self.shift = shift

    @jitney.compile
    def method(self, a):
        return a * 2.0 + self.shift

    @staticmethod
    @jitney.compile
    def static(a):
        return a * 3.0

    @classmethod
    @jitney.compile
    def klass(cls, a):
        return a * cls.factor

    outer_static = jitney.compile(staticmethod(lambda a: a * 5.0))


class Derived(Base):
    factor = 7.0

    def method(self, a):
        return super().method(a) - 1.0


def test_methods():
    base, derived = Base(1.0), Derived(10.0)
    for _ in range(2):
        assert difference(base.method(A), A * 2.0 + 1.0) is None
        assert difference(derived.method(A), A * 2.0 + 10.0 - 1.0) is None
        assert difference(Base.method(base, A), A * 2.0 + 1.0) is None
        assert difference(Base.static(A), A * 3.0) is None
        assert difference(base.static(A), A * 3.0) is None
        assert difference(Base.klass(A), A * 2.0) is None
        assert difference(Derived.klass(A), A * 7.0) is None
        assert difference(base.outer_static(A), A * 5.0) is None
    base.shift = 4.0
    assert difference(base.method(A), A * 2.0 + 4.0) is None
    bound = jitney.compile(base.method)
    assert isinstance(bound, types.MethodType) and bound.__self__ is base
    assert difference(bound(A), A * 2.0 + 4.0) is None


def test_partial_lambda_and_nested():
    part = jitney.compile(functools.partial(scaled, b=5.0))
    assert isinstance(part, functools.partial)
    assert difference(part(A), scaled(A, b=5.0)) is None
    assert difference(jitney.compile(lambda a: a - 1.0)(A), A - 1.0) is None

    def outer(k):
        def inner(a):
            return a * k

        return inner

    three, four = jitney.compile(outer(3.0)), jitney.compile(outer(4.0))
    assert difference(three(A), A * 3.0) is None
    assert difference(four(A), A * 4.0) is None
    assert difference(three(A), A * 3.0) is None


def test_as_decorator_with_arguments():
    @jitney.compile(fullgraph=True)
    def f(a):
        return a + a

    assert difference(f(A), A + A) is None


def test_what_is_no_function_comes_back():
    def generator():
        yield 1

    async def coroutine():
        pass

    class Class:
        pass

    for thing in (len, Class, generator, coroutine, np.sqrt):
        assert jitney.compile(thing) is thing
    with pytest.raises(TypeError, match="takes a function"):
        jitney.compile(5)
    g = jitney.compile(scaled)
    assert jitney.compile(g) is g


def test_new_code_and_defaults_are_seen():
    def f(a, k=2.0):
        return a * k

    g = jitney.compile(f)
    assert difference(g(A), A * 2.0) is None
    g.__defaults__ = (3.0,)
    assert difference(g(A), A * 3.0) is None
    g.__code__ = (lambda a, k=2.0: a + k).__code__
    assert difference(g(A), A + 3.0) is None


GLOBAL = 2.0


def test_globals_and_cells_are_guarded():
    global GLOBAL
    cell = 1.0

    def f(a):
        return a * GLOBAL + cell

    g = jitney.compile(f)
    for value in (2.0, 5.0, np.float64(3.0), 4, True):
        GLOBAL = value
        for _ in range(2):
            assert difference(g(A), f(A)) is None
    GLOBAL = 2.0
    for value in (1.0, 7.0, A):
        cell = value
        assert difference(g(A), f(A)) is None


def test_shadowed_builtin():
    def f(a):
        return a * len((1, 2))

    g = jitney.compile(f)
    assert difference(g(A), A * 2) is None
    f.__globals__["len"] = lambda x: 9
    try:
        assert difference(g(A), A * 9) is None
    finally:
        del f.__globals__["len"]
    assert difference(g(A), A * 2) is None


def test_tracer_and_profiler_see_the_original():
    g = jitney.compile(lambda a: a * 2.0)
    g(A)
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(event) if frame.f_code is g.__code__ else None)
    try:
        g(A)
    finally:
        sys.setprofile(None)
    assert "call" in seen and "return" in seen
    seen.clear()
    sys.settrace(lambda frame, event, arg: seen.append(event) if frame.f_code is g.__code__ else None)
    try:
        g(A)
    finally:
        sys.settrace(None)
    assert "call" in seen
    before = native(g)
    g(A)
    assert native(g) == before + 1


@pytest.mark.skipif(not HAS_VECTORCALL, reason="sys.monitoring is 3.12's")
def test_monitoring_sees_the_original():
    g = jitney.compile(lambda a: a * 2.0)
    g(A)
    seen = []
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "test")
    monitoring.register_callback(3, monitoring.events.PY_START, lambda code, offset: seen.append(code))
    try:
        monitoring.set_local_events(3, g.__code__, monitoring.events.PY_START)
        g(A)
        monitoring.set_local_events(3, g.__code__, 0)
        assert seen.count(g.__code__) == 1
        monitoring.set_events(3, monitoring.events.PY_START)
        g(A)
        assert seen.count(g.__code__) == 2
    finally:
        monitoring.set_events(3, 0)
        monitoring.free_tool_id(3)


def test_sizes_do_not_recompile():
    g = jitney.compile(lambda a, b: (a + b) * a)
    for n in (5, 1000, 17, 2, 1, 0, 3):
        a = np.arange(n, dtype=float)
        assert difference(g(a, a + 1), (a + a + 1) * a) is None
    assert jitney.inspect(g).stats()["compiles"] == 1


def test_ints_become_symbolic_at_their_second_value():
    def f(a, k):
        return a * k

    g = jitney.compile(f)
    for k in range(40):
        assert difference(g(A, k), f(A, k)) is None
    assert jitney.inspect(g).stats()["compiles"] <= 3


def test_recompile_limit():
    log = io.StringIO()
    jitney.set_logs(file=log, perf_hints=True, recompiles=True)
    try:
        g = jitney.compile(lambda a, s: a * 2.0 if s == "x" else a + 1.0)
        for k in range(12):
            s = f"s{k}"
            assert difference(g(A, s), A + 1.0) is None
    finally:
        jitney.set_logs(perf_hints=False, recompiles=False)
    stats = jitney.inspect(g).stats()
    assert stats["entries"] == 8
    assert stats["fallback_calls"] >= 4
    assert log.getvalue().count("recompile limit reached") == 1
    assert "guard failed" in log.getvalue()


def test_reset():
    g = jitney.compile(lambda a: a * 2.0)
    g(A)
    jitney.reset(g)
    assert jitney.inspect(g).stats()["entries"] == 0
    g(A)
    assert native(g) == 1


def test_refusals_are_remembered_with_place():
    def f(a):
        print(end="")
        return a

    g = jitney.compile(f)
    for _ in range(10):
        assert g(A) is A
    remembered = len(jitney.inspect(g).refusals)
    for _ in range(10):
        assert g(A) is A
    refusals = jitney.inspect(g).refusals
    assert refusals and refusals[0]["line"] == f.__code__.co_firstlineno + 1 and refusals[0]["file"] == __file__
    assert len(refusals) == remembered <= 6


def test_fullgraph_raises():
    @jitney.compile(fullgraph=True)
    def f(a):
        print(a)
        return a

    with pytest.raises(RuntimeError, match="fullgraph") as info:
        f(A)
    assert "hint" in str(info.value) and "test_entry.py" in str(info.value)


def test_explain():
    def f(a):
        print(end="")
        return a

    assert "runs in CPython" in str(jitney.explain(f)(A))
    report = jitney.explain(scaled)(A)
    assert report.compiled and "compiled as one graph" in str(report)


def test_inspect():
    g = jitney.compile(lambda a: np.sqrt(a) + 1.0)
    g(A)
    found = jitney.inspect(g)
    graph = found.graph()
    assert [node.op for node in graph.nodes].count("placeholder") == 1
    assert any(node.target == "sqrt" for node in graph.nodes)
    graph.print_tabular(file=io.StringIO())
    assert "sqrt" in graph.code
    assert isinstance(found.bytecode(), types.CodeType)
    assert any("float64" in text for text in found.guards())
    assert "kernel" in found.loop_ir()
    assert "define" in found.llvm_ir()
    assert found.asm()
    stats = found.stats()
    for name in ("entries", "compiles", "recompiles", "refusals", "native_calls", "fallback_calls", "compile_ms"):
        assert name in stats
    assert isinstance(stats["compile_ms"], dict)


def test_custom_backend():
    seen = []

    def backend(graph, example_inputs):
        seen.append((graph, example_inputs))
        return graph

    g = jitney.compile(scaled, backend=backend)
    assert difference(g(A), scaled(A)) is None
    assert difference(g(A), scaled(A)) is None
    assert len(seen) == 1 and isinstance(seen[0][0], jitney.Graph)


def test_disable():
    @jitney.disable
    def callee(a):
        return a + 1.0

    def f(a):
        return callee(a) * 2.0

    g = jitney.compile(f)
    assert difference(g(A), f(A)) is None
    assert jitney.inspect(g).stats()["native_calls"] == 0


def test_logs_and_config():
    log = io.StringIO()
    jitney.set_logs(file=log, graph=True, bytecode=True, trace_bytecode=True, guards=True, ir=True)
    try:
        jitney.compile(lambda a: a + 1.0)(A)
    finally:
        jitney.set_logs(graph=False, bytecode=False, trace_bytecode=False, guards=False, ir=False)
    text = log.getvalue()
    for channel in ("graph", "bytecode", "trace_bytecode", "guards", "ir"):
        assert f"] {channel}: " in text
    with pytest.raises(AttributeError):
        jitney.config.nothing
    with pytest.raises(ValueError):
        jitney.config.recompile_limit = "many"
    with pytest.raises(ValueError):
        jitney.set_logs(nothing=True)


def test_keyword_defaults_are_not_shared():
    def f(a, *, k=2.0):
        return a * k

    g = jitney.compile(f)
    assert difference(g(A), A * 2.0) is None
    g.__kwdefaults__["k"] = 5.0
    assert difference(g(A), A * 5.0) is None
    assert difference(f(A), A * 2.0) is None


@pytest.mark.skipif(not HAS_VECTORCALL, reason="3.11's dispatcher stands before every call")
def test_a_function_of_which_nothing_is_compiled_becomes_plain():
    names = {}
    exec("def words(n):\n    return str(n) if n < 2 else words(n - 1) + words(n - 2)\n", names)
    expected = names["words"](15)
    names["words"] = jitney.compile(names["words"])
    assert [names["words"](15) for _ in range(3)] == [expected] * 3
    calls = jitney.inspect(names["words"]).stats()["calls"]
    assert names["words"](15) == expected
    assert jitney.inspect(names["words"]).stats()["calls"] == calls


def affine(a, b, k):
    return a * b + k


class Sub(np.ndarray):
    pass


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 3), ()])
def test_small_calls_after_one_that_fits(shape):
    """Guards and tables are one pass for small calls: whatever does not fit must find its usual way, and what fits again the pass."""
    a = np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)
    f = jitney.compile(affine)
    wide = np.zeros(shape[:-1] + (2 * shape[-1],))[..., ::2] + 1.5 if shape else a
    others = [
        (a, a, 2.0),
        (a, a + 1, 2),
        (a, a + 1, True),
        (a, a + 1, np.float64(2.0)),
        (a, a + 1, np.float32(2.0)),
        (a, a + 1, a),
        (a.astype(np.float32), a + 1, 2.0),
        (a, (a + 1).astype(">f8"), 2.0),
        (a, (a + 1)[..., ::-1] if shape else a, 2.0),
        (a.T, a.T + 1, 2.0),
        (a, wide, 2.0),
        (a, a.view(Sub), 2.0),
        (a, read_only(a), 2.0),
        (a, np.full(shape, np.inf), -np.inf),
        (a * 1e308, a * 1e308, 2.0),
        (a, np.ones(4), 2.0),
        (a, None, 2.0),
        (np.resize(a, (5, 3)), np.ones((5, 3)), 2.0),
    ]
    for _ in range(3):
        f(a, a + 1, 2.0)
    for other in others:
        assert differs(affine, f, *other) is None
        before = native(f)
        assert differs(affine, f, a, a + 1, 2.0) is None
        assert native(f) == before + 1


def test_a_small_call_sees_globals_that_change():
    space = {"np": np, "k": 1.0}
    exec("def f(a, b):\n    return np.sqrt(a * b) + k", space)
    f, a = jitney.compile(space["f"]), np.ones(3)
    f(a, a), f(a, a)
    space["k"] = 2.0
    assert f(a, a).tolist() == [3.0] * 3
    space["np"] = types.SimpleNamespace(sqrt=np.exp2)
    assert f(a, a).tolist() == [4.0] * 3
