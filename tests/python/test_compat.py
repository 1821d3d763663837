"""What frontend/cpython/compat.h hides of a Python version: is anybody watching, dictionary slots, versions, overrides."""

import sys
import threading

import pytest

from jitney import _jitney

VERSION = sys.version_info[:2]
needs_monitoring = pytest.mark.skipif(VERSION < (3, 12), reason="sys.monitoring is new in 3.12")
TOOL = 3


def watched(function=None, own_tool=-1):
    return _jitney.compat_is_watched((function or watched).__code__, own_tool)


@pytest.fixture(autouse=True)
def nobody_watches():
    """A coverage tool or debugger that is active steps aside for these tests."""
    trace, profile = sys.gettrace(), sys.getprofile()
    sys.settrace(None)
    sys.setprofile(None)
    yield
    sys.settrace(trace)
    sys.setprofile(profile)


def test_nobody():
    assert not watched()


@pytest.mark.parametrize("setter", [sys.settrace, sys.setprofile])
def test_trace_and_profile(setter):
    setter(lambda *event: None)
    try:
        assert watched()
    finally:
        setter(None)
    assert not watched()


def test_other_thread_traces():
    """3.11 traces one thread; later versions switch events on for all, and being careful is right."""
    inside, leave = threading.Event(), threading.Event()

    def other():
        sys.settrace(lambda *event: None)
        inside.set()
        leave.wait()
        sys.settrace(None)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    try:
        assert watched() == (VERSION >= (3, 12))
    finally:
        leave.set()
        thread.join()
    assert not watched()


@needs_monitoring
@pytest.mark.parametrize("event", ["PY_START", "PY_RETURN", "CALL", "LINE", "JUMP", "RAISE", "PY_UNWIND", "EXCEPTION_HANDLED"])
def test_monitoring(event):
    sys.monitoring.use_tool_id(TOOL, "test")
    try:
        sys.monitoring.set_events(TOOL, getattr(sys.monitoring.events, event))
        assert watched()
        assert not watched(own_tool=TOOL)
        assert watched(own_tool=TOOL - 1)
    finally:
        sys.monitoring.set_events(TOOL, 0)
        sys.monitoring.free_tool_id(TOOL)
    assert not watched()


@needs_monitoring
def test_local_monitoring():
    def one():
        pass

    def two():
        pass

    sys.monitoring.use_tool_id(TOOL, "test")
    try:
        sys.monitoring.set_local_events(TOOL, one.__code__, sys.monitoring.events.LINE)
        one()
        assert watched(one)
        assert not watched(two)
        assert not watched(one, own_tool=TOOL)
    finally:
        sys.monitoring.set_local_events(TOOL, one.__code__, 0)
        sys.monitoring.free_tool_id(TOOL)
    assert not watched(one)


# ---- dictionary slots: exact, or "look again" (...)


def test_slot_sees_the_present_value():
    d = {"a": 1, "b": 2}
    assert _jitney.compat_slot(d, "b", lambda: None) == (2, False)
    assert _jitney.compat_slot(d, "b", lambda: d.update(b=3)) == (3, True)
    assert _jitney.compat_slot(d, "b", lambda: d.update(a=4)) == (3, True)
    assert _jitney.compat_slot(d, "c", lambda: None) is None


@pytest.mark.parametrize("change", ["d.pop('b')", "d.clear()", "[d.update({f'k{i}': i}) for i in range(100)] and d.pop('b')", "d.update({7: 8}) or d.pop('b')"])
def test_slot_of_what_is_gone(change):
    d = {"a": 1, "b": 2}
    value, changed = _jitney.compat_slot(d, "b", lambda: eval(change, {"d": d}))
    assert (value, changed) == (..., True)


@pytest.mark.parametrize("change", ["[d.update({f'k{i}': i}) for i in range(100)]", "d.update({7: 8})", "d.pop('a')"])
def test_slot_after_rebuilding(change):
    d = {"a": 1, "b": 2}
    value, changed = _jitney.compat_slot(d, "b", lambda: eval(change, {"d": d}))
    assert value in (2, ...) and changed


def test_slot_of_general_keys():
    key = (1, 2)
    d = {key: "x", 5: "y"}
    assert _jitney.compat_slot(d, key, lambda: d.update({key: "z"})) == ("z", True)


def test_slot_of_instance():
    class Thing:
        def __init__(self):
            self.first, self.second = 1, 2

    things = [Thing() for _ in range(3)]
    names = vars(things[0])
    key = next(name for name in names if name == "second")
    assert _jitney.compat_slot(names, key, lambda: None) == (2, False)
    assert _jitney.compat_slot(names, key, lambda: names.update(second=5)) == (5, True)
    del things[0].second
    assert _jitney.compat_slot(names, key, lambda: None) is None


# ---- versions


def test_type_version():
    class Thing:
        pass

    first = _jitney.compat_type_version(Thing)[1]
    assert first != 0
    assert _jitney.compat_type_version(Thing) == (first, first)
    Thing.x = 1
    before, second = _jitney.compat_type_version(Thing)
    assert before == 0 and second not in (0, first)


def plain(a=1):
    return a


def call_plain():
    for _ in range(100):
        result = plain(7)  # from bytecode, which 3.11 does not let be overridden
    return result


def test_override_and_undo():
    assert call_plain() == 7
    result, before, after = _jitney.compat_override(plain, call_plain)
    assert result == (42 if VERSION >= (3, 12) else 7)
    assert call_plain() == 7
    if VERSION >= (3, 13):
        assert before == after != 0


def test_undo_after_new_code():
    """A version that is put back must not vouch for code that it never saw."""

    def changed(a=1):
        return a

    def use():
        for _ in range(100):
            result = changed(7)
        return result

    def other(a, b=2, c=3, d=4):
        return a, b, c, d

    def swap():
        changed.__code__, changed.__defaults__ = other.__code__, other.__defaults__

    assert use() == 7
    _, before, after = _jitney.compat_override(changed, swap)
    assert after == 0 or after != before
    assert use() == (7, 2, 3, 4)
