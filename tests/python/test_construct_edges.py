"""Corners of the constructs of test_constructs.py: hostile classes, exceptions in the middle, classes that change, objects that exist before the call and are changed.

A row: name and a module that defines f(a); `step(k)`, if there is one, runs before the k-th call. Eager and compiled must agree in results, exceptions, identities and in all that the
module holds. A row of `whole` is compiled with fullgraph=True; one of `parts` has breaks.
"""

import linecache
import textwrap
import types
import warnings

import numpy as np
import pytest
from random_functions import Picture, unlike

import jitney

CALLS = 4
TABLE = []
RAISES = ("errstate-bad-mode",)  # at each call, before it is over


def whole(name, source):
    TABLE.append((name, textwrap.dedent(source), True))


def parts(name, source):
    TABLE.append((name, textwrap.dedent(source), False))


# unpacking and iterating

whole("unpack-generator", """
    class C:
        def __iter__(self):
            LOG.append("begin")
            yield 1
            yield 2
            LOG.append("end")
    def f(a):
        x, y = C()
        return a * x + y
""")
whole("unpack-asks-no-length", """
    class C:
        def __iter__(self):
            yield from (1, 2)
        def __len__(self):
            LOG.append("len")
            return 7
    def f(a):
        x, y = C()
        z, *rest = C()
        return a * x + y + z, rest
""")
whole("unpack-too-many", """
    class C:
        def __iter__(self):
            for k in range(5):
                LOG.append(k)
                yield k
    def f(a):
        try:
            x, y = C()
        except ValueError as e:
            return a * 2, e.args
""")
whole("unpack-too-few", """
    class C:
        def __iter__(self):
            yield 1
    def f(a):
        try:
            x, y = C()
        except ValueError as e:
            r = e.args
        try:
            x, y, *z = C()
        except ValueError as e:
            return a * 2, r, e.args
""")
whole("unpack-not-iterable", """
    class C:
        pass
    def f(a):
        try:
            x, y = C()
        except TypeError as e:
            return a * 2, e.args
""")
whole("unpack-iterator-class", """
    class It:
        def __init__(self):
            self.k = 0
        def __iter__(self):
            LOG.append("again")
            return self
        def __next__(self):
            self.k += 1
            if self.k > 4:
                raise StopIteration
            return self.k
    class C:
        def __iter__(self):
            return It()
    def f(a):
        x, *y, z = C()
        p, q, r, s = C()
        return a * x + z, y, p + q + r + s
""")
whole("iterate-getitem", """
    class C:
        def __init__(self, n, error):
            self.n, self.error = n, error
        def __getitem__(self, k):
            LOG.append(k)
            if k >= self.n:
                raise self.error(k)
            return k * 10
    def f(a):
        x, y = C(2, IndexError)
        r = a * x + y
        for item in C(3, StopIteration):
            r = r + item
        s = [item for item in C(2, IndexError)]
        it = iter(C(1, IndexError))
        return r, s, next(it), next(it, "end"), next(it, "end"), 10 in C(5, IndexError), sum(C(3, IndexError))
""")
whole("iterate-getitem-other-error", """
    class C:
        def __getitem__(self, k):
            LOG.append(k)
            if k == 2:
                raise KeyError(k)
            return k
    def f(a):
        it, got = iter(C()), []
        try:
            for item in it:
                got.append(item)
        except KeyError:
            pass
        try:
            next(it)
        except KeyError as e:
            return a * 2, got, e.args
""")
whole("iterate-getitem-subclass-of-index-error", """
    class Mine(IndexError):
        pass
    class C:
        def __getitem__(self, k):
            if k == 2:
                raise Mine
            return k
    def f(a):
        return a * 2, list(C()), tuple(C()), [*C()], sorted(C())
""")
whole("list-asks-for-length", """
    class C:
        def __len__(self):
            LOG.append("len")
            return 3
        def __iter__(self):
            LOG.append("iter")
            yield 1
            yield 2
    def f(a):
        l = [5]
        l.extend(C())
        return a * 2, list(C()), tuple(C()), [*C()], sorted(C()), l
""")
parts("getitem-iterator-lives-at-a-break", """
    class C:
        def __getitem__(self, k):
            if k == 5:
                raise IndexError
            return k
    def f(a):
        it = iter(C())
        r = np.sin(a * next(it) + next(it)) * 2 - a
        jitney.graph_break()
        return np.sin(r * 2 + a) - np.cos(r), list(it), next(it, "end")
""")
whole("class-changes-its-iteration", """
    class C:
        def __iter__(self):
            yield 1
            yield 2
    def step(k):
        if k == 2:
            def other(self):
                yield 5
                yield 6
            C.__iter__ = other
    def f(a):
        x, y = C()
        return a * x + y
""")

