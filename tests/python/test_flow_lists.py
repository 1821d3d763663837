"""Lists of numbers in native loops: stores in place and by pointer, shared elements, rows, what others hold."""

import gc
import sys
import weakref

import numpy as np
import pytest

import jitney

EDGES = [
    0,
    1,
    -1,
    -5,
    -6,
    256,
    257,
    258,
    1000,
    -1000,
    2**30 - 1,
    2**30,
    -(2**30) + 1,
    -(2**30),
    2**60 - 1,
    2**60,
    -(2**60),
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
    2**100,
    True,
    False,
    1.5,
    -0.0,
    None,
]


def flow_calls(f):
    return jitney.inspect(f).stats()["flow_calls"]


def picture(x):
    """Types and values all the way down."""
    return (type(x).__name__, [picture(e) for e in x] if isinstance(x, (list, tuple)) else repr(x))


def same(function, make, calls=3):
    """Eager and compiled on new arguments: result and arguments afterwards."""
    compiled = jitney.compile(function)
    for _ in range(calls):
        ours, theirs = make(), make()
        assert picture(compiled(*ours)) == picture(function(*theirs))
        assert picture(ours) == picture(theirs)
    assert flow_calls(compiled) >= 1
    return compiled


def fill(a, values, n):
    """Every value over every other one."""
    s = 0
    for k in range(n):
        for i in range(len(a)):
            a[i] = values[(i + k) % len(values)]
            s += 1
    return s


INTS = [v for v in EDGES if type(v) is int and -(2**63) <= v < 2**63]


@pytest.mark.parametrize(
    "values", [INTS, [True, False, False], [1.5, -0.0, float("nan")]], ids=["int", "bool", "float"]
)
@pytest.mark.parametrize("old", [INTS, EDGES, [True, False], [0.5, 2.5]], ids=["ints", "any", "bools", "floats"])
def test_every_value_over_every_other(values, old):
    same(fill, lambda: ([int(str(v)) if type(v) is int else v for v in old], list(values), 2 * len(values)))


def computed(a, n):
    for k in range(n):
        for i in range(len(a)):
            a[i] = a[i] * 3 - k * 7
    return n


@pytest.mark.parametrize("start", [1, -1, 85, 257, -300, 2**28, 2**29, 2**57, -(2**58)])
def test_ints_change_their_size(start):
    same(computed, lambda: ([start, -start, 0, start + 1], 9))


def test_objects_that_others_hold_do_not_change():
    def f(a, n):
        for i in range(n):
            a[i] = a[i] + 1
        return n

    for values in (
        [1000 + k for k in range(9)],
        [0.5 + k for k in range(9)],
        [2**40 + k for k in range(9)],
        [k % 3 for k in range(9)],
    ):
        compiled = jitney.compile(f)
        for _ in range(3):
            a = [v + 0 for v in values]
            others = a[::2] + [tuple(a)]
            before = picture(others)
            compiled(a, 9)
            assert picture(others) == before
            assert a == [v + 1 for v in values]
        assert flow_calls(compiled) >= 1


def test_one_object_in_many_places():
    def f(a, n):
        for k in range(n):
            for i in range(len(a)):
                a[i] = a[i] + k + 300
            a[k % len(a)] = a[0]
        return n

    same(f, lambda: ([1000] * 5, 12))
    same(f, lambda: ([0.5] * 5, 12))


def test_the_same_list_twice_and_one_row_twice():
    def f(a, b, n):
        s = 0.0
        for i in range(n):
            for j in range(n):
                a[i][j] = b[j][i] + 1.0
                s += b[i][j]
        return s

    def make():
        row = [0.5, 1.5, 2.5]
        a = [row, row, [3.0, 4.0, 5.0]]
        return a, a, 3

    same(f, make)


def test_exchange_and_move():
    def f(a, n):
        for k in range(n):
            i, j = 0, len(a) - 1
            while i < j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
            first = a[0]
            for i in range(len(a) - 1):
                a[i] = a[i + 1]
            a[-1] = first
        return n

    for values in ([1, 2, 3, 4, 5], [1000, 2, -3000, 4, 5000], [0.5, 1.5, 2.5], [True, False, True, True]):
        same(f, lambda values=values: (list(values), 7))


