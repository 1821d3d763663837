"""What the symbolic interpreter traces, construct by construct, and the reason it gives where it does not."""

import collections
import dataclasses
import functools
import itertools
import math
import opcode
import operator
import sys
import threading
import types

import numpy as np
import pytest

import jitney
from jitney.testing import differs

SCALE = 2.5
COUNT = 3
FLAG = True
TABLE = {"a": 1.5, "b": 2}
PAIR = (2, 3.0)
A = np.arange(1.0, 11.0)
M = np.arange(1.0, 13.0).reshape(3, 4)
TRACED, BROKEN = [], []


def traced(*args, **kwargs):
    """The function compiles for these arguments and behaves as eager does."""

    def add(function):
        TRACED.append(pytest.param(function, args, kwargs, id=function.__name__))
        return function

    return add


def broken(reason, *args, **kwargs):
    """The function is left to CPython for this reason, and behaves as eager does."""

    def add(function):
        BROKEN.append(pytest.param(function, reason, args, kwargs, id=f"{reason}-{function.__name__}"))
        return function

    return add


# ---- names: locals, globals, cells ----


@traced(A)
def global_float(a):
    return a * SCALE


@traced(A)
def global_int_in_condition(a):
    return a + 1 if COUNT == 3 else a


@traced(A)
def global_containers(a):
    return a * TABLE["a"] + PAIR[0] * PAIR[1]


@traced(A)
def module_constant(a):
    return a * math.pi


@traced(A)
def own_cells(a):
    total = a

    def add(x):
        nonlocal total
        total = total + x
        return total

    add(1.0)
    return add(a)


def _adder(n, table):
    def add(a):
        return a + n + table[0]

    return add


TRACED.append(pytest.param(_adder(3, [1.5]), (A,), {}, id="free_variables"))


@traced(A)
def lambda_with_default(a):
    shift = lambda x, by=2: x + by  # noqa: E731
    return shift(a) * shift(a, by=3)


@traced(A)
def deleted_local(a):
    b = a + 1
    c = b * 2
    del b
    return c


@traced(A)
def walrus(a):
    return (b := a + 1) * b


@traced(A)
def chained_assignment(a):
    b = c = a * 2
    return b, c


# ---- conditions and loops ----


@traced(A, 5)
def conditions(a, n):
    if n > 3 and not n == 4 or FLAG is None:
        a = a + 1
    elif n:
        a = a + 2
    return a * 2 if 1 < n <= 5 else a


@traced(A, None)
def none_argument(a, b):
    if b is None:
        return a + 1
    return a + b


@traced(A, 4)
def while_loop(a, n):
    while n:
        a = a * 2
        n -= 1
        if n == 1:
            break
    else:
        a = a + 100
    return a


@traced(A)
def for_with_else(a):
    for i in range(5):
        if i % 2:
            continue
        if i > 10:
            break
        a = a + i
    else:
        a = a - 1
    return a


@traced(A)
def zips(a):
    out = a
    for i, (x, y) in enumerate(zip([1, 2, 3], (4.0, 5.0)), start=1):
        out = out + x * i - y
    for x in reversed([1, 2]):
        out = out / x
    return out


@traced(A)
def shared_iterator(a):
    it = iter([1, 2, 3, 4, 5])
    for x, y in zip(it, it):
        a = a + x * y
    return a


@traced(A)
def growing_list(a):
    items = [1, 2]
    for x in items:
        if x < 5:
            items.append(x + 2)
        a = a + x
    return a, items


@traced(M)
def rows(m):
    total = m[0]
    for row in m[1:]:
        total = total + row
    return total


@traced(M)
def size_condition(m):
    rows_, columns = m.shape
    if rows_ < columns and len(m) == rows_:
        return m + 1
    return m


@traced(A)
def comprehensions(a):
    squares = [a**2 + i for i in range(3) if i != 1]
    table = {k: a * v for k, v in TABLE.items()}
    return squares, table, sum(x for x in squares), [y + 1 for x in squares for y in [x, x]]


