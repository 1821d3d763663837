"""jitney.explain(...).loops: one record per loop, with what became of it, of its checks, and why it is not vectorised."""

import inspect
import math
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import jitney

A = np.arange(200.0)
M = np.arange(900.0).reshape(30, 30)


def loops(f, *args, **options):
    return jitney.explain(jitney.compile(f, **options) if options else f)(*args).loops


def only(f, *args, **options):
    (loop,) = loops(f, *args, **options)
    return loop


def line(f, text):
    """The line of the first line of f with the text."""
    source, first = inspect.getsourcelines(f)
    return first + next(k for k, row in enumerate(source) if text in row)


def checks(loop):
    return loop.checks_proven, loop.checks_hoisted, loop.checks_noted, loop.checks_left


# -- where loops are ------------------------------------------------------------------------------------------------------------------


def many_kinds(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    k = 0
    while k < n:
        k += 3
    for i in range(n):
        for j in range(3):
            s += x[j] * i
    return s, [a * 2 for a in range(n)]


def test_each_loop_has_a_record_with_its_lines():
    found = loops(many_kinds, A, 100)
    starts = ["for i in range(n):", "while", None, "for j", "[a * 2"]
    lines = [line(many_kinds, text) if text else line(many_kinds, "for j") - 1 for text in starts]
    assert [(loop.kind, loop.line, loop.depth) for loop in found] == list(zip(["for", "while", "for", "for", "comprehension"], lines, [0, 0, 0, 1, 0]))
    inlined = sys.version_info >= (3, 12)  # before, a comprehension behind native loops is a function that they do not make
    assert all(loop.state == "native" and loop.file == __file__ for loop in found[: 5 if inlined else 4])
    assert inlined or (found[4].state, found[4].function) == ("left", "<listcomp>")
    assert found[0].last_line == lines[0] + 1 and found[2].last_line == lines[2] + 2


def whiles(n):
    k = 0
    while k < n:
        k += 2
        if k % 7 == 3:
            continue
        k -= 1
    while True:
        k -= 1
        if k < 0:
            break
    return k


def test_a_while_with_two_tests_is_one_loop():
    first, second = loops(whiles, 500)
    assert (first.kind, first.line, second.kind) == ("while", line(whiles, "while k"), "while")
    assert second.line in (line(whiles, "while True"), line(whiles, "while True") + 1)


def handlers(x):
    s = 0.0
    for i in range(len(x)):
        try:
            s += x[i]
        except IndexError:
            continue
    for j in range(3):
        s += j
    return s


def test_handlers_behind_the_code_do_not_make_a_loop_longer():
    first, second = loops(handlers, A)
    assert (first.depth, second.depth) == (0, 0) and second.line == line(handlers, "for j")


def short(x, i):
    t = 0.0
    for k in range(3):
        t += x[i, k]
    return [t] if i < 0 else t


def calls_short(x):
    s = 0.0
    for i in range(len(x)):
        s += short(x, i)
    return s


def with_loop(n, i):
    t = 0.5
    for k in range(n):
        t = t * 0.5 + i
    return t


def calls_with_loop(n):
    s = 0.0
    for i in range(n):
        s += with_loop(n, i)
    return s


def test_loops_of_callees_have_their_own_lines():
    outer, inner = loops(calls_short, M)
    assert (outer.line, outer.depth, outer.function) == (line(calls_short, "for i"), 0, "calls_short")
    assert (inner.line, inner.depth, inner.function) == (line(short, "for k"), 1, "short")
    outer, callee, inner = loops(calls_with_loop, 30)
    assert (callee.kind, callee.function, callee.depth, callee.state) == ("function", "with_loop", 1, "native")
    assert (inner.line, inner.depth, outer.why.name, outer.why.detail) == (line(with_loop, "for k"), 2, "OWN_CODE", "with_loop")


def test_exits_of_callees_in_other_files_have_that_file(tmp_path):
    path = tmp_path / "other_module.py"
    path.write_text("def item(x, i):\n    return x[i]\n\ndef loop(x, n):\n    s = 0.0\n    for i in range(n):\n        s += x[i]\n    return s\n")
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    loop = scope["loop"]

    def f(x, n):
        t = 0.0
        for k in range(3):
            t += loop(x, n)
        return t

    found = loops(f, A, 50)
    assert [(r.file, r.line) for r in found if r.kind == "for"] == [(__file__, f.__code__.co_firstlineno + 2), (str(path), 6)]


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_recursion():
    record = only(fib, 20)
    assert (record.kind, record.function, record.recursive, record.state) == ("function", "fib", True, "native")
    assert record.line == fib.__code__.co_firstlineno and sum(checks(record)) == 3
    assert "a function that calls itself" in str(jitney.explain(fib)(20))


# -- states ----------------------------------------------------------------------------------------------------------------------------


def unrolled(x):
    for k in range(3):
        x = x * 2.0
    return x


def test_an_unrolled_loop():
    loop = only(unrolled, A)
    assert (loop.state, loop.rounds, loop.vectorised, loop.line) == ("unrolled", 3, None, line(unrolled, "for"))


def breaks_in_body(x):
    for k in range(3):
        x = np.sqrt(x * x) + x
        print(end="")
        x = np.sqrt(x * x + 1.0) - x
    return x


def test_a_loop_whose_body_is_compiled():
    loop = only(breaks_in_body, A)
    assert (loop.state, loop.reason.name, loop.reason.line) == ("per body", "UNKNOWN_CALL", line(breaks_in_body, "print"))
    assert "print" in loop.reason.detail and loop.reason.hint


def over_a_dict(d):
    t = 0
    for k in d:
        t += len(d[k])
    return t


def test_a_loop_that_is_left():
    loop = only(over_a_dict, {k: "a" for k in range(100)})
    assert loop.state == "left" and loop.reason.name and loop.line == line(over_a_dict, "for")


def print_each(x):
    s = 0.0
    for i in range(len(x)):
        print(end="")
        s += x[i]
    return s


def test_a_loop_that_numbers_alone_would_not_stop():
    loop = only(print_each, A)
    assert loop.state in ("left", "per body") and loop.reason.line == line(print_each, "print(")


def not_met(x, n):
    y = x * 2.0
    if n > 0:
        return y
    for k in range(3):
        y = y + x
    return y


def test_a_loop_that_no_way_comes_to():
    assert only(not_met, A, 1).state in ("not met", "left")


def test_a_function_without_loops_has_no_table():
    report = jitney.explain(lambda x: x * 2.0)(A)
    assert report.loops == [] and "loops:" not in str(report)


# -- vectors ---------------------------------------------------------------------------------------------------------------------------


def scaled(x, y):
    for i in range(len(x)):
        y[i] = x[i] * 2.0


def test_a_vectorised_loop():
    loop = only(scaled, A, A.copy())
    assert loop.vectorised and loop.lanes in (2, 4, 8, 16) and loop.why is None and loop.counted


def a_call(x, y):
    for i in range(len(x)):
        y[i] = math.exp(x[i] * 0.001)


def leaves_inside(x, v):
    for i in range(len(x)):
        if x[i] == v:
            return i
    return -1


def not_counted(n):
    k = 0
    while k < n:
        k += 3
    return k


def check_left(n):
    s = 1
    for i in range(n):
        s = s * 3
    return s


def ordered_sum(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i, 0]
    return s


def recurrence(x):
    a = 0.0
    for i in range(len(x)):
        a = a * 0.5 + x[i]
    return a


def around(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(3):
            s += x[i, j]
    return s


def folded(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


def own_code(x):
    s = 0.0
    for i in range(len(x)):
        s += fib(i % 4)
    return s


def too_long():
    body = "".join(f"        a = a * {k}.5 + x[i - {k}]\n" for k in range(80))
    scope = {}
    exec(f"def f(x, y):\n    for i in range(len(x)):\n        a = x[i]\n{body}        y[i] = a\n", scope)
    return scope["f"]


def turned_in_place(x):
    for i in range(len(x)):
        x[i] = x[len(x) - 1 - i] * 2.0


REASONS = {
    "AROUND_LOOPS": (around, M),
    "OWN_CODE": (own_code, A),
    "C_CALL": (a_call, A, A.copy()),
    "LEFT_INSIDE": (leaves_inside, A, 150.0),
    "TOO_LONG": (too_long(), A, A.copy()),
    "NOT_COUNTED": (not_counted, 500),
    "CHECK_LEFT": (check_left, 30),
    "ORDERED_SUM": (ordered_sum, M),
    "RECURRENCE": (recurrence, A),
    "FOLDED": (folded, 1000),
    "NO_GAIN": (turned_in_place, A.copy()),
}


@pytest.mark.parametrize("name", REASONS)
def test_each_reason(name):
    f, *args = REASONS[name]
    loop = loops(f, *args)[0]
    assert (loop.state, loop.vectorised, loop.why.name) == ("native", False, name)
    assert loop.why.what and loop.why.hint and loop.lanes == 1


def test_every_reason_has_a_test_and_is_documented():
    root = pathlib.Path(__file__).resolve().parents[2]
    rows = re.findall(r'^LOOP_WHY\(\s*(\w+),\s*"([^"]+)",\s*"([^"]+)"', (root / "graph" / "loop_whys.def").read_text(), re.M)
    assert {name for name, _, _ in rows} == set(REASONS)
    text = (root / "docs" / "flow.md").read_text()
    assert [row for row in rows if f"| `{row[0]}` | {row[1]} | {row[2]} |" not in text] == []


def test_what_a_reason_names():
    f, *args = REASONS["CHECK_LEFT"]
    why = only(f, *args).why
    assert (why.detail, why.line) == ("int overflow", line(check_left, "s * 3"))
    assert only(a_call, A, A.copy()).why.detail == "exp"
    assert loops(own_code, A)[0].why.detail == "fib"


def test_fastmath_makes_vectors_of_ordered_sums():
    assert only(ordered_sum, M).why.name == "ORDERED_SUM"
    loop = only(ordered_sum, M, fastmath=True)
    assert loop.vectorised or loop.why.name == "NO_GAIN"


# -- checks ----------------------------------------------------------------------------------------------------------------------------


def reads_all(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


def reads_n(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    return s


def gathers(x, places):
    s = 0.0
    for i in range(len(places)):
        s += x[places[i]]
    return s


def counts_ints(n):
    s = 0
    for i in range(n):
        s += i
    return s


def test_counts_of_checks():
    assert checks(only(reads_all, A)) == (1, 0, 1, 0)  # the index holds in every call; a warning of the sum is asked for once for many rounds
    assert checks(only(reads_n, A, 100)) == (0, 1, 1, 0)  # n is compared in front
    assert checks(only(gathers, A, np.arange(100)))[3] >= 1  # a place that memory says
    assert checks(only(counts_ints, 100)) == (0, 1, 0, 0)  # what the sum comes to is known in front
    assert checks(only(check_left, 30)) == (0, 0, 0, 1)


def test_checks_count_once_however_many_copies_a_loop_has():
    first = only(reads_n, A, 100)
    explained = jitney.explain(reads_n)
    assert checks(explained(A, 100).loops[0]) == checks(first)


# -- exits -----------------------------------------------------------------------------------------------------------------------------


def test_an_exit_says_which_check_how_often_and_with_what():
    report = jitney.explain(check_left)(60)
    (exit,) = [e for loop in report.loops for e in loop.exits if e.kind == "check"]
    assert (exit.file, exit.line, exit.what) == (__file__, line(check_left, "s * 3"), "int overflow")
    assert exit.count >= 1
    values = dict(re.findall(r"(\S+)=(-?\d+)", exit.values))
    assert int(values["s"]) == 3 ** int(values["i"]) and int(values["s"]) * 3 >= 2**63
    assert f"left {exit.count} time" in str(report) and "int overflow" in str(report) and "s=" in str(report)


def test_an_index_says_its_place():
    x = np.arange(5000.0)  # long enough to come back behind a poll
    with pytest.raises(IndexError) as caught:
        jitney.explain(reads_n)(x, 5009)
    (loop,) = caught.value.jitney_explanation.loops
    (exit,) = [e for e in loop.exits if e.kind == "check"]
    assert "index" in exit.what and "i=5000" in exit.values


def test_values_hold_no_object():
    class Probe(np.ndarray):
        pass

    x = np.arange(50.0)
    before = sys.getrefcount(x)
    compiled = jitney.compile(reads_n)
    compiled(x, 40)
    with pytest.raises(IndexError):
        compiled(x, 60)
    jitney.inspect(compiled).loops
    assert sys.getrefcount(x) == before


# -- threads ---------------------------------------------------------------------------------------------------------------------------


def spread(x, y):
    for i in jitney.prange(len(x)):
        y[i] = x[i] * 2.0


def not_spread(x):
    s = 0.0
    for i in jitney.prange(len(x)):
        s += x[i]
    return s


def test_prange():
    report = jitney.explain(spread)(A, A.copy())
    (loop,) = report.loops
    assert "on threads" in loop.threads and loop.kind == "for"
    assert only(not_spread, A).threads.startswith("on one thread: its rounds add floats to one")
    assert str(report).count("prange in line") == 1


# -- the text --------------------------------------------------------------------------------------------------------------------------


def test_the_report_is_short_and_aligned():
    text = str(jitney.explain(many_kinds)(A, 100)).splitlines()
    begin = text.index("  loops:")
    rows = [row for row in text[begin + 1 :] if re.match(r"    test_explain\.py:\d+ ", row)]  # below one stand its exits: a poll, where others are at work
    assert len(rows) == 5 and all(len(row) < 110 for row in rows)  # the last is the comprehension's
    assert len({row.index("native") for row in rows[:4]}) == 1
    assert sum("AROUND_LOOPS:" in row for row in text) == 1  # each reason is explained once


def test_inspect_has_the_same():
    compiled = jitney.compile(reads_n)
    compiled(A, 100)
    found = jitney.inspect(compiled).loops
    assert [str(loop) for loop in found] == [str(loop) for loop in jitney.explain(reads_n)(A, 100).loops]


def test_slow_executors_say_nothing_of_vectors(monkeypatch):
    before = jitney.config.executor
    jitney.config.executor = "loop"
    try:
        loop = only(scaled, A, A.copy())
    finally:
        jitney.config.executor = before
    assert loop.state == "native" and loop.vectorised is None and loop.why is None


# -- lines in what jitney prints ---------------------------------------------------------------------------------------------------------


def whole_arrays(x, y):
    a = x * 2.0
    return a + y


def test_texts_have_the_lines_of_the_program():
    first = line(reads_n, "def")
    compiled = jitney.compile(reads_n)
    compiled(A, 100)
    found = jitney.inspect(compiled)
    assert f"@{first + 3}" in found.loop_ir()  # of the flow
    for text in (found.llvm_ir(), found.llvm_ir(optimized=True)):
        assert f'!"line {first + 3}"' in text and "DILocation" not in text
    assert f"# line {first + 3}\n" in found.asm() and ".loc" not in found.asm()
    compiled = jitney.compile(whole_arrays)
    compiled(A, A)
    found = jitney.inspect(compiled)
    first = line(whole_arrays, "def")
    assert {node.line for node in found.graph().nodes if node.op == "call"} == {first + 1, first + 2}
    for text in (found.llvm_ir(), found.asm(), found.loop_ir()):
        assert f"line {first + 1}" in text and f"line {first + 2}" in text


def stopped_round(words):
    total = 0.0
    for word in words:
        os.getpid()
        total = total * 1.5 + len(word)
    return total


def stopped_array(x, n):
    for _ in range(n):
        os.getpid()
        x = x * 0.5 + 1.0
    return x


def test_a_loop_under_way_names_what_stops_it():
    line = stopped_array.__code__.co_firstlineno + 2
    report = jitney.explain(stopped_array)(A, 4)
    assert report.loops[0].reason.name == "UNKNOWN_CALL" and report.loops[0].reason.line == line
    assert f"a range_iterator; line {line} stops it: UNKNOWN_CALL: <built-in function getpid>" in str(report)
    row = next(row for row in jitney.explain(stopped_round)(["a", "bc"] * 20).refusals if row["name"] == "LOOP_UNDER_WAY")
    assert f"line {stopped_round.__code__.co_firstlineno + 3} stops it: UNKNOWN_CALL" in row["detail"]


def test_what_one_call_says_is_not_said_of_later_ones():
    def f(x):
        os.getpid()
        return x

    report = jitney.explain(f)(A)
    assert not report.compiled and report.goes_on and "later ones may compile" in str(report)

    report = jitney.explain(lambda x: x * 2.0)(A)
    assert not report.goes_on


def test_the_command_shows_a_traceback_of_the_users_frames_only(tmp_path):
    (tmp_path / "program.py").write_text("def inner(x):\n    raise ValueError(x)\n\ndef f(x):\n    y = x * 2.0 + 1.0\n    inner(3)\n    return y\n")
    command = [sys.executable, "-m", "jitney", "explain", "program.py:f", "--args", "np.ones(3)"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    frames = [line.split('"')[1] for line in done.stderr.splitlines() if line.startswith('  File "')]
    assert done.returncode == 1 and [os.path.basename(name) for name in frames] == ["program.py", "program.py"]
    assert "ValueError: 3" in done.stderr and "the call raised ValueError" in done.stderr
