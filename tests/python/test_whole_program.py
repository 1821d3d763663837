"""Whole-program mode: what `python -m jitney run` shows is what `python` shows, and only functions that gain stay compiled."""

import gc
import os
import py_compile
import re
import signal
import subprocess
import sys
import textwrap
import threading
import types

import numpy as np
import pytest

import jitney

needs_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 has no sys.monitoring")


# -- as python itself ----------------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "arguments": "import sys; print(sys.argv, __name__, sys.path[0] == '', __doc__, __spec__ is None, __package__, __annotations__)",
    "file": "import os, sys; print(globals().get('__file__'), sys.path[0], __builtins__.__name__, type(__loader__), __cached__)",
    "exit": "raise SystemExit(3)",
    "exit text": "import sys; sys.exit('went wrong')",
    "error": "def f(x):\n    return 1 / x\n\ntry:\n    f(0)\nexcept ZeroDivisionError as e:\n    raise ValueError('no') from e\n",
    "error in a loop": "def f(x):\n    return 1 / x\n\nfor i in range(300, -1, -1):\n    f(i)\n",
    "syntax": "x = = 3\n",
    "group": "raise ExceptionGroup('g', [ValueError(1), KeyError('k')])\n",
    "hook": "import sys\nsys.excepthook = lambda t, v, tb: print('mine', t.__name__, v, tb.tb_lineno, tb.tb_next)\n1 / 0\n",
    "at exit": "import atexit, sys\natexit.register(lambda: print('bye', getattr(sys, 'last_value', None)))\nraise KeyError('k')\n",
    "main": "import sys, pickle\nclass A: pass\nprint(sys.modules['__main__'].A is A, type(pickle.loads(pickle.dumps(A()))) is A, A.__module__)\n",
    "threads": "import threading, time\ndef late():\n    time.sleep(0.2); print('late')\nthreading.Thread(target=late).start()\nprint('main done')\n",
    "unraised": "import warnings\nwarnings.warn('careful')\ndef f(): warnings.warn('deep', stacklevel=2)\nfor i in range(200): f()\n",
    "stdin": "import sys; print(sys.stdin.read().upper())",
    "interrupt": "import atexit\natexit.register(lambda: print('bye', '__file__' in globals()))\nraise KeyboardInterrupt\n",
    "at exit, the name": "import atexit\natexit.register(lambda: print('__file__' in globals(), '__cached__' in globals()))\n",
    "at exit, the name after exit": "import atexit\natexit.register(lambda: print('__file__' in globals()))\nraise SystemExit(2)\n",
    "depth": "def f(n):\n    return n if n == 0 else 1 + f(n - 1)\nimport sys\nn = 900\nwhile True:\n    n += 1\n    try: f(n)\n    except RecursionError: break\nprint(n)\n",
    "stack": "import sys, traceback\ntraceback.print_stack()\nf = sys._getframe()\nwhile f: print(f.f_code.co_name); f = f.f_back\n",
    "stack in the hook": "import sys, traceback\nsys.excepthook = lambda *a: traceback.print_stack()\n1 / 0\n",
    "warning from outside": "import warnings\nfor level in 1, 2, 3: warnings.warn('careful', stacklevel=level)\n",
    "no hook": "import sys\ndel sys.excepthook\n1 / 0\n",
    "bad hook": "import sys\nsys.excepthook = 3\n1 / 0\n",
    "failing hook": "import sys\nsys.excepthook = lambda *a: [][0]\n1 / 0\n",
    "leaving hook": "import sys\nsys.excepthook = lambda *a: sys.exit(7)\n1 / 0\n",
    "no standard error": "import sys\nsys.stderr = None\n1 / 0\n",
    "failing text": "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})\n",
    "exit of a kind": "class Leave(SystemExit): pass\nraise Leave('text')\n",
    "exit with a tuple": "raise SystemExit(1, 2)\n",
    "locals": "x = 1\nprint(sorted(k for k in locals() if not k.startswith('__')), locals() is globals())",
}  # fmt: skip


def run(*arguments, cwd, jitted, text="text on stdin"):
    command = [sys.executable, *(["-m", "jitney", "run"] if jitted else []), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, input=text, env=environment)
    return done.returncode, done.stdout, done.stderr


def same(*arguments, cwd, **more):
    assert run(*arguments, cwd=cwd, jitted=True, **more) == run(*arguments, cwd=cwd, jitted=False, **more)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_in_python(name, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "program.py").write_text(PROGRAMS[name])
    same("sub/program.py", "one", "-m", "--summary", cwd=tmp_path)


@pytest.mark.parametrize("name", ["arguments", "exit", "error", "syntax", "main", "interrupt", "depth", "stack", "warning from outside", "bad hook"])
def test_code_and_modules_run_as_in_python(name, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAMS[name])
    same("-c", PROGRAMS[name], "one", "-c", cwd=tmp_path)
    same("-m", "program", "one", "-m", cwd=tmp_path)