@traced(A)
def generators(a):
    def steps(n):
        for i in range(n):
            yield a + i
        yield a

    first, *others = steps(3)
    return first, others, next(x for x in steps(2)), tuple(steps(1))


@traced(A)
def unfinished_generator(a):
    log = []

    def numbers():
        for i in range(5):
            log.append(i)
            yield i

    for i in numbers():
        a = a + i
        if i == 2:
            break
    return a, log


@traced(A)
def asserts(a):
    assert a.ndim == 1, "one axis"
    return a + 1


@traced(A)
def try_without_exception(a):
    try:
        b = a + 1
    except ValueError:
        b = a
    finally:
        c = a * 2
    return b + c


# ---- containers ----


@traced(A, (A, [A, 2.0]), {"k": A, "n": 3})
def structured_arguments(a, pair, table):
    x, (y, z) = pair
    return a + x * y * z, table["k"] + table["n"], len(pair)


@traced(A)
def unpacking(a):
    (x, y), *rest, z = [(a, 2), 3, 4, a * 2]
    return x * y + z, rest, [*rest, *(1, 2)], {**TABLE, "c": a}


@traced(M)
def array_unpacking(m):
    x, y, z = m
    return x + y - z


@traced(A)
def lists(a):
    items = [a]
    items.append(a + 1)
    items.extend([1, 2])
    items.insert(1, a * 2)
    last = items.pop()
    items[0] = items[-1]
    items += (5,)
    del items[1]
    items.reverse()
    return items, last, items[1:], items.index(5), items * 2, [1] + [2], a + 1


@traced(A)
def dicts(a):
    table = {"x": a, 2: a + 1}
    table["y"] = table.get("x") + table.get("z", 1)
    table.update({"w": 1})
    table.setdefault("v", a)
    gone = table.pop(2)
    keys = [k for k in table]
    return table, gone, keys, list(table.values()), "x" in table, 3 not in table, list(table.items()), dict(table, q=a)


@traced(A)
def tuples(a):
    t = (1, 2) + (3,) * 2
    return t, t[1:], t[-1], (1, 2) < (1, 3), t == (1, 2, 3, 3), t.count(3), a + 1, a.shape + (2,)


@traced(A)
def identity_of_results(a):
    b = a + 1
    return b, [b, b], a


@traced(A)
def slices(a):
    s = slice(1, None, 2)
    return a[s], a[::-1], a[1:-1] + 1, s.start, s


@traced(A)
def membership(a):
    return a + 1, 2 in (1, 2), "a" in "abc", 3 in [1, 2], 4 in range(0, 8, 2), 1 in {1, 2}, 1.0 in {1: 2}


@traced(A)
def constant_text(a):
    name = "x"
    return a + 1, f"{name}-{2:03d}-{1.5!r}", "a,b".split(","), name.upper() + "%d" % 3


# ---- calls ----


def _helper(x, y=2, *rest, z=3.0, **others):
    for r in rest:
        x = x + r
    for v in others.values():
        x = x - v
    return x * y + z


@traced(A)
def argument_binding(a):
    args, kwargs = (a, 1), {"z": 2.0}
    return _helper(a), _helper(a, 1), _helper(a, z=1.0), _helper(a, 1, a, 4, q=a), _helper(*args, **kwargs), _helper(x=a, y=4)


@traced(A, a=A)
def keyword_parameters(x, *more, a, b=2, **others):
    return x * a + b, more, others


def _positional(x, /, y):
    return x - y


@traced(A)
def positional_only(a):
    return _positional(a, y=1)


def _twice(f):
    @functools.wraps(f)
    def run(*args, **kwargs):
        return f(f(*args, **kwargs))

    return run


@_twice
def _plus_one(a):
    return a + 1


@traced(A)
def decorated_callee(a):
    return _plus_one(a)


