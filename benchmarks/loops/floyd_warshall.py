"""All shortest paths, in place in an array of distances."""

import numpy as np

QUICK, FULL = 14, 70


def setup(size):
    rng = np.random.default_rng(2)
    d = rng.integers(1, 100, (size, size))
    d[rng.random((size, size)) < 0.6] = 10**6
    np.fill_diagonal(d, 0)
    return (d,)


def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            through = d[i, k]
            for j in range(n):
                if through + d[k, j] < d[i, j]:
                    d[i, j] = through + d[k, j]
    return d
