"""What a program can tell jitney: breaks, marks, stances, limits; and what jitney tells the program."""

import ast
import functools
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import jitney
from jitney.testing import differs

A = np.arange(1.0, 9.0)


def line_of(function, text):
    """The line of the file where that text stands in the function's source."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def native(function):
    return jitney.inspect(function).stats()["native_calls"]


# graph_break, is_compiling


def breaks_once(a):
    b = a * 2 + 1
    jitney.graph_break()
    return b - a


def test_graph_break_does_nothing_eagerly():
    assert jitney.graph_break() is None
    assert jitney.is_compiling() is False
    with pytest.raises(TypeError, match="takes no arguments"):
        jitney.graph_break(1)


@pytest.mark.parametrize("function", [jitney.graph_break, jitney.is_compiling])
def test_own_functions_are_found_by_name(function):
    assert pickle.loads(pickle.dumps(function)) is function and function.__doc__


def test_graph_break_is_a_break_with_its_reason():
    assert not differs(breaks_once, jitney.compile(breaks_once), A)
    with pytest.raises(jitney.FullGraphError, match="GRAPH_BREAK") as caught:
        jitney.compile(breaks_once, fullgraph=True)(A)
    assert caught.value.line == line_of(breaks_once, "graph_break()")


def test_is_compiling_is_true_in_compiled_code():
    def f(a):
        return (a * 2, jitney.is_compiling()) if jitney.is_compiling() else a

    result, answer = jitney.compile(f, fullgraph=True)(A)
    assert answer is True and not differs(lambda a: a * 2, lambda a: result, A)


# fullgraph


def prints(a):
    b = a + 1
    print(b)
    return b


def test_full_graph_error_names_everything():
    with pytest.raises(jitney.FullGraphError) as caught:
        jitney.compile(prints, fullgraph=True)(A)
    error = caught.value
    assert isinstance(error, RuntimeError) and jitney.FullGraphError.__module__ == "jitney"
    assert error.file == __file__ and error.line == line_of(prints, "print(b)")
    assert error.reason == "UNKNOWN_CALL" and error.instruction.startswith("CALL")
    for part in (error.file, str(error.line), error.instruction, error.reason, error.hint):
        assert part in str(error)


# disable


@jitney.disable
def callee(a):
    return a - 1


def calls_disabled(a):
    return callee(a * 2) * 3


def test_a_disabled_callee_is_a_break():
    assert not differs(calls_disabled, jitney.compile(calls_disabled), A)
    with pytest.raises(jitney.FullGraphError, match="DISABLED"):
        jitney.compile(calls_disabled, fullgraph=True)(A)


def double(a):
    return a * 2


def test_disable_with_parentheses_is_the_same_decorator():
    @jitney.disable()
    def left(x):
        return x + 1.0

    def caller(x):
        return left(x * 2.0) - 3.0

    compiled = jitney.compile(caller)
    for _ in range(3):
        assert compiled(A).tobytes() == caller(A).tobytes()
    assert "DISABLED" in str(jitney.explain(caller)(A))
    with pytest.raises(TypeError, match=r"jitney.disable takes a Python function, not int"):
        jitney.disable()(3)


def test_no_compiled_code_runs_in_a_disabled_region():
    f = jitney.compile(double)
    f(A)
    before = native(f)
    assert before == 1
    with jitney.disable():
        f(A)
        with jitney.disable():
            f(A)
        f(A)
        worker = threading.Thread(target=f, args=(A,))
        worker.start()
        worker.join()
    assert native(f) == before + 1, "the other thread's call only"
    with pytest.raises(KeyError), jitney.disable():
        raise KeyError
    f(A)
    assert native(f) == before + 2


def test_a_region_is_left_once():
    region = jitney.disable()
    with region:
        pass
    with pytest.raises(RuntimeError, match="left already"):
        region.__exit__(None, None, None)


def disables_inside(a):
    b = a + 1
    with jitney.disable():
        c = double(b)
    return c - 1


def test_a_disabled_region_inside_a_compiled_function():
    assert not differs(disables_inside, jitney.compile(disables_inside), A)


@pytest.mark.parametrize("function", [len, 3, np.add])
@pytest.mark.parametrize("mark", [jitney.disable, jitney.allow_in_graph, jitney.assume_constant_result])
def test_marks_are_for_python_functions(mark, function):
    with pytest.raises(TypeError, match="takes a Python function"):
        mark(function)


def native_behind(a):
    b = callee(a * 2)
    c = b * 3 + a
    return np.sqrt(c) - 1


def test_compiled_code_goes_on_behind_a_disabled_callee():
    f = jitney.compile(native_behind)
    for _ in range(3):
        assert not differs(native_behind, f, A)
    units = jitney.inspect(f).units
    assert any(unit.start > 0 and unit.operations == 4 and unit.stop is None for unit in units), units
    assert jitney.inspect(f).stats()["resumed_calls"] > 0


def region_in_the_middle(a):
    b = np.sqrt(a * 2) + 1
    with jitney.disable():
        b = compiled_double(b) * 3 - a
    return np.sqrt(np.abs(b)) - 1


compiled_double = jitney.compile(double)


def test_a_disabled_region_in_the_middle_of_a_compiled_function():
    f = jitney.compile(region_in_the_middle)
    before = native(compiled_double)
    for _ in range(3):
        assert not differs(region_in_the_middle, f, A)
    assert native(f) == 3 and native(compiled_double) == before


# allow_in_graph


@functools.partial(jitney.allow_in_graph, result=0)
def opaque(a, k):
    opaque.calls += 1
    return np.array([x + k for x in a.tolist()])


opaque.calls = 0


@jitney.allow_in_graph
def undeclared(a):
    return a.tolist()


def calls_opaque(a):
    return opaque(a * 2, 3) - 1


def calls_undeclared(a):
    return undeclared(a * 2)


def test_a_declared_result_makes_a_call_a_node():
    f = jitney.compile(calls_opaque, fullgraph=True)
    assert not differs(calls_opaque, f, A)
    opaque.calls = 0
    assert not differs(calls_opaque, f, A[:3])
    assert opaque.calls == 2, "eager and compiled, once each"
    assert native(f) == 2


def test_a_wrong_declaration_runs_the_original():
    @functools.partial(jitney.allow_in_graph, result=0)
    def shrinks(a):
        return a[:2] + 0

    def f(a):
        return shrinks(a * 2)

    assert not differs(f, jitney.compile(f), A)


def test_an_undeclared_result_is_a_break():
    assert not differs(calls_undeclared, jitney.compile(calls_undeclared), A)
    with pytest.raises(jitney.FullGraphError, match="ALLOWED_CALL"):
        jitney.compile(calls_undeclared, fullgraph=True)(A)
    with pytest.raises(TypeError, match="positional argument"):
        jitney.allow_in_graph(undeclared, result="0")


# assume_constant_result


def settings():
    settings.calls += 1
    return {"scale": 2.5}


def table(n):
    table.calls += 1
    return np.arange(n) * 1.0


settings.calls = table.calls = 0
jitney.assume_constant_result(settings)
jitney.assume_constant_result(table)


def uses_settings(a):
    return a * settings()["scale"]


def uses_table(a):
    return a + table(8)


def uses_table_of_array(a):
    return a + table(len(a))[a.argmin()]


@pytest.mark.parametrize("function, marked", [(uses_settings, settings), (uses_table, table)])
def test_an_assumed_constant_is_asked_once(function, marked):
    expected = function(A)
    marked.calls = 0
    f = jitney.compile(function, fullgraph=True)
    for _ in range(3):
        assert not differs(lambda a: expected, f, A)
    assert marked.calls <= 1 and native(f) == 3


def test_an_assumed_constant_of_an_array_is_a_break():
    def f(a):
        return table(a)

    with pytest.raises(jitney.FullGraphError, match="CONSTANT_RESULT"):
        jitney.compile(f, fullgraph=True)(A)


# mark_dynamic, mark_static


def steps(a, n, *, m=2):
    return a * n + m


@pytest.mark.parametrize("names", [("n",), (1,), (-2,)])
def test_a_dynamic_int_compiles_once(names):
    f = jitney.mark_dynamic(jitney.compile(steps), *names)
    for n in (3, 4, 5):
        assert not differs(steps, f, A, n)
    assert jitney.inspect(f).stats()["compiles"] == 1
    jitney.reset(f)
    f(A, 3), f(A, 4)
    assert jitney.inspect(f).stats()["compiles"] == 1, "marks outlive a reset"


@pytest.mark.parametrize("under", [True, False])
def test_marks_as_decorators(under):
    def plain(a, n):
        return a * n

    f = jitney.compile(jitney.mark_static("n")(plain)) if under else jitney.mark_static("n")(jitney.compile(plain))
    for n in (3, 4, 5):
        assert not differs(plain, f, A, n)
    assert jitney.inspect(f).stats()["compiles"] == 3


def test_a_static_array_compiles_for_each_shape():
    f = jitney.mark_static(jitney.compile(double), "a")
    for size in (3, 4, 5, 3):
        assert not differs(double, f, A[:size])
    assert jitney.inspect(f).stats()["compiles"] == 3
    assert all(isinstance(extent, int) for node in jitney.inspect(f).graph().nodes for extent in node.shape)


def test_marks_want_parameters():
    with pytest.raises(ValueError, match="no parameter 'q'; it has: a, n, m"):
        jitney.mark_dynamic(steps, "q")
    with pytest.raises(TypeError, match="named by text or number"):
        jitney.mark_static(steps, 2.5)
    assert "_jitney_marks" not in vars(steps)


# set_stance


def test_force_eager():
    f = jitney.compile(double)
    with jitney.set_stance("force_eager"):
        f(A)
    assert native(f) == 0 and not len(jitney.inspect(f))
    f(A)
    assert native(f) == 1


def test_eager_on_recompile():
    f = jitney.compile(double)
    f(A)
    with jitney.set_stance("eager_on_recompile"):
        f(A)
        assert f([1]) == [1, 1]
    stats = jitney.inspect(f).stats()
    assert stats["compiles"] == 1 and stats["native_calls"] == 2


def test_fail_on_recompile():
    f = jitney.compile(double)
    f(A)
    with jitney.set_stance("fail_on_recompile"):
        f(A)
        with pytest.raises(jitney.RecompileError, match="double would be compiled again"):
            f(A.astype("f4"))
    f(A.astype("f4"))


def two_units(a):
    b = np.sqrt(a * 2) + 1
    print(end="")
    return np.sqrt(b + 1) * b


@pytest.mark.parametrize("stance", ["force_eager", "eager_on_recompile", "fail_on_recompile"])
def test_stances_behind_a_break(stance):
    f = jitney.compile(two_units)
    f(A), f(A)
    before = jitney.inspect(f).stats()
    assert before["compiles"] == 2 and before["resumed_calls"] > 0
    with jitney.set_stance(stance):
        assert not differs(two_units, f, A)
        if stance == "fail_on_recompile":
            with pytest.raises(jitney.RecompileError):
                f(A.astype("f4"))
        else:
            assert not differs(two_units, f, A.astype("f4"))
    after = jitney.inspect(f).stats()
    assert after["compiles"] == 2
    assert (after["resumed_calls"] > before["resumed_calls"]) == (stance != "force_eager")


def test_a_stance_that_fails_lets_what_was_never_compiled_run():
    f = jitney.compile(double)
    with jitney.set_stance("fail_on_recompile"):
        assert not differs(double, f, A)
    assert not len(jitney.inspect(f))


def test_a_stance_as_function_and_decorator():
    f = jitney.compile(double)

    @jitney.set_stance("force_eager")
    def eager(a):
        return f(a)

    eager(A), eager(A)
    assert native(f) == 0
    f(A)
    assert native(f) == 1
    stance = jitney.set_stance("force_eager")
    f(A)
    jitney.set_stance("default")
    f(A)
    assert native(f) == 2 and stance is not None
    with pytest.raises(ValueError, match="no stance 'fast'"):
        jitney.set_stance("fast")


# limits and reset


def test_a_function_has_its_own_recompile_limit():
    f = jitney.compile(double, recompile_limit=2)
    for dtype in ("f8", "f4", "i8"):
        assert not differs(double, f, A.astype(dtype))
    assert jitney.inspect(f).stats()["compiles"] == 2
    assert [row["name"] for row in jitney.inspect(f).refusals] == ["RECOMPILE_LIMIT"]
    f = jitney.compile(double, recompile_limit=1, fullgraph=True)
    f(A)
    for _ in range(2):
        with pytest.raises(jitney.FullGraphError, match="RECOMPILE_LIMIT"):
            f(A.astype("f4"))
    f(A)
    with pytest.raises(ValueError, match="recompile_limit is"):
        jitney.compile(double, recompile_limit=-1)


def test_the_limit_of_all_functions(monkeypatch):
    f = jitney.compile(double)
    before = jitney.config.recompile_limit
    jitney.config.recompile_limit = 1
    try:
        f(A), f(A.astype("f4"))
    finally:
        jitney.config.recompile_limit = before
    assert jitney.inspect(f).stats()["compiles"] == 1


def test_reset_of_every_function():
    f, g = jitney.compile(double), jitney.compile(steps)
    f(A), g(A, 3)
    jitney.reset()
    assert len(jitney.inspect(f)) == len(jitney.inspect(g)) == 0
    assert not differs(double, f, A) and len(jitney.inspect(f)) == 1


# explain


def test_explain_of_one_graph():
    report = jitney.explain(double)(A)
    assert [(unit.start, unit.stop, unit.operations) for unit in report.units] == [(0, None, 1)]
    assert report.error is None and "one graph of 1 operation, " in str(report)


def test_explain_of_two_units():
    report = jitney.explain(two_units)(A)
    first, second = report.units
    assert (first.start, first.reason, first.stop_line, first.operations) == (0, "UNKNOWN_CALL", line_of(two_units, "print"), 3)
    assert second.start > first.stop and second.stop is None and second.operations == 3
    assert "2 units" in str(report) and first.hint in str(report)


def raises_late(a):
    b = a * 2
    return b[0] + {}["missing"]


def test_explain_keeps_its_report_when_the_function_raises():
    with pytest.raises(KeyError, match="missing") as caught:
        jitney.explain(raises_late)(A)
    report = caught.value.jitney_explanation
    assert report.error is caught.value and str(report) in caught.value.__notes__
    assert report.stats["calls"] == 1 and (report.units or report.refusals)


# reasons about frames and references


def looks_at_its_frame(a):
    b = np.sqrt(a) + 1
    exec("hidden = 3")
    print(end="")
    return np.sqrt(b) * 2, sys._getframe().f_code.co_name, eval("a[0]")


def test_a_function_that_looks_at_its_frame_keeps_it():
    f = jitney.compile(looks_at_its_frame)
    for _ in range(2):
        assert not differs(looks_at_its_frame, f, A)
    with pytest.raises(jitney.FullGraphError, match="OWN_FRAME"):
        jitney.compile(looks_at_its_frame, fullgraph=True)(A)


def names_from_exec(a):
    exec("hidden = 3")
    b = np.sqrt(a) + 1
    print(end="")
    b = np.sqrt(b) * 2
    print(end="")
    return b, list(locals())


def test_locals_lives_as_long_as_the_frame():
    f = jitney.compile(names_from_exec)
    for _ in range(3):
        assert not differs(names_from_exec, f, A)


DROPPED = []


class Noisy:
    def __del__(self):
        DROPPED.append("del")


@jitney.disable
def noisy():
    return Noisy()


def drops_in_the_middle(a):
    thing = noisy()
    b = np.sqrt(a * 2) + 1
    thing = None
    DROPPED.append("behind")
    return np.sqrt(b) * 2, thing


def test_a_destructor_runs_in_its_place():
    f = jitney.compile(drops_in_the_middle)
    for _ in range(4):
        assert not differs(drops_in_the_middle, f, A)
    assert DROPPED == ["del", "behind"] * 8
    rows = [row["name"] for row in jitney.inspect(f).refusals] + [unit.reason for unit in jitney.inspect(f).units]
    assert "DROP" in rows


@jitney.disable
def numbers():
    try:
        yield 1
        yield 2
    finally:
        DROPPED.append("closed")


def drops_in_another_order_than_its_frame(a):
    items = numbers()
    next(items)
    thing = noisy()
    a = np.sqrt(a) + 1
    thing = None
    return a


def test_destructors_run_in_the_order_of_the_program():
    DROPPED.clear()
    f = jitney.compile(drops_in_another_order_than_its_frame)
    for _ in range(3):
        assert not differs(drops_in_another_order_than_its_frame, f, A)
    assert DROPPED == ["del", "closed"] * 6


def prints_in_a_loop(a):
    for k in range(3):
        print(end="")
        a = np.sqrt(a) + k
    return a


def test_a_loop_whose_body_stops_says_so_once():
    report = jitney.explain(prints_in_a_loop)(A)
    assert {row["name"] for row in report.refusals} >= {"UNKNOWN_CALL", "LOOP_UNDER_WAY"}
    lines = str(report).splitlines()
    stated = [line for line in lines if line.startswith(f"  {__file__}:")]
    assert len(set(stated)) == len(stated) and any(line.endswith("times)") for line in stated)


# reasons that belong to no instruction


def reasons(script):
    """What a script that defines f and calls it is refused for, in a process of its own."""
    script = "import jitney, numpy as np\nA = np.arange(4.0)\n" + textwrap.dedent(script) + "\nprint([row['name'] for row in jitney.inspect(f).refusals])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return ast.literal_eval(run.stdout.splitlines()[-1])


def test_without_a_backend_the_reason_is_backend():
    found = reasons("""
        from jitney import _jitney
        _jitney.set_backend_path("/nowhere/backend.so")
        f = jitney.compile(lambda a: a * 2)
        assert f(A).tolist() == [0.0, 2.0, 4.0, 6.0]
    """)
    assert found == ["BACKEND"]


def test_a_backend_that_raises_is_not_installed():
    def bad(graph, inputs):
        raise ValueError("no")

    f = jitney.compile(double, backend=bad)
    assert not differs(double, f, A)
    assert [row["name"] for row in jitney.inspect(f).refusals] == ["INSTALL"]
    with pytest.raises(jitney.FullGraphError, match="INSTALL"):
        jitney.compile(double, backend=bad, fullgraph=True)(A)


def test_a_loop_behind_array_code_is_a_unit_of_its_own():
    found = reasons("""
        def f(a):
            b = a * a + a - 1
            s = 0.0
            for i in range(b.shape[0]):
                s += b[i % 4]
            return s
        plain, f, large = f, jitney.compile(f), np.arange(10000.0)  # small arrays are operands of native loops
        assert f(large) == plain(large) and f(large) == plain(large)
        assert jitney.inspect(f).stats()["flow_returns"] > 0
    """)
    assert found[0] == "NATIVE_LOOP"


def test_why_a_loop_is_not_native():
    script = "import jitney\ndef f(n):\n    for i in range(n):\n        print(i)\njitney.compile(f)(3)\n"
    env = {**os.environ, "JITNEY_LOGS": "perf_hints"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=env)
    assert run.stdout.split() == ["0", "1", "2"]
    assert "NO_LOOP" in run.stderr and "print" in run.stderr and "line 4" in run.stderr


@pytest.mark.not_sanitized
def test_a_trace_without_memory_is_refused():
    found = reasons("""
        import resource
        jitney.config.flows = False
        def f(a):
            x = [0]
            for i in range(30000):
                x[0] = (i, x[0] and None)
            return a + x[0][0]
        f = jitney.compile(f)
        expected = A + 29999
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 20), resource.RLIM_INFINITY))
        result = f(A)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert result.tolist() == expected.tolist()
    """)
    assert found == ["NO_MEMORY"]


def test_an_inspection_says_how_many_entries_there_are():
    f = jitney.compile(lambda x: x + 1)
    assert repr(jitney.inspect(f)).endswith("<lambda> has 0 compiled entries>")
    with pytest.raises(IndexError, match="has 0 compiled entries; call it first"):
        jitney.inspect(f).guards()
    f(A)
    assert repr(jitney.inspect(f)).endswith("<lambda> has 1 compiled entry>")
    with pytest.raises(IndexError, match="has 1 compiled entry; the last is entry 0"):
        jitney.inspect(f).guards(1)


def test_a_wrong_use_changes_nothing():
    with pytest.raises(ValueError, match="no log channel 'nope'"):
        jitney.set_logs(guards=True, nope=True)
    with pytest.raises(TypeError, match="text file to write to"):
        jitney.set_logs(3, guards=True)
    assert not any(on for _, on, _ in jitney._jitney.log_rows())
    with pytest.raises(TypeError, match="the name of a backend is text"):
        jitney.register_backend(3, lambda graph, inputs: None)
    assert all(isinstance(name, str) for name in jitney.list_backends())
    with jitney.set_stance("default") as stance:
        pass
    with pytest.raises(RuntimeError, match="left already"):
        stance.__exit__(None, None, None)
    for path in "x[", "x.", "x..y", "x[0]; import os", "x[0] + 1":
        for f in (lambda x: x), jitney.compile(lambda x: x):
            with pytest.raises(ValueError, match="is no path into an argument"):
                jitney.mark_dynamic(f, path)
            assert not hasattr(f, "_jitney_marks")