@jitney.compile
def _compiled(a):
    return a * 3


@traced(A)
def compiled_callee(a):
    return _compiled(a) + 1


def _factorial(n):
    return 1 if n <= 1 else n * _factorial(n - 1)


@traced(A)
def recursion(a):
    return a * _factorial(5)


class Model:
    rate = 0.5

    def __init__(self):
        self.weight = np.arange(1.0, 11.0)
        self.bias = 2.0
        self.steps = 2

    def step(self, a, scale=1.0):
        return a * self.weight * self.rate + self.bias * scale

    @staticmethod
    def shift(a):
        return a + 1

    def run(self, a):
        for _ in range(self.steps):
            a = self.step(a)
        return self.shift(a)

    def writes_attribute(self, a):
        self.bias = 3.0
        return a


class Slots:
    __slots__ = ("x",)

    def __init__(self):
        self.x = 4.0


MODEL, SLOTS, LOCK = Model(), Slots(), threading.Lock()


@traced(A)
def methods(a):
    return MODEL.run(a) + SLOTS.x + Model.rate + Model.shift(a)


@traced(A)
def builtins_on_known_values(a):
    numbers = [3, 1, 2]
    return (
        a + max(numbers) + min(1, 2),
        sorted(numbers),
        sum(numbers),
        sum([0.1, 0.2, 0.3]),
        abs(-2),
        divmod(7, 2),
        pow(2, 5),
        round(2.567, 2),
        int("12"),
        float("1.5"),
        bool([]),
        all([1, 2]),
        any([]),
        list(map(lambda x: x + 1, numbers)),
        list(filter(None, [0, 1])),
        set([1, 1]) is None,
        isinstance(a, np.ndarray),
        isinstance(2, (float, str)),
        type(a) is np.ndarray,
        callable(len),
        len("abc"),
        hasattr(a, "shape"),
        getattr(a, "ndim"),
        chr(97),
        math.sqrt(2.0),
        math.floor(2.5),
        operator.add(1, 2),
    )


@traced(A)
def operator_module(a):
    return operator.mul(a, 2), operator.neg(a), operator.lt(a, 3.0)


# ---- memory: views, writes, who is who ----


@traced(M)
def rows_in_place(m):
    for row in m:
        row *= 2
    return m


@traced(A)
def view_of_written(a):
    view = a[1:]
    a[2] = 5
    return view + 1, view, a


@traced(A)
def view_of_fresh(a):
    b = a.copy()
    view = b[::2]
    view += 1
    b[0] = 100
    return b, view, a


@traced(M)
def transposed_write(m):
    t = m.T
    t[0] = 7
    m[0, 0] = 3
    return t, m.sum(), t[0] + 1


@traced(A, A)
def one_array_twice(a, b):
    a[0] = 9
    return b + 1


@traced(A, 2)
def filled_by_element(a, n):
    out = np.zeros(5)
    for i in range(5):
        out[i] = a[i] * n
    return out


@traced(A)
def swapped(a):
    b = a + 1
    a, b = b, a
    return a, b


# ---- more of the language ----


Pair = collections.namedtuple("Pair", "x y")


@dataclasses.dataclass
class Settings:
    x: float = 2.0
    n: int = 3


@traced(A, Pair(2.0, 3), Settings())
def small_objects(a, pair, settings):
    return a * pair.x + pair.y - settings.x * settings.n


@traced(A)
def cells_of_two_closures(a):
    def outer(k):
        count = 0

        def inner(x):
            nonlocal count
            count += 1
            return x * k + count

        return inner

    f, g = outer(2), outer(3)
    return f(a), g(a), f(a), g(a)


@traced(A)
def match_on_values(a):
    match a.ndim:
        case 0:
            return a
        case 1:
            return a + 1
        case _:
            return a + 2


@traced(A)
def stars(a):
    def f(*args, **kwargs):
        return args, kwargs

    (x, y), named = f(a, *[a + 1], **{"z": a}, w=1)
    return x, y, named