def test_packages_and_folders_run_as_in_python(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("print('package', __name__)")
    (tmp_path / "package" / "__main__.py").write_text("import sys; print(sys.argv, sys.path[0], __name__, __package__, __spec__.name); 1 / 0")
    same("-m", "package", "x", cwd=tmp_path)
    same("package", "x", cwd=tmp_path)
    same("missing.py", cwd=tmp_path)
    same("-m", "package.missing", cwd=tmp_path)


def test_an_encoding_line_is_read(tmp_path):
    (tmp_path / "program.py").write_bytes("# coding: latin-1\nprint(ascii('é'))\n".encode("latin-1"))
    same("program.py", cwd=tmp_path)


FILES = {
    "null": b"print(1)\n\0",
    "no encoding": b"print(1)\nprint('\xe9')\n",
    "unknown encoding": b"# coding: foo\nprint(1)\n",
    "mark": b"\xef\xbb\xbfprint(ascii('\xc3\xa9'))\n1 / 0\n",
    "carriage returns": b'print(ascii("""a\r\nb"""))\r\n1 / 0\r\n',
    "escape": b'x = "\\d"\nprint(1 is 1)\n',
    "future": b"from __future__ import annotations\ndef f(x: y): pass\nprint(f.__annotations__)\n",
    "empty": b"",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_in_python(name, tmp_path):
    (tmp_path / "program.py").write_bytes(FILES[name])
    same("program.py", cwd=tmp_path)


def test_compiled_files_run_as_in_python(tmp_path):
    (tmp_path / "program.py").write_text("import sys; print(__file__, __cached__, type(__loader__), sys.argv); 1 / 0")
    py_compile.compile(str(tmp_path / "program.py"), str(tmp_path / "compiled.pyc"))
    (tmp_path / "bad.pyc").write_text("print(1)")
    (tmp_path / "other.name").write_bytes((tmp_path / "compiled.pyc").read_bytes())
    for name in "compiled.pyc", "bad.pyc", "other.name":
        same(name, "x", cwd=tmp_path)


def test_a_program_on_standard_input_and_the_folder_itself(tmp_path):
    program = "import sys; print(__name__, __file__, sys.argv, sys.path[0] == '', __cached__)\nsys._getframe().f_back\n1 / 0\n"
    same("-", "x", cwd=tmp_path, text=program)
    same(".", cwd=tmp_path)
    (tmp_path / "__main__.py").write_text("import sys; print(sys.path[0], sys.argv, __file__)")
    same(".", cwd=tmp_path)


def test_an_interrupt_ends_as_in_python(tmp_path):
    handle = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # who started the tests may have it ignored
    (tmp_path / "program.py").write_text(f"import signal, os\n{handle}\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n")
    same("program.py", cwd=tmp_path)
    assert run("program.py", cwd=tmp_path, jitted=True)[0] == -signal.SIGINT


def test_bad_use_is_one_usage_line(tmp_path):
    for arguments in (), ("--what",), ("-m",):
        code, out, errors = run(*arguments, cwd=tmp_path, jitted=True)
        assert (code, out, errors.startswith("usage: ")) == (2, "", True)


def test_help_explains_every_option(tmp_path):
    code, out, errors = run("--help", cwd=tmp_path, jitted=True)
    assert (code, errors) == (0, "")
    usage, _, explained = out.partition("\n\n")
    for option in re.findall("--[a-z]+", usage):
        assert f"\n  {option} " in explained


def test_the_summary_names_what_was_compiled(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent("""
        import numpy as np
        def kernel(a, b):
            return np.sqrt(a * a + b * b) / (a + b) * 3.0
        a = np.linspace(1, 2, 500)
        for i in range(2000):
            kernel(a, a)
    """))  # fmt: skip
    code, out, errors = run("--summary", "program.py", cwd=tmp_path, jitted=True)
    assert (code, out) == (0, "")
    assert "jitney:   __main__.kernel\n" in errors


# -- what is found -----------------------------------------------------------------------------------------------------------------


def kernel(a, b, n):
    return np.sqrt(a * a + b * b) * n + a / (b + 1.0)


def looks_up(table, key):
    return table.get(key, 0)


def makes(n):
    for i in range(n):
        yield i


def fresh(function):
    """A function that was never seen: what is known of code is kept with it."""
    return types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__)


def heat(function, *arguments):
    """Calls it often enough for a verdict. The loop is here: a hot caller would be compiled with `function` inlined."""
    for _ in range(1000):
        function(*arguments)


def test_a_hot_function_is_compiled_in_place_and_plain_again_afterwards():
    hot = fresh(kernel)
    a = np.linspace(0, 1, 2000)
    expected = hot(a, a + 1, 3)
    with jitney.enable() as enabled:
        heat(hot, a, a + 1, 3)
        assert hot in enabled.stats["functions"]
        assert jitney.is_compiled(hot)
        before = jitney.inspect(hot).stats()["native_calls"]
        assert hot(a, a + 1, 3).tobytes() == expected.tobytes()
        assert jitney.inspect(hot).stats()["native_calls"] == before + 1
    before = jitney.inspect(hot).stats()["calls"]
    assert hot(a, a + 1, 3).tobytes() == expected.tobytes()
    assert jitney.inspect(hot).stats()["calls"] == before


def test_what_gains_nothing_is_left_alone():
    useless, generator = fresh(looks_up), fresh(makes)
    with jitney.enable() as enabled:
        heat(useless, {}, "k")
        heat(generator, 2)
        assert useless not in enabled.stats["functions"]
        assert not jitney.is_compiled(generator)


def test_libraries_are_skipped_unless_they_are_asked_for(tmp_path):
    code = kernel.__code__.replace(co_filename=np.__file__)
    library = types.FunctionType(code, globals(), "library")
    a = np.linspace(0, 1, 2000)
    with jitney.enable():
        heat(library, a, a, 3)
        assert not jitney.is_compiled(library)
    code = kernel.__code__.replace(co_filename=np.__file__)
    library = types.FunctionType(code, globals(), "library")
    with jitney.enable(include=["numpy"]):
        heat(library, a, a, 3)
        assert jitney.is_compiled(library)


def test_nested_blocks():
    with jitney.enable() as outer:
        with jitney.enable():
            pass
        assert "on:" in repr(outer)
    assert "off:" in repr(outer)


@needs_monitoring
def test_another_tool_may_have_our_id():
    assert sys.monitoring.get_tool(5) is None
    sys.monitoring.use_tool_id(5, "other")
    try:
        with jitney.enable():
            assert sys.monitoring.get_tool(4) == "jitney"
    finally:
        sys.monitoring.free_tool_id(5)
    assert sys.monitoring.get_tool(4) is None


@needs_monitoring
def test_our_own_monitoring_is_not_somebody_who_watches():
    decorated = jitney.compile(kernel)
    a = np.linspace(0, 1, 50)
    with jitney.enable():
        for _ in range(5):
            decorated(a, a, 2)
        assert jitney.inspect(decorated).stats()["watched_calls"] == 0
        assert jitney.inspect(decorated).stats()["native_calls"] >= 4


def test_compile_of_a_function_that_was_found_is_a_compiled_copy():
    hot = fresh(kernel)
    a = np.linspace(0, 1, 2000)
    with jitney.enable():
        heat(hot, a, a, 3)
    copy = jitney.compile(hot)
    assert copy is not hot
    copy(a, a, 3), copy(a, a, 3)
    assert jitney.inspect(copy).stats()["native_calls"] >= 1


def test_functions_that_were_found_can_die():
    a = np.linspace(0, 1, 100)
    with jitney.enable() as enabled:
        found = enabled.stats["found"]
        for _ in range(20):
            hot = fresh(kernel)
            for _ in range(70):
                hot(a, a, 3)
        del hot
        gc.collect()
        assert enabled.stats["found"] == found + 20


def test_an_exception_in_a_timed_call_is_the_functions_own():
    def fails(a, i):
        b = a * 2.0 + 1.0
        if i % 3 == 0:
            raise ValueError(i)
        return b

    fails = fresh(fails)
    a = np.linspace(0, 1, 1000)
    with jitney.enable():
        for i in range(300):
            if i % 3 == 0:
                with pytest.raises(ValueError) as error:
                    fails(a, i)
                assert error.value.args == (i,)
                assert error.traceback[-1].lineno == fails.__code__.co_firstlineno + 2
            else:
                assert fails(a, i).tobytes() == (a * 2.0 + 1.0).tobytes()


def test_a_string_is_no_sequence_of_names():
    with pytest.raises(TypeError, match="sequence of names"):
        jitney.enable(include="numpy")


def test_every_kind_of_parameter_arrives():
    def mixed(a, /, b, c=3, *rest, d, e=5, **more):
        return a * b + c * 2.0 + d, c, rest, e, more

    hot = fresh(mixed)
    hot.__defaults__, hot.__kwdefaults__ = mixed.__defaults__, mixed.__kwdefaults__
    a = np.linspace(0, 1, 3000)
    with jitney.enable():
        for _ in range(300):
            result = hot(a, 2.0, 3, "r", "s", d=4.0, f=6)
        assert jitney.is_compiled(hot)
        assert (result[0].tobytes(), *result[1:]) == ((a * 2.0 + 6.0 + 4.0).tobytes(), 3, ("r", "s"), 5, {"f": 6})
        result = hot(a, b=2.0, d=4.0)
        assert (result[0].tobytes(), *result[1:]) == ((a * 2.0 + 6.0 + 4.0).tobytes(), 3, (), 5, {})
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'd'"):
            hot(a, 2.0)


def test_recursion_and_generators_run_as_ever():
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    def evens(n):
        yield from (k for k in range(n) if k % 2 == 0)

    with jitney.enable():
        for _ in range(200):
            assert depth(40) == 40
            assert list(evens(6)) == [0, 2, 4]
        assert depth(500) == 500


def test_threads_find_functions_too():
    hot = fresh(kernel)
    a = np.linspace(0, 1, 3000)
    expected = hot(a, a, 3).tobytes()
    wrong = []

    def work():
        for _ in range(300):
            if hot(a, a, 3).tobytes() != expected:
                wrong.append(1)

    with jitney.enable():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong and jitney.is_compiled(hot)
