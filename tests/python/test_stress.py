"""The stress modes on a small program, what they have found, and how ./dev stress tells failures apart."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import types
import warnings

import pytest

import jitney

PROGRAM = """
import gc, sys, types
import jitney
from jitney import _jitney

mode = int(sys.argv[1])
if mode == 3:
    jitney.config.min_nodes = 0
_jitney.stress_start(mode, 5, 11)
if mode in (2, 3):
    for function in gc.get_objects():
        if type(function) is types.FunctionType:
            _jitney.stress_adopt(function)

class Base:
    def __init__(self, x, *rest, scale=1, **more):
        self.x, self.rest, self.scale, self.more = x, rest, scale, more

    def value(self):
        return self.x * self.scale + sum(self.rest) + len(self.more)

class Derived(Base):
    def value(self):
        return super().value() + 1

def counter():
    n = 0
    def count(step=1):
        nonlocal n
        n += step
        return n
    return count

def produce(n):
    for i in range(n):
        got = yield i
        if got is not None:
            yield got * 10

def handle(x):
    try:
        with open("/does/not/exist") as file:
            return file
    except OSError as error:
        return type(error).__name__ + str(x)
    finally:
        x += 1

def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)

def main():
    count = counter()
    for k in range(30):
        count(k)
    producer = produce(3)
    print(Derived(3, 4, 5, scale=2, a=1, b=2).value(), count(), next(producer), producer.send(4), list(producer), handle(1), depth(200))
    try:
        [1 / k for k in (1, 0)]
    except ZeroDivisionError as error:
        print(error.__traceback__.tb_lineno, sys._getframe().f_code.co_name)

main()
print(_jitney.stress_stats())
"""


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_a_program_does_not_notice(mode, tmp_path):
    if mode == 2 and sys.version_info < (3, 12):
        pytest.skip("3.11 calls bytecode without asking the function object")
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "program.py", str(mode)], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    first, second, stats = done.stdout.splitlines()
    assert first == "18 436 0 40 [1, 2] FileNotFoundError1 200"
    assert second == f"{PROGRAM.splitlines().index('        [1 / k for k in (1, 0)]') + 1} main"
    stats = eval(stats)
    assert stats["refused"] == []
    if mode == 1:
        assert stats["codes"] > 10 and stats["frames"] > 200 and stats["recoded"] > 0.9 * stats["frames"]
    elif mode in (2, 3):
        assert stats["functions"] >= 8


# -- found by them -----------------------------------------------------------------------------------------------------------------


def raises_again():
    try:
        raise TypeError("first")
    except TypeError:
        try:
            raise KeyError("caught")
        except KeyError:
            pass
        raise


def names_a_module():
    class Local:
        pass

    return Local, sys._getframemodulename(0) if hasattr(sys, "_getframemodulename") else __name__


def called_for_its_module():
    return (sys._getframemodulename(1) if hasattr(sys, "_getframemodulename") else None) or __name__


def asks_a_callee():
    class Local:
        pass

    return called_for_its_module(), Local.__module__


@pytest.fixture
def any_size():
    before = jitney.config.min_nodes
    jitney.config.min_nodes = 0
    yield
    jitney.config.min_nodes = before


def test_a_function_without_locals_is_left_in_a_handler(any_size):
    compiled = jitney.compile(raises_again)
    for _ in range(3):
        with pytest.raises(TypeError, match="first"):
            compiled()


def test_the_frame_of_new_code_has_a_module(any_size):
    for function in (names_a_module, asks_a_callee):
        compiled = jitney.compile(function)
        for _ in range(3):
            assert __name__ in (compiled()[0], compiled()[1])


def test_a_tracer_that_a_function_installs_sees_no_call_of_it(any_size):
    seen = []

    def watch(frame, event, argument):
        seen.append((event, frame.f_code.co_name))
        return watch

    def installs(n):
        sys.settrace(watch)
        total = sum(range(n)) + callee(n)
        sys.settrace(None)
        return total

    def callee(n):
        return n + 1

    expected = installs(3)
    eager, seen[:] = list(seen), []
    compiled = jitney.compile(installs)
    for _ in range(2):
        assert compiled(3) == expected
        assert seen == eager
        seen.clear()


class Plain:
    def __init__(self):
        self.number = 2.0


def test_foreign_keys_of_an_instance_are_compared_no_more_often(any_size):
    asked = []

    class Key:
        def __hash__(self):
            return hash("number")

        def __eq__(self, other):
            asked.append(other)
            return False

    def reads(o):
        return o.number * 2.0 + o.number

    compiled = jitney.compile(reads)
    for _ in range(3):
        assert compiled(Plain()) == 6.0

    def ask(call):
        o = Plain()
        del o.__dict__["number"]
        o.__dict__[Key()] = 0
        o.__dict__["number"] = 2.0
        asked.clear()
        assert call(o) == 6.0
        return len(asked)

    cold = ask(types.FunctionType(reads.__code__.replace(), globals()))  # a specialised instruction finds the place without a comparison
    for _ in range(3):
        assert ask(compiled) <= cold


def test_foreign_keys_of_a_class_are_compared_no_more_often(any_size):
    """Such a comparison may change what is looked up: here it changes the bases of the class."""

    class Key:
        def __hash__(self):
            return hash("first")

        def __eq__(self, other):
            found.__bases__ = (New,)
            return False

    class Old:
        first = second = 1.0

    class New:
        first = second = 2.0

    def reads(c):
        return c.first, c.second

    def reads_of_instance(c):
        return reads(c())

    for original in reads, reads_of_instance:
        for f in original, jitney.compile(original):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = type("Found", (Old,), {Key(): 0})
            assert f(found) == (1.0, 2.0)


# -- the runner --------------------------------------------------------------------------------------------------------------------


def runner():
    path = pathlib.Path(__file__).parents[1] / "stress" / "run.py"
    spec = importlib.util.spec_from_file_location("stress_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_counts_as_a_failure():
    beyond = runner().beyond
    plain = {"status": "ok", "ok": ["a", "b", "c"], "fail": {"d": "as ever"}}
    assert beyond(plain, {"status": "ok", "ok": ["a", "b", "c"], "fail": {"d": "as ever"}}) == {}
    assert beyond(plain, {"status": "ok", "ok": ["a", "c"], "fail": {"b": "no", "d": "as ever"}}) == {"b": "no"}
    assert beyond(plain, {"status": "ok", "ok": ["a", "b", "c"], "fail": {"setUpClass": "no"}}) == {"setUpClass": "no"}
    assert list(beyond(plain, {"status": "ok", "ok": ["a", "b"], "fail": {}})) == ["missing"]
    assert list(beyond(plain, {"status": "exit -11", "last": "b", "ok": ["a"], "fail": {}})) == ["process"]


def test_every_known_failure_has_a_mode_a_python_and_a_reason():
    for modes, pythons, pattern, reason in runner().read_known():
        assert set(modes) <= set("123") and set(pythons) <= {"3.11", "3.12", "3.13"}
        assert pattern.startswith(("test.", "numpy.")) and ":" in pattern and len(reason.split()) > 4
