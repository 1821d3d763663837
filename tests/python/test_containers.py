"""Containers that existed before the call, sets, iterators, generators, match and imports: compiled without a break, and like eager."""

import collections
import copy
import enum
import itertools
import math

import numpy as np
import pytest

import jitney

A = np.arange(4.0)
CASES = []


def case(*args):
    """`fullgraph` for these arguments, whose changes are compared, too. The arguments' identities are kept by one deepcopy."""

    def add(function):
        CASES.append(pytest.param(function, args, id=f"{function.__name__}-{len(CASES)}"))
        return function

    return add


def outcome(function, args):
    args = copy.deepcopy(list(args))
    try:
        result = function(*args)
    except Exception as error:
        result = type(error), str(error), error.__traceback__.tb_next.tb_lineno
    return repr(result), repr(args)


# ---- lists from outside ----


@case([1], A)
def append_blindly(l, a):
    l.append(a + 1)
    return a * 2


@case([1], A)
def append_and_look(l, a):
    l.append(a + 1)
    l.append(3)
    return l[-2] * 2 + len(l)


@case(*[[1.5]] * 2, A)
def two_lists(l, m, a):
    l.append(a + 1)
    m.append(a + 2)
    return l[-1] * len(m)


@case([1, 2, 3, 4, 5], A)
def slices(l, a):
    l[1:3] = [a, a + 1]
    del l[::2]
    l[:0] = (7, 8)
    l[::2] = range(len(l[::2]))
    return l[1] + a


@case([A + 1, A + 5], A)
def swap(l, a):
    l[0], l[1] = l[1], l[0]
    return l[0] * a


@case([3, 1, 2], A)
def list_methods(l, a):
    l.sort()
    l.reverse()
    l.insert(-1, 7)
    l.remove(3)
    l.extend(x for x in (1, 2))
    l += [9]
    v = l.pop() + l.pop(0)
    l.sort(key=lambda x: -x)
    return a * v + l.index(2) + l.count(1)


@case([[1, 2.0], [3, 4]], A)
def nested(grid, a):
    for row in grid:
        for j in range(len(row)):
            row[j] = row[j] * a
    return grid[0][0] + 1


@case([1, 2], {"x": 1}, A)
def clear(l, d, a):
    l.clear()
    d.clear()
    l.append(1)
    return a + len(l)


@case([1, 2, 3], A)
def grow_while_walking(l, a):
    for x in l:
        if len(l) < 6:
            l.append(x * 10)
        a = a + x
    return a


@case(collections.deque([1]), A)
def deque(q, a):
    q.append(a + 1)
    q.appendleft(3)
    return a * 2


# ---- dicts from outside ----


@case({"x": 1}, A)
def dict_stores(d, a):
    d["k"] = a * 2
    d["z"] = d["k"] + 1
    del d["x"]
    return a + len(d)


@case({"x": 1}, A)
def dict_methods(d, a):
    d.update(b=2)
    d.setdefault("c", a + 1)
    d.pop("x")
    d |= {"q": 1}
    d.update([("r", 3)])
    k, v = d.popitem()
    return a * v, k, d.get("nothing", 5), d.pop("nothing", 6)


@case({"x": 1, "y": 2}, A)
def values_change_while_walking(d, a):
    for k, v in d.items():
        d["y"] = 10
        a = a + v
    return a


@case({"x": 1, "yy": 2.5}, A)
def views(d, a):
    for k, v in d.items():
        a = a + v * len(k)
    return a, list(d.values()), "x" in d.keys(), list(d.items())


# ---- keys of other kinds ----


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Bit(enum.IntFlag):
    A = 1
    B = 2


Pair = collections.namedtuple("Pair", "x y")  # noqa: PYI024 - the kind that programs make
GAIN = {Color.RED: 2.0, Color.BLUE: 3.0, Pair(1, 2): 4.0, (Color.RED, 1): 5.0}


