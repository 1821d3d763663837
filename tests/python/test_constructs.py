"""Constructs of Python around arrays that must not break, each in three positions: straight, in a loop, in a `with` inside a `try`.

A row: name, statements that use `a` (an array of eight float64) and leave their result in `r`, and what the module defines before. Compiled with fullgraph=True, the
function must equal eager: result, identities, arguments, globals, exceptions. What still breaks stands in BREAKS with its reason; a row that comes to work must
leave it.
"""

import linecache
import sys
import textwrap

import numpy as np
import pytest
from random_functions import Picture, unlike

import jitney

COMMON = """
import collections, contextlib, dataclasses, enum, functools, itertools, math, operator
import numpy as np

G = 2
LOG = []
TABLE = {"scale": 2.0}


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return False
"""

POSITIONS = {
    "straight": """
        def f(a):
            r = None
            {body}
            return r, a * 2
    """,
    "loop": """
        def f(a):
            r = None
            for step in range(2):
                a = a + step
                {body}
            return r, a * 2
    """,
    "with": """
        def f(a):
            r = None
            try:
                with Quiet():
                    {body}
            except ZeroDivisionError:
                r = 0
            return r, a * 2
    """,
}

TABLE = []


def row(name, body, before=""):
    TABLE.append((name, textwrap.dedent(body).strip(), textwrap.dedent(before)))


# calls

HELPER = """
    def h(x, y=2, *rest, k=1, **more):
        return x * y + k + len(rest) + sum(more.values())
"""
row("call-positional", "r = h(a, 3)", HELPER)
row("call-keywords", "r = h(y=3, x=a)", HELPER)
row("call-keyword-only", "r = h(a, k=5)", HELPER)
row("call-defaults", "r = h(a)", HELPER)
row("call-star", "r = h(*(a, 2, 3))", HELPER)
row("call-star-star", "r = h(a, **{'k': 3, 'z': 4})", HELPER)
row("call-everything", "r = h(a, *[2, 3], k=4, **dict(q=5))", HELPER)
row("call-positional-only", "r = p(a, 2)", "def p(x, y, /, z=1):\n    return x + y * z")
row("call-nested", "r = h(h(a, 2), h(1, 2))", HELPER)
row("call-recursion", "r = rec(3, a)", "def rec(n, x):\n    return x if n == 0 else rec(n - 1, x + n)")
row("lambda", "r = (lambda x, y=2: x * y)(a)")
row("lambda-in-variable", "double = lambda x: x * 2\nr = double(a) + double(1)")
row("decorator", "r = wrapped(a)", """
    def deco(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            return f(*args, **kwargs) + 1
        return inner

    @deco
    def wrapped(x):
        return x * 2
""")
row("partial", "r = functools.partial(operator.mul, a)(3)")
row("partial-of-function", "add = functools.partial(h, y=5)\nr = add(a, k=2)", HELPER)
row("builtin-functions", "r = abs(-a) + len(a) + min(3, 2) + max([1, 4]) + sum((1, 2)) + round(2.6) + pow(2, 3)")
row("math-functions", "r = a * math.sqrt(2.0) + math.pi + math.floor(2.5)")
row("operator-module", "r = operator.add(a, operator.mul(a, 2)) - operator.neg(a)")
row("ufunc-with-out", "out = np.zeros(8)\nnp.add(a, 1, out=out)\nr = out")

# closures and functions made inside

row("closure-read", "k = 3\ndef g(x):\n    return x * k\nr = g(a)")
row("closure-nonlocal", "k = 1\ndef bump():\n    nonlocal k\n    k += 1\nbump()\nbump()\nr = a * k")
row("closure-of-closure", "def outer(x):\n    def inner(y):\n        return x + y\n    return inner\nr = outer(a)(2)")
row("closure-factory", "r = scaler(3)(a)", "def scaler(k):\n    def g(x):\n        return x * k\n    return g")
row("counter-closure", "n = 0\ndef g(x):\n    nonlocal n\n    n = n + 1\n    return x + n\nr = g(a) + g(a)")
row("nested-defaults", "def g(x, y=G, *, z=4):\n    return x * y + z\nr = g(a)")
row("recursive-closure", "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\nr = a * fact(4)")
row("annotations", "def g(x: object, y: int = 2) -> object:\n    return x * y\nv: object = g(a)\nr = v")