@traced(A)
def boolean_values(a):
    x = None or a
    return x + 1, 0 or [] or {}, a.ndim and a.size and 3, not a.ndim, a is x, a is not None


@traced(A)
def nested_try(a):
    try:
        try:
            return a + 1
        finally:
            b = a * 2
    except ValueError:
        return b


# ---- numbers that are not known ----


@traced(A, 2.0)
def float_arithmetic(a, x):
    y = (x + 1) * 3 - x / 4 + (-x) + abs(x)
    return a * y, y


@traced(A, 2.0)
def float_condition(a, x):
    if x > 1.5:
        return a * math.exp(x)
    return a


@traced(A)
def sizes(a):
    n = a.shape[0]
    return a * n, n // 2 + n % 3 - 1, n / 4, -n, n * 1.5, n == 10, max(n, 3)


@traced(A, np.float64(2.0))
def numpy_scalar(a, x):
    return a * x, x + 1, x * x


@traced(A, 3, True)
def ints_and_bools(a, n, flag):
    return a * n + flag, n**2, n << 1, n & 1, ~n, n / 2, not flag


@pytest.mark.parametrize("function, args, kwargs", TRACED)
def test_traced(function, args, kwargs):
    compiled = jitney.compile(function)
    for _ in range(3):
        assert differs(function, compiled, *args, **kwargs) is None
    assert jitney.inspect(compiled).refusals == []
    assert jitney.inspect(compiled).stats()["compiles"] == 1


# ---- breaks ----

_SPACE = {}  # pytest rewrites the asserts of this file
exec(compile("def fails_assertion(a):\n    assert a.ndim == 2\n    return a", __file__, "exec"), _SPACE)
broken("RAISE", A)(_SPACE["fails_assertion"])


@broken("RAISE", A)
def raises(a):
    raise ValueError("no")


@broken("EXCEPTION_HANDLING", A)
def uses_with(a):
    with LOCK:
        return a + 1


@broken("IMPORT", A)
def imports(a):
    try:
        import a_module_that_is_not_there  # noqa: F401
    except ImportError:
        pass
    return a + 1


_elsewhere = {"np": np, "__builtins__": __builtins__}
exec(compile("def stores(x):\n    global kept\n    kept = x\n    return x", __file__, "exec"), _elsewhere)
_stores = _elsewhere["stores"]


@broken("STORE_GLOBAL", A)
def stores_global(a):
    return _stores(1) + a


def _counter():
    n = 0

    def count(a):
        nonlocal n
        n += 1
        return a + 1

    return count


_count = _counter()


@broken("STORE_CELL", A)
def calls_counter(a):
    return _count(a) * 2


@broken("STORE_ATTR", A)
def stores_attribute(a):
    Model.rate = 0.5
    return a + 1


@broken("UNBOUND", A)
def unbound(a):
    if COUNT == 2:
        b = a
    return b


@broken("UNBOUND", A)
def unknown_global(a):
    return a + no_such_name  # noqa: F821


@broken("DELETE_PARAMETER", A, MODEL)
def deletes_parameter(a, model):
    del model
    return a + 1


@broken("DATA_BRANCH", A)
def branches_on_data(a):
    return a if a[0] > 0 else -a


@broken("DATA_VALUE", A)
def counts_by_data(a):
    return [a for _ in range(len([1]) + (a.sum() > 0))]


@broken("LOOP_TOO_LONG", A)
def long_loop(a):
    for _ in range(20000):
        a = np.broadcast_to(a, (10,)) + 1.0
    return a


def _forever(n):
    return n if n == 0 else _forever(n - 1)


@broken("TOO_DEEP", A)
def deep_recursion(a):
    return a + _forever(200)


@broken("NOTHING_TO_COMPILE", 1, 2)
def only_ints(a, b):
    return a + b


@broken("RAISES", A)
def divides_by_zero(a):
    return a + 1 // (COUNT - 3)


