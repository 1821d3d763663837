"""All distances between rows of an array."""

from math import sqrt

import numpy as np

QUICK, FULL = 30, 250


def setup(size):
    return (np.random.default_rng(22).random((size, 3)),)


def pairwise(x):
    n, m = x.shape
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            total = 0.0
            for k in range(m):
                t = x[i, k] - x[j, k]
                total += t * t
            d[i, j] = d[j, i] = sqrt(total)
    return d
