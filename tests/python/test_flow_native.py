"""Lists that a native loop makes itself: they are no objects until somebody sees them. Then each is one object, with the items that eager Python gives, whoever holds it and wherever the loop is left."""

import gc
import math
import signal
import sys

import pytest

import jitney


def picture(x, seen=None):
    """Types, values, sizes, and which lists are one, all the way down."""
    seen = {} if seen is None else seen
    if not isinstance(x, (list, tuple)):
        return type(x).__name__, repr(x)
    if id(x) in seen:
        return "again", seen[id(x)]
    seen[id(x)] = len(seen)
    return type(x).__name__, [picture(e, seen) for e in x]


def outcome(function, *args):
    """The result, or the exception with its line and what its frame held."""
    try:
        return picture(function(*args))
    except Exception as e:
        at = e.__traceback__
        while at.tb_next is not None:
            at = at.tb_next
        return (
            type(e),
            str(e),
            at.tb_lineno,
            [(name, picture(v)) for name, v in sorted(at.tb_frame.f_locals.items()) if name[0] != "."],
        )


def has_comprehension(function):
    """3.11 calls a function there, which such loops do not go through."""
    return sys.version_info < (3, 12) and any(hasattr(c, "co_code") for c in function.__code__.co_consts)


def is_native(compiled):
    return has_comprehension(compiled) or any(
        "native_" in (entry["loop_ir"] or "") for entry in jitney.inspect(compiled)._data["entries"]
    )


def same(function, *args):
    """Eager, compiled, and left at every few checks."""
    compiled = jitney.compile(function)
    expected = outcome(function, *args)
    for _ in range(3):
        assert outcome(compiled, *args) == expected
    assert has_comprehension(function) or jitney.inspect(compiled).stats()["flow_calls"] >= 1
    assert is_native(compiled)
    config = jitney.config
    before = config.executor, config.exit_every
    try:
        for every in (1, 3, 17):
            config.executor, config.exit_every = "loop", every
            forced = jitney.compile(function)
            for _ in range(2):
                assert outcome(forced, *args) == expected
    finally:
        config.executor, config.exit_every = before
    return compiled


def distance(a, b):
    previous = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        current = [i] + [0] * len(b)
        for j in range(1, len(b) + 1):
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1]))
        previous = current
    return previous, current


def test_rows_that_take_turns():
    same(distance, b"kitten sitting" * 2, b"sitting kitten")


def test_a_table_and_its_rows():
    def f(n, m):
        table = [[0.5] * m for _ in range(n)]
        for i in range(1, n):
            row = table[i]
            for j in range(1, m):
                row[j] = table[i - 1][j - 1] * 1.25 + j
            table[i][0] = row[-1]
        return table, row, len(table[0])

    same(f, 9, 7)


def test_one_row_many_times_and_in_two_places():
    def f(n):
        row = [0] * 3
        table = [row] * 4
        third = [1, 2, 3]
        other = [row, third, row]
        for k in range(n):
            table[k % 4][k % 3] += k
            other[k % 3][0] -= 1
            other[1] = table[k % 4] if k == n - 1 else other[1]
        return table, other, row, table[0] is row, other[1] is row, other[0] is other[2], table is other

    same(f, 10)


def test_everything_that_is_done_to_them():
    def f(n):
        ints, floats, bools = [], [], [False] * n
        total = 0
        for k in range(n):
            ints.append(k * k)
            floats.append(k / 4)
            bools[k] = k % 3 == 0
            if k % 4 == 3:
                total += ints.pop() + len(floats)
                floats.pop(-1)
        for x in ints:
            total += x
        for x, y in zip(floats, reversed(ints)):
            total += x * y
        copied, part, joined = ints[:], floats[1:-2], bools + [True]
        copied[0] = -1
        ints.reverse()
        bools.reverse()
        numbers = list(range(n, -n, -3)) + [7, 8]
        again = numbers.copy()
        first, second = again[0], [again[-1]]
        gone = [5, 6]
        gone.clear()
        gone.append(total > 3)
        return (
            total,
            ints,
            floats,
            bools,
            copied,
            part,
            joined,
            numbers,
            again,
            first,
            second,
            gone,
            9 in ints,
            81 in ints,
            ints.index(4),
            0.25 in floats,
            bool(gone),
        )

    same(f, 23)


