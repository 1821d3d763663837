"""Global alignment of two sequences of small ints: the table of scores."""

import numpy as np

QUICK, FULL = 30, 260


def setup(size):
    rng = np.random.default_rng(28)
    return rng.integers(0, 4, size, dtype=np.int8), rng.integers(0, 4, size + 3, dtype=np.int8), 1, -1, -2


def needleman_wunsch(a, b, match, mismatch, gap):
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int32)
    for i in range(n + 1):
        score[i, 0] = i * gap
    for j in range(m + 1):
        score[0, j] = j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            best = max(diagonal, score[i - 1, j] + gap)
            best = max(best, score[i, j - 1] + gap)
            score[i, j] = best
    return score
