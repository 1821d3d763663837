"""The Cholesky factor, in place in the lower triangle."""

from math import sqrt

import numpy as np

QUICK, FULL = 18, 100


def setup(size):
    a = np.random.default_rng(4).random((size, size))
    return (a @ a.T + size * np.eye(size),)


def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if i == j:
                if total <= 0.0:
                    raise ValueError("the matrix is not positive definite")
                a[i, i] = sqrt(total)
            else:
                a[i, j] = total / a[j, j]
    return a
