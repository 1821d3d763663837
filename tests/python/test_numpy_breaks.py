"""The reasons of NumPy's semantics: what they are given for, and that CPython's result comes out."""

import numpy as np
import pytest

import jitney
from jitney.testing import differs

A = np.arange(6.0)
FORTRAN = np.asfortranarray(np.arange(300_000.0).reshape(500, 600))
C = np.ascontiguousarray(FORTRAN)

ROWS = [
    ("NUMPY_DTYPE", lambda a: np.exp(a > 2.0), (A,)),
    ("NUMPY_DTYPE", lambda a: np.zeros(3, dtype=np.complex128) + a[:3], (A,)),
    ("NUMPY_INDEX", lambda a: a[[0, 2]], (A,)),
    ("NUMPY_INDEX", lambda a: a["x"], (A,)),
    ("BROADCAST", lambda a: a + a[1:], (A,)),
    ("BROADCAST", lambda a: np.broadcast_to(a, (2, 4)), (A,)),
    ("MEMORY_ORDER", lambda a, b, c: (a + b) + c, (FORTRAN, FORTRAN, C)),
    ("EXPONENT", lambda a, e: a**e, (A.astype(np.int64), np.arange(6))),
]


def error_or_value(f, args):
    return differs(f, jitney.compile(f), *args)


@pytest.mark.parametrize("reason, f, args", ROWS, ids=[f"{row[0]}-{k}" for k, row in enumerate(ROWS)])
@pytest.mark.filterwarnings("ignore")
def test_reason_is_given_and_cpython_decides(reason, f, args):
    g = jitney.compile(f)
    try:
        g(*args)
    except (ValueError, IndexError):
        pass
    refusals = jitney.inspect(g).refusals
    assert refusals[0]["name"] == reason  # what stands behind the break may have reasons of its own
    assert refusals[0]["line"] == f.__code__.co_firstlineno and refusals[0]["file"] == __file__
    assert error_or_value(f, args) is None


def total(a):
    s = 0.0
    for x in a:
        s += float(x)
    return s


@pytest.mark.parametrize("f", (lambda a: a * a, lambda a: a.view(np.float64) + 1, total))
def test_a_users_dtype_without_scalars(f):
    dtype = np._core._multiarray_umath._get_sfloat_dtype()
    a = np.array([1.0, 2.0, 3.0]).view(dtype(2.0))
    g = jitney.compile(f)
    assert repr(g(a)) == repr(f(a))
    assert "_ScaledFloatTestDType" in " ".join(r["detail"] for r in jitney.inspect(g).refusals)
