"""Execution of compiled units: results, memory, FP status, in-place writes, call-outs; graphs are given as text."""

import gc
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from graph_text import graph, type_text

from jitney import _jitney

EXECUTORS = ["llvm", "loop", "graph", "numpy"]
RERUN = NotImplemented


@pytest.fixture(params=EXECUTORS)
def executor(request):
    return request.param


def run(inputs, operations, outputs, executor="llvm", **options):
    text = graph(inputs, operations, outputs)
    return _jitney._test_run_graph(text, *inputs, executor=executor, **options)


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.strides) == (b.dtype, b.shape, b.strides)
        assert a.flags.owndata == b.flags.owndata and a.flags.writeable == b.flags.writeable
        assert a.flags.c_contiguous == b.flags.c_contiguous and a.flags.f_contiguous == b.flags.f_contiguous
        assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    else:
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


# -- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 9000, 600_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fresh_arrays_are_ordinary(executor, n, dtype):
    if executor in ("loop", "graph") and n > 10_000:
        pytest.skip("the interpreters take their time")
    a, b = np.arange(n, dtype=dtype), np.arange(n, dtype=dtype) / 3
    (r,) = run([a, b], [f"multiply(%0, %1) : {dtype}[{n}]", f"add(%2, %1) : {dtype}[{n}]"], [3], executor)
    same(r, a * b + b)
    assert r.base is None and r.flags.owndata
    r.resize(2 * n + 5, refcheck=False)
    assert r[2 * n + 4] == 0 and r[:n].tobytes() == (a * b + b).tobytes()


@pytest.mark.parametrize("shape", [(3, 0, 4), (2, 1, 3), (1, 1), (4, 5), (2, 3, 4)])
@pytest.mark.parametrize("make", [lambda a: a, np.asfortranarray, lambda a: a.swapaxes(0, 1)], ids=["C", "F", "swapped"])
def test_results_are_laid_out_as_numpys(executor, shape, make):
    a = make(np.arange(np.prod(shape), dtype=float).reshape(shape))
    expected = a + a
    order = sorted(range(a.ndim), key=lambda d: (-abs(expected.strides[d]), a.shape[d] == 1, d)) if expected.size else range(a.ndim)
    order = ",".join(map(str, order))
    (r,) = run([a], [f"add(%0, %0) : {type_text(a)} layout({order}; contiguous)"], [1], executor)
    same(r, expected)


def test_scalars_have_their_kinds(executor):
    a = np.array([1.5, 2.5], dtype="float64")
    s = np.float32(0.25)
    (x, y, z, t) = run([a, s, 2.5, 3], ["sum[0](%0) : float64", "multiply(%1, %1) : float32", "add(%2, %2) : pyfloat", "add(%3, %3) : pyint"],
                       [4, 5, 6, 7], executor)
    for got, expected in ((x, np.float64(4.0)), (y, np.float32(0.0625)), (z, 5.0), (t, 6)):
        same(got, expected)


@pytest.mark.parametrize("value", [np.float64(1.5), np.float32(1.5), np.int64(-3), np.int32(7), np.True_, np.False_, 2.5, -7, True])
def test_scalars_come_back(executor, value):
    (r, _) = run([value, np.zeros(2)], ["add(%1, %1) : float64[2]"], [0, 2], executor)
    same(r, value)


def test_one_node_is_one_object(executor):
    a = np.arange(4.0)
    x, y, z = run([a], ["add(%0, %0) : float64[4]", "multiply(%1, %1) : float64[4]"], [1, 2, 1], executor)
    assert x is z and x is not y


def test_views_of_inputs(executor):
    base = np.arange(24.0)
    a = base[4:].reshape(4, 5)
    (t, row) = run([a], ["view[j1, j0](%0) : float64[5,4]", "view[2, 4-2*j0](%0) : float64[3]"], [1, 2], executor)
    for got, expected in ((t, a.T), (row, a[2, 4::-2])):
        same(got, expected)
        assert got.base is base and got.__array_interface__["data"] == expected.__array_interface__["data"]
    a.flags.writeable = False
    (t,) = run([a], ["view[j1, j0](%0) : float64[5,4]"], [1], executor)
    assert not t.flags.writeable


def test_views_of_results(executor):
    a = np.arange(6.0).reshape(2, 3)
    (s, v, r) = run([a], ["add(%0, %0) : float64[2,3]", "view[j1, j0](%1) : float64[3,2]", "reshape(%1) : float64[6]"], [1, 2, 3], executor)
    assert v.base is s and r.base is s and np.shares_memory(v, s)
    same(v, (a + a).T)
    (v,) = run([a], ["add(%0, %0) : float64[2,3]", "view[j1, j0](%1) : float64[3,2]"], [2], executor)
    assert v.base.flags.owndata and v.base.shape == (2, 3)