# frozen dataclasses

FROZEN = """
    @dataclasses.dataclass(frozen=True)
    class P:
        x: object
        k: int = 2
        def __post_init__(self):
            LOG.append(self.k)
    p = P(1.5, 3)
"""
whole("frozen-store-raises", FROZEN + """
    def f(a):
        q = P(a)
        try:
            q.x = 3
        except dataclasses.FrozenInstanceError as e:
            return q.x * 2, e.args
""")
whole("frozen-replace-live", FROZEN + """
    def f(a):
        q = dataclasses.replace(p, k=7)
        return a * q.x, q, p, q.k, hasattr(P, "k"), hasattr(P, "nothing"), hasattr(p, "x")
""")
whole("frozen-replace-wrong-name", FROZEN + """
    def f(a):
        try:
            dataclasses.replace(3, k=1)
        except TypeError as e:
            return a * 2, e.args
""")
parts("frozen-lives-at-a-break", FROZEN + """
    def f(a):
        q = P(np.sin(a * 2) + np.cos(a) * 3 - a, 5)
        jitney.graph_break()
        return q, np.sin(q.x + q.k) * 3 - np.cos(q.x)
""")
whole("hasattr-of-a-class-changes", """
    class C:
        pass
    def step(k):
        if k == 2:
            C.late = 1
    def f(a):
        return a * 2 if hasattr(C, "late") else a * 3
""")

# enums

HUES = """
    class Hue(enum.Enum):
        RED = 1
        BLUE = 2
        CRIMSON = 1
        def both(self):
            return self.name, self.value
        @classmethod
        def _missing_(cls, value):
            LOG.append(value)
            return cls.BLUE if value == 99 else None
"""
whole("enum-look-ups", HUES + """
    def f(a):
        return a * Hue(2).value, Hue(1) is Hue.RED, Hue["CRIMSON"] is Hue.RED, Hue(Hue.BLUE), Hue.RED.both(), Hue(99), Hue.RED == Hue.BLUE, Hue.RED != 1
""")
whole("enum-members", HUES + """
    def f(a):
        return a * sum(h.value for h in Hue), [h for h in Hue], len(Hue), Hue.RED in Hue, isinstance(Hue.RED, Hue), type(Hue.BLUE) is Hue
""")
whole("enum-unknown-name", HUES + """
    def f(a):
        try:
            return Hue["GREEN"]
        except KeyError as e:
            return a * 2, e.args
""")
parts("enum-unknown-value", HUES + """
    def f(a):
        r = np.sin(a) * 2 - np.cos(a)
        try:
            return Hue(5)
        except ValueError as e:
            return r, e.args
""")
whole("enum-unhashable-value", """
    class Odd(enum.Enum):
        LIST = [1]
        PAIR = (2, 3)
    def f(a):
        return a * Odd((2, 3)).value[0], Odd([1]) is Odd.LIST
""")
whole("enum-in-match", HUES + """
    def f(a, hues=(Hue.RED, Hue.BLUE)):
        r = 0
        for hue in hues:
            match hue:
                case Hue.RED:
                    r = r + a
                case Hue.BLUE:
                    r = r - a * 2
        return r
""")
whole("enum-argument", HUES + """
    calls = [Hue.RED, Hue.BLUE, Hue.RED, Hue.BLUE]
    def step(k):
        global hue
        hue = calls[k]
    def f(a):
        return a * 2 if hue is Hue.RED else a * 3, hue.name
""")
whole("enum-gets-a-value", HUES + """
    def step(k):
        if k == 2:
            Hue._value2member_map_[7] = Hue.RED
    def f(a):
        return a * 2, Hue(7) if 7 in Hue._value2member_map_ else Hue(1)
""")
whole("flag-operators", """
    class Perm(enum.Flag):
        R = 1
        W = 2
        X = 4
    def f(a):
        both = Perm.R | Perm.W
        return a * both.value, both, both & Perm.W is Perm.W, Perm.R ^ Perm.W, Perm.R in both, Perm.X in both, Perm(6), ~Perm.R, bool(Perm.R & Perm.W)
""")
whole("metaclass-methods", """
    class Meta(type):
        def __call__(cls, *args, **kwargs):
            LOG.append((args, kwargs))
            return args[0] * cls.factor
        def __getitem__(cls, k):
            return k * cls.factor
        def __len__(cls):
            return 3
        def __iter__(cls):
            yield cls.factor
        def __contains__(cls, k):
            return k == cls.factor
        def __bool__(cls):
            return False
    class C(metaclass=Meta):
        factor = 2
    def step(k):
        if k == 2:
            C.factor = 5
    def f(a):
        return C(a, z=1), C[a], len(C), list(C), 2 in C, 1 if C else 2
""")
whole("metaclass-changes", """
    class Meta(type):
        def __call__(cls, x):
            return x * 2
    class C(metaclass=Meta):
        pass
    def step(k):
        if k == 2:
            Meta.__call__ = lambda cls, x: x * 3
    def f(a):
        return C(a)
""")


