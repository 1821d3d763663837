"""Guards by way of attributes, globals and classes: every change is seen, none is seen twice, and nothing is kept alive."""

import gc
import sys
import types
import weakref

import numpy as np
import pytest

import jitney

A = np.linspace(0.5, 1.5, 7)


class Model:
    rate = 2.0

    def __init__(self):
        self.w = A + 1.0
        self.k = 3.0

    def scale(self):
        return self.k * 2.0

    def run(self, a):
        return a * self.w + self.scale() * self.rate


class Slotted:
    __slots__ = ("w", "k")

    def __init__(self):
        self.w = A + 1.0
        self.k = 3.0


def attributes(m, a):
    return a * m.w - m.k


def stats(g):
    return jitney.inspect(g).stats()


def outcome(f, args):
    try:
        result = f(*args)
    except Exception as e:
        return type(e), str(e)
    return type(result), result.dtype, result.shape, result.tobytes()


def agree(f, g, *args):
    for _ in range(2):
        assert outcome(f, args) == outcome(g, args)


@pytest.mark.parametrize("kind", [Model, Slotted])
def test_attributes_of_instances_are_read_at_every_call(kind):
    g, m, other = jitney.compile(attributes), kind(), kind()
    agree(attributes, g, m, A)
    compiles = stats(g)["compiles"]
    for k in range(20):
        m.w, m.k = A + k, float(k)
        agree(attributes, g, m, A)
        agree(attributes, g, other, A)
    assert stats(g)["compiles"] == compiles
    del m.w
    with pytest.raises(AttributeError):
        g(m, A)
    m.w = A
    agree(attributes, g, m, A)


def test_an_instance_that_has_a_dictionary():
    g, m = jitney.compile(attributes), Model()
    agree(attributes, g, m, A)
    m.__dict__["k"] = 9.0
    agree(attributes, g, m, A)
    m.extra, m.k = 1, -1.0
    agree(attributes, g, m, A)
    m.__dict__ = {"k": 0.5, "w": A * 2.0}
    agree(attributes, g, m, A)
    m.__dict__.clear()
    with pytest.raises(AttributeError):
        g(m, A)
    m.__dict__.update(w=A, k=1.0)
    agree(attributes, g, m, A)
    for k in range(40):  # another table of keys, then shared no more
        setattr(m, f"x{k}", k)
        agree(attributes, g, m, A)


def method(m, a):
    return m.run(a)


def test_what_hides_or_replaces_a_method_is_seen():
    class Local(Model):
        pass

    g, m = jitney.compile(method), Local()
    agree(method, g, m, A)
    m.run = lambda a: a - 100.0
    agree(method, g, m, A)
    del m.run
    agree(method, g, m, A)
    Local.run = lambda self, a: a + self.k
    agree(method, g, m, A)
    del Local.run
    agree(method, g, m, A)
    Local.rate = -7.0
    agree(method, g, m, A)
    m.rate = 11.0
    agree(method, g, m, A)
    m.k, m.scale = 2.0, m.scale
    agree(method, g, m, A)
    other = Local()
    other.k = 50.0
    m.scale = other.scale
    agree(method, g, m, A)


def test_a_property_or_getattribute_that_comes_later_is_seen():
    class Local:
        pass

    g, m = jitney.compile(attributes), Local()
    m.w, m.k = A, 2.0
    agree(attributes, g, m, A)
    Local.k = property(lambda self: 5.0, lambda self, value: None)
    agree(attributes, g, m, A)
    del Local.k
    agree(attributes, g, m, A)
    asked = []

    def getattribute(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)

    Local.__getattribute__ = getattribute
    agree(attributes, g, m, A)
    asked.clear()
    g(m, A)
    assert asked == ["w", "k"]
    del Local.__getattribute__
    agree(attributes, g, m, A)


def class_data(m, a):
    return a * m.offset