@case({Color.RED: 1, 2: 3}, Color.BLUE, A)
def members_as_keys(d, color, a):
    d[color] = a * GAIN[color]
    made = {Color.RED: a, Bit.A: a + 1, Bit.A | Bit.B: 7}
    made[Color.BLUE] = GAIN.get(Color.RED, 9)
    return d, made, made[1], made[3], d[color] + GAIN[Color.RED, 1], [k is Color.RED for k in made], Color.BLUE in d


@case({Color.RED, 5}, A)
def members_in_sets(s, a):
    s.add(Color.BLUE)
    return Color.RED in s, Pair(1, 2) in s, len(s), {Color.RED, Color.RED, 3}, a * len({Bit.A, 1})


@case({Pair(1, 2): 1}, Pair(1, 2), A)
def tuples_as_keys(d, pair, a):
    d[Pair(3, 4)] = a + 1
    made = {Pair(5, 6): a}
    return d[pair] + d[1, 2], GAIN[pair] * a, d[3, 4] + made[5, 6], made, sum(k.x for k in made), Pair(0, 0) in d


@case(A)
def lost_key(a):
    try:
        return {Color.RED: a}[Color.BLUE]
    except KeyError as error:
        return error.args[0] is Color.BLUE, a + 1


# ---- operators of deques and defaultdicts ----


@case(collections.deque([1, 2, 3], 5), A)
def changes_of_a_deque(d, a):
    d.insert(1, a)
    d.insert(-1, 7)
    d.reverse()
    d.remove(7)
    return d.index(3) + d.index(2, 1), d + collections.deque([4, 5]), d * 2, 2 * d, d * -1, d[0] * a


@case(collections.deque([1, 2], 2), A)
def full_deque(d, a):
    try:
        d.insert(0, a)
    except IndexError as error:
        return str(error), a + 1


@case(collections.defaultdict(list, a=A), {"b": 2}, A)
def merged_dicts(d, e, a):
    left, right = d | e, e | d
    left["x"].append(a + 1)
    return left, right, right["y"], d, left["b"] * a


# ---- sets ----


@case({1, 2}, A)
def set_from_outside(s, a):
    s.add(3)
    s.discard(1)
    s |= {9}
    s.update([4, 5])
    return a * len(s), 3 in s, s >= {9}


@case(A)
def sets(a):
    s = {3, 1, 2}
    s.add(10)
    t = {x * x for x in range(5)}
    u = s - {1}
    u.remove(3)
    return a + len(s | t) + len(u), s, t, s & t, s - t, len(s ^ t), u == {2, 10}, frozenset(t) <= {0, 1, 4, 9, 16, 5}


@case(A)
def order_of_sets(a):
    for x in {"b", "a", "ccc", "dddd"}:
        a = a * 2 + len(x)
    return a, list({"x", "y", "z"} | set("pqrst")), {*"ab", *"bc"}.pop()


@case({3, 4}, A)
def walk_a_set(s, a):
    for x in s:
        a = a * x
    return a if s.isdisjoint([1]) else a - 1


# ---- iterators ----


@case(A)
def itertools_all(a):
    for i, x in zip(itertools.count(2, 3), itertools.islice([1, 2, 3, 4, 5], 1, None, 2)):
        a = a + i * x
    for x in itertools.chain([1], (2, 3), itertools.chain.from_iterable([[4], [5]])):
        a = a * 2 - x
    for p, q in itertools.product([1, 2], repeat=2):
        a = a + p * q
    for p, q in itertools.product([1, 2], "ab"):
        a = a + p * len(q)
    for p, q in itertools.permutations([1, 2, 3], 2):
        a = a + p - 2 * q
    for p, q in itertools.combinations((1, 2, 3), 2):
        a = a + p - 3 * q
    for x in itertools.accumulate([1, 2, 3], initial=5):
        a = a + x
    for x in itertools.accumulate([1, 2, 3], lambda u, v: u * v + 1):
        a = a + x
    for x in itertools.takewhile(lambda v: v < 3, [1, 2, 3, 1]):
        a = a + x
    for x in itertools.dropwhile(lambda v: v < 3, [1, 2, 3, 1]):
        a = a * x
    for x in itertools.filterfalse(lambda v: v % 2, range(5)):
        a = a + x
    for x in itertools.starmap(lambda u, v: u * v, [(1, 2), (3, 4)]):
        a = a + x
    for u, v in itertools.pairwise([1, 4, 9]):
        a = a + (v - u)
    for u, v in itertools.zip_longest([1, 2, 3], [4], fillvalue=7):
        a = a + u * v
    for x in itertools.compress([1, 2, 3], [1, 0, 1]):
        a = a + x
    for x, _ in zip(itertools.cycle([1, 2]), range(5)):
        a = a + x
    for x in itertools.repeat(2, 3):
        a = a + x
    return a