# comprehensions and generators

row("list-comprehension", "r = sum([x * k for k, x in enumerate([a, a + 1])])")
row("comprehension-condition", "r = a * sum([k for k in range(6) if k % 2])")
row("comprehension-nested", "r = a * sum([i * j for i in range(3) for j in range(i)])")
row("dict-comprehension", "d = {k: a * k for k in (1, 2)}\nr = d[1] + d[2]")
row("set-comprehension", "r = a * len({k % 3 for k in range(7)})")
row("generator-expression", "r = sum(x * 2 for x in (a, a, 1))")
row("generator-function", "r = a\nfor k in count(3):\n    r = r + k", "def count(n):\n    k = 0\n    while k < n:\n        yield k\n        k += 1")
row("yield-from", "r = a * sum(chain(3))", "def part(n):\n    yield from range(n)\n\n\ndef chain(n):\n    got = yield from part(n)\n    yield 10 if got is None else 0")
row("generator-next", "it = pairs()\nr = a * next(it) + next(it) + next(it, 9)", "def pairs():\n    yield 2\n    yield 3")
row("any-all", "r = a * 2 if any(k > 2 for k in range(4)) and all(k < 9 for k in range(4)) else a")
row("map-filter-zip", "r = a\nfor x, y in zip(map(lambda k: k + 1, range(3)), filter(None, [0, 1, 2])):\n    r = r + x * y")
row("enumerate-reversed", "r = a\nfor i, k in enumerate(reversed([1, 2, 3]), 1):\n    r = r * i + k")
row("itertools", "r = a\nfor x in itertools.chain([1], itertools.repeat(2, 2), itertools.islice(range(9), 2)):\n    r = r + x")
row("reduce", "r = functools.reduce(operator.add, [a, 1, a])")
row("sorted-key", "r = a * sorted([3, 1, 2], key=lambda k: -k)[0]")
row("iterate-array-rows", "r = 0\nfor x in a.reshape(2, 4):\n    r = r + x")

# text and constants

row("f-string", "name = f'{G}-{3!r}-{2.5:.1f}'\nr = a + len(name)")
row("percent-format", "r = a + len('%d:%s' % (G, 'x'))")
row("str-methods", "r = a + len(' Ab,c '.strip().lower().split(',')[0].join(['1', '2']))")
row("bytes", "r = a + len(b'ab' + bytes(2)) + b'a'[0]")
row("dict-of-text", "r = a * {'x': 2, 'y': 3}[''.join(['x'])]")

# control flow

row("if-elif-else", "if G > 5:\n    r = a\nelif a.ndim == 1:\n    r = a + 1\nelse:\n    r = a + 2")
row("while-else", "k = 0\nwhile k < 3:\n    k += 1\nelse:\n    k += 10\nr = a * k")
row("for-break-else", "r = a\nfor k in range(5):\n    if k == 2:\n        break\n    r = r + k\nelse:\n    r = a")
row("continue", "r = a\nfor k in range(5):\n    if k % 2:\n        continue\n    r = r + k")
row("chained-comparison", "r = a * (1 < G <= 2 < 5)")
row("walrus", "if (n := len(a)) > 3:\n    r = a + n")
row("conditional-expression", "r = a + 1 if a.size > 3 else a")
row("and-or-not", "r = a * ((G and 3) or 4) + (not G)")
row("match-value", "match G:\n    case 1:\n        r = a\n    case 2 | 3:\n        r = a * 2")
row("match-sequence", "match (1, 2, 3):\n    case [x, *rest]:\n        r = a * x + len(rest)")
row("match-mapping", "match {'k': 3, 'z': 1}:\n    case {'k': k, **rest}:\n        r = a * k + len(rest)")
row("match-class", "match Spot(1, 2):\n    case Spot(x=1, y=y):\n        r = a * y", "class Spot:\n    def __init__(self, x, y):\n        self.x, self.y = x, y")
row("match-guard", "match 5:\n    case int() as k if k > 3:\n        r = a * k\n    case _:\n        r = a")
row("del-local", "t = a * 2\nr = t + 1\ndel t")
row("import", "import math as m\nfrom operator import add\nr = add(a, m.pi)")
row("assert", "assert len(a) == 8, 'eight'\nr = a * 2")
row("slices", "s = slice(1, None, 2)\nr = a[s] + a[::2] - a[:4][::-1]")
row("unpacking", "x, (y, z) = a, (1, 2)\nr = x * y + z")
row("star-unpacking", "first, *middle, last = (a, 1, 2, 3)\nr = first * last + len(middle)")
row("star-in-display", "parts = [*(1, 2), *[3]]\nr = a * sum((*parts, 4))")
row("swap", "x, y = a, 2\nx, y = y, x\nr = x * y")
row("augmented", "x = a\nx += 1\nk = 2\nk <<= 1\nr = x * k")