def test_empty_slices_have_numpys_strides(executor):
    a = np.zeros((10, 4))
    (v,) = run([a], ["view[j0, j1](%0) : float64[0,4]"], [1], executor)  # an empty slice has start 0 and step 1: the frontend says it
    expected = a[5:2:3]
    assert v.strides == expected.strides and v.__array_interface__["data"] == expected.__array_interface__["data"]


def test_reductions(executor):
    a = np.random.default_rng(0).standard_normal((37, 53))
    for axes, axis in (("0", 0), ("1", 1)):
        n = a.shape[1 - axis]
        for name in ("sum", "prod", "max", "min"):
            (r,) = run([a], [f"{name}[{axes}](%0) : float64[{n}]"], [1], executor)
            same(r, getattr(a, name)(axis=axis))
    (r, k) = run([a], ["sum[0,1](%0) : float64", "sum[0,1; keepdims](%0) : float64[1,1]"], [1, 2], executor)
    same(r, a.sum())
    same(k, a.sum(keepdims=True))


def test_buffer_size_cuts_sums():
    a = np.random.default_rng(1).standard_normal(30_000)
    old = np.setbufsize(1024)
    try:
        (r,) = run([a], ["sum[0](%0) : float64"], [1])
        expected = a.sum()
    finally:
        np.setbufsize(old)
    same(r, expected)


# -- products ---------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "C": lambda z, m, n: z(m, n),
    "F": lambda z, m, n: z(n, m).T,
    "rows padded": lambda z, m, n: z(m, n + 3)[:, :n],
    "columns padded": lambda z, m, n: z(n, m + 3)[:, :m].T,
    "every second column": lambda z, m, n: z(m, 2 * n)[:, ::2],
    "rows reversed": lambda z, m, n: z(m, n)[::-1],
    "columns reversed": lambda z, m, n: z(m, n)[:, ::-1],
    "broadcast": lambda z, m, n: np.broadcast_to(z(1, n), (m, n)),
}


def check_product(op, a, b):
    expected = getattr(np, op)(a, b)
    result = run([a, b], [f"{op}(%0, %1) : {type_text(expected)}"], [2], "llvm")
    assert result is not RERUN
    same(result[0], expected)