def test_data_of_a_class_that_becomes_a_descriptor_is_seen():
    class Offset:
        pass

    class Holder:
        offset = 2.0

    g, m = jitney.compile(class_data), Holder()
    agree(class_data, g, m, A)
    Holder.offset = Offset()
    Offset.__rmul__ = lambda self, other: other + 1.0
    Offset.__array_ufunc__ = None
    agree(class_data, g, m, A)
    Offset.__get__ = lambda self, instance, owner: 4.0
    agree(class_data, g, m, A)
    Holder.offset = 3.0
    agree(class_data, g, m, A)


def make(namespace):
    exec("def f(a):\n    return (a * x + y) * helper.z - helper.w", namespace)
    return namespace["f"]


def test_globals_written_at_every_call_cost_no_compilation():
    helper = types.ModuleType("helper")
    helper.z, helper.w = 2.0, A
    namespace = {"x": 1.5, "y": 2.5, "helper": helper, "counter": 0}
    f = make(namespace)
    g = jitney.compile(f)
    g(A)
    compiles = stats(g)["compiles"]
    for k in range(30):
        namespace["counter"] = k
        helper.unrelated = k
        namespace["x"] = float(k)
        agree(f, g, A)
    assert stats(g)["compiles"] == compiles
    del namespace["x"]
    with pytest.raises(NameError):
        g(A)
    namespace["x"] = 3.0
    agree(f, g, A)
    del helper.z
    with pytest.raises(AttributeError):
        g(A)


def test_entries_whose_checks_keep_failing_stay_exact():
    def f(a, b, c):
        return a * b + c

    g = jitney.compile(f)
    wide = [np.ones((2, 3)), np.ones((2, 3)) * 2, np.ones((2, 3))]
    flat = [A, A + 1, A - 1]
    for _ in range(25):
        for args in (wide, flat, [A, 2.0, A], [flat[0], flat[1], A.astype(np.float32)], [A[::2], A[::2], A[1::2]][:3]):
            try:
                f(*args)
            except ValueError:
                with pytest.raises(ValueError):
                    g(*args)
                continue
            agree(f, g, *args)
    assert stats(g)["entries"] <= 5


def test_an_entry_that_does_not_fit_its_own_call_is_refused():
    namespace = {"n": 2, "np": np}
    exec("def f(a):\n    return a * n", namespace)
    f = namespace["f"]

    def backend(graph, inputs):
        namespace["n"] = 3  # behind the trace's back
        return lambda *args: graph(*args)

    g = jitney.compile(f, backend=backend)
    assert g(A).tobytes() == (A * 3).tobytes()
    refusals = jitney.inspect(g).refusals
    assert [r["name"] for r in refusals] == ["INSTALL"] and "does not fit" in refusals[0]["detail"]


def cycles(n, make_one):
    for _ in range(n):
        make_one()
    gc.collect()
    return sys.getallocatedblocks()


def cycle_of_attributes():
    m = Model()
    g = jitney.compile(method)
    g(m, A)
    g(m, A)
    return weakref.ref(m)


def cycle_of_slots():
    m = Slotted()
    g = jitney.compile(attributes)
    g(m, A)
    m.k = 1.0
    g(m, A)
    return weakref.ref(g)


def cycle_of_globals():
    helper = types.ModuleType("helper")
    helper.z, helper.w = 2.0, A
    namespace = {"x": 1.5, "y": 2.5, "helper": helper}
    g = jitney.compile(make(namespace))
    g(A)
    namespace["x"] = 7.0
    g(A)
    return weakref.ref(helper)


@pytest.mark.parametrize("cycle", [cycle_of_attributes, cycle_of_slots, cycle_of_globals])
def test_a_thousand_cycles_of_compile_run_drop_leave_nothing(cycle):
    counts = [sys.getrefcount(x) for x in (A, Model, Slotted, Model.run, np)]
    blocks = cycles(1000, cycle)  # caches fill up
    after = cycles(1000, cycle)
    assert after - blocks < 500  # one block per cycle would be 1000
    assert cycle() is not None
    gc.collect()
    grown = [sys.getrefcount(x) for x in (A, Model, Slotted, Model.run, np)]
    assert all(b - a <= 2 for a, b in zip(counts, grown))