# exceptions

row("try-except", "try:\n    r = [1][5]\nexcept IndexError:\n    r = a * 2")
row("try-else-finally", "try:\n    r = a * 2\nexcept ValueError:\n    r = a\nelse:\n    r = r + 1\nfinally:\n    r = r + 2")
row("raise-own", "try:\n    raise Own(3)\nexcept Own as e:\n    r = a * e.args[0]", "class Own(Exception):\n    pass")
row("raise-from", "try:\n    try:\n        {}['k']\n    except KeyError as e:\n        raise ValueError('v') from e\nexcept ValueError as e:\n    r = a * len(e.args) + (e.__cause__ is not None)")
row("re-raise", "try:\n    try:\n        raise TypeError\n    except TypeError:\n        raise\nexcept TypeError:\n    r = a + 1")
row("except-tuple", "try:\n    int('x')\nexcept (KeyError, ValueError):\n    r = a + 1")
row("finally-return-value", "r = g(a)", "def g(x):\n    try:\n        return x * 2\n    finally:\n        LOG.append(1)")
row("raise-in-callee", "try:\n    r = g(0)\nexcept ZeroDivisionError:\n    r = a * 3", "def g(k):\n    return 1 // k")
row("stop-iteration", "it = iter([1])\nnext(it)\ntry:\n    next(it)\nexcept StopIteration:\n    r = a * 2")
row("suppress", "with contextlib.suppress(KeyError):\n    {}['k']\nr = a + 1")

# context managers

row("with-class", "with Quiet() as q:\n    r = a * 2 if q is not None else a")
row("with-two", "with Quiet(), Quiet() as q:\n    r = a * 2")
row("with-nullcontext", "with contextlib.nullcontext(3) as k:\n    r = a * k")
row("with-contextmanager", "with managed(3) as k:\n    r = a * k", "@contextlib.contextmanager\ndef managed(k):\n    try:\n        yield k + 1\n    finally:\n        pass")
row("with-swallows", "with Swallow():\n    raise KeyError\nr = a * 2", "class Swallow:\n    def __enter__(self):\n        return self\n    def __exit__(self, kind, value, traceback):\n        return kind is KeyError")
row("errstate", "with np.errstate(divide='ignore'):\n    r = a / 2")

# stores

row("global-store", "global G\nG = 5\nr = a * G")
row("global-augmented", "global G\nG += 1\nr = a * G")
row("attribute-store", "box.value = 3\nr = a * box.value", "class Box:\n    value = 1\n\n\nbox = Box()")
row("attribute-array-store", "box.value = a * 2\nr = box.value + 1", "class Box:\n    value = 1\n\n\nbox = Box()")
row("attribute-delete", "box.value = 3\nr = a * box.value\ndel box.value", "class Box:\n    pass\n\n\nbox = Box()")
row("global-list-append", "LOG.append(a.size)\nr = a * len(LOG)")
row("global-dict-store", "TABLE['new'] = 3\nr = a * TABLE['scale'] + TABLE['new']")
row("array-store", "b = a * 1\nb[0] = 5\nb[1:3] = 7\nr = b + 1")
row("argument-array-store", "a[0] = 3\nr = a + 1")

# containers

