"""The matrix product by hand, on arrays."""

import numpy as np

QUICK, FULL = 14, 64


def setup(size):
    rng = np.random.default_rng(1)
    return rng.standard_normal((size, size + 1)), rng.standard_normal((size + 1, size + 2)), np.zeros((size, size + 2))


def matmul_arrays(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
