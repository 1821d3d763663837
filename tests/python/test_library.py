"""Builtins and the pure parts of the library, one expression a row: compiled without a break, and like eager."""

import copy  # noqa: F401  the rows are text
import functools  # noqa: F401
import math  # noqa: F401
import operator
import typing  # noqa: F401

import numpy as np
import pytest

import jitney

A = np.arange(4.0)
GET = operator.itemgetter(1)
NAMES = operator.attrgetter("ndim", "shape")

ROWS = [
    "abs(-3), abs(a - 2)",
    "all([1, 2, 0]), any(x > 2 for x in [1, 2, 3])",
    "bin(5), hex(255), oct(8), chr(65), ord('a'), ascii('ä'), repr((1, 'a')), format(2.5, '.3f')",
    "bool([]), bool(a.ndim), bytes(2), complex(1, 2), float('1.5'), int('12'), int('ff', 16), str(2.5), str(b'ab', 'ascii')",
    "callable(len), isinstance(3, (int, str)), issubclass(bool, int), type(1), type(a)",
    "dict(a=1), dict([('k', 2)]), dict.fromkeys('ab', 1), dict(zip('ab', (1, 2)), c=3)",
    "divmod(7, 2), pow(2, 5), round(2.567, 2), round(2.5)",
    "hash('a'), hash((1, 2)), hash(2.5)",
    "frozenset([1, 2]), set('abc') == {'a', 'b', 'c'}, tuple(x for x in [1]), list(range(3)), list('ab')",
    "getattr(a, 'ndim'), hasattr(a, 'shape'), getattr('x', 'upper')()",
    "len([1, 2]), len('abc'), len({1: 2}), len(range(3)), len({1, 2})",
    "max([3, 1], key=operator.neg), min([], default=4), min((1, 2), key=lambda v: -v), max(3, 1, 2), min('b', 'a')",
    "sorted([3, 1, 2], reverse=True), sorted([(1, 3), (2, 1)], key=GET), sorted('bca', key=str.upper)",
    "sorted([a, a.reshape(2, 2)], key=lambda v: -v.ndim)",
    "sum([1, 2]), sum([a, a]), sum((1.5, 2), start=1)",
    "slice(1, 2).stop, list(reversed((1, 2))), list(map(len, ['a', 'bb'])), list(filter(None, [0, 1]))",
    "list(zip([1, 2], 'ab')), list(enumerate('ab')), next(iter([5])), next(iter([]), 6)",
    "math.floor(2.5), math.gcd(12, 18), math.hypot(3.0, 4.0), math.pi, math.isclose(1.0, 1.0), math.log2(8)",
    "operator.add(a, 1), operator.neg(a), operator.lt(1, 2), operator.mul(2, 3)",
    "operator.itemgetter(0, 2)([5, 6, 7]), operator.attrgetter('ndim')(a), operator.methodcaller('upper')('x'), NAMES(a), GET('xy')",
    "functools.reduce(lambda x, y: x * 2 + y, [a, a + 1, 3]), functools.reduce(operator.add, [1, 2], 10)",
    "typing.cast(int, 3), copy.copy([1, 2]), copy.copy({'a': 1}), copy.copy((1,))",
    "','.join(str(i) for i in range(3)), '{}-{x}'.format(1, x=2), 'a b'.split(), 'abc'.replace('b', 'x'), '%d %s' % (3, 'x'), '%s' % a.ndim, b'%d' % 3",
    "str.upper('ab'), list.copy([1]), list.index([3, 4], 4), int.bit_length(5), 'x'.join({'k': 1})",
    "[1, 2] + [3], (1,) * 3, [0] * 2, {'a': 1} | {'b': 2}, 'ab' * 2, [1, 2] == [1, 2], (1, 2) < (1, 3)",
    "1 in [1], 'k' in {'k': 1}, 3 in range(5), 'b' in 'abc', 1 not in {2}",
]


def run(function):
    try:
        return repr(function(A))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("text", ROWS)
def test_row(text):
    names = {}
    exec(compile(f"def row(a):\n    return {text}, a * 2 + 1\n", f"<{text}>", "exec"), globals(), names)
    compiled = jitney.compile(names["row"], fullgraph=True)
    for _ in range(2):
        assert run(names["row"]) == run(compiled)


RAISING = [
    "max([])",
    "next(iter(()))",
    "[1].remove(2)",
    "[].pop()",
    "{'a': 1}['b']",
    "[1, 2][5]",
    "(1,).index(2)",
    "functools.reduce(operator.add, [])",
    "sorted([1, 'a'])",
    "int('x')",
    "math.sqrt(-1.0)",
    "chr(-1)",
    "{1, 2}.remove(3)",
    "list(zip([1], [], strict=True))",
    "len(3)",
    "dict([(1, 2, 3)])",
    "{[]: 1}",
    "'%d' % 'x'",
    "'%d %d' % (1,)",
]


@pytest.mark.parametrize("text", RAISING)
def test_raising(text):
    names = {}
    source = f"def row(a):\n    b = a + 1\n    try:\n        {text}\n    except Exception as e:\n        return type(e), str(e), b * 2\n    return b\n"
    exec(compile(source, f"<{text}>", "exec"), globals(), names)
    compiled = jitney.compile(names["row"])
    for _ in range(2):
        assert run(names["row"]) == run(compiled)
