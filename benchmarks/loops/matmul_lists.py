"""The matrix product by hand, on lists of lists."""

import random

QUICK, FULL = 16, 100


def setup(size):
    draw = random.Random(1).random
    return [[draw() for _ in range(size + 1)] for _ in range(size)], [[draw() for _ in range(size)] for _ in range(size + 1)]


def matmul_lists(a, b):
    n, m, p = len(a), len(b[0]), len(b)
    c = [[0.0] * m for _ in range(n)]
    for i in range(n):
        row = a[i]
        for j in range(m):
            total = 0.0
            for k in range(p):
                total += row[k] * b[k][j]
            c[i][j] = total
    return c
