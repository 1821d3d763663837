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