# numbers and text with a name

whole("int-enum", """
    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 5
    class Name(str, enum.Enum):
        A = "a"
        B = "bb"
    def f(a, items=(1, 2, 3)):
        return (a * (Level.HIGH + 1), Level.HIGH > Level.LOW, Level(5), Level.HIGH == 5, 7 - Level.LOW, int(Level.HIGH), items[Level.LOW], -Level.LOW, ~Level.HIGH, abs(Level.LOW),
                max(Level), Name.A == "a", Name("bb").upper(), Name.A + "c", len(Name.B), "b" in Name.B, bool(Level.LOW), list(range(Level.HIGH)))
""")
parts("int-enum-and-array", """
    class Level(enum.IntEnum):
        HIGH = 5
    def f(a):
        b = (a * 2 + np.sin(a)).astype(np.float32)
        return b * Level.HIGH, np.int8(2) * Level.HIGH, a > Level.HIGH, a[Level.HIGH]
""")
whole("int-flag", """
    class Bits(enum.IntFlag):
        A = 1
        B = 2
        C = 4
    def f(a):
        both = Bits.A | Bits.B
        return a * both.value, both, both & Bits.B, Bits.A ^ Bits.B, Bits.A in both, Bits(6), Bits.A | 8
""")
whole("own-int", """
    class Count(int):
        pass
    def f(a):
        c = Count(3)
        return a * 2, c * 2, c == 3, [1, 2, 3, 4][c], c, type(c + 1) is int
""")

# namedtuples

