"""The largest singular value of an infinite matrix, by power iteration on lists, the element a function of its indices."""

from math import sqrt

QUICK, FULL = 16, 100


def setup(size):
    return (size,)


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v, out, n):
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += element(i, j) * v[j]
        out[i] = total


def times_transposed(v, out, n):
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += element(j, i) * v[j]
        out[i] = total


def spectral_norm(n):
    u = [1.0] * n
    v = [0.0] * n
    w = [0.0] * n
    for _ in range(10):
        times(u, w, n)
        times_transposed(w, v, n)
        times(v, w, n)
        times_transposed(w, u, n)
    uv = vv = 0.0
    for i in range(n):
        uv += u[i] * v[i]
        vv += v[i] * v[i]
    return sqrt(uv / vv)
