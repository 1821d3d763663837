"""Functions that are left in the middle and taken up again: results, output, tracebacks, frames, destructors are those of one frame that runs through.

Every program runs plain, compiled, and compiled with a break forced before every k-th instruction."""

import contextlib
import io
import itertools
import random
import sys
import traceback
import warnings

import numpy as np
import pytest

import jitney

LOG = []


def unknown(*values):
    """A call that is not traced."""
    print(*values)
    return len(values)


class Manager:
    def __init__(self, swallow=False):
        self.swallow = swallow

    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, value, tb):
        print("exit", kind and kind.__name__, tb and tb.tb_lineno)
        return self.swallow


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        LOG.append("del " + self.name)


def straight(a):
    x = a * 2 + 1
    y = x - a
    print(x, y)
    z = y * x + 1
    return z - y


def in_for(a):
    out = []
    for i in range(4):
        a = a * 0.5 + i
        print(i, a)
        b = a * 2 - i
        out.append(b * b + 1)
    else:
        out.append(a + 1 - i)
    return out


def in_while(a):
    i = 0
    while i < 4:
        i += 1
        a = a * 1.5 + i
        if i == 3:
            continue
        print(i, sorted(locals()))
        a = a - i * a
    return a * 2 + 1


def with_in_try(a):
    done = []
    for i in [1, 5, 6]:
        with Manager() as m:
            try:
                b = a * i + 1
                if i == 5:
                    print("five", b, m.swallow)
                done.append(10 // (i - 6))
                c = b * b - a
                done.append(c * 2 + b)
            except ZeroDivisionError as e:
                print("handled", e, sys.exc_info()[0])
                d = a * 3 + 1
                done.append(d * d - i)
            finally:
                print("finally", i)
                a = a + 1 - a * i
    return done, sorted(locals())


def swallowed(a):
    with Manager(True):
        b = a * 2 + 1
        print(b)
        c = b * b + 1
        raise KeyError("lost")
    return a * 3 + 1 + b * c


def reraises(a):
    try:
        b = a * 2 + 1
        raise ValueError("first")
    except ValueError as e:
        print("one", sys.exc_info()[1] is e)
        c = a * a + 1 - a
        try:
            print(c)
            raise
        except ValueError as e2:
            print("two", e2 is e)
            d = c * c + a * 2
            print(sys.exc_info()[1] is e, d)
            d = d * 2 + c
    print(sys.exc_info())
    return d + c * 2


def escapes(a):
    for i in range(3):
        b = a * i + 1
        print(b)
        c = b * b + a
        if i == 2:
            try:
                {}[i]
            except KeyError as e:
                raise RuntimeError("line") from e
        a = c * 2 - b


def looks_at_caller(a):
    b = a * 2 + 1
    print(sys._getframe(0).f_code.co_name, sys._getframe(1).f_code.co_name, sorted(sys._getframe(0).f_locals))
    c = b * b + 1
    warnings.warn("here", stacklevel=2)
    return c - b * 2


def unbound(a):
    for i in range(2):
        if i:
            del x  # noqa: F821
        else:
            x = a * 2 + 1
            y = x
        print(sorted(locals()))
        a = a * 2 + 1
    b = a * a + 1
    print(b)
    return x


def cells(a):
    total = a * 2 + 1

    def add(v):
        nonlocal total
        total = total + v
        return total * 2

    print(add(1.0))
    b = total * 3 - 1
    a = b + 1 - a
    get = lambda: a  # noqa: E731
    print(add(2.0), get())
    a = b * total + a
    return b + add(b), get() is a


def comprehension(a):
    rows = [unknown(i) * a + i for i in range(3)]
    b = rows[0] * 2 + rows[1]
    return [r * b + 1 for r in rows], {k: unknown(k) for k in "ab"}


def comprehension_cells(a):
    """From 3.12 on a comprehension's own name lives in a new cell in the function's slot, and the outer one waits on the stack."""
    get = lambda: z  # noqa: E731
    each = [lambda: z for z in range(2)]
    nested = [[lambda: (z, k, a) for z in range(k)] for k in range(3)]
    try:
        {z: (lambda: z) for z in (1, 0) if 2 // z}
    except ZeroDivisionError:
        a = a + 1
    try:
        got = get()
    except NameError:
        got = None
    z = a * 2
    keyed = {z: (lambda: z) for z in (z.size, 5)}
    return (
        [g() for g in each],
        [[g() for g in row] for row in nested],
        got,
        get() is z,
        [g() for g in keyed.values()],
        z,
    )


def call_in_arguments(a):
    return np.add(a * 2 + 1, unknown(a * 3 + 1) + a * a) * 2 + unknown(*[a, a], **{}) + max(unknown(1), 2, key=float)


def chooses(a):
    if (a * 2 + 1).sum() > 3:
        b = a + 1 - a * 2
        return b * 2 - a
    elif (a - 1).max() > 5:
        return a
    return a * a - 1 + a


def destructors(a):
    x = Noisy("x")
    b = a * 2 + 1
    LOG.append("made")
    print(b)
    x = Noisy("y")
    LOG.append("rebound")
    c = b * b + 1
    print(c)
    del x
    LOG.append("deleted")
    return c * 2 + b


def keywords(a, /, b=2, *rest, c, d=4.0, **more):
    x = a * b + c
    print(rest, more)
    y = x * d - a
    return y * 2 + x, rest, more


def identities(a):
    pair = [a, a]
    both = (pair, pair)
    b = a * 2 + 1
    print(b)
    pair.append(b * 2 + 1)
    return both[0] is both[1], pair[0] is a, pair, b is not a


def while_true(a):
    n = 0
    while True:
        a = a * 2 + 1
        n += unknown(n)
        if n > 3:
            break
        a = a - n * a
    return a * 2 + n


def nested_loops(a):
    for i in range(3):
        for j in (1, 2):
            b = a * i + j
            if j == 2 and i == 1:
                print("break")
                break
            unknown(b)
            a = b * 0.5 + a - 1
        else:
            a = a * 2 + 1
            print("else")
    return a, i, j


def matches(a):
    for v in (1, (2, 3), {"k": 4}, "s"):
        match v:
            case int(n):
                print("int", n)
                a = a * n + 1
            case (x, y):
                print("pair", x, y)
                a = a * x - y
            case {"k": k}:
                print("map", k)
                a = a * k + a
            case _:
                print("other")
                a = a * 2 - 1
    return a + 1 - a * a


PROGRAMS = [
    (straight, 1), (in_for, 1), (in_while, 1), (with_in_try, 1), (swallowed, 1), (reraises, 1), (escapes, 1),
    (looks_at_caller, 1), (unbound, 1), (cells, 1), (comprehension, 1), (comprehension_cells, 1), (call_in_arguments, 1), (chooses, 1),
    (destructors, 1), (identities, 1), (while_true, 1), (nested_loops, 1), (matches, 1),
]  # fmt: skip


def observe(f, *args, **keywords):
    """Result or exception with the lines of its traceback, what was printed, warned and logged."""
    LOG.clear()
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as seen, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            result = repr(f(*args, **keywords))
        except Exception as e:
            chain = []
            while e is not None:
                chain.append((type(e), str(e), [x.lineno for x in traceback.extract_tb(e.__traceback__)][1:]))
                e = e.__cause__ or e.__context__
            result = chain
    return result, out.getvalue(), [(str(w.message), w.category, w.lineno) for w in seen], list(LOG)


def makes_cells(a):
    z = a + 1

    def bound(k):
        return lambda: (k, a)

    return [lambda: z for z in range(2)], lambda: z, bound(z)


def test_functions_with_cells_of_their_own_are_results():
    g = jitney.compile(makes_cells)
    for a in inputs():
        inner, outer, bound = g(a)
        cells = [f.__closure__[0] for f in (*inner, outer)]
        assert [f() for f in inner] == [1, 1] and cells[0] is cells[1] is not cells[2]
        assert outer() is bound()[0] and np.array_equal(outer(), a + 1) and bound()[1] is a
    stats = jitney.inspect(g).stats()
    assert stats["resumed_calls"] == 0 < stats["native_calls"], stats


def inputs():
    return itertools.chain([np.arange(3.0), np.zeros(2), np.full(3, -2.5)], [np.arange(3.0)] * 3)


@pytest.mark.parametrize("f", [f for f, _ in PROGRAMS], ids=lambda f: f.__name__)
def test_resumes(f):
    g = jitney.compile(f)
    for a in inputs():
        assert observe(g, a.copy()) == observe(f, a.copy())


@pytest.mark.parametrize("every", [2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 20, 25, 31])
def test_breaks_everywhere(every, monkeypatch):
    before = jitney.config.min_nodes, jitney.config.break_every
    try:
        jitney.config.min_nodes, jitney.config.break_every = 0, every
        for f, _ in PROGRAMS:
            g = jitney.compile(f)
            for a in itertools.islice(inputs(), 2, None):
                assert observe(g, a.copy()) == observe(f, a.copy()), f.__name__
    finally:
        jitney.config.min_nodes, jitney.config.break_every = before


def test_compiled_code_takes_over_again():
    g = jitney.compile(in_for)
    for _ in range(3):
        observe(g, np.arange(3.0))
    stats = jitney.inspect(g).stats()
    assert stats["graph_breaks"] >= 1 and stats["resumed_calls"] >= 6


def test_keywords_and_defaults():
    g = jitney.compile(keywords)
    for _ in range(3):
        a = np.arange(3.0)
        assert observe(g, a, c=a) == observe(keywords, a, c=a)
        assert observe(g, a, 3, 4, 5, c=a, d=2, z=1) == observe(keywords, a, 3, 4, 5, c=a, d=2, z=1)
        assert observe(g, a, 3) == observe(keywords, a, 3)


def test_code_replaced_while_it_runs():
    def swap(g):
        if g is not None:
            g.__code__ = other(swap).__code__

    def other(swap):
        return lambda a, g: (swap, "other")[1]

    def fresh():
        def f(a, g):
            b = a * 2 + 1
            swap(g)
            c = b * b + 1
            unknown()
            return c * 2 + b

        return f

    eager = fresh()
    g = jitney.compile(fresh())
    a = np.arange(3.0)
    for _ in range(3):
        assert observe(g, a, None) == observe(eager, a, None)
    assert observe(g, a, g)[0] == observe(eager, a, None)[0]
    assert g(a, None) == "other"


def test_tracer_that_comes_while_it_runs():
    lines = []

    def tracer(frame, event, arg):
        lines.append((frame.f_code.co_name, event))
        return tracer

    def f(a, on):
        b = a * 2 + 1
        if on:
            sys.settrace(tracer)
        unknown()
        c = b * b + 1
        unknown()
        sys.settrace(None)
        return c * 2 + b

    g = jitney.compile(f)
    a = np.arange(3.0)
    for on in (False, False, True, False):
        assert observe(g, a, on)[0] == observe(f, a, on)[0]


def test_recursion():
    def f(a, n):
        b = a * 2 + 1
        unknown(n)
        if n == 0:
            return b * b + 1
        return g(b - 1, n - 1) * 2 + b

    def e(a, n):
        b = a * 2 + 1
        unknown(n)
        if n == 0:
            return b * b + 1
        return e(b - 1, n - 1) * 2 + b

    g = jitney.compile(f)
    for n in (0, 1, 2, 5, 200):
        assert observe(g, np.arange(2.0), n) == observe(e, np.arange(2.0), n)


def test_nothing_keeps_arguments_alive():
    g = jitney.compile(straight)
    a = np.arange(3.0)
    observe(g, a)
    count = sys.getrefcount(a)
    for _ in range(20):
        observe(g, a)
    assert sys.getrefcount(a) == count


def breaking_helper(a, k=2):
    b = a * k + 1
    c = b * b - a
    unknown()
    d = c * 2 + b
    return d * d - 1


class Stepper:
    weight = 2.0

    def step(self, a):
        b = a * self.weight + 1
        unknown()
        c = b * b
        return c * 2 - b


STEPPER = Stepper()


def test_callee_that_breaks_is_compiled_by_itself():
    def f(a, n):
        for i in range(n):
            a = breaking_helper(a * 0.5, i) + 1
        return STEPPER.step(a) + breaking_helper(a)

    g = jitney.compile(f)
    for _ in range(5):
        assert observe(g, np.arange(3.0), 3) == observe(f, np.arange(3.0), 3)
    copies = [c for name, c in globals().items() if name.startswith("__compiled_callee_")]
    resumed = {c.__name__ for c in copies if jitney.inspect(c).stats()["resumed_calls"]}
    assert resumed >= {"breaking_helper", "step"}
    breaking_helper.__defaults__ = (5,)
    try:
        for _ in range(3):
            assert observe(g, np.arange(3.0), 3) == observe(f, np.arange(3.0), 3)
    finally:
        breaking_helper.__defaults__ = (2,)


def test_leave_behind_a_try_block():
    """The jump that leaves stands behind the block, not in it: its handler binds less."""

    def f(x, n):
        e = None
        try:
            log.append(j)  # noqa: F821
        except Exception as e:  # noqa: F811, F841
            if n > 2:
                log.append(j)  # noqa: F821
        except:  # noqa: E722
            return 7, x, log  # noqa: F821
        finally:
            log.append(4)  # noqa: F821

    g = jitney.compile(f)
    for _ in range(4):
        assert observe(g, np.arange(3.0), 1) == observe(f, np.arange(3.0), 1)


def behind_a_handler(a, out):
    try:
        x = a * 2 + 1
        x = x * a - 3
        out.write("x")
    except ValueError:
        x = a
    y = x * 3 - a
    y = y * y + x
    out.write("y")
    return y


def test_nothing_is_left_of_a_try_block_that_is_over():
    """Methods of an object with a destructor: the place to go on is behind their calls."""
    g = jitney.compile(behind_a_handler)
    for _ in range(4):
        ours, eager = io.StringIO(), io.StringIO()
        assert np.array_equal(g(np.arange(3.0), ours), behind_a_handler(np.arange(3.0), eager))
        assert ours.getvalue() == eager.getvalue() == "xy"
    assert jitney.inspect(g).stats()["resumed_calls"] >= 3


def many_places(a):
    for name in ("a", "b"):
        x = a * 2
        unknown()
        y = x + a
        unknown()
        z = y * x
        unknown()
        x = z + y
        unknown(name)
        y = x * z
        unknown()
        z = y - x
        unknown()
        with Manager():
            x = z * y
            unknown()
            y = x - z
            unknown()
        z = y + x
        unknown()
        del x
        y = z * y
        unknown()
        x = y - z
        unknown()
    return x, y, z, name


def test_many_places_share_their_ways_out():
    before = jitney.config.min_nodes
    g = jitney.compile(many_places)
    try:
        jitney.config.min_nodes = 0
        for a in inputs():
            assert observe(g, a.copy()) == observe(many_places, a.copy())
    finally:
        jitney.config.min_nodes = before
    assert jitney.inspect(g).stats()["resumed_calls"] > 40


STRETCHES = (
    "x = y * 0.5 + a",
    "y = (x\n         - a)",
    "n += len(t)",
    "m, *rest = n, k, m",
    "z = [x, n]; z[0] = y",
    "name = f'{n} {m:>3}' + name[:3]",
    "k = (lambda: n + w)() % 7",
    "w = n % 5",
    "w = [m for m in t][n % 3]",
    "del z; z = n",
)
BLOCKS = (
    "unknown(x, n, name)\n",
    "try:\n{}unknown(n)\n{}except KeyError as e:\n    n += len(e.args[0])\n{}finally:\n{}",
    "with Manager(True):\n{}unknown(x)\n{}",
    "for i in range(2):\n{}unknown(i)\n{}",
    "while n % 3:\n{}    n += 1\n{}unknown(n)\n",
    "if w > 2:\n{}unknown(w)\n{}else:\n{}",
)


def stretches(seed):
    """Long runs of statements between breaks, in blocks of all kinds; f(a, at) raises in statement `at`."""
    rng, count = random.Random(seed), itertools.count()

    def run(indent):
        lines = []
        for _ in range(rng.choice((1, 3, 5, 9))):
            line = rng.choice(STRETCHES) if rng.random() < 0.8 else f"d = t[0] + u[at == {next(count)}]"
            lines += [" " * indent + part for part in line.split("; ")]
        return "\n".join(lines) + "\n"

    body = ""
    for _ in range(30):
        block = rng.choice(BLOCKS)
        block = block.replace("{}unk", "    unk") if "{}" in block else block
        body += "".join(part + run(4) for part in block.split("{}")) if "{}" in block else block + run(0)
    head = "x = y = a + 1\nz = n = k = m = w = 1\nt, name, rest = (1, 2, 3), 'name', []\n"
    tail = "return x, y, n, k, m, w, name, rest\n"
    text = "def f(a, at, u):\n" + "".join("    " + line + "\n" for line in (head + body + tail).splitlines())
    space = {"unknown": unknown, "Manager": Manager}
    exec(text, space)
    return space["f"], next(count)


class Raises:
    def __init__(self, kind):
        self.kind = kind

    def __getitem__(self, key):
        if key:
            raise self.kind("key")
        return 4


@pytest.mark.parametrize("seed", range(6))
def test_stretches_between_breaks_keep_lines_columns_and_handlers(seed):
    f, n = stretches(seed)
    g = jitney.compile(f)

    def watch(f, *args):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                f(*args)
        except Exception as error:
            return [(x.lineno, x.end_lineno, x.colno, x.end_colno) for x in traceback.extract_tb(error.__traceback__)][1:]

    before = jitney.config.min_nodes
    try:
        jitney.config.min_nodes = 0
        for at in (-1, -1, *range(n)):
            u = Raises(KeyError if at % 2 else ZeroDivisionError)
            assert observe(g, np.arange(3.0), at, u) == observe(f, np.arange(3.0), at, u)
            assert watch(g, np.arange(3.0), at, u) == watch(f, np.arange(3.0), at, u)
    finally:
        jitney.config.min_nodes = before
    assert jitney.inspect(g).stats()["resumed_calls"] > n


def gives_back(a):
    w = a + 1
    try:
        x = [w for w in (1, 0)]
        x += [1 / w for w in x]
    except ZeroDivisionError:
        a = a + w
    inner = lambda: w
    print(x)
    return a * 2 + inner()


def test_comprehensions_give_locals_back_under_a_handler():
    g = jitney.compile(gives_back)
    for a in inputs():
        assert observe(g, a.copy()) == observe(gives_back, a.copy())
    names = {r["name"] for r in jitney.inspect(g).refusals}
    assert "UNKNOWN_CALL" in names and "INSTALL" not in names


def uses_the_name_of_a_comprehension(a, rows):
    """The compiler does not know that the name is bound behind the loop; the first statement that finds out is carried in a straight stretch."""
    unknown([row for row in rows])
    b = a * 2 + 1
    for row in rows:
        unknown(row)
    unknown(b, rows, len(rows))
    unknown(b, row, a, rows)
    unknown(row, b, a, rows)
    return b + row


def test_the_name_of_a_comprehension_behind_a_stretch():
    g = jitney.compile(uses_the_name_of_a_comprehension)
    for rows in ((1, 2), (3,), (), (4, 5)):
        for a in inputs():
            assert observe(g, a.copy(), rows) == observe(uses_the_name_of_a_comprehension, a.copy(), rows)
    assert "INSTALL" not in {r["name"] for r in jitney.inspect(g).refusals}


def test_very_long_functions_are_left_alone():
    """CODE_TOO_LONG"""
    space = {"unknown": unknown}
    lines = ["def f(a):", "    b = a * 2 + 1", "    unknown(b)"] + ["    b = b + a"] * 40000 + ["    return b"]
    exec("\n".join(lines), space)
    g = jitney.compile(space["f"])
    for _ in range(2):
        assert observe(g, np.arange(3.0)) == observe(space["f"], np.arange(3.0))
    assert {r["name"] for r in jitney.inspect(g).refusals} == {"CODE_TOO_LONG"}


def test_module_of_the_frame():
    ask = getattr(sys, "_getframemodulename", lambda depth: __name__)

    def f(a):
        b = a * 2 + 1
        print(b)
        c = b * b + 1
        return ask(0), c * 2

    g = jitney.compile(f)
    for _ in range(3):
        assert observe(g, np.arange(3.0)) == observe(f, np.arange(3.0))


# -- frames that somebody holds ------------------------------------------------------------------------------------------------------


KEPT = []


def keep_callers_frame():
    KEPT.append(sys._getframe(1))


def keeps_its_frame(a):
    x = a * 2 + 1
    keep_callers_frame()
    y = x * x + a
    keep_callers_frame()
    x = y - x * 2
    return x + y


def test_a_kept_frame_goes_on():
    seen = []
    for f in keeps_its_frame, jitney.compile(keeps_its_frame):
        for _ in range(3):
            f(np.arange(3.0))
            first, second = KEPT
            locals_of = sorted((name, value.tolist()) for name, value in second.f_locals.items())
            seen.append((first is second, first.f_lineno, locals_of))
            KEPT.clear()
    assert seen[0][0] and seen == seen[:1] * 6


def raise_late(a):
    raise ValueError(len(a))


def holds_an_error(a):
    thing = Noisy("thing")
    try:
        raise_late(a)
    except ValueError as e:
        error = e
    x = a * 2 + 1
    print(x)
    del thing
    print(LOG)
    y = x * x - a
    lines = traceback.format_exception(error)
    return y * 2, lines[1:], error.__traceback__.tb_frame.f_lineno


def test_nothing_outlives_its_deletion_in_a_kept_frame():
    """The traceback's frame is that of the whole call: a part's would still have the local."""
    compiled = jitney.compile(holds_an_error)
    expected = observe(holds_an_error, np.arange(3.0))
    assert "del thing" in expected[1]
    for _ in range(3):
        assert observe(compiled, np.arange(3.0)) == expected


def begin_to_trace(tracer):
    sys._getframe(1).f_trace = tracer
    sys.settrace(tracer)


def is_traced_on_the_way(a, tracer):
    x = a * 2 + 1
    begin_to_trace(tracer)
    y = x * x - a
    print(y)
    return y * 2 + 1


def test_a_tracer_that_a_callee_installs():
    events = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "is_traced_on_the_way":
            events.append((event, frame.f_lineno, type(arg)))
        return tracer

    seen = []
    for f in is_traced_on_the_way, jitney.compile(is_traced_on_the_way):
        for _ in range(3):
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    f(np.arange(3.0), tracer)
            finally:
                sys.settrace(None)
            seen.append(tuple(events))
            events.clear()
    assert len(seen[0]) > 3 and set(seen) == {seen[0]}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="watchers of functions came with 3.12")
def test_watchers_of_functions_hear_of_the_programs_own_only():
    """One that is written in Python is called for every new function: for the one around its own new code, too, it would never end."""
    testcapi = pytest.importorskip("_testcapi")
    events = []

    def watcher(event, function, value):
        print(event)
        events.append(event)
        return np.arange(3.0) * 2 + 1

    def f(a):
        x = a * 2 + 1
        print(len(x))
        return x * x - a

    number = testcapi.add_func_watcher(jitney.compile(watcher))
    try:
        compiled = jitney.compile(f)
        del events[:]
        for _ in range(3):
            compiled(np.arange(3.0))
    finally:
        testcapi.clear_func_watcher(number)
    assert events == []


def test_super_without_an_argument():
    def f():
        a = np.arange(3.0) * 2 + 1
        print(a)
        b = a * a + 1
        return super(), b

    g = jitney.compile(f)
    for _ in range(3):
        assert observe(g) == observe(f)


# ---- what costs more than it gives ----


def strike_out(flags, n):
    for i in range(2, n):
        if flags[i]:
            flags[i * i :: i] = False
    return flags


def test_a_place_where_mostly_nothing_is_found_is_given_up():
    compiled = jitney.compile(strike_out)
    for _ in range(100):
        assert (compiled(np.ones(3000, bool), 300) == strike_out(np.ones(3000, bool), 300)).all()
    before = jitney.inspect(compiled).stats()["resumed_calls"]
    for _ in range(20):
        compiled(np.ones(3000, bool), 300)
    assert jitney.inspect(compiled).stats()["resumed_calls"] == before


def powers(s, n):
    kept = []
    for day in range(n):
        s = s / 1.01
        kept.append((day, s))
    return kept


def test_a_unit_that_mostly_makes_objects_of_numbers_is_none():
    compiled = jitney.compile(powers)
    for n in (100, 100, 40):
        assert compiled(2.5, n) == powers(2.5, n)
    stats = jitney.inspect(compiled).stats()
    assert stats["compiles"] == 0 and stats["native_calls"] == 0
    assert any("operations for" in (row["detail"] or "") for row in jitney.inspect(compiled).refusals)