row("list-methods", "l = [1, 2]\nl.append(3)\nl.extend([4, 5])\nl.insert(0, 9)\nl.pop()\nl.reverse()\nr = a * l[0] + len(l)")
row("list-slices", "l = [1, 2, 3, 4]\nl[1:3] = [7]\ndel l[0]\nr = a * sum(l)")
row("list-sort", "l = [3, 1, 2]\nl.sort(reverse=True)\nr = a * l[0]")
row("list-of-arrays", "l = [a, a * 2]\nl[0] = l[1] + 1\nr = np.stack(l)")
row("dict-methods", "d = {'x': 1}\nd['y'] = 2\nd.update(z=3)\nd.setdefault('w', 4)\nr = a * sum(d.values()) + d.get('q', 5) + d.pop('x')")
row("dict-loop", "r = a\nfor k, v in {'x': 1, 'y': a}.items():\n    r = r + v + len(k)")
row("dict-merge", "d = {'x': 1} | {'y': 2}\nr = a * len({**d, 'z': 3})")
row("set-methods", "s = {1, 2}\ns.add(3)\ns.discard(1)\nr = a * len(s | {7}) + (2 in s)")
row("frozenset", "r = a * len(frozenset([1, 2, 2]))")
row("tuple-operations", "t = (1, 2) + (3,)\nr = a * t[-1] + t.index(2) + len(t * 2)")
row("deque", "d = collections.deque([1, 2])\nd.append(3)\nd.popleft()\nr = a * d[0]")
row("defaultdict", "d = collections.defaultdict(int)\nd['x'] += 2\nr = a * d['x']")
row("range-object", "k = range(1, 10, 2)\nr = a * k[2] + len(k) + (3 in k)")

# classes

POINT = """
    class Base:
        scale = 2

        def __init__(self, x):
            self.x = x

        def times(self, k):
            return self.x * k * self.scale

        @property
        def double(self):
            return self.x * 2

        @staticmethod
        def one():
            return 1

        @classmethod
        def make(cls, x):
            return cls(x)

        def __add__(self, other):
            return type(self)(self.x + (other.x if isinstance(other, Base) else other))

        def __radd__(self, other):
            return type(self)(self.x - other)

        def __eq__(self, other):
            return self.scale == other.scale

        def __getitem__(self, k):
            return self.x[k]

        def __len__(self):
            return 3

        def __call__(self, k):
            return self.x + k

        def __neg__(self):
            return type(self)(-self.x)

        def __bool__(self):
            return True

        def __contains__(self, k):
            return k == 1

        def __iter__(self):
            yield self.x
            yield 2

    class Child(Base):
        scale = 3

        def __init__(self, x, y=1):
            super().__init__(x)
            self.y = y

        def times(self, k):
            return super().times(k) + self.y
"""
row("instance", "r = Base(a).x + 1", POINT)
row("method", "r = Base(a).times(2)", POINT)
row("bound-method", "m = Base(a).times\nr = m(2)", POINT)
row("property", "r = Base(a).double", POINT)
row("staticmethod", "r = a + Base.one() + Base(1).one()", POINT)
row("classmethod", "r = Child.make(a).x", POINT)
row("inheritance", "c = Child(a, 2)\nr = c.times(2) + c.y", POINT)
row("super", "r = super(Child, Child(a)).times(1)", POINT)
row("class-attribute", "r = a * Child.scale", POINT)
row("operator-overloading", "r = (Base(a) + Base(2) + 1).x", POINT)
row("reflected-operator", "r = (1 + Base(a)).x", POINT)
row("unary-dunder", "r = (-Base(a)).x", POINT)
row("item-dunder", "r = Base(a)[1:] + len(Base(a))", POINT)
row("call-dunder", "r = Base(a)(2)", POINT)
row("comparison-dunder", "r = a * (Base(1) == Child(2))", POINT)
row("truth-and-contains", "r = a * 2 if Base(a) and 1 in Base(a) else a", POINT)
row("iteration-dunder", "x, y = Base(a)\nr = x * y", POINT)
row("isinstance", "r = a * isinstance(Child(1), Base) + issubclass(Child, Base) + (type(Child(1)) is Child)", POINT)
row("getattr-setattr", "c = Child(a)\nsetattr(c, 'z', 4)\nr = getattr(c, 'z') * getattr(c, 'w', 2) * c.x + hasattr(c, 'q')", POINT)
row("getattr-dunder", "r = a * Lazy().anything", "class Lazy:\n    def __getattr__(self, name):\n        return len(name)")
row("slots", "s = Slim(a)\ns.y = 2\nr = s.x * s.y", "class Slim:\n    __slots__ = ('x', 'y')\n    def __init__(self, x):\n        self.x = x")
row("descriptor", "r = a * Has().five", "class Five:\n    def __get__(self, instance, owner=None):\n        return 5\n\n\nclass Has:\n    five = Five()")
row("dataclass", "p = P(a, k=3)\nr = p.x * p.k", "@dataclasses.dataclass\nclass P:\n    x: object\n    k: int = 2")
row("dataclass-frozen", "p = P(a)\nr = dataclasses.replace(p, k=4).k * p.x", "@dataclasses.dataclass(frozen=True)\nclass P:\n    x: object\n    k: int = 2")
row("namedtuple", "p = P(a, 2)\nx, y = p\nr = p.x * y + p._replace(y=3).y", "P = collections.namedtuple('P', 'x y')")
row("enum", "r = a * Hue.RED.value + (Hue.RED is Hue(1))", "class Hue(enum.Enum):\n    RED = 1\n    BLUE = 2")
row("global-instance-method", "r = model.run(a)", "class Model:\n    def __init__(self):\n        self.w, self.b = 2.0, 1\n    def run(self, x):\n        return x * self.w + self.b\n\n\nmodel = Model()")
row("global-instance-array", "r = model.w * a\nmodel.calls += 1", "class Model:\n    def __init__(self):\n        self.w, self.calls = np.arange(8.0), 0\n\n\nmodel = Model()")
row("cached-property", "c = C(a)\nr = c.twice + c.twice", "class C:\n    def __init__(self, x):\n        self.x = x\n    @functools.cached_property\n    def twice(self):\n        return self.x * 2")
row("mutable-default", "r = a * len(g(1))", "def g(x, seen=[]):\n    return seen + [x]")
row("type-call", "kind = type(a)\nr = a * (kind is np.ndarray)")

