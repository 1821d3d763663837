"""The bytecode layer (frontend/cpython/): tables, decoding, verification, assembling, edits."""

import dis
import functools
import inspect
import json
import opcode
import pathlib
import subprocess
import sys
import types
from random import Random

import pytest

from jitney import _jitney

TOOLS = pathlib.Path(__file__).resolve().parents[1] / "tools"
ARGKINDS = (
    "NONE", "CONST", "NAME", "NAME1", "NAME2", "LOCAL", "LOCAL2", "DEREF", "JUMP_FWD", "JUMP_BACK", "COMPARE", "BINOP",
    "COUNT", "RAW", "INTERNAL",
)  # fmt: skip
OPCODES = {name: op for name, op in opcode.opmap.items() if op < 256 and not name.startswith("INSTRUMENTED_")}
VERSION = sys.version_info[:2]


def argkind(op):
    return ARGKINDS[_jitney.bytecode_facts(op, 0, False)[1]]


def code_objects(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_objects(const)


def library_code(*names):
    for name in names:
        module = __import__(name, fromlist=["_"])
        yield from code_objects(compile(inspect.getsource(module), module.__file__, "exec", dont_inherit=True))


# ---- the opcode table against CPython's own


@pytest.mark.parametrize("name", OPCODES)
def test_row_agrees_with_cpython(name):
    op = OPCODES[name]
    caches = opcode._inline_cache_entries
    assert _jitney.bytecode_facts(op, 0, False)[0] == name
    assert _jitney.bytecode_facts(op, 0, False)[2] == (caches.get(name, 0) if isinstance(caches, dict) else caches[op])
    kind = argkind(op)
    assert (kind == "CONST") == (op in dis.hasconst)
    assert kind.startswith("NAME") == (op in dis.hasname)
    assert kind.startswith("LOCAL") == (op in dis.haslocal)
    assert (kind == "DEREF") == (op in dis.hasfree)
    assert kind.startswith("JUMP") == (op in dis.hasjrel)
    assert (kind == "COMPARE") == (op in dis.hascompare)


def stack_effect(op, arg, jump):
    has_arg = op in dis.hasarg if VERSION >= (3, 12) else op >= opcode.HAVE_ARGUMENT
    return dis.stack_effect(op, arg if has_arg else None, jump=jump)


def expected_effect(name, op, arg, jump):
    """What dis says, but where the compiler's book-keeping is not what happens between two instructions."""
    if name == "RETURN_GENERATOR":  # the first send() pushes its value; before 3.13 the compiler starts with depth 1
        return 1
    if VERSION == (3, 11) and name == "PRECALL":  # the compiler splits the effect of a call between the two
        return 0
    if VERSION == (3, 11) and name == "CALL":
        return stack_effect(OPCODES["PRECALL"], arg, jump) + stack_effect(op, arg, jump)
    return stack_effect(op, arg, jump)


@pytest.mark.parametrize("name", [name for name, op in OPCODES.items() if argkind(op) != "INTERNAL"])
@pytest.mark.parametrize("arg", range(5))
@pytest.mark.parametrize("jump", [False, True])
def test_stack_effect_agrees_with_cpython(name, arg, jump):
    if name == "BUILD_SLICE" and arg not in (2, 3):
        pytest.skip("not a legal argument")
    _, _, _, pops, pushes, _ = _jitney.bytecode_facts(OPCODES[name], arg, jump)
    assert pops >= 0 and pushes >= 0
    assert pushes - pops == expected_effect(name, OPCODES[name], arg, jump)


# ---- decoding against dis


def jump_offset(rows, row):
    return None if row[2] < 0 else 2 * rows[row[2]][3]


def test_decode_agrees_with_dis():
    for code in library_code("json.decoder", "contextlib", "asyncio.tasks", "dataclasses", "collections"):
        rows = _jitney.bytecode_decode(code)
        expected = [i for i in dis.get_instructions(code) if i.opname not in ("EXTENDED_ARG", "CACHE")]
        assert [row[0] for row in rows] == [i.opname for i in expected]
        for row, i in zip(rows, expected, strict=True):
            assert 2 * (row[3] + row[4]) == i.offset
            assert row[1] == (i.arg or 0)
            assert tuple(None if p < 0 else p for p in row[6:]) == tuple(i.positions)
            if i.opcode in dis.hasjrel:
                prefix = 2 * rows[row[2]][4]  # dis may name the instruction behind its EXTENDED_ARG
                assert i.argval in (jump_offset(rows, row), jump_offset(rows, row) + prefix)


def test_specialised_code_decodes_clean():
    def hot(n):
        total = 0
        for i in range(n):
            total += i * len("abc")
        return total

    cold = hot.__code__.replace()
    hot(2000)
    assert _jitney.bytecode_decode(hot.__code__) == _jitney.bytecode_decode(cold)
    assert _jitney.bytecode_roundtrip(hot.__code__).co_code == cold.co_code


def test_traced_code_decodes_clean():
    def traced(n):
        return [i for i in range(n)]

    cold = traced.__code__.replace()
    seen = []
    old = sys.gettrace()
    sys.settrace(lambda *event: seen.append(event) or None)
    try:
        traced(3)
        again = _jitney.bytecode_roundtrip(traced.__code__)
    finally:
        sys.settrace(old)
    assert seen
    assert again.co_code == cold.co_code


# ---- round trips


def run_tool(name, *args):
    result = subprocess.run([sys.executable, TOOLS / name, *args], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(result.stdout)
    assert result.returncode == 0, result.stdout[-4000:]
    return result.stdout.splitlines()


def test_roundtrip_of_part_of_the_library():
    counts = json.loads(run_tool("roundtrip_stdlib.py", "--limit", "150")[-1])
    assert counts["code objects"] > 1000


@pytest.mark.slow
def test_roundtrip_of_library_and_numpy():
    counts = json.loads(run_tool("roundtrip_stdlib.py")[-1])
    assert counts["code objects"] > 50000


def test_cpython_tests_with_nops():
    run_tool("nop_stdlib.py", "test_json", "test_fractions", "test_contextlib")


@pytest.mark.slow
def test_cpython_tests_with_nops_all():
    run_tool("nop_stdlib.py")


# ---- sweeping


def tables(code):
    return [(c.co_code, c.co_exceptiontable, c.co_linetable, c.co_stacksize) for c in code_objects(code)]


@pytest.mark.parametrize("seed", range(5))
def test_sweep_takes_out_what_was_put_in(seed):
    for name in ("json.decoder", "contextlib", "asyncio.tasks", "dataclasses", "collections", "statistics"):
        module = __import__(name, fromlist=["_"])
        code = compile(inspect.getsource(module), module.__file__, "exec", dont_inherit=True)
        assert tables(_jitney.bytecode_sweep(code, 30, seed)) == tables(_jitney.bytecode_sweep(code, 0, 0))


def test_swept_functions_run():
    for function, args in ((loops, (8,)), (cell_parameters, (1, 2))):
        assert run_edited(function, _jitney.bytecode_sweep(function.__code__, 50, 1))(*args) == function(*args)


@pytest.mark.slow
def test_cpython_tests_swept():
    run_tool("nop_stdlib.py", "--sweep", "--nops", "20", "test_json", "test_contextlib", "test_dataclasses", "test_asyncio", "test_statistics")


# ---- jumps that need EXTENDED_ARG


def loops(n):
    found = []
    for i in range(n):
        if i % 2:
            continue
        while True:
            try:
                if i > 3:
                    raise KeyError(i)
                break
            except KeyError as error:
                found.append(error.args[0])
                break
            finally:
                found.append(-1)
    else:
        found.append("end")
    return found


def run_edited(function, code):
    return types.FunctionType(code, function.__globals__, closure=function.__closure__)


@pytest.mark.parametrize("nops", [0, 1, 100, 700, 5000, 200_000])
def test_long_jumps(nops):
    for seed in range(5 if nops < 5000 else 1):
        edited = run_edited(loops, _jitney.bytecode_insert_nops(loops.__code__, nops, seed))
        assert len(edited.__code__.co_code) >= len(loops.__code__.co_code) + nops // 2
        assert edited(8) == loops(8)


def test_positions_survive_edits():
    def fails(a, b):
        return (a +
                b.missing)  # fmt: skip

    def places(function):
        with pytest.raises(AttributeError) as info:
            function(1, 2)
        traceback = info.value.__traceback__.tb_next
        code = traceback.tb_frame.f_code
        return list(code.co_positions())[traceback.tb_lasti // 2]

    edited = run_edited(fails, _jitney.bytecode_insert_nops(fails.__code__, 1000, 7))
    assert places(edited) == places(fails)


# ---- more locals: cells and free variables move


def counter(start, *rest, step=1, **more):
    count = start

    def inner(by):
        nonlocal count
        count += by * step
        return count, [(by, x, y, start) for x in rest for y in more], locals()

    return inner


def cell_parameters(a, b):
    get = lambda: (a, b)
    c = d = e = f = g = h = i = j = k = l = m = a
    pairs = [(c, d), (e, f), (g, h), (i, j), (k, l), (m, a)]
    del c
    return get(), pairs, sorted(locals())


def generated(n):
    total = 0
    for i in range(n):
        got = yield (lambda: (i, total))()
        total += got or 0
    return total


NAMES = tuple(f".extra{i}" for i in range(9))


@pytest.mark.parametrize("count", [1, 5, 9])
def test_added_locals(count):
    more = lambda function: run_edited(function, _jitney.bytecode_add_locals(function.__code__, NAMES[:count]))
    assert more(counter)(1, 2, 3, step=4, u=5)(6)[:2] == counter(1, 2, 3, step=4, u=5)(6)[:2]
    inner = counter(1, 2, step=3, u=4)
    assert more(inner)(5)[1] == [(5, 2, "u", 1)]
    assert set(more(inner)(5)[2]) == set(inner(5)[2])
    assert more(cell_parameters)(1, 2) == cell_parameters(1, 2)
    assert list(more(generated)(4)) == list(generated(4))
    code = more(counter).__code__
    assert code.co_nlocals == counter.__code__.co_nlocals + count
    assert code.co_varnames[-count:] == NAMES[:count]
    assert (code.co_cellvars, code.co_freevars) == (counter.__code__.co_cellvars, counter.__code__.co_freevars)


def test_added_local_must_be_new():
    with pytest.raises(ValueError, match="already"):
        _jitney.bytecode_add_locals(counter.__code__, ("start",))


# ---- the verifier


def assemble(*rows):
    """co_code of (name, argument) rows."""
    data = bytearray()
    caches = opcode._inline_cache_entries
    for name, arg in rows:
        op = OPCODES[name] if isinstance(name, str) else name
        n = caches.get(name, 0) if isinstance(caches, dict) else caches[op] if op < len(caches) else 0
        data += bytes([op, arg]) + bytes(2 * n)
    return bytes(data)


def with_code(*rows, **changes):
    def template(a, b):
        c = a
        return lambda: (a, c)

    changes.setdefault("co_exceptiontable", b"")
    return template.__code__.replace(co_code=assemble(*rows), **changes)


RETURN = ("LOAD_CONST", 0), ("RETURN_VALUE", 0)
NOTHING_FREE = 255
BAD = {
    "needs 1 items": [("RESUME", 0), ("RETURN_VALUE", 0)],
    "needs 3 items": [("RESUME", 0), ("LOAD_CONST", 0), ("COPY", 3), ("RETURN_VALUE", 0)],
    "runs off the end": [("RESUME", 0), ("LOAD_CONST", 0), ("POP_TOP", 0)],
    "no such constant": [("LOAD_CONST", 77), ("RETURN_VALUE", 0)],
    "no such name": [("LOAD_GLOBAL", 200), ("RETURN_VALUE", 0)],
    "no such local": [("STORE_FAST", 50), *RETURN],
    "neither a cell nor": [("LOAD_DEREF", 1), ("RETURN_VALUE", 0)],
    "argument out of range": [("LOAD_CONST", 0), ("LOAD_CONST", 0), ("BINARY_OP", 26), ("RETURN_VALUE", 0)],
    "jump to no instruction": [("JUMP_FORWARD", 2), ("LOAD_CONST", 0), ("BINARY_OP", 0), ("RETURN_VALUE", 0)],
    "opcode that this version": [(NOTHING_FREE, 0), *RETURN],
    "without an instruction": [*RETURN, ("EXTENDED_ARG", 1)],
    "reached with": [("LOAD_CONST", 0), ("LOAD_FAST", 0), ("LOAD_FAST", 1),
                     ("POP_JUMP_IF_TRUE" if "POP_JUMP_IF_TRUE" in OPCODES else "POP_JUMP_FORWARD_IF_TRUE", 1),
                     ("POP_TOP", 0), ("RETURN_VALUE", 0)],
}  # fmt: skip
if VERSION >= (3, 12):
    BAD |= {
        "may be unbound": [("LOAD_FAST", 2), ("RETURN_VALUE", 0)],
        "target is no END_FOR": [("LOAD_FAST", 0), ("GET_ITER", 0), ("FOR_ITER", 1), ("POP_TOP", 0), ("POP_TOP", 0), *RETURN],
    }


@pytest.mark.parametrize("message", BAD)
def test_verifier_refuses(message):
    with pytest.raises(ValueError, match=message):
        _jitney.bytecode_verify(with_code(*BAD[message], co_varnames=("a", "b", "c"), co_nlocals=3, co_cellvars=()))


def test_verifier_accepts():
    assert _jitney.bytecode_verify(with_code(("RESUME", 0), ("LOAD_CONST", 0), ("COPY", 1), ("POP_TOP", 0), ("RETURN_VALUE", 0))) == 2


@pytest.mark.parametrize("table", [b"\x80", b"\x80\x01\x30\x00", b"\x80\x3f\x00\x00", b"\x81\x01\x00\x04"])
def test_verifier_refuses_exception_table(table):
    with pytest.raises(ValueError):
        _jitney.bytecode_verify(with_code(("RESUME", 0), *RETURN, co_exceptiontable=table))


def test_handler_deeper_than_the_stack():
    table = bytes([0x80, 1, 1, 4 << 1])  # unit 0 is protected down to four items, of which there are none
    with pytest.raises(ValueError, match="unwinds to 4 items"):
        _jitney.bytecode_verify(with_code(("RESUME", 0), *RETURN, co_exceptiontable=table))


def test_broken_location_table():
    with pytest.raises(ValueError, match="location table"):
        _jitney.bytecode_verify(with_code(("RESUME", 0), *RETURN, co_linetable=b"\xf0"))


@pytest.mark.parametrize("seed", range(20))
def test_mutated_code_is_refused_or_consistent(seed):
    """Nothing is run: what is accepted must be stable under another round."""
    random = Random(seed)

    # what CPython's constructor itself survives: it writes to the caches of what it takes for instructions, unchecked
    harmless = [op for name, op in OPCODES.items() if argkind(op) != "INTERNAL" and not _jitney.bytecode_facts(op, 0, False)[2]]

    def mutated(data, is_code):
        data = bytearray(data)
        for _ in range(random.randrange(1, 4) if data else 0):
            at = random.randrange(len(data))
            data[at] = random.choice(harmless) if is_code and at % 2 == 0 else random.randrange(256)
        return bytes(data if is_code else data[: len(data) - random.choice((0, 0, 0, 1, 2))])

    refused = accepted = 0
    for code in library_code("json.decoder", "contextlib"):
        for field in ("co_code", "co_exceptiontable", "co_linetable"):
            try:
                bad = code.replace(**{field: mutated(getattr(code, field), field == "co_code")})
                again = _jitney.bytecode_roundtrip(bad)
            except ValueError:
                refused += 1
            else:
                accepted += 1
                assert tables(_jitney.bytecode_roundtrip(again)) == tables(again)
    assert refused > 50 and accepted > 20


def test_short_location_table_means_no_positions():
    code = with_code(("RESUME", 0), *RETURN, co_linetable=b"")
    again = _jitney.bytecode_roundtrip(code)
    assert list(again.co_positions()) == [(None,) * 4] * 3
    assert types.FunctionType(again, {})(1, 2) == code.co_consts[0]


def test_stack_size_is_what_is_needed():
    for code in library_code("json.decoder", "contextlib", "asyncio.tasks", "dataclasses", "collections"):
        need = _jitney.bytecode_verify(code)
        assert code.co_stacksize in (need, max(need, 1))  # 3.13 asks for one at least


def test_only_code_objects():
    for method in (_jitney.bytecode_roundtrip, _jitney.bytecode_verify, _jitney.bytecode_decode):
        with pytest.raises(TypeError):
            method(test_only_code_objects)


# ---- code of other scopes: hidden locals of a module's comprehension


def test_module_code_keeps_globals():
    source = "x = 1\ny = [x for x in range(3)]\nimport sys\nframe = sys._getframe().f_locals\n"
    namespace = {}
    exec(_jitney.bytecode_insert_nops(compile(source, "<module>", "exec"), 50, 3), namespace)
    assert namespace["x"] == 1 and namespace["y"] == [0, 1, 2]


@functools.cache
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def test_wrapped_and_recursive():
    edited = run_edited(cached.__wrapped__, _jitney.bytecode_insert_nops(cached.__wrapped__.__code__, 300, 1))
    assert edited(20) == cached(20)
