"""Random Python functions: control flow, containers, classes, closures, exceptions, arrays. `generate(seed)` gives a module's source and calls.

The module defines classes, helpers and the functions f, f1, f2, ...; a call is the text of a tuple of arguments, evaluated in the module, with the function's name
before it where that is not f. The functions share arrays, containers and numbers of the module. Everything ends: loops count, no list grows while it is walked,
recursion has a depth. Most operations fit their operands; some do not, on purpose, and raise.
"""

import collections
import enum
import functools
import itertools
import random


class Hue(enum.Enum):
    RED = 1
    BLUE = 2


Point = collections.namedtuple("Point", "x y")  # noqa: PYI024 - the kind that programs make

MODULE = "random_function"  # __name__ of the programs
FILE = "<random function>"
PRELUDE = '''\
import collections, collections.abc, contextlib, dataclasses, functools, itertools, math, numbers, operator, random, sys
import numpy as np
import jitney
from function_source import Hue, Point

G = 3
H = 1.5
W = [1, 2]
TABLE = {"a": 1, "b": 2.5}
VOWELS = "aeiou"
LOG = []
RING = collections.deque([1, 2], 5)
XA = np.arange(1.0, 7.0)
XB = XA[1:5]
XM = np.arange(6.0).reshape(2, 3) - 1.5


def A(n, dtype="f8", start=1):
    return (np.arange(start, start + n) * 1.25).astype(dtype)


def M(r, c, dtype="f8"):
    return (np.arange(r * c).reshape(r, c) % 7 + 0.5).astype(dtype)


class E1(Exception):
    pass


class E2(E1):
    def __init__(self, *args):
        super().__init__(*args)
        self.code = len(args)


class CM:
    def __init__(self, name, swallow=()):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        LOG.append(("enter", self.name))
        return self

    def __exit__(self, kind, value, traceback):
        LOG.append(("exit", self.name, kind and kind.__name__))
        return kind is not None and issubclass(kind, self.swallow)


@contextlib.contextmanager
def managed(x):
    LOG.append("before")
    try:
        yield x
    finally:
        LOG.append("after")


@jitney.disable
def U(x, *rest, **named):
    LOG.append("U")
    return x


class Both:
    """A descriptor that is asked and told."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, kind=None):
        return self if obj is None else getattr(obj, self.name, 1.5)

    def __set__(self, obj, value):
        LOG.append("set")
        setattr(obj, self.name, value)


class Count:
    """An iterator."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


def talk(n):
    total = 0
    try:
        for i in range(n):
            got = yield total + i
            total += got or 0
    except ValueError:
        LOG.append("thrown")
        yield -1
    finally:
        LOG.append("closed")
    return total


def rec(n, x):
    return x if n <= 0 else rec(n - 1, x + 1)


def gen(n):
    for i in range(n):
        yield i * 2


def gen2(it):
    got = yield from it
    yield got


def deco(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)

    return inner

'''

ARITH = ("+", "-", "*")
COMPARE = ("<", "<=", "==", "!=", ">", ">=")
EXCEPTIONS = (
    "E1",
    "E2",
    "ValueError",
    "KeyError",
    "IndexError",
    "ZeroDivisionError",
    "TypeError",
    "AttributeError",
    "StopIteration",
    "ArithmeticError",
    "LookupError",
    "Exception",
)
KINDS = (
    "int",
    "int",
    "int",
    "float",
    "float",
    "arr",
    "arr",
    "arr",
    "arr",
    "bool",
    "str",
    "list",
    "list",
    "dict",
    "set",
    "tuple",
    "obj",
    "obj",
    "deque",
)