@broken("RAISES", A)
def bad_index(a):
    return a + PAIR[5]


@broken("UNKNOWN_CALL", A)
def prints(a):
    print(end="")
    return a + 1


@broken("BAD_ARGUMENTS", A)
def wrong_arguments(a):
    return _positional(a)


@broken("BAD_ARGUMENTS", A)
def doubled_argument(a):
    return _helper(a, x=a)


@jitney.disable
def _left_alone(a):
    return a + 1


@broken("DISABLED", A)
def calls_disabled(a):
    return _left_alone(a)


@broken("UNKNOWN_ATTRIBUTE", A)
def dictionary_of_object(a):
    return a + MODEL.__dict__["bias"]



@broken("UNKNOWN_ITEM", A)
def object_subscript(a):
    return a + types.MappingProxyType({"k": 1})["k"] if FLAG is None else a + MODEL_TABLE["k"]


MODEL_TABLE = types.MappingProxyType({"k": 1})


@broken("UNKNOWN_ITERATION", A)
def iterates_object(a):
    for k in MODEL_TABLE:
        a = a + len(k)
    return a


@broken("UNKNOWN_OPERAND", A)
def object_operand(a):
    return a + (MODEL_TABLE | {})["k"]


@broken("SCALAR_OP", A, 2.0)
def computed_power(a, x):
    return a * ((x + 1) % 2.0)


@broken("STORE_CONTAINER", A, [object()])
def drops_from_argument(a, items):
    items[0] = 1
    return a + 1


@broken("STORE_CONTAINER", A, [3, "x", 1])
def sorts_what_has_no_order(a, items):
    try:
        items.sort()
    except TypeError:
        pass
    return a + 1


@broken("FORMAT", A)
def formats_data(a):
    return f"{a.sum()}"


@broken("RESULT", A)
def returns_function(a):
    b = a + 1
    return (lambda: b)()[0:1], [x for x in b[:2]], zip(b, [1], strict=True)


class _Unregistered:
    pass


@broken("MATCH", A)
def matches(a):
    match _Unregistered():
        case [x]:
            return a + x
    return a + 1


@broken("CLASS_BODY", A)
def defines_class(a):
    class Local:
        x = 1

    return a + Local.x


@broken("GENERATOR", A)
def closes_a_chain(a):
    def inner():
        try:
            yield 1
        finally:
            TABLE["closed"] = 1

    def outer():
        yield from inner()

    g = outer()
    next(g)
    g.close()
    return a + TABLE.pop("closed")


async def _coroutine():
    return 1


@broken("ASYNC", A)
def makes_coroutine(a):
    _coroutine().close()
    return a + 1


@broken("ARRAY_KIND", np.arange(3).astype("U3"))
def text_array(a):
    return a == "1"


def _with_bad_tail(function):
    """Behind the last return, where no one comes: a jump out of the code."""
    code = function.__code__.co_code + bytes([opcode.opmap["JUMP_FORWARD"], 200])
    function.__code__ = function.__code__.replace(co_code=code)
    return function


@broken("BAD_BYTECODE", A)
@_with_bad_tail
def bad_bytecode(a):
    return a + 1


if sys.version_info >= (3, 12):
    _SPACE = {}
    exec(compile("def defines_type(a):\n    type X = int\n    return a + 1", __file__, "exec"), _SPACE)
    broken("UNKNOWN_OPCODE", A)(_SPACE["defines_type"])


@pytest.mark.parametrize("function, reason, args, kwargs", BROKEN)
def test_broken(function, reason, args, kwargs):
    compiled = jitney.compile(function)
    for _ in range(2):
        left, right = (_normal(differs(function, f, *args, **kwargs)) for f in (function, compiled))
        assert left == right
    refusal = jitney.inspect(compiled).refusals[0]
    assert refusal["name"] == reason
    assert refusal["file"].endswith("test_frontend.py")
    assert refusal["line"] > 0
    assert refusal["what"]
    assert refusal["hint"]


