"""RNA folding: the largest number of pairs, over a triangular table."""

import numpy as np

QUICK, FULL = 20, 110


def setup(size):
    return np.random.default_rng(8).integers(0, 4, size), np.zeros((size, size), dtype=np.int64)


def nussinov(sequence, table):
    n = len(sequence)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                best = max(best, table[i + 1, j - 1] + (1 if sequence[i] + sequence[j] == 3 else 0))
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table[0, n - 1]