# What still breaks: name, or name/position, and the reason that FullGraphError names.
BREAKS = {
}


def load(name, body, before, position):
    text = POSITIONS[position]
    indent = text[: text.index("{body}")].rsplit("\n", 1)[1]
    source = COMMON + textwrap.dedent(before) + textwrap.dedent(text.replace("{body}", body.replace("\n", "\n" + indent)))
    if "global G\n" in body:
        source = source.replace("global G\n", "#\n").replace("def f(a):\n", "def f(a):\n    global G\n")
    filename = f"<{name} {position}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = {"__name__": "random_function"}
    exec(compile(source, filename, "exec"), module)
    return module


def outcome(module, function, array):
    result = error = None
    try:
        result = function(array)
    except Exception as caught:
        if isinstance(caught, jitney.FullGraphError):
            raise
        error = caught
    picture = Picture()
    return picture.of((result, array, error)), [(key, picture.of(module[key])) for key in ("G", "LOG", "TABLE", "box", "model") if key in module]


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("name, body, before", TABLE, ids=[entry[0] for entry in TABLE])
def test_construct(name, body, before, position, request):
    reason = BREAKS.get(f"{name}/{position}", BREAKS.get(name))
    if reason is not None:
        request.applymarker(pytest.mark.xfail(strict=True, raises=jitney.FullGraphError, reason=reason))
    eager, ours = (load(name, body, before, position) for _ in range(2))
    compiled = jitney.compile(ours["f"], fullgraph=True)
    for _ in range(2):
        expected = outcome(eager, eager["f"], np.arange(1.0, 9.0))
        found = unlike(expected, outcome(ours, compiled, np.arange(1.0, 9.0)))
        assert found is None, found
    assert jitney.inspect(compiled).stats()["native_calls"] > 0


def test_the_table_is_large_and_names_are_unique():
    names = [entry[0] for entry in TABLE]
    assert len(names) == len(set(names)) >= 60
    assert {key.split("/")[0] for key in BREAKS} <= set(names)
    assert sys.version_info >= (3, 11)