class Block:
    """Names by kind: those that are bound here, and those that may be."""

    def __init__(self, names=(), maybe=()):
        self.names, self.maybe = dict(names), dict(maybe)

    def child(self):
        return Block(self.names, self.maybe)

    def merge(self, other):
        for name, kind in other.names.items():
            if name not in self.names:
                self.maybe[name] = kind


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(f"function {seed}")
        self.lines, self.depth, self.counter = [], 0, 0
        self.loops = self.functions = 0
        self.in_finally = self.generator = False
        self.others = []  # functions that are finished, which the next ones call
        self.classes, self.helpers = [], []
        self.walked = set()  # names that a loop walks: they must not grow
        self.breaks = self.rng.random() < 0.7  # this program prints and calls what is not traced
        self.wild = self.rng.choice((0.0, 0.0, 0.005, 0.03))  # operands that do not fit
        self.opaque = (
            self.rng.choice((0.0, 0.0, 0.01, 0.04)) if self.breaks else 0.0
        )  # operands that come through a call that nobody looks into
        self.pure = self.rng.random() < 0.2  # arrays and numbers mostly

    # ---- helpers ----

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *choices):
        return self.rng.choice(choices)

    def weighted(self, table):
        return self.rng.choices([row[1] for row in table], [row[0] for row in table])[0]

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def fresh(self, prefix="v"):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def variable(self, b, *kinds):
        """A bound name of one of the kinds, or None."""
        found = [n for n, k in b.names.items() if k in kinds]
        if b.maybe and self.chance(0.04):
            found += [n for n, k in b.maybe.items() if k in kinds]
        return self.rng.choice(found) if found else None

    # ---- expressions ----

    def expr(self, kind, b, depth=2):
        if self.chance(self.wild):
            return f"({self.expr(self.rng.choice(KINDS), b, min(depth, 1))})"
        if kind == "any":
            kind = self.rng.choice(KINDS)
        if depth > 0 and self.chance(self.opaque):
            value = self.expr(kind, b, depth - 1)
            return self.pick(
                f"U({value})",
                f"U({value}, {self.leaf('int')})",
                f"U({value}, q={self.leaf('float')})",
                f"(jitney.graph_break(), {value})[1]",
            )
        name = self.variable(b, kind)
        if name is not None and (depth <= 0 or self.chance(0.45)):
            return name
        if depth <= 0:
            return self.like(b) if kind == "arr" and self.chance(0.8) else self.leaf(kind)
        if self.chance(0.05):
            return (
                f"({self.expr(kind, b, depth - 1)} if {self.cond(b, depth - 1)} else {self.expr(kind, b, depth - 1)})"
            )
        return getattr(self, f"{kind}_expr")(b, depth - 1)

    def like(self, b):
        """A new array of the shape of one that is there."""
        name = self.variable(b, "arr")
        return (
            self.leaf("arr")
            if name is None
            else self.pick(f"({name} * 2)", f"({name} + 1)", f"np.abs({name})", f"(1 - {name})", name)
        )

    def leaf(self, kind):
        r = self.rng
        return {
            "int": lambda: str(r.choice((0, 1, 2, 3, 5, -1, 7, 300, 1000))),
            "float": lambda: r.choice(("0.5", "1.5", "-2.25", "0.0", "1e3", "H")),
            "bool": lambda: r.choice(("True", "False")),
            "str": lambda: r.choice(("'a'", "'bc'", "''", "'x y'")),
            "arr": lambda: r.choice(
                (
                    "A(4)",
                    "A(4)",
                    "A(4, 'i8')",
                    "np.zeros(4)",
                    "np.arange(4)",
                    "np.ones(4)",
                    "A(3)",
                    "M(2, 3)",
                    "XB",
                    "XB",
                    "XA[:4]",
                    "XM",
                    "A(4, 'f4')",
                    "A(4, 'u1')",
                )
            ),
            "list": lambda: r.choice(("[]", "[1, 2]", "[1.5, 3]", "[1.5, 'q']", "list(range(4))", "[3, 1, 2]")),
            "dict": lambda: r.choice(
                ("{}", "{'a': 1}", "{'b': 2, 3: 4.5}", "dict(a=0.5)", "{Hue.RED: 1, Point(1, 2): 2.5}")
            ),
            "set": lambda: r.choice(("set()", "{1, 2}", "{3}")),
            "deque": lambda: r.choice(("collections.deque([1, 2.5])", "collections.deque((3, 1), 2)", "RING")),
            "tuple": lambda: r.choice(("()", "(1, 2)", "(1.5, 'z', 3)", "Point(1, 2.5)")),
            "obj": lambda: f"{r.choice(self.classes)}({r.choice((1, 2, '2.5', '-1'))})" if self.classes else "None",
        }[kind]()

    def arr_expr(self, b, d):
        a = lambda: self.expr("arr", b, d)
        x = lambda: self.expr(self.pick("arr", "arr", "float", "int"), b, d)
        return self.weighted(
            [
                (6, lambda: f"({a()} {self.pick(*ARITH)} {self.expr(self.pick('float', 'int'), b, d)})"),
                (3, lambda: f"({a()} {self.pick(*ARITH)} {x()})"),
                (3, lambda: f"({self.expr(self.pick('float', 'int'), b, d)} {self.pick(*ARITH, '/')} {a()})"),
                (1, lambda: f"({a()} {self.pick('//', '%', '**')} {self.pick('2', '3', x())})"),
                (
                    3,
                    lambda: (
                        f"np.{self.pick('sqrt', 'abs', 'sin', 'exp', 'floor', 'square', 'negative', 'log1p')}({a()})"
                    ),
                ),
                (1, lambda: f"np.where({a()} > {self.leaf('float')}, {a()}, {x()})"),
                (1, lambda: f"np.{self.pick('minimum', 'maximum')}({a()}, {x()})"),
                (1, lambda: f"np.clip({a()}, 0, {self.leaf('int')})"),
                (1, lambda: f"np.{self.pick('cumsum', 'sort', 'diff', 'ravel', 'flip')}({a()})"),
                (0.4, lambda: f"np.concatenate(({a()}, {a()}))"),
                (0.3, lambda: f"np.stack([{a()}, {a()}])"),
                (
                    2,
                    lambda: (
                        f"{a()}{self.pick('[::-1]', '[...]', '.T', '[::-1]', '[1:]', '[:2]', '[None]', '[..., 0]', '[[0, 1]]', '[:, None]', '[-1:]')}"
                    ),
                ),
                (0.5, lambda: f"{a()}[{self.expr('int', b, 0)}:]"),
                (1, lambda: f"(lambda q: q[q > 1])({a()})" if self.chance(0.3) else f"{a()}.copy()"),
                (
                    1,
                    lambda: (
                        f"{a()}.{self.pick('copy()', 'ravel()', 'reshape(-1)', 'astype(float)', 'astype(np.int64)', 'cumsum()', 'transpose()')}"
                    ),
                ),
                (0.5, lambda: f"np.array({self.pick('[1, 2, 3, 4]', '[0.5, 1.5]', '[True, False]')})"),
                (1, lambda: f"np.asarray({a()})"),
                (1, lambda: f"({a()} {self.pick(*COMPARE)} {x()})"),
                (1, lambda: f"(-{a()})"),
                (1, lambda: f"{self.attribute(b)}.scale({a()})"),
                (1, lambda: f"np.{self.pick('zeros_like', 'ones_like')}({a()})"),
                (0.5, lambda: f"np.{self.pick('log', 'reciprocal', 'arccos')}({a()})"),
                (0.5, lambda: f"({a()} / {x()})"),
                (
                    0.5,
                    lambda: (
                        f"np.outer({a()}, {a()})"
                        if self.chance(0.3)
                        else f"np.{self.pick('add', 'multiply', 'subtract')}({a()}, {x()})"
                    ),
                ),
                (0.5, lambda: f"({a()} & 3)" if self.chance(0.2) else f"({a()} ** {self.pick('2', '0.5', '-1')})"),
                (
                    0.5,
                    lambda: (
                        f"np.array([{self.expr('float', b, 0)}, {self.expr('float', b, 0)}, {self.expr('int', b, 0)}])"
                    ),
                ),
                (0.5, lambda: f"np.full(4, {self.expr(self.pick('float', 'int'), b, 0)})"),
                (
                    0.5,
                    lambda: (
                        f"{a()}.{self.pick('sum(axis=0)', 'max(0)', 'mean(axis=-1, keepdims=True)', 'argsort()', 'clip(0, 2)', 'round(1)')}"
                    ),
                ),
                (
                    0.7,
                    lambda: (
                        f"{self.pick(*self.others)}({a()}, {self.expr('int', b, 0)}, o)"
                        if self.others and self.functions == 0
                        else a()
                    ),
                ),
                (0.5, lambda: f"functools.partial(np.multiply, {self.expr('float', b, 0)})({a()})"),
                (1, lambda: f"{self.pick(*self.helpers)}({a()}, {self.expr('int', b, d)})" if self.helpers else a()),
            ]
        )()

    def int_expr(self, b, d):
        i = lambda: self.expr("int", b, d)
        return self.weighted(
            [
                (6, lambda: f"({i()} {self.pick(*ARITH)} {i()})"),
                (2, lambda: f"({i()} {self.pick('//', '%')} {self.pick('2', '3', '7', i())})"),
                (1, lambda: f"({i()} {self.pick('&', '|', '^')} {i()})"),
                (1, lambda: f"({self.pick('-', '~', '+')}{i()})"),
                (2, lambda: f"len({self.expr(self.pick('list', 'str', 'tuple', 'dict', 'set', 'arr'), b, d)})"),
                (1, lambda: f"{self.expr('arr', b, d)}.{self.pick('ndim', 'size', 'shape[0]')}"),
                (1, lambda: f"int({self.expr(self.pick('float', 'int', 'bool'), b, d)})"),
                (1, lambda: f"int({self.expr('arr', b, d)}.sum())"),
                (1, lambda: f"{self.pick('min', 'max')}({i()}, {i()})"),
                (1, lambda: f"sum({self.expr('list', b, d)})" if self.chance(0.3) else "sum([1, 2])"),
                (1, lambda: f"abs({i()})"),
                (1, lambda: f"rec({self.pick('0', '1', '3')}, {i()})"),
                (1, lambda: f"{self.attribute(b)}.count"),
                (1, lambda: f"sum(gen({self.pick('2', '3')}))"),
                (1, lambda: "G"),
                (1, lambda: f"TABLE[{self.pick(repr('a'), repr('a'), repr('a'), repr('b'), repr('zz'))}]"),
                (
                    0.5,
                    lambda: (
                        f"{{Hue.RED: {self.leaf('int')}, Point(1, 2): 3}}[{self.pick('Hue.RED', 'Point(1, 2)', '(1, 2)', 'Hue.BLUE')}]"
                    ),
                ),
                (1, lambda: f"{self.pick('operator.add', 'operator.mul')}({i()}, {i()})"),
                (1, lambda: f"functools.reduce(lambda p, q: p + q, [{i()}, {i()}])"),
                (1, lambda: f"next(iter({self.expr('list', b, 0)}), {i()})"),
                (1, lambda: "len(LOG)"),
                (
                    0.5,
                    lambda: (
                        f"sum(p * q for p, q in zip({self.expr('list', b, 0)}, {self.pick('range(4)', '(1, 2)')}))"
                        if self.chance(0.3)
                        else "sum(p * q for p, q in zip((1, 2), (3, 4)))"
                    ),
                ),
                (0.5, lambda: f"[{i()}, {i()}, {i()}][{self.pick('0', '1', '-1', i())}]"),
                (
                    0.5,
                    lambda: (
                        f"(lambda *p, **q: len(p) + len(q))({i()}, *{self.expr('tuple', b, 0)}, w={i()}, **{self.expr('dict', b, 0) if self.chance(0.1) else '{}'})"
                    ),
                ),
                (0.5, lambda: f"({i()} {self.pick('<<', '>>')} {self.pick('1', '3')})"),
                (0.5, lambda: f"next(talk({self.pick('0', '1', '2')}), {i()})"),
                (
                    0.3,
                    lambda: (
                        f"{self.expr(self.pick('list', 'tuple', 'str'), b, 0)}.count({self.leaf('int') if self.chance(0.9) else i()})"
                        if self.chance(0.3)
                        else f"len({self.expr('deque', b, 0)})"
                    ),
                ),
                (
                    0.3,
                    lambda: (
                        f"max({self.expr('list', b, 0)}, default={i()})" if self.chance(0.4) else f"max([{i()}, {i()}])"
                    ),
                ),
                (0.5, lambda: f"functools.partial(rec, 1)({i()})"),
            ]
        )()

    def float_expr(self, b, d):
        x = lambda: self.expr("float", b, d)
        return self.weighted(
            [
                (5, lambda: f"({x()} {self.pick(*ARITH)} {self.expr(self.pick('float', 'int'), b, d)})"),
                (2, lambda: f"({x()} / {self.pick('2', x())})"),
                (3, lambda: f"{self.expr('arr', b, d)}.{self.pick('sum', 'mean', 'max', 'min', 'prod')}()"),
                (2, lambda: f"{self.expr('arr', b, d)}[{self.pick('0', '-1', '1', self.expr('int', b, 0))}]"),
                (1, lambda: f"float({self.expr(self.pick('float', 'int'), b, d)})"),
                (1, lambda: f"math.{self.pick('sqrt', 'floor', 'exp', 'sin')}({x()})"),
                (1, lambda: f"round({x()}, {self.pick('1', '2')})"),
                (1, lambda: f"np.{self.pick('sum', 'mean', 'max')}({self.expr('arr', b, d)})"),
                (1, lambda: (lambda q: f"np.dot({q}.ravel(), {q}.ravel())")(self.expr("arr", b, 0))),
                (1, lambda: f"{self.attribute(b)}.{self.pick('x', 'y', 'twice')}"),
                (1, lambda: "H"),
                (1, lambda: f"max({x()}, {x()}, key=abs)"),
                (0.5, lambda: f"({x()} {self.pick('//', '%', '**')} {self.pick('2', '0.5', x())})"),
                (0.5, lambda: f"math.{self.pick('hypot', 'atan2', 'fmod', 'copysign')}({x()}, {x()})"),
                (0.5, lambda: f"{self.attribute(b)}.both"),
                (0.5, lambda: f"float({self.attribute(b)})" if self.chance(0.2) else f"abs({x()})"),
                (0.5, lambda: f"{self.expr('dict', b, 0)}.get('a', {x()})"),
                (0.5, lambda: f"np.float64({x()})"),
                (0.5, lambda: f"complex({x()}, 1).real"),
            ]
        )()

    def bool_expr(self, b, d):
        return self.cond(b, d)

    def cond(self, b, d=1):
        i = lambda: self.expr("int", b, d)
        return self.weighted(
            [
                (6, lambda: f"{i()} {self.pick(*COMPARE)} {i()}"),
                (2, lambda: f"{self.expr('float', b, d)} {self.pick('<', '>')} {self.expr('float', b, d)}"),
                (2, lambda: f"{self.expr('arr', b, d)}.sum() {self.pick('<', '>')} {self.leaf('float')}"),
                (1, lambda: f"({self.expr('arr', b, d)} > 1).{self.pick('any', 'all')}()"),
                (1, lambda: f"0 < {i()} {self.pick('<', '<=')} {i()}"),
                (1, lambda: f"{self.expr(self.pick('list', 'str', 'dict', 'set', 'obj', 'tuple'), b, d)}"),
                (1, lambda: f"not {i()}"),
                (
                    1,
                    lambda: (
                        f"{i()} {self.pick('in', 'not in')} {self.expr(self.pick('list', 'set', 'tuple', 'dict'), b, d)}"
                    ),
                ),
                (
                    1,
                    lambda: (
                        f"isinstance({self.expr('any', b, 0)}, {self.pick('int', 'float', '(list, tuple)', 'np.ndarray', 'E1', 'collections.abc.Mapping', '(numbers.Real, collections.abc.Sequence)', 'collections.abc.Iterable', self.pick(*self.classes) if self.classes else 'dict')})"
                    ),
                ),
                (1, lambda: f"{self.expr('any', b, 0)} is {self.pick('None', 'not None')}"),
                (1, lambda: f"({i()} > 1 {self.pick('and', 'or')} {i()} < 5)"),
                (1, lambda: f"{self.expr('obj', b, 0)} == {self.expr('obj', b, 0)}"),
                (1, lambda: f"hasattr({self.expr('obj', b, 0)}, {self.pick(repr('x'), repr('zz'))})"),
                (1, lambda: f"(lambda z: z > 2)({i()})"),
                (1, lambda: f"any(z > 2 for z in {self.expr('list', b, 0)})"),
                (
                    0.5,
                    lambda: (
                        f"{i()} in {self.attribute(b)}"
                        if self.chance(0.3)
                        else f"{self.expr('str', b, 0)} {self.pick('==', 'in', '<')} {self.expr('str', b, 0)}"
                    ),
                ),
                (0.5, lambda: f"all([z is not None for z in {self.expr(self.pick('list', 'tuple'), b, 0)}])"),
                (0.5, lambda: f"{self.expr('list', b, 0)} {self.pick('==', '!=', '<')} {self.expr('list', b, 0)}"),
                (0.5, lambda: f"callable({self.expr('any', b, 0)})"),
                (
                    0.5,
                    lambda: (
                        f"({self.cond(b, d - 1) if d > 0 else 'H'} and {self.expr(self.pick('list', 'int', 'str'), b, 0)})"
                    ),
                ),
                (1, lambda: f"({self.walrus(b)} := {i()}) > 2" if self.functions == 0 else f"{i()} > 1"),
                (1, lambda: "True"),
            ]
        )()

    def walrus(self, b):
        name = self.fresh("w")
        b.maybe[name] = "int"
        return name

    def str_expr(self, b, d):
        s = lambda: self.expr("str", b, d)
        return self.weighted(
            [
                (2, lambda: f"({s()} + {s()})"),
                (2, lambda: 'f"{' + self.expr("int", b, 0) + "}-{" + self.expr("str", b, 0) + '!r}"'),
                (1, lambda: "f'{" + self.expr("float", b, 0) + ":.2f}'"),
                (1, lambda: f"{s()}.{self.pick('upper()', 'strip()', 'title()', 'isdigit()')}"),
                (1, lambda: f"str({self.expr(self.pick('int', 'float', 'list', 'tuple'), b, d)})"),
                (1, lambda: f"'%s|%d' % ({s()}, {self.expr('int', b, d)})"),
                (1, lambda: f"'{{}}'.format({self.expr('int', b, d)})"),
                (1, lambda: f"{s()}[1:]"),
                (1, lambda: f"','.join(map(str, {self.expr('list', b, d)}))"),
                (1, lambda: f"repr({self.expr(self.pick('obj', 'int', 'list'), b, 0)})"),
                (1, lambda: f"type({self.expr('any', b, 0)}).__name__"),
                (
                    0.5,
                    lambda: (
                        "f'{"
                        + self.expr("float", b, 0)
                        + ":{"
                        + self.pick("5", "8")
                        + "}.{"
                        + self.pick("1", "3")
                        + "}f}'"
                    ),
                ),
                (
                    0.5,
                    lambda: (
                        "f'{"
                        + self.expr(self.pick("int", "list", "obj", "arr"), b, 0)
                        + self.pick("}", "!r}", "!s:>9}")
                        + "|{G=}'"
                    ),
                ),
                (
                    0.5,
                    lambda: f"'%5.2f %s' % ({self.expr('float', b, 0)}, {self.expr(self.pick('int', 'list'), b, 0)})",
                ),
                (0.5, lambda: f"'{{0}} {{k!r:>5}}'.format({self.expr('int', b, 0)}, k={self.expr('str', b, 0)})"),
                (0.5, lambda: f"({s()} * {self.pick('2', '0')})"),
                (
                    0.5,
                    lambda: (
                        f"format({self.expr(self.pick('int', 'float'), b, 0)}, {self.pick(repr('>6'), repr('05'), repr(''))})"
                    ),
                ),
                (
                    0.3,
                    lambda: (
                        f"{s()}.{self.pick('split()', 'replace(' + repr('a') + ', ' + repr('zz') + ')', 'startswith(' + repr('a') + ')')}"
                        if self.chance(0.5)
                        else f"{s()}[::-1]"
                    ),
                ),
            ]
        )()

    def item(self, b, d):
        return self.expr(self.pick("int", "int", "int", "float", "float", "arr", "str", "obj", "tuple"), b, d)

    def list_expr(self, b, d):
        return self.weighted(
            [
                (2, lambda: "[" + ", ".join(self.item(b, d) for _ in range(self.rng.randrange(1, 4))) + "]"),
                (
                    4,
                    lambda: (
                        "["
                        + ", ".join(self.expr(self.pick("int", "float"), b, d) for _ in range(self.rng.randrange(1, 4)))
                        + "]"
                    ),
                ),
                (
                    2,
                    lambda: (
                        f"[{self.pick('z', 'z * 2', 'z + 1', '(z, 1)', 'z * ' + self.expr('int', b, 0))} for z in {self.iterable(b, 0)}{self.pick('', '', ' if z != 2')}]"
                    ),
                ),
                (1, lambda: f"[*{self.expr('list', b, d)}, {self.item(b, d)}]"),
                (1, lambda: f"({self.expr('list', b, d)} + {self.expr('list', b, d)})"),
                (1, lambda: f"{self.expr('list', b, d)}[{self.pick('1:', '::-1', ':2', ':')}]"),
                (1, lambda: f"list({self.iterable(b, d)})"),
                (
                    1,
                    lambda: (
                        f"sorted({self.pick('[3, 1, 2]', '(2.5, 1)', self.expr('list', b, d))}{self.pick('', ', reverse=True', ', key=lambda z: -z', ', key=str')})"
                    ),
                ),
                (1, lambda: f"{self.expr('arr', b, d)}.tolist()"),
                (1, lambda: f"list(map(lambda z: {self.pick('z', '(z, z)', 'z * 2')}, {self.expr('list', b, 0)}))"),
                (1, lambda: f"[z for z in {self.expr('arr', b, 0)}]"),
                (1, lambda: "W"),
                (
                    0.7,
                    lambda: (
                        f"[[y * 2 for y in range(z)] for z in {self.pick('range(3)', '(1, 2)', self.iterable(b, 0))}]"
                    ),
                ),
                (
                    0.7,
                    lambda: (
                        f"[p + q for p in {self.pick('(1, 2)', 'range(3)', self.expr('list', b, 0))} for q in ({self.expr('int', b, 0)}, 4) if p < {self.pick('2', 'q')}]"
                    ),
                ),
                (
                    0.7,
                    lambda: (
                        "[(lambda: z)() for z in range(3)]"
                        if self.chance(0.3)
                        else f"[{self.expr('float', b, 0)} * z for z in range(2)]"
                    ),
                ),
                (
                    0.7,
                    lambda: f"[{self.expr('arr', b, 0)} {self.pick('*', '+')} z for z in range({self.pick('2', '3')})]",
                ),
                (0.5, lambda: f"[*range(2), *{self.expr(self.pick('tuple', 'deque', 'set'), b, 0)}]"),
                (0.5, lambda: f"[x for x, *_ in [{self.expr('tuple', b, 0) if self.chance(0.3) else '(1, 2)'}]]"),
                (0.4, lambda: f"list({self.expr('dict', b, 0)}{self.pick('', '.values()', '.items()')})"),
                (
                    1,
                    lambda: (
                        f"list(itertools.{self.pick('chain', 'zip_longest')}({self.expr('list', b, 0)}, {self.expr('tuple', b, 0)}))"
                    ),
                ),
            ]
        )()

    def tuple_expr(self, b, d):
        return self.weighted(
            [
                (4, lambda: "(" + ", ".join(self.item(b, d) for _ in range(self.rng.randrange(2, 4))) + ")"),
                (1, lambda: f"tuple({self.iterable(b, d)})"),
                (1, lambda: f"({self.item(b, d)}, *{self.expr('list', b, d)})"),
                (1, lambda: f"divmod({self.expr('int', b, d)}, {self.pick('2', '3', '0')})"),
                (1, lambda: f"{self.expr('arr', b, d)}.shape"),
                (1, lambda: f"Point({self.item(b, d)}, {self.item(b, d)})"),
                (1, lambda: f"{self.expr('tuple', b, d)}[{self.pick('1:', '::-1')}]"),
            ]
        )()

    def dict_expr(self, b, d):
        return self.weighted(
            [
                (3, lambda: "{" + f"'a': {self.item(b, d)}, {self.pick('1', repr('k'))}: {self.item(b, d)}" + "}"),
                (1, lambda: "{z: z * 2 for z in " + self.pick("range(3)", "(1, 2)", "'ab'") + "}"),
                (1, lambda: "{**" + self.expr("dict", b, d) + f", 'z': {self.item(b, d)}" + "}"),
                (1, lambda: f"dict(a={self.item(b, d)}, q={self.item(b, d)})"),
                (1, lambda: f"dict(zip('abc', {self.expr('list', b, d)}))"),
                (1, lambda: f"({self.expr('dict', b, d)} | {{'m': {self.item(b, d)}}})"),
                (
                    0.5,
                    lambda: (
                        "{k: [v, *range(k)] for k, v in enumerate(" + self.pick("'ab'", self.expr("list", b, 0)) + ")}"
                    ),
                ),
                (0.5, lambda: f"dict({self.expr('dict', b, d)}, w={self.item(b, d)})"),
                (
                    0.4,
                    lambda: (
                        f"collections.OrderedDict(a={self.item(b, 0)})"
                        if self.chance(0.3)
                        else f"dict.fromkeys('ab', {self.item(b, 0)})"
                    ),
                ),
                (1, lambda: f"collections.Counter({self.pick(repr('aab'), '[1, 1, 2]')})"),
            ]
        )()

    def set_expr(self, b, d):
        i = lambda: self.expr("int", b, d)
        return self.weighted(
            [
                (2, lambda: "{" + f"{i()}, {i()}" + "}"),
                (1, lambda: f"set(range({self.pick('2', '3')}))"),
                (1, lambda: f"({self.expr('set', b, d)} {self.pick('|', '&', '-', '^')} {{1, 2}})"),
                (1, lambda: "{z % 3 for z in range(5)}"),
                (1, lambda: f"frozenset({{{i()}}})"),
            ]
        )()

    def deque_expr(self, b, d):
        return self.weighted(
            [
                (
                    3,
                    lambda: (
                        f"collections.deque([{self.item(b, d)}, {self.item(b, d)}]{self.pick('', '', ', 3', ', maxlen=2')})"
                    ),
                ),
                (1, lambda: f"collections.deque({self.iterable(b, d)})"),
                (1, lambda: "RING"),
                (0.5, lambda: f"RING + {self.leaf('deque')}"),
                (0.5, lambda: f"{self.expr('deque', b, d)}.copy()"),
            ]
        )()

    def obj_expr(self, b, d):
        if not self.classes:
            return self.expr("int", b, d)
        make = self.pick(*self.classes)
        return self.weighted(
            [
                (4, lambda: f"{make}({self.expr(self.pick('int', 'float', 'arr'), b, d)})"),
                (1, lambda: f"{make}({self.expr('int', b, d)}, y={self.expr('float', b, d)})"),
                (0.5, lambda: f"({self.attribute(b)} + {self.expr(self.pick('int', 'obj'), b, d)})"),
                (1, lambda: f"{self.attribute(b)}.again()"),
                (1, lambda: f"{make}.make({self.expr('int', b, d)})"),
                (0.4, lambda: f"({self.expr('int', b, 0)} {self.pick('+', '*')} {self.attribute(b)})"),
                (0.4, lambda: f"{make}(**{{'x': {self.expr('int', b, 0)}, 'y': 2}})"),
            ]
        )()

    def attribute(self, b):
        return self.variable(b, "obj") or (f"{self.pick(*self.classes)}(2)" if self.classes else "Point(1, 2)")

    def iterable(self, b, d):
        return self.weighted(
            [
                (5, lambda: f"range({self.pick('2', '3', '4', '1, 4', '4, 0, -1')})"),
                (2, lambda: self.expr("list", b, d)),
                (1, lambda: self.expr("tuple", b, d)),
                (1, lambda: f"gen({self.pick('2', '3')})"),
                (1, lambda: f"gen2({self.pick('[1, 2]', 'gen(2)')})"),
                (1, lambda: self.expr("arr", b, d)),
                (1, lambda: "(z + 1 for z in range(3))"),
                (1, lambda: f"reversed({self.pick('[1, 2, 3]', self.expr('deque', b, 0), self.expr('dict', b, 0), self.expr('dict', b, 0) + '.items()')})"),
                (1, lambda: "map(abs, (-1, 2))"),
                (1, lambda: "filter(None, (0, 1, 2))"),
                (0.5, lambda: f"Count({self.pick('2', '3')})"),
                (0.5, lambda: f"talk({self.pick('1', '2')})"),
                (0.5, lambda: self.expr("deque", b, 0)),
                (
                    0.5,
                    lambda: (
                        f"itertools.{self.pick('islice(itertools.count(1), 3)', 'accumulate([1, 2, 3])', 'product((1, 2), repeat=1)', 'repeat(2, 2)', 'pairwise([1, 2, 3])')}"
                    ),
                ),
                (0.3, lambda: self.attribute(b) if self.chance(0.3) else "zip((1, 2), (3, 4))"),
                (0.3, lambda: "sorted({3, 1, 2})"),
                (1, lambda: "'abc'"),
            ]
        )()

    # ---- statements ----

    def block(self, b, budget, child=True):
        """At least one statement, one level deeper."""
        inner = b.child() if child else b
        self.depth += 1
        before = len(self.lines)
        for _ in range(self.rng.randrange(1, max(2, min(4, budget)))):
            self.statement(inner, budget - 1)
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1
        if child:
            b.merge(inner)
        return inner

    def statement(self, b, budget):
        simple = [
            (14, self.assign),
            (5, self.augmented),
            (3, self.unpack),
            (3, self.write_array),
            (3, self.method),
            (2, self.attribute_store),
            (2, self.item_store),
            (2, self.bare_call),
            (1, self.global_store),
            (1, self.delete),
            (1, self.assertion),
            (1, self.imports),
            (1, self.view),
            (1, self.in_place),
            (1, self.iterator),
        ]
        if self.generator:
            simple += [(8, self.yielding)]
        if self.breaks:
            simple += [(3, self.prints), (2, self.unknown), (1, self.peek)]
        nested = [
            (5, self.branch),
            (1, self.recursive),
            (4, self.loop),
            (2, self.while_loop),
            (4, self.trying),
            (3, self.managing),
            (2, self.matching),
            (2, self.nested_function),
        ]
        leaving = [(1, self.leave)]
        if self.pure:
            simple, nested = (
                [
                    (14, self.assign),
                    (4, self.augmented),
                    (3, self.write_array),
                    (1, self.view),
                    (1, self.in_place),
                    (1, self.prints),
                ],
                [(3, self.branch), (3, self.loop), (1, self.trying)],
            )
        table = simple * 2 + (nested if budget > 0 and self.depth < 6 else []) + (leaving if self.depth > 1 else [])
        self.weighted(table)(b, budget)

    def assign(self, b, budget):
        kind = self.rng.choice(KINDS)
        if self.pure:
            kind = self.pick("arr", "arr", "arr", "int", "float")
        value = self.expr(kind, b)
        names = [n for n in b.names if n not in self.walked and n not in self.nonlocals]
        name = self.rng.choice(names) if names and self.chance(0.3) else self.fresh()
        if self.chance(0.06):
            other = self.fresh()
            self.emit(f"{name} = {other} = {value}")
            b.names[other] = kind
        elif self.chance(0.04):
            self.emit(f"{name}: object = {value}")
        else:
            self.emit(f"{name} = {value}")
        b.names[name] = kind
        b.maybe.pop(name, None)

    nonlocals = frozenset()

    def augmented(self, b, budget):
        kind = self.pick("int", "float", "arr", "arr", "list", "str", "set")
        name = self.variable(b, kind)
        if name is None or name in self.walked:
            return self.assign(b, budget)
        if kind in ("list", "str") and self.loops:
            return self.emit(
                f"{name} += {self.pick('[1]' if kind == 'list' else repr('q'), '(2, 3)' if kind == 'list' else repr('z'))}"
            )
        op = {
            "int": self.pick("+", "-", "*", "//", "%", "|"),
            "float": self.pick("+", "-", "*", "/"),
            "arr": self.pick("+", "-", "*", "/"),
            "set": self.pick("|", "&", "-"),
        }.get(kind, "+")
        self.emit(f"{name} {op}= {self.expr(self.pick('arr', 'int', 'int', 'float') if kind == 'arr' else kind, b, 1)}")

    def unpack(self, b, budget):
        x, y, z = self.fresh(), self.fresh(), self.fresh()
        how = self.rng.randrange(5)
        if how == 0:
            self.emit(f"{x}, {y} = {self.expr('int', b)}, {self.expr('arr', b)}")
            b.names |= {x: "int", y: "arr"}
        elif how == 1:
            self.emit(f"{x}, *{y} = {self.pick('1, ', '')}*{self.expr('list', b, 1)}, {self.expr('int', b, 1)}")
            b.names[y] = "list"
        elif how == 2:
            self.emit(
                f"({x}, {y}), {z} = ({self.expr('int', b, 1)}, {self.expr('float', b, 1)}), {self.expr('str', b, 1)}"
            )
            b.names |= {x: "int", y: "float", z: "str"}
        elif how == 3:
            names = [n for n in b.names if n not in self.walked and n not in self.nonlocals]
            if len(names) > 1:
                p, q = self.rng.sample(names, 2)
                self.emit(f"{p}, {q} = {q}, {p}")
                b.names[p], b.names[q] = b.names[q], b.names[p]
        else:
            pair = f"{self.expr('int', b, 1)}, {self.expr('int', b, 1)}"
            self.emit(
                f"[{x}, {y}] = {self.expr(self.pick('tuple', 'list', 'arr', 'dict'), b, 1) if self.chance(0.2) else self.pick(f'({pair})', f'[{pair}]', pair)}"
            )
            b.names |= {x: self.pick("int", "float"), y: "int"}

    def write_array(self, b, budget):
        name = self.variable(b, "arr")
        if name is None:
            return self.assign(b, budget)
        at = self.pick("0", "-1", "1:", "::2", ":2", "...", f"{name} > 1", self.expr("int", b, 0), "[0, 1]")
        value = (
            self.expr(self.pick("int", "int", "float", "float", "arr"), b, 1)
            if self.chance(0.8)
            else f"{name}[{at}] * 2"
        )
        self.emit(f"{name}[{at}] {self.pick('=', '=', '+=', '*=')} {value}")

    def method(self, b, budget):
        kind = self.pick("list", "list", "dict", "set", "deque")
        name = self.variable(b, kind)
        if name is None or name in self.walked:
            return self.assign(b, budget)
        item = self.item(b, 1)
        calls = {
            "list": [
                f"append({item})",
                f"insert(0, {item})",
                "pop()",
                "pop(0)",
                "reverse()",
                f"extend({self.pick('[1]', '(2, 3)', 'gen(2)')})",
                "sort()",
                "clear()",
                f"remove({self.leaf('int')})",
                "sort(key=str)",
            ],
            "dict": [
                f"update(a={item})",
                "pop('a', 0)",
                "pop('a')",
                "pop('zz', None)",
                f"setdefault('s', {item})",
                "get('a')",
                "popitem()",
                "clear()",
            ],
            "deque": [
                f"append({item})",
                f"appendleft({item})",
                "pop()",
                "popleft()",
                "rotate(1)",
                f"extend({self.pick('[1]', '(2, 3)')})",
                "clear()",
                "reverse()",
            ],
            "set": [f"add({self.expr('int', b, 0)})", "discard(1)", "update((1, 2))", "pop()", "remove(2)"],
        }[kind]
        call = self.rng.choice(calls)
        if self.chance(0.3):
            result = self.fresh()
            self.emit(f"{result} = {name}.{call}")
            b.maybe[result] = "int"
        else:
            self.emit(f"{name}.{call}")

    def attribute_store(self, b, budget):
        name = self.variable(b, "obj")
        if name is None:
            return self.assign(b, budget)
        where = self.pick("x", "x", "y", "extra", "twice", "count", "fixed", "both")
        self.weighted(
            [
                (5, lambda: self.emit(f"{name}.{where} = {self.item(b, 1)}")),
                (
                    3,
                    lambda: self.emit(
                        f"{name}.{self.pick('x', 'y')} {self.pick('+=', '*=')} {self.expr(self.pick('int', 'float', 'arr'), b, 1)}"
                    ),
                ),
                (1, lambda: self.emit(f"setattr({name}, 'x', {self.item(b, 1)})")),
                (1, lambda: self.emit(f"del {name}.{self.pick('x', 'extra', 'y')}")),
                (
                    1,
                    lambda: self.emit(
                        f"{name} += {self.expr(self.pick('int', 'float'), b, 1)}"
                        if name not in self.nonlocals and name not in self.walked
                        else "pass"
                    ),
                ),
                (1, lambda: self.emit(f"{name}[{self.pick('0', '1', repr('x'))}] = {self.item(b, 1)}")),
                (
                    1,
                    lambda: self.emit(
                        f"{self.pick(*self.classes)}.shared = {self.item(b, 0)}" if self.classes else "pass"
                    ),
                ),
            ]
        )()

    def item_store(self, b, budget):
        kind = self.pick("list", "dict", "dict")
        name = self.variable(b, kind)
        if name is None or name in self.walked:
            return self.assign(b, budget)
        if kind == "list":
            self.emit(
                self.pick(
                    f"{name}[0] = {self.item(b, 1)}",
                    f"{name}[-1] = {self.item(b, 1)}",
                    f"{name}[{self.expr('int', b, 0)}] = {self.item(b, 1)}",
                    f"del {name}[0]",
                    f"{name}[1:2] = {self.pick('[]', '(7, 8)', '[1.5]')}",
                    f"del {name}[:1]",
                    f"{name}[0] += {self.expr('int', b, 1)}",
                )
            )
        else:
            self.emit(
                self.pick(
                    f"{name}['a'] = {self.item(b, 1)}",
                    f"{name}[{self.expr('int', b, 0)}] = {self.item(b, 1)}",
                    f"del {name}['a']",
                    f"{name}['n'] = {name}.get('n', 0) + 1",
                    f"{name}['a'] += {self.expr('int', b, 1)}",
                    f"{name} |= {{'w': {self.item(b, 1)}}}" if name not in self.nonlocals else "pass",
                )
            )

    def view(self, b, budget):
        """A view that is written to, so that its base changes, or the other way round."""
        base = self.variable(b, "arr")
        if base is None:
            base = self.pick("XA", "XB", "XM")
        name = self.fresh()
        self.emit(
            f"{name} = {base}{self.pick('[1:]', '[::-1]', '.T', '[...]', '[:2]', '.ravel()', '[::2]', '.reshape(-1)')}"
        )
        b.names[name] = "arr"
        value = self.expr(self.pick("int", "float", "arr"), b, 1)
        target = (
            self.pick(name, name, base)
            if base not in self.nonlocals and base not in self.walked and base not in ("XA", "XB", "XM")
            else name
        )
        self.emit(
            self.pick(
                f"{target} {self.pick('+=', '*=', '-=')} {value}",
                f"{target}[{self.pick('0', '1:', '...', '::2')}] = {value}",
                f"{target}[...] = {target}[::-1]",
                f"{base}[1:] = {base}[:-1]",
                f"{base}[:-1] += {base}[1:]",
            )
        )

    def in_place(self, b, budget):
        name = self.variable(b, "arr") or self.pick("XA", "XB", "XM")
        value = self.expr(self.pick("int", "float", "arr"), b, 1)
        self.emit(
            self.pick(
                f"np.{self.pick('add', 'multiply')}({name}, {value}, out={name})",
                f"{name}.fill({self.expr('int', b, 1)})",
                f"np.copyto({name}, {value})",
                f"{name}.sort()",
                f"np.sqrt({name}, out={name})",
                f"np.add.at({name}, [0, 0], {self.leaf('int')})",
                f"XB[...] = {value}",
                f"XA[1:3] *= {self.expr('float', b, 0)}",
                f"np.negative({name}, {name})",
            )
        )

    def iterator(self, b, budget):
        """Positions of iterators and generators."""
        name, got = self.fresh("it"), self.fresh()
        source, kind = self.weighted(
            [
                (
                    3,
                    lambda: (
                        f"iter({self.pick('[1, 2, 3]', self.expr('list', b, 0), 'range(3)', self.expr('arr', b, 0))})",
                        "plain",
                    ),
                ),
                (2, lambda: (f"talk({self.pick('1', '2', '3')})", "talk")),
                (1, lambda: (f"gen({self.pick('1', '3')})", "gen")),
                (1, lambda: (f"zip({self.expr('list', b, 0)}, {self.iterable(b, 0)})", "plain")),
                (1, lambda: (f"enumerate({self.iterable(b, 0)})", "plain")),
                (1, lambda: ("(z * 2 for z in range(3))", "gen")),
                (1, lambda: (f"map(U, {self.pick('[1, 2]', self.expr('list', b, 0))})", "plain")),
                (1, lambda: (f"Count({self.pick('1', '3')})", "plain")),
            ]
        )()
        self.emit(f"{name} = {source}")
        self.emit(f"{got} = next({name}, {self.expr('int', b, 0)})" if self.chance(0.8) else f"{got} = next({name})")
        b.maybe[got] = "int"
        if kind != "plain" and self.chance(0.4):
            self.emit(
                self.pick(
                    f"{name}.close()",
                    f"{name}.send({self.pick('None', '2')})",
                    f"{name}.throw(ValueError({self.expr('int', b, 0)}))",
                )
            )
        if self.chance(0.5):
            rest = self.fresh()
            self.emit(
                self.pick(
                    f"{rest} = list({name})",
                    f"{rest} = [*{name}]",
                    f"{rest}, *_ = {name}",
                    f"{rest} = [z for z in {name}]",
                    f"{rest} = next({name}, None)",
                )
            )
            b.maybe[rest] = "list"
        if self.chance(0.3):
            b.maybe[name] = "iterator"

    def yielding(self, b, budget):
        name = self.fresh()
        self.emit(
            self.pick(
                f"yield {self.item(b, 1)}",
                f"yield {self.item(b, 1)}",
                f"{name} = yield {self.item(b, 1)}",
                f"yield from {self.iterable(b, 0)}",
                f"{name} = yield from gen2(gen(1))",
                "yield",
            )
        )
        b.maybe[name] = "int"

    def recursive(self, b, budget):
        """A function of the block that calls itself."""
        if self.functions >= 2:
            return self.assign(b, budget)
        name, result = self.fresh("fn"), self.fresh()
        self.emit(f"def {name}(p, q=1):")
        self.depth += 1
        self.emit(f"if p <= {self.pick('0', '1')}:")
        self.emit(f"    return {self.pick('q', self.expr(self.pick('int', 'arr', 'float'), b, 0), '[q]')}")
        self.emit(self.pick("LOG.append(p)", "U(p)", "q = q * 2", "G"))
        self.emit(
            f"return {self.pick(f'{name}(p - 1, q)', f'{name}(p - 1, q + 1)', f'{name}(p - 1, q=q) * 2', f'[{name}(p - 1), q]', f'{name}(p - 2) + {name}(p - 1, 2)')}"
        )
        self.depth -= 1
        self.emit(
            f"{result} = {name}({self.pick('2', '3', '4', '0')}{self.pick('', ', ' + self.expr(self.pick('arr', 'int', 'float'), b, 0))})"
        )
        b.maybe[result] = self.pick("int", "arr")

    def bare_call(self, b, budget):
        if self.helpers and self.chance(0.7):
            helper = self.pick(*self.helpers)
            args = self.pick(
                f"{self.expr('arr', b, 1)}",
                f"{self.expr('int', b, 1)}, {self.expr('int', b, 1)}",
                f"*({self.expr('arr', b, 1)}, 2)",
                f"{self.expr('arr', b, 1)}, k={self.expr('int', b, 1)}",
                f"{self.expr('arr', b, 1)}, **{{'k': 2}}",
                f"{self.expr('float', b, 1)}, 1, 2, 3, z=4",
                f"*{self.expr('tuple', b, 1)}" if self.chance(0.3) else f"x={self.expr('arr', b, 1)}, y=1",
                f"{self.expr('arr', b, 1)}, *{self.expr('list', b, 0)}, **{self.expr('dict', b, 0) if self.chance(0.2) else repr({'k': 3, 'w': 1})}",
            )
            name = self.fresh()
            self.emit(f"{name} = {helper}({args})")
            b.names[name] = self.pick("arr", "arr", "float", "tuple")
        else:
            self.emit(
                self.pick(
                    f"{self.attribute(b)}.bump({self.expr('int', b, 1)})",
                    f"U({self.item(b, 1)}, [{self.item(b, 1)}])" if self.breaks else "rec(1, 2)",
                    f"RING.append({self.item(b, 1)})",
                    f"RING.insert({self.leaf('int')}, {self.item(b, 1)})",
                    "RING.reverse()",
                    f"functools.partial({self.attribute(b)}.bump, 2)()",
                    f"{self.attribute(b)}.plain({self.item(b, 1)})",
                    f"LOG.append({self.item(b, 1)})",
                    f"W.append({self.expr('int', b, 1)})",
                    "list(gen(2))",
                    f"{self.attribute(b)}({self.expr('int', b, 1)})",
                )
            )

    def global_store(self, b, budget):
        self.emit(
            self.pick(
                f"G = {self.expr('int', b, 1)}",
                f"H *= {self.expr('float', b, 0)}" if self.chance(0.5) else "H = 0.5",
                f"TABLE[{self.pick(repr('a'), repr('c'), 'G')}] = {self.item(b, 1)}",
                "del NEW" if self.chance(0.3) else "NEW = [G]",
                f"XA[0] = {self.expr('float', b, 0)}",
                f"G += {self.expr('int', b, 0)}",
                f"H = {self.expr('float', b, 1)}",
                f"TABLE['a'] = {self.expr('int', b, 1)}",
                f"W[0] = {self.expr('int', b, 1)}",
                "NEW = G",
                f"globals()['G'] = {self.expr('int', b, 0)}" if self.breaks else "G = 4",
            )
        )

    def delete(self, b, budget):
        names = [n for n in b.names if n not in self.walked and n not in self.parameters and n not in self.nonlocals]
        if names:
            name = self.rng.choice(names)
            self.emit(f"del {name}")
            b.maybe[name] = b.names.pop(name)

    parameters = ()

    def assertion(self, b, budget):
        self.emit(
            f"assert {self.cond(b)}{'' if self.chance(0.3) else ' or True'}"
            + self.pick("", f", {self.expr('str', b, 1)}")
        )

    def imports(self, b, budget):
        self.emit(
            self.pick(
                "import math as mm",
                "from operator import add as plus",
                "import os.path",
                "from math import nothing" if self.chance(0.05) else "import math as mm",
            )
        )

    def prints(self, b, budget):
        self.emit(f"print({', '.join(self.item(b, 1) for _ in range(self.rng.randrange(1, 3)))})")

    def unknown(self, b, budget):
        name = self.fresh()
        value, kind = self.weighted(
            [
                (2, lambda: (f"__import__('zlib').crc32({self.expr('str', b, 1)}.encode())", "int")),
                (1, lambda: (f"__import__('json').dumps([{self.expr('int', b, 1)}])", "str")),
                (1, lambda: ("__import__('random').Random(3).random()", "float")),
                (1, lambda: (f"__import__('bisect').bisect([1, 2, 3], {self.expr('int', b, 1)})", "int")),
                (1, lambda: (f"__import__('copy').copy({self.expr('list', b, 1)})", "list")),
                (1, lambda: (f"eval({self.pick(repr('1 + 1'), repr('G * 2'))})", "int")),
                (2, lambda: ("jitney.graph_break()", "int")),
                (1, lambda: (f"operator.itemgetter(0)({self.expr(self.pick('list', 'tuple', 'arr'), b, 1)})", "int")),
                (1, lambda: (f"sum({self.expr('list', b, 1)}, {self.expr('float', b, 0)})", "float")),
            ]
        )()
        self.emit(f"{name} = {value}")
        b.names[name] = kind

    def peek(self, b, budget):
        self.emit(
            self.pick(
                "LOG.append(sorted(locals()))",
                "LOG.append(sys._getframe().f_lineno)",
                "LOG.append(sys._getframe().f_code.co_name)",
                "LOG.append(len(vars()))",
                "LOG.append(sys.exc_info()[0])",
            )
        )

    # nested ones

    def branch(self, b, budget):
        self.emit(f"if {self.cond(b)}:")
        first = self.block(b, budget)
        others = []
        while self.chance(0.25):
            self.emit(f"elif {self.cond(b)}:")
            others.append(self.block(b, budget))
        if self.chance(0.5):
            self.emit("else:")
            others.append(self.block(b, budget))
            for name, kind in first.names.items():
                if name not in b.names and all(other.names.get(name) == kind for other in others):
                    b.names[name] = kind

    def loop(self, b, budget):
        if self.loops >= 2:
            return self.assign(b, budget)
        target, walked = self.fresh("i"), None
        source = self.iterable(b, 1)
        inner_kind = "int"
        how = self.rng.randrange(8)
        if how == 0:
            second = self.fresh("j")
            self.emit(f"for {target}, {second} in enumerate({source}):")
            b.maybe[second] = "int"
        elif how == 1:
            second = self.fresh("j")
            self.emit(f"for {target}, {second} in zip({self.expr(self.pick('list', 'arr'), b, 1)}, {source}):")
        elif how == 2 and self.variable(b, "dict"):
            walked = self.variable(b, "dict")
            second = self.fresh("j")
            self.emit(f"for {target}, {second} in {walked}.items():")
            inner_kind = "str"
        elif how == 3:
            self.emit(f"for {target} in {self.expr('arr', b, 1)}:")
            inner_kind = self.pick("float", "float", "arr")
        elif how == 4 and self.variable(b, "list"):
            walked = self.variable(b, "list")
            self.emit(f"for {target} in {walked}:")
        else:
            self.emit(f"for {target} in {source}:")
        added = walked is not None and walked not in self.walked
        if added:
            self.walked.add(walked)
        self.loops += 1
        outer, self.in_loop = self.in_loop, True
        b.maybe[target] = inner_kind
        inner = b.child()
        inner.names[target] = inner_kind
        self.block(inner, budget, child=False)
        b.merge(inner)
        self.loops -= 1
        self.in_loop = outer
        if added:
            self.walked.discard(walked)
        if self.chance(0.2):
            self.emit("else:")
            self.block(b, budget)

    in_loop = False

    def while_loop(self, b, budget):
        if self.loops >= 2:
            return self.assign(b, budget)
        name = self.fresh("c")
        self.emit(f"{name} = 0")
        b.names[name] = "int"
        self.emit(f"while {name} < {self.pick('2', '3', '4')}{self.pick('', f' and {self.cond(b)}')}:")
        self.depth += 1
        self.emit(f"{name} += 1")
        self.depth -= 1
        self.walked.add(name)
        self.loops += 1
        outer, self.in_loop = self.in_loop, True
        self.block(b, budget)
        self.in_loop = outer
        self.loops -= 1
        self.walked.discard(name)
        if self.chance(0.2):
            self.emit("else:")
            self.block(b, budget)

    def trying(self, b, budget):
        self.emit("try:")
        self.block(b, budget)
        if self.chance(0.3):
            self.depth += 1
            self.emit(self.raising(b))
            self.depth -= 1
        handlers = self.rng.randrange(0, 3)
        final = handlers == 0 or self.chance(0.3)
        for _ in range(handlers):
            kind = self.pick(*EXCEPTIONS, "(KeyError, IndexError)", "(E1, ValueError, TypeError)")
            name = self.fresh("e") if self.chance(0.5) else None
            self.emit(f"except {kind}{f' as {name}' if name else ''}:")
            inner = b.child()
            self.block(inner, budget, child=False)
            self.depth += 1
            if name and self.chance(0.5):
                self.emit(
                    self.pick(
                        f"LOG.append(type({name}).__name__)",
                        f"LOG.append(str({name}))",
                        f"LOG.append({name}.args)",
                        f"LOG.append({name}.__traceback__.tb_lineno)",
                    )
                )
            if self.chance(0.15):
                self.emit(
                    self.pick("raise", self.raising(b), self.raising(b) + (f" from {name}" if name else " from None"))
                )
            self.depth -= 1
            b.merge(inner)
        if handlers and self.chance(0.15):
            self.emit("except Exception:")
            self.block(b, budget)
        if handlers and self.chance(0.25):
            self.emit("else:")
            self.block(b, budget)
        if final:
            self.emit("finally:")
            outer = self.in_finally
            self.in_finally = True
            self.block(b, budget)
            self.in_finally = outer

    def raising(self, b):
        return (
            f"raise {self.pick(*EXCEPTIONS)}({self.pick('', self.expr('int', b, 1), self.expr('str', b, 1), '1, 2')})"
        )

    def managing(self, b, budget):
        name = self.fresh("m")
        manager, kind = self.weighted(
            [
                (
                    3,
                    lambda: (
                        f"CM({self.pick('1', '2')}, {self.pick('()', 'E1', '(ValueError, KeyError)', 'Exception')})",
                        None,
                    ),
                ),
                (2, lambda: (f"contextlib.suppress({self.pick(*EXCEPTIONS)})", None)),
                (
                    2,
                    lambda: (
                        f"np.errstate({self.pick('all', 'divide', 'invalid')}={self.pick(repr('ignore'), repr('raise'), repr('warn'))})",
                        None,
                    ),
                ),
                (1, lambda: (f"contextlib.nullcontext({self.expr('arr', b, 1)})", "arr")),
                (1, lambda: (f"managed({self.expr('int', b, 1)})", "int")),
                (0.5, lambda: (f"contextlib.closing(talk({self.pick('1', '2')}))", None)),
                (0.5, lambda: (f"{self.attribute(b)}", None)),
                (0.5, lambda: (f"U(CM(3, {self.pick('()', 'Exception')}))", None)),
            ]
        )()
        second = ", CM('in')" if self.chance(0.15) else ""
        inner = b.child()
        if kind or self.chance(0.3):
            self.emit(f"with {manager} as {name}{second}:")
            if kind:
                inner.names[name] = kind
        else:
            self.emit(f"with {manager}{second}:")
        self.block(inner, budget, child=False)
        if self.chance(0.15):
            self.depth += 1
            self.emit(self.raising(b))
            self.depth -= 1
        b.merge(inner)

    def matching(self, b, budget):
        self.emit(f"match {self.expr(self.pick('int', 'list', 'tuple', 'dict', 'obj', 'str'), b, 1)}:")
        self.depth += 1
        x = self.fresh("p")
        patterns = [
            "0",
            "1 | 2 | 3",
            "-1",
            "'a'",
            "None",
            f"[{x}]",
            f"[{x}, _]",
            f"[_, *{x}]",
            "(1, 2)",
            f"{{'a': {x}}}",
            f"{{'a': _, **{x}}}",
            "int()",
            f"float() | int() as {x}",
            f"str({x})",
            "Point(x=1)",
            f"Point({x}, _)",
            "[]",
        ]
        if self.classes:
            patterns += [f"{self.pick(*self.classes)}(x={x})", f"{self.pick(*self.classes)}()"]
        for pattern in self.rng.sample(patterns, self.rng.randrange(1, 4)):
            guard = f" if {self.cond(b)}" if self.chance(0.2) else ""
            self.emit(f"case {pattern}{guard}:")
            b.maybe[x] = "int"
            self.block(b, budget)
        if self.chance(0.6):
            self.emit("case _:")
            self.block(b, budget)
        self.depth -= 1

    def nested_function(self, b, budget):
        if self.functions >= 2:
            return self.assign(b, budget)
        name, p = self.fresh("fn"), self.fresh("p")
        if self.chance(0.25):
            w = (
                self.pick(*(n for n in b.names if n not in self.walked), self.fresh("w")) if self.chance(0.3) else None
            )  # the name of a comprehension that makes functions
            names = {**b.names, p: self.pick("int", "arr"), **({w: "int"} if w else {})}
            text = f"lambda {p}, q={self.expr('int', b, 0)}: {self.expr(self.pick('arr', 'int', 'float'), Block(names), 1)}"
            self.emit(
                f"{name} = [{text} + {w} for {w} in range(3)][{self.pick('0', '-1')}]" if w else f"{name} = {text}"
            )
        else:
            if self.chance(0.15):
                self.emit("@deco")
            is_generator, was_generator = self.chance(0.25), self.generator
            self.emit(
                f"def {name}({p}, q={self.expr('int', b, 0)}{self.pick('', ', *_rest', ', **_more', ', *, _k=1')}):"
            )
            saved = self.in_loop, self.loops, self.in_finally, self.nonlocals, self.parameters, self.walked
            self.in_loop, self.in_finally, self.parameters, self.functions = False, False, (p, "q"), self.functions + 1
            # names of the enclosing function are read; written only where declared nonlocal
            inner = Block({p: self.pick("int", "arr"), "q": "int"})
            free = [n for n, k in b.names.items() if n not in self.walked]
            self.depth += 1
            shared = []
            if self.functions == 1 and free and self.chance(0.5):
                shared = self.rng.sample(free, min(len(free), 2))
                self.emit(f"nonlocal {', '.join(shared)}")
            for n in shared:
                inner.names[n] = b.names[n]
            self.depth -= 1
            self.walked = set(self.walked)
            outer_readable = {n: k for n, k in b.names.items()}
            inner.names = {
                **{n: k for n, k in outer_readable.items() if self.chance(0.5) or n in shared},
                **inner.names,
            }
            self.nonlocals = frozenset(n for n in inner.names if n not in (p, "q") and n not in shared)
            self.walked |= self.nonlocals
            self.generator = is_generator
            self.block(inner, min(budget, 2), child=False)
            self.generator = was_generator
            self.depth += 1
            if is_generator:
                self.emit(f"yield {self.item(inner, 1)}")
                self.emit(self.pick(f"yield {self.item(inner, 1)}", f"return {self.item(inner, 1)}"))
            else:
                self.emit(f"return {self.expr(self.pick('arr', 'int', 'float', 'tuple'), inner, 1)}")
            self.depth -= 1
            self.in_loop, self.loops, self.in_finally, self.nonlocals, self.parameters, self.walked = saved
            self.functions -= 1
            if is_generator:
                result = self.fresh()
                call = f"{name}({self.expr(self.pick('int', 'arr'), b, 1)})"
                self.emit(
                    self.pick(
                        f"{result} = list({call})",
                        f"{result} = [*{call}]",
                        f"{result} = [next({call})]",
                        f"{result} = [(z, 1) for z in {call}]",
                        f"{result} = list(zip({call}, range(1)))",
                    )
                )
                b.names[result] = "list"
                return
        for _ in range(self.rng.randrange(1, 3)):
            result = self.fresh()
            self.emit(f"{result} = {name}({self.expr(self.pick('int', 'arr'), b, 1)}{self.pick('', ', 2', ', q=3')})")
            b.names[result] = self.pick("arr", "float")
        if self.chance(0.15):
            self.escaping.append(name)
            b.names[name] = "func"

    def leave(self, b, budget):
        if self.in_loop and self.chance(0.7):
            self.emit(self.pick("break", "continue"))
        elif self.in_finally and self.chance(0.7):
            self.emit("pass")
        elif self.chance(0.5):
            self.emit(self.raising(b))
        elif self.functions == 0 or (self.functions > 0 and not self.generator and self.chance(0.3)):
            self.emit(f"return {self.pick('None', self.item(b, 1), self.expr('tuple', b, 1))}")

    # ---- the module ----

    def klass(self, number):
        name = f"P{number}"
        base = self.pick("", *[f"({c})" for c in self.classes]) if self.classes else ""
        style, options = self.pick("plain", "plain", "plain", "dataclass", "slots"), ""
        if base:
            style = "plain"
        if style == "dataclass":
            options = self.pick("", "(eq=False)", "(order=True)")
            self.emit(f"@dataclasses.dataclass{options}")
        self.emit(f"class {name}{base}:")
        self.depth += 1
        self.emit(f"shared = {self.pick('1', '2.5', '[1]' if style != 'dataclass' else '3')}")
        if style == "plain" and self.chance(0.4):
            self.emit("both = Both()")
        if style == "dataclass":
            self.emit("x: object")
            self.emit("y: float = 0.5")
            self.emit("count: int = 0")
        else:
            if style == "slots":
                self.emit("__slots__ = ('x', 'y', 'count', 'fixed')")
            if not base or self.chance(0.5):
                self.emit("def __init__(self, x, y=0.5):")
                if base:
                    self.emit("    super().__init__(x, y)")
                self.emit("    self.x, self.y = x, y")
                self.emit("    self.count = 0")
        self.emit("def scale(self, a):")
        self.emit(f"    return {self.pick('a * self.x', 'a + self.y', 'np.sqrt(a) * 2', 'self.x')}")
        self.emit("def bump(self, by=1):")
        self.emit(
            self.pick(
                "    self.count += by",
                "    self.count = self.count + by\n" + "    " * self.depth + "    LOG.append(self.count)",
            )
        )
        self.emit(f"    return {self.pick('self', 'self.count', 'None')}")
        self.emit("def again(self):")
        self.emit("    return type(self)(self.x)")
        self.emit("@classmethod")
        self.emit("def make(cls, x):")
        self.emit("    return cls(x)")
        self.emit("@staticmethod")
        self.emit(f"def plain(x, y={self.pick('1', '0.5')}):")
        self.emit(f"    return {self.pick('x', '[x, y]', 'x is y')}")
        self.emit("@property")
        self.emit("def twice(self):")
        self.emit("    return self.x * 2")
        if self.chance(0.5) and style != "slots":
            self.emit("@twice.setter")
            self.emit("def twice(self, value):")
            self.emit("    self.x = value")
        for text, p in (
            (
                "def __add__(self, other):\n    return type(self)(self.x + (other.x if isinstance(other, type(self)) else other))",
                0.85,
            ),
            (
                "def __eq__(self, other):\n    LOG.append('eq')\n    return isinstance(other, type(self)) and self.y == other.y",
                0.3,
            ),
            ("def __bool__(self):\n    LOG.append('bool')\n    return self.count > 0", 0.2),
            ("def __len__(self):\n    return 2", 0.2),
            ("def __getattr__(self, name):\n    LOG.append(name)\n    raise AttributeError(name)", 0.12),
            ("def __repr__(self):\n    return f'<{self.count}>'", 1.0),
            ("def __call__(self, z):\n    self.y = z\n    return z", 0.7),
            ("def __getitem__(self, i):\n    return (self.x, self.y)[i]", 0.3),
            ("def __iter__(self):\n    yield self.x\n    yield self.y", 0.2),
            ("def __lt__(self, other):\n    return self.count < other.count", 0.2),
            ("def __radd__(self, other):\n    LOG.append('radd')\n    return type(self)(other)", 0.3),
            ("def __rmul__(self, other):\n    return other * self.x", 0.2),
            ("def __iadd__(self, other):\n    self.x = self.x + other\n    return self", 0.3),
            ("def __contains__(self, item):\n    return item == self.y", 0.2),
            ("def __setitem__(self, i, value):\n    LOG.append(i)\n    self.y = value", 0.2),
            ("def __float__(self):\n    return 2.5", 0.15),
            ("def __index__(self):\n    return 1", 0.1),
            ("def __enter__(self):\n    self.count += 1\n    return self", 0.3),
            (
                "def __exit__(self, *error):\n    LOG.append(error[0] and error[0].__name__)\n    return self.count > 2",
                0.3,
            ),
            ("def __neg__(self):\n    return -self.x", 0.2),
            ("def __getattribute__(self, name):\n    return object.__getattribute__(self, name)", 0.03),
            ("def __del__(self):\n    LOG.append('del')", 0.06),
            (
                "def __setattr__(self, name, value):\n    LOG.append(name)\n    object.__setattr__(self, name, value)",
                0.08,
            ),
            ("def __hash__(self):\n    LOG.append('hash')\n    return 1", 0.1),
        ):
            if self.chance(p) and not ("order" in options and "__lt__" in text):
                for line in text.split("\n"):
                    self.emit(line)
        self.depth -= 1
        self.emit("")
        self.classes.append(name)

    def helper(self, number):
        name = f"h{number}"
        self.emit(f"def {name}(x, y=2, *rest, k=1, **more):")
        b = Block({"x": self.pick("arr", "arr", "float"), "y": "int", "k": "int", "rest": "tuple"})
        self.parameters = tuple(b.names)
        self.functions = 1  # no walrus into comprehensions, no returns from within
        self.block(b, 1, child=False)
        self.depth += 1
        self.emit(f"return {self.expr(self.pick('arr', 'arr', 'float', 'tuple'), b, 1)}")
        self.depth -= 1
        self.functions = 0
        self.emit("")
        self.helpers.append(name)

    def function(self, name):
        self.escaping, self.nonlocals, self.parameters = [], frozenset(), ()
        extra = self.pick("", ", *args", ", **kw", ", x=1.5", ", *, k=2")
        self.emit(f"def {name}(a, n, o{extra}):")
        b = Block({"a": "arr", "n": "int", "o": self.object_kind})
        if "x=" in extra:
            b.names["x"] = "float"
        if "k=" in extra:
            b.names["k"] = "int"
        if "*args" in extra:
            b.names["args"] = "tuple"
        self.parameters = tuple(b.names)
        self.depth += 1
        self.emit("global G, H, NEW")
        self.depth -= 1
        self.nonlocals = frozenset()
        self.depth += 1
        for _ in range(self.rng.randrange(3, 9)):
            self.statement(b, 3)
        results = [n for n in b.names if self.chance(0.6)] + [n for n in b.maybe if self.chance(0.03)]
        self.emit(
            f"return {', '.join(results)}{',' if len(results) == 1 else ''}" if results else f"return {self.item(b, 1)}"
        )
        self.depth -= 1
        self.emit("")
        self.others.append(name)

    def argument(self, kind):
        return self.pick(
            *{
                "arr": (
                    "A(4)",
                    "A(3)",
                    "A(5)",
                    "A(4, 'i8')",
                    "A(4, 'f8', -2)",
                    "A(3) > 2",
                    "M(2, 3)",
                    "A(8)[::2]",
                    "M(2, 3).T",
                    "A(1)",
                    "A(4)",
                    "A(4)",
                    "A(0)",
                    "A(4, 'f4')",
                    "XA",
                    "XB",
                    "XM",
                    "XA[::-1]",
                ),
                "int": ("0", "1", "2", "3", "3", "5", "-1", "True", "2.5"),
                "obj": (self.leaf("obj"),),
                "list": ("[1, 2]", "[1.5, A(3)]", "[]", "W", "[XA, XB]"),
                "dict": ("{'a': 1}", "{}", "{'a': A(3), 3: 4}", "TABLE"),
                "tuple": ("(1, 2)", "(A(3), 2.5)", "(XA, XA[1:])"),
            }[kind]
        )

    def calls(self, name):
        found, head = [], "" if name == "f" else f"{name} "
        base = [self.argument("arr"), self.argument("int"), self.argument(self.object_kind)]
        for _ in range(self.rng.randrange(2, 5)):
            row = list(base)
            if found and self.chance(0.6):
                k = self.rng.randrange(3)
                row[k] = self.argument(("arr", "int", self.object_kind)[k])
            elif found and self.chance(0.1):
                row[self.rng.randrange(3)] = self.pick("None", "'s'", "1.5", "np.float64(2.5)")
            found.append(f"{head}({', '.join(row)})")
        if self.chance(0.15):
            found.append(f"{head}(lambda q: (q, 2, {self.pick('[q, q[1:]]', '(q, q)', '{repr(1): q}')}))(A(4))")
        return found

    def program(self):
        """(source, calls, names of the functions)"""
        for n in range(self.rng.randrange(1, 3)):
            self.klass(n)
        for n in range(self.rng.randrange(0, 3)):
            self.helper(n)
        self.object_kind = self.pick("obj", "obj", "list", "dict", "tuple")
        names = ["f", "f1", "f2", "f3"][: self.rng.randrange(2, 5)]
        calls = []
        for name in names:
            self.pure = self.chance(0.2)
            self.function(name)
            calls += self.calls(name)
        if self.chance(0.2):  # once more, in a world that the others have changed
            calls += self.rng.sample(calls, 2)
        return "\n".join(self.lines) + "\n", calls, names


@functools.lru_cache(16)
def code_of(source):
    return compile(source, FILE, "exec")


def generate(seed):
    """(source that defines the functions behind PRELUDE, [function's name and text of a tuple of arguments, ...], [names of the functions])

    The grammar does not know every rule of scopes (a name may be annotated in one branch and declared nonlocal in another): a program that CPython refuses makes room for the next."""
    for attempt in itertools.count():
        source, calls, names = Generator(seed if attempt == 0 else f"{seed} again {attempt}").program()
        try:
            code_of(source)
        except SyntaxError:
            continue
        return source, calls, names
