"""Explicit finite differences of the heat equation, index by index."""

import numpy as np

QUICK, FULL = 14, 50


def setup(size):
    u = np.zeros((size, size))
    u[size // 3 : size // 2, size // 3 : size // 2] = 100.0
    return u, np.zeros((size, size)), 0.2, 24


def heat(u, new, c, steps):
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = u[i, j] + c * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = new[i, j]
    return u