@case(A)
def accumulate_arrays(a):
    return list(itertools.accumulate([a, a + 1, a + 2]))


@case(A)
def builtin_iterators(a):
    n = iter([1, 2, 0, 4])
    for x in iter(lambda: next(n), 0):
        a = a + x
    pairs = list(zip((1, 2), (3, 4), strict=True))
    return a, pairs, list(reversed([1, 2])), dict(zip("ab", [a, 2])), {k: v for k, v in enumerate("xy", start=3)}


@case(A)
def uneven_zip(a):
    try:
        return list(zip([1], [1, 2], strict=True))
    except ValueError as error:
        return a + len(str(error))


@case({"x": 1}, A)
def dict_grows_while_walking(d, a):
    try:
        for k in d:
            d[k + "z"] = 1
    except RuntimeError as error:
        return a * 2, str(error)
    return a


# ---- generators ----


@case(A)
def generators(a):
    def numbers(n):
        for i in range(n):
            yield a * i
        return a

    def outer():
        returned = yield from numbers(3)
        yield returned + 1
        yield from (1, 2)

    return sum(numbers(3)), list(outer()), max(i for i in range(4)), all(x.ndim == 1 for x in numbers(2))


@case(A)
def send(a):
    def echo():
        x = yield a
        while True:
            x = yield x * 2

    def through():
        yield from echo()

    g, h = through(), echo()
    next(g)
    next(h)
    u = g.send(a + 1)
    v = g.send(a + 2)
    h.close()
    return u + v, list(h)


@case(A)
def deep_generators(a):
    def walk(n):
        if n:
            yield from walk(n - 1)
            yield n * a

    return sum(walk(6))


# ---- match ----


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


@case([1, 2], A)
@case((3, 4, 5), A)
@case({"k": 5, "z": 1}, A)
@case(7, A)
@case("s", A)
@case(None, A)
@case(Point(1, 2), A)
@case(Point(3, 4), A)
@case(Point(2, 2), A)
def match(p, a):
    match p:
        case [x, y]:
            return a * x + y
        case [x, *rest]:
            return a * x + len(rest)
        case {"k": v, **rest}:
            return a + v + len(rest)
        case int(n):
            return a * n
        case str() | None:
            return a - 1
        case Point(1, y=z):
            return a * z
        case Point(x, y) if x > 2:
            return a + x + y
        case _:
            return a + 100


# ---- imports, globals, unpacking ----


@case(A)
def imports(a):
    import os.path
    import os.path as path
    from math import sqrt as root

    from numpy import exp

    return exp(a) * root(4) + math.pi + len(path.sep) + len(os.sep)


@case(A)
def stars(a):
    x, *y, z = [a, 1, 2, a + 1]

    def names(*p, **k):
        return len(p), sorted(k)

    return x + z, y, names(*y, *[1], **{"q": 1}, w=2), (n := 3) * a, 1 < n < 4, f"{n:>5}|{n!r}|{'s'!s:5}|{2.5:.3f}"


@pytest.mark.parametrize("function, args", CASES)
def test_case(function, args):
    compiled = jitney.compile(function, fullgraph=True)
    for _ in range(3):
        assert outcome(function, args) == outcome(compiled, args)
    stats = jitney.inspect(compiled).stats()
    assert stats["entries"] == 1 and stats["native_calls"] == 3, stats


# ---- aliases ----


def store_then_read(l, m, a):
    l[0] = a + 1
    return m[0] * 2