PAIR = """
    P = collections.namedtuple("P", "x y", defaults=(7,))
    class Q(typing.NamedTuple):
        x: object
        k: int = 2
        def total(self):
            return self.x * self.k
        @property
        def twice(self):
            return self.k * 2
    class R(P):
        __slots__ = ()
        def __new__(cls, x):
            LOG.append(1)
            return super().__new__(cls, x, x)
        def __len__(self):
            LOG.append("len")
            return 9
    class S(P):
        def __init__(self, *args):
            self.note = args
"""
whole("namedtuple-everything", PAIR + """
    def f(a):
        p = P(a, 2)
        x, y = p
        q = p._replace(y=3)
        return (p, q, x * y, p.x, p[1], p[-1], p[:], p[:1], len(p), p == (a, 2), 2 in p[1:], p + (1,), (1,) + p[1:], p[1:] * 2, P(1), P(y=1, x=2), P._fields, P._make([1, 2]), p._asdict(),
                P(1, 2) == (1, 2), (1, 2) == P(1, 2), P(1, 2) < P(1, 3), P(1, 2) != [1, 2], isinstance(p, tuple), type(p) is P, p is p, P(1, 2).index(2), P(1, 1).count(1), tuple(P(1, 2)), [*P(1, 2)], bool(p))
""")
whole("namedtuple-class-of-typing", PAIR + """
    def f(a):
        q = Q(a)
        return q.total() + q.twice, q, Q(a, k=3)
""")
whole("namedtuple-subclasses", PAIR + """
    def f(a):
        r, s = R(a), S(1, 2)
        s.extra = 5
        x, y = r
        return r, s, s.note, len(r), x * 2, r[1], s == (1, 2), bool(r)
""")
whole("namedtuple-live", PAIR + """
    p, q, s = P(2.0, 3), Q(1.5, 4), S(1, 2)
    def step(k):
        global p
        if k == 2:
            p = P(5.0, [1])
    def f(a):
        x, y = p
        return a * x + p.x, y is p.y, p, q.total(), p._replace(x=1), p == p, len(q), s.note, [*q], p[0]
""")
whole("namedtuple-argument", PAIR + """
    def f(a, p=P(1, (2, 3)), many=(P(1, 2), Q(3))):
        (x, (y, z)), n = p, 0
        for first, second in many:
            n += first * second
        return a * x + y + z + n, p is p, many[0]
""")
whole("namedtuple-wrong-calls", PAIR + """
    def f(a):
        r = []
        p = P(a, 1)
        for k in range(4):
            try:
                if k == 0:
                    p.x = 3
                elif k == 1:
                    p[0] = 3
                elif k == 2:
                    p[7]
                else:
                    x, y, z = p
            except (AttributeError, TypeError, IndexError, ValueError) as e:
                r.append((type(e), e.args))
        return a * 2, r
""")
parts("namedtuple-lives-at-a-break", PAIR + """
    def f(a):
        p, l = P(np.sin(a) + np.cos(a) * 2, [1]), [2]
        s = S(l, p)
        jitney.graph_break()
        s.x.append(3)
        return p, s, l, np.sin(p.x) * 2 + a
""")
whole("namedtuple-class-changes", PAIR + """
    def step(k):
        if k == 2:
            P.__len__ = lambda self: 5
            P.total = lambda self: self.y
    def f(a):
        p = P(a, 2)
        return a * len(p), p.total() if hasattr(P, "total") else 0
""")
whole("own-tuple", """
    class T(tuple):
        def __getitem__(self, k):
            LOG.append(k)
            return tuple.__getitem__(self, k) * 10
        def __add__(self, other):
            return T(tuple(self) + tuple(other))
    live = T((1, 2))
    def f(a):
        t = T([1, 2, 3])
        return a * t[1], t + (4,), list(t), (0,) + tuple(t), t
""")

# deques