def test_a_row_whose_place_is_given_to_a_number():
    def f(a, n):
        s = 0.0
        for i in range(n):
            row = a[i]
            a[i] = 1.5
            b = [7.0] * 3
            s += row[0] + b[0]
        return s

    same(f, lambda: ([[float(k), 2.0, 3.0] for k in range(40)], 40), calls=5)


def test_a_row_is_seen_through_another_list_of_numbers():
    """One list is taken for a list of rows and for a list of numbers."""

    def f(outer, other, n):
        rows = outer[0]
        s = 0.0
        for i in range(n):
            other[i % 2] = 2.0
            s += rows[2][i % 3]
        return s

    def make():
        inner = [1.5, 2.5, [0.5, 1.5, 2.5]]
        return [[[1.0, 1.0], [2.0], [3.0, 4.0, 5.0]], inner], inner, 9

    def make_alike():
        inner = [[0.5], [1.5], [0.5, 1.5, 2.5]]
        return [inner, [[1.0]]], inner, 9

    same(f, make)
    same(f, make_alike)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cached ints are immortal")
def test_counts_of_cached_objects():
    def f(a, b, n):
        for k in range(n):
            for i in range(len(a)):
                a[i] = k % 7
                b[i] = k % 3 == 0
        return n

    compiled = jitney.compile(f)
    for _ in range(3):
        before = [sys.getrefcount(x) for x in (*range(7), True, False)]
        a, b = [0] * 50, [False] * 50
        compiled(a, b, 100)
        del a, b
        after = [sys.getrefcount(x) for x in (*range(7), True, False)]
        assert all(abs(x - y) < 20 for x, y in zip(before, after))
    assert flow_calls(compiled) >= 1


def test_subclasses_of_numbers_stay_out():
    class Int(int):
        pass

    class Float(float):
        pass

    def f(a, n):
        s = 0
        for i in range(n):
            s += a[i]
            a[i] = s
        return s

    for kind in (Int, Float):
        same(f, lambda kind=kind: ([1, 2, kind(3), 400, kind(500), 6], 6))
        same(f, lambda kind=kind: ([1.5, 2.5, kind(3), 400.0, 5.0], 5))


@pytest.mark.parametrize(
    "values", [INTS, [True, False], [1.5, -0.0], [1, 2.5, True, 1000]], ids=["int", "bool", "float", "several"]
)
@pytest.mark.parametrize("start", [[], [7], [0.5] * 3, [True]])
def test_append(values, start):
    def f(a, values, n):
        for k in range(n):
            for v in values:
                a.append(v)
        return len(a)

    same(f, lambda: (list(start), list(values), 9))
    compiled = jitney.compile(f)
    for _ in range(3):
        ours, theirs = list(start), list(start)
        assert compiled(ours, values, 5) == f(theirs, values, 5)
        assert sys.getsizeof(ours) == sys.getsizeof(theirs)