def test_two_names_of_one_list():
    compiled = jitney.compile(store_then_read, fullgraph=True)
    for same in (False, True, False, True):
        expected, got = [A], [A]
        other = [A + 5]
        pair = (expected, expected if same else other), (got, got if same else other)
        assert repr(store_then_read(*pair[0], A)) == repr(compiled(*pair[1], A))
        assert repr(expected) == repr(got)
    assert jitney.inspect(compiled).stats()["entries"] == 2


def append_to_both(l, m, a):
    l.append(a + 1)
    m.append(2)
    return l[-1] * 2


def test_appends_to_one_list():
    compiled = jitney.compile(append_to_both)
    for same in (False, True, True, False):
        expected, got = [], []
        results = [append_to_both(expected, expected if same else [], A) for _ in range(1)]
        assert repr(results) == repr([compiled(got, got if same else [], A)]) and repr(expected) == repr(got)


def test_dict_that_is_the_globals():
    def store(d, a):
        d["STORED"] = a + 1
        return STORED * 2  # noqa: F821

    expected = dict(store.__globals__, STORED=A)
    plain, compiled = (jitney.compile(f) for f in (store, store))
    plain = type(store)(store.__code__, expected)
    mine = dict(expected)
    compiled = jitney.compile(type(store)(store.__code__, mine))
    for d, e in (({}, {}), (expected, mine), ({}, {}), (expected, mine)):
        assert repr(plain(d, A)) == repr(compiled(e, A))


# ---- what runs code of the program's is left alone ----

LOG = []


class Loud:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        LOG.append("eq")
        return self.v == other.v

    def __hash__(self):
        LOG.append("hash")
        return 1

    def __del__(self):
        LOG.append("del")

    def __repr__(self):
        return "Loud"


def loud_key(d, k, a):
    d[k] = a + 1
    return k in d, a * 2


def loud_set(d, k, a):
    return {k, Loud(1)} == {Loud(2)}, a + 1


def loud_index(d, k, a):
    return [Loud(3), k].index(k), a + 1


def loud_drop(d, k, a):
    d["loud"] = Loud(1)
    LOG.append("stored")
    d["loud"] = a
    LOG.append("dropped")
    return a * 2


def loud_pop(d, k, a):
    d.pop("x")
    LOG.append("popped")
    return a * 2


@pytest.mark.parametrize("function", [loud_key, loud_set, loud_index, loud_drop, loud_pop])
def test_loud(function):
    compiled = jitney.compile(function)
    for _ in range(3):
        seen = []
        for f in (function, compiled):
            d, k = {"x": Loud(7)}, Loud(1)
            LOG.clear()
            result = repr(f(d, k, A))
            seen.append((result, repr(d), list(LOG)))
        assert seen[0] == seen[1]


def replace_first(l, a):
    l[0] = a + 1
    LOG.append("stored")
    return a * 2


def test_destructor_of_a_later_call():
    compiled = jitney.compile(replace_first)
    for make in (lambda: 1, lambda: Loud(1), lambda: 2.5, lambda: [Loud(1)], lambda: 1):
        seen = []
        for f in (replace_first, compiled):
            l = [make()]
            LOG.clear()
            seen.append((repr(f(l, A)), repr(l), list(LOG)))
        assert seen[0] == seen[1]


# ---- stores to globals ----

COUNT = 0
LAST = None


def count_calls(a):
    global COUNT, LAST
    COUNT += 1
    LAST = a * COUNT
    return LAST + COUNT


def test_global_stores():
    global COUNT
    compiled = jitney.compile(count_calls, fullgraph=True)
    COUNT = 0
    for i in range(1, 12):
        assert (compiled(A) == A * i + i).all() and COUNT == i and (LAST == A * i).all()
    assert jitney.inspect(compiled).stats()["compiles"] == 2


def make_and_delete(a):
    global FLEETING
    FLEETING = a + 1
    b = FLEETING * 2
    del FLEETING
    return b


def test_global_that_comes_and_goes():
    compiled = jitney.compile(make_and_delete, fullgraph=True)
    for _ in range(3):
        assert (compiled(A) == (A + 1) * 2).all() and "FLEETING" not in globals()


# ---- state over calls ----