# ---- a name that is only handed on: its look-up may fail later ----

LATER = [1]


def takes_global(a):
    kept = LATER
    b = a * 2 + 1
    return kept, b


def reads_global_for_nothing(a):
    LATER
    return a * 2 + 1


def handles_missing_global(a):
    try:
        kept = LATER
    except NameError:
        kept = 9
    return kept, a * 2 + 1


def takes_global_behind_an_effect(a, seen):
    b = a * 2 + 1
    seen.append(1)
    kept = LATER
    return kept, b * 2


def deletes_global(a, seen):
    global LATER
    b = a * 2 + 1
    seen.append(1)
    del LATER
    return b * 3


def loops_beside_global(a):
    total = 0.0
    for i in range(50):
        total += i * 0.5
        LATER
    return total


def seen_of(f, *arguments):
    seen = []
    try:
        return repr(f(*arguments, *([seen] * ("seen" in f.__code__.co_varnames)))), seen
    except NameError as error:
        at = error.__traceback__.tb_next
        names = sorted(at.tb_frame.f_locals)
        columns = list(at.tb_frame.f_code.co_positions())[at.tb_lasti // 2]
        return str(error), at.tb_lineno, columns, names, seen


READERS = (takes_global, reads_global_for_nothing, handles_missing_global, takes_global_behind_an_effect, deletes_global, loops_beside_global)


@pytest.mark.parametrize("f", READERS)
def test_name_that_is_only_handed_on_goes_away(f, monkeypatch):
    compiled, a = jitney.compile(f), np.ones(2)
    for _ in range(3):
        monkeypatch.setitem(globals(), "LATER", [1])
        assert seen_of(compiled, a) == (globals().__setitem__("LATER", [1]) or seen_of(f, a))
    globals().pop("LATER", None)
    assert seen_of(compiled, a) == seen_of(f, a)
    monkeypatch.setitem(globals(), "LATER", [1])
    assert seen_of(compiled, a) == (globals().__setitem__("LATER", [1]) or seen_of(f, a))
    globals()["LATER"] = [1]


@pytest.mark.parametrize("deletes", (False, True))
def test_cell_that_is_only_handed_on_becomes_empty(deletes):
    cell = [1]

    def reads(a, seen):
        b = a * 2 + 1
        seen.append(1)
        kept = cell
        return kept, b * 2

    def removes(a, seen):
        nonlocal cell
        b = a * 2 + 1
        seen.append(1)
        del cell
        return b * 2

    def fill():
        nonlocal cell
        cell = [1]

    def empty():
        nonlocal cell
        fill()
        del cell

    f, a = removes if deletes else reads, np.ones(2)
    compiled = jitney.compile(f)
    for prepare in (fill, fill, empty, fill, empty):
        prepare()
        expected = seen_of(f, a)
        prepare()
        assert seen_of(compiled, a) == expected


SPACE, MODULE = types.SimpleNamespace(), types.ModuleType("somewhere")


def takes_attribute_of_namespace(a):
    b = a * 2
    b = b + 1
    return b, SPACE.later


def takes_attribute_of_module(a):
    b = a * 2
    b = b + 1
    return b, MODULE.later


@pytest.mark.parametrize(("f", "holder"), [(takes_attribute_of_namespace, SPACE), (takes_attribute_of_module, MODULE)])
def test_attribute_that_is_only_handed_on_goes_away(f, holder):
    def outcome(g):
        try:
            return repr(g(np.ones(2)))
        except AttributeError as error:
            at = error.__traceback__.tb_next
            return str(error), at.tb_lineno, sorted(at.tb_frame.f_locals)

    compiled = jitney.compile(f)
    for value in (1, 2, [3], None, 4, None):
        holder.later = value
        if value is None:
            del holder.later
        assert outcome(compiled) == outcome(f)
    assert jitney.inspect(compiled).stats()["native_calls"] > 0