whole("deque-everything", """
    def f(a):
        d = collections.deque([1, 2, 3])
        d.append(4)
        d.appendleft(0)
        r = [d.pop(), d.popleft(), d[0], d[-1], len(d)]
        d.extend((7, 8))
        d.extendleft([9, 10])
        d[1] = 5
        d.rotate(2)
        del d[0]
        d += [11]
        e, g = d.copy(), collections.deque()
        e.clear()
        return a * d[0], d, e, g, r, list(d), 8 in d, d.count(8), bool(g), bool(d), d == collections.deque(d), d == [1], d.maxlen, sum(d), [x for x in d], tuple(d), isinstance(d, collections.deque)
""")
whole("deque-with-a-bound", """
    def f(a):
        d = collections.deque(range(5), maxlen=3)
        d.append(9)
        r = list(d)
        d.appendleft(8)
        d.extend([1, 2, 3, 4])
        n = collections.deque([1, 2], 0)
        n.append(3)
        return a * d[0], d, r, d.maxlen, n, d.copy(), collections.deque(d, 2)
""")
whole("deque-raises", """
    def f(a):
        r, d = [], collections.deque([1])
        for k in range(5):
            try:
                if k == 0:
                    d[3]
                elif k == 1:
                    d[3] = 1
                elif k == 2:
                    collections.deque([], -1)
                elif k == 3:
                    d.pop()
                    d.pop()
                else:
                    collections.deque().popleft()
            except (IndexError, ValueError) as e:
                r.append((type(e), e.args))
        return a * 2, r, d
""")
whole("deque-changes-under-iteration", """
    def f(a):
        d, got = collections.deque([1, 2, 3]), []
        try:
            for x in d:
                got.append(x)
                if x == 2:
                    d.append(4)
        except RuntimeError as e:
            return a * 2, got, e.args, d
""")
whole("deque-without-room", """
    live = collections.deque(maxlen=0)
    def f(a):
        d = collections.deque([1, 2], 0)
        it, other = iter(d), iter(live)
        d += [3]
        live.extend((4, 5))
        r = [list(it), list(other)]
        d.append(6)
        try:
            next(it)
        except RuntimeError as e:
            return a * 2, r, d, e.args, list(live)
""")
whole("deque-live", """
    live = collections.deque([1, 2, 3])
    bounded = collections.deque([1.5, 2.5], maxlen=2)
    def f(a):
        live.append(a.size)
        first = live.popleft()
        live[0] = first + 10
        bounded.append(a)
        live.extend([4])
        live.rotate(1)
        live.pop()
        return a * first, len(live), bounded[-1] is a, bounded.maxlen, list(live)
""")
whole("deque-live-blind", """
    live = collections.deque()
    other = collections.deque([5])
    def f(a):
        live.append(a * 2)
        live.appendleft(3)
        return a + 1
""")
whole("deque-live-blind-then-looked-at", """
    live = collections.deque([1])
    def step(k):
        live.clear()
        live.append(1)
    def f(a):
        live.append(2)
        live.appendleft(0)
        r = list(live), len(live), live[0], live[-1]
        live.append(3)
        return a * 2, r, live.popleft()
""")
whole("deque-argument", """
    def f(a, d=collections.deque([1, 2])):
        d.append(d.popleft())
        return a * d[0], d
""")
whole("deque-same-twice", """
    one = collections.deque([1, 2])
    two = one
    def step(k):
        global two
        two = one if k < 2 else collections.deque([1, 2])
    def f(a):
        one.append(5)
        n = len(two)
        two.pop()
        return a * n, list(one)
""")
parts("deque-live-before-a-break", """
    live = collections.deque([1, 2, 3], maxlen=4)
    def f(a):
        b = np.sin(a) * 2 + np.cos(a)
        live.append(b)
        d = collections.deque([live.popleft(), b], 5)
        it = iter(d)
        next(it)
        jitney.graph_break()
        LOG.append(len(live))
        live.popleft()
        return d, list(it)[0] is b, live[-1] is b, np.sin(b) + a * 2
""")
whole("deque-subclass", """
    class D(collections.deque):
        def append(self, x):
            LOG.append(("append", x))
            super().append(x * 2)
        def __getitem__(self, k):
            return ("item", k)
    class E(collections.deque):
        def __init__(self, *args):
            super().__init__(*args)
            self.note = 1
    live = E([1, 2])
    def f(a):
        d = D([1])
        d.append(2)
        d.extend([5])
        e = E([3, 4], 2)
        e.append(6)
        live.append(7)
        live.note += 1
        return a * 2, d, list(d), d[0], e, e.note, live.popleft()
""")
parts("iterators-over-new-subclasses-live-at-a-break", """
    class D(collections.deque):
        pass
    class L(list):
        pass
    class K(dict):
        pass
    def f(a):
        b = np.sin(a) * 2 + np.cos(a) - a
        d, l, k = D([1, 2]), L([3, 4]), K(x=1, y=2)
        its = iter(d), iter(l), iter(k)
        firsts = [next(it) for it in its]
        jitney.graph_break()
        return np.sin(b) * 2 + a - b * b, firsts, [list(it) for it in its], d, l, k
""")
whole("deque-of-classes-that-log", """
    class Item:
        def __init__(self, k):
            self.k = k
        def __eq__(self, other):
            LOG.append((self.k, getattr(other, "k", other)))
            return self.k == getattr(other, "k", other)
    def f(a):
        d, e = collections.deque([Item(1), Item(2)]), collections.deque([Item(1), Item(3)])
        return a * 2, d == e, d != e, 2 in d, d.count(Item(2))
""")

# defaultdicts