def remember(d, a):
    d["n"] = d.get("n", 0) + 1
    d.setdefault("l", []).append(a + 1)
    return a * d["n"]


def test_dict_of_counters():
    compiled = jitney.compile(remember, fullgraph=True)
    mine, theirs = {}, {}
    for _ in range(4):
        assert repr(remember(theirs, A)) == repr(compiled(mine, A)) and repr(mine) == repr(theirs)


# ---- breaks in loops over iterators that are rebuilt ----


@jitney.disable
def tell(x):
    LOG.append(repr(x))


def loop_over_dict(d, a):
    for i, (k, v) in enumerate(zip(d, reversed([1, 2, 3]))):
        a = a * v + i
        tell(k)
        a = a + 1
    return a


def iterators_over_a_break(d, a):
    l, t, s, r = iter([1, 2, 3]), iter((1, 2, 3)), iter("abc"), iter(range(5))
    e, z, m = enumerate(l, 7), zip(t, s), map(len, ["x", "yy"])
    q, v, b = iter({"k": 1, "w": 2}.items()), reversed([4, 5, 6]), itertools.count(3)
    for it in (l, t, s, r, e, z, m, q, v, b):
        next(it)
    a = a * 2 + 1
    tell(a)
    return (
        [type(it).__name__ for it in (l, t, s, r, q, v)],
        list(e),
        list(z),
        list(m),
        list(q),
        list(v),
        next(b),
        list(r),
        a,
    )


@pytest.mark.parametrize("function", [loop_over_dict, iterators_over_a_break])
def test_iterators_over_a_break(function):
    compiled = jitney.compile(function)
    for _ in range(4):
        seen = []
        for f in (function, compiled):
            LOG.clear()
            seen.append((repr(f({"x": 1, "y": 2}, A)), list(LOG)))
        assert seen[0] == seen[1]


def set_over_a_break(d, a):
    s, t = {3, 1, 2}, {x * 7 % 11 for x in range(9)}
    s.add("x")
    a = a + 1
    tell(a)
    s.add(99)
    t.discard(7)
    return list(s), list(t), a * 2


def test_set_over_a_break():
    compiled = jitney.compile(set_over_a_break)
    for _ in range(3):
        assert repr(set_over_a_break({}, A)) == repr(compiled({}, A))


# ---- a dict that is somebody's __dict__ ----


class Holder:
    def __init__(self):
        self.v = 1

    def __repr__(self):
        return f"Holder{self.__dict__!r}"


def store_then_attribute(p, d, a):
    d["v"] = 5
    return p.v, a + 1


def attribute_then_read(p, d, a):
    before = d["v"]
    p.v = 5
    return before, d["v"], a + 1


@pytest.mark.parametrize("function", [store_then_attribute, attribute_then_read])
def test_dict_of_an_instance(function):
    compiled = jitney.compile(function)
    for own in (False, True, False, True):
        seen = []
        for f in (function, compiled):
            p = Holder()
            d = p.__dict__ if own else {"v": 0}
            seen.append((repr(f(p, d, A)), repr(p), repr(d)))
        assert seen[0] == seen[1]


# ---- what changes under an iterator ----


def change_under_iterators(l, d, a):
    i, r, k = iter(l), reversed(l), iter(d.items())
    next(i), next(r), next(k)
    l.insert(0, 9)
    d["x"] = a
    x = next(i)
    l.pop()
    l.pop()
    return x, list(i), list(r), next(k), a + 1


def test_change_under_iterators():
    compiled = jitney.compile(change_under_iterators, fullgraph=True)
    for _ in range(3):
        make = lambda: ([1, 2, 3, 4], {"w": 1, "x": 2, "y": 3}, A)
        assert repr(change_under_iterators(*make())) == repr(compiled(*make()))


def late_closure(a):
    n = 2
    g = (x * n for x in [1, 2, 3])
    n = 10

    def stops():
        yield 1
        raise StopIteration(5)

    try:
        list(stops())
    except RuntimeError as error:
        return list(g), str(error), a + 1


def test_generators_late():
    compiled = jitney.compile(late_closure, fullgraph=True)
    assert repr(late_closure(A)) == repr(compiled(A)) == repr(compiled(A))