def test_append_and_pop_and_read():
    def f(n):
        a = []
        s = 0
        for k in range(n):
            a.append(k * 37 % 1009)
            a.append(k & 3)
            s += a[-1] + a[len(a) // 2]
            if k % 3 == 0:
                s -= a.pop()
        return s, a

    same(f, lambda: (200,))


def test_append_to_itself_while_it_is_walked_through():
    def f(a, n):
        for x in a:
            if len(a) < n:
                a.append(x + 1)
        return a

    same(f, lambda: ([1, 300], 90))
    same(f, lambda: ([0.5], 90))


def test_numbers_appended_to_rows():
    def f(a, n):
        s = 0.0
        for k in range(n):
            a.append(float(k))
            s += a[0][k % 2]
        return s

    same(f, lambda: ([[1.5, 2.5], [3.0, 4.0]], 20))


@pytest.mark.parametrize("kind", ["int", "float", "small", "bool"])
def test_references_of_appended_objects(kind):
    def f(a, n):
        for k in range(n):
            a.append(a[k])
        return len(a)

    def g(n):
        a = []
        for k in range(n):
            a.append(k + 1000 if n > 50 else k)
        for k in range(n):
            a[k] = a[k] + 1
        return a

    start = {"int": [5000, -70000], "float": [0.5, 1.5], "small": [3, 4], "bool": [True, False]}[kind]
    compiled, compiled_g = jitney.compile(f), jitney.compile(g)
    for _ in range(4):
        a, b = list(start), list(start)
        assert compiled(a, 40) == f(b, 40) and picture(a) == picture(b)
        for n in (60, 40):
            assert picture(compiled_g(n)) == picture(g(n))
    if kind in ("int", "float"):
        ours, theirs = compiled_g(60), g(60)
        assert [sys.getrefcount(x) for x in ours] == [sys.getrefcount(x) for x in theirs]


class Cycle:
    def __init__(self):
        self.itself = self


def wait_for_collection(holder, most):
    """Makes lists until the collector has run."""
    made = []
    for _ in range(most):
        made.append([holder])
        if not holder:
            break
    return len(made)


def test_lists_made_in_a_flow_are_seen_by_the_collector():
    gc.enable()

    def wait(function):
        gc.collect()
        holder = [1]
        wr = weakref.ref(Cycle(), lambda _: holder.clear())
        made = function(holder, 400_000)
        return made, wr() is None

    compiled = jitney.compile(wait_for_collection)
    compiled([1], 1000)
    expected = wait(wait_for_collection)
    made, gone = wait(compiled)
    assert gone == expected[1] is True
    assert expected[0] / 2 <= made < 30 * expected[0]  # native lists are seen when there are many thousands of them
    assert flow_calls(compiled) >= 1


def test_a_float64_of_the_lists_alone_is_replaced_in_place():
    class Float(np.float64):
        pass

    def shift(items, row):
        for i in range(len(items) - 1):
            items[i] = row[i] + items[i + 1]

    def make():
        shared = np.float64(7.5)
        items = [np.float64(k) for k in range(12)]
        items[3] = items[8] = shared
        return items, np.arange(12.0), shared

    f = jitney.compile(shift)
    for _ in range(3):
        (ours, row, mine), (theirs, _, _) = make(), make()
        kept = ours[5]
        f(ours, row)
        shift(theirs, row)
        assert picture(ours) == picture(theirs) and all(type(x) is np.float64 for x in ours)
        assert mine == 7.5 and kept == 5.0 and len({id(x) for x in ours}) == 12
    assert flow_calls(f) >= 1
    for odd in (1.5, 3, Float(2.5), np.float32(1.5), None):
        (ours, row, _), (theirs, _, _) = make(), make()
        ours[6] = theirs[6] = odd
        for call, items in ((f, ours), (shift, theirs)):
            try:
                call(items, row)
            except TypeError:
                assert odd is None
        assert picture(ours) == picture(theirs)


def puts_floats_beside_ints(ints, floats, x, n):
    for _ in range(n):
        floats[1][1] = x + len(ints)


def appends_to_both(ints, floats, n):
    for k in range(n):
        ints.append([k])
        floats.append([k + 0.5])
    return sum([row[0] for row in floats])


@pytest.mark.parametrize("executor", ["loop", "llvm"])
def test_one_list_in_two_places_that_want_other_items(executor, executors):
    executors.executor = executor
    put, append = jitney.compile(puts_floats_beside_ints), jitney.compile(appends_to_both)
    for _ in range(3):
        rows = [[0] * 3 for _ in range(3)]
        put([[0] * 3 for _ in range(3)], [[0.5] * 3 for _ in range(3)], 0.5, 5)
        put(rows, rows, 1.5, 5)
        assert repr(rows) == "[[0, 0, 0], [0, 4.5, 0], [0, 0, 0]]"
        for first in ([[1]], []):
            both, expected = [row[:] for row in first], [row[:] for row in first]
            append([[1]], [[0.5]], 4)
            assert repr(append(both, both, 4)) == repr(appends_to_both(expected, expected, 4)) and repr(both) == repr(expected)