whole("defaultdict-everything", """
    def f(a):
        d = collections.defaultdict(list, {"k": [1]}, z=[2])
        d["x"].append(a)
        d["k"] += [5]
        e = collections.defaultdict(lambda: a * 2)
        n = collections.defaultdict(int)
        for c in "abca":
            n[c] += 1
        return (e["q"] + 1, e["q"] is e["q"], d, e.get("no"), "no" in e, n, dict(n), len(n), sorted(n), list(n.items()), n.default_factory, type(n) is collections.defaultdict, isinstance(n, dict),
                n == {"a": 2, "b": 1, "c": 1}, n.pop("a"), n.setdefault("s", 4), n.copy(), bool(collections.defaultdict(int)), {**{"a": 1}}, [k for k in n])
""")
whole("defaultdict-without-factory", """
    def f(a):
        d, r = collections.defaultdict(None, k=1), []
        try:
            d["x"]
        except KeyError as e:
            r.append(e.args)
        try:
            collections.defaultdict(3)
        except TypeError as e:
            r.append(e.args)
        return a * d["k"], r, d
""")
whole("defaultdict-factory-raises", """
    def bad():
        LOG.append("bad")
        raise ZeroDivisionError("no")
    def f(a):
        d = collections.defaultdict(bad)
        try:
            d["x"]
        except ZeroDivisionError as e:
            return a * 2, e.args, d, len(d)
""")
whole("defaultdict-factory-has-effects", """
    def make():
        LOG.append(len(LOG))
        return len(LOG)
    def f(a):
        d = collections.defaultdict(make)
        d["x"] += 5
        return a * d["y"], d["x"], d, d.get("z")
""")
whole("defaultdict-factory-changes-it", """
    d = None
    def make():
        d["other"] = 1
        return 2
    def step(k):
        global d
        d = collections.defaultdict(make)
    def f(a):
        return a * d["x"], list(d)
""")
whole("defaultdict-live", """
    counts = collections.defaultdict(int, a=1)
    lists = collections.defaultdict(list)
    def f(a):
        counts["a"] += a.size
        counts["b"] += 1
        lists["x"].append(a)
        lists[len(lists["x"])].append(1)
        return a * counts["a"], counts.default_factory, "q" in counts, counts.get("q")
""")
whole("defaultdict-live-new-factory", """
    counts = collections.defaultdict(int)
    def step(k):
        counts.clear()
        if k == 2:
            counts.default_factory = lambda: 10
    def f(a):
        counts["a"] += 1
        return a * counts["a"]
""")
whole("defaultdict-argument", """
    def f(a, d=collections.defaultdict(float)):
        d["t"] += 1.5
        del d["t"]
        d.update(u=1)
        return a * d["u"], d
""")
parts("defaultdict-before-a-break", """
    live = collections.defaultdict(list)
    def f(a):
        b = np.sin(a) * 2 + np.cos(a)
        d = collections.defaultdict(list)
        d["k"].append(b)
        live["n"].append(1)
        keys = d.keys()
        jitney.graph_break()
        d["other"].append(len(live["n"]))
        return d, list(keys), d["k"][0] is b, np.sin(b) * 2 + a
""")
whole("defaultdict-subclass", """
    class D(collections.defaultdict):
        def __missing__(self, key):
            LOG.append(("missing", key))
            return super().__missing__(key)
        def __setitem__(self, key, value):
            LOG.append(("set", key))
            super().__setitem__(key, value)
    class M(dict):
        def __missing__(self, key):
            return key * 2
    live, m = D(int), M(a=1)
    def f(a):
        d = D(int)
        d["x"] += 2
        live["y"] += 1
        m["b"] = M()["q"]
        return a * d["x"], d, m["zz"], m["a"], m, "zz" in m, m.get("zz"), M(x=1) == {"x": 1}
""")
whole("own-list-and-dict", """
    class L(list):
        def append(self, x):
            LOG.append(x)
            list.append(self, x + 1)
    class K(dict):
        def keys(self):
            LOG.append("keys")
            return dict.keys(self)
    live = L([1])
    def f(a):
        l = L((1, 2))
        l.append(3)
        l.extend([8])
        l[0] = 9
        del l[1]
        live.append(5)
        live[0] = 7
        l.sort()
        l += [0]
        k = K(x=1)
        k["y"] = 2
        d = {}
        d.update(k)
        return a * l[0], l, l[1:], len(l), 9 in l, l + [1], [5] + l, l == [9], k, d, list(k), live
""")
whole("counts-by-class", """
    class Counts(collections.defaultdict):
        def __init__(self):
            super().__init__(int)
        def add(self, key):
            self[key] += 1
            return self
    def f(a):
        c = Counts().add("x").add("x").add("y")
        return a * c["x"], c
""")