def _normal(text):
    """Results that eager itself does not repeat (functions, iterators) differ from call to call."""
    return None if text is None else text.partition(":")[0]


# ---- guards: a change that matters is seen ----


def test_changed_global():
    space = {"np": np, "k": 2}
    exec("def f(a):\n    return a * k", space)
    compiled = jitney.compile(space["f"])
    assert compiled(A)[0] == 2
    space["k"] = 3
    assert compiled(A)[0] == 3
    space["k"] = np.float32(4)
    assert compiled(A)[0] == 4
    del space["k"]
    with pytest.raises(NameError):
        compiled(A)


def test_shadowed_builtin():
    space = {}
    exec("def f(a):\n    return a * abs(-2)", space)
    compiled = jitney.compile(space["f"])
    assert compiled(A)[0] == 2
    space["abs"] = lambda x: 7
    assert compiled(A)[0] == 7


def test_changed_callee():
    def callee(a, k=2):
        return a * k

    def caller(a):
        return callee(a)

    compiled = jitney.compile(caller)
    assert compiled(A)[0] == 2
    callee.__defaults__ = (5,)
    assert compiled(A)[0] == 5
    callee.__code__ = (lambda a, k=2: a * k + 1).__code__
    assert compiled(A)[0] == 6


def test_changed_instance_and_class():
    class Thing:
        rate = 2.0

        def scaled(self, a):
            return a * self.rate

    thing = Thing()
    compiled = jitney.compile(lambda a: thing.scaled(a))
    assert compiled(A)[0] == 2
    Thing.rate = 3.0
    assert compiled(A)[0] == 3
    thing.rate = 4.0
    assert compiled(A)[0] == 4
    thing.scaled = lambda a: a * 9
    assert compiled(A)[0] == 9
    del thing.scaled
    Thing.scaled = lambda self, a: a * 11
    assert compiled(A)[0] == 11


def test_changed_cell_and_containers():
    k, items, table = 2, [1.0, 2.0], {"x": 3.0}

    def f(a):
        return a * k + items[1] + table["x"]

    compiled = jitney.compile(f)
    assert compiled(A)[0] == 7
    k = 3
    assert compiled(A)[0] == 8
    items[1] = 5.0
    assert compiled(A)[0] == 11
    table["x"] = 4
    assert compiled(A)[0] == 12
    items.insert(0, 1.0)
    assert compiled(A)[0] == 8


@pytest.mark.parametrize("values", [(1, True), (1, 1.0), (0.0, -0.0), ("a", "b"), (None, 1), ((1,), [1]), (2.0, float("nan"))])
def test_argument_kinds(values):
    def f(a, v):
        if v == 1:
            return a + 1, v
        return a + 2, v

    compiled = jitney.compile(f)
    for v in values + values:
        assert differs(f, compiled, A, v) is None


def test_symbolic_int():
    def f(a, n):
        return a * n + n // 2, n

    compiled = jitney.compile(f)
    for n in [3, 4, 5, 6, 7, -3, 2**40, 2**62]:
        assert differs(f, compiled, A, n) is None
    assert jitney.inspect(compiled).stats()["compiles"] <= 3


def test_python_division_raises_under_any_errstate():
    def f(a, x, y):
        return a * x, x / y

    compiled = jitney.compile(f)
    for mode in ("warn", "ignore", "raise"):
        with np.errstate(all=mode):
            for y in (2.0, 0.0, 4.0):
                assert differs(f, compiled, A, 1.0, y) is None


def test_trace_log(capfd):
    def f(a):
        scale = {"name of some length, which is cut somewhere": 2}
        for _ in range(1):
            a = a * 2 if a.ndim <= 1 else a
        return a, scale, lambda: None

    jitney.set_logs(trace_bytecode=True)
    try:
        jitney.compile(f)(A)
    finally:
        jitney.set_logs(trace_bytecode=False)
    text = capfd.readouterr().err
    for part in ("test_frontend.py", "BINARY_OP *  [", "float64[s0]", "LOAD_ATTR ndim", "COMPARE_OP <=", " to ", "STORE_FAST scale", "<code test_trace_log", "..."):
        assert part in text, part


