"""Gauss-Seidel sweeps of a diffusion problem until the change is small."""

import numpy as np

QUICK, FULL = 12, 48


def setup(size):
    u = np.zeros((size, size))
    u[0, :] = 1.0
    u[:, 0] = np.linspace(1.0, 0.0, size)
    return u, 1e-6, 60


def gauss_seidel(u, tolerance, limit):
    rows, columns = u.shape
    for sweep in range(limit):
        change = 0.0
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(new - u[i, j]))
                u[i, j] = new
        if change < tolerance:
            return sweep + 1
    return limit