# np.errstate

ZERO = """
    z = np.array([0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 1.0, 1.0])
    states = [{}, {"all": "ignore"}, {"all": "warn"}, {"divide": "raise"}]
    def step(k):
        np.seterr(all="warn")
        np.seterr(**states[k])
        if k == 3:
            z[:] = 1
"""
whole("errstate-ignores", ZERO + """
    def f(a):
        with np.errstate(divide="ignore"):
            r = a / z
        return np.minimum(r, 5) + 1
""")
whole("errstate-ignores-inside-only", ZERO + """
    def f(a):
        with np.errstate(divide="ignore", invalid="ignore"):
            r = a / z
        return r, 2 / z
""")
whole("errstate-warns-inside-only", ZERO + """
    def f(a):
        r = np.log(z)
        with np.errstate(all="ignore", divide="warn"):
            s = a / z
            with np.errstate(divide="ignore"):
                t = s / z
        return r, s, t
""")
whole("errstate-raises", ZERO + """
    def f(a):
        with np.errstate(divide="raise"):
            return a / z
""")
whole("errstate-scalars-and-reductions", ZERO + """
    def f(a):
        with np.errstate(all="ignore"):
            r = np.float64(a[0]) / np.float64(z[0]) + (a / z).sum() + np.mean(a / z) + (z @ (a / z))
        return r, a * 2
""")
whole("errstate-wrong-settings", ZERO + """
    def f(a):
        e = np.errstate(divide="ignore")
        with e:
            r = a / z
        try:
            with e:
                r = a * 2
        except TypeError as error:
            return r, error.args
""")
whole("errstate-left-by-an-exception", ZERO + """
    def f(a):
        try:
            with np.errstate(divide="ignore"):
                r = a / z
                [][1]
        except IndexError:
            return r, a / z
""")
whole("errstate-in-callee-and-generator", ZERO + """
    def quiet(x):
        with np.errstate(all="ignore"):
            return x / z
    def parts(x):
        with np.errstate(divide="ignore"):
            yield x / z
            yield x * 2 / z
    def f(a):
        r = quiet(a)
        for part in parts(a):
            r = r + part
        return r
""")
whole("errstate-decorates", ZERO + """
    @np.errstate(divide="ignore")
    def quiet(x, k=1):
        return x / z * k
    @np.errstate(all="ignore", divide="raise")
    def loud(x):
        if len(x) == 8:
            raise IndexError("large")
        return 2 / z
    def f(a):
        r = quiet(a, k=2) + quiet(x=a)
        try:
            loud(a + 1000)
        except IndexError as error:
            r = r + len(error.args)
        return r, a / z
""")
whole("errstate-calls", ZERO + """
    seen = []
    def note(kind, flag):
        seen.append((kind, flag))
    def f(a):
        with np.errstate(divide="call", call=note):
            r = a / z
        with np.errstate(divide="ignore", call=None):
            return r + a / z, seen
""")
whole("errstate-in-place", ZERO + """
    big = np.ones(20000)
    none = np.zeros(20000)
    def f(a):
        with np.errstate(divide="ignore"):
            np.divide(big, none, out=big)
        big[0] = 1
        return a + 1
""")
parts("errstate-bad-mode", ZERO + """
    def f(a):
        r = np.sin(a) * 2 + np.cos(a) - a
        with np.errstate(divide="sometimes"):
            return r
""")
parts("errstate-break-inside", ZERO + """
    def f(a):
        b = np.sin(a) * 2 + np.cos(a)
        with np.errstate(divide="ignore"):
            r = b / z + np.sin(a) - np.cos(a)
            jitney.graph_break()
            LOG.append(np.geterr())
            r = np.sin(r / z) * 2 + np.cos(b) - a
        LOG.append(np.geterr())
        return r / z * 2 + np.sin(a) + np.cos(a)
""")
parts("errstate-two-blocks-and-a-break", ZERO + """
    def f(a):
        b = np.sin(a) * 2 + np.cos(a)
        with np.errstate(divide="ignore"), np.errstate(invalid="ignore", over="raise"):
            r = b / z + np.sin(a) - np.cos(a)
            LOG.append(np.geterr())
            r = np.sin(r / z) * 2
        LOG.append(np.geterr())
        return r
""")
parts("errstate-entered-by-hand", ZERO + """
    def f(a):
        e = np.errstate(divide="ignore")
        b = np.sin(a) * 2 + np.cos(a) - a
        e.__enter__()
        r = b / z
        LOG.append(np.geterr())
        e.__exit__(None, None, None)
        return r
""")
parts("errstate-with-a-function", ZERO + """
    def call(*args):
        LOG.append(args)
    def f(a):
        b = np.sin(a) * 2 + np.cos(a) - a
        with np.errstate(divide="call", call=call):
            r = b / z
        return np.sin(r) * 2 + np.cos(a)
""")
parts("errstate-as-decorator", ZERO + """
    @np.errstate(divide="ignore")
    def quiet(x):
        return x / z
    def f(a):
        b = np.sin(a) * 2 + np.cos(a) - a
        return quiet(b), a / z
""")
parts("errstate-live", ZERO + """
    kept = [np.errstate(divide="ignore") for _ in range(4)]
    def f(a):
        b = np.sin(a) * 2 + np.cos(a) - a
        with kept.pop():
            r = b / z
        return np.sin(r) + a
""")