@pytest.mark.parametrize("op", ["matmul", "dot"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
@pytest.mark.parametrize("shape", [(1, 5, 1), (1, 7, 4), (6, 7, 1), (5, 1, 4), (1, 1, 5), (3, 5, 4), (17, 33, 9), (64, 64, 64), (0, 3, 4), (3, 0, 4)])
def test_products(op, dtype, shape):
    rng = np.random.default_rng(7)
    m, n, p = shape
    make = lambda *s: (rng.standard_normal(s) * 9).astype(dtype)
    for left in LAYOUTS.values():
        for right in LAYOUTS.values():
            check_product(op, left(make, m, n), right(make, n, p))


@pytest.mark.parametrize("op", ["matmul", "dot"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_vectors_batches_and_scalars(op, dtype):
    rng = np.random.default_rng(8)
    make = lambda *s: rng.standard_normal(s).astype(dtype)
    for m, n in ((2, 3), (60, 70), (1, 5), (5, 1)):
        for vector in (lambda k: make(k), lambda k: make(2 * k)[::2], lambda k: make(k)[::-1], lambda k: np.broadcast_to(make(1), (k,))):
            for left in LAYOUTS.values():
                a = left(make, m, n)
                check_product(op, a, vector(n))
                check_product(op, vector(m), a)
                check_product(op, vector(n), vector(n))
    a, b = make(4, 3, 5), make(4, 5, 6)
    for x, y in ((a, b), (a, b[0]), (a[:, :, ::-1], b), (a[::2], b[::2]), (np.asfortranarray(a), b), (a, b[0, :, 0]), (a[0], b)):
        check_product(op, x, y)
    if op == "dot":
        for x, y in ((make(1)[0:1].reshape(()), make(6)), (make(5, 1), make(1, 1)), (make(1, 4), make(1)[:1].reshape(())), (make(1), make(1))):
            check_product(op, x, y)


@pytest.mark.parametrize("op", ["matmul", "dot"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_matrix_and_its_transpose(op, dtype):
    rng = np.random.default_rng(9)
    for n, k in ((2, 3), (5, 5), (40, 30), (150, 80)):
        for a in (rng.standard_normal((n, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype).T):
            (r,) = run([a], [f"view[j1, j0](%0) : {dtype}[{k},{n}]", f"{op}(%0, %1) : {dtype}[{n},{n}]"], [2])
            same(r, getattr(np, op)(a, a.T))


# -- FP status --------------------------------------------------------------------------------------------------------


def test_flags_send_the_call_to_the_original(executor):
    a = np.array([1.0, 0.0, -1.0])
    operations = ["divide(%0, %0) : float64[3]"]
    assert run([a], operations, [1], executor) is RERUN
    with np.errstate(invalid="ignore"):
        (r,) = run([a], operations, [1], executor)
    assert np.isnan(r[1]) and r[0] == 1
    with np.errstate(divide="ignore"):
        assert run([a], operations, [1], executor) is RERUN


def test_underflow_counts_when_errstate_says_so(executor):
    a = np.full(5, 1e-200)
    operations = ["multiply(%0, %0) : float64[5]"]
    (r,) = run([a], operations, [1], executor)
    assert not r.any()
    with np.errstate(under="raise"):
        assert run([a], operations, [1], executor) is RERUN


@pytest.mark.parametrize("op", ["divide", "floor_divide", "remainder"])
def test_python_floats_divide_by_zero_whatever_errstate_says(executor, op):
    with np.errstate(all="ignore"):
        assert run([1.0, 0.0], [f"{op}(%0, %1) : pyfloat"], [2], executor) is RERUN
        (r,) = run([7.0, 2.0], [f"{op}(%0, %1) : pyfloat"], [2], executor)
    same(r, {"divide": 3.5, "floor_divide": 3.0, "remainder": 1.0}[op])


@pytest.mark.parametrize("op", ["exp", "log", "power", "sinh", "tan"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_flags_of_numpys_loops_are_seen(executor, op, dtype):
    bad = {"exp": 1e4, "log": -1.0, "power": -2.5, "sinh": 1e5, "tan": np.inf}[op]
    a = np.full(40, bad, dtype)
    args = "%0, %0" if op == "power" else "%0"
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        getattr(np, op)(*[a] * (args.count(",") + 1))
    assert run([a], [f"{op}({args}) : {dtype}[40]"], [1], executor) is RERUN


def test_integer_division_flags(executor):
    a, zero, least, minus = np.array([4, 5]), np.array([1, 0]), np.array([-(2**63)] * 2), np.array([-1, 2])
    for op in ("floor_divide", "remainder"):
        assert run([a, zero], [f"{op}(%0, %1) : int64[2]"], [2], executor) is RERUN
    assert run([least, minus], ["floor_divide(%0, %1) : int64[2]"], [2], executor) is RERUN


def test_a_loop_that_clears_flags_loses_none(executor):
    a = np.array([1.0, 0.0, 3.0] * 7)
    operations = ["reciprocal(%0) : float64[21]", "max[0](%1) : float64", "heaviside(%0, %0) : float64[21]"]
    assert run([a], operations, [2, 3], executor) is RERUN


def test_dot_is_silent_before_2_3():
    a = np.array([1e308, 1e308])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            np.dot(a, a)
            silent = True
        except RuntimeWarning:
            silent = False
    result = run([a], ["dot(%0, %0) : float64"], [1])
    assert (result is RERUN) == (not silent)


def test_statistics_count_reruns():
    a = np.zeros(3)
    f = _jitney._test_compile_graph(graph([a], ["reciprocal(%0) : float64[3]"], [1]))
    assert f(a) is RERUN and f(a + 1)[0][0] == 1
    stats = _jitney._test_exec_stats(f)
    assert (stats["calls"], stats["reruns"], stats["flag_reruns"], stats["flags"]) == (2, 1, 1, 1)


# -- writes -----------------------------------------------------------------------------------------------------------


def test_writes_happen_in_place(executor):
    a, b = np.arange(6.0).reshape(2, 3), np.full((2, 3), 2.0)
    keep = a.copy()
    (r,) = run([a, b], ["multiply(%0, %1) : float64[2,3]", "store(%0, %2) : float64[2,3]"], [3], executor)
    assert r is a and (a == keep * 2).all()


def test_a_write_to_a_region(executor):
    a = np.arange(12.0)
    keep = a.copy()
    operations = ["view[1+2*j0](%0) : float64[5]", "add(%1, %1) : float64[5]", "store[1+2*j0](%0, %2) : float64[12]", "add(%3, %3) : float64[12]"]
    (r,) = run([a], operations, [4], executor)
    keep[1:11:2] += keep[1:11:2]
    assert (a == keep).all() and (r == keep + keep).all()


def test_writes_are_undone_on_flags(executor):
    a = np.array([1.0, 0.0, 4.0, 2.0])
    for view in (a, a[::-1], a[1::2]):
        n, keep = len(view), a.copy()
        operations = [f"reciprocal(%0) : float64[{n}]", f"store(%0, %1) : float64[{n}]", f"divide(%2, %2) : float64[{n}]"]
        assert run([view], operations, [3], executor) is RERUN
        assert a.tobytes() == keep.tobytes()


def test_writes_are_undone_when_a_call_out_fails(executor):
    def fail(x):
        raise ValueError(x)

    a = np.arange(4.0)
    operations = ["add(%0, %0) : float64[4]", "store(%0, %1) : float64[4]", "callout[1, 0](%2) : float64[4]"]
    assert run([a], operations, [3], executor, objects=(fail,)) is RERUN
    assert (a == np.arange(4.0)).all()


def test_a_large_write_warns_afterwards_at_its_line():
    a = np.zeros(20_000)
    globals_ = {"__name__": "some.module", "__file__": "program.py"}
    text = graph([a], ["reciprocal(%0) : float64[20000]", "store(%0, %1) : float64[20000]"], [2])
    f = _jitney._test_compile_graph(text, globals=globals_)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        (r,) = f(a)
    assert r is a and np.isinf(a).all()
    assert [(str(w.message), w.category, w.filename, w.lineno) for w in seen] == [
        ("divide by zero encountered in reciprocal", RuntimeWarning, "program.py", 2)
    ]
    assert "__warningregistry__" in globals_


@pytest.mark.parametrize("strict", [lambda: np.errstate(divide="raise"), lambda: warnings.catch_warnings()], ids=["errstate", "filter"])
def test_a_large_write_is_undone_when_the_warning_would_raise(strict):
    a = np.zeros(20_000)
    text = graph([a], ["reciprocal(%0) : float64[20000]", "store(%0, %1) : float64[20000]"], [2])
    f = _jitney._test_compile_graph(text, globals={"__name__": "m", "__file__": "program.py"})
    with strict():
        warnings.simplefilter("error")
        assert f(a) is RERUN
    assert not a.any()


# -- call-outs --------------------------------------------------------------------------------------------------------


def test_call_outs(executor):
    a = np.array([3.0, 1.0, 2.0])
    operations = ["add(%0, %0) : float64[3]", "callout[1, 0](%1) : float64[3]", "add(%2, %0) : float64[3]"]
    (s, r) = run([a], operations, [2, 3], executor, objects=(np.sort,))
    same(s, np.sort(a + a))
    same(r, np.sort(a + a) + a)


def test_call_outs_with_keywords_and_scalars(executor):
    a = np.array([[3.0, 1.0], [2.0, 5.0]])
    operations = ["callout[1, 2](%0, %1) : float64[2,2]"]
    (r,) = run([a, 1], operations, [2], executor, objects=(np.roll, {"axis": 1}))
    same(r, np.roll(a, 1, axis=1))


@pytest.mark.parametrize("outcome", ["warns", "divides", "other shape", "other dtype"])
def test_call_outs_that_have_something_to_say(executor, outcome):
    def call(x):
        if outcome == "warns":
            warnings.warn("careful", UserWarning)
        if outcome == "divides":
            return x / 0
        return x[1:].copy() if outcome == "other shape" else x.astype("f4") if outcome == "other dtype" else x

    before = list(warnings.filters)
    assert run([np.ones(3)], ["callout[1, 0](%0) : float64[3]"], [1], executor, objects=(call,)) is RERUN
    assert list(warnings.filters) == before


def test_interrupts_are_not_swallowed(executor):
    def interrupt(x):
        raise KeyboardInterrupt

    a = np.ones(3)
    operations = ["add(%0, %0) : float64[3]", "store(%0, %1) : float64[3]", "callout[1, 0](%2) : float64[3]"]
    with pytest.raises(KeyboardInterrupt):
        run([a], operations, [3], executor, objects=(interrupt,))
    assert (a == 1).all()


def test_a_temporary_does_not_escape_through_a_call_out():
    kept = []

    def keep(x):
        kept.append(x)
        return x.copy()

    operations = ["add(%0, %0) : float64[3]", "callout[1, 0](%1) : float64[3]"]
    assert run([np.ones(3)], operations, [2], objects=(keep,)) is RERUN


# -- memory -----------------------------------------------------------------------------------------------------------


def test_nothing_leaks(executor):
    n = 20_000 if executor in ("llvm", "numpy") else 50
    a, w, z = np.arange(float(n)), np.ones(n), np.zeros(n)
    operations = [f"add(%0, %0) : float64[{n}]", f"view[{n - 1}-j0](%2) : float64[{n}]", f"exp(%1) : float64[{n}]", f"store(%1, %4) : float64[{n}]",
                  "sum[0](%2) : float64", f"callout[1, 0](%3) : float64[{n}]"]
    good = _jitney._test_compile_graph(graph([a, w], operations, [2, 3, 5, 6, 7]), executor=executor, objects=(np.sort,))
    bad = _jitney._test_compile_graph(graph([z, w], [f"reciprocal(%0) : float64[{n}]", f"store(%1, %2) : float64[{n}]"], [2, 3]), executor=executor)

    def work(times):
        for _ in range(times):
            w[:] = 1
            assert good(a, w) is not RERUN
            assert bad(z, w) is RERUN

    work(20)
    gc.collect()
    before, blocks, refs = _jitney._test_blocks_kept(), sys.getallocatedblocks(), [sys.getrefcount(x) for x in (a, w, z)]
    work(400)
    gc.collect()
    assert [sys.getrefcount(x) for x in (a, w, z)] == refs
    assert _jitney._test_blocks_kept() == before
    assert sys.getallocatedblocks() - blocks < 300


def test_compiled_functions_free_everything():
    a = np.ones(5)
    text = graph([a], ["exp(%0) : float64[5]", "callout[1, 0](%1) : float64[5]"], [2])
    marker = lambda x: x.copy()
    before = sys.getrefcount(marker)
    for _ in range(50):
        _jitney._test_compile_graph(text, objects=(marker,))(a)
    assert sys.getrefcount(marker) == before


def test_tracemalloc_sees_results():
    a = np.ones(200_000)
    f = _jitney._test_compile_graph(graph([a], ["add(%0, %0) : float64[200000]"], [1]))
    f(a)
    tracemalloc.start()
    try:
        (r,) = f(a)
        held = tracemalloc.get_traced_memory()[0]
        del r
        released = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held - released >= 1_600_000


def test_freed_blocks_are_used_again():
    a = np.ones(300_000)
    f = _jitney._test_compile_graph(graph([a], ["add(%0, %0) : float64[300000]"], [1]))
    address = f(a)[0].__array_interface__["data"][0]
    assert f(a)[0].__array_interface__["data"][0] == address and address % 64 == 0
    x, y = f(a), f(a)
    assert x[0].__array_interface__["data"][0] != y[0].__array_interface__["data"][0]


def test_too_large_a_result_is_left_to_numpy():
    a = np.broadcast_to(np.float64(1.0), (2**44,))
    assert run([a], [f"add(%0, %0) : float64[{2**44}]"], [1]) is RERUN
    a = np.broadcast_to(np.float64(1.0), (2**59, 1))
    b = np.broadcast_to(np.float64(1.0), (1, 2**59))
    assert run([a, b], [f"add(%0, %1) : float64[{2**59},{2**59}]"], [2]) is RERUN


# -- comparison, texts ------------------------------------------------------------------------------------------------


def test_compare_runs_every_executor():
    a = np.random.default_rng(3).standard_normal((5, 7))
    w = a[::-1]
    operations = ["tanh(%0) : float64[5,7]", "sum[0](%2) : float64[7]", "matmul(%0, %3) : float64[5]", "add(%1, %0) : float64[5,7]", "store(%1, %5) : float64[5,7]"]
    for _ in range(2):
        assert run([a.copy(), w.copy()], operations, [2, 3, 4, 6], compare=True) is not RERUN


def test_compare_names_the_difference(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    values = iter([1.0, 1.0, 2.0, 2.0])

    def unsteady(x):
        return np.full(3, next(values))

    with pytest.raises(RuntimeError, match=r"differ in f, output 0 .node %1., element \(0, \): .*1\.0.*2\.0"):
        run([np.ones(3)], ["callout[1, 0](%0) : float64[3]"], [1], compare=True, objects=(unsteady,))
    (report,) = tmp_path.iterdir()
    assert "graph f" in report.read_text() and "inputs.append" in report.read_text()


def test_a_compiled_function_looks_like_one():
    a = np.ones(2)
    f = _jitney._test_compile_graph(graph([a], ["add(%0, %0) : float64[2]"], [1]))
    assert callable(f) and f.__name__ == "graph" and "add(%0, %0)" in f.graph and "compiled function" in repr(f)
    texts = _jitney._test_exec_texts(f)
    assert "jy_kernel_0" in texts["ir"] and texts["plan"]
    with pytest.raises(TypeError):
        f(a, a)
