"""isinstance and issubclass with abstract base classes: answered while tracing, asked again when a class is registered."""

import abc
import collections
import collections.abc
import numbers

import numpy as np
import pytest

import jitney
from jitney.testing import differs

A = np.arange(4.0)


class Table(collections.abc.Mapping):
    def __init__(self, items):
        self.items_ = items

    def __getitem__(self, key):
        return self.items_[key]

    def __len__(self):
        return len(self.items_)

    def __iter__(self):
        return iter(self.items_)


class Plain:
    def __eq__(self, other):
        return type(other) is type(self)

    __hash__ = object.__hash__


def kinds(a, x):
    asked = (
        numbers.Number,
        numbers.Integral,
        collections.abc.Sequence,
        collections.abc.Mapping,
        collections.abc.Iterable,
        collections.abc.Callable,
    )
    if isinstance(x, (collections.abc.Sequence, numbers.Real)):
        a = a * 2
    return a + 1, [isinstance(x, kind) for kind in asked], [issubclass(type(x), kind) for kind in asked]


VALUES = (
    1,
    True,
    2.5,
    3j,
    "s",
    b"s",
    [1],
    {},
    {1},
    (1,),
    range(3),
    None,
    np.float64(1),
    np.int32(2),
    np.arange(3.0),
    collections.deque([1]),
    Table({}),
    Plain(),
    Plain,
    len,
)


@pytest.mark.parametrize("x", VALUES, ids=lambda x: f"{type(x).__name__}")
def test_the_answer_is_eager_s_and_the_function_compiles_whole(x):
    f = jitney.compile(kinds)
    for _ in range(3):
        assert not differs(kinds, f, A, x)
    assert not jitney.inspect(f).refusals and jitney.inspect(f).stats()["native_calls"]


def test_a_class_that_is_registered_later():
    class Late(Plain):
        pass

    class Shape(abc.ABC):
        pass

    def area(a, x):
        return a * 2 + 1 if isinstance(x, Shape) else a * 3

    f, late = jitney.compile(area), Late()
    for _ in range(2):
        assert not differs(area, f, A, late)
    Shape.register(Late)
    for _ in range(2):
        assert not differs(area, f, A, late)
    assert jitney.inspect(f).stats()["compiles"] == 2 and area(A, late)[1] == 3.0


def hooked(asked):
    class Hooked(abc.ABC):
        @classmethod
        def __subclasshook__(cls, other):
            asked.append(other.__name__)
            return NotImplemented

    return Hooked


def hooked_below(asked):
    class Above(abc.ABC):
        pass

    class Below(Above):
        @classmethod
        def __subclasshook__(cls, other):
            asked.append(other.__name__)
            return other is Plain

    Above.below = Below  # its base does not keep it alive
    return Above


def with_a_metaclass(asked):
    class Meta(abc.ABCMeta):
        def __instancecheck__(cls, x):
            asked.append("meta")
            return super().__instancecheck__(x)

    return Meta("Asked", (), {})


def question(a, x, kind):
    return (a * 2 + 1) * 3 if isinstance(x, kind) else a * 3


@pytest.mark.parametrize("make", (hooked, hooked_below, with_a_metaclass))
def test_code_of_the_program_s_is_called_as_often_as_eager_calls_it(make):
    eager_asked, asked = [], []
    eager_kind, kind = make(eager_asked), make(asked)
    f = jitney.compile(question)
    for x in (Plain(), 1, Plain(), 2.5, Plain):
        for _ in range(2):
            assert f(A, x, kind).tobytes() == question(A, x, eager_kind).tobytes()
            assert asked == eager_asked
    assert asked