COMMON = """
import collections, dataclasses, enum, typing
import numpy as np
import jitney

LOG = []
"""


def load(name, source):
    text, filename = COMMON + source, f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    module = {"__name__": "random_function"}
    exec(compile(text, filename, "exec"), module)
    return module


def outcome(module, function, k):
    array, result, error = np.arange(1.0, 9.0), None, None
    if "step" in module:
        module["step"](k)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function(array)
        except Exception as caught:
            if isinstance(caught, jitney.FullGraphError):
                raise
            error = caught
    held = {
        key: value
        for key, value in module.items()
        if not key.startswith("__") and not isinstance(value, (types.ModuleType, type, types.FunctionType)) and not type(value).__module__.startswith("jitney")
    }
    return Picture().of((result, array, error, held, [(str(warning.message), warning.lineno) for warning in warned], np.geterr()))


@pytest.mark.parametrize("name, source, is_whole", TABLE, ids=[row[0] for row in TABLE])
def test_edge(name, source, is_whole):
    eager, ours = (load(name, source) for _ in range(2))
    compiled = jitney.compile(ours["f"], fullgraph=is_whole)
    with np.errstate():
        for k in range(CALLS):
            expected = outcome(eager, eager["f"], k)
            found = unlike(expected, outcome(ours, compiled, k))
            assert found is None, (k, found)
    assert jitney.inspect(compiled).stats()["native_calls"] > 0 or name in RAISES


def test_what_a_block_ignores_does_not_send_calls_to_the_original():
    def f(a, z):
        with np.errstate(divide="ignore"):
            r = a / z
        return np.minimum(r, 5) + 1

    compiled = jitney.compile(f, fullgraph=True)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        for _ in range(20):
            assert compiled(np.ones(4), np.zeros(4)).tolist() == [6.0] * 4
    stats = jitney.inspect(compiled).stats()
    assert stats["native_calls"] == 20 and stats["flag_reruns"] == 0
    with np.errstate(all="raise"):
        assert compiled(np.ones(4), np.zeros(4)).tolist() == [6.0] * 4
        with pytest.raises(FloatingPointError):
            compiled(np.ones(4), np.full(4, 5e-324))  # overflows, which is not ignored


def test_names_are_unique():
    names = [row[0] for row in TABLE]
    assert len(names) == len(set(names))