# ---- who asks an iterator, and when ----


def sum_of_one_array(a):
    def grow():
        x = a * 0
        for _ in range(3):
            x += 1
            yield x

    return sum(grow())


def extend_looks_back(a):
    l = [1]
    l.extend(len(l) for _ in range(3))
    return l, a + 1


def extend_and_append(a):
    l = [1]

    def more():
        l.append(9)
        yield 1
        l.append(8)
        yield 2

    l.extend(more())
    return l, a + 1


def unpack_takes_one_more(a):
    it = iter([1, 2, 3, 4, 5])
    try:
        x, y = it
    except ValueError as error:
        return str(error), list(it), a + 1


def contains_stops(a):
    it = iter([1, 2, 3, 4, 5])
    return 3 in it, list(it), a + 1


def set_looks_back(a):
    s = set()
    s.update(len(s) for _ in range(5))
    return sorted(s), a + 1


def sums(a):
    return sum([a, 1.5, 2.5]), sum([1, 2.5, 0.1, 0.2], 0.3), sum([(1,), (2,)], ()), sum([[1], [a]], [])


def star_calls(a):
    def f(*p, x=0, **k):
        return len(p) * a + x + len(k)

    return f(*[1, 2], *(3,), **{"x": 1}, **{"q": 2}), f(*(i for i in "ab"), x=2), f(**{"w": 1})


ORDERS = [
    sum_of_one_array,
    extend_looks_back,
    extend_and_append,
    unpack_takes_one_more,
    contains_stops,
    set_looks_back,
    sums,
    star_calls,
]


@pytest.mark.parametrize("function", ORDERS)
def test_orders(function):
    compiled = jitney.compile(function, fullgraph=True)
    for _ in range(2):
        assert repr(function(A)) == repr(compiled(A))


class Unhashable:
    __hash__ = None


class Counting(dict):
    pass


KEYS = {3: 4}


def in_constant(n, a, out):
    out.append(n in {3, 4})
    return a + 1


def in_frozenset(n, a, out):
    out.append(n not in frozenset([3, 4]))
    return a + 1


def tuple_in_constant(n, a, out):
    out.append((n, 1) in {3, (4, 1)})
    return a + 1


def in_made_set(n, a, out):
    out.append(n in {len(a), 3})
    return a + 1


def in_items(n, a, out):
    d = {3: 4}
    out.append((n, 4) in d.items())
    out.append(n in d.items())
    return a + 1


def in_items_of_global(n, a, out):
    out.append((n, 4) in KEYS.items())
    return a + 1


def in_items_of_subclass(n, a, out):
    d = Counting({3: 4})
    out.append((n, 4) in d.items())
    return a + 1


def in_text(n, a, out):
    out.append(n in "abx")
    return a + 1


def in_bytes(n, a, out):
    out.append(n in b"abx")
    return a + 1


def tuple_in_text(n, a, out):
    out.append((n, 1) in "abx")
    return a + 1


def in_values(n, a, out):
    out.append(n in {3: [1], 4: {3}}.values())
    return a + 1


ITEMS = [[], [1], {}, {3: 4}, set(), {3}, frozenset([3]), bytearray(b"x"), Unhashable(), slice(1), np.zeros(2), (3, [4]), (3, 4), 3, 3.0, np.float64(3), "x", None, float("nan")]


@pytest.mark.parametrize(
    "function", [in_constant, in_frozenset, tuple_in_constant, in_made_set, in_items, in_items_of_global, in_items_of_subclass, in_values, in_text, in_bytes, tuple_in_text]
)
def test_in_asks_for_hashes_where_python_does(function):
    """A list is in no set, but asking is a TypeError; its place in a set of constants does not hide that."""
    for item in ITEMS:
        outcomes = []
        for f in (function, jitney.compile(function)):
            out, error = [], None
            try:
                f(item, np.ones(2), out)
            except (TypeError, ValueError) as e:
                error = type(e), str(e)
            outcomes.append((out, error))
        assert outcomes[0] == outcomes[1], item
