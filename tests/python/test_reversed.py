"""reversed() of dicts, their views, deques and instances: order, what changes under way, and the iterator that is handed on."""

import collections
import copy

import numpy as np
import pytest

import jitney

A = np.arange(4.0)
D = {1: 2.0, 3: 4.0, 5: 6.0}
Q = collections.deque([1.0, 2.0, 3.0])


class Backwards:
    def __init__(self, scale):
        self.scale = scale

    def __reversed__(self):
        for k in (3, 2, 1):
            yield k * self.scale


def whole(a, x):
    s = 0.0
    for k in reversed(x):
        s = s * 2 + k
    return a * s + 1


def views(a, d):
    s = 0.0
    for k, v in reversed(d.items()):
        s = s * 2 + k * v
    for v in reversed(d.values()):
        s = s * 3 + v
    for k in reversed(d.keys()):
        s = s * 3 + k
    return a * s + 1


def begun(a, x):
    it = reversed(x)
    b = a * next(it) + 1
    return b * 2, it


def begun_items(a, d):
    it = reversed(d.items())
    b = a * next(it)[0] + 1
    next(it, None)
    return b * 2, it


def grows(a, x):
    it = reversed(x)
    b = a * next(it) + 1
    x.append(3.0)
    try:
        next(it)
    except RuntimeError as error:
        return b * 2, str(error), next(it, None), list(it)


def grows_at_the_end(a, x):
    it = reversed(x)
    b = a * 2 + 1
    for _ in it:
        pass
    x.append(3.0)
    return b * 2, next(it, None)


def dict_grows(a, d):
    it = reversed(d)
    b = a * next(it) + 1
    d[77] = 3.0
    said = []
    for _ in range(2):
        try:
            next(it)
        except RuntimeError as error:
            said.append(str(error))
    return b * 2, said


def dict_is_stored_to(a, d):
    it = reversed(d.items())
    b = a * next(it)[0] + 1
    d[1] = 33.0
    return b * 2, list(it)


def picture(result):
    if isinstance(result, tuple):
        return tuple(picture(item) for item in result)
    return (type(result).__name__, list(result)) if hasattr(result, "__next__") else repr(result)


@pytest.mark.parametrize(
    "f, x",
    [
        *(
            (whole, x)
            for x in (
                D,
                {},
                Q,
                collections.deque(),
                collections.deque([1.0, 2.0], 2),
                collections.defaultdict(list, D),
                Backwards(2.0),
            )
        ),
        *((f, D) for f in (views, begun, begun_items, dict_grows, dict_is_stored_to)),
        *((f, Q) for f in (begun, grows, grows_at_the_end)),
        (begun_items, {1: 2.0}),
    ],
    ids=lambda v: getattr(v, "__name__", type(v).__name__),
)
def test_reversed(f, x):
    compiled = jitney.compile(f)
    for _ in range(3):
        assert picture(f(A, copy.deepcopy(x))) == picture(compiled(A, copy.deepcopy(x)))
    assert not jitney.inspect(compiled).refusals and jitney.inspect(compiled).stats()["native_calls"] == 3