def _straight(lines, tail="return x, y"):
    """A function of so many array operations and no loop."""
    space = {"np": np, "sys": sys, "A": A}
    exec("\n".join(["def f(x):", "    y = x + 1.0", *(f"    {'xy'[k % 2]} = x * 0.5 + y" for k in range(lines)), "    " + tail]), space)
    return space["f"]


@pytest.mark.parametrize("kind", ["operations", "instructions"])
def test_straight_code_over_the_budget_is_walked_through_once(kind, capfd):
    """The unit ends between two instructions where the budget ends: nothing of it is traced again."""
    f = _straight(40)
    limit = {"operations": "max_nodes", "instructions": "max_steps"}[kind]
    before = getattr(jitney.config, limit)
    setattr(jitney.config, limit, 50)
    jitney.set_logs(trace_bytecode=True)
    compiled = jitney.compile(f)
    try:
        assert differs(f, compiled, A) is None
    finally:
        jitney.set_logs(trace_bytecode=False)
        setattr(jitney.config, limit, before)
    lines = [line for line in capfd.readouterr().err.splitlines() if "BINARY_OP" in line]
    assert len(lines) == 2 * 40 + 1
    reasons = jitney.inspect(compiled).refusals
    assert {row["name"] for row in reasons} == {"LOOP_TOO_LONG"} and all(f"more than 50 {kind}" == row["detail"] for row in reasons)
    assert jitney.inspect(compiled).stats()["native_calls"] and jitney.inspect(compiled).stats()["resumed_calls"]


def test_a_loop_over_the_budget_ends_the_unit_in_front_of_it():
    def f(x):
        y = x + 1.0
        z = y * x
        for _ in range(40):
            y = np.broadcast_to(y, (10,)) * 0.5 + x
        return y + z

    before, jitney.config.max_nodes = jitney.config.max_nodes, 50
    compiled = jitney.compile(f)
    try:
        assert differs(f, compiled, A) is None
    finally:
        jitney.config.max_nodes = before
    assert "LOOP_TOO_LONG" in {row["name"] for row in jitney.inspect(compiled).refusals}


@pytest.mark.parametrize("tail", ["return sys._getframe().f_code.co_name, x, y", "del x; return y", "x = [x]; x.append(lambda: y); return x"])
def test_the_budget_ends_where_a_unit_cannot(tail):
    f = _straight(40, tail)
    before, jitney.config.max_nodes = jitney.config.max_nodes, 50
    try:
        compiled = jitney.compile(f)
        for _ in range(2):
            got, want = compiled(A), f(A)
            if isinstance(got, list):
                got, want = [got[0], got[1]()], [want[0], want[1]()]
            assert repr(got) == repr(want)
    finally:
        jitney.config.max_nodes = before


@pytest.mark.parametrize("executor", ["llvm", "loop", "graph", "numpy"])
def test_a_zero_divisor_raises_whatever_it_divides(executor):
    """The processor reports a division by zero of finite numbers only."""
    functions = [lambda x, y: y / x, lambda x, y: (y + 1.0) / (x * 1.0), lambda x, y: (y / x, 1)[1], lambda x, y: math.inf / x, lambda x, y: math.nan / x]
    before, jitney.config.executor = jitney.config.executor, executor
    try:
        for f in functions:
            compiled = jitney.compile(f)
            for x, y in itertools.product((2.0, 0.0, -0.0, 5e-324, math.inf, math.nan), (1.0, 0.0, math.inf, -math.inf, math.nan)):
                assert differs(f, compiled, x, y) is None, (x, y)
    finally:
        jitney.config.executor = before
