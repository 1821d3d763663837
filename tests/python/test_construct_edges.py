"""Corners of the constructs of test_constructs.py: hostile classes, exceptions in the middle, classes that change, objects that exist before the call and are changed.

A row: name and a module that defines f(a); `step(k)`, if there is one, runs before the k-th call. Eager and compiled must agree in results, exceptions, identities and in all that the
module holds. A row of `whole` is compiled with fullgraph=True; one of `parts` has breaks.
"""

import linecache
import textwrap
import types

import numpy as np
import pytest
from random_functions import Picture, unlike

import jitney

CALLS = 4
TABLE = []


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
        return a * both.value, both, both & Perm.W is Perm.W, Perm.R ^ Perm.W, Perm.R in both, Perm.X in both, Perm(6), bool(Perm.R & Perm.W)
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
    return Picture().of((result, array, error, held))


@pytest.mark.parametrize("name, source, is_whole", TABLE, ids=[row[0] for row in TABLE])
def test_edge(name, source, is_whole):
    eager, ours = (load(name, source) for _ in range(2))
    compiled = jitney.compile(ours["f"], fullgraph=is_whole)
    for k in range(CALLS):
        expected = outcome(eager, eager["f"], k)
        found = unlike(expected, outcome(ours, compiled, k))
        assert found is None, (k, found)
    assert jitney.inspect(compiled).stats()["native_calls"] > 0


def test_names_are_unique():
    names = [row[0] for row in TABLE]
    assert len(names) == len(set(names))
