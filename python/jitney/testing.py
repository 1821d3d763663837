"""Whether two results are the same, as strictly as jitney promises it.

Same means: Python type, dtype, shape, strides, ownership and every bit, where a NaN is a NaN (its sign and payload are
not promised); containers item by item; for a whole call also the exception, the warnings, what became of the arguments, and
which results are views of which arguments.
"""

import copy
import struct
import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np


def difference(a, b, where="result"):
    """The first difference between eager's `a` and jitney's `b` as a sentence, or None."""
    if type(a) is not type(b):
        return f"{where}: type {type(a).__name__} against {type(b).__name__}"
    if isinstance(a, np.ndarray):
        return _arrays(a, b, where)
    if isinstance(a, np.generic):
        return _numbers(np.asarray(a), np.asarray(b), where)
    if isinstance(a, float):
        return None if a != a and b != b or _bits(a) == _bits(b) else f"{where}: {a!r} against {b!r}"
    if isinstance(a, complex):
        return difference((a.real, a.imag), (b.real, b.imag), where)
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{where}: keys {list(a)} against {list(b)}"
        return _first(difference(a[key], b[key], f"{where}[{key!r}]") for key in a)
    if isinstance(a, (tuple, list)):
        if len(a) != len(b):
            return f"{where}: {len(a)} items against {len(b)}"
        return _first(difference(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True)))
    return None if a is b or a == b else f"{where}: {a!r} against {b!r}"


def same(a, b):
    """Whether nothing but a clock can tell the two apart."""
    return difference(a, b) is None


def _first(answers):
    return next((answer for answer in answers if answer is not None), None)


def _bits(number):
    return struct.pack("<d", number)


def _arrays(a, b, where):
    for what in ("dtype", "shape", "strides"):
        x, y = getattr(a, what), getattr(b, what)
        if x != y:
            return f"{where}: {what} {x} against {y}"
    if a.dtype.num != b.dtype.num or a.dtype.char != b.dtype.char:  # long and long long compare equal
        return f"{where}: type number {a.dtype.num} against {b.dtype.num}"
    for flag in ("writeable", "owndata"):
        if getattr(a.flags, flag) != getattr(b.flags, flag):
            return f"{where}: {flag} {getattr(a.flags, flag)} against {getattr(b.flags, flag)}"
    return _numbers(a, b, where)


def _numbers(a, b, where):
    if a.dtype != b.dtype:
        return f"{where}: dtype {a.dtype} against {b.dtype}"
    if a.dtype.hasobject:
        return _first(difference(x, y, where) for x, y in zip(a.flat, b.flat, strict=True))
    unequal = _unequal(a, b)
    if not unequal.any():
        return None
    at = tuple(int(i) for i in np.argwhere(unequal)[0])
    text = f"{where}{list(at) if at else ''}: {a[at]!r} against {b[at]!r}"
    return f"{text} ({int(unequal.sum())} of {a.size} elements differ)"


def _unequal(a, b):
    """Elements that differ in a bit; NaN equals NaN, and in a complex number part by part."""
    if a.dtype.kind == "c":
        return _unequal(a.real, b.real) | _unequal(a.imag, b.imag)
    if a.dtype.char == "g":  # 80 bits in 128: the padding is nobody's
        return ~((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b))
    raw = [np.ascontiguousarray(x).reshape(x.shape).view(f"V{x.dtype.itemsize}") for x in (a, b)]
    if a.dtype.itemsize in (1, 2, 4, 8):
        raw = [x.view(f"u{a.dtype.itemsize}") for x in raw]
    unequal = np.asarray(raw[0] != raw[1])
    return unequal & ~(np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else unequal


def fresh(arguments):
    """A deep copy in which every array keeps its strides, and arrays that shared memory share it again."""
    memo, bases = {}, {}

    def root(array):
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array

    def walk(value):
        if type(value) is np.ndarray and not value.dtype.hasobject:
            if id(value) not in memo:
                base = root(value)
                dense = base.flags.c_contiguous or base.flags.f_contiguous
                if not dense or base.nbytes == 0 or value.dtype.isbuiltin != 1:
                    memo[id(value)] = copy.copy(value)
                else:
                    if id(base) not in bases:
                        bases[id(base)] = base.copy("K")
                    offset = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
                    store = bases[id(base)].reshape(-1, order="A").view(np.uint8)
                    view = np.ndarray(value.shape, value.dtype, store, offset, value.strides)
                    view.flags.writeable = value.flags.writeable
                    memo[id(value)] = bases[id(base)] if value is base else view
            return memo[id(value)]
        if type(value) in (list, tuple):
            return type(value)(walk(item) for item in value)
        if type(value) is dict:
            return {key: walk(item) for key, item in value.items()}
        return copy.deepcopy(value, memo)

    return walk(arguments)


@dataclass
class Outcome:
    """All that a call left behind."""

    value: object = None
    exception: tuple | None = None
    warnings: list = field(default_factory=list)
    arguments: tuple = ()
    keywords: dict = field(default_factory=dict)


def outcome(function, *args, **kwargs):
    """Calls with every warning recorded; exceptions and warnings with the user's line."""
    result = Outcome(arguments=args, keywords=kwargs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result.value = function(*args, **kwargs)
        except Exception as error:
            frames = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[1:]]
            result.exception = (type(error).__name__, str(error), frames[-1:])
    result.warnings = [(w.category.__name__, str(w.message), w.filename, w.lineno) for w in caught]
    return result


def _views(result):
    """For every array in the value and every array in the arguments that it overlaps: where in it the view begins."""
    arguments = list(_leaves((result.arguments, result.keywords)))
    found = []
    for i, array in enumerate(_leaves(result.value)):
        for k, argument in enumerate(arguments):
            if np.may_share_memory(array, argument):
                at = [x.__array_interface__["data"][0] for x in (array, argument)]
                found.append((i, k, at[0] - at[1], array is argument))
    return found


def _leaves(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))


def outcome_difference(a, b):
    """The first difference between two outcomes as a sentence, or None."""
    return (
        difference(a.exception, b.exception, "exception")
        or difference(a.value, b.value)
        or difference(a.warnings, b.warnings, "warnings")
        or difference(a.arguments, b.arguments, "argument")
        or difference(a.keywords, b.keywords, "argument")
        or difference(_views(a), _views(b), "views (result, argument, offset, same object)")
    )


def differs(eager, compiled, *args, **kwargs):
    """Calls both on fresh copies of the arguments: the first difference as a sentence, or None."""
    runs = []
    for function in (eager, compiled):
        own_args, own_kwargs = fresh((args, kwargs))
        runs.append(outcome(function, *own_args, **own_kwargs))
    return outcome_difference(*runs)
