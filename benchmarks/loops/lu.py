"""LU decomposition without pivots, in place."""

import numpy as np

QUICK, FULL = 16, 80


def setup(size):
    return (np.random.default_rng(3).random((size, size)) + size * np.eye(size),)


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
