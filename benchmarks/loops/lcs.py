"""The longest common subsequence of two lists of ints, with the sequence itself."""

import random

QUICK, FULL = 60, 700


def setup(size):
    draw = random.Random(7)
    return [draw.randrange(5) for _ in range(size)], [draw.randrange(5) for _ in range(size + 5)]


def lcs(a, b):
    n, m = len(a), len(b)
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            elif table[i][j + 1] >= table[i + 1][j]:
                table[i + 1][j + 1] = table[i][j + 1]
            else:
                table[i + 1][j + 1] = table[i + 1][j]
    common = []
    i, j = n, m
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            common.append(a[i - 1])
            i -= 1
            j -= 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    common.reverse()
    return common