def test_sizes_are_those_of_lists():
    def f(n, pops):
        x, y = [], [0] * n
        for k in range(n):
            x.append(k)
            y.append(True and k)
        for k in range(pops):
            x.pop()
        return x, y

    compiled = jitney.compile(f)
    for n in (0, 1, 4, 5, 9, 100):
        for pops in {0, n // 2, n - n // 8, n}:
            eager, ours = f(n, pops), compiled(n, pops)
            assert eager == ours and [sys.getsizeof(x) for x in eager] == [sys.getsizeof(x) for x in ours], (n, pops)
    assert is_native(compiled)


@pytest.mark.parametrize("x", [2**62, 1.5, True, None, "x", 2**64, [], (1, 2)], ids=repr)
def test_items_of_another_kind(x):
    def f(x, n):
        a, b = [0] * n, [k for k in range(n)]
        for i in range(n):
            for j in range(i):
                a[j] = a[j] + b[i] * 3
            b[i] = x
        return a, b

    def g(x, n):
        a = []
        for i in range(n):
            a.append(i)
            if i == n - 2:
                a.append(x)
        return a

    for function in (f, g):
        expected = outcome(function, x, 8)
        compiled = jitney.compile(function)
        for argument in (5, x, 5):
            assert outcome(compiled, argument, 8) == outcome(function, argument, 8)
        assert outcome(compiled, x, 8) == expected


def test_left_in_the_middle():
    def overflows(n):
        powers = [1] * n
        for k in range(1, n):
            powers[k] = powers[k - 1] * 7
        return powers

    def raises(n):
        table = [[k] * 4 for k in range(n)]
        alias = table
        for i in range(n):
            row = table[i]
            for j in range(4 + (i == n - 2)):
                row[j] = row[j] * 2 + j
        return alias

    def catches(n):
        found, x = [], [1.5] * 4
        for i in range(n):
            try:
                x[i % 6] /= i % 3
                found.append(i)
            except (IndexError, ZeroDivisionError) as e:
                found.append(-len(str(e)))
        return found, x

    def pops(n):
        x = [1, 2, 3]
        s = 0
        while s < n:
            s += x.pop()
        return s

    same(overflows, 40)
    same(raises, 9)
    same(catches, 20)
    same(pops, 5)
    same(pops, 50)


def test_lists_that_others_need():
    """What needs an object gets one; so does what shares an object with that."""

    def f(rows, n):
        a, b, c = [0] * n, [0.5] * n, [[0] * 2 for _ in range(3)]
        for i in range(n):
            a[i] = i * i
            b[i] += i
            c[i % 3][i % 2] += 1
        b.sort(reverse=True)
        rows.append(a)
        rows.append(c[0])
        rows.append(rows[0])
        return rows, sum(a), max(b), a * 2, b, c, sorted(a)

    def g(n):
        total = 0
        for i in range(n):
            x = [i] * 3
            x.extend([1, 2])
            x += [i]
            x.insert(1, 7)
            x[1:3] = [4]
            del x[0]
            total += sum(x) + x.count(4)
        return total, x

    def h(x):
        return len(x), x[0]

    def calls(n):
        x, found = [1, 2, 3], []
        for i in range(n):
            x[i % 3] += i
            found.append(h(x))
        return x, found

    for function, args in ((f, ([[1]], 9)), (g, (9,)), (calls, (9,))):
        compiled = jitney.compile(function)
        for _ in range(3):
            assert outcome(compiled, *[list(a) if isinstance(a, list) else a for a in args]) == outcome(
                function, *[list(a) if isinstance(a, list) else a for a in args]
            )


def test_functions_that_take_and_give_them():
    def fill(x, at, n):
        for k in range(at, n):
            x[k] = x[k - 1] + k
        return x

    def split(n, depth):
        if depth == 0:
            return [n] * 2
        x = split(n + depth, depth - 1)
        x.append(depth)
        return x

    def f(n):
        x, total = [1] * n, 0
        for i in range(1, n):
            y = fill(x, i, n)
            total += y[-1] % 1000
            y[0] = i
        return total, x, y is x

    def g(n):
        total = 0
        for i in range(n):
            total += split(i, 5)[-1]
        return total, split(3, 4)

    same(f, 9)
    for function in (g,):
        compiled = jitney.compile(function)
        assert [outcome(compiled, 9) for _ in range(3)] == [outcome(function, 9)] * 3


def test_nan():
    nan = float("nan")

    def f(n, x):
        a, b = [x] * n, [0.0] * n
        for i in range(n):
            b[i] = a[i] + i
        copied = a[:]
        return a, b, copied, a == copied, a.count(a[0]), a + b

    compiled = jitney.compile(f)
    for x in (nan, math.inf, -0.0, nan):
        assert outcome(compiled, 5, x) == outcome(f, 5, x)


def test_equal_items_of_a_new_list_are_one_object():
    def f(n, x, y):
        a, b = [x] * n, [y] * n
        for i in range(1, n, 2):
            a[i] = i + 1000
            b[i] = i / 3
        return a, b

    compiled = jitney.compile(f)
    for _ in range(2):
        a, b = compiled(9, 12345, 2.5)
        assert len({id(x) for x in a[::2]}) == len({id(x) for x in b[::2]}) == 1
        assert len({id(x) for x in a[1::2] + b[1::2]}) == 8
    assert is_native(compiled)


def test_what_is_seen_at_a_signal_and_changed_there():
    """The handler sees the frame's lists as they are, keeps them, and changes them: the loop goes on with its changes."""
    held = []

    def handler(_, frame):
        if "a" in frame.f_locals and not held:
            held.extend([frame.f_locals["a"], frame.f_locals["table"], frame.f_locals["k"]])
            held[0][0] = 10**6
            held[1][1].append(-7)

    def f(n):
        a, table = [0, 0], [[q] for q in range(1, 3)]
        for k in range(n):
            a[1] = k
            if a[0] != 0:
                break
        table[0][0] = a[1]
        return a, table, k

    compiled = jitney.compile(f)
    assert compiled(5) == f(5)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        a, table, k = compiled(10**11)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert is_native(compiled) and k - held[2] <= 1 and k > 0
    assert a is held[0] and a == [10**6, k]
    assert table is held[1] and table == [[k], [2, -7]]


def test_nothing_is_kept():
    def f(n):
        kept = [[0] * 50 for _ in range(40)]
        for k in range(n):
            x = [k] * 100 + [1]
            kept[k % 40][k % 50] = x[k % 101] + 10**6
        return kept[3][3], kept

    def raises(n):
        x = [0.5] * n
        for k in range(n + 1):
            x[k] = k / 2
        return x

    compiled, other = jitney.compile(f), jitney.compile(raises)

    def run():
        for _ in range(50):
            ours, theirs = ([sys.getrefcount(x) for x in kept] for _, kept in (compiled(500), f(500)))
            assert ours == theirs
            with pytest.raises(IndexError):
                other(30)

    run()
    gc.collect()
    blocks = sys.getallocatedblocks()
    run()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 300
    assert is_native(compiled) and is_native(other)


def test_the_collector_finds_them():
    def f(n):
        x = [[k] for k in range(n)]
        for k in range(n):
            x[k][0] += k
        return x

    compiled = jitney.compile(f)
    for _ in range(2):
        x = compiled(9)
        assert gc.is_tracked(x) and gc.is_tracked(x[0])
        x[0].append(x)
        gc.collect()
        assert x[1:] == f(9)[1:]


# ---- lists that come in ----


def alike(function, make, natively=True):
    """Eager, compiled and left at every few checks, on arguments made anew, which are compared afterwards, with what is one object in them."""
    compiled = jitney.compile(function)

    def both(ours):
        args, others = make(), make()
        assert outcome(ours, *args) == outcome(function, *others)
        assert picture(args) == picture(others)

    for _ in range(3):
        both(compiled)
    natives = [entry for entry in jitney.inspect(compiled)._data["entries"] if " native " in (entry["loop_ir"] or "")]
    assert bool(natives) == natively and jitney.inspect(compiled).stats()["flow_calls"] >= 1
    config = jitney.config
    before = config.executor, config.exit_every
    try:
        for every in (1, 3, 17):
            config.executor, config.exit_every = "loop", every
            forced = jitney.compile(function)
            for _ in range(2):
                both(forced)
    finally:
        config.executor, config.exit_every = before
    return compiled


def mixed_up(a, b, n):
    s = 0
    for k in range(n):
        for i in range(len(a)):
            a[i] = a[i] + b[(i + k) % len(b)] + k
            b[i] -= a[-1] // 3
            s += a[i] - b[0]
    return s, a is b


def test_one_list_twice():
    def once():
        return [3, 1000, -7], [5, 2**40, 0], 9

    def twice():
        a = [3, 1000, -7]
        return a, a, 9

    alike(mixed_up, once)
    alike(mixed_up, twice)
    compiled = jitney.compile(mixed_up)
    for make in (once, twice, twice, once):
        ours, theirs = make(), make()
        assert outcome(compiled, *ours) == outcome(mixed_up, *theirs) and picture(ours) == picture(theirs)


def test_rows_of_a_table_and_of_another():
    def f(table, row, others, n):
        for k in range(n):
            for i in range(len(table)):
                for j in range(len(table[i])):
                    table[i][j] += row[j] * 0.5
                row[k % len(row)] += others[i % len(others)][0]
            others[0][0] = -row[1]
        return row in [row], table[1]

    def apart():
        return [[1.5, 2.0], [3.0, -0.0]], [0.25, 4.0], [[7.0], [8.0, 9.0]], 5

    def shared():
        row = [1.5, 2.0]
        return [row, [3.0, 4.0], row], row, [[5.0], row], 5

    alike(f, apart)
    alike(f, shared)


def test_rows_change_places_and_new_ones_come_in():
    def f(table, n):
        for k in range(n):
            for i in range(len(table)):
                table[i][0] += k
            table[k % 3] = [k] * 2 if k % 2 == 0 else table[(k + 1) % 3]
        return table[0]

    row = [7, 8]
    alike(f, lambda: ([list(row), list(row), list(row)], 7))


def test_their_size_changes():
    def f(a, b, n):
        s = 0
        for k in range(n):
            a.append(k * 1000)
            if k % 3 == 2:
                s += b.pop() + len(b)
            for x in b:
                s += x
        a.reverse()
        return s

    for length in (0, 1, 9, 30):
        compiled = alike(f, lambda length=length: ([1] * length, list(range(900, 940)), 30), natively=length != 0)
        ours, theirs = [5, 6], [5, 6]
        compiled(ours, [1] * 50, 40)
        f(theirs, [1] * 50, 40)
        assert ours == theirs and sys.getsizeof(ours) == sys.getsizeof(theirs)


def test_left_in_the_middle_with_what_came_in():
    def overflows(a, n):
        for k in range(n):
            for i in range(len(a)):
                a[i] = a[i] * 7 + 1
        return a[0]

    def raises(a, rows, n):
        for k in range(n):
            rows[k % 2][0] = a[k] + rows[1][0]
            a[k] = -k

    def catches(a, n):
        found = []
        for k in range(n):
            try:
                a[k % 9] /= k % 3
                found.append(a[0])
            except (ZeroDivisionError, IndexError):
                a[0] += 1.5
        return found

    alike(overflows, lambda: ([1, 300, -5], 40))
    alike(raises, lambda: ([1, 2, 3, 4], [[5], [6]], 9))
    alike(catches, lambda: ([1.5, 2.5, 3.5], 30))


@pytest.mark.parametrize("x", [2**64, True, None, 1.5, "x", [1], (1,)], ids=repr)
def test_lists_that_hold_something_else(x):
    def f(a, rows, n):
        s = 0
        for k in range(n):
            for i in range(len(a)):
                s += 1
                a[i], rows[0][i] = rows[0][i], a[i]
        return s

    compiled = jitney.compile(f)

    def plain():
        return [1, 2000, 3], [[4, 5, 60000]], 3

    def odd():
        return [1, 2, 3], [[4, x, 6]], 3

    for make in (plain, odd, plain, odd, odd, plain):
        ours, theirs = make(), make()
        assert outcome(compiled, *ours) == outcome(f, *theirs) and picture(ours) == picture(theirs)


def test_who_else_holds_them():
    """A list whose items others hold: those do not change; and a tuple of lists, an iterator, or a function that wants the object, see the changes."""

    def stored(a, n):
        for k in range(n):
            for i in range(len(a)):
                a[i] += 1000
        return n

    def in_a_tuple(a, t, n):
        s = 0
        for k in range(n):
            for i in range(len(a)):
                a[i] += k
                s += t[0][i] + t[1][i] + len(t)
        return s

    def wanted(a, n):
        s = 0
        for k in range(n):
            for i in range(len(a)):
                a[i] += k
            s += sum(a) + max(a)
        return s

    for values in ([1000 + k for k in range(5)], [0.5 + k for k in range(5)]):
        a, compiled = list(values), jitney.compile(stored)
        for k in range(3):
            held = list(a)
            assert compiled(a, 3) == 3
            assert held == [v + 3000 * k for v in values] and a == [v + 3000 * (k + 1) for v in values]

    def shared():
        a = [1, 2, 3000]
        return a, (a, [5, 6, 7]), 4

    def shared_by_many():
        a = [1, 2, 3000]
        return a, (a,) * 20, 4

    alike(in_a_tuple, shared)
    alike(in_a_tuple, shared_by_many, natively=False)
    alike(wanted, lambda: ([1, 2, 3000], 4), natively=False)


def test_items_that_do_not_change_stay_the_same_objects():
    def f(a, rows, n):
        s = 0
        for k in range(n):
            for i in range(len(a)):
                a[1] = k * 1000
                rows[0][0] = a[i] + rows[0][1]
        return s

    compiled = jitney.compile(f)
    for _ in range(3):
        a, rows = [1234, 5, 123456], [[1, 777777]]
        before, row, item = list(a), rows[0], rows[0][1]
        counts = [sys.getrefcount(x) for x in (a, rows, row, a[2])]
        compiled(a, rows, 3)
        assert a[0] is before[0] and a[2] is before[2] and rows[0] is row and row[1] is item
        assert counts == [sys.getrefcount(x) for x in (a, rows, row, a[2])]
        assert a[1] == 2000


def test_a_signal_and_another_thread_see_and_change_them():
    import threading
    import time

    def f(a, rows, n):
        k = 0
        while k < n and a[0] == 0 and rows[0][1] == 0:
            a[1] += 1
            rows[0][0] = a[1]
            k += 1
        return k

    def change(a, rows, seen):
        seen.append((a[1], rows[0][0]))
        if len(seen) % 2:
            a[0] = 1
        else:
            rows[0][1] = 1

    compiled = jitney.compile(f)
    compiled([0, 0], [[0, 0]], 10)
    assert any(" native " in (entry["loop_ir"] or "") for entry in jitney.inspect(compiled)._data["entries"])
    seen = []
    for _ in range(2):
        a, rows = [0, 5], [[0, 0]]
        before = signal.signal(signal.SIGALRM, lambda *_: change(a, rows, seen))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            k = compiled(a, rows, 10**11)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert a[1] == rows[0][0] == k + 5 and 0 <= k + 5 - seen[-1][0] <= 1 and seen[-1][1] >= k + 4 > 5
    for _ in range(2):
        a, rows = [0, 5], [[0, 0]]
        thread = threading.Thread(target=lambda: (time.sleep(0.05), change(a, rows, seen)))
        thread.start()
        k = compiled(a, rows, 10**11)
        thread.join()
        assert a[1] == rows[0][0] == k + 5 > 5 and 0 <= k + 5 - seen[-1][0] <= 1


def test_long_lists_of_which_little_is_read():
    """Taking a list in costs as much as it is long: what reads little of it is soon compiled for objects."""

    def find(a, x):
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < x:
                low = middle + 1
            else:
                high = middle
        return low

    compiled = jitney.compile(find)
    a = list(range(0, 100_000, 5))
    for x in (5000, 17, 99_000, -1, 1 << 40, 31, 62, 93):
        assert compiled(a, x) == find(a, x)
    stats = jitney.inspect(compiled).stats()
    assert stats["flow_calls"] >= 8 and stats["flow_refusals"] >= 1
    assert any(
        " native " not in (entry["loop_ir"] or " native ") for entry in jitney.inspect(compiled)._data["entries"]
    )


def test_a_long_list_that_little_is_appended_to_becomes_an_object():
    """What is looked at again when the run is left counts as copying: such a list is left as it is."""

    def append(items, n):
        for i in range(n):
            items.append(i * 2.0)
        return len(items)

    compiled = jitney.compile(append)
    compiled([1.0], 100)
    items = [1.0] * 60000
    for _ in range(40):
        compiled(items, 10)
    assert items == [1.0] * 60000 + [i * 2.0 for i in range(10)] * 40
    assert jitney.inspect(compiled).stats()["entries"] == 2
