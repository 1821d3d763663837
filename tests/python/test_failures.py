"""What cannot be done is done by CPython: bad input, missing parts, exhausted limits."""

import io
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import jitney
from jitney import _jitney
from jitney.testing import differs

A = np.linspace(0.5, 1.0, 12)


def test_without_llvm_functions_run_eager():
    code = """
import io, numpy as np, jitney
from jitney import _jitney
_jitney.set_backend_path("/nowhere/_backend_llvm.so")
log = io.StringIO()
jitney.set_logs(file=log, graph_breaks=True)
f = lambda a: a * 2.0 + 1.0
g = jitney.compile(f)
a = np.arange(4.0)
for _ in range(5):
    assert (g(a) == f(a)).all()
assert jitney.inspect(g).stats()["native_calls"] == 0
assert "nowhere" in log.getvalue(), log.getvalue()
print("eager")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "eager\n", done.stderr


def bad_shapes(a):
    return a + np.ones(5)


def bad_axis(a):
    return a.sum(axis=3)


def bad_index(a):
    return a[100]


def bad_product(a):
    return a @ np.ones(5)


def empty_minimum(a):
    return a[:0].min()


def bad_in_place(a):
    a = a.astype(np.int64)
    a += 0.5
    return a


def bad_reshape(a):
    return a.reshape(5, -1)


@pytest.mark.parametrize("f", [bad_shapes, bad_axis, bad_index, bad_product, empty_minimum, bad_in_place, bad_reshape], ids=lambda f: f.__name__)
def test_errors_are_numpys_from_the_users_line(f):
    g = jitney.compile(f)
    for _ in range(2):
        assert differs(f, g, A) is None


def matrix(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix(rows)


@pytest.mark.parametrize(
    "a",
    [
        np.array([1, "x", None], dtype=object),
        np.array(["a", "b"]),
        np.array([1, 2], dtype="datetime64[s]"),
        np.zeros(3, dtype=[("x", "f8")]),
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        matrix([[1.0, 2.0], [3.0, 4.0]]),
        np.arange(3, dtype=np.uint8),
        np.arange(3, dtype=np.float16),
        np.arange(3, dtype=np.complex128),
        np.arange(3, dtype=">f8"),
        np.arange(3, dtype=np.longlong),
        [1.0, 2.0],
        "text",
        None,
        10**30,
        3 + 4j,
    ],
    ids=lambda a: str(getattr(a, "dtype", type(a).__name__)),
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_other_kinds_of_data_run_in_cpython(a):
    def f(x):
        return x * 2

    assert differs(f, jitney.compile(f), a) is None


def test_array_function_objects_run_in_cpython():
    class Array:
        def __array_function__(self, function, types, args, kwargs):
            return "mine", function.__name__

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "mine", ufunc.__name__

    def f(x):
        return np.sum(x), np.sqrt(x)

    assert jitney.compile(f)(Array()) == (("mine", "sum"), ("mine", "sqrt"))


def divide(a, b):
    return a / b + 1.0


def test_warnings_are_eagers():
    g = jitney.compile(divide)
    zero = np.zeros(3)
    for arguments in ((zero, zero), (A, A * 0), (A * 1e300, A * 1e-300), (A, A)):
        for state in ({}, {"divide": "ignore", "invalid": "ignore"}, {"all": "raise"}, {"over": "ignore"}):
            with np.errstate(**state):
                assert differs(divide, g, *arguments) is None
    for action in ("error", "always", "ignore", "once"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            assert differs(divide, g, zero, zero) is None


def test_in_place_writes_are_put_back_before_a_warning():
    def f(a, b):
        a += 1.0
        a /= b
        return a.sum()

    g = jitney.compile(f)
    for b in (np.array([1.0, 2.0]), np.array([0.0, 2.0]), np.array([4.0, 2.0])):
        for state in ({}, {"all": "raise"}, {"all": "ignore"}):
            with np.errstate(**state):
                assert differs(f, g, np.array([1.0, 2.0]), b) is None


def test_overflow_of_numpy_ints_warns():
    def f(a, k):
        return a[0] * k

    g = jitney.compile(f)
    for k in (np.int64(3), np.int64(2**62)):
        assert differs(f, g, np.array([5, 6]), k) is None


def test_two_threads():
    g = jitney.compile(lambda a, b: np.sqrt(a * a + b * b))
    failures = []

    def work(n):
        a = np.arange(float(n))
        for _ in range(200):
            if not np.array_equal(g(a, a), np.sqrt(a * a + a * a)):
                failures.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 1000, 50_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork():
    g = jitney.compile(lambda a: a + 1.0)
    g(A)
    child = os.fork()
    if child == 0:
        fresh = jitney.compile(lambda a: a * 3.0)
        os._exit(0 if (g(A) == A + 1.0).all() and (fresh(A) == A * 3.0).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_bad_switches_warn_and_change_nothing():
    environment = {**os.environ, "JITNEY_RECOMPILE_LIMIT": "many", "JITNEY_LOGS": "nothing"}
    done = subprocess.run(
        [sys.executable, "-c", "import jitney; print(jitney.config.recompile_limit)"], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "8\n"
    assert "JITNEY_RECOMPILE_LIMIT" in done.stderr and "nothing" in done.stderr


def test_command_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\ndef f(a):\n    return np.sqrt(a) + 1.0\ndef f_args():\n    return [np.ones(100)]\n")

    def run(*words):
        return subprocess.run([sys.executable, "-m", "jitney", *words], capture_output=True, text=True)

    done = run("bench", f"{program}:f", "--seconds", "0.05")
    assert done.returncode == 0 and "identical: yes" in done.stdout and "ratio" in done.stdout, done.stderr
    done = run("bench", f"{program}:f", "--seconds", "0.05", "--json", "--args", "np.ones(3)")
    assert done.returncode == 0 and '"identical": true' in done.stdout
    assert "compiled as one graph" in run("explain", f"{program}:f").stdout
    assert "llvm" in run("info").stdout
    assert "JITNEY_RECOMPILE_LIMIT" in run("config").stdout
    done = run("bench", f"{program}:nothing")
    assert done.returncode == 1 and "function nothing" in done.stderr
    assert "no file" in run("bench", "nowhere.py:f").stderr


def test_break_rows_have_texts():
    for name, phase, what, hint in _jitney.break_rows():
        assert name and phase and what and hint, name


def test_log_goes_to_a_file(tmp_path):
    path = tmp_path / "log"
    code = "import numpy as np, jitney; jitney.compile(lambda a: a + 1.0)(np.ones(3))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "JITNEY_LOGS": "graph", "JITNEY_LOGS_FILE": str(path)}, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert "add" in path.read_text()


def test_compare_mode_passes():
    code = """
import numpy as np, jitney
jitney.config.compare = True
g = jitney.compile(lambda a, b: (np.exp(a) @ b).sum() + (a - b)[::-1].max(axis=0))
a = np.linspace(0, 1, 36).reshape(6, 6)
g(a, a.T)
assert jitney.inspect(g).stats()["native_calls"] == 1
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_closed_log_file_does_no_harm():
    file = io.StringIO()
    jitney.set_logs(file=file, graph=True)
    file.close()
    hook, sys.unraisablehook = sys.unraisablehook, lambda args: None
    try:
        jitney.compile(lambda a: a + 2.0)(A)
    finally:
        sys.unraisablehook = hook
        jitney.set_logs(graph=False)
